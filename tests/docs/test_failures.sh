# SPDX-License-Identifier: MIT
# A callback that fails leaves what sdk/README.md says, at every point; where it says that the
# last whole step is saved, the run goes on from there to the bits of one that never failed.
source "$(dirname "$0")/docs.bash"
faults=0
complain() { echo "$*"; faults=1; }
export LATHE_PLUGIN_PATH=$PROBES

# Three epochs of three steps; it acts from step 4 on.
cat >experiment.json <<'END'
{ "lathe": 1, "seed": 1, "name": "failing",
  "data": { "train": { "use": "blobs", "samples": 24 },
            "validation": { "use": "blobs", "samples": 8 } },
  "model": { "use": "mlp", "hidden": [] }, "optimizer": { "use": "adamw", "lr": 0.1 },
  "train": { "until": "3ep", "batch": 8 }, "callbacks": [ { "use": "chaos", "at": 4 } ] }
END
chaos() { echo "callbacks=[{\"use\":\"chaos\",\"at\":4,\"point\":\"$1\",\"act\":\"$2\"}]"; }
lathe run experiment.json "$(chaos step_end none)" --run-dir whole --quiet

# row N: the points in the N-th row of the table
row() {
    sed -n '/^### What a failure leaves/,/^In the points/p' "$SOURCE/sdk/README.md" |
        grep '^| `' | sed -n "$1p" | cut -d '|' -f 2
}
[[ $(row 1) == *'`step_begin` … `gradients_ready`'* && $(row 2) == *'`validation_…`'* ]] ||
    complain "the table begins otherwise"
[[ $(row 3) == *'`run_end`'* ]] || complain "run_end is not in the third row"

# fails POINT: the run fails there; prints the step of what was saved
fails() {
    rm -rf run
    lathe run experiment.json "$(chaos "$1" fail)" --run-dir run --quiet 2>told &&
        complain "$1: it did not fail"
    grep -q "chaos.* in $1\|chaos.*$1" told || complain "$1: $(<told)"
    basename "$(readlink -f run/checkpoints/last.safetensors)" 2>/dev/null |
        sed -nE 's/step-0*([0-9]+)\.safetensors/\1/p'
}

# goes_on POINT: from what was saved, to the same end
goes_on() {
    lathe resume run "$(chaos step_end none)" --quiet || complain "$1: it does not go on"
    cmp whole/metrics.jsonl run/metrics.jsonl || complain "$1: it ends otherwise"
}
for point in step_begin batch_begin loss_ready batch_end gradients_ready; do
    step=$(fails $point)
    [[ $step == 4 ]] || complain "$point: saved is step \"$step\""
    goes_on $point
done
for point in validation_begin validation_batch_end validation_end; do
    step=$(fails $point)
    [[ $step == 6 ]] || complain "$point: saved is step \"$step\""
    goes_on $point
done
step=$(fails run_end)
[[ $step == 9 ]] || complain "run_end: saved is step \"$step\""
for point in step_end epoch_end epoch_begin; do
    [[ $(row 4) == *"\`$point\`"* ]] || complain "$point is not in the last row"
    step=$(fails $point)
    [[ -z $step ]] || complain "$point: saved is step \"$step\""
    goes_on $point # from step 0
done

# LATHE_STOP there: the step is whole and saved.
rm -rf run
lathe run experiment.json "$(chaos step_end stop)" --run-dir run --quiet ||
    complain "stopped is no failure"
[[ $(readlink run/checkpoints/last.safetensors) == step-00000004.safetensors ]] ||
    complain "stopped: saved is $(readlink run/checkpoints/last.safetensors)"
goes_on stop
((faults == 0))
