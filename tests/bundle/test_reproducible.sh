# SPDX-License-Identifier: MIT
# The same input gives the same bytes: on another path, for another user, in another
# locale, time zone and umask, whatever order a directory is read in.
source "$(dirname "$0")/bundle.bash"
preload
points one
mkdir -p plugins/mine # with licences, whose order is that of the directory
cp "$BUILD"/plugins/optimizer/adamw/{plugin.json,*.so} plugins/mine/
for name in LICENSE COPYING NOTICE.txt license-of-more; do echo "$name" >"plugins/mine/$name"; done

pack() { "$LATHE" pack "$1/points.json" -o "$2" --plugin-path "$3" "${@:4}"; }
try 0 pack one first.lathe plugins
has out 'points, 15 files'
cp first.lathe wanted

# same: what was packed now is what was packed first
same() { holds 'the same bytes' cmp -s wanted "$1"; }

sleep 1 # other times
points 'an other/place'
mkdir -p there
cp -r plugins there/
find there -exec touch -d '2001-02-03' {} +
(cd there && umask 077 && try 0 pack '../an other/place' second.lathe plugins)
same there/second.lathe
for zone in Pacific/Kiritimati America/St_Johns; do
    for locale in C C.UTF-8 de_DE.UTF-8 tr_TR.UTF-8; do # those that are not there are C
        try 0 env TZ="$zone" LC_ALL="$locale" LANG="$locale" "$LATHE" pack one/points.json \
            -o third.lathe --plugin-path plugins
        same third.lathe
    done
done
for mask in 000 022 077; do
    (umask "$mask" && try 0 pack one third.lathe plugins)
    same third.lathe
done
for seed in 1 2 3 4 5; do
    try 0 env LD_PRELOAD="$PWD/preload.so" SHUFFLE="$seed" "$LATHE" pack one/points.json \
        -o third.lathe --plugin-path plugins
    same third.lathe
done
try 0 env SOURCE_DATE_EPOCH=1234567890 "$LATHE" pack one/points.json -o third.lathe \
    --plugin-path plugins
same third.lathe
if can_be_nobody; then
    chmod 755 . && mkdir -m 777 elsewhere
    try 0 "${nobody[@]}" env HOME=/nonexistent \
        USER=nobody "$LATHE" pack one/points.json -o elsewhere/third.lathe --plugin-path plugins
    same elsewhere/third.lathe
fi

# A finished run is packed as it ran, with what came of it: the same whoever packs it.
try 0 "$LATHE" run one/points.json --quiet --run-dir run --plugin-path plugins
try 0 "$LATHE" pack run -o run.lathe
cp -r run moved
try 0 env TZ=Pacific/Kiritimati LD_PRELOAD="$PWD/preload.so" SHUFFLE=7 "$LATHE" pack moved -o third.lathe
holds 'the same bytes' cmp -s run.lathe third.lathe
# Of an experiment that was changed nothing has come yet.
try 0 "$LATHE" pack run seed=3 -o third.lathe
same third.lathe

# Nothing of this machine is in it.
zstd -qdc first.lathe >first.tar 2>/dev/null || gzip -dc first.lathe >first.tar 2>/dev/null
for word in "$scratch" "$(hostname)" "$HOME"; do
    tried="grep $word"
    ! grep -qaF -- "$word" first.tar || complain 'it is in the bundle'
done
verdict
