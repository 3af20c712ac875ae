# SPDX-License-Identifier: MIT
# What the tests of the documents share: they do what a reader would, in a folder that is
# removed afterwards.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# A reader's PATH: lathe is the program under test, cc the compiler.
mkdir bin
ln -s "$LATHE" bin/lathe
ln -s "$(command -v "$CC")" bin/cc
export PATH=$work/bin:$PATH

# The headers, as the documents call them.
export SDK=$SOURCE/sdk/include

# block FILE LANGUAGE N: the N-th fenced block of that language
block() {
    awk -v fence="^ *\`\`\`$2\$" -v wanted="$3" '
        /^ *```$/ { on = 0 }
        on && n == wanted
        $0 ~ fence { on = 1; n++ }' "$SOURCE/$1"
}

# For tests that compile what a document shows, with the command that it shows.
needs_plain_build() {
    [[ -z $SANITIZE ]] || { echo "skipped: what is built by hand has no sanitizers"; exit 77; }
}
