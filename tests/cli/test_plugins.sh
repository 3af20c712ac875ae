# SPDX-License-Identifier: MIT
# lathe plugins and lathe inspect: what they print, what they refuse, and that neither ever
# opens a library.
set -u
source "$SOURCE/tests/broken/build.bash"
scratch=$(mktemp -d)
trap 'chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
export HOME=$scratch/home
unset LATHE_PLUGIN_PATH
mkdir "$HOME"
faults=0

complain() {
    printf '%s\n' "$*" >&2
    faults=$((faults + 1))
}

# lathe WORD…: stdout and stderr to files, the exit status to $code
lathe() {
    "$LATHE" "$@" >"$scratch/stdout" 2>"$scratch/stderr"
    code=$?
}

# expect CODE, then what must stand in stdout and stderr, as far as it is given
expect() {
    local name=$1 wanted=$2 out=${3:-} err=${4:-}
    ((code == wanted)) || complain "$name: ended with $code, not $wanted"
    [[ $(<"$scratch/stdout") == *"$out"* ]] ||
        complain "$name: \"$out\" is not in stdout: $(<"$scratch/stdout")"
    [[ $(<"$scratch/stderr") == *"$err"* ]] ||
        complain "$name: \"$err\" is not in stderr: $(<"$scratch/stderr")"
}

# ---- no library is opened ----

build_fixture sound "$scratch/mark"
cat >"$scratch/mark.c" <<END
#include <stdio.h>
__attribute__((constructor)) static void mark(void) {
    fclose(fopen("$scratch/was-opened", "w"));
}
#include "$SOURCE/tests/broken/callback.c"
END
compile "$scratch/mark.c" "$scratch/mark/plugin.so"
experiment=$scratch/experiment.json
cat >"$experiment" <<'END'
{ "lathe": 1, "data": { "train": { "use": "blobs", "samples": 8 } },
  "model": { "use": "mlp", "hidden": [] }, "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "until": "1step", "batch": 8 }, "callbacks": [ { "use": "sound" } ] }
END
for words in 'plugins' 'plugins --json' 'plugins callback' 'plugins --rescan' 'inspect sound' \
    'inspect callback/sound --json' "inspect $scratch/mark" "inspect $scratch/mark/plugin.so" \
    schema "validate $experiment" "validate --json $experiment" 'help run'; do
    [[ $words == help* ]] || words+=" --plugin-path $scratch/mark"
    # shellcheck disable=SC2086
    lathe $words
    expect "$words" 0
    [[ ! -e $scratch/was-opened ]] || { complain "$words opens libraries"; break; }
done
# Nor does a run that does not name the plugin, whatever else lies in its folder.
cp "$scratch/mark/plugin.so" "$scratch/mark/another.so"
lathe run "$experiment" 'callbacks=[]' --run-dir "$scratch/without" --plugin-path "$scratch/mark"
expect "run without it" 0
[[ ! -e $scratch/was-opened ]] || complain "run opens what is not asked for"
lathe run "$experiment" --run-dir "$scratch/run" --plugin-path "$scratch/mark"
expect "run" 0
[[ -e $scratch/was-opened ]] || complain "run does not open the library: the test is blind"

# ---- what is printed ----

lathe plugins --plugin-path "$scratch/mark"
expect "the table" 0 "KIND       NAME"
grep -qE '^optimizer +sgd +[0-9.]+ +[A-Z]' "$scratch/stdout" || complain "sgd has no row"
lathe plugins --json --plugin-path "$scratch/mark"
expect "the list" 0 "{\"kind\": \"callback\", \"name\": \"sound\", \"version\": \"1.0.0\", \
\"summary\": null, \"library\": \"$scratch/mark/plugin.so\", \
\"manifest\": \"$scratch/mark/plugin.json\", \"status\": \"ok\", \"reason\": null}"
lathe plugins schedule --json
! grep -q '"kind": "optimizer"' "$scratch/stdout" || complain "a kind asked for is not alone"
expect "one kind" 0 '"name": "cosine"'
lathe plugins optimiser
expect "a wrong kind" 64 '' 'did you mean "optimizer"?'
lathe plugins model schedule
expect "two kinds" 64 '' 'only one is taken'
lathe plugins --plugin-path "$scratch/nowhere"
expect "a directory that is not there" 66 '' "$scratch/nowhere"
"$LATHE" plugins >/dev/full 2>"$scratch/stderr"
code=$?
: >"$scratch/stdout"
expect "a full disk" 74 '' 'No space left on device'

lathe inspect sgd
expect "an optimizer whose rate trains" 0 '"optimizer": {"use":"sgd","lr":0.01}'
expect "an optimizer" 0 'optimizer/sgd 1.0.0'
lathe inspect sgd --json
expect "an optimizer as JSON" 0 '"options": {"lr":'
lathe inspect mlp
expect "its library" 0 "abi       built with 1."
expect "what it needs" 0 ', libm.so.6'
expect "its digest" 0 "sha256    $(sha256sum "$BUILD/plugins/model/mlp/mlp.so" | cut -d' ' -f1)"
lathe inspect mlp --json
expect "the same as JSON" 0 '"abi": {"built": "1.'
expect "the same as JSON" 0 '"needed": ["lib'
lathe inspect "$scratch/mark/plugin.so" --json
expect "a library by its path" 0 '"needed": ["libc.so.6"]'
mkdir "$scratch/alone" && cp "$BUILD/plugins/model/mlp/mlp.so" "$scratch/alone/other.so"
lathe inspect "$scratch/alone/other.so"
expect "a library alone" 0 'model/mlp 1.0.0'
cp "$scratch/mark/plugin.so" "$scratch/alone/bare.so"
lathe inspect "$scratch/alone/bare.so"
expect "a library that carries no manifest" 69 'it carries no manifest'
lathe inspect sgdd
expect "a wrong name" 69 '' 'did you mean "sgd"?'
lathe inspect model/sgd
expect "a wrong kind of a name" 69 '' '"sgd" is an optimizer: optimizer/sgd'
lathe inspect
expect "no name" 64 '' 'a plugin is missing'
lathe inspect "$scratch/nowhere/plugin.json"
expect "a path to nothing" 66 '' 'there is no file'

mkdir "$scratch/twins" "$scratch/twins/a" "$scratch/twins/b"
for kind in a:callback b:schedule; do
    cp "$scratch/mark/plugin.so" "$scratch/twins/${kind%:*}"
    sed "s/\"callback\"/\"${kind#*:}\"/; s/sound/twin/" "$scratch/mark/plugin.json" \
        >"$scratch/twins/${kind%:*}/plugin.json"
done
lathe inspect twin --plugin-path "$scratch/twins"
expect "a name of two kinds" 64 '' 'write callback/twin or schedule/twin'
lathe inspect schedule/twin --plugin-path "$scratch/twins"
expect "a name with its kind" 0 'schedule/twin 1.0.0'
lathe inspect "$SOURCE/manifests/blobs-mlp.json"
expect "an experiment" 78 '' 'is an experiment, and no plugin'
lathe check twin --plugin-path "$scratch/twins"
expect "a name of two kinds, to be checked" 64 '' 'write callback/twin or schedule/twin'
lathe check sgdd
expect "a wrong name, to be checked" 69 '' 'did you mean "sgd"?'
lathe check "$scratch/nowhere/plugin.json"
expect "a path to nothing, to be checked" 66 '' 'No such file'

# A terminal obeys control characters; a manifest must not get them there.
build_fixture sound "$scratch/escape"
printf '{ "lathe": 1, "kind": "callback", "name": "escape", "version": "1.0.0",
  "library": "plugin.so", "options": { "a": { "type": "integer", "default": 1,
  "description": "red \\u001b[31m \\u009b2J" } } }' >"$scratch/escape/plugin.json"
