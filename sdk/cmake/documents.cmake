# SPDX-License-Identifier: MIT
# lathe_install_documents(): the texts for readers, as they are installed. Links lead to where
# things are then, and what stands between <!-- clone: NAME --> and <!-- end --> gives way to
# the part of that name in installed.md.in. Everything is written relative to the file it is in,
# so that the whole tree may be moved.
set(LATHE_DOCUMENTS_DIR ${CMAKE_CURRENT_LIST_DIR})

# Puts the parts of installed.md.in in; a name that has none is a mistake.
function(lathe_replace_parts text result)
  file(READ ${LATHE_DOCUMENTS_DIR}/installed.md.in parts)
  while(text MATCHES "<!-- clone: ([a-z]+) -->\n")
    set(mark "${CMAKE_MATCH_0}")
    set(name ${CMAKE_MATCH_1})
    string(FIND "${parts}" "<!-- ${name} -->\n" begin)
    string(FIND "${text}" "${mark}" from)
    string(SUBSTRING "${text}" ${from} -1 rest)
    string(FIND "${rest}" "<!-- end -->\n" length)
    if(begin EQUAL -1 OR length EQUAL -1)
      message(FATAL_ERROR "installed.md.in has no part \"${name}\", or the text no end of it")
    endif()
    string(LENGTH "<!-- ${name} -->\n" skip)
    math(EXPR begin "${begin} + ${skip}")
    string(SUBSTRING "${parts}" ${begin} -1 part)
    string(FIND "${part}" "<!-- " end)
    string(SUBSTRING "${part}" 0 ${end} part)
    string(SUBSTRING "${text}" 0 ${from} before)
    math(EXPR after "${length} + 13")
    string(SUBSTRING "${rest}" ${after} -1 rest)
    set(text "${before}${part}${rest}")
  endwhile()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# The path of one place from the folder of another
function(lathe_relative from to result)
  get_filename_component(folder /${from} DIRECTORY)
  file(RELATIVE_PATH path ${folder} /${to})
  if(path STREQUAL "")
    set(path .)
  endif()
  set(${result} ${path} PARENT_SCOPE)
endfunction()

# places: where it is here, where it is installed, …
function(lathe_install_document source installed places)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/${source} ${LATHE_DOCUMENTS_DIR}/installed.md.in)
  file(READ ${PROJECT_SOURCE_DIR}/${source} text)
  lathe_replace_parts("${text}" text)
  while(places)
    list(POP_FRONT places here there)
    lathe_relative(${source} ${here} from)
    lathe_relative(${installed} ${there} to)
    foreach(end IN ITEMS ")" "#" "/")
      string(REPLACE "](${from}${end}" "](${to}${end}" text "${text}")
    endforeach()
  endwhile()
  set(made ${PROJECT_BINARY_DIR}/documents/${installed})
  file(CONFIGURE OUTPUT ${made} CONTENT "${text}" @ONLY)
  get_filename_component(folder ${installed} DIRECTORY)
  install(FILES ${made} DESTINATION ${folder})
endfunction()

function(lathe_install_documents)
  set(doc ${CMAKE_INSTALL_DOCDIR})
  set(data ${CMAKE_INSTALL_DATADIR}/lathe)
  set(documents
    README.md ${doc}/README.md
    sdk/README.md ${doc}/sdk.md
    sdk/CHANGES.md ${doc}/abi-changes.md
    manifests/README.md ${doc}/manifests.md
    sdk/template/README.md ${data}/template/README.md)
  set(places ${documents}
    LICENSE ${doc}/LICENSE
    sdk/include/lathe ${CMAKE_INSTALL_INCLUDEDIR}/lathe
    sdk/template ${data}/template
    manifests ${data}/manifests)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC)
  while(documents)
    list(POP_FRONT documents source installed)
    lathe_install_document(${source} ${installed} "${places}")
  endwhile()
endfunction()
lathe_install_documents()
