# SPDX-License-Identifier: MIT
# The golden files are what their scripts make; skipped where Debian's python3-torch is
# not installed.
# labels: slow
cd "$SOURCE/tests/golden" || exit 1
export PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 -c 'import numpy, torch' 2>/dev/null || {
    echo "skipped: no python3-torch" >&2
    exit 77
}
for script in kernels optimizers schedules mlp; do
    /usr/bin/python3 $script.py --check || exit 1
done
