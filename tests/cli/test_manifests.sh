# SPDX-License-Identifier: MIT
# Every experiment of manifests/ is in order, and those that need no data of the system run
# to their end and meet what they expect.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
faults=0
for manifest in "$SOURCE"/manifests/*.json; do
    name=$(basename "$manifest" .json)
    if ! grep -q '"/usr/share/' "$manifest"; then
        "$LATHE" validate "$manifest" && "$LATHE" run "$manifest" --quiet --run-dir "$name"
    elif [[ -e /usr/share/datasets/fashion-mnist ]]; then
        "$LATHE" validate "$manifest"
    fi
    code=$?
    [[ $code == 0 ]] || { echo "$name: exit status $code" >&2; faults=$((faults + 1)); }
done

# manifests/README.md has every key of both formats.
for key in $(grep -ohE '"[a-z_$]+": *\{' "$SOURCE"/manifests/schema/*.json |
    grep -vE '"(properties|items)"' | tr -d '": {'); do
    grep -qF "\`$key\`" "$SOURCE/manifests/README.md" ||
        { echo "manifests/README.md does not have $key" >&2; faults=$((faults + 1)); }
done
exit $((faults > 0))
