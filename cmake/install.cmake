# What `cmake --install` puts where. Components: `capi`, the C interface's shared
# library; `capi-dev`, its header, pkg-config file and targets; `dev`, the C++
# library with its headers and targets; `program`.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lmsimbench)

install(TARGETS lmsimbench EXPORT lmsimbench-targets COMPONENT dev
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET lmsimbench_plugin)
  install(TARGETS lmsimbench_plugin EXPORT lmsimbench-targets COMPONENT dev
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/lmsimbench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT dev FILES_MATCHING PATTERN "*.h")
install(EXPORT lmsimbench-targets NAMESPACE lmsimbench:: DESTINATION ${package_dir}
        COMPONENT dev)

if(LMSIMBENCH_CAPI)
  install(TARGETS lmsimbench_c EXPORT lmsimbench-capi-targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT capi
                  NAMELINK_COMPONENT capi-dev)
  install(FILES capi/include/lmsimbench/c.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lmsimbench COMPONENT capi-dev)
  # A set of its own, so that a project of language C needs nothing else.
  install(EXPORT lmsimbench-capi-targets NAMESPACE lmsimbench::
          DESTINATION ${package_dir} COMPONENT capi-dev)
  # Paths from where the file lies, so that the tree may be moved.
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
             OUTPUT_VARIABLE pc_libdir)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
             OUTPUT_VARIABLE pc_includedir)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
             BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE pc_prefix)
  configure_file(cmake/lmsimbench_c.pc.in ${PROJECT_BINARY_DIR}/lmsimbench_c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/lmsimbench_c.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT capi-dev)
endif()

configure_package_config_file(cmake/lmsimbench-config.cmake.in
  ${PROJECT_BINARY_DIR}/lmsimbench-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lmsimbench-config-version.cmake
  COMPATIBILITY SameMinorVersion)
# Both development components need them, and each may be installed alone.
foreach(component dev capi-dev)
  install(FILES ${PROJECT_BINARY_DIR}/lmsimbench-config.cmake
                ${PROJECT_BINARY_DIR}/lmsimbench-config-version.cmake
          DESTINATION ${package_dir} COMPONENT ${component})
endforeach()
install(FILES cmake/Findcsv.cmake DESTINATION ${package_dir} COMPONENT dev)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)
if(TARGET lmsimbench_program)
  install(TARGETS lmsimbench_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
          COMPONENT program)
endif()
