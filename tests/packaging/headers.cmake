# Every public header compiles as the only one of a source file: gnntune.h as C99 and as C++17, gnntune.hpp as C++17. A C
# compiler lays the structs out as tests/packaging/abi/layout.def says.
file(REMOVE_RECURSE "${WORK}")
function(compile header language standard)
    file(WRITE "${WORK}/${header}.${language}" "#include <gnntune/${header}>\n")
    execute_process(COMMAND "${CXX}" -x ${language} -std=${standard} -pedantic-errors -Wall -Wextra -Werror
                            -fsyntax-only "-I${PREFIX}/include" "${WORK}/${header}.${language}"
                    COMMAND_ERROR_IS_FATAL ANY)
endfunction()
compile(gnntune.h c c99)
compile(gnntune.h c++ c++17)
compile(gnntune.hpp c++ c++17)
execute_process(COMMAND "${CXX}" -x c -std=c11 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only
                        "-I${PREFIX}/include" "${SOURCE}/tests/packaging/abi/layout.c"
                COMMAND_ERROR_IS_FATAL ANY)

# And a header that joins later is not forgotten here.
file(GLOB_RECURSE headers RELATIVE "${PREFIX}/include" "${PREFIX}/include/*")
list(SORT headers)
if(NOT headers STREQUAL "gnntune/gnntune.h;gnntune/gnntune.hpp")
    message(FATAL_ERROR "this test knows two headers, installed are ${headers}")
endif()