lathe inspect escape --plugin-path "$scratch/escape"
expect "an escape sequence" 0 'red ?[31m ??2J'

# ---- where plugins are looked for ----

mkdir "$scratch/cwd" && cp -r "$scratch/mark" "$scratch/cwd/sound"
cp "$scratch/mark/"* "$scratch/cwd"
for list in '' ':' ':/nowhere:'; do
    (cd "$scratch/cwd" && LATHE_PLUGIN_PATH=$list "$LATHE" plugins --json) >"$scratch/stdout"
    ! grep -q '"name": "sound"' "$scratch/stdout" ||
        complain "LATHE_PLUGIN_PATH='$list' finds plugins in the current directory"
done
LATHE_PLUGIN_PATH=/nowhere:$scratch/mark lathe inspect sound
expect "LATHE_PLUGIN_PATH" 0 "$scratch/mark/plugin.so"
mkdir -p "$HOME/.local/lib/lathe/plugins" && cp -r "$scratch/mark" "$HOME/.local/lib/lathe/plugins"
lathe inspect sound
expect "the user's directory" 0 "$HOME/.local/lib/lathe/plugins/mark/plugin.so"
lathe plugins --plugin-path "$scratch/mark"
expect "the user's directory comes later" 0 "shadowed callback/sound"
rm -r "$HOME/.local"

# The order of the folder is not that of the list.
for order in 'a b c d' 'd b a c'; do
    rm -rf "$scratch/order" && mkdir "$scratch/order"
    for name in $order; do
        cp -r "$scratch/mark" "$scratch/order/$name"
        sed -i "s/sound/o-$name/" "$scratch/order/$name/plugin.json"
    done
    "$LATHE" plugins --json --plugin-path "$scratch/order" >"$scratch/order-${order%% *}"
