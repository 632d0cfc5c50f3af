"""What a call takes, and what it refuses: a device and kp.emulate give the same values, or the same errors."""

import array
import ctypes
import decimal
import fractions

import kp
import numpy as np
import pytest
from kp.lang import Array, Const, Index, Uniform, bvec2, f32, i32, mat2x3, vec2

F = np.float32


class S(kp.Struct):
    x: f32
    v: vec2


@kp.kernel
def takes_f32(i: Index, a: f32, out: Array[f32]):
    out[i] = a


@kp.kernel
def takes_i32(i: Index, a: i32, out: Array[f32]):
    out[i] = f32(a)


@kp.kernel
def takes_bool(i: Index, a: bool, out: Array[f32]):
    out[i] = 1.0 if a else 0.0


@kp.kernel
def takes_const(i: Index, a: Const[i32], out: Array[f32]):
    out[i] = f32(a)


@kp.kernel
def takes_vec2(i: Index, a: vec2, out: Array[f32]):
    out[i] = a.x + 10.0 * a.y


@kp.kernel
def takes_bvec2(i: Index, a: bvec2, out: Array[f32]):
    out[i] = (1.0 if a.x else 0.0) + (10.0 if a.y else 0.0)


@kp.kernel
def takes_mat2x3(i: Index, a: mat2x3, out: Array[f32]):
    out[i] = a[0, 1] + 10.0 * a[2, 0]


@kp.kernel
def takes_struct(i: Index, a: S, out: Array[f32]):
    out[i] = a.x + 10.0 * a.v.y


@kp.kernel
def takes_uniform(i: Index, a: Uniform[mat2x3], out: Array[f32]):
    out[i] = a[0, 1] + 10.0 * a[2, 0]


@kp.kernel
def takes_uniform_struct(i: Index, a: Uniform[S], out: Array[f32]):
    out[i] = a.x + 10.0 * a.v.y


@kp.kernel
def takes_uniform_i32(i: Index, a: Uniform[i32], out: Array[f32]):
    out[i] = f32(a)


@kp.kernel
def takes_table(i: Index, a: Uniform[Array(3, S)], out: Array[f32]):
    out[i] = a[i].x + 10.0 * a[i].v.y


@kp.kernel
def takes_rows(i: Index, a: Uniform[Array(2, vec2)], out: Array[f32]):
    out[i] = a[0].y + 10.0 * a[1].x


