# Enables CUDA where GNNTUNE_CUDA asks for it. Sets GNNTUNE_WITH_CUDA and a sentence in GNNTUNE_CUDA_STATE.
set(GNNTUNE_WITH_CUDA OFF)
if(GNNTUNE_CUDA STREQUAL "OFF")
    set(GNNTUNE_CUDA_STATE "off (GNNTUNE_CUDA=OFF)")
    return()
endif()

# The toolkit's default folder is not on everybody's PATH.
find_program(GNNTUNE_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
if(NOT GNNTUNE_NVCC AND NOT CMAKE_CUDA_COMPILER)
    if(GNNTUNE_CUDA STREQUAL "ON")
        message(FATAL_ERROR "GNNTUNE_CUDA=ON, but nvcc was not found; put it on PATH or set CUDA_HOME")
    endif()
    set(GNNTUNE_CUDA_STATE "off (nvcc not found): this build runs on the CPU only")
    return()
endif()
if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${GNNTUNE_NVCC}" CACHE FILEPATH "CUDA compiler")
endif()

# The architecture of the GPU that is here, else Hopper.
if(NOT CMAKE_CUDA_ARCHITECTURES)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capability ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" capability "${capability}")
    string(REPLACE "." "" capability "${capability}")
    if(NOT capability)
        set(capability 90)
    endif()
    set(CMAKE_CUDA_ARCHITECTURES "${capability}" CACHE STRING "CUDA architectures")
endif()

enable_language(CUDA)

# CMake 3.25.1 (Debian 12) does not know that nvcc compiles C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)

find_package(CUDAToolkit REQUIRED)
set(GNNTUNE_WITH_CUDA ON)
set(GNNTUNE_CUDA_STATE "on (nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES})")
