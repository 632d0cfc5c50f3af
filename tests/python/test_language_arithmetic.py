"""Arithmetic of kernels: every operator, over edge values read from buffers, as CPython has it.

Where the values are literals in the kernel the compiler folds them itself: the same tables are run that way too.
"""

import itertools
import re

import numpy as np
import pytest
from kernel_check import check, relative

INTS = [0, 1, -1, 2, -2, 3, -3, 5, 7, -7, 10, -10, 255, 65535, -65536, 299999, 100000, 2**24, 2**24 + 1, -(2**24) - 1]
INTS += [2**30, 2**31 - 1, -(2**31), -(2**31) + 1, 123456789, -987654321]
UINTS = [
    0,
    1,
    2,
    3,
    5,
    7,
    10,
    255,
    65535,
    65536,
    2**24 + 1,
    2**31 - 1,
    2**31,
    2**31 + 1,
    3 * 10**9,
    2**32 - 2,
    2**32 - 1,
]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 3.0, -7.0, 0.1, -0.1, 1e-3, 1e10, -1e10, 16777217.0, 3e38, -3e38]
FLOATS += [1.5e-38, np.pi]
SPECIAL = [np.inf, -np.inf, np.nan]

INT_OPERATORS = ["+", "-", "*", "//", "%", "&", "|", "^"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]


def pairs(left, right, dtype, keep=lambda a, b: True):
    """All pairs, as two arrays."""
    kept = [(a, b) for a, b in itertools.product(left, right) if keep(a, b)]
    return (np.array(column, dtype=dtype) for column in zip(*kept, strict=True))


def divides(a, b):
    return b != 0 and (a, b) != (-(2**31), -1)


def literal(value):
    """The value as a kernel writes it, with the sign in front."""
    return f"({value})" if value < 0 else str(value)


# ---- integers

# What drivers like to fold into the comparison that follows. NVIDIA's took -abs(x) < -6 for true of every x.
BEFORE_A_COMPARISON = """
-abs(x)  0 - abs(x)  abs(x)  1 - abs(x)  -abs(x) - 1  -x  ~x  x + 6  6 - x  x >> 31  x & -8  x // 4  x % 4  x * -2
min(x, -x)  max(x, -x)  -max(x, -x)  min(x, 5)  -min(x, 5)  clamp(x, -6, 6)  -clamp(x, -6, 6)  abs(-x)  abs(abs(x) - 7)
"""


@pytest.mark.parametrize("before", [form.strip() for form in re.split(r"\s{2,}|\n", BEFORE_A_COMPARISON) if form])
def test_comparisons_of_what_was_just_computed(before):
    """With constants, in one kernel: a bit of the result is one of them."""
    tests = [f"y {op} {literal(c)}" for op in COMPARISONS for c in (-6, -1, 0, 1, 6)]
    bits = " | ".join(f"(i32({test}) << {n})" for n, test in enumerate(tests))
    check(f"def k(i: Index, a: Array[i32]):\n    x = a[i]\n    y = {before}\n    a[i] = {bits}\n", INTS + [6, -6])


@pytest.mark.parametrize("op", INT_OPERATORS)
def test_signed_integers(op):
    a, b = pairs(INTS, INTS, np.int32, divides if op in ("//", "%") else lambda a, b: True)
    check(f"def k(i: Index, a: Array[i32], b: Array[i32]):\n    a[i] = a[i] {op} b[i]\n", a, b)


@pytest.mark.parametrize("op", INT_OPERATORS)
def test_unsigned_integers(op):
    a, b = pairs(UINTS, UINTS, np.uint32, divides if op in ("//", "%") else lambda a, b: True)
    check(f"def k(i: Index, a: Array[u32], b: Array[u32]):\n    a[i] = a[i] {op} b[i]\n", a, b)


@pytest.mark.parametrize("op", ["//", "%"])
@pytest.mark.parametrize("divisor", [1, -1, 2, -2, 3, -3, 7, 10, -16, 64, 100000, 2**31 - 1, -(2**31)])
def test_signed_division_by_a_constant(op, divisor):
    values = np.array([x for x in INTS if divides(x, divisor)], dtype=np.int32)
    check(f"def k(i: Index, a: Array[i32]):\n    a[i] = a[i] {op} {literal(divisor)}\n", values)
    check(f"def k(i: Index, a: Array[i32]):\n    a[i] {op}= {literal(divisor)}\n", values)


