# SPDX-License-Identifier: MIT
# What a model says, row by row: from it the logged numbers can be had again.
source "$(dirname "$0")/cli.bash"

# points ROWS SEED: two features around one of three places, and which
points() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed); print "x,y,kind"
        for (i = 0; i < n; i++) {
            k = int(rand() * 3)
            printf "%.4f,%.4f,%d\n", k + rand() * 1.6, k % 2 + rand() * 1.6, k
        }
    }'
}
points 300 1 >train.csv
points 101 2 >test.csv
cut -d, -f1,2 test.csv >bare.csv
cat >points.json <<'END'
{ "lathe": 1, "name": "points", "seed": 1,
  "data": {
    "train": { "use": "csv", "file": "train.csv", "label": "kind", "task": "classification" },
    "test": { "use": "csv", "file": "test.csv", "label": "kind", "task": "classification" } },
  "model": { "use": "mlp", "hidden": [8] },
  "optimizer": { "use": "adamw", "lr": 0.02 },
  "train": { "until": "10ep", "batch": 30, "shards": 2 },
  "callbacks": [ { "use": "ema" } ] }
END
try 0 "$LATHE" run points.json --run-dir run --quiet

try 0 "$LATHE" predict run --on test -o p.csv
is_empty out
is_empty err
holds 'the header' test "$(head -1 p.csv)" = index,output.0,output.1,output.2,class
holds 'a line each' test "$(wc -l <p.csv)" = 102
holds 'counted from 0' test "$(tail -1 p.csv | cut -d, -f1)" = 100

# metric NAME: as the run logged it for the test data
metric() { sed -nE 's/.*"split":"test".*"'"$1"'":([0-9.]+).*/\1/p' run/metrics.jsonl; }
paste -d, p.csv test.csv | awk -F, -v accuracy="$(metric accuracy)" -v loss="$(metric loss)" '
    NR > 1 {
        best = 2; sum = 0
        for (i = 2; i <= 4; i++) { if ($i > $best) best = i; sum += exp($i) }
        if (best - 2 != $5) { print "class of " $1; exit 1 }
        right += $5 == $8; losses += log(sum) - $($8 + 2); rows++
    }
    END {
        printf "accuracy %.17g, logged %s; loss %.9g, logged %s\n", right / rows, accuracy,
            losses / rows, loss
        d = losses / rows - loss
        exit !(rows == 101 && right / rows == accuracy + 0 && d * d < 1e-12)
    }' >out 2>err || complain "not the run's numbers"

# With the average; without it the numbers are others.
try 0 "$LATHE" predict run -o last.csv 'callbacks=[]'
holds 'other weights' test "$(<last.csv)" != "$(<p.csv)"

# The same on standard output, and for data without labels.
try 0 "$LATHE" predict run -o -
holds 'the same rows' cmp -s out p.csv
try 0 "$LATHE" predict run/checkpoints/last.safetensors --on bare -o - \
    'data.bare={"use":"csv","file":"bare.csv"}'
holds 'the same rows' cmp -s out p.csv
try 0 "$LATHE" predict run --on test data.test.file=train.csv -o - --output output
holds 'other rows' test "$(wc -l <out)" = 301

# A link stays one, and a pipe is written to.
ln -s there.csv link.csv && echo old >there.csv
try 0 "$LATHE" predict run -o link.csv
holds 'still a link' test -L link.csv
holds 'the same rows behind it' cmp -s there.csv p.csv
mkfifo pipe.csv
cat pipe.csv >piped &
try 0 "$LATHE" predict run -o pipe.csv
wait
holds 'still a pipe' test -p pipe.csv
holds 'the same rows through it' cmp -s piped p.csv
try 73 "$LATHE" predict run -o absent/p.csv
mkdir folder.csv
try 73 "$LATHE" predict run -o folder.csv
holds 'nothing is left aside' test -z "$(find . -name '*.tmp')"

