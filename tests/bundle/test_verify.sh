# SPDX-License-Identifier: MIT
# What verify finds in a bundle whose files are all as bundle.json lists them, and which
# nobody can run all the same: each has a reason.
source "$(dirname "$0")/bundle.bash"
points here
try 0 "$LATHE" pack here/points.json -o right.lathe
try 0 "$LATHE" unpack right.lathe -o right
try 0 "$LATHE" verify right.lathe
has out 'ok: as far as can be told without loading it, this machine can run it'

# another: a copy of what was unpacked, in ./new, to be changed
another() { rm -rf new new.lathe && cp -r right new; }
# again: packed by hand, with the digests of what it holds now
again() {
    local path size digest line
    while IFS= read -r line; do
        case $line in
        *'"path": '*) path=${line#*'"path": "'} && path=${path%\"*} ;;
        *'"size": '*) [[ ! -f new/$path ]] ||
            line="\"size\": $(stat -c %s "new/$path")," ;;
        *'"sha256": '*) [[ ! -f new/$path ]] || {
            digest=$(sha256sum <"new/$path") && size=${line##*\"}
            line="\"sha256\": \"${digest%% *}\"$size"
        } ;;
        esac
        printf '%s\n' "$line"
    done <new/bundle.json >json && mv json new/bundle.json
    (cd new && tar --format=ustar --owner=0 --group=0 --mode=644 --mtime=@0 -cf ../new.lathe \
        bundle.json $(find . -type f ! -name bundle.json -printf '%P\n' | LC_ALL=C sort))
}
# verify CODE TEXT…: what it says of that
verify() {
    again
    try "$1" "$LATHE" verify new.lathe
    lacks out 'ok: '
    local text
    for text in "${@:2}"; do has err "$text"; done
    lacks err lathe-verify
    lacks err 'bundles/sha256'
    try "$1" "$LATHE" verify new.lathe --json
    has out '"ok": false'
    holds 'nothing is left' test -z "$(compgen -G "${TMPDIR:-/tmp}/lathe-verify-*")"
}
export TMPDIR=$PWD/temporary
mkdir temporary
another
again
try 0 "$LATHE" verify new.lathe
has out 'ok: as far as can be told without loading it, this machine can run it'

# ---- the experiment ----
another
head -c 500 /dev/zero >new/experiment.json
verify 65 'experiment.json'
another
sed -i 's/"hidden"/"hiden"/' new/experiment.json
verify 65 'experiment.json: model' 'did you mean "hidden"?'
another
sed -i 's|"data/train.csv"|"../../../../../../../etc/passwd"|' new/experiment.json
verify 65 'etc/passwd" is not among the files of the bundle' 'where: experiment.json: data.train.file'
another
sed -i 's|"data/train.csv"|"data/other.csv"|' new/experiment.json
verify 65 'data/other.csv'
another
sed -i 's|"data/train.csv"|"data/held-out.csv"|' new/experiment.json
verify 65 'says that "data/train.csv" is for data.train.file, which names data/held-out.csv'

# ---- its plugins ----
another
head -c 20000 /dev/urandom >new/plugins/optimizer/adamw/adamw.so
verify 69 'adamw.so' 'plugins/optimizer/adamw'
holds 'told once' test "$("$LATHE" verify new.lathe 2>&1 | grep -c 'where: .*adamw.so')" = 1
another
: >new/plugins/optimizer/adamw/adamw.so
verify 69 'adamw.so'
another
cp "$BUILD/plugins/optimizer/sgd/sgd.so" new/plugins/optimizer/adamw/adamw.so
verify 65 '"name" is not what it is in the manifest that adamw.so carries'
another
echo '{}' >new/plugins/optimizer/adamw/plugin.json
verify 65 'plugins/optimizer/adamw/plugin.json'
another
cp "$(ldconfig -p | sed -n 's/.*libm.so.6 .*=> //p' | head -1)" new/plugins/optimizer/adamw/adamw.so
verify 69 'adamw.so'
# One that is not there, neither in the list: the installed one would be taken.
another
rm -r new/plugins/optimizer
awk '/"plugins": \[/ { p = 1 } /"files": \[/ { f = 1 }
    (p || f) && /^    \{/ { held = ""; inside = 1 }
    inside { held = held $0 "\n"; if (/^    \},?$/) { inside = 0
        if (held !~ /optimizer/) printf "%s", held } next } { print }' new/bundle.json >json
