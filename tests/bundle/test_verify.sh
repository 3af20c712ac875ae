# SPDX-License-Identifier: MIT
# What verify finds in a bundle whose files are all as bundle.json lists them, and which
# nobody can run all the same: each has a reason.
source "$(dirname "$0")/bundle.bash"
points here
try 0 "$LATHE" pack here/points.json -o right.lathe
try 0 "$LATHE" unpack right.lathe -o right
try 0 "$LATHE" verify right.lathe
has out 'ok: as far as can be told without loading it, this machine can run it'

# another: a copy of what was unpacked to ./$from, in ./new, to be changed
another() { rm -rf new new.lathe && cp -r "$from" new && chmod -R u+w new; }
from=right
# again: packed by hand, with the digests of what it holds now
again() {
    local path='' size digest line files
    local -A sizes digests
    files=$(cd new && find . -type f ! -name bundle.json -printf '%P\n' | LC_ALL=C sort)
    while read -r size path; do sizes[$path]=$size; done < <(cd new && stat -c '%s %n' $files)
    while read -r digest path; do digests[$path]=$digest; done < <(cd new && sha256sum $files)
    while IFS= read -r line; do
        case $line in
        *'"path": '*) path=${line#*'"path": "'} && path=${path%\"*} ;;
        *'"size": '*) line="\"size\": ${sizes[$path]-0}," ;;
        *'"sha256": '*) size=${line##*\"} && line="\"sha256\": \"${digests[$path]-}\"$size" ;;
        esac
        printf '%s\n' "$line"
    done <new/bundle.json >json && mv json new/bundle.json
    (cd new && tar --format=ustar --owner=0 --group=0 --mode=644 --mtime=@0 -cf ../new.lathe \
        bundle.json $files)
}
# verify CODE TEXT…: what it says of that
verify() {
    again
    try "$1" "$LATHE" verify new.lathe --json
    has out '"ok": false'
    try "$1" "$LATHE" verify new.lathe
    lacks out 'ok: '
    local text
    for text in "${@:2}"; do has err "$text"; done
    lacks err lathe-verify
    lacks err 'bundles/sha256'
    holds 'nothing is left' test -z "$(compgen -G "${TMPDIR:-/tmp}/lathe-verify-*")"
}
# spoiled CODE CHANGE TEXT…: the same of a copy after this command in it
spoiled() {
    another
    (cd new && eval "$2") || complain "cannot: $2"
    verify "$1" "${@:3}"
}
export TMPDIR=$PWD/temporary
mkdir temporary
another
again
try 0 "$LATHE" verify new.lathe
has out 'ok: as far as can be told without loading it, this machine can run it'

# ---- the experiment ----
spoiled 65 'head -c 500 /dev/zero >experiment.json' 'experiment.json'
spoiled 65 "sed -i 's/\"hidden\"/\"hiden\"/' experiment.json" \
    'experiment.json: model' 'did you mean "hidden"?'
spoiled 65 "sed -i 's|\"data/train.csv\"|\"../../../../../../../etc/passwd\"|' experiment.json" \
    'etc/passwd" is not among the files of the bundle' 'where: experiment.json: data.train.file'
spoiled 65 "sed -i 's|\"data/train.csv\"|\"data/other.csv\"|' experiment.json" 'data/other.csv'
spoiled 65 "sed -i 's|\"data/train.csv\"|\"data/held-out.csv\"|' experiment.json" \
    'says that "data/train.csv" is for data.train.file, which names data/held-out.csv'

# ---- its plugins ----
adamw=plugins/optimizer/adamw
libm=$(ldconfig -p | sed -n 's/.*libm.so.6 .*=> //p' | head -1)
spoiled 69 'head -c 20000 /dev/urandom >$adamw/adamw.so' 'adamw.so' 'plugins/optimizer/adamw'
holds 'told once' test "$(grep -c 'where: .*adamw.so' err)" = 1
spoiled 69 ': >$adamw/adamw.so' 'adamw.so'
spoiled 65 'cp "$BUILD/plugins/optimizer/sgd/sgd.so" $adamw/adamw.so' \
    '"name" is not what it is in the manifest that adamw.so carries'
spoiled 65 'echo "{}" >$adamw/plugin.json' 'plugins/optimizer/adamw/plugin.json'
spoiled 69 'cp "$libm" $adamw/adamw.so' 'adamw.so'
# It is called something else, or needs more than is said.
spoiled 65 "sed -i '0,/\"version\": \"[^\"]*\"/s//\"version\": \"9.9\"/' bundle.json" 'and its manifest'
spoiled 65 "sed -i 's/\"glibc\": \"[^\"]*\"/\"glibc\": \"2.2\"/' bundle.json" 'and bundle.json says 2.2'
spoiled 65 "sed -i '/^    \"lib.*\.so/d' bundle.json" 'which bundle.json does not list'
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
# ---- what is run is the bundle's ----
spoiled 69 'head -c 20000 /dev/urandom >$adamw/adamw.so' 'adamw.so'
try 69 "$LATHE" run new.lathe --run-dir never
has err 'optimizer/adamw'
has err 'of the bundle'
holds 'nothing ran' test ! -e never

# refused CHANGE TEXT: by whatever would run it, too
refused() {
    spoiled 65 "$1" "$2"
    for command in 'run --run-dir never' explain validate reproduce; do
        # shellcheck disable=SC2086
        try 65 "$LATHE" $command new.lathe
        has err "$2"
        has err 'help: '
    done
    holds 'nothing ran' test ! -e never
}
for path in /etc/passwd ../../../../../../../../../../etc/passwd; do
    refused "sed -i 's|\"data/train.csv\"|\"$path\"|' experiment.json" \
        'etc/passwd" is not among the files of the bundle'
