# SPDX-License-Identifier: MIT
# labels: no-tsan
# lathe reproduce: runs done again, and receipt.json, by which they are compared.
source "$(dirname "$0")/cli.bash"
mkdir runs plugins
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

# Points in a file, and the model's library in a folder of ours, so that both can change.
awk -v OFS=, 'BEGIN { srand(1); print "x,y,label"
    for (i = 0; i < 200; i++) print rand() + i % 2, rand() - i % 2, i % 2 }' >points.csv
cp -r "$BUILD/plugins/model/mlp" plugins/
cat >points.json <<'E'
{ "lathe": 1, "name": "points", "seed": 3,
  "data": { "train": { "use": "csv", "file": "points.csv", "label": "label" },
            "validation": { "use": "csv", "file": "points.csv", "label": "label" } },
  "model": { "use": "mlp", "hidden": [16] },
  "optimizer": { "use": "adamw", "lr": 0.01 },
  "train": { "until": "4ep", "batch": 20, "shards": 2, "log": "5step" },
  "callbacks": [ { "use": "checkpoint", "every": "1ep", "keep": 3 }, { "use": "ema" },
                 { "use": "csv" } ] }
E
try 0 "$LATHE" run points.json --run-dir runs/first --quiet --plugin-path plugins

# ---- the receipt ----
receipt=runs/first/receipt.json
has $receipt '"format": "lathe.receipt/1"'
has $receipt '"reason": "completed"'
has $receipt "\"sha256\": \"$(sha256sum <points.csv | cut -d' ' -f1)\""
has $receipt "\"sha256\": \"$(sha256sum <plugins/mlp/mlp.so | cut -d' ' -f1)\""
has $receipt "\"sha256\": \"$(sha256sum <runs/first/metrics.jsonl | cut -d' ' -f1)\""
# One that goes on leaves another.
cp -r runs/first again
try 0 "$LATHE" resume again --quiet train.until=5ep
has again/receipt.json '"step": 50'
# In another directory: the same experiment.
mkdir elsewhere && cp points.csv points.json elsewhere
try 0 "$LATHE" run elsewhere/points.json --run-dir moved --quiet --plugin-path plugins
experiment() { grep '"experiment": "' "$1/receipt.json"; }
holds 'one digest of the experiment' test "$(experiment moved)" = "$(experiment runs/first)"

# ---- identical ----
whole='identical: 40 steps, 12 records, weights after step 20, 30, 40'
try 0 "$LATHE" reproduce first
is out "$whole"
holds 'nothing is left' test "$(ls -A runs | xargs)" = 'first latest'
try 0 "$LATHE" reproduce runs/first --quiet
is_empty err
try 0 "$LATHE" reproduce first --json
has out '{"identical":true,"run":"runs/first","again":null,"steps":40,'
has out '"compared":{"records":12,"weights":[20,30,40]},"apart":null'
# One thread or two: the same bits, and it is said.
for threads in 1 2; do
    try 0 "$LATHE" reproduce first --quiet train.threads=$threads
    has out 'identical: 40 steps'
    has out "  train.threads  0  $threads"
done

# ---- a prefix, and a directory to keep ----
try 0 "$LATHE" reproduce first --quiet --steps 25
is out 'identical: 25 steps, 7 records, weights after step 20'
try 0 "$LATHE" reproduce first --quiet --steps 10 -o kept
has kept/status.json '"reason": "interrupted"'
try 73 "$LATHE" reproduce first --quiet -o kept
for inside in first first/again first/../first/checkpoints/x/y; do
    try 73 "$LATHE" reproduce first -o runs/$inside
    has err 'it is in the run that is done again'
done
try 0 "$LATHE" reproduce first
has err 'completed: '
lacks err .reproduce- # which is gone
try 0 "$LATHE" reproduce first --quiet --keep
has err 'kept: '
rm -r runs/.reproduced-*
try 0 "$LATHE" reproduce first --keep
has err 'kept: '
holds 'it is there' test -e "$(sed -n 's/^kept: //p' err)/receipt.json"
rm -r runs/.reproduced-*
for wrong in 0 x 41 4; do
    try 64 "$LATHE" reproduce first --steps $wrong
    has err 'where: --steps'
done
has err 'the first record is of step 5'

# ---- not identical ----
try 1 "$LATHE" reproduce first --quiet seed=4
has out 'not identical: train/loss at step 5 (epoch 1): '
has out '  seed  3  4'
try 1 "$LATHE" reproduce first --quiet train.until=5ep
has out 'not identical: '
has out '  train.until  4ep  5ep'
try 1 "$LATHE" reproduce first --json 'callbacks.ema.decay=0.5'
has out '{"identical":false,'
has out '"apart":{"what":"validation/loss","a":'
has out '"step":10,"epoch":1}'