@pytest.mark.parametrize("op", ["//", "%"])
@pytest.mark.parametrize("dividend", [0, 1, -1, 7, -7, 299999, 2**31 - 1, -(2**31)])
def test_signed_division_of_a_constant(op, dividend):
    values = np.array([x for x in INTS if divides(dividend, x)], dtype=np.int32)
    check(f"def k(i: Index, a: Array[i32]):\n    a[i] = {literal(dividend)} {op} a[i]\n", values)


def test_remainder_has_the_sign_of_the_divisor():
    a, b = pairs(range(-7, 8), [3, -3, 2, -2, 1, -1, 7, -7], np.int32)
    quotient, remainder = check(
        """
        def k(i: Index, a: Array[i32], b: Array[i32]):
            q = a[i] // b[i]
            r = a[i] % b[i]
            a[i] = q
            b[i] = r
        """,
        a,
        b,
    )
    assert quotient[0] == -3 and remainder[0] == 2  # -7 by 3


def test_division_of_integers_above_2_to_the_24_is_exact():
    a, b = pairs([299999, 2**31 - 1, 2**31 - 2, 16777217, 33554433], [100000, 3, 2**30, 16777217], np.int32)
    check("def k(i: Index, a: Array[i32], b: Array[i32]):\n    a[i] = a[i] // b[i]\n    b[i] = a[i] % b[i]\n", a, b)


@pytest.mark.parametrize("op", ["-", "+", "~", "- -", "~-"])
def test_signs_and_complement(op):
    check(f"def k(i: Index, a: Array[i32]):\n    a[i] = {op}a[i]\n", np.array(INTS, np.int32))
    check(f"def k(i: Index, a: Array[u32]):\n    a[i] = {op}a[i]\n", np.array(UINTS, np.uint32))


@pytest.mark.parametrize("op", ["<<", ">>"])
@pytest.mark.parametrize("amount", ["i32", "u32"])
@pytest.mark.parametrize("value", ["i32", "u32"])
def test_shifts(op, amount, value):
    dtypes = {"i32": np.int32, "u32": np.uint32}
    numbers = INTS if value == "i32" else UINTS
    a, b = pairs(numbers, [0, 1, 2, 7, 30, 31], np.int64)
    text = f"def k(i: Index, a: Array[{value}], b: Array[{amount}]):\n    a[i] = a[i] {op} b[i]\n"
    check(text, a.astype(dtypes[value]), b.astype(dtypes[amount]))


def test_shifts_by_constants():
    check(
        """
        def k(i: Index, a: Array[i32], b: Array[u32], c: Array[i32], d: Array[u32]):
            c[i] = (a[i] >> 1) + (a[i] << 3) + (a[i] >> 31)
            d[i] = (b[i] >> 2) + (b[i] << 31) + (b[i] >> 31)
        """,
        np.array(INTS, np.int32),
        np.resize(np.array(UINTS, np.uint32), len(INTS)),
        np.zeros(len(INTS), np.int32),
        np.zeros(len(INTS), np.uint32),
    )


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 5, 7, 16, 31])
def test_integer_powers_wrap(exponent):
    check(f"def k(i: Index, a: Array[i32]):\n    a[i] = a[i] ** {exponent}\n", np.array(INTS, np.int32))
    check(f"def k(i: Index, a: Array[u32]):\n    a[i] = a[i] ** {exponent}\n", np.array(UINTS, np.uint32))


def test_integer_powers_with_an_exponent_from_a_buffer():
    a, b = pairs(INTS, [0, 1, 2, 3, 8, 13, 31, 100], np.int32)
    check("def k(i: Index, a: Array[i32], b: Array[i32]):\n    a[i] = a[i] ** b[i]\n", a, b)
    a, b = pairs(UINTS, [0, 1, 2, 3, 8, 13, 31, 100], np.uint32)
    check("def k(i: Index, a: Array[u32], b: Array[u32]):\n    a[i] **= b[i]\n", a, b)


