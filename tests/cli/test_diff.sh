# SPDX-License-Identifier: MIT
# lathe diff: what two runs have in common, and where they part.
source "$(dirname "$0")/cli.bash"
small

mkdir runs
try 0 "$LATHE" run small.json --run-dir runs/one --quiet callbacks=[]
try 0 "$LATHE" run small.json --run-dir runs/two --quiet callbacks=[]

# ---- the same ----
try 0 "$LATHE" diff one runs/two
is out 'the same: 40 steps, 9 records, weights after step 40'
is_empty err
try 0 "$LATHE" diff one two --json
has out '"same":true'
has out '"compared":{"records":9,"weights":[40]},"apart":null'
has out '"settings":[],"plugins":[],"data":[],"environment":[]'

# ---- settings, path by path, and the first step ----
try 0 "$LATHE" run small.json --run-dir runs/three --quiet callbacks=[] optimizer.lr=0.2 \
    'model.hidden=[8,4]'
try 1 "$LATHE" diff one three
has out 'settings'
has out '  model.hidden  [8]  [8,4]'
has out '  optimizer.lr  0.1  0.2'
grep -A1 '^first apart' out >first
has first '  train/loss at step 10 (epoch 1): '
has out 'metrics at the end'
has out '  validation/loss '
try 1 "$LATHE" diff one three --json
has out '"same":false'
has out '{"what":"optimizer.lr","a":0.1,"b":0.2}'
has out '"what":"train/loss","a":'
has out '"step":10,"epoch":1}'

# Same numbers, other settings: both is said.
try 0 "$LATHE" run small.json --run-dir runs/four --quiet callbacks=[] train.threads=1
try 1 "$LATHE" diff one four
has out '  train.threads  0  1'
has out 'the same came of it'

# ---- of other lengths ----
try 0 "$LATHE" run small.json --run-dir runs/short --quiet callbacks=[] train.until=2ep
try 1 "$LATHE" diff one short
grep -A1 '^first apart' out >first
has first '  a record of test at step 20 (epoch 2): nothing and one'
try 0 "$LATHE" run small.json --run-dir runs/quick --quiet callbacks=[] train.until=15step
try 1 "$LATHE" diff one quick --json
has out '"what":"a record of train"'
has out '"step":15'

# ---- one that nobody could note the end of ----
sed -i 's/"ended"/"running"/' runs/two/status.json
rm runs/two/receipt.json
try 0 "$LATHE" diff one two
has out 'the same: '

# ---- nothing came of either, or it is gone ----
for name in one two three; do
    cp -r runs/$name runs/bare-$name
    rm -r runs/bare-$name/{metrics.jsonl,checkpoints}
done
try 66 "$LATHE" diff bare-one bare-two
is_empty out
has err 'there is nothing to compare'
try 66 "$LATHE" diff bare-one bare-two --json
is_empty out
try 1 "$LATHE" diff bare-one bare-three
has out '  optimizer.lr  0.1  0.2'
has out 'nothing that came of them was compared'
lacks out 'the same came of it'

# ---- callbacks are named by their id ----
try 0 "$LATHE" run small.json --run-dir runs/a --quiet 'callbacks=[{"use":"ema","decay":0.9}]'
try 0 "$LATHE" run small.json --run-dir runs/b --quiet 'callbacks=[{"use":"ema","decay":0.5}]'
try 1 "$LATHE" diff a b
has out '  callbacks.ema.decay  0.9  0.5'
grep -A1 '^first apart' out >first
has first '  validation/loss at step 10 (epoch 1): '

# ---- wrong ----
try 64 "$LATHE" diff one
has err '"diff" compares two runs'
try 64 "$LATHE" diff one two three
try 66 "$LATHE" diff one five
has err 'there is no such run'
mkdir empty
try 66 "$LATHE" diff empty one
has err 'name the directory of a run'
echo '{' >runs/four/resolved.json
try 65 "$LATHE" diff one four
has err 'resolved.json'
verdict
