"""Every scalar type: every operator and function that it has, over its edge values, as runtime data, against Python and NumPy.

One kernel for each type and group of operators. What a device lacks it must refuse in the right words (typekit.launch).
"""

import math

import kp
import numpy as np
import pytest
from typekit import FLOATS, INTS, TYPES, VECTORS, check_equal, edge_values, edges, launch, pairs, wrap


def kernel(parameters, expressions, result, setup=()):
    """A kernel that writes the value of each expression to a part of `out` of its own."""
    lines = [f"def k(i: Index, {parameters}, out: Array[{result}]):", *(f"    {line}" for line in setup)]
    lines += [f"    out[{n} * len(a) + i] = {text}" for n, text in enumerate(expressions)]
    return "\n".join(lines) + "\n"


def table(types, rows, parameters, result, *arrays, setup=(), near=None):
    """Runs `rows`, {expression: function of the elements}, over the arrays, the first of which is `a`."""
    count = len(arrays[0])
    text = kernel(parameters, rows, result, setup)
    got = launch({*types, result}, text, *arrays, np.zeros(len(rows) * count, TYPES[result]), extent=count)
    if got is None:
        return
    columns = [array.tolist() for array in arrays]
    for n, (expression, function) in enumerate(rows.items()):
        with np.errstate(all="ignore"):
            values = [function(*row) for row in zip(*columns, strict=True)]
            wanted = np.array(values, TYPES[result] if result in INTS else None).astype(TYPES[result])
        part = got[-1][n * count : (n + 1) * count]
        check_equal(
            part, wanted, f"{expression} of {', '.join(types)}", near and near.get(expression, lambda w: 0)(wanted)
        )


# ----------------------------------------------------------------------------------------------------------------------
# Integers
# ----------------------------------------------------------------------------------------------------------------------


def integer_power(x, n):
    if n >= 0:
        return pow(x, n, 2**64) if x >= 0 else (-1) ** (n & 1) * pow(-x, n, 2**64)
    return 1 if x == 1 or (x == -1 and n % 2 == 0) else -1 if x == -1 else 0


