"""Every function of builtins.def on every float type, scalar and vector, over the edges of the type, against kp.emulate.

A function without a case fails the first test. The cases say for which arguments the language promises an answer: elsewhere
(the logarithm of a negative number) a device may give anything. How exact a function is on ordinary numbers, test_language_functions.py
looks at; here a result only has to be near. Integers are in test_language_types.py, what library.py has in test_language_math.py.
"""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from kp.emulate.launch import Emulation
from typekit import FLOATS, VECTORS, check_equal, floats, launch

BUILTINS = (Path(__file__).parents[2] / "src" / "compiler" / "builtins.def").read_text()
RULES = dict(re.findall(r'^BUILTIN\("(\w+)", \w+, \w+, (\w+),', BUILTINS, re.M))


def any_number(*_):
    return True


def numbers(*args):
    return not any(math.isnan(a) for a in args)


def moderate(*args):
    """Neither huge, nor so small that a product is subnormal."""
    return all(a == 0 or 1e-2 <= abs(a) < 2100 for a in args)


def power(x, y):
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or x == 0:
        return not math.isinf(y)
    return math.isfinite(y) and abs(y * math.log2(abs(x))) < 12


# Of one float: which arguments. Exact ones first.
ONE = dict.fromkeys("round round_even trunc floor ceil abs fabs sign".split(), any_number)
EXACT = {*ONE, "min", "max", "nmin", "nmax", "step", "clamp", "nclamp", "modf"}
ONE |= {
    "fract": any_number,
    "radians": lambda x: numbers(x) and (x == 0 or abs(x) > 1e-3),
    "degrees": numbers,
    "sin": lambda x: abs(x) <= math.pi,
    "cos": lambda x: abs(x) <= math.pi,
    "tan": lambda x: abs(x) <= 1.5,
    "asin": lambda x: abs(x) <= 1,
    "acos": lambda x: abs(x) <= 1,
    "atan": numbers,
    "sinh": lambda x: abs(x) <= 10,
    "cosh": lambda x: abs(x) <= 10,
    "tanh": numbers,
    "asinh": numbers,
    "acosh": lambda x: x >= 1,
    "atanh": lambda x: abs(x) < 1,
    "exp": lambda x: numbers(x) and not -110 < x < -80,
    "exp2": lambda x: numbers(x) and not -160 < x < -120,
    "log": lambda x: x > 0,
    "log2": lambda x: x > 0,
    "log10": lambda x: x > 0,
    "sqrt": lambda x: x >= 0,
    "isqrt": lambda x: x > 0,
}
ONE = {name: lambda x, where=where: x != x or where(x) for name, where in ONE.items()}  # of NaN each is NaN
SEVERAL = {
    "atan2": (2, moderate),
    "pow": (2, power),
    "min": (2, any_number),
    "max": (2, any_number),
    "nmin": (2, any_number),
    "nmax": (2, any_number),
    "step": (2, any_number),
    "clamp": (3, lambda x, low, high: numbers(low, high) and low <= high),
    "nclamp": (3, lambda x, low, high: numbers(low, high) and low <= high),
    "fma": (3, moderate),
    "mix": (3, lambda a, b, t: moderate(a, b) and 0 <= t <= 1),
    "smooth_step": (3, lambda low, high, x: moderate(low, high) and low < high and (moderate(x) or x != x)),
    "smoothstep": (3, lambda low, high, x: moderate(low, high) and low < high and (moderate(x) or x != x)),
}
# Expressions of vectors v and w of ordinary numbers, and what they give: a number, or a vector of three.
OF_VECTORS = {
    "dot": ("dot(v, w)", 1),
    "length": ("length(v)", 1),
    "distance": ("distance(v, w)", 1),
    "sum": ("sum(v)", 1),
    "prod": ("prod(v)", 1),
    "cross": ("cross(v, w)", 3),
    "normalize": ("normalize(v)", 3),
    "face_forward": ("face_forward(v, w, v)", 3),
    "reflect": ("reflect(v, w)", 3),
}
# In tests of their own: test_language_types.py (divmod, isnan ...), test_language_arithmetic.py, test_parallel.py.
ELSEWHERE = {"divmod", "isnan", "isinf", "isfinite", "any", "all", "len", "shared", "modf"}


def test_every_function_has_a_case():
    floats_only = {name for name, rule in RULES.items() if rule in ("FLOATS", "NARROW", "VECTORS", "CUSTOM")}
    assert floats_only == {*ONE, *SEVERAL, *OF_VECTORS, *ELSEWHERE}
    assert len(RULES) == BUILTINS.count("\nBUILTIN("), "a row that this test does not read"


def edge_columns(name, count, where):
    """The tuples of edges of a type for which there is a promise, as columns."""
    values = [*floats(name), math.inf, -math.inf, math.nan]
    if count == 3:
        values = values[::2] + values[-3:]
    info = np.finfo(FLOATS[name])
    rows = [()]
    for _ in range(count):
        rows = [(*row, float(FLOATS[name].type(v))) for row in rows for v in values]
    rows = [row for row in rows if where(*row)]
    columns = np.array(rows, FLOATS[name]).reshape(len(rows), count).T
    assert columns.size and not ((columns != 0) & (np.abs(columns) < info.tiny)).any()
    return [np.ascontiguousarray(c) for c in columns]


