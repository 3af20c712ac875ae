# SPDX-License-Identifier: MIT
# labels: no-tsan
# The programs of sdk/template build as their README says. loop trains like `lathe run`, to
# the last bit; distil makes a student like its teacher.
source "$(dirname "$0")/docs.bash"
needs_plain_build

# A folder of one's own, as its README has it; what is shown as …/ is where lathe is.
cp -r "$SOURCE/sdk/template" loops
cd loops
build=$(block sdk/template/README.md sh 1 | sed "s|…/sdk|$SOURCE/sdk|; s|…/build|$BUILD|g")
[[ $build == *cmake* ]]
eval "$build" >built 2>&1 || { cat built; exit 1; }
! grep -i 'warning' built
export LATHE_PLUGIN_PATH=$BUILD/plugins:$PROBES

# ---- loop ----
cat >all.json <<'JSON'
{ "lathe": 1, "name": "all", "seed": 3,
  "data": { "train": { "use": "blobs", "samples": 230, "features": 5 },
            "validation": { "use": "blobs", "samples": 57, "features": 5 },
            "test": { "use": "blobs", "samples": 31, "features": 5 } },
  "model": { "use": "mlp", "hidden": [9, 7] },
  "optimizer": { "use": "adamw", "lr": 0.01 },
  "train": { "until": "3ep", "batch": 16, "accumulate": 3, "shards": 2, "clip_norm": 1,
             "log": "2step", "validate": "4step" },
  "stages": [ { "train": { "only": "layers.2.*" } },
              { "schedule": { "use": "cosine" }, "optimizer": { "keep": true } } ],
  "callbacks": [ { "use": "ema" }, { "use": "chaos", "act": "none" },
                 { "use": "checkpoint", "every": "3step", "keep": 0, "best": "validation/loss" } ] }
JSON

# same EXPECTED FOUND: two run directories. Of a checkpoint, what follows the header: weights,
# slots, blocks, state; the header has the run's own name.
tensors() { tail -c +$((9 + $(od -An -tu8 -N8 "$1"))) "$1"; }
same() {
    cmp "$1/metrics.jsonl" "$2/metrics.jsonl"
    diff <(cd "$1/checkpoints" && ls) <(cd "$2/checkpoints" && ls)
    local file
    for file in "$1"/checkpoints/step-*.safetensors; do
        cmp <(tensors "$file") <(tensors "$2/checkpoints/${file##*/}")
    done
}
forget_run() { sed -E 's/"run":(null|"[^"]*")/"run":null/'; }

lathe run all.json --run-dir expected --json --quiet | forget_run >expected.jsonl
./build/loop all.json found | forget_run >found.jsonl
diff expected.jsonl found.jsonl
same expected found
ls expected/checkpoints
(($(ls expected/checkpoints/step-*.safetensors | wc -l) > 8))
# What is compared does differ where the numbers do.
./build/loop all.json other seed=4 >/dev/null
! same expected other 2>/dev/null

# A loop that was killed goes on as any run.
if ./build/loop all.json killed callbacks.chaos.act=kill callbacks.chaos.at=13 \
    >/dev/null 2>&1; then exit 1; fi
lathe resume killed callbacks.chaos.act=none --quiet
cmp expected/metrics.jsonl killed/metrics.jsonl
last=$(readlink expected/checkpoints/last.safetensors)
cmp <(tensors "expected/checkpoints/$last") <(tensors "killed/checkpoints/$last")

# ---- distil ----
run=$(block sdk/template/README.md sh 2 | grep -F './build/distil')
[[ -n $run ]]
eval "${run##*1 }" >distilled
# losses WHO SPLIT: one a line
losses() { sed -nE "s/^$1 .*\"split\":\"$2\".*\"loss\":([^}]*)\}.*/\1/p" distilled; }
echo "student, from the teacher: $(losses student train | sed -n '1p; $p' | xargs)"
echo "from the labels: $(losses teacher validation | tail -n 1) $(losses student validation |
    tail -n 1)"
# Its loss falls far below the 0.0225 by which the labels are off: it does not see them. From
# those it is as far as its teacher.
losses student train | awk 'NR == 1 { first = $1 } { last = $1 }
    END { exit !(first > 0.1 && last < 0.006) }'
paste <(losses teacher validation | tail -n 1) <(losses student validation | tail -n 1) |
    awk '{ exit !($2 < 1.2 * $1 && $1 > 0.0225) }'
if ./build/distil teacher.json teacher.json.none 2>told; then exit 1; fi
grep -q 'teacher.json.none' told