def test_true_division_of_integers():
    a, b = pairs([0, 1, -1, 7, -7, 10, 1000, -4096], [1, -1, 2, -3, 7, 4096], np.int32)
    check(
        "def k(i: Index, a: Array[i32], b: Array[i32], x: Array[f32]):\n    x[i] = a[i] / b[i] + 1 / b[i] + a[i] / 2\n",
        a,
        b,
        np.zeros(len(a), np.float32),
        tolerance=lambda w: 1e-6 * np.abs(w) + 1e-6,
    )


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons_of_integers(op):
    a, b = pairs(INTS, INTS, np.int32)
    check(f"def k(i: Index, a: Array[i32], b: Array[i32]):\n    a[i] = 1 if a[i] {op} b[i] else 0\n", a, b)
    a, b = pairs(UINTS, UINTS, np.uint32)
    check(f"def k(i: Index, a: Array[u32], b: Array[u32]):\n    a[i] = 1 if a[i] {op} b[i] else 0\n", a, b)


def check_constants(kind, expressions):
    """Runs integer constant expressions: all in one number first, and one by one when that is wrong."""
    lines = [f"    r = r * 31 + {kind}({e})" for e in expressions]
    text = "\n".join([f"def k(out: Array[{kind}]):", f"    r = {kind}(0)", *lines, "    out[0] = r", ""])
    out = np.zeros(1, {"i32": np.int32, "u32": np.uint32}[kind])
    try:
        check(text, out, extent=1)
    except AssertionError:
        for e in expressions:
            check(f"def k(out: Array[{kind}]):\n    out[0] = {e}\n", out, extent=1)
        raise


@pytest.mark.parametrize("op", [*INT_OPERATORS, "<<", ">>", "**"])
@pytest.mark.parametrize("kind", ["i32", "u32"])
def test_constant_integers(kind, op):
    """Typed constants are folded with the wrapping that the device would do."""
    numbers = INTS if kind == "i32" else UINTS
    right = [0, 1, 2, 7, 31] if op in ("<<", ">>", "**") else numbers
    kept = [(a, b) for a, b in itertools.product(numbers, right) if op not in ("//", "%") or divides(a, b)]
    check_constants(kind, [f"({kind}({a}) {op} {kind}({b}))" for a, b in kept])


@pytest.mark.parametrize("op", INT_OPERATORS)
def test_literal_integers(op):
    """Literals without a type are Python's: they do not wrap, and must fit in the end."""
    small = [0, 1, -1, 2, -3, 7, -10, 255, 1000, -32768]
    kept = [(a, b) for a, b in itertools.product(small, small) if op not in ("//", "%") or b]
    check_constants("i32", [f"({literal(a)} {op} {literal(b)})" for a, b in kept])


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%"])
@pytest.mark.parametrize("typed", [True, False])
def test_constant_floats(typed, op):
    numbers = [1.0, -2.5, 3.0, -7.0, 0.1]
    write = (lambda x: f"f32({x})") if typed else literal
    pairs_of_text = [(write(a), write(b)) for a, b in itertools.product(numbers, numbers)]
    lines = [f"    out[{n}] = {a} {op} {b}" for n, (a, b) in enumerate(pairs_of_text)]
    text = "\n".join(["def k(out: Array[f32]):", *lines, ""])
    near = lambda w: 2e-7 * np.abs(w)  # noqa: E731  (a literal is rounded once, a typed constant at each step)
    check(text, np.zeros(len(lines), np.float32), extent=1, tolerance=None if typed and op != "/" else near)


def test_constant_comparisons_and_choices():
    expressions = []
    for a, b in itertools.product([-2, 0, 3, 3.0, 2.5, -0.5], repeat=2):
        expressions += [f"(1 if {literal(a)} {op} {literal(b)} else 0)" for op in COMPARISONS]
        expressions += [f"(1 if {literal(a)} < {literal(b)} <= 3 != {literal(a)} else 0)"]
    check_constants("i32", expressions)


# ---- floats


@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_float_sums_and_products_are_rounded_correctly(op):
    a, b = pairs(FLOATS, FLOATS, np.float32)
    normal = lambda w: np.where(np.abs(w) < 1.2e-38, 1.2e-38, 0)  # noqa: E731  (a device may flush subnormals)
    check(f"def k(i: Index, a: Array[f32], b: Array[f32]):\n    a[i] = a[i] {op} b[i]\n", a, b, tolerance=normal)


def test_float_division():
    a, b = pairs(FLOATS, [x for x in FLOATS if 1e-30 < abs(x) < 1e37], np.float32)
    near = lambda w: 3e-7 * np.abs(w) + 1.2e-38  # noqa: E731  (Vulkan: 2.5 ULP)
    check("def k(i: Index, a: Array[f32], b: Array[f32]):\n    a[i] = a[i] / b[i]\n", a, b, tolerance=near)