done
# What the user names is the user's own.
try 0 "$LATHE" validate new.lathe data.train.file=here/data/train.csv
try 0 "$LATHE" validate new.lathe 'data.train={"use":"blobs","samples":320,"features":2}' \
    'data.validation={"use":"blobs","samples":60,"features":2}'
ln -s "$HOME" linked
try 0 "$LATHE" validate right.lathe --store linked/through
refused "sed -i 's|\"data.train.file\"|\"data.train.file=/etc/passwd\"|' bundle.json" 'is no setting'
refused "sed -i 's|\"data.train.file\"|\"train.batch\"|' bundle.json" \
    'is for train.batch, which names no file'

# ---- weights, a checkpoint, and what came of a run ----
try 0 "$LATHE" run here/points.json --quiet --run-dir run
try 0 "$LATHE" run here/points.json --quiet --run-dir wide 'model.hidden=[16]'
try 0 "$LATHE" pack run -o state.lathe --with-checkpoint run
try 0 "$LATHE" verify state.lathe
try 0 "$LATHE" unpack state.lathe -o state
from=state
spoiled 65 'cp ../here/data/train.csv checkpoint.safetensors' 'where: checkpoint.safetensors'
spoiled 65 'cp ../wide/checkpoints/last.safetensors checkpoint.safetensors' \
    'it is a checkpoint of another model' 'where: checkpoint.safetensors'
try 78 "$LATHE" run --from new.lathe --run-dir never
spoiled 65 'truncate -s -1 checkpoint.safetensors' 'where: checkpoint.safetensors'
for receipt in '{}' '{' '{"format": "lathe.receipt/1"}'; do
    spoiled 65 "echo '$receipt' >receipt.json" 'where: receipt.json'
done
spoiled 65 'echo >>metrics.jsonl' 'it is not what receipt.json says' 'where: metrics.jsonl'

# What the digest in bundle.json is right of, and a run refuses: verify for the same reason.
# flip FILE: a byte of its last tensor is another
flip() { printf '\377' | dd of="$1" bs=1 seek=$(($(stat -c %s "$1") - 1)) conv=notrunc status=none; }
# resum FILE: its digest is that of what it holds now
resum() {
    local zeros digest
    zeros=$(printf '%064d' 0)
    LC_ALL=C sed -i "s/\"lathe.sha256\":\"[0-9a-f]*\"/\"lathe.sha256\":\"$zeros\"/" "$1"
    digest=$(sha256sum <"$1")
    LC_ALL=C sed -i "s/\"lathe.sha256\":\"$zeros\"/\"lathe.sha256\":\"${digest%% *}\"/" "$1"
}
# noted OLD NEW: another text in its header, which is what was saved, as it says
noted() { LC_ALL=C sed -i "s/$1/$2/" checkpoint.safetensors && resum checkpoint.safetensors; }
# unfit CHANGE TEXT: of a checkpoint
unfit() {
    spoiled 65 "$1" "$2" 'where: checkpoint.safetensors'
    holds 'told once' test "$(grep -c 'where: ' err)" = 1
    try 65 "$LATHE" run --from new.lathe --run-dir never
    has err "${2/callback\//callbacks[0] }"
}
another
(cd new && resum checkpoint.safetensors)
holds 'it says what was saved' cmp -s new/checkpoint.safetensors state/checkpoint.safetensors
unfit 'flip checkpoint.safetensors' 'its content was changed'
unfit 'LC_ALL=C sed -i "s/\"lathe.sha256\":\"./&0/; s/\(\"lathe.sha256\":\"[0-9a-f]\{64\}\)./\1/" \
    checkpoint.safetensors' 'its content was changed'
unfit "LC_ALL=C sed -i 's/lathe.sha256/lathe.sha255/' checkpoint.safetensors" \
    'it has no SHA-256 to be compared with: the note lathe.sha256 is not there'
unfit "noted '\"lathe\":\"1 ' '\"lathe\":\"2 '" 'it was saved by another lathe: format 2 '
unfit "noted '\"lathe\":\"1' '\"lathf\":\"1'" 'it is no checkpoint of a run: lathe is not there'
unfit 'noted lathe.plugins lathe.plugims' 'it is no checkpoint of a run: lathe.plugins is not there'
unfit 'noted lathe.loop lathe.pool' 'it is no checkpoint of a run: lathe.loop is not there'
unfit 'flip checkpoint.safetensors && resum checkpoint.safetensors' \
    'the state of callback/checkpoint'
rm -rf never

# Weights to begin from, with a digest or without one.
sed 's|"model":|"start": { "weights": "../wide/checkpoints/last.safetensors" }, "model":|' \
    here/points.json >here/begun.json
try 0 "$LATHE" pack here/begun.json 'model.hidden=[16]' -o begun.lathe
try 0 "$LATHE" verify begun.lathe
try 0 "$LATHE" unpack begun.lathe -o begun
from=begun
weights=data/last.safetensors
spoiled 65 'cp ../here/data/train.csv $weights' 'where: experiment.json: start.weights'
spoiled 65 'flip $weights' 'where: experiment.json: start.weights' 'its content was changed'
try 65 "$LATHE" run new.lathe --run-dir never
has err 'its content was changed'
another
LC_ALL=C sed -i 's/lathe.sha256/lathe.sha255/' "new/$weights"
again
try 0 "$LATHE" verify new.lathe
try 0 "$LATHE" run new.lathe --run-dir without --quiet
from=right
rm -rf never

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
