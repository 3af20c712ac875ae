# SPDX-License-Identifier: MIT
# How the plugins of kept/ are built, for tests and for ./dev abi-release.
abi=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kinds='callback dataset model optimizer schedule'

# build_kept HEADERS KIND LIBRARY [COMPILER [FLAG…]]: HEADERS holds the folder lathe/
build_kept() {
    local headers=$1 kind=$2 library=$3 compiler=${4:-${CC:-cc}}
    shift $(($# < 4 ? $# : 4))
    "$compiler" -std=c11 -O2 -ffp-contract=off -shared -fPIC -fvisibility=hidden \
        -I "$headers" "$@" "$abi/kept/$kind/plugin.c" -o "$library" \
        -Wl,-Bsymbolic -Wl,-z,now -Wl,--build-id=none -Wl,-z,max-page-size=4096 -lm
}

# release: makes the headers of kept/ those of today, and its binaries from them; two are
# for machines that are not ours, to be refused
release() {
    local kind other
    rm -rf "$abi/kept/lathe"
    mkdir "$abi/kept/lathe"
    cp "$abi"/../../sdk/include/lathe/*.h "$abi/kept/lathe/"
    for kind in $kinds; do
        build_kept "$abi/kept" "$kind" "$abi/kept/$kind/x86-64.so" x86_64-linux-gnu-gcc -s
    done
    build_kept "$abi/kept" schedule "$abi/kept/schedule/aarch64.so" \
        aarch64-linux-gnu-gcc -s
    # The headers refuse 32 bits.
    echo 'const int lathe_plugin_v1[6] = {20, 4};' | i686-linux-gnu-gcc -shared -fPIC -s \
        -Wl,--build-id=none -x c - -o "$abi/kept/schedule/i686.so"
}
