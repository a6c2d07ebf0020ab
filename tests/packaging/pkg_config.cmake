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
set(library_path "LD_LIBRARY_PATH=${PREFIX}/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
run_example("${WORK}/spmm" "${library_path}")

# Its argument is the database. One that is not there is no error, and the plan names it.
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=GNNTUNE_FORCE GNNTUNE_PROFILES= "${library_path}" "${WORK}/spmm" "${WORK}/not_there.db"
                OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "not_there\\.db")
    message(FATAL_ERROR "the plan does not name the database that was asked for:\n${output}")
endif()
