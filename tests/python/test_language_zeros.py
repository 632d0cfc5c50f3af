"""Float arithmetic that an optimiser would like to do without: what gives 0 or x for all numbers, but not for NaN, infinity or -0.0.

CPython (kp.emulate) is the oracle, bit for bit.
"""

import re
import textwrap

import kp
import numpy as np
import pytest
from kp.emulate.launch import Emulation
from typekit import FLOATS, check_equal, launch

VALUES = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 0.125, 1000.0, -1e4, np.inf, -np.inf, np.nan]


def inexact(wanted):
    """What two divisions or roots may be off, within Vulkan's limits; a zero is a zero, and none turns into NaN."""
    with np.errstate(all="ignore"):
        return np.where(wanted == 0, -1.0, 6 * np.spacing(np.abs(wanted)).astype(np.float64))


def compare(before, setup, name, expressions):
    """Stores expressions of `y`, one of VALUES, and of what `setup` makes."""
    y = np.array(VALUES, FLOATS[name])
    text = f"{before}def k(i: Index, x: Array[{name}], t: Array[{name}], out: Array[{name}]):\n    y = x[i]\n"
    text += "".join(f"    {line}\n" for line in setup.splitlines())
    text += "".join(f"    out[i * {len(expressions)} + {n}] = {name}({e})\n" for n, e in enumerate(expressions))
    got = launch({name}, text, y, y, np.full(len(y) * len(expressions), 7, y.dtype), extent=len(y))
    if got is None:
        return
    wanted = np.full(len(y) * len(expressions), 7, y.dtype)
    Emulation(text, "k").run(len(y), y.copy(), y.copy(), wanted)
    for n, expression in enumerate(expressions):
        column = wanted[n :: len(expressions)]
        near = inexact(column) if "/" in expression or "sqrt" in expression else None
        near = np.zeros(len(column)) if "@" in expression else near  # the sign of a zero is the device's
        check_equal(got[2][n :: len(expressions)], column, f"{name} {expression}", near)


ALGEBRA = [
    "y - y",
    "-y + y",
    "y / y",
    "y * 1.0",
    "y * -1.0",
    "y / 1.0",
    "-(-y)",
    "(y + 64.0) - 64.0",
    "y - (y - 2.5)",
    "y * 2.0 - y",
]
ALGEBRA += [
    "sqrt(y) * sqrt(y)",
    "1.0 / (1.0 / y)",
    "y * 3.0 + y * 5.0",
    "y == y",
    "y != y",
    "not y < 1.0",
    "not y >= 1.0",
]
ALGEBRA += [
    "y * y >= 0.0",
    "abs(y) >= 0.0",
    "abs(y) < 0.0",
    "abs(y) + 1.0 > 0.0",
    "sqrt(y) >= 0.0",
    "abs(sqrt(y))",
    "abs(floor(y))",
    "abs(max(y, 0.0))",
    "min(y, y)",
    "y - floor(y)",
]


@pytest.mark.parametrize("name", FLOATS)
def test_algebra_of_numbers_is_not_that_of_floats(name):
    """Mesa's compiler took x - x for 0 and (x + 64) - 64 for x, in f16 and f64."""
    compare("", "", name, ALGEBRA)


# What may be done with a zero `z`, and where it matters that y may be NaN, infinite, negative or -0.0.
USES = [
    "y * z",
    "z * y",
    "y / z",
    "z / y",
    "y + z",
    "z + y",
    "y - z",
    "z - y",
    "-(y * z)",
    "-z * y",
    "-z + y",
    "abs(z) * y",
    "abs(y * z)",
]
USES += [
    "z * z",
    "z / z",
    "z - z",
    "z + z",
    "y // z",
    "z // y",
    "y % z",
    "z % y",
    "y * z + 1.0",
    "y * z + z",
    "y * z - y * z",
    "y * z / z",
]
USES += [
    "fma(y, z, 1.0)",
    "fma(y, y, z)",
    "min(y, z)",
    "max(y, z)",
    "clamp(y, z, 1.0)",
    "sign(y) * z",
]
USES += [
    "sqrt(y) * z",
    "floor(y) * z",
    "copysign(z, y)",
    "y == z",
    "y < z",
    "not y < z",
    "(y + z) * z",
    "y - (y - z)",
    "y * y * z",
]
USES += [
    "dot(vec(y, 1.0), vec(z, 1.0))",
    "(vec(y, y) * z).y",
    "(vec(y, 1.0) / vec(z, 1.0)).x",
    "(vec(z, y) + vec(y, z)).y",
    "y * step(1.0, z)",
]