# ---- something was changed since ----
printf x >>plugins/mlp/mlp.so
try 0 "$LATHE" reproduce first
has err 'changed since: then, and now'
has err '  plugin model mlp  sha256 '
has out 'though these differ, then and now'
has out '  model mlp  1.0.0 sha256 '
try 0 "$LATHE" reproduce first --json
has out '"changed":[{"what":"plugin model mlp","a":"'
cp "$BUILD/plugins/model/mlp/mlp.so" plugins/mlp/
cp points.csv points.bak
sed -i '2s/^[0-9.]*/9/' points.csv
try 1 "$LATHE" reproduce first
has err 'points.csv  sha256 '
has out 'not identical: train/loss at step '
has out '  points.csv  sha256 '
rm points.csv
try 66 "$LATHE" reproduce first
has err 'data of the run'
mv points.bak points.csv
sed -i 's/"name": "mlp"/"name": "pml"/' $receipt
try 69 "$LATHE" reproduce first
has err 'pml'
sed -i 's/"name": "pml"/"name": "mlp"/' $receipt

# ---- files that are not what the receipt says ----
for file in resolved.json metrics.jsonl; do
    cp runs/first/$file bak
    sed -i '0,/[2-8]/s/[2-8]/9/' runs/first/$file
    try 65 "$LATHE" reproduce first
    has err "$file is not what receipt.json says"
    mv bak runs/first/$file
done
# Nothing is identical where nothing was compared.
cp -r runs/first runs/bare
rm runs/bare/metrics.jsonl
try 65 "$LATHE" reproduce bare
is_empty out
has err 'metrics.jsonl is not there, and receipt.json says that it has 12 rows'
has err 'where: runs/bare/metrics.jsonl'
sed -zi 's/"rows": 12/"rows": 0/; s/"checkpoints": \[[^]]*\]/"checkpoints": []/
    s/"weights": {[^}]*}/"weights": null/; s/"completed"/"interrupted"/' runs/bare/receipt.json
try 66 "$LATHE" reproduce bare
is_empty out
has err 'there is nothing to compare'
# Of a run that completed, a record that is new is a difference.
sed -i 's/"interrupted"/"completed"/' runs/bare/receipt.json
try 1 "$LATHE" reproduce bare --quiet
rm -r runs/bare
cp $receipt bak
for damage in 's/lathe.receipt.1/lathe.receipt\/2/' '$d' 's/"plugins": \[/"plugins": 3, "x": [/'; do
    sed -i "$damage" $receipt
    try 65 "$LATHE" reproduce first
    has err 'receipt.json'
    cp bak $receipt
done
# damaged SCRIPT MEMBER TEXT: what is told of it
damaged() {
    sed -i "$1" $receipt
    try 65 "$LATHE" reproduce first
    has err "where: runs/first/receipt.json: $2"
    has err "$3 was expected"
    has err 'help: put it back as the run left it'
    cp bak $receipt
}
damaged '0,/"step": [0-9]*/s//"step": -1/' step '-1; a whole number, 0 or more'
damaged '0,/"step": [0-9]*/s//"step": 1/' checkpoints.0.step "up to 1, the run's last step,"
damaged '/"checkpoints"/,$s/"step": 40/"step": "40"/' checkpoints '"40"; a whole number, 0 or more'
damaged 's/"reason": .*/"reason": 4,/' reason '4; text that is not empty'
damaged 's/"kind": "model"/"kind": "modl"/' plugins.1.kind '"modl"; a kind of plugins'
damaged '/"plugins"/,$s/"sha256": .*/"sha256": "0"/' plugins.0.sha256 '"0"; a SHA-256 in 64 small hexadecimal digits'
damaged '/"data"/,$s/"path": .*/"path": [],/' data.0.path '[]; text that is not empty'
damaged 's/"experiment": .*/"experiment": true,/' experiment 'true; a SHA-256 in 64 small hexadecimal digits'
damaged 's/"environment": {/"environment": 1, "x": {/' environment '1; an object'
damaged 's/"rows": [0-9]*/"rows": 0.5/' metrics.rows '0.5; a whole number, 0 or more'
damaged 's/"weights": {/"weights": 1, "x": {/' weights '1; an object'
damaged 's/"data": \[/"data": {}, "x": [/' data '{}; a list'
# What a terminal would obey, or a line that nobody wrote.
sed -i '/"cpu"/,$s/"model": ".*"/"model": "x\\u001b[31m\\nidentical: all"/' $receipt
has $receipt u001b
try 0 "$LATHE" reproduce first
has out 'x?[31m?identical: all'
lacks out $'\e'
lacks err $'\e'
cp bak $receipt
rm $receipt
try 66 "$LATHE" reproduce first
has err 'lathe resume runs/first ends it'
mv bak $receipt
try 66 "$LATHE" reproduce nothing
try 64 "$LATHE" reproduce

# ---- runs that ended in other ways ----
try 0 "$LATHE" run points.json --run-dir runs/early --quiet \
    'callbacks=[{"use":"early-stopping","watch":"train/loss","patience":1,"min_delta":9}]'
