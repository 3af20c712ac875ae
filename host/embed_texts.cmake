# SPDX-License-Identifier: MIT
# Writes the files *SUFFIX below FOLDER to OUTPUT as the table NAME of struct embedded_text:
# of each its folder ("" for FOLDER itself), its name without SUFFIX, and its text.
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*${SUFFIX})
list(SORT files)
set(texts "")
set(rows "")
set(n 0)
foreach(file IN LISTS files)
  get_filename_component(folder "${file}" DIRECTORY)
  get_filename_component(name "${file}" NAME)
  string(REGEX REPLACE "\\${SUFFIX}$" "" name "${name}")
  file(READ ${FOLDER}/${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND texts "static const char text_${n}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${folder}\", \"${name}\", text_${n}},\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"commands/embedded.h\"\n\n${texts}
const struct embedded_text ${NAME}[] = {\n${rows}    {0, 0, 0}};\n")