@pytest.mark.parametrize("op", ["//", "%"])
def test_float_floor_division_and_remainder(op):
    numbers = [0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 3.0, -7.0, 7.0, 5.25, -5.25, 100.0, 1000.5, -1000.5, 65536.0]
    a, b = pairs(numbers, [1.0, -1.0, 0.5, 2.0, -2.0, 3.0, -3.0, 0.75, 7.0, -1.5], np.float32)
    check(f"def k(i: Index, a: Array[f32], b: Array[f32]):\n    a[i] = a[i] {op} b[i]\n", a, b)


@pytest.mark.parametrize("op", ["//", "%"])
def test_float_floor_division_whose_quotient_rounds_to_an_integer(op):
    """1.0 // 0.1 is 9 in Python, for 0.1 is a little more than a tenth: floor(a / b) would be 10."""
    numbers = [1.0, -1.0, 0.3, 0.7, 1.1, 2.0, 3.0, 0.9, 5.0, -0.6, 6.0]
    a, b = pairs(numbers, [0.1, -0.1, 0.3, 0.7, 0.01, -0.05, 1.1], np.float32)
    near = lambda w: 2e-7 * np.abs(w) + 2e-7  # noqa: E731
    check(
        f"def k(i: Index, a: Array[f32], b: Array[f32]):\n    a[i] = a[i] {op} b[i]\n",
        a,
        b,
        tolerance=near if op == "%" else None,
    )


def test_mixed_with_literals():
    check(
        """
        def k(i: Index, a: Array[f32], b: Array[f32]):
            b[i] = 2 * a[i] + 1 - a[i] / 4 + 0.5 * a[i] // 1 + 3 % (a[i] * a[i] + 2)
        """,
        np.array([0, 1, -1, 2, 3.5, -7.25], np.float32),
        np.zeros(6, np.float32),
        tolerance=relative(1e-6),
    )


def test_powers_of_floats():
    numbers = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 10.0, -1.5]
    for exponent in ("2", "3", "4", "5", "0", "1", "-1", "-2", "2.0", "3.0", "-3.0", "0.5", "1.5"):
        base = "abs(a[i])" if exponent in ("0.5", "1.5") else "a[i]"
        values = np.array([x for x in numbers if x or "-" not in exponent], np.float32)
        text = f"def k(i: Index, a: Array[f32]):\n    a[i] = {base} ** {exponent}\n"
        check(text, values, tolerance=relative(1e-5))


def test_powers_with_an_exponent_from_a_buffer():
    """A negative base has a power where the exponent is whole; 0 ** 0 is 1."""
    numbers = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0]
    whole = lambda a, b: (a > 0 or b == int(b)) and (a != 0 or b >= 0)  # noqa: E731
    a, b = pairs(numbers, [0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 4.0, 0.5, -0.5, 7.0], np.float32, whole)
    text = "def k(i: Index, a: Array[f32], b: Array[f32]):\n    a[i] = {}\n"
    check(text.format("a[i] ** b[i]"), a, b, tolerance=relative(1e-5))
    check(text.format("pow(a[i], b[i])"), a, b, tolerance=relative(1e-5))


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons_of_floats(op):
    a, b = pairs(FLOATS + SPECIAL, FLOATS + SPECIAL, np.float32)
    check(
        f"""
        def k(i: Index, a: Array[f32], b: Array[f32], c: Array[i32]):
            c[i] = 1 if a[i] {op} b[i] else 0
            if not a[i] {op} b[i]:
                c[i] += 2
        """,
        a,
        b,
        np.zeros(len(a), np.int32),
    )


def test_nan_and_infinity_are_told_apart():
    check(
        """
        def k(i: Index, a: Array[f32], c: Array[i32]):
            if isnan(a[i]):
                c[i] += 1
            if isinf(a[i]):
                c[i] += 2
            if a[i] != a[i]:
                c[i] += 4
            if a[i] == a[i]:
                c[i] += 8
            if math.isnan(a[i]) or math.isinf(a[i]):
                c[i] += 16
        """,
        np.array(FLOATS + SPECIAL, np.float32),
        np.zeros(len(FLOATS + SPECIAL), np.int32),
    )


# ---- conversions


