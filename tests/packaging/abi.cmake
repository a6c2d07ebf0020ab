# The functions of gnntune.h and the layout of their structs are those that tests/packaging/abi/libgnntune.abi describes.
# LIBRARY holds the functions with debug information. UPDATE writes the description anew instead of comparing.
if(NOT ABIDW OR NOT ABIDIFF)
    message("skipped: needs abidw and abidiff (package abigail-tools)")
    return()
endif()
set(description "${SOURCE}/tests/packaging/abi/libgnntune.abi")
set(now "${WORK}/libgnntune.abi")
if(UPDATE)
    set(now "${description}")
endif()
file(MAKE_DIRECTORY "${WORK}")
# Only what the public headers show: the handles stay opaque. Nothing of the machine, and no number of a line.
execute_process(COMMAND "${ABIDW}" --headers-dir "${SOURCE}/core/include" --drop-private-types
                        --exported-interfaces-only --drop-undefined-syms --no-architecture --no-elf-needed
                        --no-corpus-path --no-comp-dir-path --no-show-locs --type-id-style hash --out-file "${now}"
                        "${LIBRARY}"
                COMMAND_ERROR_IS_FATAL ANY)
if(UPDATE)
    return()
endif()
execute_process(COMMAND "${ABIDIFF}" "${description}" "${now}" RESULT_VARIABLE status OUTPUT_VARIABLE report
                ERROR_VARIABLE report)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${report}\nThe binary interface is another one than before (abidiff ended with ${status}). If that "
                        "is meant, say in CHANGELOG.md whom it breaks and write the description anew: cmake --build "
                        "BUILD --target gnntune_update_abi")
endif()
