"""Checked kernels and indices on several axes: views, shared memory and tuples of tuples are looked at axis by axis."""

import kp
import numpy as np
import pytest
from typekit import device

VIEW = "def k(i: Index, a: Array[f32, 2], j: i32, k: i32):\n    a[j, k] = 1.0\n"
CUBE = "def k(i: Index, a: Array[f32, 3], x: Array[i32], j: i32, k: i32):\n    x[0] = i32(a[1, j, k])\n"
LEAST, MOST = -(2**31), 2**31 - 1


def fault(text, *arguments, extent=1):
    """What a checked kernel says about its first fault, less what all messages have."""
    with pytest.raises((IndexError, ZeroDivisionError)) as error:
        kp.kernel_from_source(text, name="k", checked=True, file="k.py")(*arguments, extent=extent)
    place, _, words = str(error.value).removeprefix("k.py:").partition(": ")
    return place, words.removesuffix(" of kernel 'k'")


@pytest.mark.parametrize(
    ("j", "k", "column", "index", "size"),
    [
        (0, 5, 10, 5, 5),  # the next row, if all axes together were looked at
        (1, -1, 10, -1, 5),
        (3, -10, 7, 3, 3),
        (3, 0, 7, 3, 3),
        (-1, 7, 7, -1, 3),
        (LEAST, 0, 7, LEAST, 3),
        (MOST, MOST, 7, MOST, 3),
        (0, LEAST, 10, LEAST, 5),
        (0, MOST, 10, MOST, 5),
    ],
)
def test_an_index_beyond_its_axis(j, k, column, index, size):
    a = np.zeros((3, 5), np.float32)
    place, words = fault(VIEW, a, j, k)
    assert (place, words) == (
        f"2:{column}",
        f"index {index} of 'a' is out of range for size {size}, in invocation (0, 0, 0)",
    )
    assert not a.any()


def test_every_index_of_a_view_is_in_range_or_a_fault():
    kernel = kp.kernel_from_source(VIEW, checked=True)
    for j in range(-2, 5):
        for k in range(-2, 7):
            a = np.zeros((3, 5), np.float32)
            if 0 <= j < 3 and 0 <= k < 5:
                kernel(a, j, k, extent=1)
                assert np.argwhere(a).tolist() == [[j, k]]
            else:
                with pytest.raises(IndexError):
                    kernel(a, j, k, extent=1)


def test_three_axes_and_constants_from_the_end():
    a, x = np.zeros((2, 3, 4), np.float32), np.zeros(1, np.int32)
    assert fault(CUBE, a, x, 3, 0) == ("2:21", "index 3 of 'a' is out of range for size 3, in invocation (0, 0, 0)")
    assert fault(CUBE, a, x, 2, 4) == ("2:24", "index 4 of 'a' is out of range for size 4, in invocation (0, 0, 0)")
    assert fault(CUBE, a[:1], x, 0, 0) == ("2:18", "index 1 of 'a' is out of range for size 1, in invocation (0, 0, 0)")
    text = "def k(i: Index, a: Array[vec3, 2]):\n    a[-2, -3].y = 7.0\n"
    a = np.zeros((2, 3, 3), np.float32)
    kp.kernel_from_source(text, checked=True)(a, extent=1)
    assert np.argwhere(a).tolist() == [[0, 0, 1]]
    assert fault(text, a[:1])[1] == "index -2 of 'a' is out of range for size 1, in invocation (0, 0, 0)"
    assert fault(text, np.zeros((2, 2, 3), np.float32))[1].startswith("index -3 of 'a' is out of range for size 2")


def test_an_index_of_64_bits_keeps_all_of_them():
    text = "def k(i: Index, a: Array[f32, 2], j: i64):\n    a[0, j] = 1.0\n"
    if "SwiftShader" in device():
        with pytest.raises(kp.UnsupportedError, match="lacks shaderInt64"):
            kp.kernel_from_source(text, checked=True)(np.zeros((3, 5), np.float32), 1, extent=1)
        return
    for j in (2**32, -(2**32), 2**62, 5):
        assert fault(text, np.zeros((3, 5), np.float32), j)[1].startswith(
            f"index {j} of 'a' is out of range for size 5"
        )


