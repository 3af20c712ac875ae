#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: LATHE=PROGRAM tests/formats/make.bash N
# Makes what tests/formats/N holds beside its experiment.json: the run that ends at its
# own end, of which the records are kept, the same one cut after ten steps, of which
# everything is, and a bundle of a third. For a new format; what is there already stays what it was.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/$1" && pwd)
[[ ! -e $folder/run ]] || { echo "$folder/run is there: a format that was is kept" >&2; exit 73; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME=$scratch
cp "$folder/experiment.json" .
"$LATHE" run experiment.json --run-dir whole --quiet
"$LATHE" reproduce whole --steps 10 -o cut --quiet
cp whole/experiment.json cut/
# Whose machine it was is nobody's business.
sed -i "s|$scratch/||" cut/log.txt
sed -i 's/"Linux [^ ]* /"Linux 6.1 /' cut/environment.json cut/receipt.json
cp -a cut "$folder/run"
cp whole/metrics.jsonl "$folder/"

# A run with the binaries of tests/abi/kept, so that every lathe of this ABI can run it again.
abi=$folder/../../abi/kept
for kind in callback dataset model optimizer schedule; do
    mkdir -p "plugins/$kind"
    cp "$abi/$kind/plugin.json" "plugins/$kind/"
    cp "$abi/$kind/x86-64.so" "plugins/$kind/plugin.so"
done
"$LATHE" run "$abi/experiment.json" --plugin-path plugins --run-dir kept --quiet
sed -i 's/"Linux [^ ]* /"Linux 6.1 /' kept/environment.json kept/receipt.json
"$LATHE" pack kept --plugin-path plugins -o "$folder/bundle.lathe" \
    --sign "$folder/../../host/base/minisign/plain.key"
