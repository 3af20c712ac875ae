# SPDX-License-Identifier: MIT
"""What the golden scripts share: the tests' own random arrays, and the files.

The tests fill their arrays by Philox (sdk/include/lathe/random.h, arrays.h); here it is
again, in Python, so that a golden file holds answers only. References are computed in
float64 from inputs that are float32 exactly.

    /usr/bin/python3 tests/golden/kernels.py            writes the files beside it
    /usr/bin/python3 tests/golden/kernels.py --check    compares with what is there
"""
import json
import math
import os
import sys

import numpy

FOLDER = os.path.dirname(os.path.abspath(__file__))
WORD = 0xFFFFFFFF


def philox(key, counter):
    """Philox 4x32-10 of four words under two."""
    (a, b), (c0, c1, c2, c3) = key, counter
    for _ in range(10):
        p, q = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (q >> 32) ^ c1 ^ a, q & WORD, (p >> 32) ^ c3 ^ b, p & WORD
        a, b = (a + 0x9E3779B9) & WORD, (b + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


def fill(shape, span, seed):
    """array_fill of tests/support/arrays.h: uniform in [-span, span), span 2^n."""
    count = math.prod(shape)
    words = [word for i in range((count + 3) // 4)
             for word in philox((seed, 0), (i, 0, 0, 0))]
    units = numpy.array([w >> 8 for w in words[:count]], dtype=numpy.float64) / 2.0**24
    values = span * (2 * units - 1)
    assert (values == values.astype(numpy.float32)).all()
    return values.reshape(shape)


def numbers(array, digits=9):
    """A list for a golden file."""
    return [float(f"{float(x):.{digits}g}") for x in numpy.asarray(array).ravel()]


def differs(a, b, where=""):
    """Where two golden trees differ by more than rounding; "" if nowhere."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        pairs = [(a[key], b[key], f"{where}.{key}") for key in a]
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b))]
    elif isinstance(a, float) and isinstance(b, float):
        return "" if abs(a - b) <= 1e-7 * max(1, abs(a)) else where
    else:
        return "" if a == b else where
    return next(filter(None, (differs(*pair) for pair in pairs)), "")


def layout(value, indent=0):
    """JSON, with lists of numbers wrapped to the width of a page."""
    pad = " " * (indent + 1)
    if isinstance(value, dict) and value:
        items = [f"{pad}{json.dumps(k)}: {layout(v, indent + 1)}"
                 for k, v in value.items()]
        return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        items = [pad + layout(v, indent + 1) for v in value]
        return "[\n" + ",\n".join(items) + "\n" + " " * indent + "]"
    if isinstance(value, list) and len(value) > 6:
        lines, line = [], ""
        for text in map(json.dumps, value):
            if line and len(pad) + len(line) + len(text) > 86:
                lines.append(pad + line.rstrip())
                line = ""
            line += text + ", "
        return "[\n" + "\n".join(lines + [pad + line[:-2]]) + "]"
    return json.dumps(value)


def save(name, tree):
    """Writes or, with --check, compares one file."""
    path = os.path.join(FOLDER, name)
    if "--check" not in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            file.write(layout(tree) + "\n")
        return
    with open(path, encoding="utf-8") as file:
        where = differs(json.load(file), json.loads(json.dumps(tree)))
    if where:
        sys.exit(f"{name}: {where} is not what the script makes")