def test_the_fault_is_that_of_the_invocation():
    """Of many, in a launch on two axes, and in a helper that gets the view."""
    text = """def put(a, j, k):
    a[j, k] = a[j, k] + 1

def k(i: Index2, a: Array[i32, 2]):
    put(a, i.y, i.x * 2)
"""
    a = np.zeros((4, 8), np.int32)
    assert fault(text, a, extent=(8, 4)) == (
        "2:20",
        "index 8 of 'a' is out of range for size 8, in invocation (4, 0, 0)",
    )
    kp.kernel_from_source(text, name="k", checked=True)(a, extent=(4, 4))
    assert a.tolist() == [[1, 0] * 4] * 4


SHARED = """
@kernel(local_size=4)
def k(i: Index, l: LocalIndex, j: i32, c: i32, out: Array[i32]):
    tile = shared(i32, (3, 5))
    for n in range(3):
        for m in range(5):
            tile[n, m] = 0
    barrier()
    if l == 1:
        {statement}
    barrier()
    if l == 0:
        for n in range(3):
            for m in range(5):
                out[n * 5 + m] = tile[n, m]
"""


@pytest.mark.parametrize("statement", ["tile[j, c] = 9", "tile[j, c] += 9"])
@pytest.mark.parametrize(("j", "c", "index", "size"), [(0, 5, 5, 5), (3, 1, 3, 3), (1, -1, -1, 5), (-1, 6, -1, 3)])
def test_shared_memory_with_two_axes(mgr, statement, j, c, index, size):
    """The invocation goes on, to the barrier, and has written nothing."""
    text = SHARED.format(statement=statement)
    kernel = kp.kernel_from_source(text, checked=True)
    out = mgr.tensor_t(np.full(15, 7, np.int32))
    algorithm = kernel.algorithm(mgr, [out], j=j, c=c, extent=4)
    sequence = mgr.sequence().record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([out]))
    with pytest.raises(
        IndexError, match=rf"index {index} of 'tile' is out of range for size {size}, in invocation \(1, 0, 0\)"
    ):
        sequence.eval()
    assert out.data().tolist() == [0] * 15


@pytest.mark.parametrize("place", ["tile, j", "x, j"])
@pytest.mark.parametrize("type_", ["i32", "f32"])
def test_an_atomic_out_of_range_before_a_barrier_does_nothing(mgr, place, type_):
    text = f"""
@kernel(local_size=4)
def k(i: Index, l: LocalIndex, j: i32, x: Array[{type_}], out: Array[{type_}]):
    tile = shared({type_}, 4)
    tile[l] = {type_}(l)
    barrier()
    atomic_add({place}, 50)
    barrier()
    out[l] = tile[l]
"""
    dtype = np.int32 if type_ == "i32" else np.float32
    for j in (4, -1, MOST, LEAST):
        x, out = mgr.tensor_t(np.zeros(4, dtype)), mgr.tensor_t(np.zeros(4, dtype))
        algorithm = kp.kernel_from_source(text, checked=True).algorithm(mgr, [x, out], j=j, extent=4)
        sequence = mgr.sequence().record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(algorithm))
        with pytest.raises(IndexError, match=f"index {j} of '{place[0:-3]}' is out of range for size 4"):
            sequence.record(kp.OpSyncLocal([x, out])).eval()
        assert x.data().tolist() == [0] * 4
        assert out.data().tolist() == [0, 1, 2, 3]


ROWS = ((1, 2, 3), (4, 5, 6))
PICK = f"""T = {ROWS}
def k(i: Index, j: i32, c: Array[i32], x: Array[i32]):
    x[i] = T[j][c[i]] + 10 * T[j][-1 - c[i]]
"""


@pytest.mark.parametrize("checked", [True, False])
def test_tuples_of_tuples(checked):
    """Each index stays in its own tuple; a negative one counts from its end."""
    kernel, c = kp.kernel_from_source(PICK, checked=checked), np.array([0, 1, 2, -1, -2, -3], np.int32)
    for j in (0, 1, -1, -2):
        x = np.zeros(6, np.int32)
        kernel(j, c, x)
        assert x.tolist() == [ROWS[j][n] + 10 * ROWS[j][-1 - n] for n in c]


