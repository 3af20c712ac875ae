# SPDX-License-Identifier: MIT
# Every command explains itself, the same way by every road; what is printed has to arrive.
source "$(dirname "$0")/cli.bash"

try 0 "$LATHE" help
is_empty err
cp out overview
has out 'Usage: lathe COMMAND'
has out '   64  the command line is wrong'
for command in run resume eval predict explain validate plugins inspect pack verify unpack store \
    reproduce diff check new schema help; do
    holds "$command is listed" grep -qE "^  $command +[a-z]" out
done
for way in '' --help -h; do
    # shellcheck disable=SC2086
    try 0 "$LATHE" $way
    holds 'the same overview' cmp -s out overview
done

for command in run resume eval predict explain validate plugins inspect pack verify unpack store \
    reproduce diff check new schema help; do
    try 0 "$LATHE" help "$command"
    is_empty err
    has out "Usage: lathe $command"
    has out "  lathe $command"
    holds 'exit codes of all commands are told once' test "$(grep -cE '^ *[0-9]+  ' out)" = 0
    cp out page
    for flag in --help -h; do
        try 0 "$LATHE" "$command" "$flag"
        holds 'the same page' cmp -s out page
    done
    try 0 "$LATHE" "$command" --json --help
    holds 'the same page' cmp -s out page
    holds 'at most 88 columns' test "$(wc -L <out)" -le 88
done
try 0 "$LATHE" help run
for flag in --run-dir --plugin-path --json --quiet -v; do has out "  $flag"; done

# The experiment to start with is one that is there.
cp -r "$SOURCE/manifests" .
try 0 "$LATHE" help
has out 'Start with: lathe run manifests/blobs-mlp.json'
rm -r manifests
try 0 "$LATHE" help
start=$(sed -n 's/^Start with: lathe run //p' out)
holds 'it is there' test -z "$start" -o -f "$start"
has out 'Start with: lathe '

try 64 "$LATHE" help rum
has err 'did you mean "lathe run"?'
try 64 "$LATHE" help run validate
has err '"validate" is one too many'

try 0 "$LATHE" --version
holds 'name, version, ABI' grep -qE '^lathe [0-9]+\.[0-9]+\.[0-9]+, plugin ABI 1\.[0-9]+$' out

# Output that does not arrive is a failure; a reader that has gone is told nothing.
tried='help >/dev/full'
"$LATHE" help >/dev/full 2>err
holds 'exit status 74' test $? = 74
has err 'lathe: cannot write to standard output: No space left on device'
tried='help >&-'
"$LATHE" help >&- 2>err
holds 'exit status 74' test $? = 74
tried='help | true'
{ "$LATHE" help 2>err; echo $? >code; } | true
holds 'exit status 141 or, where the pipe took all, 0' grep -qxE '141|0' code
is_empty err
tried='rum 2>&-'
"$LATHE" rum >out 2>&-
holds 'exit status 64' test $? = 64
is_empty out
verdict
