# SPDX-License-Identifier: MIT
# Every callback that is shipped passes the conformance kit.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/check.bash"
for plugin in "$BUILD"/plugins/callback/*/; do
    case $(basename "$plugin") in
    grad-norm) check_plugin "${plugin%/}" --with '{ "address": "127.0.0.1:9" }' ;;
    *) check_plugin "${plugin%/}" ;;
    esac
done
verdict