PACKED = np.dtype([("v", ">i2", 2), ("x", "f8")])  # by name, a value is one
ROWS = np.arange(6.0).reshape(3, 2)
# Each: what is given, and what it comes to, or the error and its words.
GOOD: dict[object, list[tuple[object, float]]] = {
    takes_f32: [
        (2, 2), (2.5, 2.5), (np.float64(2.5), 2.5), (np.float16(2.5), 2.5), (np.uint8(7), 7), (np.array(3.0), 3), (np.array(3), 3),
        (fractions.Fraction(1, 2), 0.5), (decimal.Decimal("1.5"), 1.5), (-(2**70), -(2.0**70)), (float("inf"), np.inf),
        (np.float64(-np.inf), -np.inf), (3.4028235e38, F(3.4028235e38)),
    ],
    takes_i32: [(-5, -5), (np.int8(-5), -5), (np.uint64(5), 5), (np.array(5), 5), (2**31 - 1, 2.0**31)],
    takes_bool: [(True, 1), (np.False_, 0), (1, 1), (0, 0), (7, 1), (np.array(True), 1)],
    takes_const: [(-5, -5), (np.int8(-5), -5)],
    takes_vec2: [
        ((1, 2), 21), ([1.0, 2], 21), (np.array([1, 2]), 21), (range(1, 3), 21), (array.array("d", [1, 2]), 21),
        (memoryview(array.array("i", [1, 2])), 21), ((ctypes.c_float * 2)(1, 2), 21), (np.array([1, 9, 2])[::2], 21), (np.array([2, 1.0])[::-1], 21),
        (np.array([1, 2], ">f8"), 21), (np.array([1, 2], object), 21), ((np.array(1), np.float16(2)), 21),
    ],
    takes_bvec2: [((True, False), 1), (np.array([False, True]), 10), ((1, 1), 11)],
    takes_mat2x3: [(ROWS, 41), (ROWS.tolist(), 41), (ROWS.reshape(-1), 41), (range(6), 41), (np.asfortranarray(ROWS), 41), (ROWS.astype(">i2"), 41)],
    takes_struct: [
        (S(1, (2, 3)), 31), ({"v": (2, 3), "x": 1}, 31), ((1, [2, 3]), 31), (np.array([(1, (2, 3))], S.dtype)[0], 31),
        (np.array([((2, 3), 1)], PACKED)[0], 31), (np.array((1, (2, 3)), S.dtype), 31), (np.array([(1, (2, 3))], S.dtype), 31),
    ],
    takes_table: [
        ([S(1, (2, 3))] * 3, 31), ([(1, (2, 3))] * 3, 31), (({"v": (2, 3), "x": 1},) * 3, 31), (np.array([(1, (2, 3))] * 3, S.dtype), 31),
        (np.array([((2, 3), 1)] * 3, PACKED), 31),
    ],
    takes_rows: [([(1, 2), (3, 4)], 32), (range(1, 5), 32), (np.array([[1, 2], [3, 4]]), 32), ([np.array([1, 2]), (3, 4)], 32)],
}  # fmt: skip
GOOD[takes_uniform], GOOD[takes_uniform_struct], GOOD[takes_uniform_i32] = (
    GOOD[takes_mat2x3],
    GOOD[takes_struct],
    GOOD[takes_i32],
)
NO_NUMBERS = ("1", b"1", None, [], {1: 2}, {1}, 1j, np.complex64(1), np.array([1.0]), np.datetime64(1, "s"), object(), int, (k for k in (1, 2)))  # fmt: skip
BAD: dict[object, list[tuple[object, type[Exception], str]]] = {
    takes_f32: [
        *((x, TypeError, "argument 'a': must be f32, not ") for x in (*NO_NUMBERS, True, np.True_)),
        *((x, OverflowError, "does not fit in f32") for x in (1e300, -3.5e38, np.float64(1e39), 10**400, decimal.Decimal("1e50"))),
    ],
    takes_i32: [
        *((x, TypeError, "argument 'a': must be i32, not ") for x in (*NO_NUMBERS, True, np.True_, 1.0, np.float32(1), decimal.Decimal(1))),
        *((x, OverflowError, "does not fit in i32") for x in (2**31, -(2**31) - 1, np.int64(2**31), 10**30)),
    ],
    takes_bool: [(x, TypeError, "argument 'a': must be bool, not ") for x in (*NO_NUMBERS, 1.0, np.float64(1), float("nan"))],
    takes_vec2: [
        *((x, TypeError, "argument 'a': must be (vec2|f32), not ") for x in ("ab", b"ab", None, 1.0, {1: 2, 3: 4}, {1, 2}, ("1", 2), (True, 1), 1j)),
        *((x, TypeError, "argument 'a': must be (vec2|f32), not ") for x in (np.array([1j, 2]), np.zeros(2, "M8[s]"), np.zeros(2, S.dtype), np.array(["1", "2"]))),
        *((x, ValueError, "vec2 has 2 components, not ") for x in ((), (1,), [1, 2, 3])),
        *((x, ValueError, r"has shape \(.*\), vec2 takes \(2,\)") for x in (np.zeros(3), np.zeros((1, 2)), np.zeros((2, 1)), np.zeros(()), np.zeros(0))),
        ((1, 1e300), OverflowError, "does not fit in f32"), ((k for k in (1, 2)), TypeError, "must be vec2, not generator"),
        ([(1, 2), (3, 4)], TypeError, "must be f32, not tuple"),
    ],
    takes_mat2x3: [
        *((x, ValueError, r"has shape .*, mat2x3 takes \(3, 2\), or 6 in a row") for x in (ROWS.T, np.zeros((6, 1)), np.zeros(100), np.zeros((1, 3, 2)))),
        *((x, ValueError, "mat2x3 (is 3 rows of|has) 2 numbers") for x in (ROWS.T.tolist(), range(5), [(1, 2)] * 2, [(1, 2, 3)] * 3)),
        (np.zeros(1, S.dtype), TypeError, "must be mat2x3, not an array of"), (1.0, TypeError, "must be mat2x3, not float"),
    ],
    takes_struct: [
        (1, TypeError, "must be S, a dict or a tuple of its fields, not int"), ((1,), TypeError, "S has 2 fields, x, v, but these are 1"),
        ({"x": 1}, TypeError, "S needs a value for 'v'"), ({"x": 1, "v": (1, 2), "z": 0}, TypeError, "S has no field 'z'; it has x, v"),
        ((1, (1, 2, 3)), ValueError, "'a.v': vec2 has 2 components, not 3"), ((True, (1, 2)), TypeError, "'a.x': must be f32, not bool"),
        (np.zeros(3, S.dtype), ValueError, r"has shape \(3,\), but is one S"), (np.zeros((), [("x", "f4")]), TypeError, "needs a value for 'v'"),
        ("ab", TypeError, "must be S, a dict"), (S, TypeError, "must be S"), (np.zeros(2, F), ValueError, "is one S"),
    ],
    takes_table: [
        (np.zeros(2, S.dtype), ValueError, r"has shape \(2,\), Array\(3, S\) takes \(3,\)"), ([S(1, (2, 3))] * 2, ValueError, "has 3 elements, not 2"),
        ([1, 2, 3], TypeError, r"'a\[0\]': must be S"), (np.zeros(3, F), TypeError, r"must be Array\(3, S\), not an array of float32"),
        (S(1, (2, 3)), TypeError, r"must be Array\(3, S\), not S"),
    ],
    takes_rows: [
        ([(1, 2, 3), (1, 2, 3)], ValueError, r"'a\[0\]': vec2 has 2 components, not 3"), (np.zeros((2, 3)), ValueError, r"takes \(2, 2\), or 4 in a row"),
        ([(1, 2), 3], TypeError, r"'a\[1\]': must be vec2, not int"), (3, TypeError, r"must be Array\(2, vec2\), not int"),
    ],
}  # fmt: skip
BAD[takes_uniform], BAD[takes_uniform_struct], BAD[takes_uniform_i32] = (
    BAD[takes_mat2x3],
    BAD[takes_struct],
    BAD[takes_i32],
)
BAD[takes_const] = BAD[takes_i32]


