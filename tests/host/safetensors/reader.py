#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A reader of the format that shares nothing with ours: prints the notes and, for each
tensor in the order of its bytes, name, type, shape and the SHA-256 of its bytes; checks
the file's own digest."""
import hashlib
import json
import sys

BITS = {"F64": 64, "F32": 32, "F16": 16, "BF16": 16, "I64": 64, "I32": 32, "I16": 16,
        "I8": 8, "U64": 64, "U32": 32, "U16": 16, "U8": 8, "BOOL": 8, "C64": 64}


def unique(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), "a key is given twice"
    return dict(pairs)


def main(path):
    whole = open(path, "rb").read()
    length = int.from_bytes(whole[:8], "little")
    assert length <= 100_000_000 and 8 + length <= len(whole), "the header's length"
    assert whole[8:9] == b"{" and (8 + length) % 64 == 0
    header = json.loads(whole[8:8 + length].decode("utf-8"), object_pairs_hook=unique)
    data = whole[8 + length:]
    notes = header.pop("__metadata__", {})
    end = 0
    for key, value in sorted(notes.items()):
        assert isinstance(value, str)
        print("note", json.dumps(key), json.dumps(value))
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, after = entry["data_offsets"]
        bits = BITS[entry["dtype"]]
        for size in entry["shape"]:
            bits *= size
        assert begin == end and (after - begin) * 8 == bits, name
        end = after
        print(json.dumps(name), entry["dtype"], entry["shape"],
              hashlib.sha256(data[begin:after]).hexdigest())
    assert end == len(data), "bytes without a tensor"
    digest = notes["lathe.sha256"].encode()
    at = whole.index(b'"lathe.sha256":"' + digest) + len('"lathe.sha256":"')
    blank = whole[:at] + b"0" * 64 + whole[at + 64:]
    assert hashlib.sha256(blank).hexdigest().encode() == digest, "the digest"


main(sys.argv[1])