def test_casts_between_types():
    check(
        """
        def k(i: Index, n: Array[i32], m: Array[u32], x: Array[f32], y: Array[f32], z: Array[f32]):
            y[i] = f32(n[i])
            z[i] = f32(m[i])
            n[i] = i32(x[i])
            m[i] = u32(abs(x[i]))
        """,
        np.resize(np.array(INTS, np.int32), 40),
        np.resize(np.array([200, 60000, *UINTS], np.uint32), 40),
        np.resize(
            np.array([0, 0.5, -0.5, 0.99, -0.99, 1.5, -1.5, 2.5, 1e6, -1e6, 2147483520.0, -2147483648.0]), 40
        ).astype(np.float32),
        np.zeros(40, np.float32),
        np.zeros(40, np.float32),
    )


def test_large_floats_to_unsigned():
    check(
        "def k(i: Index, x: Array[f32], m: Array[u32]):\n    m[i] = u32(x[i])\n",
        np.array([3e9, 4294967040.0, 2147483648.0, 0.0, 0.9], np.float32),
        np.zeros(5, np.uint32),
    )


def test_integers_of_either_sign_convert_modulo_2_to_the_32():
    check(
        "def k(i: Index, n: Array[i32], m: Array[u32]):\n    t = n[i]\n    n[i] = i32(m[i])\n    m[i] = u32(t)\n",
        np.resize(np.array(INTS, np.int32), 32),
        np.resize(np.array(UINTS, np.uint32), 32),
    )


def test_bool_conversions():
    check(
        """
        def k(i: Index, n: Array[i32], x: Array[f32], m: Array[u32]):
            p = x[i] > 0.0
            n[i] = i32(p) + i32(bool(n[i]))
            m[i] = u32(not p)
            x[i] = f32(p) + f32(bool(x[i]))
        """,
        [0, 1, -5, 7],
        np.array([0.0, 1.5, -2.0, np.inf], np.float32),
        np.zeros(4, np.uint32),
    )


def test_literals_adapt_to_the_declared_type():
    check(
        """
        def k(i: Index, x: Array[f32], m: Array[u32]):
            t: f32 = 0
            t = 1
            t += 2
            w: u32 = 3
            w = m[i] * 2 + w
            x[i] = t + (x[i] if x[i] > 0 else 7) + max(x[i], 2)
            m[i] = w - (1 if x[i] > 3 else w)
        """,
        np.array([0.5, -1.0], np.float32),
        np.array([5, 4294967295], np.uint32),
    )


def test_assigning_to_a_parameter():
    check(
        """
        def k(i: Index, n: i32, s: f32, v: vec2, flag: bool, x: Array[f32]):
            if i > 1:
                n = 1
            s = 0.9
            v.x += s
            v = v.yx
            if flag:
                flag = False
                x[i] += 100.0
            if flag:
                x[i] += 1000.0
            i = i + 0
            x[i] += f32(n) + s + v.x + v.y * 10.0
        """,
        5,
        2.5,
        (1.0, 2.0),
        True,
        np.zeros(4, np.float32),
    )


# ---- booleans


def test_chained_comparisons():
    a, b = pairs(range(-2, 4), range(-2, 4), np.int32)
    check(
        """
        def k(i: Index, a: Array[i32], b: Array[i32], c: Array[i32]):
            if 0 < a[i] < 2:
                c[i] += 1
            if a[i] < b[i] < 3 > a[i]:
                c[i] += 2
            if -1 <= a[i] == b[i] != 2:
                c[i] += 4
            if 1 < 233 < 10:
                c[i] += 8
            if not 0 < a[i] < b[i] <= 2:
                c[i] += 16
            t = f32(a[i])
            if 0.0 < t < 1 or -1 < t <= 0.5:
                c[i] += 32
            p = a[i] < b[i] >= 0
            c[i] += 64 if p else 0
        """,
        a,
        b,
        np.zeros(len(a), np.int32),
    )


def test_and_or_do_not_evaluate_what_they_need_not():
    check(
        """
        def k(i: Index, a: Array[i32], c: Array[i32]):
            if i > 0 and a[i - 1] != 0:
                c[i] += 1
            if i == 0 or a[i - 1] == 0:
                c[i] += 2
            t = i > 1 and (a[i - 2] > 0 or i > 3 and a[i - 4] < 0)
            c[i] += 4 if t else 0
            c[i] += 8 if i < 7 and 0 < a[i + 1] < 5 else 16
            c[i] += a[i + 1] if i < 7 else a[0]
            n = a[i]
            if n != 0 and 12 // n > 2 and 12 % n < 5:
                c[i] += 100
        """,
        [0, 1, -1, 3, 0, 0, -7, 5],
        np.zeros(8, np.int32),
    )


