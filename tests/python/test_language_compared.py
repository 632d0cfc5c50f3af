"""Comparisons of a converted number with a constant, which drivers like to move in front of the conversion; one did so wrongly."""

import operator

import numpy as np
import pytest
from typekit import FLOATS, INTS, TYPES, VECTORS, edge_values, launch

OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
# Between, at, and beyond the ends of the narrower types.
CONSTANTS = [-(2**40), -(2**31) - 1, -(2**31), -(2**31) + 1, -32769, -129, -128, -8, -1, 0, 1, 3, 127, 255, 256, 2047]
CONSTANTS += [32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**63]


def constants(name):
    """Those that the type holds exactly."""
    if name in INTS:
        return [c for c in CONSTANTS if np.iinfo(INTS[name]).min <= c <= np.iinfo(INTS[name]).max]
    with np.errstate(all="ignore"):
        return [c for c in CONSTANTS if int(np.nan_to_num(TYPES[name].type(c))) == c]


def widened():
    """The pairs of types, a value of the first of which keeps its value in the second."""
    pairs = [(a, b) for a in TYPES for b in TYPES if a != b and b != "bool" and np.can_cast(TYPES[a], TYPES[b])]
    return [(a, b) for a, b in pairs if b not in FLOATS or a not in ("i64", "u64")]


@pytest.mark.parametrize(("source", "wide"), widened())
def test_a_widened_value_with_a_constant(source, wide):
    """One bit of the result for each comparison, of either order."""
    values, numbers = edge_values(source), constants(wide)
    lines = []
    for n, c in enumerate(numbers):
        of = f"{float(c)!r}" if wide in FLOATS else f"{c}"
        tests = [f"x {op} {wide}({of})" for op in OPERATORS] + [f"{wide}({of}) {op} x" for op in OPERATORS]
        lines += ["bits = 0"] + [f"bits |= {1 << k} if {test} else 0" for k, test in enumerate(tests)]
        lines += [f"out[{n} * len(a) + i] = bits"]
    body = "".join(f"    {line}\n" for line in [f"x = {wide}(a[i])", *lines])
    text = f"def k(i: Index, a: Array[{source}], out: Array[i32]):\n{body}"
    got = launch({source, wide}, text, values, np.zeros(len(numbers) * len(values), np.int32), extent=len(values))
    for n, c in enumerate(numbers if got else []):
        for value, bits in zip(values.tolist(), got[1][n * len(values) :].tolist(), strict=False):
            for k, (op, function) in enumerate(OPERATORS.items()):
                assert (bits >> k & 1) == function(value, c), f"{wide}({value!r}) {op} {c}"
                assert (bits >> (k + 6) & 1) == function(c, value), f"{c} {op} {wide}({value!r})"


@pytest.mark.parametrize("wide", ["i64", "u64"])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_vectors_of_words_become_vectors_of_64_bits(wide, size):
    """A sign in front of each component; and the least and greatest of them with constants."""
    values = edge_values("i32")
    a = np.stack([np.roll(values, k) for k in range(size)], axis=1)
    text = f"""def k(i: Index, a: Array[ivec{size}], out: Array[{wide}], least: Array[i64], most: Array[i64]):
    x = {VECTORS[wide]}{size}(a[i])
    out[i] = x.x * 3 + x[{size - 1}]
    least[i] = min(i64(a[i].x), -5)
    most[i] = clamp(i64(a[i].y), 3, 90)
"""
    outputs = [np.zeros(len(a), t) for t in (TYPES[wide], np.int64, np.int64)]
    got = launch({wide, "i64"}, text, a, *outputs, extent=len(a))
    if got is None:
        return
    big = a.astype(np.int64)
    assert got[1].tolist() == (big[:, 0] * 3 + big[:, -1]).astype(TYPES[wide]).tolist()
    assert got[2].tolist() == np.minimum(big[:, 0], -5).tolist()
    assert got[3].tolist() == np.clip(big[:, 1], 3, 90).tolist()
