# Configures, builds and runs TARGET of examples/ against a copy of the installed tree that has been moved.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
file(REMOVE_RECURSE "${WORK}")
file(COPY "${PREFIX}/" DESTINATION "${WORK}/moved")
file(COPY "${SOURCE}/examples/" DESTINATION "${WORK}/source")
execute_process(COMMAND ${CMAKE_COMMAND} -S "${WORK}/source" -B "${WORK}/build" "-DCMAKE_PREFIX_PATH=${WORK}/moved"
                        -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_BUILD_TYPE=Release
                        "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror"
                        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror"
                COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS "${WORK}/build/CMakeCache.txt" found REGEX "^gnntune_DIR")
if(NOT found MATCHES "${WORK}/moved")
    message(FATAL_ERROR "another gnntune was found: ${found}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build "${WORK}/build" --target ${TARGET} COMMAND_ERROR_IS_FATAL ANY)
run_example("${WORK}/build/${TARGET}")
