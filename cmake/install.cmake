# What `cmake --install` puts where: the library with its headers and package
# file, and the program.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lmsimbench)

install(TARGETS lmsimbench EXPORT lmsimbench-targets COMPONENT dev
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/lmsimbench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT dev FILES_MATCHING PATTERN "*.h")
install(EXPORT lmsimbench-targets NAMESPACE lmsimbench:: DESTINATION ${package_dir}
        COMPONENT dev)
configure_package_config_file(cmake/lmsimbench-config.cmake.in
  ${PROJECT_BINARY_DIR}/lmsimbench-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lmsimbench-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lmsimbench-config.cmake
              ${PROJECT_BINARY_DIR}/lmsimbench-config-version.cmake
              cmake/Findcsv.cmake
        DESTINATION ${package_dir} COMPONENT dev)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)
if(TARGET lmsimbench_program)
  install(TARGETS lmsimbench_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
          COMPONENT program)
endif()
