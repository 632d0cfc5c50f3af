# What `cmake --install` puts where, for C programs (find_package(kp), pkg-config) and, in a wheel, for Python.
include(CMakePackageConfigHelpers)

# A function that nobody defines is found when the library is linked. (The sanitizers' own come later.)
if(NOT KP_SANITIZE)
    target_link_options(kp PRIVATE -Wl,-z,defs)
endif()

# Only what the headers declare leaves the library, whatever the static libraries inside it would export.
target_link_options(kp PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/kp.map)
set_property(TARGET kp APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/kp.map)

if(SKBUILD)
    # A wheel cannot hold links, so the library is one file there, beside the extension that loads it.
    set_property(TARGET kp PROPERTY VERSION)
    set_property(TARGET kp PROPERTY SOVERSION)
    install(TARGETS kp LIBRARY DESTINATION kp COMPONENT python)
    set_target_properties(_kp PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS _kp LIBRARY DESTINATION kp COMPONENT python)
    return()
endif()

install(TARGETS kp EXPORT kpTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/kp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# The tools find the library from where they lie, so that the tree may be moved.
file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
foreach(tool kpc kpinfo)
    if(TARGET ${tool})
        set_target_properties(${tool} PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
        install(TARGETS ${tool} EXPORT kpTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
endforeach()

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/kp)
install(EXPORT kpTargets NAMESPACE kp:: DESTINATION ${config_folder})
configure_package_config_file(cmake/kpConfig.cmake.in kpConfig.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(kpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kpConfig.cmake ${PROJECT_BINARY_DIR}/kpConfigVersion.cmake cmake/kp_add_kernels.cmake
    DESTINATION ${config_folder})

file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/kp.pc.in kp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
