# SPDX-License-Identifier: MIT
# labels: slow no-tsan
# ./dev bench beside PyTorch: every row of the comparison is there, judged or said to be
# disturbed, and the script that is counted does what the experiment does.
source "$SOURCE/tests/cli/cli.bash"
[[ -z $SANITIZE ]] || { echo "skipped: the bench has no sanitizers" >&2; exit 77; }
/usr/bin/python3 -I -c 'import torch' 2>/dev/null &&
    compgen -G '/usr/lib/*/openblas-openmp' >/dev/null || {
    echo "skipped: no python3-torch or no libopenblas0-openmp" >&2
    exit 77
}
export TMPDIR=$scratch
try 0 "$BUILD/bin/bench" "$SOURCE" "$BUILD" mlp words --peer torch --rounds 1 --json saved.json
has out "peer    PyTorch"
for row in "sgd, batch 64" "adamw, batch 64" "sgd, batch 128"; do
    has saved.json "\"name\": \"$row, 1 thread\""
    has saved.json "\"name\": \"$row, 2 threads\""
done
has saved.json '"name": "lathe, sgd, batch 128"'
has saved.json '"name": "share of the peak, sgd, batch 64, 1 thread"'
has saved.json '"name": "torch: lines of Python"'
holds "seven comparisons have two series each, and so has the first metric" \
    test "$(grep -c '"rounds": \[' saved.json)" = 16
lacks saved.json 'null'
waiting=$(grep -oE '"the peer.s processor time while it waits", "value": [0-9.e-]+' saved.json)
holds "a peer that waits sleeps" awk -v percent="${waiting##* }" 'BEGIN { exit !(percent < 2) }'

sed 's/^EPOCHS, .*/EPOCHS, BATCH, PATIENCE, LOG_EVERY = 2, 128, 3, 50/; s/< 0\.88/< 0.5/' \
    "$SOURCE/tests/bench/fashion_mlp.py" >short.py
try 0 /usr/bin/python3 short.py --run-dir run
has out '"split": "train", "epoch": 1, "step": 50,'
has out '"split": "validation", "epoch": 1, "step": 430,'
has out '"split": "test"'
holds "it leaves a checkpoint" test -s run/checkpoint.pt
verdict
