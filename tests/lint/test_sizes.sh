# SPDX-License-Identifier: MIT
# Files under 400 lines, functions under 60, lines of 88 columns, and what `lathe run` needs
# within its bound (host/DECISIONS.md).
source "$(dirname "$0")/lint.bash"

# The formatter puts a function's brace at the end of its last line and closes it in the
# first column.
every_file host sdk plugins tests -- '*.c' '*.h' '*.cc' '*.sh' '*.bash' | xargs awk '
    function is_head(s) {
        return s !~ /=/ && s !~ /^(typedef|struct|union|enum|extern "C")[^()]*\{$/
    }
    function end_of_file() {
        if (lines >= 400) printf "%s: %d lines; a file has less than 400\n", name, lines
    }
    FNR == 1 { end_of_file(); name = FILENAME; inside = start = 0 }
    { lines = FNR }
    /^[A-Za-z_].*[^;]$/ && !inside { start = FNR }
    /^[^ \t].*\{$/ || /^[ \t]+.*\) \{$/ {
        if (!inside && start && is_head($0)) inside = start
    }
    /^}/ {
        if (inside && FNR - inside + 1 >= 60)
            printf "%s:%d: %d lines; a function has less than 60\n", FILENAME, inside,
                FNR - inside + 1
        inside = start = 0
    }
    /^[ \t]*$/ && !inside { start = 0 }
    END { end_of_file() }' >>"$scratch/faults"

grep -nHE '^.{89,}' $(c_files host sdk plugins tests) | while IFS=: read -r file line _; do
    complain "$file:$line" "more than 88 columns"
done

run=$(cat host/*.[ch] host/base/*.[ch] host/commands/{commands,run,turn}*.[ch] 2>/dev/null | wc -l)
echo "host: $run lines are needed to run"
((run < 24200)) || complain host "$run lines are needed to run; 24,200 is the bound (DECISIONS)"
verdict