has runs/early/receipt.json '"reason": "stopped"'
try 0 "$LATHE" reproduce early --quiet
has out 'identical: '
try 1 "$LATHE" run points.json --run-dir runs/diverged --quiet optimizer.lr=1e30 callbacks=[]
has runs/diverged/receipt.json '"reason": "nonfinite"'
try 0 "$LATHE" reproduce diverged --quiet
has out 'identical: '
try 1 "$LATHE" reproduce diverged --quiet optimizer.lr=0.01
has out 'not identical: '
has out '  optimizer.lr  1e+30  0.01'
# A bound that is a time: where it ended is known, and its end is done again.
for until in '["100000ep","0.2s"]' 0.2s; do
    rm -rf runs/timed
    try 0 "$LATHE" run points.json --run-dir runs/timed --quiet "train.until=$until"
    try 0 "$LATHE" reproduce timed --quiet
    has out 'identical: '
    lacks out train.until
done
# Ctrl-C: no verdict, and nothing left.
try 130 "$LATHE" reproduce first --quiet --plugin-path "$PROBES" \
    'callbacks=[{"use":"chaos","act":"interrupt","at":5}]'
is_empty out
holds 'nothing is left' test -z "$(compgen -G 'runs/.reproduce-*')"
# A seed that was drawn is the run's.
sed 's/"seed": 3,//' points.json >drawn.json
try 0 "$LATHE" run drawn.json --run-dir runs/drawn --quiet
try 0 "$LATHE" reproduce drawn --quiet
has out 'identical: '
# Told to stop, and gone on after SIGKILL.
try 75 "$LATHE" run points.json --run-dir runs/told --quiet train.until=100000ep --time-limit 0.1s
has runs/told/receipt.json '"reason": "preempted"'
try 0 "$LATHE" reproduce told --quiet
has out 'identical: '
"$LATHE" run points.json --run-dir runs/killed --quiet train.until=100000ep &
run=$!
wait_until exists 'runs/killed/checkpoints/step-*'
kill -KILL $run
wait $run 2>/dev/null
holds 'no receipt of what died' test ! -e runs/killed/receipt.json
step=$(ls runs/killed/checkpoints | sed -n 's/^step-0*\([0-9]*\).*/\1/p' | tail -1)
try 0 "$LATHE" resume runs/killed --quiet train.until=$((step + 30))step
try 0 "$LATHE" reproduce killed --quiet
has out "identical: $((step + 30)) steps"
# Stages, and one that begins from a checkpoint, which may be gone.
try 0 "$LATHE" run points.json --run-dir runs/staged --quiet \
    'stages=[{"train":{"until":"1ep"}},{"train":{"until":"2ep"},"optimizer":{"lr":0.1}}]'
try 0 "$LATHE" reproduce staged --quiet
has out 'identical: '
try 0 "$LATHE" run points.json --run-dir runs/after --quiet train.until=5ep \
    --from runs/first/checkpoints/step-00000030.safetensors
has runs/after/receipt.json '"from": {'
try 0 "$LATHE" reproduce after --quiet
has out 'identical: 50 steps'
mv runs/first/checkpoints/step-00000030.safetensors bak
try 66 "$LATHE" reproduce after
has err 'the checkpoint that the run began from'
cp runs/first/checkpoints/step-00000020.safetensors runs/first/checkpoints/step-00000030.safetensors
try 65 "$LATHE" reproduce after
has err 'it is another checkpoint than it was'
mv bak runs/first/checkpoints/step-00000030.safetensors
# Killed before it has a checkpoint of its own, it begins from that one again.
"$LATHE" run points.json --run-dir runs/cut --quiet train.until=100000ep \
    callbacks.checkpoint.every=off --from runs/first/checkpoints/step-00000030.safetensors &
run=$!
wait_until test -s runs/cut/metrics.jsonl
kill -KILL $run
wait $run 2>/dev/null
try 0 "$LATHE" resume runs/cut train.until=5ep callbacks.checkpoint.every=1ep
has err 'beginning again from '
lacks err 'rows of'
tried='resumed from what it began from'
holds 'the same rows' cmp runs/cut/results.csv runs/after/results.csv
holds 'as the one that was not killed' cmp runs/cut/metrics.jsonl runs/after/metrics.jsonl

# ---- other kernels under the model: named, before and after ----
other=Haswell
grep -q avx2 /proc/cpuinfo || other=Nehalem
grep -q "OpenBLAS $other" runs/first/environment.json && other=Sandybridge
OPENBLAS_CORETYPE=$other "$LATHE" reproduce first >out 2>err
code=$? tried="OPENBLAS_CORETYPE=$other lathe reproduce first"
if [[ $(uname -m) == x86_64 ]]; then
    ((code == 0 || code == 1)) || complain "exit status $code"
    has err 'other than it was: then, and now'
    grep 'blas' out >kernels
    has kernels "OpenBLAS $other"
fi
verdict
