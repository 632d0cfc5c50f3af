"""The functions of library.py, on every type, against CPython's math (by way of kp.emulate where Python has no such type): within
the limits of docs/language.md, at edges and over random numbers."""

import math
import re
from pathlib import Path

import kp
import numpy as np
import pytest
from kp.emulate.launch import Emulation
from typekit import FLOATS, INTS, VECTORS, check_equal, edges, floats, launch, pairs

BUILTINS = (Path(__file__).parents[2] / "src" / "compiler" / "builtins.def").read_text()
ROWS = dict(re.findall(r'^BUILTIN\("(\w+)", \w+, \w+, LIBRARY, (\w+)\)', BUILTINS, re.M))
SPECIAL = [math.inf, -math.inf, math.nan]
# ULP of f32, and where ordinary arguments lie.
NARROW = {
    "cbrt": (4, [(-2, 2), (-1e30, 1e30)]),
    "expm1": (4, [(-1, 1), (-20, 89)]),
    "log1p": (4, [(-1, 1), (-0.1, 0.1), (0, 1e9)]),
    "erf": (4, [(-1.2, 1.2), (-5, 5)]),
    "erfc": (10, [(-3, 3), (0.4, 9.2)]),
    "gamma": (20, [(0.1, 4), (0, 35), (-8, 0), (-30, 0)]),
    "lgamma": (10, [(0.4, 3), (0, 12), (0, 1e6), (-10, 0), (-300, 0)]),
}
EXACT = {"copysign": 2, "fmod": 2, "remainder": 2, "nextafter": 2, "ulp": 1, "isclose": 2}
ELSEWHERE = {"frexp", "ldexp", "hypot", "dist", "gcd", "lcm", "factorial", "perm", "comb"}
RNG = np.random.default_rng(24)


def test_every_row_has_a_case():
    assert set(ROWS) == {*NARROW, *EXACT, *ELSEWHERE}
    assert {name for name, takes in ROWS.items() if takes == "NARROW"} == set(NARROW)


def spread(name, count=1500):
    """Random bits as floats of all sizes, without subnormal ones."""
    size = FLOATS[name].itemsize
    values = RNG.integers(0, 256, count * size, dtype=np.uint8).view(FLOATS[name])
    return values[np.isfinite(values) & (np.abs(values) >= np.finfo(FLOATS[name]).tiny)]


def edge_array(name):
    more = [
        2.0,
        2.5,
        -1.5,
        -2.0,
        3.5,
        8.0,
        9.0,
        10.5,
        -17.5,
        -20.0,
        35.0,
        36.0,
        88.5,
        90.0,
        -88.0,
        -120.0,
        0.41,
        -0.29,
        -60.5,
        1e-4,
    ]
    return np.array([*floats(name), *SPECIAL, *more], FLOATS[name])


def emulated(text, *arrays):
    copies = [a.copy() for a in arrays]
    Emulation(text, "k").run(len(arrays[0]), *copies)
    return copies[-1]


def check(name, what, near, text, *arrays):
    got = launch({name}, text, *arrays, extent=len(arrays[0]))
    if got is not None:
        wanted = emulated(text, *arrays)
        check_equal(
            got[-1].reshape(-1), wanted.reshape(-1), what, None if near is None else near(wanted, *arrays).reshape(-1)
        )
    return got


def ulps(count, name):
    """So many units in the last place of what is wanted; what is subnormal may be 0."""
    info = np.finfo(FLOATS[name])

    def near(wanted, *_):
        size = np.minimum(np.abs(np.where(np.isfinite(wanted), wanted, 1)).astype(np.float64), float(info.max) / 2)
        return np.maximum(
            count * np.spacing(np.maximum(size, float(info.tiny)).astype(FLOATS[name])),
            np.where(size < 2 * float(info.tiny), 2 * float(info.tiny), 0),
        )

    return near


