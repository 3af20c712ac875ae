# SPDX-License-Identifier: MIT
# A bundle is known by what it is, whatever it is called; and what is none is told by what it
# looks like.
source "$(dirname "$0")/bundle.bash"
command -v zstd >/dev/null || { echo "skipped: no zstd" >&2; exit 77; }
points here
try 0 "$LATHE" pack here/points.json -o as-zstd
zstd -qdc <as-zstd >as-tar
gzip -nc as-tar >as-gzip
for bundle in as-zstd as-tar as-gzip; do
    try 0 "$LATHE" run "$bundle" --quiet --run-dir "of-$bundle"
    for command in explain inspect validate verify; do
        try 0 "$LATHE" $command "$bundle"
        has out points
    done
done
holds 'the same' test "$(weights of-as-zstd)" = "$(weights of-as-gzip)"
holds 'the same' test "$(weights of-as-zstd)" = "$(weights of-as-tar)"

# is_none FILE WHAT
is_none() {
    for command in run explain validate; do
        try 78 "$LATHE" $command "$1"
        has err "it is neither an experiment, which is JSON, nor a bundle: it looks like $2"
        has err "where: $1"
    done
    for command in verify unpack; do
        try 65 "$LATHE" $command "$1"
        has err "it looks like $2"
    done
    try 69 "$LATHE" inspect "$1"
    has err "\"$1\" is a file, and looks like $2"
}
head -c 5000 /dev/zero >zeros
printf '\211PNG\r\n\032\n' >image
cp "$LATHE" program
cp of-as-tar/checkpoints/last.safetensors state
is_none zeros 'binary data'
is_none image 'a PNG image'
is_none program 'a program or a library'
is_none state 'a checkpoint, or other safetensors'
try 65 "$LATHE" verify here/data/train.csv
has err 'it looks like text'
: >empty
mkfifo pipe
for command in verify unpack; do
    try 65 "$LATHE" $command empty
    has err 'it is an empty file'
    for odd in here pipe /dev/zero; do
        try 65 "$LATHE" $command $odd
        has err 'a regular file was expected'
        has err 'help: a bundle is one file'
        lacks err 'text'
    done
done
for odd in here pipe /dev/zero empty; do
    ln -sfn "$(realpath $odd)" odd.lathe
    try 65 "$LATHE" inspect odd.lathe
    lacks err 'text'
done
gzip -c here/data/train.csv >csv.gz
for command in run explain inspect validate verify unpack; do
    try 65 "$LATHE" $command csv.gz
    has err 'it is no tar file'
done
verdict
