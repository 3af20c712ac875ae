# SPDX-License-Identifier: MIT
# The store never holds half a bundle: killed at every point, two at once, disk full,
# read-only; and what is left over goes.
[[ ! -w /dev/shm ]] || export TMPDIR=/dev/shm
source "$(dirname "$0")/bundle.bash"
preload
points here
try 0 "$LATHE" pack here/points.json -o x.lathe
reset() { chmod -R u+w "$HOME" && rm -rf "$HOME" && mkdir "$HOME"; }
# disturbed HOW: unpacked with the worst that preload.c does; a shell of its own tells that it
# was killed, to nobody
disturbed() {
    (env "$1" UNDER="$HOME" LD_PRELOAD="$PWD/preload.so" "$LATHE" unpack x.lathe >out 2>err
        exit $?) 2>/dev/null
}
# sound: each folder with the name of a bundle is that bundle, whole
sound() {
    local folder
    for folder in "$store"/sha256-*; do
        [[ -d $folder ]] || continue
        holds "its name is that of $folder" test \
            "$(sha256sum <"$folder/bundle.json" | cut -d' ' -f1)" = "${folder##*sha256-}"
        holds "all files of $folder" test "$(find "$folder" -type f | wc -l)" = "$files"
        holds "read-only" test -z "$(find "$folder" -perm /222)"
    done
}
try 0 "$LATHE" unpack x.lathe
files=$(find "$store"/sha256-* -type f | wc -l)
sound
wanted=$(cd "$store"/sha256-* && find . -type f -exec sha256sum {} + | sort | sha256sum)

# Killed before each of its calls in turn, until there is none left to be killed at.
reset
for ((at = 1; at < 400; at++)); do
    disturbed KILL_AT="$at"
    code=$?
    tried="killed at $at"
    sound
    ((code != 0)) || break
    ((code == 137)) || complain "exit status $code"
    if ((at % 7 == 0)); then # what it left is no hindrance, and goes
        try 0 "$LATHE" unpack x.lathe
        holds 'one, whole' test "$(stored)" = 1
        holds 'nothing is left over' test -z "$(find "$store" -maxdepth 1 -name '.*' -type d)"
        reset
    fi
done
holds "killed at many points, not at $at" test "$at" -gt 40
holds 'one, whole' test "$(stored)" = 1
holds 'the same' test "$wanted" = \
    "$(cd "$store"/sha256-* && find . -type f -exec sha256sum {} + | sort | sha256sum)"

# Disk full, at each write in turn; then there is room again.
reset
for ((at = 1; at < 100; at++)); do
    disturbed FULL_AT="$at"
    code=$?
    tried="full at $at"
    ((code != 0)) || break
    ((code == 74)) || complain "exit status $code, not 74"
    has err 'No space left on device'
    holds 'nothing' test "$(stored)" = 0
    holds 'nothing is left over' test -z "$(find "$store" -mindepth 1)"
done
holds "full at many points, not at $at" test "$at" -gt 10
try 0 "$LATHE" run x.lathe --quiet --run-dir after-full

# Two and more at once.
reset
for i in 1 2 3 4 5 6; do
    "$LATHE" run x.lathe --quiet --run-dir "at-once-$i" 2>"err-$i" &
    pids[i]=$!
done
for i in 1 2 3 4 5 6; do
    tried="at once, $i"
    wait "${pids[i]}" || { cp "err-$i" err; complain "exit status $?"; }
    holds 'the same weights' test "$(weights at-once-1)" = "$(weights "at-once-$i")"
done
sound
holds 'one' test "$(stored)" = 1

# Changed in the store: it is unpacked anew, and that is said.
library=$(find "$store" -name adamw.so)
chmod u+w "$library" && printf x | dd of="$library" bs=1 seek=5000 conv=notrunc status=none
try 0 "$LATHE" run x.lathe --quiet --run-dir mended
has err 'changed in the store'
holds 'the same weights' test "$(weights at-once-1)" = "$(weights mended)"
sound

# As a user whom permissions bind: a store that cannot be written to.
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
    someone=(setpriv --reuid=65534 --regid=65534 --clear-groups env)
    chmod 755 . && mkdir -m 777 theirs && chown 65534 theirs && chmod 644 x.lathe
    try 0 "${someone[@]}" HOME="$PWD/theirs" "$LATHE" unpack x.lathe
    chmod -R a-w theirs
    chown -R 65534 theirs
    try 0 "${someone[@]}" HOME="$PWD/theirs" "$LATHE" validate x.lathe
    mkdir -m 755 empty
    try 77 "${someone[@]}" HOME="$PWD/empty" "$LATHE" validate x.lathe
    has err '--store DIR'
    holds 'nothing' test -z "$(find empty -mindepth 1)"
    chmod -R u+w theirs
fi

# A store that others may write to: whoever uses a bundle from it is told, each time.
try 0 "$LATHE" run x.lathe --quiet --run-dir trusted
chmod 777 "$store"
for command in 'run x.lathe --run-dir never' 'validate x.lathe' 'unpack x.lathe' 'resume trusted' \
    'eval trusted' 'reproduce trusted'; do
    # shellcheck disable=SC2086
    try 77 "$LATHE" $command
    has err 'can be written by anybody (mode 0777)'
    has err 'help: run: chmod o-w'