def near(exact, name, wanted):
    if exact:
        return None
    size = np.where(np.isfinite(wanted), np.abs(wanted.astype(np.float64)), 0)
    eps = float(np.finfo(FLOATS[name]).eps)
    return np.maximum(2e-5 if name != "f16" else 8 * eps, 16 * eps) * np.maximum(size, 1) + (
        0.01 if name == "f16" else 1e-3
    )


def compare(text, name, what, exact, *arrays):
    got = launch({name}, text, *arrays, extent=len(arrays[0]))
    if got is None:
        return
    wanted = [a.copy() for a in arrays]
    Emulation(text, "k").run(len(arrays[0]), *wanted)
    result, right = got[-1].reshape(-1), wanted[-1].reshape(-1)
    result = np.where(result == 0, np.abs(result), result)  # 0.0 and -0.0 are one number
    right = np.where(right == 0, np.abs(right), right)
    allowed = near(exact, name, right)
    if what == "mix":  # b * t + a * (1 - t), in any order: what cancels leaves its rounding
        larger = np.maximum(np.abs(arrays[0]), np.abs(arrays[1])).astype(np.float64).reshape(-1)
        allowed += 2 * float(np.finfo(FLOATS[name]).eps) * larger
    check_equal(result, right, f"{what} of {name}", allowed)


CALLS = [(name, 1, where) for name, where in ONE.items()] + [(name, *case) for name, case in SEVERAL.items()]


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize(("function", "count", "where"), CALLS, ids=[call[0] for call in CALLS])
def test_functions_at_the_edges(function, count, where, name):
    """Of numbers, and of vectors of three of them."""
    if name == "f64" and (RULES[function] == "NARROW" or function in ("log", "log10", "pow")):
        return  # refused: test_what_f64_has_not_is_refused_with_the_way_out
    columns = edge_columns(name, count, where)
    letters = "abc"[:count]
    for kind, size in ((name, 1), (f"{VECTORS[name]}3", 3)):
        parameters = ", ".join(f"{n}: Array[{kind}]" for n in letters)
        arguments = ", ".join(f"{n}[i]" for n in letters)
        text = f"def k(i: Index, {parameters}, out: Array[{kind}]):\n    out[i] = {function}({arguments})\n"
        given = columns if size == 1 else [np.stack([np.roll(c, s) for s in range(size)], axis=1) for c in columns]
        compare(text, name, function, function in EXACT, *given, np.zeros_like(given[0]))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("size", [2, 3, 4])
def test_functions_of_vectors(name, size):
    some = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.0, -7.0, 0.25], FLOATS[name])
    v = np.stack([np.roll(some, k) for k in range(size)], axis=1)
    w = np.stack([np.roll(some, 3 + 2 * k) for k in range(size)], axis=1)
    kind = f"{VECTORS[name]}{size}"
    for function, (expression, width) in OF_VECTORS.items():
        if function == "cross" and size != 3:
            continue
        result = name if width == 1 else kind
        text = f"def k(i: Index, a: Array[{kind}], b: Array[{kind}], out: Array[{result}]):\n    v, w = a[i], b[i]\n"
        out = np.zeros(len(v) if width == 1 else v.shape, FLOATS[name])
        compare(text + f"    out[i] = {expression}\n", name, function, False, v, w, out)


@pytest.mark.parametrize("name", FLOATS)
def test_both_parts_of_modf(name):
    """math.modf's, of infinity too."""
    (a,) = edge_columns(name, 1, any_number)
    text = f"def k(i: Index, a: Array[{name}], out: Array[{name}]):\n    part, whole = modf(a[i])\n"
    compare(text + "    out[i] = part\n", name, "the fraction", True, a, np.zeros_like(a))
    compare(text + "    out[i] = whole\n", name, "the whole part", True, a, np.zeros_like(a))


@pytest.mark.parametrize("name", ["f16", "f32"])
def test_what_vulkan_leaves_open_is_pythons(name):
    """Infinite, undefined or left to the formula there."""
    big = 60000.0 if name == "f16" else 3e38
    rows = {
        "tanh(x)": [(v, math.tanh(v)) for v in (100.0, -100.0, big, -big, math.inf, -math.inf, 9.5)],
        "asinh(x)": [(v, math.asinh(v)) for v in (2047.0, -2049.0, 65000.0, big, -big)],
        "acosh(x)": [(v, math.acosh(v)) for v in (300.0, 65000.0, big)],
        "atan2(0 * abs(x), x)": [(0.0, 0.0), (-0.0, math.pi), (2.0, 0.0), (-3.0, math.pi)],
        "atan2(x, 1.0)": [(-0.0, 0.0), (1.0, math.pi / 4)],
        "sign(x)": [(math.nan, math.nan), (math.inf, 1.0), (-0.0, 0.0)],
    }
    for expression, row in rows.items():
        x, wanted = (np.array(c, FLOATS[name]) for c in zip(*row, strict=True))
        text = f"def k(i: Index, a: Array[{name}], out: Array[{name}]):\n    x = a[i]\n    out[i] = {expression}\n"
        got = launch({name}, text, x, np.zeros_like(x))
        if got is not None:
            check_equal(np.abs(got[1]), np.abs(wanted), expression, near(False, name, wanted))
