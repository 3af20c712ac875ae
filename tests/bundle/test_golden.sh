# SPDX-License-Identifier: MIT
# A bundle of format 1 is read by every later lathe: the one that is kept, byte for byte.
source "$(dirname "$0")/bundle.bash"
id=281b9744299485b817b6307cab1ab43501fa7484752f7e53a1b4df41943973cd
files=563d0c1b35692f25625bb88eafa0b5a49f432dad5cfcdba4408393f9314efd12 # one after the other
golden=$SOURCE/tests/golden/bundle-1.lathe
printf 'a,b,y\n1,2,1\n' >large.csv
try 0 "$LATHE" inspect "$golden"
for text in 'golden, a bundle of format lathe.bundle/1' "$id" \
    'signature  by key ' 'model/m 1.0.0, MIT' 'data/large.csv' 'for data.test.file'; do
    has out "$text"
done
# Its files are what was packed; its plugin and its experiment are placeholders, and said to be.
try 65 "$LATHE" verify "$golden"
has out 'all as listed'
has err '"large.csv" is not in the bundle'
has err 'where: plugins/model/m/plugin.json'
try 65 "$LATHE" verify "$golden" --data .
has out 'all as listed'
lacks err 'large.csv'
try 0 "$LATHE" unpack "$golden" -o unpacked
# minisign can read it, and so can what is built with libsodium.
key=$SOURCE/tests/host/base/minisign/plain.pub
"$LATHE" verify "$golden" --data . --key "$key" >out 2>err
grep -qF 'by plain.pub (key 9242A6EB647F81BA, trusted)' out || has err 'libsodium'
sum=$(cd unpacked && LC_ALL=C find . -type f | LC_ALL=C sort | xargs cat | sha256sum)
tried=$sum
holds "the bytes that were packed" test "${sum%% *}" = "$files"
verdict
