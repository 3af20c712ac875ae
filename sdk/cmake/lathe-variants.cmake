# SPDX-License-Identifier: MIT
# lathe_add_variants(target name.c … [FUSED] [OPTIONS …])
# Adds each name.c to the target, compiled once per variant of lathe-variants.h, and the
# functions of name.h, each calling the variant that suits the processor. Nothing is to be
# listed: all that name.h declares is renamed in the variants and made plain again.
# A prototype starts in the first column and names its parameters, which are no arrays and
# no pointers to functions. FUSED: multiplications and additions may become one, where the
# variant has that; the variants' bits may differ then.
include(CheckSymbolExists)
check_symbol_exists(__x86_64__ "" LATHE_X86_64)

# The instructions of each variant; variant_widest asks for the same.
set(LATHE_VARIANTS base)
set(LATHE_VARIANT_base "")
if(LATHE_X86_64)
  list(APPEND LATHE_VARIANTS avx2 avx512)
  set(LATHE_VARIANT_avx2 -mavx2 -mfma)
  set(LATHE_VARIANT_avx512
    -mavx512f -mavx512vl -mavx512bw -mavx512dq -mprefer-vector-width=512)
endif()
set(LATHE_VARIANTS_DIR ${CMAKE_CURRENT_LIST_DIR})

# The prototypes of a header, each "type name(parameters)"
function(lathe_read_prototypes header result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(READ ${header} text)
  string(REPLACE ";" "$" text "${text}")
  string(REGEX MATCHALL "\n[a-z][a-z0-9_ *]*\\([^()$]*\\)\\$" prototypes "${text}")
  if(NOT prototypes)
    message(FATAL_ERROR "${header}: no prototype was found, so its .c has no variants")
  endif()
  list(TRANSFORM prototypes REPLACE "^\n|[$]" "")
  set(${result} ${prototypes} PARENT_SCOPE)
endfunction()

# The plain function, and in `name` how it is called
function(lathe_write_dispatch prototype name result)
  string(REGEX MATCH "^(.*[ *])([a-z0-9_]+)\\((.*)\\)$" all "${prototype}")
  set(type ${CMAKE_MATCH_1})
  set(function ${CMAKE_MATCH_2})
  string(REGEX REPLACE "[^,]*[ *]([a-z0-9_]+)(,|$)" "\\1\\2 " arguments "${CMAKE_MATCH_3}")
  string(STRIP "${arguments}" arguments)
  string(REGEX REPLACE "^void$" "" arguments "${arguments}")
  set(call "${function}_variants[variant_widest()](${arguments});")
  if(NOT type STREQUAL "void ")
    set(call "return ${call}")
  endif()
  set(${name} ${function} PARENT_SCOPE)
  set(${result} "\nVARIANTS(${function})\n${prototype} {\n    ${call}\n}\n" PARENT_SCOPE)
endfunction()

function(lathe_add_variants target)
  cmake_parse_arguments(arg FUSED "" OPTIONS ${ARGN})
  set(contract off)
  if(arg_FUSED)
    set(contract fast)
  endif()
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(folder ${source} DIRECTORY)
    set(made ${CMAKE_CURRENT_BINARY_DIR}/variants/${name})
    lathe_read_prototypes(${folder}/${name}.h prototypes)
    set(text "/* Made by lathe-variants.cmake. */\n#include \"${folder}/${name}.h\"\n")
    string(APPEND text "#include \"lathe-variants.h\"\n")
    set(functions "")
    foreach(prototype IN LISTS prototypes)
      lathe_write_dispatch("${prototype}" function dispatch)
      string(APPEND text "${dispatch}")
      list(APPEND functions ${function})
    endforeach()
    file(CONFIGURE OUTPUT ${made}_dispatch.c CONTENT "${text}" @ONLY)
    target_sources(${target} PRIVATE ${made}_dispatch.c)
    foreach(variant IN LISTS LATHE_VARIANTS)
      set(file ${made}_${variant}.c)
      if(variant STREQUAL base)
        set(file ${source}) # as itself: tools look for it in compile_commands.json
      else()
        file(CONFIGURE OUTPUT ${file} CONTENT "#include \"${source}\"\n" @ONLY)
      endif()
      list(TRANSFORM functions REPLACE "(.+)" "\\1=\\1_${variant}" OUTPUT_VARIABLE renamed)
      set_source_files_properties(${file} PROPERTIES COMPILE_DEFINITIONS "${renamed}"
        COMPILE_OPTIONS "${arg_OPTIONS};-ffp-contract=${contract};${LATHE_VARIANT_${variant}}")
      target_sources(${target} PRIVATE ${file})
    endforeach()
  endforeach()
  target_include_directories(${target} PUBLIC ${LATHE_VARIANTS_DIR})
endfunction()