# As NumPy saves it: 128 bytes, then floats.
try 0 "$LATHE" predict run -o p.npy
holds 'its length' test "$(stat -c %s p.npy)" = $((128 + 101 * 3 * 4))
holds 'how it begins' test "$(head -c 10 p.npy | od -An -tx1 | xargs)" = '93 4e 55 4d 50 59 01 00 76 00'
has p.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (101, 3), }"
tail -c +129 p.npy | od -An -v -tf4 -w12 >floats
tail -n +2 p.csv | cut -d, -f2-4 | tr , ' ' | paste -d' ' - floats |
    awk '{ for (i = 1; i <= 3; i++) { d = $i - $(i + 3); if (d * d > 1e-12) exit 1 } }' ||
    complain 'other numbers than in CSV'
# A file is there whole or not at all; the one before stays.
cp p.csv before.csv
try 64 "$LATHE" predict run -o p.csv --output puts
is err 'lathe: the model has no output "puts"
  where: --output
  help: there are: output'
# It takes the place of no data, and is no part of the run.
cp test.csv kept.csv
data='data.x={"use":"csv","file":"kept.csv","label":"kind","task":"classification"}'
for path in kept.csv test.csv; do
    try 73 "$LATHE" predict run --on x "$data" -o "$path"
    has err "\"$path\" is data of this experiment"
done
cmp -s test.csv kept.csv || complain 'data was written to'
cp -r run held
for path in run/p.csv run/checkpoints/p.npy; do
    for from in run run/checkpoints/last.safetensors; do
        try 73 "$LATHE" predict "$from" -o "$path"
        has err 'is inside the run "run"'
    done
done
diff -r run held >out || complain 'the run is another one'
printf 'x,y,kind\n1,2,0\n1,nix,0\n' >broken.csv
try 65 "$LATHE" predict run -o p.csv data.test.file=broken.csv
holds 'as it was' cmp -s p.csv before.csv
try 64 "$LATHE" predict run -o p.txt
has err 'it ends in .csv or .npy'
try 64 "$LATHE" predict run
has err 'say -o FILE.csv'
try 73 "$LATHE" predict run -o nowhere/p.csv
try 64 "$LATHE" predict run -o new.csv --on tset
has err 'did you mean "test"?'
holds 'nothing half written' test -z "$(find . -name '*.tmp' -o -name new.csv)"
tried='predict -o - >/dev/full'
"$LATHE" predict run -o - >/dev/full 2>err
holds 'exit status 74' test $? = 74

# Regression has no classes.
sed 's/classification/regression/g; s/points/line/' points.json >line.json
try 0 "$LATHE" run line.json --run-dir line --quiet
try 0 "$LATHE" predict line -o -
holds 'a scalar' test "$(head -1 out)" = index,output

# ---- in the arithmetic of the run ----
# With an input below 1.2e-38, what counts as 0 in training does so for whoever looks.
tiny='{"use":"ids","count":40,"inputs":[1e-40]}'
for denormals in flush ieee; do
    try 0 "$LATHE" run points.json --plugin-path "$PROBES" --run-dir "$denormals" --quiet \
        model='{"use":"scalar","start":1}' data="{\"train\":$tiny,\"test\":$tiny}" \
        optimizer='{"use":"sgd","lr":1e-60}' callbacks=[] "train.denormals=$denormals"
    logged=$(sed -nE 's/.*"split":"test".*"loss":([^,}]*).*/\1/p' "$denormals/metrics.jsonl")
    try 0 "$LATHE" predict "$denormals" -o "$denormals.csv"
    predicted=$(sed -n '2s/.*,//p' "$denormals.csv")
    try 0 "$LATHE" eval "$denormals" --json
    has out "\"loss\":$logged"
    tried="$denormals: $logged logged, $predicted predicted"
    holds 'flushed or not' test "$([[ $logged == 0 ]] && echo flush || echo ieee)" = $denormals
    holds 'flushed or not' test "$([[ $predicted == 0 ]] && echo flush || echo ieee)" = $denormals
done
verdict
