# SPDX-License-Identifier: MIT
# Every dataset that is shipped passes the conformance kit, on files where it reads some.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/check.bash"
source "$here/files.bash"
cd "$scratch" || exit 1
make_csv >data.csv
make_idx 5 30 >images.idx
make_idx 0 30 >labels.idx
make_npy '30, 4' 120 >input.npy
make_npy '30,' 30 >label.npy
make_npz both.npz input label
for plugin in "$BUILD"/plugins/dataset/*/; do
    plugin=${plugin%/}
    case $(basename "$plugin") in
    csv) check_plugin "$plugin" --with '{ "file": "data.csv", "label": "kind" }' ;;
    idx) check_plugin "$plugin" --with '{ "images": "images.idx", "labels": "labels.idx" }' ;;
    npy) check_plugin "$plugin" --with '{ "input": "input.npy", "label": "label.npy" }' ;;
    npz) check_plugin "$plugin" --with '{ "file": "both.npz" }' ;;
    subset)
        check_plugin "$plugin" \
            --with '{ "of": { "use": "check-data" }, "range": [3, 20], "every": 2 }'
        ;;
    *) check_plugin "$plugin" ;;
    esac
done
verdict
