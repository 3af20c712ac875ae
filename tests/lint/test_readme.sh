# SPDX-License-Identifier: MIT
# The documents say what is there: README's length, commands, C and experiments; links.
source "$(dirname "$0")/lint.bash"

lines=$(wc -l <README.md)
((lines <= 120)) || complain README.md "$lines lines; 120 are meant"

# block FILE LANGUAGE: the fenced blocks of that language, one after another
block() { awk -v fence="^\`\`\`$2\$" '/^```$/ { on = 0 } on; $0 ~ fence { on = 1 }' "$1"; }

mapfile -t documents < <(text_files | grep '\.md$')
for file in "${documents[@]}"; do
    # Commands in blocks of shell: ours exist, with the names they have.
    while read -r _ name; do
        ./dev help | grep -qE "^  $name( |\$)" || complain "$file" "./dev has no \"$name\""
    done < <(block "$file" sh | grep -oE '^(\$ )?\./dev +[a-z]+' | sed 's/^\$ //')
    while read -r _ name; do
        "${LATHE:-lathe}" help 2>&1 | grep -qE "^ +$name( |\$)" ||
            complain "$file" "lathe has no \"$name\""
    done < <(block "$file" sh | grep -oE '^(\$ )?lathe +[a-z]+' | sed 's/^\$ //')
    # Links to files of the project.
    while read -r link; do
        [[ -e $(dirname "$file")/$link ]] || complain "$file" "links to $link, which is not there"
    done < <(grep -oE '\]\([^)#:]+' "$file" | sed 's/^](//' | grep -v '^http')
done

# C that is shown compiles, each block by itself.
for file in README.md sdk/README.md; do
    awk -v shown="$scratch/shown" '/^```$/ { on = 0 } on { print >name }
        /^```c$/ { on = 1; name = shown (++count) ".c" }' "$file"
    compgen -G "$scratch/shown*.c" >/dev/null || complain "$file" "shows no C"
    for shown in "$scratch"/shown*.c; do
        "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -fPIC -Isdk/include -c "$shown" \
            -o "$scratch/shown.o" 2>"$scratch/text" ||
            complain "$file" "its C: $(grep -m 1 error "$scratch/text")"
    done
    rm -f "$scratch"/shown*.c
done
verdict
