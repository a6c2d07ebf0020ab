# Options of the build and their defaults. Everything optional is on where gnntune is the top-level project.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, RelWithDebInfo" FORCE)
endif()

set(GNNTUNE_CUDA AUTO CACHE STRING "Build the CUDA backend: AUTO (where nvcc is found), ON or OFF")
set(GNNTUNE_PYTHON_PACKAGE OFF CACHE STRING "Build the Python package: AUTO (where Python's headers are found), ON or OFF")
option(GNNTUNE_BUILD_TOOLS "Build the tuner and the gnntune program" ${PROJECT_IS_TOP_LEVEL})
option(GNNTUNE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(GNNTUNE_INSTALL "Generate install rules" ${PROJECT_IS_TOP_LEVEL})
option(GNNTUNE_STATIC_DEPS "Link SQLite, Boost, zlib and lzma statically, so that binaries can be carried elsewhere" OFF)
option(GNNTUNE_HARDEN "Fortified C library calls, guarded stacks, read-only relocations" ON)
option(GNNTUNE_PRIVATE_SQLITE "Link SQLite statically where its archive is found, so that a host program's cannot stand in for it" ON)
option(GNNTUNE_UNITY "Compile many files of a folder as one: a fifth of the time from a fresh clone" ON)
set(GNNTUNE_ALONE "" CACHE STRING "Files, as paths from the source tree, that are compiled by themselves in spite of GNNTUNE_UNITY")
set(GNNTUNE_TEST_FILES "" CACHE STRING "Regular expression of the files of tests/unit that are built; empty: all")
option(GNNTUNE_FUZZ "Build the fuzz targets (clang only)" OFF)
option(GNNTUNE_WERROR "Treat warnings as errors" OFF)
set(GNNTUNE_SANITIZE "" CACHE STRING "Sanitizers for host code, for example address,undefined")
if(GNNTUNE_FUZZ AND NOT GNNTUNE_SANITIZE)
    set(GNNTUNE_SANITIZE "fuzzer-no-link,address,undefined")
endif()

# One unit holds what one core compiles in about half a minute. Names that are local to a file are therefore one of a
# kind within their library (docs/architecture.md).
set(CMAKE_UNITY_BUILD ${GNNTUNE_UNITY})
if(NOT CMAKE_UNITY_BUILD_BATCH_SIZE)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)
endif()

# Programs in build/bin, libraries in build/lib.
if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
    set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
    set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
endif()
