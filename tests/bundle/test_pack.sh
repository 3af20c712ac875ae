# SPDX-License-Identifier: MIT
# What pack takes in, what it leaves out, and what it refuses by its name.
source "$(dirname "$0")/bundle.bash"
points here
pack() { "$LATHE" pack here/points.json -o x.lathe "$@"; }

# ---- what is none to pack, or to pack to ----
try 0 pack
mv x.lathe packed
try 78 "$LATHE" pack packed
has err 'it is packed already'
has err 'where: packed'
has err 'help: "lathe run packed" runs it, "lathe unpack packed -o DIR"'
try 78 "$LATHE" pack "$LATHE"
has err 'it looks like a program or a library'
try 64 "$LATHE" pack here/points.json -o -
has err 'a bundle is written to a file, and "-" is none'
holds 'no file of that name' test ! -e ./-
long=$(printf '%0257d' 0)
try 78 pack name="$long"
has err 'the name has 257 bytes'
has err 'where: name'
try 0 pack name="${long:1}"
rm x.lathe

# ---- data that is not what it says ----
try 65 pack data.train.file=/proc/self/status
has err '/proc/self/status" does not hold as many bytes as its size says, 0'
has err 'where: data.train.file'
try 65 pack data.train.file=/sys/kernel/mm/transparent_hugepage/enabled
has err 'does not hold as many bytes as its size says, 4096'
mkfifo pipe
for odd in /dev/null /dev/zero "$PWD/pipe" "$PWD/here"; do
    code=$(pack "data.train.file=$odd" >out 2>err; echo $?)
    tried=$odd
    holds 'refused' test "$code" != 0
    has err "$odd"
done
holds 'no bundle' test ! -e x.lathe
: >here/data/empty.csv
try 0 pack data.train.file=data/empty.csv
try 65 "$LATHE" run x.lathe --run-dir never
try 0 "$LATHE" inspect x.lathe
has out 'data/empty.csv'

# ---- one file under two names is packed once ----
ln -s train.csv here/data/same.csv
try 0 pack data.validation.file=data/../data/train.csv
try 0 "$LATHE" inspect x.lathe --json
holds 'once' test "$(grep -c '"path": "data/' out)" = 1
has out '"data.train.file"'
has out '"data.validation.file"'
try 0 pack data.validation.file=data/same.csv
try 0 "$LATHE" inspect x.lathe --json
holds 'once' test "$(grep -c '"path": "data/' out)" = 1
try 0 "$LATHE" run x.lathe --quiet --run-dir once
# So is one that is there twice, as a link of either kind or as a copy.
cp x.lathe wanted
rm here/data/same.csv && ln here/data/train.csv here/data/same.csv
try 0 pack data.validation.file=data/same.csv
holds 'the same bytes' cmp -s wanted x.lathe
rm here/data/same.csv && cp here/data/train.csv here/data/same.csv
try 0 pack data.validation.file=data/same.csv
holds 'the same bytes' cmp -s wanted x.lathe
try 73 "$LATHE" pack here/points.json data.validation.file=data/same.csv -o here/data/same.csv
has err 'is one of the files that are packed'
holds 'the copy is as it was' cmp -s here/data/train.csv here/data/same.csv

# ---- a seed that nobody gave ----
grep -v '"seed"' here/points.json | sed '1i { "lathe": 1, "name": "points",' >here/drawn.json
try 0 "$LATHE" pack here/drawn.json -o drawn.lathe
has err 'the experiment has no seed: '
given=$(sed -n 's/.*\(seed=[0-9]*\)$/\1/p' err)
cp drawn.lathe wanted
try 0 "$LATHE" pack here/drawn.json -o drawn.lathe "$given"
is_empty err
holds "the same bytes with $given" cmp -s wanted drawn.lathe
try 0 "$LATHE" pack here/points.json -o drawn.lathe
is_empty err

