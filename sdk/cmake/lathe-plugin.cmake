# SPDX-License-Identifier: MIT
# lathe_add_plugin(target MANIFEST plugin.json SOURCES … [LIBRARIES …])
# Builds a plugin the way the ABI wants it: hidden symbols but one, bound to itself, with
# nothing left undefined; library and manifest end up side by side.
set(LATHE_SDK_DIR ${CMAKE_CURRENT_LIST_DIR}/..)

function(lathe_add_plugin target)
  cmake_parse_arguments(arg "" "MANIFEST;DIRECTORY" "SOURCES;LIBRARIES" ${ARGN})
  file(READ ${arg_MANIFEST} manifest)
  string(JSON library GET "${manifest}" library)
  string(REGEX REPLACE "\\.so$" "" library "${library}")
  add_library(${target} MODULE ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${LATHE_SDK_DIR}/include)
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${library} LIBRARY_OUTPUT_DIRECTORY ${arg_DIRECTORY}
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${LATHE_SDK_DIR}/cmake/plugin.map -Wl,-Bsymbolic -Wl,-z,now
    -Wl,--as-needed)
  if(NOT LATHE_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS
    ${LATHE_SDK_DIR}/cmake/plugin.map)
  configure_file(${arg_MANIFEST} ${arg_DIRECTORY}/plugin.json COPYONLY)
endfunction()
