# SPDX-License-Identifier: MIT
# Every schedule that is shipped passes the conformance kit.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/check.bash"
for plugin in "$BUILD"/plugins/schedule/*/; do check_plugin "${plugin%/}"; done
verdict
