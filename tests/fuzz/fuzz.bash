# SPDX-License-Identifier: MIT
# ./dev fuzz, once $build (build-fuzz) is built from $root. A target starts from what
# corpus/<target> keeps; inputs that reach something new go to build-fuzz/corpus/<target>, one
# that stops it to build-fuzz/found/<target>-….
files_max=20 bytes_max=65536 # of one target's corpus here

# What every test has, too. Memory: what a target holds, and what it asks for at once.
fuzz_program() {
    local target=$1
    shift
    env SOURCE="$root" BUILD="$build" HOME="$build/home" LATHE_PLUGIN_PATH= \
        LC_ALL=C.UTF-8 OPENBLAS_NUM_THREADS=1 \
        ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 \
        UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        nice "$build/bin/fuzz-$target" -rss_limit_mb=1024 -malloc_limit_mb=256 \
        -timeout=10 -max_len=4096 "$@" </dev/null
}

# fuzz_run TARGET SECONDS
fuzz_run() {
    local target=$1 seconds=$2 status=0 log=$build/found/$1.log
    local -a words=()
    [[ ! -e $root/tests/fuzz/words/$target ]] ||
        words=("-dict=$root/tests/fuzz/words/$target")
    fuzz_program "$target" "${words[@]}" -max_total_time="$seconds" \
        -print_final_stats=1 -artifact_prefix="$build/found/$target-" \
        "$build/corpus/$target" "$root/tests/fuzz/corpus/$target" >"$log" 2>&1 || status=$?
    awk -v target="$target" '
        { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
        /^stat::number_of_executed_units/ { inputs = $2 }
        /^stat::average_exec_per_sec/ { rate = $2 }
        /^stat::peak_rss_mb/ { peak = $2 }
        END { printf "%-22s %11d inputs %8d/s %6d edges %5d MiB\n", target, inputs, rate,
              edges, peak }' "$log"
    ((status)) || return 0
    grep -aE '^==[0-9]+== ?ERROR|^SUMMARY|not so:|runtime error|Test unit written' \
        "$log" >&2 || true
    say "$target stopped; $log tells where"
    return 1
}

# fuzz_edges KEPT|NEW FILE: a line of what one input reaches: kind, size, name, edges
fuzz_edges() {
    local alone=$scratch/alone
    rm -rf "$alone"
    mkdir "$alone" "$alone"/{to,from}
    cp "$2" "$alone/from/"
    fuzz_program "$target" -merge=1 -merge_control_file="$alone/control" "$alone/to" \
        "$alone/from" >"$alone/log" 2>&1 || return 0
    printf '%s %s %s' "$1" "$(stat -c %s "$2")" "${2##*/}"
    sed -n 's/^COV [0-9]*//p' "$alone/control"
}

# Names of new inputs, the one that adds the most edges first, as long as there is room.
fuzz_choose() {
    awk -v files="$files_max" -v bytes="$bytes_max" '
        function take(i,    j, count, edges) {
            count = split(reached[i], edges, " ")
            for (j = 1; j <= count; j++) seen[edges[j]]
            files--; bytes -= size[i]; taken[i]
        }
        { size[NR] = $2; name[NR] = $3; kept[NR] = $1 == "kept"
          $1 = $2 = $3 = ""; reached[NR] = $0 }
        END {
            for (i = 1; i <= NR; i++) if (kept[i]) take(i)
            while (files > 0) {
                best = 0; most = 0
                for (i = 1; i <= NR; i++) {
                    if (i in taken || size[i] > bytes) continue
                    count = split(reached[i], edges, " "); gain = 0
                    for (j = 1; j <= count; j++) gain += !(edges[j] in seen)
                    if (gain > most) { most = gain; best = i }
                }
                if (!best) exit
                print name[best]; take(best)
            }
        }'
}

# fuzz_merge TARGET: adds to what is kept what reaches more; takes nothing away, since an
# input that was a fault once need not reach anything new
fuzz_merge() {
    local target=$1 kept=$root/tests/fuzz/corpus/$1 control=$scratch/control-$1 file count=0
    cp -r "$kept" "$scratch/merged-$target"
    fuzz_program "$target" -merge=1 -merge_control_file="$control" "$scratch/merged-$target" \
        "$build/corpus/$target" >"$build/found/$target-merge.log" 2>&1
    # Two numbers, the names, then for each name what it adds to those before it.
    {
        for file in "$kept"/*; do fuzz_edges kept "$file"; done
        awk -v aside="$build/" 'NR <= 2 || /^(STARTED|FT) / { next }
            !/^COV / { name[count++] = $0 }
            /^COV / && NF > 2 && index(name[$2 + 0], aside) == 1 { print name[$2 + 0] }' \
            "$control" | while IFS= read -r file; do fuzz_edges new "$file"; done
    } >"$scratch/edges-$target"
    for file in $(fuzz_choose <"$scratch/edges-$target"); do
        cp "$build/corpus/$target/$file" "$kept/${file:0:12}"
        count=$((count + 1))
    done
    say "$target: $count inputs are new in ${kept#"$root"/}"
}

# do_fuzz [TARGET] [SECONDS] [--merge]
do_fuzz() {
    local seconds=600 is_merge= target status=0
    local -a targets=()
    mapfile -t targets < <(cd "$build/bin" && printf '%s\n' fuzz-* | sed 's/^fuzz-//')
    while (($#)); do
        if [[ $1 == --merge ]]; then
            is_merge=1
        elif [[ $1 =~ ^[0-9]+$ ]]; then
            seconds=$1
        elif [[ -x $build/bin/fuzz-$1 ]]; then
            targets=("$1")
        else
            say "no target \"$1\"; there are ${targets[*]}"
            exit 64
        fi
        shift
    done
    mkdir -p "$build"/{found,home}
    for target in "${targets[@]}"; do
        mkdir -p "$build/corpus/$target"
        if [[ $is_merge ]]; then
            fuzz_merge "$target"
            continue
        fi
        # Two at a time: others want to work here, too.
        while (($(jobs -rp | wc -l) >= cores)); do wait -n || status=1; done
        fuzz_run "$target" "$seconds" &
    done
    while [[ $(jobs -p) ]]; do wait -n || status=1; done
    return "$status"
}
cores=$(nproc)
((cores < 2)) || cores=2
