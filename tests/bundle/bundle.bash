# SPDX-License-Identifier: MIT
# What the tests of bundles share, on top of those of the command line.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/cli.bash"
export HOME=$scratch/home
mkdir "$HOME"

# preload: tests/bundle/preload.c as ./preload.so; a sanitizer wants to be first itself
preload() {
    [[ -z ${SANITIZE:-} ]] || { echo "skipped: nothing is loaded before a sanitizer" >&2; exit 77; }
    "$CC" -D_GNU_SOURCE -O1 -shared -fPIC -o preload.so "$SOURCE/tests/bundle/preload.c" -ldl
}

# points FOLDER: made-up points and an experiment on them, by relative paths
points() {
    mkdir -p "$1/data"
    awk 'BEGIN { srand(1); print "a,b,y"
        for (i = 0; i < 320; i++) printf "%.4f,%.4f,%d\n", rand() + i % 2, rand() - i % 2, i % 2
    }' >"$1/data/train.csv"
    awk 'BEGIN { srand(2); print "a,b,y"
        for (i = 0; i < 60; i++) printf "%.4f,%.4f,%d\n", rand() + i % 2, rand() - i % 2, i % 2
    }' >"$1/data/held out.csv"
    cat >"$1/points.json" <<'END'
{ "lathe": 1, "name": "points", "seed": 3,
  "data": { "train": { "use": "csv", "file": "data/train.csv", "label": "y" },
            "validation": { "use": "csv", "file": "data/held out.csv", "label": "y" } },
  "model": { "use": "mlp", "hidden": [8] },
  "optimizer": { "use": "adamw", "lr": 0.01 },
  "train": { "until": "3ep", "batch": 32 },
  "callbacks": [ { "use": "checkpoint", "every": "1ep" } ] }
END
}

# weights RUN: a sum of all tensors of its last checkpoint; the notes have paths
weights() {
    local file=$1/checkpoints/last.safetensors header
    header=$(od -An -N8 -tu8 "$file")
    tail -c +$((header + 9)) "$file" | sha256sum
}
store=$HOME/.local/share/lathe/bundles
# stored: how many whole bundles the store has; nothing else may have that name
stored() { find "$store" -mindepth 1 -maxdepth 1 -name 'sha256-*' 2>/dev/null | wc -l; }
