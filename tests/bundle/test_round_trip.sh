# SPDX-License-Identifier: MIT
# Packed here, run there: in an empty directory and HOME, where no plugin is installed, to
# the same bits; and what is not as it was packed is refused by its name.
source "$(dirname "$0")/bundle.bash"
points here
try 0 "$LATHE" run here/points.json --quiet --run-dir plain
try 0 "$LATHE" pack here/points.json -o x.lathe

# A program without plugins beside it.
mkdir -p bare/bin
cp "$LATHE" bare/bin/
LATHE=$PWD/bare/bin/lathe
mv x.lathe bare/ && mv here gone && cd bare || exit 1
try 69 "$LATHE" validate ../gone/points.json
try 0 "$LATHE" verify x.lathe
has out 'ok: as far as can be told without loading it, this machine can run it'
try 0 "$LATHE" inspect x.lathe
for text in data/held-out.csv 'optimizer/adamw 1' experiment '"lr": 0.01' glibc libc.so.6; do
    has out "$text"
done
lacks out "$scratch"
holds 'nothing was unpacked' test "$(stored)" = 0
try 0 "$LATHE" inspect x.lathe --json
has out '"format": "lathe.bundle/1"'
try 0 "$LATHE" validate x.lathe
try 0 "$LATHE" explain x.lathe
try 0 "$LATHE" run x.lathe --run-dir run
has err 'its plugins are used: model/mlp'
holds 'the same weights' test "$(weights ../plain)" = "$(weights run)"
holds 'the same metrics' cmp -s ../plain/metrics.jsonl run/metrics.jsonl

# Overrides, and on with it.
try 0 "$LATHE" run x.lathe train.until=1ep --run-dir short --quiet
try 0 "$LATHE" resume short train.until=3ep --quiet
holds 'the same weights' test "$(weights ../plain)" = "$(weights short)"
try 78 "$LATHE" run x.lathe optimizer.lrr=1
has err 'did you mean "lr"?'
try 0 "$LATHE" run x.lathe data.train.file=../gone/data/train.csv --run-dir own --quiet
holds 'the same weights' test "$(weights ../plain)" = "$(weights own)"

# Its plugins win over those that are installed, and it says so.
mkdir -p "$HOME/.local/lib/lathe/plugins"
cp -r "$BUILD"/plugins/{optimizer,dataset,model} "$HOME/.local/lib/lathe/plugins/"
try 0 "$LATHE" run x.lathe --run-dir won
has err 'in place of those installed here: model/mlp'
holds 'from the store' grep -q 'bundles/sha256-.*/plugins' won/resolved.json
rm -rf "$HOME/.local/lib"

# The store is lost: the run says which bundle it wants.
chmod -R u+w "$store" && rm -rf "$store"
try 66 "$LATHE" resume short train.until=4ep
has err 'is not in the store'
has err 'lathe unpack FILE.lathe --store '
for command in eval reproduce 'predict -o -' 'run --run-dir never --from' 'pack -o never.lathe'; do
    # shellcheck disable=SC2086
    try 66 "$LATHE" $command short
    has err 'is not in the store'
done
try 0 "$LATHE" unpack x.lathe
try 0 "$LATHE" resume short train.until=4ep --quiet

