# SPDX-License-Identifier: MIT
# Reading ahead, from outside: when it is done and why, what a trace and a crash say of it;
# and what plugins say of how they work.
source "$(dirname "$0")/cli.bash"
small
explain() { "$LATHE" explain "$@" --plugin-path "$PROBES"; }
run() { rm -rf run && "$LATHE" run "$@" --plugin-path "$PROBES" --quiet --run-dir run; }
slow() { echo 'data.train={"use":"slow","of":{"use":"blobs","samples":320},'"$1"'}'; }

# ---- when, and why (not) ----
try 78 "$LATHE" validate small.json train.prefetch=on
has err 'help: write true'
try 0 explain small.json train.prefetch=true
has out '  reads         ahead: train.prefetch is true'
has out '  command line  train.prefetch                          true'
try 0 explain small.json train.prefetch=false
has out '  reads         in the loop: train.prefetch is false'
try 0 taskset -c 0 "$LATHE" explain small.json
has out '  reads         in the loop: every core is at work'
has out '  default       train.prefetch                          "auto"'
try 0 explain small.json train.prefetch=true \
    'data.train={"use":"backwards","of":{"use":"blobs","samples":320}}'
has out '  reads         in the loop: data.train has an order of its own'
keeper='{"use":"keeper","of":{"use":"blobs","samples":320}}'
try 0 explain small.json train.prefetch=true data.train="$keeper"
has out '  reads         in the loop: data.train has state'
try 0 explain small.json train.prefetch=true data.train='{"use":"slow","of":'"$keeper}"
has out '  reads         in the loop: data.train has state'
try 0 explain small.json train.prefetch=true --json
tr -d ' \n' <out >flat
has flat '"prefetch":{"ahead":"yes","why":"train.prefetchistrue"}'
if (($(nproc) > 1)); then
    try 0 explain small.json train.threads=1
    has out '  reads         ahead when it pays: a core is idle'
fi
try 78 run small.json train.prefetch=maybe
has err 'train.prefetch'
has err '"auto", true, false'

# ---- it is seen nowhere else ----
for prefetch in false true auto; do
    try 0 run small.json train.prefetch=$prefetch train.accumulate=3 train.shards=2 \
        --trace "trace.$prefetch"
    cp run/metrics.jsonl "metrics.$prefetch"
    cmp -s trace.false "trace.$prefetch" || complain "another trace with $prefetch"
    cmp -s metrics.false "metrics.$prefetch" || complain "other metrics with $prefetch"
done
has run/resolved.json '"prefetch": "auto"'
try 0 run small.json train.until=1ep train.prefetch=true
has run/resolved.json '"prefetch": true'
try 0 "$LATHE" resume run train.prefetch=false train.until=2ep

# ---- how plugins work ----
try 0 explain small.json
holds 'products' grep -qE '^    products +(panels|OpenBLAS)' out
tr -d ' \n' <run/environment.json >flat
has flat '"notes":{"model":{"products":"'
try 0 explain small.json --json
tr -d ' \n' <out >flat
has flat '"notes":{"products":"'

# ---- a signal in a read: the run ends between two steps, and goes on ----
try 130 run small.json train.prefetch=true "$(slow '"at":15,"act":"interrupt"')"
try 0 "$LATHE" resume run --plugin-path "$PROBES" --allow-change data.train.at=0
cp run/metrics.jsonl broken
try 0 run small.json train.prefetch=false "$(slow '"at":0')"
cmp -s run/metrics.jsonl broken || complain 'other metrics after an interrupted read'

# ---- a crash in a read ----
if [[ -z ${SANITIZE:-} ]]; then
    for at in 1 2 15; do
        try 70 run small.json train.threads=1 train.prefetch=true \
            "$(slow '"at":'$at',"act":"segfault"')"
        thread=$((at > 1))
        who="data.train train (slow.so 1.0.0) in read at epoch $((at / 11 + 1)) step $((at - 1))"
        has err "SIGSEGV in $who (thread $thread)"
        has run/crash.txt "$who (thread $thread)"
        has run/status.json '"reason": "failed"'
    done
    try 0 "$LATHE" resume run --plugin-path "$PROBES" --allow-change data.train.at=0
    cmp -s run/metrics.jsonl broken || complain 'other metrics after a crash in a read'
fi
verdict