done
try 0 "$LATHE" store list
has err 'can be written by anybody'
chmod 700 "$store"
inner=$(dirname "$(find "$store" -name adamw.so)")
chmod 777 "$inner"
try 0 "$LATHE" run x.lathe --quiet --run-dir again
has err 'changed in the store'
holds 'nobody else can' test -z "$(find "$store" -perm /022)"

# What is no folder.
try 73 "$LATHE" run x.lathe --store x.lathe
has err 'Not a directory'
has err 'or unpack elsewhere: --store DIR'

# A small file system, where it can be mounted.
if [[ $(id -u) == 0 ]] && mkdir small && mount -t tmpfs -o size=200k lathe small 2>/dev/null; then
    try 74 "$LATHE" unpack x.lathe --store small/store
    has err 'left, and the bundle needs'
    holds 'nothing' test -z "$(find small -type f)"
    umount small
fi

# What there is, and away with it.
gone=$store/sha256-$(printf '%064d' 0)
ln -s nowhere "$gone"
try 0 "$LATHE" store list
has out '0000000000000000'
try 0 "$LATHE" store prune 00000000 0000000000
holds 'the link is gone' test ! -L "$gone"
holds 'once' test "$(grep -c removed out)" = 1
mkdir elsewhere && chmod 500 elsewhere && ln -s "$PWD/elsewhere" "$gone"
try 0 "$LATHE" store prune sha256-00000000
holds 'the link alone' test ! -L "$gone" -a "$(stat -c %a elsewhere)" = 500
try 0 "$LATHE" store list
has out 'points'
has err '1 bundle in'
try 0 "$LATHE" store list --json
has out '"name": "points"'
try 0 "$LATHE" store prune
holds 'used today' test "$(stored)" = 1
touch -d '40 days ago' "$store"/sha256-*
try 0 "$LATHE" store prune --days 41
holds 'not that old' test "$(stored)" = 1
try 66 "$LATHE" store prune 01234567
try 66 "$LATHE" store prune nothing
# A slip of the hand removes nothing.
one=$(cd "$store" && echo sha256-*) && one=${one#sha256-}
for word in '' "${one:0:1}" "${one:0:7}" 7 "sha256-${one:0:4}"; do
    try 64 "$LATHE" store prune "$word"
    has err "\"$word\" is too short for an id: 8 digits or more, or a name"
    has err 'help: '
    holds 'it stays' test "$(stored)" = 1
done
try 64 "$LATHE" store prune 7
has err 'lathe store prune --days 7'
for word in points "${one:0:8}"; do
    try 0 "$LATHE" store prune "$word"
    has out "removed ${one:0:16}  points"
    try 0 "$LATHE" unpack x.lathe
done
touch -d '40 days ago' "$store"/sha256-*
try 0 "$LATHE" store prune
has out 'removed'
holds 'gone' test -z "$(find "$store" -mindepth 1)"
try 0 "$LATHE" unpack x.lathe
try 0 "$LATHE" store prune --all
holds 'gone' test "$(stored)" = 0
try 64 "$LATHE" store
try 64 "$LATHE" store empty

# One that somebody is at stays, and that is said; killed, he holds it no more.
long='train.until=100000000ep callbacks=[] data.train={"use":"blobs","samples":320,"features":2} data.validation={"use":"blobs","samples":60,"features":2}'
# held COMMAND…: it runs in $!, with the bundle
held() {
    "$LATHE" "$@" >held.out 2>&1 &
    held=$!
    wait_until flocked "$held"
    try 0 "$LATHE" store prune --all
    has out ': in use'
    lacks out removed
    touch -d '40 days ago' "$store"/sha256-*
    try 0 "$LATHE" store prune
    has out ": in use"
    try 74 "$LATHE" store prune points
    has err 'is in use'
    has err 'help: wait for what runs it, or end that'
    holds 'it stays' test "$(stored)" = 1
    kill -9 "$held" && wait "$held" 2>/dev/null
}
# flocked PID: it holds the bundle
flocked() { grep -q ":$(stat -c %i "$store"/sha256-* 2>/dev/null) " <(grep -s "FLOCK.* $1 " /proc/locks); }
# shellcheck disable=SC2086
held run x.lathe --run-dir held $long
# shellcheck disable=SC2086
try 75 "$LATHE" run x.lathe --run-dir cut --time-limit 1s $long
held resume cut
try 0 "$LATHE" run x.lathe --run-dir again-from --quiet train.until=2000ep 'callbacks=[]'
held reproduce again-from
rm held.out && mkfifo held.out && exec 9<>held.out # nobody reads: it waits
# shellcheck disable=SC2086
held explain x.lathe --calls 100000000ep $long
exec 9<&-
try 0 "$LATHE" store prune points
holds 'gone' test "$(stored)" = 0
reset
verdict