INTEGER_BINARY = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x // y": lambda x, y: x // y if y else 0,
    "x % y": lambda x, y: x % y if y else 0,
    "x & y": lambda x, y: x & y,
    "x | y": lambda x, y: x | y,
    "x ^ y": lambda x, y: x ^ y,
    "x ** y": integer_power,
    "pow(x, y)": integer_power,
    "min(x, y)": min,
    "max(x, y)": max,
    "clamp(x, 3, y)": lambda x, y: min(max(x, 3), y),
    "q + r": lambda x, y: x // y + x % y if y else 0,
    "x or y": lambda x, y: x or y,
    "x and y": lambda x, y: x and y,
    "x if x < y else y": min,
    "-x": lambda x, y: -x,
    "+x": lambda x, y: x,
    "~x": lambda x, y: ~x,
    "abs(x)": lambda x, y: abs(x),
    "sign(x)": lambda x, y: (x > 0) - (x < 0),
    "x ** 0": lambda x, y: 1,
    "x ** 3": lambda x, y: x**3,
    "x // 3": lambda x, y: x // 3,
    "x % 7": lambda x, y: x % 7,
    "x // 16": lambda x, y: x // 16,
    "x % 16": lambda x, y: x % 16,
    "100 // x": lambda x, y: 100 // x if x else 0,
    "100 % x": lambda x, y: 100 % x if x else 0,
}
SIGNED_BINARY = {"x // -3": lambda x, y: x // -3, "x % -7": lambda x, y: x % -7, "x // -1": lambda x, y: -x}


def wrapped(name, rows):
    def of(function):
        return lambda *row: wrap(name, function(*row))

    return {text: of(function) for text, function in rows.items()}


@pytest.mark.parametrize("name", INTS)
def test_integer_operators(name):
    rows = wrapped(name, {**INTEGER_BINARY, **(SIGNED_BINARY if name.startswith("i") else {})})
    a, b = pairs(edge_values(name), edge_values(name))
    setup = ["x = a[i]", "y = b[i]", "q, r = divmod(x, y)"]
    table([name], rows, f"a: Array[{name}], b: Array[{name}]", name, a, b, setup=setup)


@pytest.mark.parametrize("name", INTS)
def test_augmented_assignment_of_integers(name):
    """Also to an element of a buffer, which is read back narrow."""
    operators = ["+", "-", "*", "//", "%", "&", "|", "^", "**", "<<", ">>"]
    lines = [f"    out[{n} * len(a) + i] {op}= b[i]" for n, op in enumerate(operators)]
    text = "\n".join([f"def k(i: Index, a: Array[{name}], b: Array[{name}], out: Array[{name}]):", *lines, ""])
    small = [x for x in edges(name) if 0 < x < 8]
    a, b = pairs(edge_values(name), np.array(small, TYPES[name]))
    got = launch({name}, text, a, b, np.tile(a, len(operators)), extent=len(a))
    for n, op in enumerate(operators if got else []):
        wanted = [
            wrap(name, eval("x" + op + "y", {"x": x, "y": y})) for x, y in zip(a.tolist(), b.tolist(), strict=True)
        ]
        check_equal(got[-1][n * len(a) : (n + 1) * len(a)], np.array(wanted, TYPES[name]), f"{op}= of {name}")


def shift(name, left):
    width = TYPES[name].itemsize * 8

    def shifted(x, n):
        n = n if 0 <= n < width else width
        return wrap(name, x << n) if left else x >> n

    return shifted


@pytest.mark.parametrize("amount", ["i8", "i32", "u32", "u64"])
@pytest.mark.parametrize("name", INTS)
def test_shifts(name, amount):
    width = TYPES[name].itemsize * 8
    amounts = [
        n for n in (0, 1, 2, 7, 8, 15, 31, 32, 63, 64, 127, 200, -1, -100, 2**31 - 1, 2**40) if wrap(amount, n) == n
    ]
    a, n = pairs(edge_values(name), np.array(amounts, TYPES[amount]))
    rows = {"a[i] << n[i]": shift(name, True), "a[i] >> n[i]": shift(name, False)}
    for constant in (0, 1, 3, width - 1, width, width + 70):
        for op, left in (("<<", True), (">>", False)):
            rows[f"a[i] {op} {constant}"] = (lambda f, c: lambda x, n: f(x, c))(shift(name, left), constant)
    table([name, amount], rows, f"a: Array[{name}], n: Array[{amount}]", name, a, n)


@pytest.mark.parametrize("name", INTS)
def test_true_division(name):
    result = "f64" if name in ("i64", "u64") else "f32"
    some = [x for x in (1, -1, 2, -3, 7, 100) if wrap(name, x) == x]
    a, b = pairs(edge_values(name), np.array(some, TYPES[name]))
    near = lambda w: np.abs(w.astype(np.float64)) * 4 * np.finfo(TYPES[result]).eps  # noqa: E731
    rows = {"a[i] / b[i]": lambda x, y: x / y, "a[i] / 4": lambda x, y: x / 4, "1 / b[i]": lambda x, y: 1 / y}
    table([name], rows, f"a: Array[{name}], b: Array[{name}]", result, a, b, near=dict.fromkeys(rows, near))


@pytest.mark.parametrize("name", INTS)
def test_constants_are_folded_as_the_device_computes(name):
    """Typed constants: what the compiler works out is what a device would have."""
    numbers = edges(name)
    numbers = [*numbers[:6], *numbers[-4:]]
    if name == "u64":
        numbers += [2**63, 2**64 - 1, 2**63 + 5]
    rows = {}
    for op in ("+", "-", "*", "//", "%", "&", "|", "^", "**", "<<", ">>"):
        for x in numbers:
            for y in numbers:
                if (
                    (op in ("//", "%") and y == 0)
                    or (op == "**" and not 0 <= y < 70)
                    or (op in ("<<", ">>") and not 0 <= y < 70)
                ):
                    continue
                n = min(y, 64) if op in ("<<", ">>") else y
                rows[f"{name}({x}) {op} {name}({y})"] = wrap(name, eval(f"({x}) {op} ({n})"))
    for x in numbers:
        rows[f"-{name}({x})"], rows[f"~{name}({x})"] = wrap(name, -x), wrap(name, ~x)
    lines = [f"    r = r * 31 + ({row})" for row in rows]  # one number first: quick
    text = "\n".join([f"def k(out: Array[{name}]):", f"    r = {name}(0)", *lines, "    out[0] = r", ""])
    got = launch({name}, text, np.zeros(1, TYPES[name]), extent=1)
    sum_ = 0
    for value in rows.values():
        sum_ = wrap(name, sum_ * 31 + value)
    for row, value in rows.items() if got and got[0][0] != sum_ else []:
        (out,) = launch({name}, f"def k(out: Array[{name}]):\n    out[0] = {row}\n", np.zeros(1, TYPES[name]), extent=1)
        assert out[0] == value, row
    assert not got or got[0][0] == sum_


# ----------------------------------------------------------------------------------------------------------------------
# Comparisons, and bools in buffers
# ----------------------------------------------------------------------------------------------------------------------

COMPARISONS = {
    "a[i] < b[i]": lambda x, y: x < y,
    "a[i] <= b[i]": lambda x, y: x <= y,
    "a[i] > b[i]": lambda x, y: x > y,
    "a[i] >= b[i]": lambda x, y: x >= y,
    "a[i] == b[i]": lambda x, y: x == y,
    "a[i] != b[i]": lambda x, y: x != y,
    "1 < a[i] <= b[i]": lambda x, y: 1 < x <= y,
    "not a[i]": lambda x, y: not x,
    "bool(a[i]) and b[i] > 1": lambda x, y: bool(x and y > 1),
    "a[i] < 3 or b[i] == 3": lambda x, y: x < 3 or y == 3,
}


@pytest.mark.parametrize("name", [*INTS, *FLOATS])
def test_comparisons(name):
    a, b = pairs(edge_values(name), edge_values(name))
    table([name], COMPARISONS, f"a: Array[{name}], b: Array[{name}]", "bool", a, b)


def test_bools_in_buffers():
    a, b = pairs(edge_values("bool"), edge_values("bool"))
    rows = {
        "a[i]": lambda x, y: x,
        "a[i] and b[i]": lambda x, y: x and y,
        "a[i] or b[i]": lambda x, y: x or y,
        "not a[i]": lambda x, y: not x,
        "a[i] == b[i]": lambda x, y: x == y,
        "a[i] ^ b[i]": lambda x, y: x ^ y,
        "a[i] & b[i] | b[0]": lambda x, y: x & y,
        "a[i] if b[i] else not a[i]": lambda x, y: x if y else not x,
    }
    table(["bool"], rows, "a: Array[bool], b: Array[bool]", "bool", a, b)


def test_any_byte_but_zero_is_true():
    """As a view of bytes may have it; what a kernel stores is 0 or 1."""
    bytes_ = np.array([0, 1, 2, 128, 255], np.uint8)
    got = launch(
        {"bool"},
        "def k(i: Index, a: Array[bool], out: Array[bool]):\n    out[i] = a[i]\n",
        bytes_.view(bool),
        np.zeros(5, bool),
    )
    if got is not None:
        assert got[1].view(np.uint8).tolist() == [0, 1, 1, 1, 1]


# ----------------------------------------------------------------------------------------------------------------------
# Floats
# ----------------------------------------------------------------------------------------------------------------------


def float_divide(x, y):
    if y:
        return x / y
    return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1, y)


