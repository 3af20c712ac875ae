# SPDX-License-Identifier: MIT
# labels: slow
# A file of 1 GiB: verified in at most 64 MiB of memory at 70 % of the speed of sha256sum,
# packed at 80 % of that of sha256sum and zstd one after the other.
source "$(dirname "$0")/bundle.bash"
for program in zstd sha256sum openssl /usr/bin/time; do
    command -v "$program" >/dev/null || { echo "skipped: no $program" >&2; exit 77; }
done
[[ -z ${SANITIZE:-} ]] || { echo "skipped: a sanitizer measures itself" >&2; exit 77; }
room=$(df --output=avail -B1 . | tail -1)
((room > 5 * 1024 ** 3)) || { echo "skipped: no room for it" >&2; exit 77; }

# Digits compress by half, as numbers in a table do.
points here
openssl enc -aes-128-ctr -pass pass:lathe -nosalt -md sha256 </dev/zero 2>/dev/null |
    od -An -v -td2 | head -c $((1 << 30)) >here/data/train.csv
large() { "$LATHE" pack here/points.json --with-data all -o x.lathe; }
both() { sha256sum here/data/train.csv && zstd -q -3 -T1 -c here/data/train.csv; }

# spent COMMAND…: seconds of the processor, the least of three
spent() {
    local best='' now
    for _ in 1 2 3; do
        now=$( { TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>err; } 2>&1 | awk '{ print $1 + $2 }')
        best=$(awk -v a="${best:-$now}" -v b="$now" 'BEGIN { print a < b ? a : b }')
    done
    echo "$best"
}
# within WHAT OURS THEIRS SHARE: at least that share of their speed
within() {
    echo "$1: $2 s, the others $3 s"
    tried=$1
    holds "$4 of their speed" awk -v a="$2" -v b="$3" -v s="$4" 'BEGIN { exit !(b >= s * a) }'
}
try 0 large
within pack "$(spent large)" "$(spent both)" 0.8
within verify "$(spent "$LATHE" verify x.lathe)" "$(spent sha256sum here/data/train.csv)" 0.7
/usr/bin/time -f %M -o memory "$LATHE" verify x.lathe >out 2>err
tried="verify, $(<memory) KiB"
holds 'at most 64 MiB' test "$(<memory)" -le 65536
verdict
