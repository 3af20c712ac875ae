# SPDX-License-Identifier: MIT
# Bundles that are signed: by whom, whether that is trusted, and what the policy makes of it.
source "$(dirname "$0")/bundle.bash"
if ! command -v minisign >/dev/null; then
    echo 'skipped: there is no minisign to make keys'
    exit 77
fi
points here
try 0 "$LATHE" run here/points.json --quiet --run-dir run
for name in anna bob; do
    try 0 minisign -G -W -p $name.pub -s $name.key
done
"$LATHE" pack run -o signed.lathe --sign anna.key >out 2>err || {
    has err 'libsodium'
    echo 'skipped: built without libsodium'
    exit 77
}
try 0 "$LATHE" pack run -o again.lathe --sign anna.key
holds 'the same bytes' cmp -s signed.lathe again.lathe
try 0 "$LATHE" pack run -o plain.lathe

# ---- the key itself is not written over ----
cp anna.key kept.key
ln -s anna.key anna.link
for target in anna.key anna.link; do
    try 73 "$LATHE" pack run -o $target --sign anna.key
    has err "\"$target\" is one of the files that are packed, or were read for it"
    holds 'the key is as it was' cmp -s anna.key kept.key
done

# ---- what minisign makes of it ----
zstd -qdc signed.lathe >whole.tar
tar -xOf whole.tar bundle.json >bundle.json
tar -xOf whole.tar bundle.json.minisig >bundle.json.minisig
try 0 minisign -V -p anna.pub -m bundle.json
has out 'lathe bundle points'
holds 'it is the second' test "$(tar -tf whole.tar | sed -n 2p)" = bundle.json.minisig

# ---- verify and inspect ----
try 0 "$LATHE" verify signed.lathe --key anna.pub
has out 'signature: by anna.pub (key '
try 0 "$LATHE" verify signed.lathe --key "$(tail -1 anna.pub)"
try 77 "$LATHE" verify signed.lathe --key bob.pub
# number FILE: that of a key; minisign leaves out zeros it begins with
number() { printf '%16s' "$(sed -n '1s/.*key //p' "$1")" | tr ' ' 0; }
has err "it says that key $(number anna.pub) signed it, and key $(number bob.pub) was to have"
lacks err 'lathe/trusted'
try 77 "$LATHE" verify plain.lathe --key anna.pub
has err 'nobody has signed it'
try 65 "$LATHE" verify signed.lathe --key here/points.json
try 0 "$LATHE" inspect signed.lathe
has out 'you do not trust that key'
try 0 "$LATHE" inspect plain.lathe
has out 'signature  none'

# ---- the policy ----
config=$HOME/.config/lathe
mkdir -p "$config/trusted"
# use CODE BUNDLE: the same from every command that uses it
use() {
    try "$1" "$LATHE" run "$2" --quiet --run-dir used
    rm -rf used
    try "$1" "$LATHE" explain "$2"
    try "$1" "$LATHE" validate "$2"
    try "$1" "$LATHE" unpack "$2" -o apart
    rm -rf apart
}
use 0 plain.lathe
has err 'warning: plain.lathe: nobody has signed it'
use 0 signed.lathe
has err 'warning: signed.lathe: it says that key '
cp anna.pub "$config/trusted/"
use 0 signed.lathe
holds 'no warning' test -z "$(grep warning err)"
try 0 "$LATHE" inspect signed.lathe --json
has out '"verdict": "trusted"'
has out '"name": "anna"'

echo '{ "bundles": "any" }' >"$config/config.json"
use 0 plain.lathe
holds 'no warning' test -z "$(grep warning err)"
rm -rf "$store"
try 0 "$LATHE" run plain.lathe --quiet --run-dir from-plain
mv "$store" aside
echo '{ "bundles": "signed-only" }' >"$config/config.json"
use 77 plain.lathe
has err 'nobody has signed it'
holds 'nothing in the store' test "$(stored)" = 0
mv aside "$store"
# A run that came of one: whoever goes on with it or looks at it is asked, too.
for command in 'resume from-plain train.until=4ep' 'eval from-plain' 'eval from-plain/checkpoints/last.safetensors' \
    'predict from-plain -o -' \
    'reproduce from-plain' 'run --from from-plain --run-dir never' 'pack from-plain -o never.lathe'; do
    # shellcheck disable=SC2086
    try 77 "$LATHE" $command
    has err 'nobody has signed it'
    has err 'the bundle that this run is of'
done
holds 'nothing ran' test ! -e never -a ! -e never.lathe
rm -rf from-plain
chmod -R u+w "$store" && rm -rf "$store"
use 0 signed.lathe
try 0 "$LATHE" run signed.lathe --quiet --run-dir from-signed
try 0 "$LATHE" eval from-signed
try 77 "$LATHE" verify plain.lathe
try 0 "$LATHE" inspect plain.lathe
rm "$config/trusted/anna.pub"
use 77 signed.lathe
echo '{ "bundles": "sined-only" }' >"$config/config.json"
use 78 signed.lathe
has err 'signed-only'
rm "$config/config.json" && ln -s nowhere "$config/config.json"
use 66 signed.lathe
rm "$config/config.json"
echo '{ "bundles": "any" }' >"$config/config.json"

# ---- a signature of other bytes ----
cp anna.pub "$config/trusted/"
at=$(grep -abo 'trusted comment: lathe' whole.tar | head -1 | cut -d: -f1)
printf '\125' | dd of=whole.tar bs=1 seek=$((at + 17)) conv=notrunc status=none
zstd -qfc whole.tar >wrong.lathe
use 77 wrong.lathe
try 77 "$LATHE" verify wrong.lathe
try 77 "$LATHE" inspect wrong.lathe
# An empty one is one, and wrong.
mkdir emptied && tar -xf whole.tar -C emptied && : >emptied/bundle.json.minisig
tar -tf whole.tar >names
tar --format=ustar -cf emptied.lathe -C emptied -T names
use 77 emptied.lathe
try 77 "$LATHE" verify emptied.lathe
# A key that is nobody's here cannot tell.
rm "$config/trusted/anna.pub"
use 0 wrong.lathe
verdict
