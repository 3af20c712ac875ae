# SPDX-License-Identifier: MIT
# Whose fault a loss that is not finite is: the data's, the weights', or the model's.
source "$SOURCE/tests/cli/cli.bash"

# hunt CODE INPUTS MODEL ARGUMENTS…: trains y = w x on inputs that take turns
hunt() {
    local code=$1 inputs=$2 model=$3
    shift 3
    cat >x.json <<END
{ "lathe": 1, "seed": 1,
  "data": { "train": { "use": "ids", "count": 12, "inputs": $inputs } },
  "model": { "use": "scalar", $model }, "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "until": "2ep", "batch": 12 }, "callbacks": [{ "use": "nan-hunter" }] }
END
    try "$code" "$LATHE" run x.json --plugin-path "$PROBES" --quiet "$@"
}

hunt 0 '[1]' '"start": 1'
is_empty err

# 1e39 is no float: two of the twelve samples have no finite input.
hunt 1 '[1, 2, 3, 4, 5, 1e39]' '"start": 1'
has err 'nan-hunter: the loss is inf in micro-batch 1 of the step after 0'
grep -qE '2 numbers of field [0-9] are not finite: the first is of the sample at position [0-9]+ of epoch 1' err ||
    complain 'the samples'
has err 'all weights are finite; the largest is 1, in w'
lacks err 'it comes about in the model'

# Micro-batches of one sample: which of the six it is in.
hunt 1 '[1, 2, 3, 4, 5, 1e39]' '"start": 1' train.batch=1 train.accumulate=12
position=$(sed -nE 's/.*at position ([0-9]+) of.*/\1/p' err)
has err "in micro-batch $((position + 1)) of"

hunt 1 '[1e30]' '"start": 1e39'
has err '1 of 1 weights of w are not finite'
lacks err 'numbers of field'

# Samples and, after a step of that size, weights are finite; their product is not.
hunt 1 '[1]' '"start": 1' 'data.train={"use":"blobs","samples":12,"spread":1e20}' \
    'model={"use":"mlp","hidden":[4]}'
has err 'of the step after 1'
grep -qE 'all weights are finite; the largest is [0-9.]+e\+1[0-9], in layers' err || complain 'the weights'
has err 'the samples are finite too: it comes about in the model'

# Told three times, whatever is skipped.
hunt 1 '[1e39]' '"start": 1' train.batch=1 train.nonfinite=skip train.until=20ep
holds 'three times' test "$(grep -c 'nan-hunter: the loss' err)" = 3

# The gradient alone: the host names whose.
hunt 1 '[1e15]' '"start": 1e10, "square": true'
has err 'the gradient norm is inf (w)'
verdict