def test_bools_as_values():
    a, b = pairs([0, 1], [0, 1], np.int32)
    check(
        """
        def k(i: Index, a: Array[i32], b: Array[i32]):
            p = a[i] == 1
            q = b[i] == 1
            r = 1 if p & q else 0
            r += 2 if p | q else 0
            r += 4 if p ^ q else 0
            r += 8 if p == q else 0
            r += 16 if p != q else 0
            r += 32 if not p else 0
            p &= True
            q |= p
            r += 64 if p and not q or q and not p else 0
            a[i] = r
        """,
        a,
        b,
    )


def test_conditional_expressions_nest_to_the_right():
    check(
        "def k(i: Index, a: Array[i32]):\n    a[i] = 1 if a[i] > 2 else 2 if a[i] > 1 else 3 if a[i] > 0 else -a[i]\n",
        list(range(-3, 5)),
    )


def test_precedence():
    check(
        """
        def k(i: Index, a: Array[i32], b: Array[i32]):
            n = a[i]
            b[i] = 2 + 3 * n - -n**2 // 3 % 4 << 1 & 7 | 8 ^ 2
            b[i] = b[i] * 31 + (-n**2) + ~n**2 * -3
            b[i] = b[i] * 31 + (2 ** 3 ** 2 % 100) - (n - 3 - 4) + n // 3 // 2 * 5
            b[i] = b[i] * 31 + (1 if not n == 3 and n < 2 or n > 5 and n | 2 == 2 else 0)
            b[i] = b[i] * 31 + (n << 2 >> 1 << 1) + (n & 6 ^ 5 | 3)
        """,
        list(range(-9, 10)),
        np.zeros(19, np.int32),
    )


# ---- vectors


def test_vectors():
    check(
        """
        def k(i: Index, v: Array[vec3], w: Array[vec2], q: Array[vec4]):
            t = v[i]
            t = (t + v[0]) * 2 - v[1] / 4.0 + 1
            t.xz = t.zx
            t.y += t.x
            w[i] = t.xy * w[i].yx + vec2(1, t.z)
            w[i].x -= 3.0
            q[i] = vec4(w[i], t.bg) * 0.5
            q[i].rgb = q[i].gbr
            q[i][3] = t[i & 1] + q[i][-1]
            v[i] = -t
        """,
        np.arange(-6, 6, dtype=np.float32).reshape(4, 3),
        np.arange(8, dtype=np.float32).reshape(4, 2),
        np.zeros((4, 4), np.float32),
        extent=1,
    )


def test_vectors_are_values():
    check(
        """
        def k(i: Index, v: Array[vec3]):
            t = v[i]
            p = t
            p.x = 100.0
            q, t = t, p
            q.y = 50.0
            v[i] = t + q
            r = v[i]
            v[i].z = -1.0
            v[i] += r
        """,
        np.arange(12, dtype=np.float32).reshape(4, 3),
    )


def test_vec3_buffers_are_packed():
    check(
        """
        def k(i: Index, v: Array[vec3], w: Array[ivec3], a: Array[f32]):
            v[i] = v[i] * 2.0
            w[i].y = w[i].x + w[i].z
            w[i].zx += ivec2(1, 2)
            a[i] = v[i].z
            v[i].x += 1.0
        """,
        np.arange(15, dtype=np.float32).reshape(5, 3),
        np.arange(15, dtype=np.int32).reshape(5, 3),
        np.zeros(5, np.float32),
    )


def test_integer_vectors():
    check(
        """
        def k(i: Index, v: Array[ivec2], w: Array[ivec4]):
            t = v[i]
            v[i] = t // 3 + t % ivec2(-4, 5) + -t * 2 + (t >> 1) + (t & 7)
            w[i] = ivec4(t, ~t) ^ w[i]
            w[i].yx = min(t, v[i]) - abs(t)
        """,
        np.array([[-7, 7], [-1, 2**31 - 1], [100, -100], [0, 5]], np.int32),
        np.arange(16, dtype=np.int32).reshape(4, 4),
    )


def test_dynamic_components():
    check(
        """
        def k(i: Index, v: Array[vec4], a: Array[f32]):
            t = v[i]
            t[i] = 100.0
            t[3 - i] += 7.0
            v[i][(i + 1) & 3] = 50.0
            a[i] = t[(i + 2) & 3] + v[i][i] + t[-1]
            v[i] += t
        """,
        np.arange(16, dtype=np.float32).reshape(4, 4),
        np.zeros(4, np.float32),
    )