# How a driver may know that z is 0.0. "T" stands for the type.
WAYS = {
    "a variable": "z = T(0.0)",
    "a negative one": "z = T(-0.0)",
    "the text": "",
    "arithmetic of variables": "o = T(1.0)\nz = o - T(1.0)",
    "a tiny product": "o = T(1e-6)\nz = o * o * o * o * o * o * o * o * o * o\nz = z * z * z * z * z * z",
    "an integer": "n = 0\nz = T(n)",
    "algebra of integers": "z = T(i - i) + T(i & 0)",
    "a condition": "c = False\nz = T(c)",
    "a choice": "z = T(0.0) if i >= 0 else T(0.0)",
    "a branch": "if i > 2:\n    z = T(0.0)\nelse:\n    z = T(0.0)",
    "a component": "w = vec(1.0, T(0.0))\nz = w.y",
    "an element": "l = [T(0.0)] * 3\nz = l[1]",
    "one of unlike elements": "l = [T(1.0), T(0.0), T(3.0)]\nz = l[1]",
    "a large array": "l = [T(0.0)] * 40\nz = l[i]",
    "a row": "l = [[T(0.0)] * 3 for r in range(2)]\nz = l[i % 2][1]",
    "a round": "z = T(1.0)\nfor k in range(3):\n    z = T(k)\n    if k == 0:\n        break",
    "a function": "z = zero()",
    "an argument": "z = same(T(0.0), i)",
    "what was stored": "t[i] = T(0.0)\nz = t[i]",
    "rounding": "h = T(0.5)\nz = floor(h)",
    "a remainder": "h = T(4.0)\nz = h % T(2.0)",
    "a maximum": "z = max(T(0.0), min(x[i], T(0.0)) * T(0.0))\nif z != T(0.0):\n    z = T(0.0)",
    "a field": "p = Pair()\np.a = T(1.0)\nz = p.b",
    "a field that is passed": "p = Pair(a=T(1.0), b=T(0.0))\nz = second(p)",
    "a copy": "p = Pair(a=T(1.0), b=T(0.0))\nq = p.copy()\nz = q.b",
    "a reference": "l = [T(1.0), T(2.0)]\nclear(l)\nz = l[1]",
    "a table": "z = T(TABLE[i * 0 + 1])",
    "a conversion": "h = 1e-60\nz = T(f32(h))",
    "a start": "z = T(1.0)\nfor k in range(2):\n    if k == 1:\n        z = z + T(0.0)\n    else:\n        z = T(0.0)",
}

DEFINITIONS = """TABLE = (1.0, 0.0, 3.0)


class Pair(Struct):
    a: T
    b: T


def zero() -> T:
    return T(0.0)


def same(x: T, n: i32) -> T:
    return x if n >= 0 else x


def second(p: Pair) -> T:
    return p.b


def clear(l):
    l[1] = T(0.0)


"""
VECTORS = {"f16": "hvec2(", "f32": "vec2(", "f64": "dvec2("}


def typed(text, name):
    return re.sub(r"\bT\b", name, text.replace("vec(", VECTORS[name]))


FEW = ("a variable", "an integer", "a component", "what was stored")


@pytest.mark.parametrize(
    ("way", "name"), [*((way, "f32") for way in WAYS), *((way, name) for name in ("f16", "f64") for way in FEW)]
)
def test_zeros_that_a_driver_knows(way, name):
    """Mesa's CPU driver took what it knew to be 0.0 for a product, and left out what was divided by it."""
    uses = (
        [re.sub(r"\bz\b", "T(0.0)", use) for use in USES if use not in ("z / z", "z // z")]
        if way == "the text"
        else USES
    )
    compare(typed(DEFINITIONS, name), typed(WAYS[way], name), name, [typed(use, name) for use in uses])


def test_rounds_of_a_loop():
    """A driver that unrolls it knows the number of each."""
    rounds = [
        "y * f32(k)",
        "y / f32(k)",
        "f32(k) / y",
        "y + f32(k)",
        "fma(y, f32(k), f32(k - 1))",
        "y * (f32(k) * 0.5 - 0.5)",
    ]
    body = "".join(f"        out[(i * 6 + {n}) * 4 + k] = {e}\n" for n, e in enumerate(rounds))
    text = f"def k(i: Index, x: Array[f32], out: Array[f32]):\n    y = x[i]\n    for k in range(4):\n{body}"
    y = np.array(VALUES, np.float32)
    got = launch({"f32"}, text, y, np.zeros(len(y) * 24, np.float32))[1]
    wanted = np.zeros(len(y) * 24, np.float32)
    Emulation(text, "k").run(len(y), y, wanted)
    check_equal(got, wanted, "rounds", inexact(wanted))


