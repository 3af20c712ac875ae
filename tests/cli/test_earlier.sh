# SPDX-License-Identifier: MIT
# labels: no-tsan
# What a run was made of is in its records: of all stages, and of all times it went on.
source "$(dirname "$0")/cli.bash"

points() { # points SHIFT: ninety of them in three classes
    awk -v shift="$1" 'BEGIN { print "a,b,label"
        for (i = 0; i < 90; i++)
            printf "%g,%g,%d\n", i * 7 % 13 / 10 + i % 3 - shift, i % 5 / 5, i % 3 }'
}
points 0 >points.csv
cat >my.json <<'E'
{ "lathe": 1, "name": "my", "seed": 1,
  "data": { "train": { "use": "csv", "file": "points.csv", "label": "label" },
            "validation": { "use": "csv", "file": "points.csv", "label": "label" } },
  "model": { "use": "mlp", "hidden": [4] },
  "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "until": "4ep", "batch": 30 } }
E
cat >staged.json <<'E'
{ "lathe": 1, "name": "staged", "seed": 1,
  "data": { "train": { "use": "csv", "file": "points.csv", "label": "label" } },
  "model": { "use": "mlp", "hidden": [4] },
  "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "batch": 30 },
  "stages": [ { "train": { "until": "2ep" } },
              { "train": { "until": "2ep" }, "optimizer": { "use": "adamw", "lr": 0.01 },
                "data": { "train": { "use": "subset", "range": [0, 60], "of":
                  { "use": "csv", "file": "points.csv", "label": "label" } } } } ],
  "callbacks": [ { "use": "chaos", "act": "none" },
                 { "use": "checkpoint", "every": "1step", "keep": 0 } ] }
E
# plugins FILE: name and stages of each
plugins() {
    tr -d ' \n' <"$1" | sed 's/.*"plugins"://' | grep -oE '"name":"[a-z-]+",("[a-z]+[0-9]*":("[^"]*"|null),?)*("stages":\[[0-9,]+\])?' |
        sed -E 's/"name":"([a-z-]+)".*"sha256":("[^"]*"|null),?/\1 /' | sort | tr '\n' ';'
}

# ---- the plugins of every stage ----
try 0 "$LATHE" run staged.json --run-dir whole --quiet --plugin-path "$PROBES"
for file in environment receipt; do
    tried="plugins of $file.json"
    found=$(plugins "whole/$file.json")
    holds "$found" test "$found" = \
        'adamw "stages":[2];chaos ;checkpoint ;csv ;mlp ;sgd "stages":[1];subset "stages":[2];'
done
# Killed in the second stage, whose process knows nothing of the first.
"$LATHE" run staged.json --run-dir killed --quiet --plugin-path "$PROBES" \
    callbacks.chaos.act=kill callbacks.chaos.point=step_end callbacks.chaos.at=9 2>/dev/null
try 0 "$LATHE" resume killed --quiet callbacks.chaos.act=none callbacks.chaos.at=0
holds 'the same plugins' test "$(plugins whole/receipt.json)" = "$(plugins killed/receipt.json)"
has killed/receipt.json 'points.csv'
lacks killed/receipt.json '"earlier"'
try 0 "$LATHE" diff whole killed

# One of a later stage is another file now.
cp -r "$BUILD/plugins/optimizer/adamw" own
try 0 "$LATHE" run staged.json --run-dir built --quiet --plugin-path . --plugin-path "$PROBES"
echo >>own/adamw.so
try 0 "$LATHE" reproduce built --quiet
has out 'optimizer adamw  1.0.0 sha256 '
try 65 "$LATHE" pack built -o built.lathe
has err 'a plugin is not what the run was made of'
has err 'where: adamw'
rm -rf own

# ---- data that is another when the run goes on ----
cp points.csv mine.csv
first=$(sha256sum <mine.csv | cut -c1-64)
try 0 "$LATHE" run my.json data.train.file=mine.csv --run-dir data --quiet
try 0 "$LATHE" resume data train.until=5ep --quiet
lacks err 'another file'
lacks data/environment.json '"earlier"'
points 1 >mine.csv
second=$(sha256sum <mine.csv | cut -c1-64)
try 0 "$LATHE" resume data train.until=7ep --quiet
has err "warning: $PWD/mine.csv is another file than the one that was at work when the state was saved (${second:0:12}…, then ${first:0:12}…): from step 15 on the numbers are made of it"
for file in environment receipt; do
    has "data/$file.json" '"earlier"'
    has "data/$file.json" '"step": 15'
    has "data/$file.json" "$first"
    has "data/$file.json" "$second"
done
try 1 "$LATHE" reproduce data --quiet
has out "mine.csv, up to step 15  sha256 ${first:0:12}  sha256 ${second:0:12}"
lacks out 'time or chance'
try 65 "$LATHE" pack data -o data.lathe
has err 'data is not what the run was made of'
# It stays known, however often the run goes on.
try 0 "$LATHE" resume data train.until=8ep --quiet
lacks err 'another file'
has data/receipt.json "$first"
# What nothing came of is forgotten.
points 2 >mine.csv
try 0 "$LATHE" resume data --quiet
has data/receipt.json '"step": 24'
cp points.csv mine.csv
try 0 "$LATHE" resume data --quiet
lacks data/receipt.json "$(points 2 | sha256sum | cut -c1-64)"
# Moved is not changed.
try 0 "$LATHE" run my.json data.train.file=mine.csv --run-dir moved --quiet
mv mine.csv yours.csv
try 0 "$LATHE" resume moved data.train.file="$PWD/yours.csv" train.until=5ep --quiet
lacks err 'another file'
lacks moved/receipt.json '"earlier"'

# ---- a plugin that is another when the run goes on ----
cp -r "$BUILD/plugins/optimizer/sgd" own
try 0 "$LATHE" run my.json --run-dir rebuilt --quiet --plugin-path .
echo >>own/sgd.so
try 0 "$LATHE" resume rebuilt --quiet train.until=5ep
has err 'sgd.so 1.0.0) is another file than the one that was at work'
try 0 "$LATHE" reproduce rebuilt --quiet
has out 'optimizer sgd, up to step 12  1.0.0 sha256 '
try 0 "$LATHE" run my.json --run-dir again --quiet --plugin-path . train.until=5ep
try 1 "$LATHE" diff rebuilt again
has out 'optimizer sgd, up to step 12  1.0.0 sha256 '
try 1 "$LATHE" diff again rebuilt
has out 'optimizer sgd, up to step 12  1.0.0 sha256 '
try 0 "$LATHE" diff rebuilt rebuilt
try 65 "$LATHE" pack rebuilt -o rebuilt.lathe
has err 'where: sgd'
verdict