done
cmp "$scratch/order-a" "$scratch/order-d" || complain "the order depends on the folder"

# ---- odd things in the way ----

odd=$scratch/odd
mkdir "$odd" "$odd/fifo" "$odd/folder" "$odd/folder/plugin.json" "$odd/zero" "$odd/good"
mkfifo "$odd/fifo/plugin.json" "$odd/x.json" "$odd/x.so"
ln -s /dev/zero "$odd/zero/plugin.json"
ln -s nowhere "$odd/dangling"
ln -s loop "$odd/loop"
mkdir "$odd/dir.so" "$odd/$(printf 'n%.0s' {1..255})"
cp "$scratch/mark/"* "$odd/good"
start=$(date +%s%N)
lathe plugins --json --plugin-path "$odd"
took=$((($(date +%s%N) - start) / 1000000))
expect "odd things" 0 '"name": "sound"'
((took < 1000)) || complain "odd things took $took ms"
for what in 'fifo/plugin.json" is a FIFO' 'folder/plugin.json" is a directory' \
    'zero/plugin.json" is a device' 'the link leads nowhere' 'the link leads in a circle'; do
    grep -qF -- "${what//\"/\\\"}" "$scratch/stdout" || complain "nothing says: $what"
done

mkdir "$scratch/linked" && cp "$scratch/mark/plugin.json" "$scratch/linked"
ln -s ../mark/plugin.so "$scratch/linked/plugin.so"
lathe plugins --plugin-path "$scratch/linked"
expect "a link" 0 "$scratch/linked/plugin.so -> $scratch/mark/plugin.so"

# ---- who may have written it ----

# as_nobody WORD…: the program as another user, or nothing where we cannot
as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups "$scratch/bin/lathe" "$@" \
        >"$scratch/stdout" 2>"$scratch/stderr"
    code=$?
}

mkdir "$scratch/bin" && cp "$LATHE" "$scratch/bin/lathe"
if ((EUID != 0)) || ! command -v setpriv >/dev/null; then
    echo "skipped: files of another user, unreadable files, setuid: needs root and setpriv" >&2
else
    cp -r "$scratch/mark" "$scratch/foreign"
    chown 54321 "$scratch/foreign/plugin.so"
    lathe plugins --plugin-path "$scratch/foreign"
    expect "a library of somebody else's" 0 'the file belongs to user 54321'
    chown -R 65534 "$scratch/foreign"
    as_nobody plugins --json --plugin-path "$scratch/foreign"
    expect "a library of one's own" 0 '"name": "sound"'
    as_nobody plugins --plugin-path "$scratch/mark"
    expect "a library of root's" 0 'sound'
    ! grep -q refused "$scratch/stdout" || complain "another user may not use root's plugins"

    mkdir "$scratch/locked"
    cp -r "$scratch/mark" "$scratch/locked/a-manifest"
    cp -r "$scratch/mark" "$scratch/locked/b-library"
    cp -r "$scratch/mark" "$scratch/locked/c-folder"
    cp -r "$scratch/mark" "$scratch/locked/d-good"
    chmod 000 "$scratch/locked/a-manifest/plugin.json" \
        "$scratch/locked/b-library/plugin.so" "$scratch/locked/c-folder"
    as_nobody plugins --json --plugin-path "$scratch/locked"
    expect "unreadable things" 0 "d-good/plugin.json\", \"status\": \"ok\""
    (($(grep -c 'Permission denied' "$scratch/stdout") == 3)) ||
        complain "not all of three say why: $(<"$scratch/stdout")"

    # A setuid program does not believe the environment of whoever runs it.
    chmod 4755 "$scratch/bin/lathe"
    if findmnt -nT "$scratch" -o OPTIONS | grep -q nosuid || [[ -n ${SANITIZE:-} ]]; then
        echo "skipped: setuid: the mount forbids it, or a sanitizer does" >&2
    else
        export LATHE_PLUGIN_PATH=$scratch/mark
        as_nobody plugins --json
        expect "a setuid program" 0 '' 'LATHE_PLUGIN_PATH is ignored'
        ! grep -q '"name": "sound"' "$scratch/stdout" ||
            complain "a setuid program follows LATHE_PLUGIN_PATH"
        as_nobody plugins --json --plugin-path "$scratch/foreign"
        expect "a setuid program and its user's library" 0 'belongs to user 65534'
        chmod 755 "$scratch/bin/lathe"
        as_nobody plugins --json
        expect "the same program without setuid" 0 '"name": "sound"'
    fi
fi
((faults == 0))
