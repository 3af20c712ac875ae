# SPDX-License-Identifier: MIT
# Builds every broken plugin of README.md, lists it, and runs an experiment that uses it:
# status, reason, exit status and message must be those of the table.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/build.bash"
scratch=$(mktemp -d)
trap 'chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
export HOME=$scratch
unset LATHE_PLUGIN_PATH
faults=0

complain() {
    printf '%s: %s\n' "$1" "$2" >&2
    faults=$((faults + 1))
}

# write_experiment KIND NAME: one step of a small run, with that plugin in its place
write_experiment() {
    local data='"use": "blobs", "samples": 8' model='"use": "mlp", "hidden": []'
    local optimizer='"use": "sgd", "lr": 0.1' schedule='"use": "constant"' callbacks=''
    case $1 in
    dataset) data='"use": "'$2'"' ;;
    model) model='"use": "'$2'"' ;;
    optimizer) optimizer='"use": "'$2'"' ;;
    schedule) schedule='"use": "'$2'"' ;;
    callback) callbacks='{ "use": "'$2'" }' ;;
    esac
    printf '{ "lathe": 1, "data": { "train": { %s } }, "model": { %s }, "optimizer": { %s },
  "schedule": { %s }, "train": { "until": "1step", "batch": 8 }, "callbacks": [ %s ] }\n' \
        "$data" "$model" "$optimizer" "$schedule" "$callbacks"
}

# as_json TEXT: as it stands in a JSON string
as_json() { printf '%s' "${1//\"/\\\"}"; }

check_listing() {
    local fault=$1 status=$2 says=$3 code line
    timeout 60 "$LATHE" plugins --json --plugin-path "$scratch/$fault" \
        >"$scratch/listing" 2>"$scratch/stderr"
    code=$?
    ((code == 0)) || complain "$fault" "lathe plugins ended with $code"
    line=$(grep -F "\"manifest\": \"$scratch/$fault/plugin.json\"" "$scratch/listing")
    [[ $line == *"\"status\": \"$status\""* ]] || complain "$fault" "is listed as $line"
    [[ $status == ok || $line == *"$(as_json "$says")"* ]] ||
        complain "$fault" "\"$says\" is not in $line"
}

check_run() {
    local fault=$1 wanted=$2 says=$3 kind code
    kind=$(grep -o '"kind": "[a-z]*"' "$here/$fault/plugin.json" 2>/dev/null | cut -d'"' -f4)
    [[ $kind =~ ^(dataset|model|optimizer|schedule)$ ]] || kind=callback
    write_experiment "$kind" "$fault" >"$scratch/experiment.json"
    (cd "$scratch" && timeout 60 "$LATHE" run experiment.json --run-dir "run-$fault" \
        --plugin-path "$scratch/$fault") >"$scratch/stdout" 2>"$scratch/stderr"
    code=$?
    ((code == wanted)) || complain "$fault" "lathe run ended with $code, not $wanted"
    [[ -z $says ]] || grep -qF -- "$says" "$scratch/stderr" ||
        complain "$fault" "\"$says\" is not in: $(cat "$scratch/stderr")"
    ((wanted == 0)) || [[ ! -e $scratch/run-$fault ]] || grep -q ' at epoch ' "$scratch/stderr" ||
        complain "$fault" "a run that never began left its directory"
}

count=0
while IFS='|' read -r _ fault status wanted says _; do
    fault=${fault// /} status=${status// /} wanted=${wanted// /}
    says=${says# } says=${says% }
    [[ $status == ok || $status == refused ]] || continue
    count=$((count + 1))
    echo "$fault" >>"$scratch/table"
    [[ -d $here/$fault ]] || { complain "$fault" "has no folder"; continue; }
    build_fixture "$fault" "$scratch/$fault" 2>"$scratch/stderr" ||
        { complain "$fault" "cannot be built: $(cat "$scratch/stderr")"; continue; }
    if [[ $says == '? '* ]]; then
        check_listing "$fault" "$status" "${says#'? '}"
        check_run "$fault" "$wanted" "there is no callback \"$fault\""
    else
        check_listing "$fault" "$status" "$says"
        check_run "$fault" "$wanted" "$says"
    fi
done <"$here/README.md"
((count > 0)) || complain README.md "has no table"

for folder in "$here"/*/; do
    grep -qx "$(basename "$folder")" "$scratch/table" ||
        complain "$(basename "$folder")" "has no line in README.md"
done
# What the second table names is there.
sed -n 's/^| H[0-9]* |[^|]*| `\([^`]*\)` | `\([^`]*\)` |$/\1 \2/p' "$here/README.md" |
    while read -r file words; do
        if [[ $file == broken/README.md ]]; then
            grep -qx -- "$words" "$scratch/table" || echo "$words"
        else
            grep -qF -- "$words" "$here/../$file" 2>/dev/null || echo "$file: $words"
        fi
    done >"$scratch/absent"
while read -r name; do complain README.md "\"$name\" is not there"; done <"$scratch/absent"

echo "$count broken plugins, $faults faults"
((faults == 0))