def test_swaps_and_unpacking():
    check(
        """
        def k(i: Index, a: Array[i32]):
            x, y, z = a[0], a[1], a[2]
            x, y = y, x
            a[3], a[4] = a[4], a[3]
            y, z, x = x, y, z
            n, a[n] = 5, 77
            [x, y] = y + 1, x + 1
            p = q = x
            p += 1
            a[0], a[1], a[2], a[6], a[7] = x, y, z, p, q
        """,
        list(range(10, 18)),
        extent=1,
    )


def test_negative_constant_indices_count_from_the_end():
    check(
        "def k(i: Index, a: Array[i32], v: Array[vec3]):\n    a[-1] = a[-2] + 100\n    v[-1].x = v[-3][-1]\n",
        list(range(7)),
        np.arange(9, dtype=np.float32).reshape(3, 3),
        extent=1,
    )


def test_push_constants_of_every_type():
    check(
        """
        def k(i: Index, n: i32, v: vec3, m: u32, s: f32, w: ivec2, q: vec4, p: vec2, r: ivec3, a: Array[f32]):
            a[0] = v.x + v.y * 10.0 + v.z * 100.0
            a[1] = s
            a[2] = f32(n) + f32(m)
            a[3] = f32(w.x * 10 + w.y)
            a[4] = q.x + q.w
            a[5] = p.x + p.y * 10.0
            a[6] = f32(r.x + r.y * 10 + r.z * 100)
        """,
        -3,
        (1.0, 2.0, 3.0),
        4000000000,
        0.1,
        (4, 5),
        (1.5, 2.5, 3.5, 4.5),
        (6.0, 7.0),
        (7, 8, 9),
        np.zeros(8, np.float32),
        extent=1,
    )


def test_index_of_two_and_three_axes():
    check(
        "def k(i: Index2, w: i32, a: Array[i32]):\n    a[i.y * w + i.x] = i.x * 100 + i.y\n",
        5,
        np.zeros(15, np.int32),
        extent=(5, 3),
    )
    check(
        """
        def k(i: Index3, w: i32, h: i32, a: Array[i32]):
            a[(i.z * h + i.y) * w + i.x] = i.x * 10000 + i.y * 100 + i.z
        """,
        5,
        3,
        np.zeros(60, np.int32),
        extent=(5, 3, 4),
    )


@pytest.mark.parametrize("count", [1, 2, 3, 31, 33, 100, 1000, 4097])
def test_lengths_that_no_workgroup_divides(count):
    check(
        "def k(i: Index, s: f32, x: Array[f32], y: Array[f32]):\n    y[i] = s * x[i] + y[i]\n",
        2.0,
        np.arange(count, dtype=np.float32),
        np.ones(count, np.float32),
    )


@pytest.mark.parametrize(
    "value", ["y * 0.0", "0.0 * y", "y / 0.0", "0.0 / y", "y // 0.0", "y * -0.0", "y / -0.0", "y * (3.0 - 3.0)"]
)
def test_zeros_of_the_text(value):
    """A factor and a divisor of 0.0: Mesa's CPU driver took what it knew to be 0.0 for the product, and lost the quotient."""
    text = f"""
    def k(i: Index, x: Array[f32], sign: Array[i32], v: Array[vec2]):
        y = x[i]
        result = {value}
        x[i] = result
        sign[i] = i32(copysign(1.0, result)) if result == 0.0 else 7
        v[i] = {value.replace("y", "v[i]").replace("//", "/")}
    """
    values = np.array(FLOATS + SPECIAL, np.float32)
    check(text, values, np.zeros(len(values), np.int32), np.stack([values, values[::-1]], axis=1))


@pytest.mark.parametrize("op", ["//", "%"])
def test_remainders_of_a_zero_that_the_driver_works_out(op):
    """Mesa took the sign of -0.0 for a part of its exponent, and the loop of the remainder did not end."""
    text = f"""
    def k(i: Index, x: Array[f32], y: Array[f32]):
        v = -vec3(0.0, x[0], -x[0])
        t = (v + v) {op} 2.0
        y[i] = t.x + t.z
    """
    check(text, np.array([1.5, 2.5], np.float32), np.zeros(2, np.float32))
