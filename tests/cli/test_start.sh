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

# The average that a callback kept, in place of the weights beside it.
try 0 "$LATHE" run small.json --run-dir kept --quiet 'callbacks=[{"use":"ema","decay":0.9}]'
try 0 "$LATHE" eval kept
cp out averaged
kept='start={"weights":"kept/checkpoints/last.safetensors","rename":'
try 0 "$LATHE" run small.json --run-dir average train.until=1step \
    "$kept"'{"lathe/block/ema/average/*":"*"}}' optimizer.lr=1e-30
has err 'start: 4 of 4 parameters are those of'
has err 'last.safetensors, 4 of them its lathe/block/ema/average/*'
try 0 "$LATHE" eval average
holds 'those of the average' cmp -s averaged out
try 78 "$LATHE" run small.json --run-dir none "$kept"'{"layer.0.bias":"layers.0.bias"}}'
has err '"layer.0.bias" matches no tensor of'
has err 'where: command line: start.rename.layer.0.bias'
has err 'did you mean layers.0.bias? it has '
try 78 "$LATHE" run small.json --run-dir none "$kept"'{"lathe/block/emma/*":"*"}}'
has err 'it has lathe/block/ema/average/'

for part in train "$kept"; do
    only=("train.only='layers.1.*'")
    [[ $part == train ]] || only=("$kept{}}" 'start.only=layer.1.*')
    try 78 "$LATHE" run small.json --run-dir none "${only[@]}"
    has err "where: command line: ${only[-1]%%=*}"
done
has err 'help: parameters are named like "layers.0.weight"'

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