def float_modulo(x, y):
    return math.nan if y == 0 or math.isinf(x) else x % y


def float_power(x, n):
    try:
        return float(x) ** n
    except ZeroDivisionError:
        return math.inf if n % 2 == 0 else math.copysign(math.inf, x)
    except OverflowError:
        return math.inf if x > 0 or n % 2 == 0 else -math.inf


EXACT_FLOATS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "-x": lambda x, y: -x,
    "abs(x)": lambda x, y: abs(x),
    "min(x, y)": min,
    "max(x, y)": max,
    "clamp(x, -1.0, y)": lambda x, y: min(max(x, -1.0), y),
    "x if x < y else y": lambda x, y: x if x < y else y,
    "x or y": lambda x, y: x or y,
}


def normal_only(name, *arrays):
    """Leaves out the pairs whose sum, difference or product is subnormal: a device may flush those."""
    tiny = float(np.finfo(FLOATS[name]).tiny)
    a, b = (array.astype(np.longdouble) for array in arrays)
    with np.errstate(all="ignore"):
        small = [(x != 0) & (np.abs(x) < 2 * tiny) for x in (a + b, a - b, a * b)]
    keep = ~np.logical_or.reduce(small)
    return [array[keep] for array in arrays]


@pytest.mark.parametrize("name", FLOATS)
def test_float_operators_that_are_rounded_correctly(name):
    a, b = normal_only(name, *pairs(edge_values(name), edge_values(name)))
    dtype = TYPES[name].type

    def rounded(function):
        return lambda x, y: dtype(function(dtype(x), dtype(y)))

    rows = {text: rounded(function) for text, function in EXACT_FLOATS.items()}
    setup = ["x = a[i]", "y = b[i]"]
    table([name], rows, f"a: Array[{name}], b: Array[{name}]", name, a, b, setup=setup)


