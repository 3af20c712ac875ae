# SPDX-License-Identifier: MIT
# Wrong command lines: exit 64, with what was found and what was probably meant.
source "$(dirname "$0")/cli.bash"
small

try 64 "$LATHE" rnu
is err 'lathe: unknown command "rnu"
  where: command line
  help: did you mean "lathe run"?'
is_empty out
try 64 "$LATHE" --jsn
has err 'lathe: unknown flag "--jsn"'
try 64 "$LATHE" small.json
has err 'did you mean "lathe run small.json"?'
try 64 "$LATHE" train small.json
has err 'did you mean "lathe run"?'
try 64 "$LATHE" list
has err 'did you mean "lathe plugins"?'
try 64 "$LATHE" ''
has err 'unknown command ""'

try 64 "$LATHE" run small.json --quite
is err 'lathe: unknown flag "--quite"
  where: command line of "run"
  help: did you mean "--quiet"? "lathe help run" lists its flags'
try 64 "$LATHE" run small.json --quiet=1
has err 'lathe: --quiet takes no value'
try 64 "$LATHE" run small.json --nothing-like-it=3
has err 'lathe: unknown flag "--nothing-like-it"'
try 64 "$LATHE" run small.json -x
has err 'lathe: unknown flag "-x"'
try 64 "$LATHE" run small.json -vx
has err 'lathe: unknown flag "-vx"'

for flag in --run-dir '--run-dir=' '--run-dir --json'; do
    # shellcheck disable=SC2086
    try 64 "$LATHE" run small.json $flag
    has err 'lathe: --run-dir needs a value: --run-dir DIR'
done
try 64 "$LATHE" run small.json --run-dir ''
has err 'needs a value'
try 64 "$LATHE" run small.json --run-dir a --run-dir b
has err 'lathe: --run-dir is given twice'

try 64 "$LATHE" run
is err 'lathe: an experiment file is missing
  where: command line of "run"
  help: "lathe help run" shows how it is used'
try 64 "$LATHE" run optimizer.lr=1
has err 'an experiment file is missing'
try 64 "$LATHE" run small.json other.json
has err 'only one is taken: "other.json" is one too many'
try 64 "$LATHE" run small.json optimizer/lr=1
has err 'an override is path=value, the path with dots: optimizer.lr=0.01'

try 64 "$LATHE" run small.json optimizer.lr =0.1
has err 'help: no blanks around the = of path=value'
try 64 "$LATHE" run small.json 'optimizer.lr =0.1'
has err 'help: no blanks around the = of path=value'

# The setting that was meant, of those that the file has; whatever command it is.
for command in run explain validate pack; do
    while read -r meant words; do
        # shellcheck disable=SC2086
        try 64 "$LATHE" $command small.json $words
        has err "help: did you mean \"$meant\"? An override is path=value"
    done <<'END'
optimizer.lr=VALUE lr
optimizer.lr=0.1 lr 0.1
optimizer.lr=0.1 optimizer.lr 0.1
optimizer.lr=VALUE optimiser.lr
train.batch=VALUE batsh seed=1
seed=3 sed 3
data.train.samples=VALUE Samples
END
    for word in nothing-like-it 0.1 '' -; do
        try 64 "$LATHE" $command small.json "$word"
        has err "\"$word\" is one too many"
        has err 'help: an override is path=value: optimizer.lr=0.01'
    done
done
try 64 "$LATHE" run none.json lr
has err 'help: an override is path=value: optimizer.lr=0.01'
cp small.json other.json
try 64 "$LATHE" run small.json other.json
has err 'help: "lathe help run" shows how it is used'
rm other.json
# A command that takes none says so, and a file may be called like one.
for command in verify unpack inspect help plugins; do
    try 64 "$LATHE" $command none optimizer.lr=1
    has err 'only one is taken: "optimizer.lr=1" is one too many'
    has err "where: command line of \"$command\""
done
for command in verify unpack; do
    try 66 "$LATHE" $command a=b.lathe
    has err 'a=b.lathe'
done
try 64 "$LATHE" store list optimizer.lr=1
has err '"optimizer.lr=1" is one too many'

# A wrong command line is told to a machine too, wherever --json stands.
try 64 "$LATHE" run small.json --foo --json
has out '{"event":"error","exit_code":64,"message":"unknown flag \"--foo\""'
has out '{"event":"end","reason":"failed","epochs":0,"steps":0,"samples":0,"run":null,'
holds 'two lines' test "$(wc -l <out)" = 2

# Words, overrides and flags may be mixed, and "--" ends the flags.
try 0 "$LATHE" run --quiet optimizer.lr=0.5 small.json --run-dir=a -- train.until=1step
is_empty out
is_empty err
has a/resolved.json '"lr": 0.5'
try 66 "$LATHE" run --quiet -- --json
has err -- '--json'
try 66 "$LATHE" run --quiet ./a=b.json
has err 'a=b.json'
holds 'nothing else was made' test "$(echo *)" = 'a err out small.json'
verdict
