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
        check_equal(part, wanted, f"{expression} of {', '.join(types)}", near and near.get(expression, lambda w: 0)(wanted))


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
    return {text: (lambda f: lambda *row: wrap(name, f(*row)))(f) for text, f in rows.items()}


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
        wanted = [wrap(name, eval("x" + op + "y", {"x": x, "y": y})) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
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
    amounts = [n for n in (0, 1, 2, 7, 8, 15, 31, 32, 63, 64, 127, 200, -1, -100, 2**31 - 1, 2**40) if wrap(amount, n) == n]
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
                if (op in ("//", "%") and y == 0) or (op == "**" and not 0 <= y < 70) or (op in ("<<", ">>") and not 0 <= y < 70):
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
    "a[i] and b[i] > 1": lambda x, y: bool(x and y > 1),
    "a[i] < 3 or b[i] == 3": lambda x, y: x < 3 or y == 3,
}


@pytest.mark.parametrize("name", [*INTS, *FLOATS])
def test_comparisons(name):
    a, b = pairs(edge_values(name), edge_values(name))
    rows = {(f"bool({t})" if t == "a[i] and b[i] > 1" else t): f for t, f in COMPARISONS.items()}
    rows["bool(a[i]) and b[i] > 1"] = rows.pop("bool(a[i] and b[i] > 1)")
    table([name], rows, f"a: Array[{name}], b: Array[{name}]", "bool", a, b)


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
    got = launch({"bool"}, "def k(i: Index, a: Array[bool], out: Array[bool]):\n    out[i] = a[i]\n", bytes_.view(bool), np.zeros(5, bool))
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


def picked(choose):
    """Python's min and max."""
    return lambda x, y: choose(x, y)


EXACT_FLOATS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "-x": lambda x, y: -x,
    "abs(x)": lambda x, y: abs(x),
    "min(x, y)": picked(min),
    "max(x, y)": picked(max),
    "clamp(x, -1.0, y)": lambda x, y: min(max(x, -1.0), y),
    "x if x < y else y": lambda x, y: x if x < y else y,
    "x or y": lambda x, y: x or y,
    "x * 2 + 1": None,
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
    rows = {text: (lambda f: lambda x, y: dtype(f(dtype(x), dtype(y))))(f) for text, f in EXACT_FLOATS.items() if f}
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
    table(types, {t: f for t, (f, _) in rows.items()}, f"a: Array[{name}], b: Array[{name}]", name, a, b, setup=setup, near=near_of)


@pytest.mark.parametrize("name", FLOATS)
def test_float_floor_division_and_remainder_are_exact(name):
    info = np.finfo(FLOATS[name])
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, -7.0, 7.0, 100.25, -1000.5, 0.1, 0.3, 0.7, 2.0**15, math.inf, -math.inf, math.nan]
    numbers += [1e30, -1e300, float(info.max)] if name == "f64" else [float(info.max)]
    a, b = pairs(np.array(numbers, TYPES[name]), np.array([1.0, -1.0, 0.5, 2.0, -3.0, 0.75, 7.0, -1.5, 0.1, 0.3, 0.0, -0.0, math.inf, -math.inf, math.nan], TYPES[name]))
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
