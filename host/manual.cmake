# SPDX-License-Identifier: MIT
# Makes lathe.1.scd, the manual page's source, from INPUT and the help pages in FOLDER, so
# that a command is described once.
file(READ ${FOLDER}/exit-codes.txt exit_codes)
string(REGEX REPLACE "^Exit codes\n|\n$" "" exit_codes "${exit_codes}")
set(commands "")
file(GLOB pages ${FOLDER}/*.txt)
list(SORT pages)
foreach(page IN LISTS pages)
  get_filename_component(name ${page} NAME_WE)
  if(name STREQUAL exit-codes)
    continue()
  endif()
  file(READ ${FOLDER}/${name}.txt text)
  string(APPEND commands "## lathe ${name}\n\n```\n${text}```\n\n")
endforeach()
configure_file(${INPUT} ${OUTPUT} @ONLY)