def test_an_index_beyond_its_tuple():
    c, x = np.array([0, 1, 3], np.int32), np.zeros(3, np.int32)
    assert fault(PICK, 0, c, x, extent=3) == (
        "3:17",
        "index 3 of 'T[j]' is out of range for size 3, in invocation (2, 0, 0)",
    )
    assert fault(PICK, 2, c, x, extent=3) == (
        "3:14",
        "index 2 of 'T' is out of range for size 2, in invocation (0, 0, 0)",
    )
    assert fault(PICK, LEAST, c, x)[1].startswith(f"index {LEAST} of 'T' is out of range for size 2")
    text = PICK.replace(" + 10 * T[j][-1 - c[i]]", "")
    kp.kernel_from_source(text)(0, np.array([3, -4, MOST], np.int32), x)
    assert x.tolist() == [3, 3, 3]  # the last of its own tuple, as of a local array


def test_what_the_language_has_an_answer_for_is_no_fault():
    """Numbers that wrap, shifts by more than the width, floats beyond an integer: the same, checked or not."""
    text = """def k(i: Index, a: Array[i32], s: Array[i32], x: Array[f32], out: Array[i32]):
    n = a[i]
    out[i * 6 + 0] = n // -1 + n // s[0]
    out[i * 6 + 1] = n % -1 + n % s[0]
    out[i * 6 + 2] = n << s[i]
    out[i * 6 + 3] = n >> s[i]
    out[i * 6 + 4] = i32(x[i])
    out[i * 6 + 5] = abs(n) * n
"""
    a, s = np.array([LEAST, MOST, -7, 7, -1], np.int32), np.array([2, 31, 32, 1000, MOST], np.int32)
    x = np.array([3e9, -3e9, 3.4e38, 2**31, -1.5], np.float32)
    results = []
    for checked in (False, True):
        out = np.zeros(30, np.int32)
        kp.kernel_from_source(text, checked=checked)(a, s, x, out, extent=5)
        results.append(out.reshape(5, 6).tolist())
    assert results[0] == results[1]
    assert [row[0] for row in results[1][2:]] == [7 - 4, -7 + 3, 1 - 1] and results[1][0][
        0
    ] == LEAST + LEAST // 2 + 2**32
    assert [row[2] for row in results[1]] == [0, LEAST, 0, 0, 0]  # MOST << 31 keeps its last bit
    assert [row[3] for row in results[1]] == [LEAST >> 2, 0, -1, 0, -1]
    assert [row[4] for row in results[1]] == [MOST, LEAST, MOST, MOST, -1]


@pytest.mark.parametrize("kind", ["i32", "u32"])
def test_a_divisor_of_zero_is_a_fault_in_every_form(kind):
    n = np.array([5], np.int32 if kind == "i32" else np.uint32)
    for body in ("n[0] //= z", "n[0] %= z", "q, r = divmod(n[0], z)\n    n[0] = q + r", "n[0] = 7 // (n[0] * z)"):
        text = f"def k(i: Index, z: {kind}, n: Array[{kind}]):\n    {body}\n"
        assert fault(text, 0, n)[1] == "integer division or modulo by zero, in invocation (0, 0, 0)", body
    vector = "def k(i: Index, z: ivec3, n: Array[ivec3]):\n    n[0] = n[0] // z\n"
    assert fault(vector, (1, 0, 2), np.ones((1, 3), np.int32))[1].startswith("integer division or modulo by zero")


WHOLE = [
    (np.nan, ValueError, "cannot convert float NaN to integer"),
    (np.inf, OverflowError, "cannot convert float infinity to integer"),
    (-np.inf, OverflowError, "cannot convert float infinity to integer"),
]


def both(text, error, message, place, *args, extent=3):
    """A checked kernel on the device and the same in CPython fail with Python's words, the device with its place as well."""
    kernel = kp.kernel_from_source(text, checked=True, file="k.py")
    copies = [a.copy() for a in args]
    with pytest.raises(error) as raised:
        kernel(*args, extent=extent)
    assert str(raised.value) == f"k.py:{place}: {message}, in invocation (1, 0, 0) of kernel 'k'"
    with pytest.raises(error, match=message):
        kernel.emulate(*copies, extent=extent)


