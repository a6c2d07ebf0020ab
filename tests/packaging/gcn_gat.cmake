# Builds examples/gcn_gat and runs it on Cora. BACKEND cpu: CHECK computes everything again and compares. BACKEND both: the
# program compares its backends itself; skipped where there is no GPU.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
find_program(gzip gzip)
if(NOT gzip)
    message("skipped: needs gzip")
    return()
endif()
build_example(gcn_gat)
set(graph "${SOURCE}/data/cora.mtx.gz")
execute_process(COMMAND "${gzip}" -dc "${graph}"
                COMMAND ${CMAKE_COMMAND} -E env --unset=GNNTUNE_FORCE GNNTUNE_DB=${WORK}/none.db
                        "${WORK}/build/gcn_gat" --backend ${BACKEND} --output "${WORK}/output"
                RESULTS_VARIABLE statuses OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message(STATUS "${output}${errors}")
if(BACKEND STREQUAL "both" AND (errors MATCHES "GNNTUNE_NO_DEVICE" OR (NOT WITH_CUDA AND errors MATCHES "without the CUDA")))
    message("skipped: needs a GPU")
    return()
endif()
if(NOT statuses STREQUAL "0;0")
    message(FATAL_ERROR "gzip and gcn_gat ended with ${statuses}")
endif()
foreach(layer "gcn norm" "gcn layer 1" "gcn layer 2" "gat forward" "gat backward")
    if(NOT output MATCHES "cpu   ${layer} +[a-z_]+\\.[^\n]+ from (database|model|default)\n")
        message(FATAL_ERROR "no line says what was chosen for ${layer}")
    endif()
endforeach()
execute_process(COMMAND "${CHECK}" "${graph}" "${WORK}/output" COMMAND_ERROR_IS_FATAL ANY)
