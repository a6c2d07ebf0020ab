# A program without the header uses the installed library, by the table of its structs.
find_program(python3 python3)
if(NOT python3)
    message("skipped: needs python3")
    return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=GNNTUNE_FORCE --unset=GNNTUNE_SOURCES GNNTUNE_PROFILES=
                        "${python3}" "${SOURCE}/tests/packaging/abi/binding.py" "${PREFIX}/${LIBDIR}/libgnntune.so"
                        "${SOURCE}/tests/packaging/abi/layout.def"
                COMMAND_ERROR_IS_FATAL ANY)
