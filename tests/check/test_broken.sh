# SPDX-License-Identifier: MIT
# The conformance kit finds what is wrong with plugins that are wrong in one way each
# (broken/), in the test it is the business of and with the right words; and it finds
# nothing in the sound ones that they are made from.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch TMPDIR=$scratch
faults=0 count=0
# A sanitizer has something to say of its own, and other exit statuses.
[[ -z ${SANITIZE:-} ]] || { echo "skipped: built with a sanitizer" >&2; exit 77; }

complain() {
    printf '%s\n' "$*" >&2
    faults=$((faults + 1))
}

# build KIND FAULT: into $scratch/KIND-FAULT
build() {
    local kind=$1 fault=$2 out=$scratch/$1-$2 options='{}' more=''
    case $kind in
    callback)
        options='{ "every": { "type": "integer", "minimum": 1, "maximum": 9, "default": 5 } }'
        more='"metrics": [{ "name": "steps" }],'
        ;;
    model) more='"metrics": [{ "name": "accuracy", "higher_is_better": true }],' ;;
    optimizer)
        options='{ "lr": { "type": "number", "minimum": 0 },
            "eps": { "type": "number", "exclusiveMinimum": 0, "default": 1e-8 },
            "weight_decay": { "type": "number", "minimum": 0, "default": 0 } }'
        ;;
    dataset) options='{ "count": { "type": "integer", "minimum": 1, "default": 20 } }' ;;
    schedule) options='{ "start": { "type": "number", "minimum": 0, "default": 1 } }' ;;
    esac
    [[ ! -d $out ]] || return 0
    mkdir "$out"
    printf '{ "lathe": 1, "kind": "%s", "name": "broken", "version": "1.0.0",
  "license": "MIT", "summary": "%s", "library": "broken.so", %s "options": %s }\n' \
        "$kind" "$fault" "$more" "$options" >"$out/plugin.json"
    "${CC:-cc}" -std=c11 -D_DEFAULT_SOURCE -O1 -fPIC -shared -fvisibility=hidden \
        -DFAULT_"$fault" -I"$here/../../sdk/include" -o "$out/broken.so" \
        "$here/broken/$kind.c" -lm
}

