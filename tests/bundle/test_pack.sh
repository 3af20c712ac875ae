# SPDX-License-Identifier: MIT
# What pack takes in, what it leaves out, and what it refuses by its name.
source "$(dirname "$0")/bundle.bash"
points here
pack() { "$LATHE" pack here/points.json -o x.lathe "$@"; }

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