sed -z 's/,\(\n *\]\)/\1/g' json >new/bundle.json
verify 69 'optimizer/adamw is used, and is not in the bundle' 'where: experiment.json: optimizer'
try 0 "$LATHE" run new.lathe --run-dir partly
lacks err 'used: model/mlp 1.0.0, optimizer'
has err 'of those installed here: optimizer/adamw'
# It is called something else.
another
sed -i '0,/"version": "[^"]*"/s//"version": "9.9"/' new/bundle.json
verify 65 'and its manifest'
# It needs more than is said.
another
sed -i 's/"glibc": "[^"]*"/"glibc": "2.2"/' new/bundle.json
verify 65 'and bundle.json says 2.2'
another
sed -i '/^    "lib.*\.so/d' new/bundle.json
verify 65 'which bundle.json does not list'

# ---- what is run is the bundle's ----
another
head -c 20000 /dev/urandom >new/plugins/optimizer/adamw/adamw.so
again
try 69 "$LATHE" run new.lathe --run-dir never
has err 'optimizer/adamw'
has err 'of the bundle'
holds 'nothing ran' test ! -e never

# refused TEXT: by whatever would run it, too
refused() {
    verify 65 "$1"
    for command in 'run --run-dir never' explain validate reproduce; do
        # shellcheck disable=SC2086
        try 65 "$LATHE" $command new.lathe
        has err "$1"
        has err 'help: '
    done
    holds 'nothing ran' test ! -e never
}
for path in /etc/passwd ../../../../../../../../../../etc/passwd; do
    another
    sed -i "s|\"data/train.csv\"|\"$path\"|" new/experiment.json
    refused 'etc/passwd" is not among the files of the bundle'
done
# What the user names is the user's own.
try 0 "$LATHE" validate new.lathe data.train.file=here/data/train.csv
try 0 "$LATHE" validate new.lathe 'data.train={"use":"blobs","samples":320,"features":2}' \
    'data.validation={"use":"blobs","samples":60,"features":2}'
ln -s "$HOME" linked
try 0 "$LATHE" validate right.lathe --store linked/through
another
sed -i 's|"data.train.file"|"data.train.file=/etc/passwd"|' new/bundle.json
refused 'is no setting'
another
sed -i 's|"data.train.file"|"train.batch"|' new/bundle.json
refused 'is for train.batch, which names no file'

# ---- weights, a checkpoint, and what came of a run ----
try 0 "$LATHE" run here/points.json --quiet --run-dir run
try 0 "$LATHE" run here/points.json --quiet --run-dir wide 'model.hidden=[16]'
try 0 "$LATHE" pack run -o state.lathe --with-checkpoint run
try 0 "$LATHE" verify state.lathe
try 0 "$LATHE" unpack state.lathe -o state
# of_run: like another
of_run() { rm -rf new && cp -r state new && chmod -R u+w new; }
of_run
cp here/data/train.csv new/checkpoint.safetensors
verify 65 'where: checkpoint.safetensors'
of_run
cp wide/checkpoints/last.safetensors new/checkpoint.safetensors
verify 65 'it is a checkpoint of another model' 'where: checkpoint.safetensors'
try 78 "$LATHE" run --from new.lathe --run-dir never
of_run
truncate -s -1 new/checkpoint.safetensors
verify 65 'where: checkpoint.safetensors'
for receipt in '{}' '{' '{"format": "lathe.receipt/1"}'; do
    of_run
    echo "$receipt" >new/receipt.json
    verify 65 'where: receipt.json'
done
of_run
echo >>new/metrics.jsonl
verify 65 'it is not what receipt.json says' 'where: metrics.jsonl'
sed 's|"model":|"start": { "weights": "../wide/checkpoints/last.safetensors" }, "model":|' \
    here/points.json >here/begun.json
try 0 "$LATHE" pack here/begun.json 'model.hidden=[16]' -o begun.lathe
try 0 "$LATHE" verify begun.lathe
rm -rf new && try 0 "$LATHE" unpack begun.lathe -o new && chmod -R u+w new
weights=$(find new -name last.safetensors)
holds 'it is in the bundle' test -f "$weights"
cp here/data/train.csv "$weights"
verify 65 'where: experiment.json: start.weights'
rm -rf new && rm -rf never

# ---- what a terminal would obey ----
another
sed -i 's/"name": "points"/"name": "po\\u001b[31mi\\u009bnts"/' new/experiment.json
again
for command in validate explain 'run --run-dir named --quiet'; do
    # shellcheck disable=SC2086
    try 0 "$LATHE" $command new.lathe
    for control in $'\e' $'\xc2\x9b'; do
        lacks out "$control"
        lacks err "$control"
    done
done
try 0 "$LATHE" validate new.lathe
has out 'ok: po?[31mi??nts: mlp'

# ---- where temporary files cannot be written ----
try 73 env TMPDIR=/nowhere "$LATHE" verify right.lathe
has err 'TMPDIR'
verdict
