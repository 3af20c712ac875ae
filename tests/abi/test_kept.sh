# SPDX-License-Identifier: MIT
# The ABI as it was kept: plugins of every kind, built against the kept headers, and built
# long ago, do on today's host what they do built against today's headers, to the bit.
# What was built for another machine, or is cut short, is refused by name.
set -u
[[ -z $SANITIZE ]] || { echo "skipped: what was built long ago has no sanitizers"; exit 77; }
source "$SOURCE/tests/abi/build.bash"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
umask 022
unset LATHE_PLUGIN_PATH
faults=0

complain() {
    printf '%s\n' "$*" >&2
    faults=$((faults + 1))
}

# run NAME: the kept experiment with the plugins in $scratch/NAME
run() {
    "$LATHE" run "$abi/kept/experiment.json" --run-dir "$scratch/$1/run" \
        --plugin-path "$scratch/$1" --quiet 2>"$scratch/stderr" ||
        complain "$1: $(<"$scratch/stderr")"
}

# same NAME: what was run there is what was run with today's headers
same() {
    cmp "$scratch/today/run/metrics.jsonl" "$scratch/$1/run/metrics.jsonl" ||
        complain "$1: other metrics"
    for file in "$scratch"/today/run/checkpoints/*; do
        # Digests of the libraries stand in the header; the numbers follow it.
        cmp <(numbers "$file") <(numbers "$scratch/$1/run/checkpoints/${file##*/}") ||
            complain "$1: ${file##*/} differs"
    done
}

# numbers FILE: a safetensors file without its header
numbers() {
    local length
    length=$(od -An -t u8 -N 8 "$1")
    tail -c +$((length + 9)) "$1"
}

for kind in $kinds; do
    for name in today kept; do
        mkdir -p "$scratch/$name/$kind"
        cp "$abi/kept/$kind/plugin.json" "$scratch/$name/$kind/"
    done
    build_kept "$SOURCE/sdk/include" "$kind" "$scratch/today/$kind/plugin.so"
    build_kept "$abi/kept" "$kind" "$scratch/kept/$kind/plugin.so"
done
run today
run kept
same kept
grep -q '"step":' "$scratch/today/run/metrics.jsonl" || complain "nothing was measured"
[[ -n $(ls "$scratch/today/run/checkpoints") ]] || complain "nothing was saved"

if [[ $(uname -m) == x86_64 ]]; then
    for kind in $kinds; do
        mkdir -p "$scratch/binaries/$kind"
        cp "$abi/kept/$kind/plugin.json" "$scratch/binaries/$kind/"
        cp "$abi/kept/$kind/x86-64.so" "$scratch/binaries/$kind/plugin.so"
        (($(stat -c %s "$abi/kept/$kind/x86-64.so") <= 20480)) ||
            complain "$kind/x86-64.so has more than 20 KiB"
    done
    run binaries
    same binaries
fi

# refuse LIBRARY TEXT: as the kept schedule
refuse() {
    mkdir "$scratch/wrong"
    cp "$abi/kept/schedule/plugin.json" "$scratch/wrong/"
    cp "$1" "$scratch/wrong/plugin.so"
    "$LATHE" plugins schedule --plugin-path "$scratch/wrong" >"$scratch/stdout" 2>&1
    grep -qF "$2" "$scratch/stdout" ||
        complain "no \"$2\" in $(grep -A3 kept "$scratch/stdout")"
    "$LATHE" run "$abi/kept/experiment.json" --plugin-path "$scratch/today/callback" \
        --plugin-path "$scratch/today/dataset" --plugin-path "$scratch/today/model" \
        --plugin-path "$scratch/today/optimizer" --plugin-path "$scratch/wrong" \
        --run-dir "$scratch/refused" --quiet 2>"$scratch/stderr"
    local code=$?
    ((code == 69)) || complain "$2: run ended with $code"
    grep -qF "$2" "$scratch/stderr" || complain "run: no \"$2\" in $(<"$scratch/stderr")"
    rm -r "$scratch/wrong"
}
case $(uname -m) in
x86_64) other=aarch64 ;;
*) other=x86-64 ;;
esac
refuse "$abi/kept/schedule/i686.so" "it is a 32-bit file, this program is 64-bit"
refuse "$abi/kept/schedule/$other.so" "it is for $other (ELF machine"
head -c 5000 "$scratch/today/schedule/plugin.so" >"$scratch/short.so"
refuse "$scratch/short.so" "the file is shorter than its program headers"

exit $((faults > 0))