# ---- weights that are a checkpoint: nothing of this machine is in it ----
bytes() { zstd -qdc "$1" 2>/dev/null || gzip -dc "$1"; }
try 0 "$LATHE" run here/points.json --quiet --run-dir whole --plugin-path "$BUILD/plugins"
state=$PWD/whole/checkpoints/last.safetensors
tried="grep $PWD $state"
holds 'it has paths' grep -qaF "$PWD" "$state"
cp "$state" start.safetensors
try 0 "$LATHE" run here/points.json --quiet --run-dir later start.weights="$state"
for packed in later "here/points.json start.weights=$state"; do
    # shellcheck disable=SC2086
    try 0 "$LATHE" pack $packed -o later.lathe
    bytes later.lathe | tar -xOf - data/last.safetensors >packed
    holds 'a checkpoint' grep -qaF 'lathe.experiment' packed
    for word in "$PWD" "$BUILD"; do
        ! grep -qaF "$word" packed || complain "the weights tell of $word"
    done
done
try 0 "$LATHE" run later.lathe --quiet --run-dir again
holds 'the same weights' test "$(weights later)" = "$(weights again)"
try 0 "$LATHE" pack later -o later.lathe
try 0 "$LATHE" reproduce later.lathe --quiet
try 0 "$LATHE" verify later.lathe
printf x | dd of=start.safetensors bs=1 seek=3000 conv=notrunc status=none
try 65 pack start.weights="$PWD/start.safetensors"
has err 'where: start.weights'
has err 'help: '
rm x.lathe

# ---- licences ----
mkdir -p own/optimizer && cp -r "$BUILD/plugins/optimizer/adamw" own/optimizer/
for name in LICENSE LICENSE-MIT.txt COPYING.LESSER Copyright.md notice; do
    echo "$name" >"own/optimizer/adamw/$name"
done
for name in LICENSE~ '#LICENSE#' LICENSE.swp license.key COPYING.pem NOTICE.orig LICENSE.so; do
    echo "$name" >"own/optimizer/adamw/$name"
done
mkdir own/optimizer/adamw/LICENSES
try 0 pack --plugin-path own
"$LATHE" inspect x.lathe --json | sed -n 's|.*"path": "plugins/optimizer/adamw/\(.*\)",|\1|p' >list
is list 'COPYING.LESSER
Copyright.md
LICENSE
LICENSE-MIT.txt
adamw.so
notice
plugin.json'
rm x.lathe
head -c 1100000 /dev/zero | tr '\0' x >own/optimizer/adamw/COPYING
try 65 pack --plugin-path own
has err 'own/optimizer/adamw/COPYING" is too large'
has err 'licences of optimizer/adamw'
printf -- '-----BEGIN OPENSSH PRIVATE KEY-----\n' >own/optimizer/adamw/COPYING
try 65 pack --plugin-path own
has err 'COPYING" is no licence: it holds a secret key'
rm own/optimizer/adamw/COPYING
ln -s nowhere own/optimizer/adamw/COPYING
try 65 pack --plugin-path own
has err 'COPYING" is a link to "nowhere", which is not there'
holds 'no bundle' test ! -e x.lathe

# ---- a plugin that is refused, and one that is packed in its place ----
rm own/optimizer/adamw/COPYING
sed -i 's/"license": "[^"]*"/"license": "none"/' own/optimizer/adamw/plugin.json
try 0 pack --plugin-path own
has err 'lathe: warning: '
has err 'own/optimizer/adamw/plugin.json was refused ("license" is not what it is in the manifest'
has err "; using $BUILD/plugins/optimizer/adamw/plugin.json"
rm x.lathe
try 73 "$LATHE" pack here/points.json -o none/x.lathe
has err 'where: -o'
has err 'help: name a file in a folder that is there'

# ---- a run, by its name ----
small
try 0 "$LATHE" run small.json --quiet 'callbacks=[{"use": "checkpoint", "every": "1ep"}]'
try 0 "$LATHE" pack latest -o l.lathe --with-checkpoint latest
has out "with the run's receipt"
try 0 "$LATHE" pack "$(readlink runs/latest)" -o n.lathe --with-checkpoint runs/latest
holds 'the same' cmp -s l.lathe n.lathe
try 0 "$LATHE" verify l.lathe
echo '{' >latest # a file of that name is that file
try 78 "$LATHE" pack latest -o never.lathe
rm latest
try 66 "$LATHE" pack lates -o never.lathe

