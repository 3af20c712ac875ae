# SPDX-License-Identifier: MIT
# build_fixture FAULT DIRECTORY: makes the broken plugin FAULT in DIRECTORY, which is absent.
# What is in the fault's folder is what is wrong with it; the rest is that of a sound plugin:
#   plugin.json  else one of a callback that has the fault's name
#   plugin.c     else callback.c
#   build.sh     else: compile "$source" "$out/plugin.so"
# A build.sh is sourced with $source, $out, $fault and these functions.
broken=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# compile SOURCE LIBRARY [FLAG…]
compile() {
    local source=$1 library=$2
    shift 2
    "${CC:-cc}" -std=c11 -fPIC -shared -fvisibility=hidden -I"$broken/../../sdk/include" \
        -o "$library" "$source" "$@"
}

# patch FILE OFFSET OCTAL…: other bytes in its place
patch() {
    local file=$1 offset=$2 bytes
    shift 2
    printf -v bytes '\\%s' "$@"
    # shellcheck disable=SC2059
    printf "$bytes" | dd of="$file" bs=1 seek="$offset" conv=notrunc status=none
}

build_fixture() (
    set -e
    umask 022
    fault=$1 out=$2 here=$broken/$1
    source=$broken/callback.c
    mkdir -p "$out"
    [[ ! -e $here/plugin.c ]] || source=$here/plugin.c
    if [[ -e $here/plugin.json ]]; then
        cp "$here/plugin.json" "$out/plugin.json"
    else
        printf '{ "lathe": 1, "kind": "callback", "name": "%s", "version": "1.0.0",
  "library": "plugin.so" }\n' "$fault" >"$out/plugin.json"
    fi
    chmod 644 "$out/plugin.json"
    if [[ -e $here/build.sh ]]; then
        source "$here/build.sh"
    else
        compile "$source" "$out/plugin.so"
    fi
)
