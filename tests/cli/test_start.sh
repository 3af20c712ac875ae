# SPDX-License-Identifier: MIT
# The file that a run began from is needed once.
source "$(dirname "$0")/cli.bash"
small
try 0 "$LATHE" run small.json --run-dir trunk --quiet
sed 's|"model"|"start": { "weights": "trunk/checkpoints/last.safetensors" }, &|' \
    small.json >fine.json
try 0 "$LATHE" validate fine.json
try 0 "$LATHE" explain fine.json
has out 'start.weights'
try 0 "$LATHE" run fine.json --run-dir fine train.until=2ep
has err 'start: 4 of 4 parameters are those of'
has fine/resolved.json '"start.weights": "file"'
try 0 "$LATHE" eval fine
cp out before

mv trunk gone
try 66 "$LATHE" validate fine.json
has err 'there is no file'
has err 'fine.json: start.weights'
try 66 "$LATHE" run fine.json
try 0 "$LATHE" eval fine
holds 'the same numbers' cmp -s before out
try 0 "$LATHE" resume fine train.until=3ep
lacks err 'start:'
try 0 "$LATHE" run --from fine --run-dir new train.until=4ep
lacks err 'start:'
# It has acted: another one changes nothing any more.
try 0 "$LATHE" resume fine train.until=4ep start.weights=gone/checkpoints/last.safetensors
has err 'changed: start.weights'
verdict
