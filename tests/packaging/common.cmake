# Configures examples/ in WORK/build against a copy of the installed tree that has been moved, and builds `target`.
function(build_example target)
    file(REMOVE_RECURSE "${WORK}")
    file(COPY "${PREFIX}/" DESTINATION "${WORK}/moved")
    file(COPY "${SOURCE}/examples/" DESTINATION "${WORK}/source")
    execute_process(COMMAND ${CMAKE_COMMAND} -S "${WORK}/source" -B "${WORK}/build" "-DCMAKE_PREFIX_PATH=${WORK}/moved"
                            -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "-DCMAKE_CXX_COMPILER=${CXX}"
                            -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror"
                            "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror"
                    COMMAND_ERROR_IS_FATAL ANY)
    file(STRINGS "${WORK}/build/CMakeCache.txt" found REGEX "^gnntune_DIR")
    if(NOT found MATCHES "${WORK}/moved")
        message(FATAL_ERROR "another gnntune was found: ${found}")
    endif()
    execute_process(COMMAND ${CMAKE_COMMAND} --build "${WORK}/build" --target ${target} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Runs a built example on the cpu backend; it checks its own numbers. The user's database is kept out of it.
function(run_example program)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=GNNTUNE_FORCE GNNTUNE_DB=${PREFIX}/none.db
                            GNNTUNE_VERBOSE=dispatch ${ARGN} "${program}"
                    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
    message(STATUS "${output}${errors}")
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${program} ended with ${status}")
    endif()
    if(NOT errors MATCHES "gnntune,dispatch,spmm,n_rows=[0-9]+,.*source=default,config=spmm\\.")
        message(FATAL_ERROR "${program} printed no line about its plan")
    endif()
endfunction()