@pytest.mark.parametrize("name", FLOATS)
def test_float_division_and_powers(name):
    """Within what Vulkan allows of a division: 2.5 units in the last place, of divisors that are not too small or large."""
    eps = float(np.finfo(FLOATS[name]).eps)
    some = np.array([1.0, -1.0, 0.5, 1.5, -2.5, 3.0, -7.0, 0.1, 100.0], TYPES[name])
    a, b = pairs(np.array([0.0, *some, 2047.0, -1e-3], TYPES[name]), some)
    near = lambda ulps: lambda w: np.abs(w.astype(np.float64)) * ulps * eps  # noqa: E731
    rows = {
        "x / y": (float_divide, near(2.5)),
        "1 / y": (lambda x, y: 1 / y, near(2.5)),
        "x ** 2": (lambda x, y: x**2, near(1)),
        "x ** 3": (lambda x, y: float_power(x, 3), near(2)),
        "y ** -2": (lambda x, y: y**-2, near(4)),
        "y ** n": (lambda x, y: y**3, near(4)),
        "y ** (n - 5)": (lambda x, y: y**-2, near(5)),
        "y ** 2.0": (lambda x, y: y**2, near(1)),
        "y ** m": (lambda x, y: y**3, near(4)),
    }
    setup = ["x = a[i]", "y = b[i]", "n = 3 if len(a) > 0 else 2", "m = i16(n)" if name == "f16" else "m = n"]
    types = [name, "i16"] if name == "f16" else [name]
    near_of = {text: bound for text, (_, bound) in rows.items()}
    table(
        types,
        {t: f for t, (f, _) in rows.items()},
        f"a: Array[{name}], b: Array[{name}]",
        name,
        a,
        b,
        setup=setup,
        near=near_of,
    )


@pytest.mark.parametrize("name", FLOATS)
def test_float_floor_division_and_remainder_are_exact(name):
    info = np.finfo(FLOATS[name])
    numbers = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        -2.5,
        3.0,
        -7.0,
        7.0,
        100.25,
        -1000.5,
        0.1,
        0.3,
        0.7,
        2.0**15,
        math.inf,
        -math.inf,
        math.nan,
    ]
    numbers += [1e30, -1e300, float(info.max)] if name == "f64" else [float(info.max)]
    a, b = pairs(
        np.array(numbers, TYPES[name]),
        np.array(
            [1.0, -1.0, 0.5, 2.0, -3.0, 0.75, 7.0, -1.5, 0.1, 0.3, 0.0, -0.0, math.inf, -math.inf, math.nan],
            TYPES[name],
        ),
    )
    rows = {"x % y": float_modulo}
    table([name], rows, f"a: Array[{name}], b: Array[{name}]", name, a, b, setup=["x = a[i]", "y = b[i]"])

    def floored(x, y):
        if y == 0 or math.isnan(x) or math.isinf(x):
            return float_divide(x, y)
        return x // y

    keep = ~(np.isinf(b) | np.isnan(b)) & (np.abs(a.astype(np.longdouble)) < 1e30)
    with np.errstate(all="ignore"):
        keep &= np.abs(a[:] / np.where(b == 0, 1, b)) < 2.0 ** (info.nmant + 1)
    rows = {"x // y": floored, "q": floored, "r": float_modulo}
    setup = ["x = a[i]", "y = b[i]", "q, r = divmod(x, y)"]
    table([name], rows, f"a: Array[{name}], b: Array[{name}]", name, a[keep], b[keep], setup=setup)


# ----------------------------------------------------------------------------------------------------------------------
# Functions of f16 and f64 (those of f32: test_language_functions.py)
# ----------------------------------------------------------------------------------------------------------------------

HALVES = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.75, -3.25, 0.25, 7.0, 1000.5, -1000.5]
AROUND_ZERO = list(np.linspace(-4, 4, 33))
ANGLES = list(np.linspace(-3.14, 3.14, 33))
UNIT = list(np.linspace(-1, 1, 21))
POSITIVE = [*np.geomspace(1e-3, 1e3, 25), *np.linspace(0.4, 2.2, 19)]


