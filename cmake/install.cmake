# cmake --install: the two public headers, the library, the program if it was built, and files for find_package and
# pkg-config. An installed copy may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS gnntune EXPORT gnntuneTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES core/include/gnntune/gnntune.h core/include/gnntune/gnntune.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gnntune)
if(GNNTUNE_WITH_CUDA)
    install(DIRECTORY "${PROJECT_BINARY_DIR}/share/gnntune/profiles" DESTINATION ${CMAKE_INSTALL_DATADIR}/gnntune
            OPTIONAL FILES_MATCHING PATTERN "*.db")
endif()
install(FILES profiles/shipped/errata.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/gnntune/profiles)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET gnntune_cli)
    install(TARGETS gnntune_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(gnntune_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gnntune)
install(EXPORT gnntuneTargets NAMESPACE gnntune:: DESTINATION ${gnntune_package_dir})
configure_package_config_file(cmake/gnntuneConfig.cmake.in "${PROJECT_BINARY_DIR}/gnntuneConfig.cmake"
                              INSTALL_DESTINATION ${gnntune_package_dir})
# While the major version is 0, a new minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gnntuneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/gnntuneConfig.cmake" "${PROJECT_BINARY_DIR}/gnntuneConfigVersion.cmake"
        DESTINATION ${gnntune_package_dir})

# How far it is from the folder of gnntune.pc up to the prefix: lib may be lib/x86_64-linux-gnu.
file(RELATIVE_PATH GNNTUNE_PC_TO_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" GNNTUNE_PC_TO_PREFIX "${GNNTUNE_PC_TO_PREFIX}")
configure_file(cmake/gnntune.pc.in "${PROJECT_BINARY_DIR}/gnntune.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/gnntune.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
