# SPDX-License-Identifier: MIT
# Files under 400 lines, functions under 60, lines of 88 columns, and what `lathe run` needs
# under 5,000 lines.
source "$(dirname "$0")/lint.bash"

while read -r file; do
    lines=$(wc -l <"$file")
    ((lines < 400)) || complain "$file" "$lines lines; a file has less than 400"
    # The formatter puts a function's brace at the end of its last line and closes it in
    # the first column.
    awk -v file="$file" '
        function is_head(s) { return s ~ /\{$/ && s !~ /=/ && s !~ /^(typedef|struct|union|enum|extern "C")[^()]*\{$/ }
        /^[A-Za-z_].*[^;]$/ && !/^#/ && !inside { start = NR }
        /^[^ \t].*\{$/ || /^[ \t]+.*\) \{$/ {
            if (!inside && start && is_head($0)) inside = start
        }
        /^}/ {
            if (inside && NR - inside + 1 >= 60)
                printf "%s:%d: %d lines; a function has less than 60\n", file, inside, NR - inside + 1
            inside = 0; start = 0
        }
        /^[ \t]*$/ { if (!inside) start = 0 }' "$file" >>"$scratch/faults"
done < <(every_file host sdk plugins tests -- '*.c' '*.h' '*.cc' '*.sh' '*.bash')

grep -nHE '^.{89,}' $(c_files host sdk plugins tests) | while IFS=: read -r file line _; do
    complain "$file:$line" "more than 88 columns"
done

run=$(cat host/*.[ch] host/base/*.[ch] host/commands/{commands,run}*.[ch] 2>/dev/null | wc -l)
echo "host: $run lines are needed to run"
((run < 5000)) || complain host "$run lines are needed to run; less than 5,000 are meant"
verdict
