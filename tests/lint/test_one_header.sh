# SPDX-License-Identifier: MIT
# Each third-party header is included by one file (host/README.md).
source "$(dirname "$0")/lint.bash"

# owner HEADER: the files, as a pattern, that may include it; nothing: anybody
owner() {
    case $1 in
    dlfcn.h) echo 'host/dylib*.c' ;;
    jansson*.h) echo 'host/json.c' ;;
    archive*.h) echo 'host/archive*' ;;
    sodium*.h) echo 'host/base/minisign_sodium.c' ;;
    nettle/*) echo 'host/base/digest.c' ;;
    *cblas*.h | *openblas*.h) echo 'plugins/kernels/*.c' ;;
    backtrace-lib.h) echo 'host/commands/backtrace.c' ;;
    cmocka.h) echo 'tests/support/*.h' ;;
    esac
}

grep -nHE '^ *# *include +<' $(c_files host sdk plugins) |
    sed -E 's/^([^:]+:[0-9]+):[^<]*<([^>]+)>.*/\1:\2/' |
    while IFS=: read -r file line header; do
        may=$(owner "$header")
        # shellcheck disable=SC2053
        [[ -z $may || $file == $may ]] ||
            complain "$file:$line" "<$header> belongs to $may alone"
    done
verdict
