# SPDX-License-Identifier: MIT
# Every model that is shipped passes the conformance kit.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/check.bash"
for plugin in "$BUILD"/plugins/model/*/; do check_plugin "${plugin%/}"; done
for activation in relu gelu tanh; do
    check_plugin "$BUILD/plugins/model/mlp" \
        --with '{ "hidden": [64, 32], "activation": "'"$activation"'" }'
done
verdict