# One byte changed: in a plugin, in data, in the experiment. (Where bundle.json is changed it
# is another bundle, with another id; who packed it is for a signature to tell.)
if command -v zstd >/dev/null; then
    zstd -qdc x.lathe >whole.tar
    change() { # change TEXT-BEFORE CODE MESSAGE: behind its last place
        local at
        at=$(grep -abo -- "$1" whole.tar | tail -1 | cut -d: -f1)
        cp whole.tar changed.tar
        printf '\125' | dd of=changed.tar bs=1 seek=$((at + ${#1})) conv=notrunc status=none
        zstd -qfc changed.tar >changed.lathe
        for command in verify inspect 'run --run-dir never' unpack; do
            # shellcheck disable=SC2086
            try "$2" env HOME="$PWD/nowhere" "$LATHE" $command changed.lathe
            has err "$3"
        done
        holds 'nothing in the store' test -z "$(find nowhere -type f 2>/dev/null)"
    }
    mkdir nowhere
    change 'a,b,' 65 '"data/'
    change '"batch": ' 65 '"experiment.json" is not what was packed'
    change 'libopenblas.so.' 65 '"plugins/'
fi

# Data that is too large to go in.
try 64 "$LATHE" pack ../gone/points.json --with-data much --plugin-path "$BUILD/plugins"
try 0 "$LATHE" pack ../gone/points.json --with-data 2kB -o d.lathe --plugin-path "$BUILD/plugins"
has out 'by its digest alone: data/train.csv'
try 66 "$LATHE" verify d.lathe
has err '"train.csv" is not in the bundle'
has err 'where: data.train.file'
has err '--data DIR'
try 66 "$LATHE" verify d.lathe --json
has out '"ok": false'
for command in run explain validate; do
    try 66 "$LATHE" $command d.lathe
    has err '"train.csv" is not in the bundle'
done
for command in verify run explain validate; do
    try 66 "$LATHE" $command d.lathe --data not-there
    has err '"not-there": No such file or directory'
    has err 'where: --data'
done
try 66 "$LATHE" validate d.lathe --data ../gone/data/train.csv
has err 'it is no folder'
try 0 "$LATHE" verify d.lathe --data ../gone/data
try 0 "$LATHE" run d.lathe --data ../gone --run-dir found --quiet # a folder down
holds 'the same weights' test "$(weights ../plain)" = "$(weights found)"
mkdir renamed && cp ../gone/data/train.csv renamed/other
try 0 "$LATHE" run d.lathe --data renamed --run-dir renamed/run --quiet
holds 'the same weights' test "$(weights ../plain)" = "$(weights renamed/run)"
mkdir hidden && cp ../gone/data/train.csv hidden/.csv
try 0 "$LATHE" verify d.lathe --data hidden
mkdir hidden/.git && mv hidden/.csv hidden/.git/
try 66 "$LATHE" verify d.lathe --data hidden
mkdir wrong && sed 's/1$/0/' ../gone/data/train.csv >wrong/train.csv
try 65 "$LATHE" run d.lathe --data wrong --run-dir never
has err 'is not the "train.csv" that was packed'

# A plugin that is a library alone, with its manifest in it.
mkdir alone && cp "$BUILD/plugins/optimizer/adamw/adamw.so" alone/of-mine.so
try 0 "$LATHE" pack ../gone/points.json -o l.lathe --plugin-path alone --plugin-path "$BUILD/plugins"
try 0 "$LATHE" inspect l.lathe
has out plugins/optimizer/adamw/of-mine.so
lacks out plugins/optimizer/adamw/plugin.json
try 0 "$LATHE" run l.lathe --run-dir with-mine --quiet
holds 'the same weights' test "$(weights ../plain)" = "$(weights with-mine)"

# What no reader would take is not written.
cp -r ../gone zeros && head -c 150M /dev/zero >zeros/data/train.csv
try 78 "$LATHE" pack zeros/points.json --with-data all -o never.lathe --plugin-path "$BUILD/plugins"
has err 'more than 200 times its size'
has err 'where: '
has err zeros/data/train.csv
has err '--with-data LIMIT'
holds 'no file' test ! -e never.lathe -a -z "$(find . -maxdepth 1 -name '.pack-*')"
rm -r zeros
# Nor what tells of this machine.
try 78 "$LATHE" pack ../gone/points.json --plugin-path "$BUILD/plugins" \
    'callbacks=[{"use": "csv", "file": "/results.csv"}]'
has err 'is a path of this machine'

# A state to begin from.
try 0 "$LATHE" pack ../plain --with-checkpoint ../plain -o c.lathe --plugin-path "$BUILD/plugins" \
    data.train.file="$PWD/../gone/data/train.csv" "data.validation.file=$PWD/../gone/data/held out.csv"
try 0 "$LATHE" run --from c.lathe train.until=4ep --run-dir on --quiet
holds 'the same weights' test "$(weights short)" = "$(weights on)"
try 0 "$LATHE" unpack c.lathe -o looked-at
lacks looked-at/checkpoint.safetensors "$scratch"
try 66 "$LATHE" run --from x.lathe
has err 'no checkpoint in this bundle'
try 73 "$LATHE" unpack c.lathe -o looked-at
has err 'help: name a folder that is not there yet, or empty: -o DIR'
for mask in 022 027 077; do
    mode=$(printf %o $((0777 & ~mask)))
    (umask $mask && "$LATHE" unpack c.lathe -o "as-$mask" >out 2>err) || complain "umask $mask"
    holds "folders of $mode" test -z "$(find "as-$mask" -type d ! -perm "$mode")"
    mode=$(printf %o $((0666 & ~mask)))
    holds "files of $mode" test -z "$(find "as-$mask" -type f ! -perm "$mode")"
done
# The folder that somebody is in stays the one that it is; any other empty one keeps its
# mode, and a link to it.
mkdir -m 750 empty && ln -s empty to-empty
before=$(stat -c '%i %a' empty)
(cd empty && "$LATHE" unpack ../c.lathe -o . >../out 2>../err) || complain 'unpack -o .'
holds 'the same folder' test "$before" = "$(stat -c '%i %a' empty)"
holds 'the same files' diff -r looked-at empty
try 73 "$LATHE" unpack c.lathe -o x.lathe
has err 'x.lathe": Not a directory'
try 73 "$LATHE" unpack c.lathe -o empty
holds 'nothing else' diff -r looked-at empty
find empty -mindepth 1 -delete
try 0 "$LATHE" unpack c.lathe -o to-empty
holds 'the same mode' test 750 = "$(stat -c %a empty)" -a -L to-empty
holds 'the same files' diff -r looked-at empty
holds 'as it was' test -f looked-at/experiment.json

# What is no bundle.
try 66 "$LATHE" verify none.lathe
try 65 "$LATHE" verify /dev/null
echo '{}' >text.lathe
for command in verify inspect run unpack; do try 65 "$LATHE" $command text.lathe; done
chmod -R u+w "$HOME"
verdict
