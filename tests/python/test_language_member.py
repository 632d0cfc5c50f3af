"""`x in (1, 2)` and `x not in ...`, against CPython."""

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, f32, i32, u8, u32

PRIMES = (2, 3, 5, 7)
PAIRS = ((1, 2), (4, 9))


def counted(x, log, i):
    log[i] = log[i] * 10 + x
    return x


def kind_of(x):
    return 1 if x in PRIMES else 2 if x in (0, 4, 6) else 3 if x not in [1, 8] else 4


@kp.kernel
def members(i: Index, x: Array[i32], y: Array[i32], log: Array[i32], out: Array[i32]):
    out[i] = kind_of(x[i]) + 10 * int(x[i] in (y[i], 2 * y[i] + 1, 3))
    if not x[i] in (1, 2) and x[i] + 1 not in PAIRS[1]:  # noqa: E713
        out[i] += 100
    if i > 0 and x[i - 1] in (y[i], y[i - 1]):
        out[i] += 1000
    if counted(x[i], log, i) in (counted(1, log, i), counted(2, log, i)) or 5 in (x[i], y[i]):
        out[i] += 10000
    while out[i] not in (0, 1, 2, 3):
        out[i] //= 2


def plain(i, x, y, log, out):
    members.function(i, x, y, log, out)


@pytest.mark.parametrize("how", ["plain", "checked", "emulated"])
def test_integers(how):
    x = np.arange(-1, 11, dtype=np.int32)
    y = np.array([3, 1, 0, 2, 5, 5, 1, 7, 2, 9, 9, 4], np.int32)
    run = {"plain": members, "checked": kp.kernel(members.function, checked=True), "emulated": members.emulate}[how]
    log, out = np.zeros(12, np.int32), np.zeros(12, np.int32)
    run(x, y, log, out)
    wanted_log, wanted = [0] * 12, [0] * 12
    for i in range(12):
        plain(i, x.tolist(), y.tolist(), wanted_log, wanted)
    assert out.tolist() == wanted
    assert log.tolist() == wanted_log


@kp.kernel
def other_types(i: Index, f: Array[f32], u: Array[u32], narrow: Array[i32], out: Array[i32]):
    n = u8(narrow[i])
    out[i] = int(f[i] in (0, 1.5, f[i] * 2.0)) + 2 * int(u[i] in (0xFFFFFFFF, 1, n))
    out[i] += (
        4 * int(n in (narrow[i], 7)) + 8 * int(2 in (1, 2)) + 16 * int(3 not in [1.0, 3.0]) + 32 * int(f[i] in (f[i],))
    )


def test_floats_and_types_that_widen():
    f = np.array([0.0, -0.0, 1.5, np.inf, 3.0, np.nan], np.float32)
    u = np.array([2**32 - 1, 1, 2, 7, 300 % 256, 5], np.uint32)
    narrow = np.array([1, 2, 2, 300, 300, 7], np.int32)
    out = np.zeros(6, np.int32)
    try:
        other_types(f, u, narrow, out)
    except kp.UnsupportedError as error:
        assert "shaderInt8" in str(error)
        return
    wanted = []
    for a, b, c in zip(f.tolist(), u.tolist(), narrow.tolist(), strict=True):
        n = c % 256
        value = int(a in (0, 1.5, a * 2.0)) + 2 * int(b in (0xFFFFFFFF, 1, n)) + 4 * int(n in (c, 7)) + 8
        wanted.append(value + 32 * int(a == a))  # a NaN is not looked for by its identity
    assert out.tolist() == wanted


def test_bools():
    k = kp.kernel_from_source(
        "def k(i: Index, a: Array[i32], out: Array[i32]):\n    out[i] = int((a[i] > 0) in (True, a[i] == -1))\n"
    )
    out = np.zeros(4, np.int32)
    k(np.array([5, 0, -1, -2], np.int32), out)
    assert out.tolist() == [int((a > 0) in (True, a == -1)) for a in (5, 0, -1, -2)]