def of_lgamma(name):
    def near(wanted, x, *_):
        with np.errstate(all="ignore"):
            other = np.array(
                [math.lgamma(abs(v)) if v != 0 and math.isfinite(v) else 1 for v in x.reshape(-1).tolist()]
            )
        other = np.maximum(2.0**-20, 16 * 2.0**-23 * np.abs(other)).reshape(x.shape)
        return ulps(10 if name == "f32" else 1, name)(wanted) + np.where(x < 0, other, 0)

    return near


@pytest.mark.parametrize("name", ["f16", "f32"])
@pytest.mark.parametrize("function", NARROW)
def test_smooth_functions(function, name):
    limit, ranges = NARROW[function]
    near = of_lgamma(name) if function == "lgamma" else ulps(limit if name == "f32" else 1, name)
    some = [
        RNG.uniform(low, high, 800).astype(FLOATS[name])
        for low, high in ranges
        if name == "f32" or abs(low) < 6e4 > high
    ]
    x = np.concatenate([edge_array(name), spread(name), *some])
    x = x[(np.abs(x) >= np.finfo(FLOATS[name]).tiny) | ~(np.abs(x) > 0)]
    x = np.ascontiguousarray(x[: len(x) // 3 * 3])
    body = f"    out[i] = {function}(a[i])\n"
    check(name, function, near, f"def k(i: Index, a: Array[{name}], out: Array[{name}]):\n" + body, x, np.zeros_like(x))
    x, kind = np.ascontiguousarray(x.reshape(-1, 3)[::4]), f"{VECTORS[name]}3"
    check(name, function, near, f"def k(i: Index, a: Array[{kind}], out: Array[{kind}]):\n" + body, x, np.zeros_like(x))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", EXACT)
def test_exact_functions(function, name):
    x, y = pairs(edge_array(name), edge_array(name))
    more = spread(name)
    x, y = np.concatenate([x, more, more]), np.concatenate([y, more[::-1], more])
    if function == "fmod" or function == "remainder":  # Vulkan leaves subnormal results open
        with np.errstate(all="ignore"):
            rest = np.fmod(x, y)
        tiny = np.finfo(FLOATS[name]).tiny
        keep = (
            ~((np.abs(y) < tiny) & (y != 0))
            & ~((np.abs(rest) < 4 * tiny) & (rest != 0))
            & ~((np.abs(y) - np.abs(rest) < 4 * tiny) & (np.abs(rest) > 0))
        )
        x, y = x[keep], y[keep]
    arguments = "a[i], b[i]" if EXACT[function] == 2 else "a[i]"
    result = "bool" if function == "isclose" else name
    types = f"a: Array[{name}], b: Array[{name}], out: Array[{'i32' if result == 'bool' else result}]"
    value = f"i32({function}({arguments}))" if result == "bool" else f"{function}({arguments})"
    out = np.zeros(len(x), np.int32 if result == "bool" else FLOATS[name])
    check(name, function, None, f"def k(i: Index, {types}):\n    out[i] = {value}\n", x, y, out)
    n = len(x) // 2 * 2
    if result != "bool" and name != "f64":
        kind = f"{VECTORS[name]}2"
        types = f"a: Array[{kind}], b: Array[{kind}], out: Array[{kind}]"
        columns = [np.ascontiguousarray(v[:n].reshape(-1, 2)[::4]) for v in (x, y, out)]
        check(name, function, None, f"def k(i: Index, {types}):\n    out[i] = {value}\n", *columns)


@pytest.mark.parametrize("name", FLOATS)
def test_next_to_zero(name):
    """By the bits: subnormal numbers, whatever the device does with them in sums."""
    if name == "f16":
        return  # goes by way of f32: below
    zero = np.array([0.0, -0.0, 0.0, -0.0], FLOATS[name])
    to = np.array([1.0, 1.0, -1.0, -0.0], FLOATS[name])
    text = f"def k(i: Index, a: Array[{name}], b: Array[{name}], out: Array[{name}]):\n    out[i] = nextafter(a[i], b[i])\n"
    got = launch({name}, text, zero, to, zero)
    if got is not None:
        wanted = np.nextafter(zero, to)
        assert got[2].tobytes() == wanted.tobytes()
        back = launch({name}, text, wanted, np.full_like(zero, -0.0), zero)
        assert (np.abs(back[2]).view(np.uint8) == 0).all()
    text = f"def k(i: Index, a: Array[{name}], out: Array[{name}]):\n    out[i] = ulp(a[i])\n"
    tiny = np.finfo(FLOATS[name]).tiny
    x = np.array([0.0, -0.0, tiny, 3 * tiny, tiny * 2.0**10, -tiny * 2.0**23], FLOATS[name])
    got = launch({name}, text, x, np.zeros_like(x))
    assert got is None or got[1].tobytes() == np.spacing(np.abs(x)).tobytes()


@pytest.mark.parametrize("name", FLOATS)
def test_frexp_and_ldexp(name):
    x = np.concatenate([edge_array(name), spread(name)])
    text = f"""
def k(i: Index, a: Array[{name}], n: Array[i32], m: Array[{name}], out: Array[{name}]):
    part, e = frexp(a[i])
    m[i] = part
    n[i] = e
    out[i] = ldexp(part, e)
"""
    out = np.zeros_like(x)
    got = launch({name}, text, x, np.zeros(len(x), np.int32), out, out, extent=len(x))
    if got is None:
        return
    mantissa, exponent = (
        np.array([math.frexp(v)[0] for v in x.tolist()]),
        np.array([math.frexp(v)[1] for v in x.tolist()]),
    )
    check_equal(got[2], mantissa.astype(x.dtype), "mantissa")
    check_equal(got[1], exponent.astype(np.int32), "exponent")
    check_equal(got[3], x, "ldexp of frexp")
    info = np.finfo(FLOATS[name])
    shifts = np.array([0, 1, -1, 10, -10, 30, 127, 128, -100, 1000, -1000, 5000, 2**31 - 1, -(2**31)], np.int32)
    x, n = pairs(edge_array(name), shifts)
    text = f"def k(i: Index, a: Array[{name}], n: Array[i32], out: Array[{name}]):\n    out[i] = ldexp(a[i], n[i])\n"

    def near(wanted, *_):
        return np.where((np.abs(wanted) < 2 * info.tiny), float(info.tiny), 0)

    check(name, "ldexp", near, text, x, n, np.zeros_like(x))
    kind = f"{VECTORS[name]}2"
    text = f"""
def k(i: Index, a: Array[{kind}], out: Array[{kind}]):
    m, e = frexp(a[i])
    out[i] = ldexp(m, 3) + ldexp({name}(2.0), e)
"""
    x = np.array([[1, 2], [-3, 0.75]], FLOATS[name])
    check(name, "of vectors", None, text, x, np.zeros_like(x))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_hypot(count, name):
    """No square overflows, and none is lost."""
    values = np.concatenate([edge_array(name), spread(name, 300)])
    columns = [np.ascontiguousarray(np.roll(values, 3 * k * k)) for k in range(count)]
    letters = "abcdef"[:count]
    parameters = ", ".join(f"{n}: Array[{name}]" for n in letters)
    text = f"def k(i: Index, {parameters}, out: Array[{name}]):\n    out[i] = hypot({', '.join(f'{n}[i]' for n in letters)})\n"
    check(
        name, "hypot", ulps(1 if name == "f16" else 5 if count < 5 else 8, name), text, *columns, np.zeros_like(values)
    )


@pytest.mark.parametrize("name", FLOATS)
def test_dist(name):
    big = float(np.finfo(FLOATS[name]).max) / 4
    points = np.array(
        [[0, 3, 4, 0], [1, 1, 1, 1], [big, -big, big, big / 2], [1e-4, 2e-4, 0, 0], [-5, 12, 0, 7]], FLOATS[name]
    )
    for size in (2, 3, 4):
        kind = f"{VECTORS[name]}{size}"
        p = np.ascontiguousarray(points[:, :size])
        text = (
            f"def k(i: Index, p: Array[{kind}], q: Array[{kind}], out: Array[{name}]):\n    out[i] = dist(p[i], q[i])\n"
        )
        check(
            name,
            "dist",
            ulps(1 if name == "f16" else 5, name),
            text,
            p,
            np.zeros_like(p),
            np.zeros(len(p), FLOATS[name]),
        )


def test_isclose_takes_tolerances():
    text = """
def k(i: Index, a: Array[f32], n: Array[i32], tolerance: f32):
    n[0] = i32(math.isclose(a[0], a[1], rel_tol=tolerance)) + 2 * i32(isclose(a[0], a[1], abs_tol=0.5))
    n[1] = i32(isclose(a[0], a[1])) + 2 * i32(any(isclose(vec2(a[0], a[1]), a[1], abs_tol=1e-3, rel_tol=0.0)))
    n[2] = i32(isclose(a[0], a[0], rel_tol=0.0, abs_tol=0.0))
"""
    a = np.array([1.0, 1.25], np.float32)
    for tolerance, wanted in ((0.21, [3, 2, 1]), (0.19, [2, 2, 1])):
        n = np.zeros(3, np.int32)
        kp.kernel_from_source(text)(a, n, tolerance, extent=1)
        assert n.tolist() == wanted
        assert (wanted[0] & 1) == math.isclose(1.0, 1.25, rel_tol=tolerance)


# ----------------------------------------------------------------------------------------------------------------------
# Integers
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INTS)
def test_gcd_and_lcm(name):
    """Modulo the type, where the least number has no counterpart, and a multiple does not fit."""
    dtype = INTS[name]
    a, b = pairs(np.array(edges(name), dtype), np.array(edges(name), dtype))
    small = RNG.integers(0, 120, 200).astype(dtype)
    a, b = np.concatenate([a, small]), np.concatenate([b, small[::-1]])
    types = f"a: Array[{name}], b: Array[{name}], out: Array[{name}]"
    for function in ("gcd", "lcm"):
        for value in (f"{function}(a[i], b[i])", f"{function}(a[i])", f"{function}(a[i], 12, b[i])"):
            if function == "lcm" and "12" in value:
                continue  # what has wrapped is no multiple any more
            text = f"def k(i: Index, {types}):\n    out[i] = {value}\n"
            check(name, value, None, text, a, b, np.zeros_like(a))


@pytest.mark.parametrize("name", INTS)
def test_factorials(name):
    """Right wherever the result fits, and modulo the type where only products are taken."""
    dtype = INTS[name]
    n = np.array([*range(min(70, np.iinfo(dtype).max)), 100, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    types = f"a: Array[{name}], b: Array[{name}], out: Array[{name}]"
    check(name, "factorial", None, f"def k(i: Index, {types}):\n    out[i] = factorial(a[i])\n", n, n, np.zeros_like(n))
    check(name, "perm", None, f"def k(i: Index, {types}):\n    out[i] = perm(a[i])\n", n, n, np.zeros_like(n))
    a, b = pairs(n, n)
    check(name, "perm", None, f"def k(i: Index, {types}):\n    out[i] = perm(a[i], b[i])\n", a, b, np.zeros_like(a))
    fits = [
        min(x, y) < 0 or y > x or min(y, x - y) < 40 and math.comb(x, y) <= np.iinfo(dtype).max
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    a, b = a[fits], b[fits]
    check(name, "comb", None, f"def k(i: Index, {types}):\n    out[i] = comb(a[i], b[i])\n", a, b, np.zeros_like(a))


def test_of_vectors_and_in_every_place():
    """In conditions of loops, branches of expressions, comprehensions and helpers; imported by name; NumPy's names."""

    @kp.kernel
    def k(i: kp.lang.Index, a: kp.lang.Array[kp.lang.i32], x: kp.lang.Array[kp.lang.f32]):
        while math.gcd(a[0], a[1]) > 1:
            a[0] += 1
        table = [math.gcd(n, 6) for n in range(7)]
        a[2] = table[3] * 10 + table[4]
        v = math.lcm(kp.lang.ivec2(a[3], 6), kp.lang.ivec2(6, 15))
        a[3], a[4] = v.x, v.y
        x[0] = np.hypot(x[0], x[1]) if math.hypot(x[0], 0.0) > 1.0 else 0.0
        while math.dist(kp.lang.vec2(x[1], 0), kp.lang.vec2(0, 0)) > 1.0:
            x[1] -= 1
        x[2] = np.copysign(x[2], -1.0) + own(x[2])
        x[3] = np.cbrt(27) + np.expm1(0.0) + math.prod(kp.lang.vec2(2, 3))

    def own(x):
        return math.fmod(x, 2.0)

    a, x = np.array([6, 9, 0, 4, 0], np.int32), np.array([3, 4, 5.5, 0], np.float32)
    k(a, x, extent=1)
    assert a.tolist() == [7, 9, 32, 12, 30]
    np.testing.assert_allclose(x, [5, 1, -4, 9], rtol=1e-6)


def test_a_function_of_the_same_name_is_the_users():
    n = np.zeros(1, np.int32)
    kp.kernel_from_source(
        "def gcd(a, b):\n    return a + b\ndef k(i: Index, n: Array[i32]):\n    n[i] = gcd(2, 4)\n", name="k"
    )(n)
    assert n[0] == 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("hypot(n[i], 1.0)", r"hypot takes floats, but this is i32; write f32\(n\[i\]\)"),
        ("erf(d)", r"devices have no erf of f64; compute it in f32, as in f64\(erf\(f32\(d\)\)\)"),
        ("gcd(x, 2)", "gcd takes integers, but this is f32"),
        ("factorial(x)", "factorial takes integers, but this is f32"),
        ("frexp(x)", "frexp gives two values; assign them to two names"),
        ("ldexp(x, 2.5)", "the exponent of ldexp is i32, but"),
        ("isclose(x, x, 0.1)", "isclose takes two numbers, and rel_tol= and abs_tol= by name"),
        ("dist(x, x)", "dist takes two vectors of floats, but these are f32"),
        ("comb(1)", "comb takes 2 arguments, not 1"),
        ("fsum(x)", r"there is no function 'fsum' in the kernel language; write sum\(v\)"),
        ("prod(x)", "prod takes a vector of numbers, but this is f32"),
        ("high_of(x)", "there is no function 'high_of'"),
        ("hypot_2(x, x)", "there is no function 'hypot_2'"),
    ],
)
def test_errors_are_at_the_call(call, message):
    text = f"def k(i: Index, n: Array[i32], d: f64, out: Array[f32]):\n    x = out[i]\n    y = {call}\n"
    with pytest.raises(kp.CompileError, match=message) as error:
        kp.compile(text, file="k.py")
    assert error.value.lineno == 3


def test_who_uses_none_has_none():
    text = "def k(i: Index, x: Array[f32]):\n    x[i] = {}(x[i])\n"
    assert "library" not in kp.kernel_from_source(text.format("erf"), checked=False).disassemble()
    assert len(kp.kernel_from_source(text.format("sqrt")).spirv()) < len(
        kp.kernel_from_source(text.format("erf")).spirv()
    )


def test_numpys_names_that_mean_something_else():
    def mod(i: kp.lang.Index, x: kp.lang.Array[kp.lang.f32]):
        x[i] = np.mod(x[i], 2.0)

    def close(i: kp.lang.Index, x: kp.lang.Array[kp.lang.f32]):
        x[i] = 1.0 if np.isclose(x[i], 2.0) else 0.0

    for function, message in ((mod, "NumPy's is x % y, not math"), (close, "other tolerances; write math.isclose")):
        with pytest.raises(kp.CompileError, match=message):
            kp.kernel(function)(np.ones(1, np.float32))


def test_a_checked_kernel_has_no_checks_of_it():
    text = "def k(i: Index, x: Array[f32], n: Array[i32]):\n    x[0] = lgamma(x[0])\n    n[0] = comb(n[0], n[1])\n"
    kernel = kp.kernel_from_source(text, checked=True)
    assert "library" not in kernel.disassemble()
    x, n = np.array([3.0], np.float32), np.array([4, 9], np.int32)
    kernel(x, n, extent=1)
    assert n[0] == 0 and abs(x[0] - math.log(2)) < 1e-6
