"""Sums, differences and products are rounded one by one: no driver fuses them, and none puts them in another order.

NumPy, which does not either, is the oracle, bit for bit.
"""

import numpy as np
import pytest
from typekit import FLOATS, check_equal, launch

EXPRESSIONS = {
    "a * b + c": lambda a, b, c: a * b + c,
    "c - a * b": lambda a, b, c: c - a * b,
    "a * b - a * b": lambda a, b, c: a * b - a * b,
    "a * b + b * c": lambda a, b, c: a * b + b * c,
    "a * b + a * c": lambda a, b, c: a * b + a * c,
    "(a + b) - a": lambda a, b, c: (a + b) - a,
    "a - (a - b)": lambda a, b, c: a - (a - b),
    "(a + b) + c - (a + (b + c))": lambda a, b, c: (a + b) + c - (a + (b + c)),
    "a * b * c - a * (b * c)": lambda a, b, c: a * b * c - a * (b * c),
    "a + a + a - a * 3": lambda a, b, c: a + a + a - a * a.dtype.type(3),
    "-a * b - c": lambda a, b, c: -a * b - c,
}


@pytest.mark.parametrize("name", FLOATS)
def test_arithmetic_is_rounded_step_by_step(name):
    generator = np.random.default_rng(20261130)
    a, b, c = (generator.uniform(-4, 4, 2000).astype(FLOATS[name]) for _ in range(3))
    text = f"def k(i: Index, a: Array[{name}], b: Array[{name}], c: Array[{name}], out: Array[{name}]):\n"
    for n, expression in enumerate(EXPRESSIONS):
        for letter in "abc":
            expression = expression.replace(letter, f"{letter}[i]")
        text += f"    out[i * {len(EXPRESSIONS)} + {n}] = {expression}\n"
    got = launch({name}, text, a, b, c, np.zeros(2000 * len(EXPRESSIONS), a.dtype))
    if got is None:
        return
    for n, (expression, function) in enumerate(EXPRESSIONS.items()):
        check_equal(got[3][n :: len(EXPRESSIONS)], function(a, b, c), f"{name} {expression}")


KAHAN = """
def k(i: Index, x: Array[f32], plain: Array[f32], exact: Array[f32]):
    total = 0.0
    s = 0.0
    lost = 0.0
    for j in range(1000):
        total += x[i * 1000 + j]
        y = x[i * 1000 + j] - lost
        t = s + y
        lost = (t - s) - y
        s = t
    plain[i] = total
    exact[i] = s
"""


def test_a_compensated_sum_is_one():
    """Kahan's summation: what an optimiser would take for 0 is what a sum lost."""
    x = np.random.default_rng(7).uniform(0, 1, (8, 1000)).astype(np.float32)
    _, plain, exact = launch(set(), KAHAN, x.reshape(-1), np.zeros(8, np.float32), np.zeros(8, np.float32), extent=8)
    one_by_one, compensated = np.zeros(8, np.float32), np.zeros(8, np.float32)
    for row in range(8):
        lost = np.float32(0)
        for value in x[row]:
            one_by_one[row] += value
            y = value - lost
            t = compensated[row] + y
            lost = (t - compensated[row]) - y
            compensated[row] = t
    assert plain.tolist() == one_by_one.tolist()
    assert exact.tolist() == compensated.tolist()
    assert (np.abs(exact - x.sum(axis=1, dtype=np.float64)) <= np.spacing(exact)).all()


DOUBLE = """
def two_sum(a, b):
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


def k(i: Index, a: Array[f32], b: Array[f32], high: Array[f32], low: Array[f32]):
    high[i], low[i] = two_sum(a[i], b[i])
"""


def test_the_rest_of_a_sum_is_exact():
    """Knuth's two-sum gives a number of twice the digits."""
    generator = np.random.default_rng(3)
    a, b = (np.float32(10.0 ** generator.uniform(-6, 6, 500)) * generator.choice([-1, 1], 500) for _ in range(2))
    a, b = a.astype(np.float32), b.astype(np.float32)
    zeros = np.zeros(500, np.float32)
    _, _, high, low = launch(set(), DOUBLE, a, b, zeros, zeros)
    assert (high == a + b).all()
    assert (high.astype(np.float64) + low == a.astype(np.float64) + b).all()