# ---- what the run was made of, setting by setting ----
points two
try 0 "$LATHE" run two/points.json --run-dir two/run --quiet
try 0 "$LATHE" pack two/run -o two.lathe
cp two/data/train.csv kept
cp 'two/data/held out.csv' two/data/train.csv # which the receipt knows, for another
try 65 "$LATHE" pack two/run -o never.lathe
has err 'data is not what the run was made of, or not there'
has err "where: $PWD/two/data/train.csv"

# ---- never over what it is made of ----
spoils() { # spoils TARGET ARGUMENT…: packing to it is refused, and it stays as it is
    cp "$1" as-it-was
    try 73 "$LATHE" pack "${@:2}" -o "$1"
    has err "$1"
    has err 'where: -o'
    has err 'help: name a bundle, outside of what is packed'
    holds "it stays" cmp -s "$1" as-it-was
}
mkdir -p pl/model && cp -r "$BUILD/plugins/model/mlp" pl/model/
spoils pl/model/mlp/plugin.json here/points.json --plugin-path pl
run=runs/$(readlink runs/latest)
for file in receipt.json experiment.json status.json resolved.json checkpoints/last.safetensors; do
    spoils "$run/$file" latest
    spoils "$run/$file" "$run/resolved.json"
done
spoils "$run/checkpoints/last.safetensors" here/points.json --with-checkpoint "$run"
spoils "$run/status.json" here/points.json --with-checkpoint "$run/checkpoints/last.safetensors"
ln -L "$run/checkpoints/last.safetensors" hard.safetensors
spoils hard.safetensors here/points.json --with-checkpoint hard.safetensors
try 73 "$LATHE" pack latest -o "$run/new.lathe"
has err 'is inside the run'

# ---- nor over what is no bundle ----
head -c 3000 /dev/urandom | sed '1s/^/\x89PNG/' >photo.png
cp here/data/train.csv notes.txt && cp here/points.json other.json
tar -cf other.tar notes.txt && gzip -c other.tar >other.lathe
head -c 300 l.lathe >part.lathe
while read -r file what; do
    cp "$file" as-it-was
    try 73 "$LATHE" pack here/points.json -o "$file"
    has err "\"$file\" is there, and is no bundle: it looks like $what"
    has err 'where: -o'
    has err 'help: name another file, -o NAME.lathe, or remove that one first'
    holds 'it stays' cmp -s "$file" as-it-was
done <<'END'
photo.png a PNG image
notes.txt text
other.json text
other.tar a tar archive
other.lathe gzip data
part.lathe zstd data
END
# The one whose name is taken where none is given is no other.
cp notes.txt points.lathe
try 73 "$LATHE" pack here/points.json
holds 'it stays' cmp -s notes.txt points.lathe
# A bundle is replaced, also one of a later format; so is an empty file.
: >points.lathe
try 0 "$LATHE" pack here/points.json
try 0 "$LATHE" unpack l.lathe -o later-format
(cd later-format && chmod u+w . bundle.json && sed -i 's|bundle/1|bundle/2|' bundle.json &&
    tar --format=ustar --owner=0 --group=0 --mode=644 -cf ../points.lathe bundle.json)
try 0 "$LATHE" pack here/points.json
try 0 "$LATHE" verify points.lathe

# ---- no room ----
if [[ $(id -u) == 0 ]] && mkdir full && mount -t tmpfs -o size=100k lathe full 2>/dev/null; then
    try 74 "$LATHE" pack here/points.json -o full/x.lathe
    has err 'cannot write "'
    has err 'full/x.lathe": No space left on device'
    has err 'help: what is packed has '
    holds 'nothing is left' test -z "$(ls -A full)"
    umount full
fi
verdict
