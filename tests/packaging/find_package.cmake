# Builds TARGET of examples/ against the installed tree with find_package, and runs it.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
build_example(${TARGET})
run_example("${WORK}/build/${TARGET}")