def test_zeros_from_outside():
    """Specialization constants, push constants and uniforms, which a driver may put into the code."""
    uses = ["y * {}", "y / {}", "{} / y", "y + {}", "{} - y", "fma(y, {}, {})"]
    row = [use.format(n, n) for n in ("c", "s", "u.s") for use in uses]
    text = "class U(Struct):\n    s: f32\n    n: i32\n\n\n"
    text += "def k(i: Index, c: Const[f32], s: f32, u: Uniform[U], x: Array[f32], out: Array[f32]):\n    y = x[i]\n"
    text += "".join(f"    out[i * {len(row)} + {n}] = {e}\n" for n, e in enumerate(row))
    text += "    if s > 1.0 or u.s > 1.0 or u.n > 1:\n        out[0] = 0.0\n"
    y = np.array(VALUES, np.float32)
    got = launch({"f32"}, text, 0.0, 0.0, {"s": 0.0, "n": 0}, y, np.zeros(len(y) * len(row), np.float32))[1]
    with np.errstate(all="ignore"):
        zero = np.float32(0)
        columns = [y * zero, y / zero, zero / y, y + zero, zero - y, y * zero + zero] * 3
    for n, column in enumerate(columns):
        check_equal(got[n :: len(row)], column, row[n])


def test_zeros_in_shared_memory():
    text = """
    def k(l: LocalIndex, g: GroupIndex, x: Array[f32], out: Array[f32]):
        tile = shared(f32, 16)
        tile[l] = 0.0
        y = x[l]
        out[l * 3] = y * tile[l]
        barrier()
        out[l * 3 + 1] = y / tile[l]
        out[l * 3 + 2] = y + tile[15 - l]
    """
    y = np.array([*VALUES, 2.0, 3.0, 4.0, 5.0], np.float32)
    kernel = kp.kernel_from_source(textwrap.dedent(text), name="k", local_size=16)
    out = np.zeros(48, np.float32)
    kernel(y, out, extent=16)
    with np.errstate(all="ignore"):
        zero = np.float32(0)
        for n, wanted in enumerate((y * zero, y / zero, y + zero)):
            check_equal(out[n::3], wanted, f"number {n}")


def test_zeros_in_matrices_and_vectors():
    """Their products are sums, of which no part may be left out."""
    uses = [
        "(m @ v).x",
        "(v @ m).y",
        "(m @ n)[0, 1]",
        "(n @ m)[1, 0]",
        "(m * 0.0)[1, 1]",
        "(m * o)[0, 0]",
        "dot(v, vec2(0.0, 1.0))",
    ]
    uses += [
        "(v * o).x",
        "length(v * o)",
        "(m + mat2(0.0, 0.0, 0.0, 0.0))[0, 0]",
        "(n @ n)[0, 0] * v.x",
        "(eye(2) @ v).y",
    ]
    setup = "v = vec2(y, 1.0)\nm = mat2(y, 2.0, 3.0, -y)\nn = mat2(0.0, 1.0, 0.0, -0.0)\no = 0.0"
    compare("", setup, "f32", uses)


def test_choices_between_one_and_a_negative_zero():
    """Mesa's compiler makes numbers of their conditions, and +0.0 of False."""
    setup = """
w = 1
z = -0.0
if y > 1.0:
    z = f32(w)
l = [1.0, -0.0, -1.0]
for k in range(2):
    if y < 0.0:
        l[k] = -0.0 if k == 0 else 1.0
o = -0.0 if i > 3 else 1.0
if y > 0.0:
    o = -1.0
"""
    uses = [
        "z",
        "l[0]",
        "l[1]",
        "l[i % 3]",
        "o",
        "1.0 if y > 1.0 else -0.0",
        "-0.0 if y > 1.0 else 1.0",
        "-1.0 if y > 1.0 else -0.0",
    ]
    uses += [
        "-0.0 if y != y else -1.0",
        "1.0 if exp(y) > 2.0 and y < 3.0 else -0.0",
        "(vec2(1.0, 2.0) if y > 1.0 else vec2(-0.0, 2.0)).x",
    ]
    uses += [
        "-f32(w - 1) if y > 1.0 else 1.0",
        "-f32(y > 1.0)",
        "f32(y > 1.0) * -1.0",
        "x[0] * y if y > 1.0 else -0.0",
    ]
    compare("", setup, "f32", uses)


def test_a_zero_that_goes_through_many_variables():
    """Against their order, one further in each round."""
    count = 60
    lines = [f"    v{n} = y" for n in range(count)] + [f"    for r in range({count}):"]
    lines += [f"        v{n} = v{n - 1}" for n in range(count - 1, 0, -1)] + ["        v0 = 0.0"]
    setup = "\n".join(line[4:] for line in lines)
    compare("", setup, "f32", [f"y * v{count - 1}", f"y / v{count - 1}", f"v{count - 1} / y", f"y + v{count - 1}"])
