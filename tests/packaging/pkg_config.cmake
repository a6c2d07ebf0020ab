# Builds examples/spmm.c with nothing but a C compiler and pkg-config, and runs it.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
find_program(pkg_config NAMES pkg-config pkgconf)
find_program(cc NAMES cc gcc clang)
if(NOT pkg_config OR NOT cc)
    message("skipped: needs pkg-config and a C compiler")
    return()
endif()
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig")
execute_process(COMMAND "${pkg_config}" --cflags --libs "gnntune >= 0.1" OUTPUT_VARIABLE flags
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
execute_process(COMMAND "${cc}" -std=c99 -pedantic-errors -Wall -Werror "${SOURCE}/examples/spmm.c" -o "${WORK}/spmm"
                        ${flags}
                COMMAND_ERROR_IS_FATAL ANY)
run_example("${WORK}/spmm" "LD_LIBRARY_PATH=${PREFIX}/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
