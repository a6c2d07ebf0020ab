# A program with an SQLite of its own, of whatever version and options, does not lend it to the library: SQLite's
# functions are replaced by ones that abort, and a database is read all the same.
find_program(nm nm)
if(NOT PRIVATE_SQLITE OR NOT nm)
    message("skipped: needs a library with SQLite inside, and nm")
    return()
endif()
execute_process(COMMAND "${nm}" -D --undefined-only "${PREFIX}/${LIBDIR}/libgnntune.so" OUTPUT_VARIABLE undefined
                COMMAND_ERROR_IS_FATAL ANY)
if(undefined MATCHES "sqlite3_[a-z0-9_]+")
    message(FATAL_ERROR "the library takes ${CMAKE_MATCH_0} from whoever has it")
endif()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(source "#include <cstdio>\n#include <cstdlib>\n[[gnu::constructor]] static void here() { std::fputs(\"host has SQLite\\n\", stderr); }\n")
foreach(name open open_v2 close_v2 prepare_v2 prepare_v3 step column_int64 exec initialize file_control db_config)
    string(APPEND source "extern \"C\" int sqlite3_${name}() { std::abort(); }\n")
endforeach()
file(WRITE "${WORK}/host.cpp" "${source}")
execute_process(COMMAND "${CXX}" -std=c++17 -shared -fPIC -o "${WORK}/libhost.so" "${WORK}/host.cpp"
                COMMAND_ERROR_IS_FATAL ANY)
set(graph "${SOURCE}/data/cora.mtx.gz")
execute_process(COMMAND ${CMAKE_COMMAND} -E env GNNTUNE_PROFILES= "${PROGRAM}" tune "${graph}" --device cpu --dim 8
                        --max-samples 5 --db "${WORK}/cora.db"
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET ERROR_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} -E env GNNTUNE_PROFILES= CUDA_VISIBLE_DEVICES=-1 "LD_PRELOAD=${WORK}/libhost.so"
                        "${RUN_ONCE}" "${graph}" 8 "${WORK}/cora.db"
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message(STATUS "${output}${errors}")
if(NOT errors MATCHES "host has SQLite")
    message(FATAL_ERROR "the other SQLite was not loaded: this test shows nothing")
endif()
if(NOT status EQUAL 0 OR NOT output MATCHES "measured")
    message(FATAL_ERROR "with another SQLite in the process: ended with ${status}, or nothing was read")
endif()
