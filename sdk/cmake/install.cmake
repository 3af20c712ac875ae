# SPDX-License-Identifier: MIT
# cmake --install: the program, the library, the headers, what builds plugins and finds the
# library, and the shipped plugins. Every file may be moved together with the others: paths
# are relative to the files they are in.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(cmake ${CMAKE_INSTALL_LIBDIR}/cmake/lathe)
set(plugins ${CMAKE_INSTALL_LIBDIR}/lathe/plugins)
set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(program ${CMAKE_INSTALL_BINDIR}/lathe)
set(here ${CMAKE_CURRENT_LIST_DIR})
file(RELATIVE_PATH prefix /${pkgconfig} /)
string(REGEX REPLACE "/$" "" prefix "${prefix}")

install(TARGETS liblathe-shared EXPORT lathe-targets)
install(TARGETS lathe liblathe)
install(EXPORT lathe-targets NAMESPACE lathe:: DESTINATION ${cmake})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/include/lathe TYPE INCLUDE)
install(FILES ${here}/lathe-plugin.cmake ${here}/plugin.map DESTINATION ${cmake})
# lathe_write_package(folder include plugins program [options of
# configure_package_config_file]): what find_package(lathe) reads
function(lathe_write_package folder include plugins program)
  configure_package_config_file(${here}/lathe-config.cmake.in ${folder}/lathe-config.cmake
    ${ARGN} PATH_VARS include plugins program)
  write_basic_package_version_file(${folder}/lathe-config-version.cmake
    COMPATIBILITY SameMajorVersion)
endfunction()
set(package ${PROJECT_BINARY_DIR}/installed)
lathe_write_package(${package} ${CMAKE_INSTALL_INCLUDEDIR} ${plugins} ${program}
  INSTALL_DESTINATION ${cmake})
install(FILES ${package}/lathe-config.cmake ${package}/lathe-config-version.cmake
  DESTINATION ${cmake})
# The build folder is a package as well: it is found by its bin/ in PATH.
set(package ${PROJECT_BINARY_DIR}/lib/cmake/lathe)
lathe_write_package(${package} ${PROJECT_SOURCE_DIR}/sdk/include
  ${PROJECT_BINARY_DIR}/plugins ${PROJECT_BINARY_DIR}/bin/lathe
  INSTALL_DESTINATION ${package} INSTALL_PREFIX ${PROJECT_BINARY_DIR})
configure_file(${here}/lathe-plugin.cmake ${package} COPYONLY)
configure_file(${here}/plugin.map ${package} COPYONLY)
export(EXPORT lathe-targets NAMESPACE lathe:: FILE ${package}/lathe-targets.cmake)
foreach(name IN ITEMS lathe lathe-plugin)
  configure_file(${here}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig})
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/plugins/ DESTINATION ${plugins}
  FILES_MATCHING PATTERN plugin.json PATTERN "*.so"
  PATTERN CMakeFiles EXCLUDE PATTERN variants EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/manifests DESTINATION ${CMAKE_INSTALL_DATADIR}/lathe
  FILES_MATCHING PATTERN "*.json" PATTERN "*.csv" PATTERN schema EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/template DESTINATION
  ${CMAKE_INSTALL_DATADIR}/lathe PATTERN new EXCLUDE PATTERN README.md EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/host/lathe.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
  OPTIONAL)
install(FILES ${PROJECT_BINARY_DIR}/host/lathe-plugin.7
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 OPTIONAL)
include(${here}/documents.cmake)

# All that is installed, for those who need no tests.
add_custom_target(product DEPENDS lathe liblathe liblathe-shared plugins)
if(TARGET manual)
  add_dependencies(product manual)
endif()
