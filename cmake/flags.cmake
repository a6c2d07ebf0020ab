# Language level, warnings, and the CUDA language where it is wanted and found.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

find_program(GNNTUNE_CCACHE ccache)
if(GNNTUNE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${GNNTUNE_CCACHE}")
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${GNNTUNE_CCACHE}")
endif()

include(cuda)

# Interface target that every target of the project links: warnings, sanitizers, the source root as include root.
add_library(gnntune_options INTERFACE)
target_include_directories(gnntune_options INTERFACE "${PROJECT_SOURCE_DIR}")
# -Wrestrict of GCC 12 is wrong about "text" + std::string (its bug 105651), wherever inlining happens to show it both.
target_compile_options(gnntune_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-unknown-pragmas>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${GNNTUNE_WERROR}>>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas>
    # Line tables are for compute-sanitizer and profilers. They are most of a kernel's size, so releases go without.
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CONFIG:Debug,RelWithDebInfo>>:-lineinfo>)
# What asks whether this build has CUDA, and its headers. Whatever does not link it is compiled alike with CUDA and without, so
# that a build which gets CUDA later keeps its objects.
add_library(gnntune_cuda INTERFACE)
target_compile_definitions(gnntune_cuda INTERFACE GNNTUNE_WITH_CUDA=$<BOOL:${GNNTUNE_WITH_CUDA}>)
if(GNNTUNE_WITH_CUDA)
    target_link_libraries(gnntune_cuda INTERFACE $<IF:$<BOOL:${GNNTUNE_PORTABLE}>,CUDA::cudart_static,CUDA::cudart>)
endif()
# Device code is stored compressed: a seventh of the size, unpacked when a kernel is first used.
if(GNNTUNE_WITH_CUDA AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    target_compile_options(gnntune_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
endif()
# As distributions build: checked calls of the C library, guarded stacks, no writable table of functions. What a sanitizer
# or a debugger looks at stays as it is.
if(GNNTUNE_HARDEN AND NOT GNNTUNE_SANITIZE)
    target_compile_options(gnntune_options INTERFACE
        $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-fstack-protector-strong -fstack-clash-protection>
        $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
    target_link_options(gnntune_options INTERFACE LINKER:-z,relro LINKER:-z,now)
endif()
# Exceptions do not leave a library of ours, so each may have a C++ runtime of its own.
if(GNNTUNE_PORTABLE)
    target_link_options(gnntune_options INTERFACE -static-libstdc++ -static-libgcc)
endif()
if(GNNTUNE_SANITIZE)
    target_compile_options(gnntune_options INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GNNTUNE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g>)
    target_link_options(gnntune_options INTERFACE -fsanitize=${GNNTUNE_SANITIZE})
endif()
