# SPDX-License-Identifier: MIT
# Standard output is for data: nothing that a plugin prints comes into it, and who reads no
# further than wanted is no fault.
source "$(dirname "$0")/cli.bash"
small
ids='{"use":"ids","count":100}'
loud=(--plugin-path "$PROBES" 'model={"use":"scalar","act":"print"}' data.train="$ids"
    data.validation="$ids" data.test="$ids" 'callbacks=[]')
try 0 "$LATHE" run small.json "${loud[@]}" --quiet --run-dir run
has out 'noise of forward' # there is no data of the command's own

# silent COMMAND…: the same output as without the noise, which comes out on stderr
silent() {
    try 0 "$LATHE" "$@" 'model.act="nothing"'
    lacks err noise
    mv out expected
    try 0 "$LATHE" "$@"
    for function in create forward destroy; do
        has err "noise of $function"
    done
    holds 'the same output' cmp -s expected out
    rm expected
}
silent eval run --plugin-path "$PROBES"
silent eval run --plugin-path "$PROBES" --json
silent predict run --plugin-path "$PROBES" -o -
for flag in '' --json '--calls 3step'; do
    # shellcheck disable=SC2086
    try 0 "$LATHE" explain small.json "${loud[@]}" $flag
    has err 'noise of create'
    has err 'noise of destroy'
    lacks out 'noise of'
done
try 0 "$LATHE" resume run --plugin-path "$PROBES" --json train.until=6ep
has err 'noise of forward'
lacks out 'noise of'

# ---- a reader that has had enough ----
# cut COMMAND…: its first line is read; quiet, and with the status of SIGPIPE
cut() {
    tried="$* | head -1"
    { "$LATHE" "$@" 2>err; echo $? >code; } | head -1 >out
    is code 141
    lacks err lathe
    holds 'a line' test "$(wc -l <out)" = 1
}
many='{"use":"ids","count":200000}'
cut explain small.json "${loud[@]}" train.until=1000ep --calls 2000step
cut predict run --plugin-path "$PROBES" -o - data.more="$many" --on more
# One write, after the reader has gone.
mkfifo gone
for command in "eval run --plugin-path $PROBES" 'explain small.json' 'plugins --json' 'help run' schema; do
    tried="$command | true"
    # shellcheck disable=SC2086
    { : <gone; } &
    exec 9>gone
    wait $!
    "$LATHE" $command >&9 2>err
    echo $? >code
    exec 9>&-
    is code 141
    lacks err lathe
done
tried='predict to a full disk'
"$LATHE" predict run --plugin-path "$PROBES" -o - >/dev/full 2>err
holds 'exit status 74' test $? = 74
has err 'lathe: cannot write to standard output: No space left on device'
verdict
