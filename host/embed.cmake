# SPDX-License-Identifier: MIT
# Writes the file INPUT as a C array NAME, ended by NUL, to OUTPUT.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
string(REGEX REPLACE "(......................................................................)" "\\1\n    " bytes "${bytes}")
file(WRITE ${OUTPUT} "/* Made from ${NAME}'s JSON. */\nextern const char ${NAME}[];\nconst char ${NAME}[] = {\n    ${bytes}0};\n")
