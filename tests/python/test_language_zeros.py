"""Float arithmetic that an optimiser would like to do without: what gives 0 or x for all numbers, but not for NaN, infinity or -0.0.

CPython (kp.emulate) is the oracle, bit for bit.
"""

import numpy as np
import pytest
from kp.emulate.launch import Emulation
from typekit import FLOATS, check_equal, launch

VALUES = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 0.125, 1000.0, -1e4, np.inf, -np.inf, np.nan]


def compare(text, name, expressions, values=VALUES):
    """Runs a kernel of `y` and `out`, which has a row for each of the values, and a place in it for each of the expressions."""
    y = np.array(values, FLOATS[name])
    got = launch({name}, text, y, np.full(len(y) * len(expressions), 7, y.dtype))
    if got is None:
        return
    wanted = np.full(len(y) * len(expressions), 7, y.dtype)
    Emulation(text, "k").run(len(y), y.copy(), wanted)
    for n, expression in enumerate(expressions):
        check_equal(got[1][n :: len(expressions)], wanted[n :: len(expressions)], f"{name} {expression}")


def stores(name, expressions):
    """The statements of that kernel that store them."""
    rows = [f"    out[i * {len(expressions)} + {n}] = {name}({e})\n" for n, e in enumerate(expressions)]
    return "".join(rows)


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
    "sqrt(y) * sqrt(y) - y",
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
    "min(y, y)",
    "y - floor(y)",
]


@pytest.mark.parametrize("name", FLOATS)
def test_algebra_of_numbers_is_not_that_of_floats(name):
    """Mesa's compiler took x - x for 0 and (x + 64) - 64 for x, in f16 and f64."""
    text = f"def k(i: Index, x: Array[{name}], out: Array[{name}]):\n    y = x[i]\n{stores(name, ALGEBRA)}"
    compare(text, name, ALGEBRA)
