# SPDX-License-Identifier: MIT
# labels: no-tsan
# Every callback that is shipped passes the conformance kit. The thread sanitizer starts a
# thread of its own when a run has its first, which the kit takes for the callback's.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/check.bash"
for plugin in "$BUILD"/plugins/callback/*/; do
    case $(basename "$plugin") in
    grad-norm) check_plugin "${plugin%/}" --with '{ "address": "127.0.0.1:9" }' ;;
    *) check_plugin "${plugin%/}" ;;
    esac
done
verdict
