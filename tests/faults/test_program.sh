# SPDX-License-Identifier: MIT
# labels: no-tsan
# lathe run, disturbed from outside, and lathe resume: it says what is the matter, ends
# with the documented status, and comes to the same bits once the cause is gone.
# In memory where that is possible: much is synchronised.
[[ ! -w /dev/shm ]] || export TMPDIR=/dev/shm
source "$(dirname "$0")/../cli/cli.bash"

cat >long.json <<'END'
{ "lathe": 1, "name": "long", "seed": 1,
  "data": { "train": { "use": "blobs", "samples": 640 },
            "validation": { "use": "blobs", "samples": 60 } },
  "model": { "use": "mlp", "hidden": [16] },
  "optimizer": { "use": "adamw", "lr": 0.001 },
  "train": { "until": "30ep", "batch": 64, "validate": "4ep", "log": "1step" },
  "callbacks": [ { "use": "checkpoint", "every": "30step", "keep": 2 },
                 { "use": "ema" }, { "use": "csv" }, { "use": "early-stopping", "patience": 99 } ] }
END
try 0 "$LATHE" run long.json --run-dir whole --quiet

# What the model's weights, slots and states are: all but the notes, which have times.
tensors() {
    local file=$1/checkpoints/last.safetensors header
    header=$(od -An -N8 -tu8 "$file")
    tail -c +$((header + 9)) "$file" | sha256sum
}
# same RUN: it ended as the one that was left alone
same() {
    tried="$1"
    holds "metrics.jsonl of $1" cmp -s whole/metrics.jsonl "$1/metrics.jsonl"
    holds "results.csv of $1" cmp -s whole/results.csv "$1/results.csv"
    holds "weights of $1" test "$(tensors whole)" = "$(tensors "$1")"
    has "$1/status.json" '"state": "ended", "reason": "completed"'
}
# told CODE TEXT: in three lines, with that in the first
told() {
    holds 'what' grep -qE "^lathe: .*$2" err
    holds 'where' grep -q '^  where: ' err
    holds 'help' grep -q '^  help: ' err
    [[ ! -e run/status.json ]] || has run/status.json "\"reason\": \"failed\", \"exit_code\": $1"
}
go_on() {
    if [[ -e run/resolved.json ]]; then
        try 0 "$LATHE" resume run --quiet
    else # which never began
        try 66 "$LATHE" resume run --quiet
        try 0 "$LATHE" run long.json --run-dir run --quiet
    fi
    same run
    rm -rf run
}
# background: a run that is not over by itself until something happens to it
background() {
    "$LATHE" run long.json --run-dir "$1" --quiet train.until=1000000ep 2>err &
    run=$!
    wait_until exists "$1/checkpoints/step-*"
}

# ---- a file may be so long, and no longer ----
# A checkpoint is too long, then metrics: in units of 1024 bytes.
for blocks in 6 24; do
    (
        ulimit -f $blocks
        exec "$LATHE" run long.json --run-dir run --quiet 2>err
    )
    code=$?
    tried="ulimit -f $blocks"
    holds "exit status 74, not $code" test $code = 74
    told 74 'File too large'
    go_on
done

# ---- a small disk ----
# In a user's own mount namespace, where there may be one.
cat >small-disk <<'END'
mount -t tmpfs -o size=48k none disk || exit 77
"$LATHE" run long.json --run-dir disk/run --quiet 2>err
echo $? >code
cp -a disk/run run
END
mkdir disk
if unshare --user --map-root-user --mount true 2>/dev/null; then
    enter=(unshare --user --map-root-user --mount)
elif unshare --mount true 2>/dev/null; then
    enter=(unshare --mount)
else
    enter=()
    echo 'skipped: no small disk can be mounted here' >&2