def outcome(call, *args, **kwargs):
    """What a call comes to: its exception's type and words, or None."""
    try:
        call(*args, **kwargs)
    except Exception as error:
        assert not isinstance(error, (SystemError, MemoryError))
        return type(error), str(error)
    return None


def both(kernel, *args, words=True, **kwargs):
    """The outcome of a call of a device and of kp.emulate, which is one; without words, the exception's type alone."""
    device, emulated = outcome(kernel, *args, **kwargs), outcome(kernel.emulate, *args, **kwargs)
    if not words:
        device, emulated = device and device[0], emulated and emulated[0]
    assert emulated == device
    return device


class Mine(Exception):
    """An exception of the user's."""


class Raises:
    """What is asked for raises."""

    def fail(self, *_):
        raise Mine

    __index__ = __float__ = __len__ = __getitem__ = fail


class Shown:
    """An array by way of __array__ alone."""

    def __init__(self, array):
        self.array = array

    def __array__(self, *_, **__):
        return self.array


class Sequence:
    """Of Python's own making."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def test_objects_of_the_users_own():
    for kernel in (takes_f32, takes_i32, takes_const, takes_vec2, takes_rows, takes_uniform_struct):
        for given in (Raises(), [Raises()] * 2, (1, Raises())):
            error, _ = both(kernel, given, np.zeros(3, F))
            assert error in (Mine, TypeError, ValueError)
    for kernel in (takes_f32, takes_i32, takes_bool, takes_const):
        assert both(kernel, Raises(), np.zeros(3, F))[0] is Mine
    assert both(takes_vec2, (1, Raises()), np.zeros(3, F))[0] is Mine
    for given in (Shown(np.array([1, 2])), Sequence(1, 2.0), Sequence(np.array(1), True + 1)):
        for call in (takes_vec2, takes_vec2.emulate):
            call(given, out := np.zeros(3, F))
            assert out.tolist() == [21] * 3
    for given in (Shown(5), Shown(np.zeros(2, S.dtype)), Sequence("1", 2), Sequence(1), Sequence()):
        assert both(takes_vec2, given, np.zeros(3, F))[0] in (TypeError, ValueError)


@pytest.mark.parametrize("kernel", GOOD, ids=lambda kernel: kernel.__name__)
def test_values_of_all_kinds(kernel):
    for given, wanted in GOOD[kernel]:
        for call in (kernel, kernel.emulate):
            out = np.zeros(3, F)
            call(given, out)
            assert out.tolist() == [wanted] * 3, repr(given)


@pytest.mark.parametrize("kernel", BAD, ids=lambda kernel: kernel.__name__)
def test_values_that_are_none(kernel):
    for given, error, words in BAD[kernel]:
        with pytest.raises(error, match=words) as caught:
            kernel(given, np.zeros(3, F))
        assert str(caught.value).startswith(f"{kernel.__name__}() argument 'a"), repr(given)
        assert both(kernel, given, np.zeros(3, F)) is not None


def test_raw_algorithms_take_the_same_values(mgr):
    """Push and specialization constants by name."""
    out = mgr.tensor(np.zeros(3, F))
    for kernel in (takes_f32, takes_i32, takes_bool, takes_vec2, takes_bvec2, takes_mat2x3, takes_struct):
        algorithm = mgr.algorithm([out], kernel.program, push_consts={"a": GOOD[kernel][0][0]})
        for given, wanted in GOOD[kernel]:
            algorithm.set_push_consts({"a": given})
            mgr.sequence().record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([out])).eval()
            assert out.data().tolist() == [wanted] * 3, repr(given)
        for given, error, _ in BAD.get(kernel, ()):
            with pytest.raises(error, match=r"^push_consts 'a"):
                algorithm.set_push_consts({"a": given})
    for given, error, _ in BAD[takes_const]:
        with pytest.raises(error, match=r"^spec_consts 'a'"):
            mgr.algorithm([out], takes_const.program, spec_consts={"a": given})
