# SPDX-License-Identifier: MIT
# Small files of data for the datasets that read some.

# little NUMBER BYTES: as an escaped little-endian number, for printf %b
little() {
    local number=$1 count=$2
    while ((count-- > 0)); do
        printf '\\x%02x' $((number & 255))
        number=$((number >> 8))
    done
}

make_csv() {
    echo 'length,width,kind'
    for i in $(seq 1 40); do echo "$i.5,$((i * 7 % 11)).25,$((i % 3))"; done
}

# make_idx SIDE COUNT: bytes, COUNT images of SIDE x SIDE; SIDE 0: as many labels
make_idx() {
    local side=$1 count=$2 i
    printf '%b' "\\x00\\x00\\x08\\x0$((side ? 3 : 1))\\x00\\x00\\x00\\x$(printf %02x "$count")"
    ((side == 0)) || printf '%b' "$(printf '\\x00\\x00\\x00\\x%02x' "$side" "$side")"
    for ((i = 0; i < count * (side ? side * side : 1); i++)); do
        printf '%b' "\\x$(printf %02x $((side ? i * 37 % 256 : i % 4)))"
    done
}

# make_npy SHAPE COUNT: COUNT bytes as |u1
make_npy() {
    local header="{'descr': '|u1', 'fortran_order': False, 'shape': ($1), }" i
    printf '\x93NUMPY\x01\x00%b%-117s\n' "$(little 118 2)" "$header"
    for ((i = 0; i < $2; i++)); do printf '%b' "\\x$(printf %02x $((i * 29 % 4)))"; done
}

# make_npz FILE NAME…: members NAME.npy of the current directory, stored
make_npz() {
    local file=$1 name crc size at=0 directory='' count=0
    shift
    : >"$file"
    for name in "$@"; do
        size=$(stat -c %s "$name.npy")
        crc=$(gzip -nc "$name.npy" | tail -c 8 | od -An -tu4 -N4 | tr -d ' ')
        local common
        common="$(little 0 2)$(little 0 2)$(little 0 2)$(little 33 2)$(little "$crc" 4)"
        common+="$(little "$size" 4)$(little "$size" 4)$(little $((${#name} + 4)) 2)$(little 0 2)"
        { printf 'PK\x03\x04%b' "$(little 20 2)$common"; printf '%s.npy' "$name"
            cat "$name.npy"; } >>"$file"
        directory+="PK\\x01\\x02$(little 20 2)$(little 20 2)$common"
        directory+="$(little 0 2)$(little 0 2)$(little 0 2)$(little 0 4)$(little $at 4)$name.npy"
        at=$(stat -c %s "$file")
        count=$((count + 1))
    done
    printf '%b' "$directory" >>"$file"
    printf 'PK\x05\x06%b' "$(little 0 4)$(little $count 2)$(little $count 2)$(
        little $(($(stat -c %s "$file") - at)) 4)$(little $at 4)$(little 0 2)" >>"$file"
}
