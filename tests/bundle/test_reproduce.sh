# SPDX-License-Identifier: MIT
# A run packed with what came of it, and done again where no plugin is installed.
source "$(dirname "$0")/bundle.bash"
points here
try 0 "$LATHE" run here/points.json --quiet --run-dir run
try 0 "$LATHE" pack run -o x.lathe
has out "with the run's receipt"
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
