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
