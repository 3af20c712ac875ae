# SPDX-License-Identifier: MIT
# lathe_add_plugin(target SOURCES … [MANIFEST plugin.json] [LIBRARIES …] [DIRECTORY …])
# Builds a plugin the way the ABI wants it: hidden symbols but one, bound to itself, with
# nothing left undefined. Library and manifest end up side by side in DIRECTORY, which is
# <target>/ in the build folder unless given; the library carries the manifest too, so that
# it can be dropped in alone. LATHE_MANIFEST of lathe/abi.h, in a source, does nothing then.
set(LATHE_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})
if(NOT LATHE_INCLUDE_DIR)
  set(LATHE_INCLUDE_DIR ${CMAKE_CURRENT_LIST_DIR}/../include)
endif()

# Puts the manifest into the library as an ELF note: owner "lathe", type 1, the JSON as it
# is. The host reads it without loading the library.
function(lathe_embed_manifest target manifest)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(suffix cpp)
  if("C" IN_LIST languages)
    set(suffix c)
  endif()
  file(READ ${manifest} bytes HEX)
  string(LENGTH "${bytes}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n     "
    bytes "${bytes}")
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${target}-manifest.${suffix})
  file(CONFIGURE OUTPUT ${made} @ONLY CONTENT [[/* The plugin's manifest, as a note of its library. */
struct lathe_note {
    unsigned owner_size, size, type;
    char owner[8];
    unsigned char text[@size@];
};
__attribute__((used, section(".note.lathe"), aligned(4)))
static const struct lathe_note lathe_note = {
    6, @size@, 1, "lathe",
    {@bytes@}};
]])
  target_sources(${target} PRIVATE ${made})
  target_compile_definitions(${target} PRIVATE LATHE_MANIFEST_BY_BUILD)
endfunction()

function(lathe_add_plugin target)
  cmake_parse_arguments(arg "" "MANIFEST;DIRECTORY" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "lathe_add_plugin(${target}): SOURCES names no file")
  endif()
  if(NOT arg_MANIFEST)
    set(arg_MANIFEST plugin.json)
  endif()
  get_filename_component(arg_MANIFEST ${arg_MANIFEST} ABSOLUTE)
  if(NOT arg_DIRECTORY)
    set(arg_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target})
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_MANIFEST})
  file(READ ${arg_MANIFEST} manifest)
  string(JSON library ERROR_VARIABLE fault GET "${manifest}" library)
  if(fault)
    message(FATAL_ERROR "${arg_MANIFEST}: \"library\" cannot be read: ${fault}")
  endif()
  string(REGEX REPLACE "\\.so$" "" library "${library}")
  add_library(${target} MODULE ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${LATHE_INCLUDE_DIR})
  set_target_properties(${target} PROPERTIES
    PREFIX "" SUFFIX .so OUTPUT_NAME ${library}
    LIBRARY_OUTPUT_DIRECTORY ${arg_DIRECTORY}
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
  lathe_embed_manifest(${target} ${arg_MANIFEST})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${LATHE_CMAKE_DIR}/plugin.map -Wl,-Bsymbolic -Wl,-z,now
    -Wl,--as-needed)
  # A sanitizer leaves its own functions to the program.
  if(NOT LATHE_SANITIZE AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=" AND
     NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS
    ${LATHE_CMAKE_DIR}/plugin.map)
  configure_file(${arg_MANIFEST} ${arg_DIRECTORY}/plugin.json COPYONLY)
endfunction()
