# SPDX-License-Identifier: MIT
# A run packed with what came of it, and done again where no plugin is installed.
source "$(dirname "$0")/bundle.bash"
points here
try 0 "$LATHE" run here/points.json --quiet --run-dir run
try 0 "$LATHE" pack run -o x.lathe
has out "with the run's receipt"
if command -v zstd >/dev/null; then
    zstd -qdc x.lathe | tar -xOf - receipt.json >receipt.json
    lacks receipt.json "$scratch"
    has receipt.json '"path": "train.csv"'
fi

# Only what the run was made of is packed with what came of it.
cp here/data/train.csv kept.csv
sed -i '2,40d' here/data/train.csv
try 65 "$LATHE" pack run -o changed.lathe
has err 'data is not what the run was made of'
cp kept.csv here/data/train.csv
cp -r "$BUILD/plugins/optimizer/adamw" own
try 0 "$LATHE" run here/points.json --quiet --run-dir built --plugin-path own
echo >>own/adamw.so
try 65 "$LATHE" pack built -o changed.lathe
has err 'a plugin is not what the run was made of'
mv own gone-own
try 66 "$LATHE" pack built -o changed.lathe
cp -r run damaged
head -c 200 run/metrics.jsonl >damaged/metrics.jsonl
try 65 "$LATHE" pack damaged -o changed.lathe
has err 'metrics.jsonl is not what'
try 0 "$LATHE" pack damaged/resolved.json -o changed.lathe
rm changed.lathe
cp -rL run another
sed -i 's/"lr": 0.01/"lr": 0.02/' another/resolved.json
try 65 "$LATHE" pack another -o changed.lathe
has err 'the experiment is not what the run was made of'
has err 'another/resolved.json'
try 0 "$LATHE" pack another/resolved.json -o changed.lathe
rm changed.lathe

# Nor is it believed when the experiment in a bundle is another than its receipt says.
if command -v zstd >/dev/null; then
    mkdir forged && zstd -qdc x.lathe | tar -xf - -C forged
    old=$(sed -n 's/.*"packed_experiment": "\(.*\)".*/\1/p' forged/receipt.json)
    tried="packed_experiment $old"
    holds 'its digest' test "$old" = "$(sha256sum <forged/experiment.json | cut -d' ' -f1)"
    sed -i 's/"lr": 0.01/"lr": 0.02/' forged/experiment.json
    new=$(sha256sum <forged/experiment.json | cut -d' ' -f1)
    sed -i "s/$old/$new/" forged/bundle.json
    sed -n '/"files"/,/"outside"/s/.*"path": "\(.*\)",/\1/p' forged/bundle.json >list
    tar --format=ustar -cf forged.lathe -C forged bundle.json -T list
    try 65 "$LATHE" reproduce forged.lathe
    has err '"experiment.json" is not what its receipt is of'
    has err 'where: forged.lathe'
    try 65 "$LATHE" verify forged.lathe
    has err 'it is not what receipt.json is of'
    rm -r forged forged.lathe
fi

# Nothing but an older bundle is replaced, and that through a link.
try 73 "$LATHE" pack here/points.json -o here/points.json
try 73 "$LATHE" pack here/points.json -o here/data/train.csv
holds 'the data is as it was' cmp -s kept.csv here/data/train.csv
mkfifo pipe
try 73 "$LATHE" pack here/points.json -o pipe
has err 'is there, and is no regular file'
ln -s target.lathe link.lathe && touch target.lathe
try 0 "$LATHE" pack here/points.json -o link.lathe
holds 'a link' test -L link.lathe
try 0 "$LATHE" verify target.lathe
rm link.lathe target.lathe
try 0 "$LATHE" pack here/points.json -o huge.lathe --with-data 1e12GiB
lacks out 'by its digest alone'
rm huge.lathe
try 0 "$LATHE" pack run train.until=1ep -o other.lathe
lacks out receipt
try 0 "$LATHE" pack here/points.json -o never.lathe
lacks out receipt
try 0 "$LATHE" run here/points.json --quiet --run-dir stopped train.until=1ep
try 0 "$LATHE" run here/points.json --quiet --run-dir from --from stopped
# The checkpoint that it began from is not packed, so what came of it is not either.
try 0 "$LATHE" pack from -o from.lathe
lacks out receipt

mkdir -p bare/bin
cp "$LATHE" bare/bin/
LATHE=$PWD/bare/bin/lathe
mv ./*.lathe bare/ && mv here gone && mv run bare/first && cd bare || exit 1

try 0 "$LATHE" reproduce x.lathe
has out 'identical: '
has out 'weights after step'
holds 'nothing is left' test -z "$(find . -name '.reproduce*')"
try 0 "$LATHE" reproduce x.lathe --quiet --steps 10
has out 'identical: 10 steps'
try 0 "$LATHE" reproduce x.lathe train.threads=2 --json
has out '"identical":true'
has out '"run":"x.lathe"'
try 0 "$LATHE" reproduce x.lathe -o again --quiet
holds 'the same records' cmp -s first/metrics.jsonl again/metrics.jsonl
try 1 "$LATHE" diff first again
has out 'the same came of it'

try 1 "$LATHE" reproduce x.lathe seed=99
has out 'not identical: '
try 1 "$LATHE" reproduce x.lathe optimizer.lr=0.02 --json
has out '"identical":false'
for bundle in other.lathe never.lathe; do
    try 66 "$LATHE" reproduce $bundle
    has err 'there is no receipt of a run in this bundle'
done
try 66 "$LATHE" reproduce absent.lathe

verdict