@pytest.mark.parametrize(("x", "error", "message"), WHOLE)
@pytest.mark.parametrize("kind", ["i32", "u32", "i8", "u16", "i64"])
def test_what_no_integer_stands_for(x, error, message, kind):
    """Python's own words, and those of the interpreter that runs this."""
    with pytest.raises(error, match=message):
        int(x)
    text = f"def k(i: Index, x: Array[f32], out: Array[i32]):\n    out[i] = i32({kind}(x[i]) > 3)\n"
    values = np.array([1.0, x, 1e30], np.float32)
    try:
        both(text, error, message, f"2:{text.splitlines()[1].index('x[i]') + 1}", values, np.zeros(3, np.int32))
    except kp.UnsupportedError as lacks:
        assert kind in ("i8", "u16", "i64") and "lacks shaderInt" in str(lacks)
    kp.kernel_from_source(text, checked=True).emulate(
        np.array([3e38, -3e38], np.float32), np.zeros(2, np.int32), extent=2
    )


@pytest.mark.parametrize(("x", "error", "message"), WHOLE)
def test_a_vector_with_such_a_component(x, error, message):
    text = "def k(i: Index, x: Array[vec3], out: Array[ivec3]):\n    out[i] = ivec3(2.0 * x[i])\n"
    values = np.ones((3, 3), np.float32)
    values[1, 2] = x
    out = np.zeros((3, 3), np.int32)
    kernel = kp.kernel_from_source(text, checked=True)
    with pytest.raises(error, match=message):
        kernel(values, out)
    unchecked = kp.kernel_from_source(text)
    unchecked(values, out)
    ends = np.iinfo(np.int32)
    assert out[0].tolist() == [2, 2, 2] and out[1, 2] == {np.inf: ends.max, -np.inf: ends.min}.get(x, 0)


@pytest.mark.parametrize("op", ["<<", ">>"])
@pytest.mark.parametrize("amount", ["i32", "i8", "i64"])
def test_a_shift_by_a_negative_number(op, amount):
    with pytest.raises(ValueError, match="negative shift count"):
        eval(f"5 {op} -1")
    text = f"def k(i: Index, n: Array[i32], s: Array[i32]):\n    n[i] = n[i] {op} {amount}(s[i])\n"
    n, s = np.array([5, 6, 7], np.int32), np.array([1, -1, 40], np.int32)
    marked = "s[i]" if amount == "i32" else f"{amount}(s[i])"  # a conversion that changes nothing is none
    try:
        both(text, ValueError, "negative shift count", f"2:{text.splitlines()[1].index(marked) + 1}", n, s)
    except kp.UnsupportedError as lacks:
        assert amount in ("i8", "i64") and "lacks shaderInt" in str(lacks)
        return
    assert n.tolist() == [5, 6, 7]  # an array of the caller's stays as it was
    kp.kernel_from_source(text)(n, s)
    assert n.tolist() == [eval(f"5 {op} 1"), 0, 0]


def test_shifts_in_every_form():
    n, s = np.array([5], np.int32), np.array([[1, -2]], np.int32)
    for body in ("n[0] <<= s[0].y", "n[0] = 1 << s[0].y", "n[0] = (ivec2(1, 2) >> s[0]).x"):
        text = f"def k(i: Index, n: Array[i32], s: Array[ivec2]):\n    {body}\n"
        with pytest.raises(ValueError, match=r"negative shift count, in invocation \(0, 0, 0\) of kernel 'k'"):
            kp.kernel_from_source(text, checked=True)(n, s, extent=1)
    unsigned = "def k(i: Index, n: Array[i32], s: Array[u32]):\n    n[i] = n[i] << s[i]\n"
    kp.kernel_from_source(unsigned, checked=True)(n, np.array([2**32 - 1], np.uint32))
    assert n.tolist() == [0]


def test_before_a_barrier_the_invocation_goes_on():
    text = """
@kp.kernel(local_size=4)
def k(i: Index, t: LocalIndex, x: Array[f32], out: Array[i32]):
    part = shared(i32, 4)
    part[t] = i32(x[t]) + (8 >> i32(x[t]))
    barrier()
    out[t] = part[3 - t]
"""
    x, out = kp.Manager().tensor_t(np.array([1, np.nan, -1, 2], np.float32)), None
    out = x.manager.tensor_t(np.zeros(4, np.int32))
    algorithm = kp.kernel_from_source(text, checked=True).algorithm(x.manager, [x, out], extent=4)
    sequence = x.manager.sequence().record(kp.OpSyncDevice([x, out])).record(kp.OpAlgoDispatch(algorithm))
    with pytest.raises(ValueError, match=r"NaN to integer, in invocation \(1, 0, 0\)"):
        sequence.record(kp.OpSyncLocal([out])).eval()
    assert out.data().tolist() == [4, -1, 8, 5]
