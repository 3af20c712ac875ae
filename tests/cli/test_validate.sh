# SPDX-License-Identifier: MIT
# lathe validate: what it prints, its exit status, and that it opens no library.
source "$(dirname "$0")/cli.bash"
export HOME=$scratch

# Plugins whose libraries leave a mark when they are opened.
cat >mark.c <<'C'
#include <fcntl.h>
__attribute__((constructor)) static void mark(void) {
    open(MARK, O_CREAT | O_WRONLY, 0666);
}
C
# plugin KIND NAME MEMBERS
plugin() {
    mkdir -p "plugins/$2"
    echo "{ \"lathe\": 1, \"kind\": \"$1\", \"name\": \"$2\", \"version\": \"1.0.0\",
            \"library\": \"$2.so\" $3 }" >"plugins/$2/plugin.json"
    "$CC" -shared -fPIC -DMARK="\"$scratch/opened\"" -o "plugins/$2/$2.so" mark.c
}
plugin dataset grid ', "options": { "file": { "type": "string", "format": "path" } }'
plugin model net ', "metrics": [{ "name": "accuracy" }]'
plugin optimizer plain ', "options": { "lr": { "type": "number", "minimum": 0 } }'
chmod -R go-w plugins

echo 1,2 >rows.csv
cat >first.json <<'JSON'
{
  "lathe": 1,
  "data": { "train": { "use": "grid", "file": "rows.csv" } },
  "model": { "use": "net" },
  "optimizer": { "use": "plain", "lr": 0.5 },
  "train": { "until": ["3ep", "1min"] }
}
JSON

# validate CODE ARGUMENT…
validate() {
    local code=$1
    shift
    try "$code" "$LATHE" validate --plugin-path plugins "$@"
}

in_order="ok: first: net by plain on train; until 3ep or 1min"
validate 0 first.json
is out "$in_order"
is_empty err
validate 0 first.json optimizer.lr=1
is out "$in_order"
validate 0 first.json --json
is out '{"ok":true,"errors":[]}'
is_empty err

# All errors are told, not only the first.
validate 78 first.json optimizer.lrr=1 train.shards=64
is_empty out
is err 'lathe: optimizer plain has no option "lrr"
  where: command line: optimizer.lrr
  help: did you mean "lr"? Allowed: lr
lathe: 64 shards are more than the 32 rows of a batch
  where: command line: train.shards
  help: allowed: 1 to 32, or a larger train.batch'
validate 78 --json first.json optimizer.lr=-1 train.shards=64
is out '{"ok":false,"errors":[{"path":"optimizer.lr","message":"-1 is less than the minimum 0","help":"allowed: number, >= 0"},{"path":"train.shards","message":"64 shards are more than the 32 rows of a batch","help":"allowed: 1 to 32, or a larger train.batch"}]}'
is_empty err

# A plugin or a file that is missing, and nothing else, has an exit status of its own.
validate 69 first.json model.use=nett
is err 'lathe: there is no model "nett"
  where: command line: model.use
  help: did you mean "net"?'
validate 66 first.json data.train.file=row.csv
is err "lathe: there is no file \"$scratch/row.csv\"
  where: command line: data.train.file
  help: did you mean \"rows.csv\"?"
validate 78 first.json model.use=nett train.batch=0
validate 66 frist.json
is err 'lathe: there is no file "frist.json"
  help: did you mean "first.json"?'
validate 66 frist.json --json
is out '{"ok":false,"errors":[{"path":"","message":"there is no file \"frist.json\"","help":"did you mean \"first.json\"?"}]}'

# With --json the path is without the file's name; where there is none yet, the message has
# line and column.
sed 's/"until"/"untill"/' first.json >key.json
validate 78 key.json
has err "  where: key.json: train.untill"
validate 78 key.json --json
has out '{"path":"train.untill","message":"unknown key \"untill\"",'
has out '{"path":"train.until","message":"\"until\" is required",'
sed 's/0.5 }/0.5, }/' first.json >comma.json
validate 78 comma.json
has err "  where: comma.json:5:45"
validate 78 comma.json --json
has out '{"ok":false,"errors":[{"path":"","message":"5:45: a comma before'

try 64 "$LATHE" validate
try 66 "$LATHE" validate first.json --plugin-path nowhere

holds "no library was opened" test ! -e opened
verdict