def ulps(n):
    return lambda eps: lambda w: n * eps * np.abs(w.astype(np.float64)) + eps / 1024


def absolute(error, n=0.0):
    return lambda eps: lambda w: error + n * eps * np.abs(w.astype(np.float64))


# Of both: name, values, function, what may be wrong.
ROUNDED = {
    "floor(x)": (HALVES, np.floor, None),
    "ceil(x)": (HALVES, np.ceil, None),
    "trunc(x)": (HALVES, np.trunc, None),
    "round(x)": (HALVES, np.rint, None),
    "round_even(x)": (HALVES, np.rint, None),
    "fabs(x)": (HALVES, np.fabs, None),
    "sign(x)": (HALVES[2:], np.sign, None),
    "fract(x)": (AROUND_ZERO, lambda x: x - np.floor(x), ulps(1)),
    "sqrt(x)": (POSITIVE, np.sqrt, ulps(3)),
    "isqrt(x)": (POSITIVE, lambda x: 1 / np.sqrt(x), ulps(3)),
    "radians(x)": (AROUND_ZERO, np.radians, ulps(3)),
    "degrees(x)": (AROUND_ZERO, np.degrees, ulps(3)),
    "fma(x, 3.0, 0.5)": (AROUND_ZERO, lambda x: x * 3 + 0.5, absolute(0.001, 1)),
    "mix(x, 2.0, 0.25)": (AROUND_ZERO, lambda x: x * 0.75 + 0.5, absolute(0.002, 2)),
    "step(0.5, x)": (AROUND_ZERO, lambda x: np.where(x < 0.5, 0.0, 1.0), None),
    "smoothstep(-1.0, 2.0, x)": (
        AROUND_ZERO,
        lambda x: (lambda t: t * t * (3 - 2 * t))(np.clip((x + 1) / 3, 0, 1)),
        absolute(0.004),
    ),
    "clamp(x, -1, 1)": (AROUND_ZERO, lambda x: np.clip(x, -1, 1), None),
    "nmin(x, 0.5)": (AROUND_ZERO, lambda x: np.fmin(x, 0.5), None),
    "nmax(x, 0.5)": (AROUND_ZERO, lambda x: np.fmax(x, 0.5), None),
    "nclamp(x, -1.0, 1.0)": (AROUND_ZERO, lambda x: np.clip(x, -1, 1), None),
    "length(v)": (AROUND_ZERO, lambda x: np.sqrt(x * x + 9), absolute(0.001, 4)),
    "distance(v, v + 1)": (AROUND_ZERO, lambda x: np.full_like(x, np.sqrt(2)), absolute(0.012, 4)),
    "dot(v, v)": (AROUND_ZERO, lambda x: x * x + 9, ulps(3)),
    "normalize(v).y": (AROUND_ZERO, lambda x: 3 / np.sqrt(x * x + 9), absolute(0.001, 6)),
    "sum(v)": (AROUND_ZERO, lambda x: x + 3, ulps(1)),
    "max(v)": (AROUND_ZERO, lambda x: np.maximum(x, 3), None),
    "f": (AROUND_ZERO, lambda x: x - np.trunc(x), ulps(1)),
    "w": (AROUND_ZERO, np.trunc, None),
}
# Of f16 alone, within Vulkan's limits for it: 2**-7 in the angles and around 1 in logarithms, 1 + 2 * |x| ULP in exp.
HALF_ONLY = {
    "sin(x)": (ANGLES, np.sin, absolute(2.0**-7)),
    "cos(x)": (ANGLES, np.cos, absolute(2.0**-7)),
    "tan(x)": (list(np.linspace(-1.3, 1.3, 21)), np.tan, absolute(2.0**-5, 2.0**4)),
    "asin(x)": (UNIT, np.arcsin, absolute(2.0**-5)),
    "acos(x)": (UNIT, np.arccos, absolute(2.0**-5)),
    "atan(x)": (AROUND_ZERO, np.arctan, absolute(0.001, 5)),
    "atan2(x, 2.0)": (AROUND_ZERO, lambda x: np.arctan2(x, 2), absolute(0.001, 5)),
    "sinh(x)": (AROUND_ZERO, np.sinh, absolute(0.02, 16)),
    "cosh(x)": (AROUND_ZERO, np.cosh, absolute(0.02, 16)),
    "tanh(x)": (AROUND_ZERO, np.tanh, absolute(0.01)),
    "asinh(x)": ([x for x in AROUND_ZERO if x >= 0], np.arcsinh, absolute(0.02)),
    "acosh(x)": (list(np.linspace(1.5, 40, 21)), np.arccosh, absolute(0.02, 4)),
    "atanh(x)": (list(np.linspace(-0.9, 0.9, 19)), np.arctanh, absolute(0.02)),
    "exp(x)": (AROUND_ZERO, np.exp, lambda eps: lambda w: (1 + 2 * np.abs(np.log(w.astype(np.float64)))) * eps * w),
    "exp2(x)": (AROUND_ZERO, np.exp2, lambda eps: lambda w: (1 + 2 * np.abs(np.log2(w.astype(np.float64)))) * eps * w),
    "log(x)": (POSITIVE, np.log, absolute(2.0**-7, 3)),
    "log2(x)": (POSITIVE, np.log2, absolute(2.0**-7, 3)),
    "log10(x)": (POSITIVE, np.log10, absolute(2.0**-7, 4)),
    "x ** 1.5": (POSITIVE[6:-19], lambda x: x**1.5, ulps(16)),
    "pow(x, x)": (list(np.linspace(0.1, 4, 17)), lambda x: x**x, ulps(16)),
}