# Wanted of each: KIND | FAULT | TEST | a piece of the reason
while IFS='|' read -r kind fault test says; do
    kind=${kind// /} fault=${fault// /} test=${test// /} says=${says# }
    [[ -n $kind && $kind != \#* ]] || continue
    count=$((count + 1))
    build "$kind" "$fault" || { complain "$kind $fault cannot be built"; continue; }
    only=(--only "$test")
    [[ $test != all ]] || only=()
    limit=60s # on a busy machine
    [[ $fault != HANG && $fault != SLOW ]] || limit=8s
    "$LATHE" check "$scratch/$kind-$fault" --seed 11 --time-limit $limit "${only[@]}" \
        >"$scratch/out" 2>&1
    code=$?
    if [[ $test == all ]]; then
        ((code == 0)) || complain "$kind $fault: exit $code: $(cat "$scratch/out")"
        ! grep -qE '^(FAIL|warn|skip)' "$scratch/out" ||
            complain "$kind $fault: $(grep -E '^(FAIL|warn|skip)' "$scratch/out")"
        continue
    fi
    wanted=70 verdict=FAIL
    case $test-$fault in
    *-SLOW) wanted=0 verdict=skip ;;
    calls-* | output-* | values-NAN | finite-INFINITE | rate-COUPLED | \
        options-UNREAD | decay-DECAYS_NOTHING) wanted=0 verdict=warn ;;
    esac
    ((code == wanted)) || complain "$kind $fault: exit $code, not $wanted: $(cat "$scratch/out")"
    grep -E "^$verdict +$test " "$scratch/out" | grep -qF -- "$says" ||
        complain "$kind $fault: no \"$says\" in $test: $(cat "$scratch/out")"
done <<'TABLE'
callback  | NOTHING     | all           |
model     | NOTHING     | all           |
optimizer | NOTHING     | all           |
dataset   | NOTHING     | all           |
schedule  | NOTHING     | all           |
callback  | TWO_SYMBOLS | exports       | it exports 1 more than "lathe_plugin_v1": helper_of_everybody
callback  | EXIT        | calls         | it refers to exit (ends the process)
callback  | EXIT        | create        | it ended the process with exit status 3 in create (it said: no licence)
callback  | HANG        | create        | it was not done after 8 s in create
callback  | CRASH       | create        | it crashed with signal 11 (Segmentation fault) in destroy
callback  | LEAK        | lifecycle     | to make and destroy it 1000 times leaks
callback  | DESCRIPTOR  | lifecycle     | leaves 2 descriptors open
callback  | THREAD      | lifecycle     | leaves 2 threads
callback  | SILENT      | options       | with every=1: create failed (status -1) without saying why
callback  | EDGE        | options       | it crashed with signal 8 (Floating point exception) in create
callback  | UNREAD      | options       | "every" is never read
callback  | PRINTS      | calls         | it refers to puts (prints on standard output)
callback  | PRINTS      | output        | it prints on standard output in create: "here I am"
callback  | WRITES      | output        | step_end of callbacks.broken (call
callback  | SLOW        | lifecycle     | of them would take
callback  | SLOW        | instances     | each run
callback  | SLOW        | endings       | (each step_end of callbacks.broken 0.3
callback  | SLOW        | interruptions | each run takes
callback  | SLOW        | orders        | each run takes
callback  | SLOW        | resume        | say --time-limit
callback  | SHARED      | instances     | is there a variable that is static and not const?
callback  | CLOCK       | determinism   | in another process it does something else
callback  | ADDRESS     | determinism   | it does something else
callback  | LOCALE      | process       | it changed the locale
callback  | ROUNDING    | process       | it changed the floating-point environment
callback  | SIGNAL      | process       | it changed what signal 12 (USR2) does
callback  | DIRECTORY   | process       | it changed the working directory
callback  | ENVIRONMENT | process       | it changed the environment
callback  | UMASK       | process       | it changed the file mode mask (umask)
callback  | DESCRIPTOR  | process       | descriptors open
callback  | THREAD      | process       | it started 1 threads of its own
callback  | TRUNCATED   | state         | load took the first 9 of 16 bytes as its state
callback  | RANDOM      | state         | load took 16 random bytes as its state
callback  | CHANGED     | state         | and changed the instance
callback  | FORGETS     | state         | what it loads and saves again are other bytes
callback  | FORGETS     | resume        | ends otherwise
callback  | REASON      | endings       | it ended as
callback  | REASON      | interruptions | it ended as interrupted?
callback  | UNBEGUN     | create        | it crashed with signal 11
model     | PERCENT     | gradient      | the gradient of weight is wrong: along it
model     | BIAS        | gradient      | the gradient of bias is wrong: along it
model     | ELEMENT     | gradient      | the gradient of weight is wrong
model     | MEAN        | gradient      | the gradient of the sum of the losses is wanted, not of their mean
model     | ADD         | adding        | `add` is ignored
model     | KEEPS       | adding        | it is to overwrite every gradient
model     | FROZEN      | frozen        | backward wrote a gradient of bias, which is frozen
model     | ADDRESS     | determinism   | it does something else
model     | STATIC      | instances     | another instance at work in between changes what one does
model     | PREDICT     | predict       | output 0 is
model     | LABEL       | predict       | in LATHE_PREDICT, where labels are not there
model     | INFINITE    | finite        | with inputs of 1000 and -1000 the loss is inf
model     | ACCURACY    | finite        | the metric "accuracy" is 600 of 12 in LATHE_EVALUATE: it must be 0 to 1
model     | EVALUATE    | predict       | there is something random in it
model     | WRITES      | predict       | forward wrote into the weights
model     | BIND        | bind          | after bind came again with another layout
model     | DESCRIBE    | describe      | describe says another thing the second time
model     | WEIGHT      | slices        | it is to be a sum over rows
optimizer | SPANS       | spans         | cut at random places, the update has other bits
optimizer | THREADS     | spans         | in two threads, the update has other bits
optimizer | SCALE       | scale         | it is gradient * span->scale that counts
optimizer | RATE        | rate          | span->rate is ignored
optimizer | COUPLED     | rate          | with a rate of 0 it changes weights
optimizer | DECAY       | decay         | weight_decay changes weights where span->flags is without LATHE_DECAYS
optimizer | DECAYS_NOTHING | decay      | weight_decay changes nothing
optimizer | UNREAD      | options       | "weight_decay" is never read
optimizer | KEEPS       | resume        | an instance that goes on with the slots of another one makes another update
optimizer | STATIC      | instances     | another instance at work in between changes what one does
optimizer | EPS         | finite        | a weight is
dataset   | ORDER       | order         | it is to depend on index, position and epoch alone
dataset   | GROUPING    | order         | read alone, sample
dataset   | THREADS     | threads       | read by 3 threads at once
dataset   | EDGE        | edges         | the first or last one alone
dataset   | UNWRITTEN   | edges         | read into a used buffer
dataset   | BEHIND      | edges         | read wrote behind the 22 rows of "label"
dataset   | CLASSES     | values        | and it has classes 0 to 2
dataset   | NAN         | values        | 1 numbers are NaN or infinite, first in sample 7
schedule  | IMPURE      | purity        | it is to depend on progress alone, until observe
schedule  | NEGATIVE    | range         | it must be finite and >= 0
schedule  | DIVIDES     | range         | it must be finite and >= 0
schedule  | FORGETS     | resume        | the factor at step
schedule  | STATIC      | instances     | is there a variable that is static and not const?
TABLE
echo "$count plugins, $faults faults"
((count > 50 && faults == 0))