fi
if ((${#enter[@]})) && "${enter[@]}" bash small-disk; then
    tried='a disk of 48 KiB'
    is code 74
    told 74 '(No space left on device|no room for a checkpoint)'
    go_on
fi

# ---- the directory goes away ----
background run
mv run elsewhere
wait $run
code=$?
tried='mv run elsewhere'
holds "exit status 73 or 74, not $code" test $code = 73 -o $code = 74
told 0 'No such file or directory'
has err '  help: there is no run any more, so nothing can go on'
holds 'no file that is gone is advised' test -z "$(grep 'checkpoints/step-' err | grep -v '\.tmp\|where:')"
holds 'it is not made again' test ! -e run
mv elsewhere run
try 0 "$LATHE" resume run --quiet train.until=30ep
# It may have been past that when it was moved.
[[ $(sed -E 's/.*"step": ([0-9]+).*/\1/' run/status.json) != 300 ]] || same run
rm -rf run

background run
until rm -rf run 2>/dev/null; do :; done
wait $run
code=$?
tried='rm -rf run'
holds "exit status 73 or 74, not $code" test $code = 73 -o $code = 74
told 0 'No such file or directory'
rm -rf run

background run
mv run elsewhere
echo 'a file' >run
wait $run
code=$?
tried='a file in the place of run'
holds "exit status 73 or 74, not $code" test $code = 73 -o $code = 74
is run 'a file'
rm -rf run elsewhere

# ---- not enough memory for the blocks ----
tried='a model of 8 GB under ulimit -v'
if [[ -z ${SANITIZE:-} ]]; then
    (
        ulimit -v 1500000
        exec "$LATHE" run long.json --run-dir run --quiet 'model.hidden=[40000, 40000]' 2>err
    )
    code=$?
    holds "exit status 71, not $code" test $code = 71
    holds 'how much' grep -qE '^lathe: .*[0-9]{11} bytes are needed' err
    holds 'nothing is left' test ! -e run
fi

# ---- calls that fail ----
"$CC" -shared -fPIC -D_GNU_SOURCE -I"$SOURCE/tests" "$SOURCE/tests/faults/preload.c" \
    -o preload.so || exit 1
# disturbed FAULT COMMAND…: FAULT as in preload.c, in files below run/
disturbed() {
    local fault=$1
    shift
    tried="FAULT=$fault"
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" FAULT_UNDER=$scratch/run FAULT=$fault \
        LD_PRELOAD=$scratch/preload.so "$@" >out 2>err
    code=$?
} 2>/dev/null
eio=5 enospc=28 edquot=122
for threads in 1 2; do
    disturbed "1 $edquot 9 pwrite" "$LATHE" run long.json --run-dir run --quiet \
        train.threads=$threads
    holds "exit status 74, not $code" test "$code" = 74
    told 74 'Disk quota exceeded'
    go_on
done
disturbed "1 $eio 3 fsync" "$LATHE" run long.json --run-dir run --quiet
holds "exit status 74, not $code" test "$code" = 74
disturbed "1 $enospc 150 stays" "$LATHE" run long.json --run-dir run --quiet
[[ ! -e run ]] || rm -rf run

# ---- SIGTERM, wherever it comes ----
quick() {
    "$LATHE" "$1" "${@:3}" --run-dir "$2" --quiet --plugin-path "$PROBES"
}
chaos='callbacks=[{"use":"csv"},{"use":"chaos","act":"none"}]'
try 0 quick run calm long.json "$chaos" train.until=4ep train.validate=1ep
for point in run_begin epoch_begin step_begin batch_begin loss_ready gradients_ready step_end \
    validation_begin validation_batch_end validation_end epoch_end; do
    try 75 quick run run long.json "$chaos" train.until=4ep train.validate=1ep \
        callbacks.chaos.act=terminate callbacks.chaos.point=$point
    has run/status.json '"reason": "preempted", "exit_code": 75'
    try 0 "$LATHE" resume run --quiet callbacks.chaos.act=none
    tried="SIGTERM in $point"
    holds 'the same metrics' cmp -s calm/metrics.jsonl run/metrics.jsonl
    holds 'the same rows' cmp -s calm/results.csv run/results.csv
    holds 'the same weights' test "$(tensors calm)" = "$(tensors run)"
    rm -rf run
done
# And while it saves, and while it opens its files.
for fault in '7 0 3 pwrite' '7 0 2 fsync' '7 0 1 renameat' '7 0 0 openat'; do
    disturbed "$fault" "$LATHE" run long.json --run-dir run --quiet
    holds "exit status 75, not $code" test "$code" = 75
    has run/status.json '"reason": "preempted", "exit_code": 75'
    go_on
done
# SIGKILL.
for fault in '6 0 11 pwrite' '6 0 1 fsync' '6 0 2 renameat' '6 0 2 writev'; do
    disturbed "$fault" "$LATHE" run long.json --run-dir run --quiet
    holds "killed, not $code" test "$code" = 137
    go_on
done

# ---- a file of data becomes shorter ----
if [[ -z ${SANITIZE:-} ]]; then
    {
        printf '\0\0\10\3\0\0\7\320\0\0\0\10\0\0\0\10' # 2000 of 8 x 8
        head -c 128000 "$LATHE"
    } >images
    {
        printf '\0\0\10\1\0\0\7\320'
        yes | tr 'y\n' '\0\1' | head -c 2000
    } >labels
    cat >idx.json <<'END'
{ "lathe": 1, "seed": 1,
  "data": { "train": { "use": "idx", "images": "images", "labels": "labels" } },
  "model": { "use": "mlp", "hidden": [16] }, "optimizer": { "use": "adamw", "lr": 0.001 },
  "train": { "until": "300ep", "batch": 100, "log": "100step" },
  "callbacks": [ { "use": "csv" }, { "use": "checkpoint", "every": "100step" } ] }
END
    rm -rf whole
    try 0 "$LATHE" run idx.json --run-dir whole --quiet
    cp images as-it-was
    for length in 1000 127000; do
        "$LATHE" run idx.json --run-dir run --quiet 2>err &
        run=$!
        wait_until exists 'run/checkpoints/step-*'
        truncate -s $length images
        wait $run
        code=$?
        tried="images of $length bytes"
        cat as-it-was >images
        # On a fast machine it may have been over.
        holds "exit status 65, not $code" test $code = 65 -o $code = 0
        [[ $code == 0 ]] || told 65 'images has become shorter than the 128016 bytes'
        go_on
    done
fi
verdict