@pytest.mark.parametrize("name", ["f16", "f64"])
def test_functions_of_floats(name):
    rows = {**ROUNDED, **(HALF_ONLY if name == "f16" else {})}
    eps, width = float(np.finfo(FLOATS[name]).eps), max(len(values) for values, _, _ in rows.values())
    a = np.zeros((len(rows), width), TYPES[name])
    for n, (values, _, _) in enumerate(rows.values()):
        a[n] = np.resize(np.array(values, TYPES[name]), width)
    lines = [f"def k(i: Index, a: Array[{name}], out: Array[{name}]):"]
    for n, expression in enumerate(rows):
        setup = [f"x = a[{n * width} + i]"]
        setup += [f"v = {VECTORS[name]}2(x, 3)"] if "v" in expression else []
        setup += ["f, w = modf(x)"] if expression in ("f", "w") else []
        lines += [f"    {line}" for line in [*setup, f"out[{n * width} + i] = {expression}"]]
    got = launch({name}, "\n".join([*lines, ""]), a.reshape(-1), np.zeros(a.size, TYPES[name]), extent=width)
    for n, (expression, (_, function, near)) in enumerate(rows.items() if got else []):
        wanted = function(a[n].astype(np.longdouble if name == "f64" else np.float64)).astype(TYPES[name])
        part = got[1][n * width : (n + 1) * width]
        check_equal(part, wanted, f"{expression} of {name}", near and near(eps)(wanted))


@pytest.mark.parametrize("name", FLOATS)
def test_special_values_are_told_apart(name):
    values = np.array([*edge_values(name).tolist(), float(np.finfo(FLOATS[name]).smallest_subnormal)], TYPES[name])
    count = np.zeros(len(values), np.int32)
    text = f"""def k(i: Index, a: Array[{name}], v: Array[{VECTORS[name]}3], n: Array[i32]):
    x = a[i]
    n[i] = i32(isnan(x)) + 2 * i32(isinf(x)) + 4 * i32(isfinite(x)) + 8 * i32(x != x)
    t = isnan(v[i])
    f = isfinite(v[i])
    n[i] += 16 * i32(t.x and t.y and t.z) + 32 * i32(any(f))
"""
    got = launch({name}, text, values, np.repeat(values, 3).reshape(-1, 3), count)
    if got is not None:
        x = values
        wanted = (
            np.isnan(x) * 1
            + np.isinf(x) * 2
            + np.isfinite(x) * 4
            + np.isnan(x) * 8
            + np.isnan(x) * 16
            + np.isfinite(x) * 32
        )
        assert got[2].tolist() == wanted.tolist()


F64_HAS_NOT = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 log log2 log10".split()


@pytest.mark.parametrize("function", F64_HAS_NOT)
def test_what_f64_has_not_is_refused_with_the_way_out(function):
    text = f"def k(i: Index, a: Array[f64]):\n    a[i] = {function}(a[i])\n"
    with pytest.raises(
        kp.CompileError,
        match=rf"devices have no {function} of f64; compute it in f32, as in f64\({function}\(f32\(a\[i\]\)\)\)",
    ):
        kp.compile(text)
    kp.compile(text.replace(f"{function}(a[i])", f"f64({function}(f32(a[i])))"))
