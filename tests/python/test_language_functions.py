"""The functions of the language, over values, against NumPy in double precision.

The tolerances are Vulkan's: "Precision and Operation of SPIR-V Instructions" in the specification's appendix. Functions that
it defines through others get the sum of their errors.
"""

import numpy as np
import pytest
from kernel_check import check

ULP = 2.0**-23


def ulps(n):
    return lambda w: n * ULP * np.abs(w) + 1.2e-38


def absolute(error, n=0):
    return lambda w: error + n * ULP * np.abs(w)


def reals(*parts):
    return np.concatenate([np.asarray(p, dtype=np.float32) for p in parts])


AROUND_ZERO = reals(np.linspace(-4, 4, 65), [0.1, -0.1, 1e-3, -1e-3])
HALVES = reals(np.arange(-6, 6.5, 0.5), [0.49999997, -0.49999997, 8388609.0, -8388609.0, 1e10, -1e10, 2.4999998])
ANGLES = reals(np.linspace(-np.pi, np.pi, 97))
UNIT = reals(np.linspace(-1, 1, 41))
POSITIVE = reals(np.geomspace(1e-6, 1e6, 61), np.linspace(0.4, 2.2, 37))
EXPONENTS = reals(np.linspace(-20, 20, 81))

ONE = {
    "abs": (HALVES, None),
    "fabs": (HALVES, None),
    "sign": (HALVES, None),
    "floor": (HALVES, None),
    "ceil": (HALVES, None),
    "trunc": (HALVES, None),
    "round": (HALVES, None),
    "round_even": (HALVES, None),
    "fract": (AROUND_ZERO, absolute(ULP)),
    "radians": (AROUND_ZERO * 90, ulps(2)),
    "degrees": (AROUND_ZERO, ulps(2)),
    "sin": (ANGLES, absolute(2.0**-11)),
    "cos": (ANGLES, absolute(2.0**-11)),
    "tan": (reals(np.linspace(-1.3, 1.3, 41)), absolute(2.0**-9, 2.0**14)),
    "asin": (UNIT, absolute(2.0**-10)),
    "acos": (UNIT, absolute(2.0**-10)),
    "atan": (AROUND_ZERO * 10, absolute(1e-6, 4096)),
    "sinh": (AROUND_ZERO, absolute(1e-5, 64)),
    "cosh": (AROUND_ZERO, absolute(1e-5, 64)),
    "tanh": (AROUND_ZERO * 4, absolute(1e-5)),
    "asinh": (AROUND_ZERO * 10, lambda w: 1e-5 + 8 * ULP * np.cosh(w) / np.exp(w)),  # log(x + sqrt(x * x + 1))
    "acosh": (reals(np.linspace(1, 40, 41)), absolute(4e-4, 64)),
    "atanh": (reals(np.linspace(-0.95, 0.95, 41)), absolute(1e-5, 64)),
    "exp": (EXPONENTS, lambda w: (3 + 2 * np.abs(np.log(w))) * ULP * w),
    "exp2": (EXPONENTS, lambda w: (3 + 2 * np.abs(np.log2(w))) * ULP * w),
    "log": (POSITIVE, absolute(2.0**-21, 3)),
    "log10": (POSITIVE, absolute(2.0**-20, 6)),
    "log2": (POSITIVE, absolute(2.0**-21, 3)),
    "sqrt": (POSITIVE, ulps(3)),
    "isqrt": (POSITIVE, ulps(2)),
}


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name):
    values, tolerance = ONE[name]
    check(f"def k(i: Index, x: Array[f32]):\n    x[i] = {name}(x[i])\n", values, tolerance=tolerance)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number_on_vectors(name, size):
    values, tolerance = ONE[name]
    values = np.resize(values, (len(values) // size, size))
    check(f"def k(i: Index, x: Array[vec{size}]):\n    x[i] = {name}(x[i])\n", values, tolerance=tolerance)


def grid(*axes):
    """All combinations, as one array for each axis."""
    return [np.ascontiguousarray(a.reshape(-1), dtype=np.float32) for a in np.meshgrid(*axes, indexing="ij")]


SEVERAL = {
    "min": (grid(HALVES, HALVES), None),
    "max": (grid(HALVES, HALVES), None),
    "nmin": (grid(HALVES, HALVES), None),
    "nmax": (grid(HALVES, HALVES), None),
    "clamp": (grid(HALVES, [-1, 0, 0.5], [1, 2.5]), None),
    "nclamp": (grid(HALVES, [-1, 0, 0.5], [1, 2.5]), None),
    "step": (grid(HALVES, HALVES), None),
    "fma": (grid(AROUND_ZERO, [-2, 3, 0.1], [0, 0.25, 1]), absolute(2e-6)),
    "mix": (grid(AROUND_ZERO, [-2, 3], [0, 0.25, 0.5, 1]), absolute(2e-6)),
    "smooth_step": (grid([-1, 0], [1, 2.5], AROUND_ZERO), absolute(4e-6)),
    "smoothstep": (grid([-1, 0], [1, 2.5], AROUND_ZERO), absolute(4e-6)),
    "pow": (grid(POSITIVE[::4], [-2, -0.5, 0, 0.5, 1, 1.5, 2, 3]), lambda w: 3e-5 * np.abs(w)),
    "atan2": (grid([-3, -1, -0.1, 0.1, 1, 3], [-3, -1, -0.1, 0.1, 1, 3]), absolute(1e-6, 4096)),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_functions_of_several_numbers(name):
    columns, tolerance = SEVERAL[name]
    names = "abc"[: len(columns)]
    parameters = ", ".join(f"{n}: Array[f32]" for n in names)
    arguments = ", ".join(f"{n}[i]" for n in names)
    check(f"def k(i: Index, {parameters}):\n    a[i] = {name}({arguments})\n", *columns, tolerance=tolerance)


@pytest.mark.parametrize("name", SEVERAL)
def test_functions_of_several_numbers_on_vectors(name):
    columns, tolerance = SEVERAL[name]
    columns = [c[: len(c) // 3 * 3].reshape(-1, 3) for c in columns]
    names = "abc"[: len(columns)]
    parameters = ", ".join(f"{n}: Array[vec3]" for n in names)
    arguments = ", ".join(f"{n}[i]" for n in names)
    check(f"def k(i: Index, {parameters}):\n    a[i] = {name}({arguments})\n", *columns, tolerance=tolerance)


def test_nmin_and_nmax_prefer_numbers_to_nan():
    a, b = grid([1, -1, np.nan], [2, -2])
    check("def k(i: Index, a: Array[f32], b: Array[f32]):\n    a[i] = nmin(a[i], b[i])\n", a, b)
    check("def k(i: Index, a: Array[f32], b: Array[f32]):\n    b[i] = nmax(b[i], a[i])\n", a, b)


def test_functions_of_integers():
    numbers = np.array([0, 1, -1, 5, -7, 2**31 - 1, -(2**31), -(2**24) - 1], np.int32)
    a, b = (np.ascontiguousarray(x.reshape(-1)) for x in np.meshgrid(numbers, numbers))
    check(
        """
        def k(i: Index, a: Array[i32], b: Array[i32], u: Array[u32]):
            x, y = a[i], b[i]
            a[i] = min(x, y) ^ max(x, 3) ^ clamp(x, -5, 5)
            b[i] = abs(x) ^ sign(y) * 77 ^ abs(-7)
            u[i] = min(u32(x), u32(y)) ^ max(u32(x), 9) ^ clamp(u32(y), 3, 2147483650)
        """,
        a,
        b,
        np.zeros(len(a), np.uint32),
    )


def test_min_and_max_of_many():
    check(
        "def k(i: Index, a: Array[i32]):\n    a[i] = min(a[i], 7, -a[i]) * 100 + max(a[i], 1, -a[i], 3)\n",
        list(range(-10, 10)),
    )


VECTORS = np.array([[1, 2, 3], [-1, 0.5, 2], [0.25, -3, 1], [5, 5, 5], [-2, 7, 0.125], [0, 0, 2]], np.float32)


def test_geometry():
    check(
        """
        def k(i: Index, v: Array[vec3], w: Array[vec3], a: Array[f32], b: Array[f32], c: Array[vec3], d: Array[vec3]):
            p, q = v[i], w[i]
            a[i] = length(p) + distance(p, q)
            b[i] = dot(p, q) + p @ q + length(p.xy)
            c[i] = cross(p, q)
            d[i] = normalize(p) + reflect(q, normalize(p)) + face_forward(p, q, q)
        """,
        VECTORS,
        np.ascontiguousarray(VECTORS[::-1]),
        np.zeros(6, np.float32),
        np.zeros(6, np.float32),
        np.zeros((6, 3), np.float32),
        np.zeros((6, 3), np.float32),
        tolerance=absolute(2e-5, 8),
    )


@pytest.mark.parametrize("size", [2, 3, 4])
def test_geometry_in_every_dimension(size):
    values = np.resize(VECTORS, (6, size))
    check(
        f"""
        def k(i: Index, v: Array[vec{size}], a: Array[f32], b: Array[f32]):
            a[i] = length(v[i]) + v[i] @ v[0]
            b[i] = distance(v[i], v[0]) + dot(normalize(v[i]), v[0])
        """,
        values,
        np.zeros(6, np.float32),
        np.zeros(6, np.float32),
        tolerance=absolute(2e-5, 8),
        extent=6,
    )


@pytest.mark.parametrize("prefix", ["", "math.", "stdlib.", "ps.stdlib."])
def test_functions_under_every_name(prefix):
    check(
        f"def k(i: Index, x: Array[f32]):\n    x[i] = {prefix}exp(x[i]) + {prefix}sqrt(2.0) + {prefix}sin(x[i])\n",
        AROUND_ZERO,
        tolerance=absolute(2.0**-10, 16),
    )


def test_what_is_finite():
    x = reals([0, -1, 3e38, np.inf, -np.inf, np.nan])
    text = "def k(i: Index, x: Array[f32], n: Array[i32]):\n    n[i] = i32(isfinite(x[i])) + 10 * i32(isinf(x[i])) + 100 * i32(isnan(x[i]))\n"
    _, n = check(text, x, np.zeros(6, np.int32))
    assert n.tolist() == [1, 1, 1, 10, 10, 100]
