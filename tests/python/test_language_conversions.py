"""Between the scalar types: casts, what converts by itself, literals, push constants, vectors, indices, ranges, lengths."""

import math

import kp
import numpy as np
import pytest
from kernel_check import validate
from typekit import FLOATS, INTS, TYPES, VECTORS, check_equal, edge_values, launch, wrap

# ----------------------------------------------------------------------------------------------------------------------
# Casts
# ----------------------------------------------------------------------------------------------------------------------


def cast(values, name):
    """What name(x) gives for each element."""
    if name == "bool":
        return values != 0
    if name in INTS and values.dtype.kind == "f":
        info = np.iinfo(INTS[name])
        whole = [0 if math.isnan(x) else min(max(x, info.min), info.max) for x in values.tolist()]
        return np.array([int(x) for x in whole], INTS[name])
    if name in INTS:
        return np.array([wrap(name, x) for x in values.tolist()], INTS[name])
    with np.errstate(all="ignore"):
        return values.astype(TYPES[name])


def cast_values(name):
    """The edges of a type, and what lies at the edges of others."""
    values = edge_values(name)
    if name in FLOATS:
        more = [0.99, -0.99, 1.99, 127.0, 127.9, 128.0, -128.9, -129.0, 255.9, 256.0, 32767.5, -32769.0, 65519.0]
        more += [2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30, 1e-3] if name != "f16" else []
        values = np.append(values, np.array(more, TYPES[name]))
    return values


@pytest.mark.parametrize("name", TYPES)
def test_casts(name):
    values = cast_values(name)
    others = [other for other in TYPES if other != name]
    parameters = ", ".join(f"to_{other}: Array[{other}]" for other in others)
    lines = [f"    to_{other}[i] = {other}(a[i])" for other in others]
    text = "\n".join([f"def k(i: Index, a: Array[{name}], {parameters}):", *lines, ""])
    got = launch(set(TYPES), text, values, *(np.zeros(len(values), TYPES[other]) for other in others))
    for other, part in zip(others, got[1:] if got else [], strict=bool(got)):
        wanted = cast(values, other)
        near = None
        if other in FLOATS:  # correctly rounded, but the direction is the device's
            with np.errstate(all="ignore"):
                size = np.abs(values.astype(np.float64))
                near = np.where(np.isfinite(wanted), size * float(np.finfo(TYPES[other]).eps), 0)
                exact = wanted.astype(np.longdouble) == values.astype(np.longdouble)
            near = np.where(exact, 0, near)
        check_equal(part, wanted, f"{other}({name})", near)


@pytest.mark.parametrize("name", [n for n in TYPES if n != "bool"])
def test_constants_are_cast_as_the_device_casts(name):
    """What the compiler makes of T(constant)."""
    numbers = [
        0,
        1,
        -1,
        127,
        128,
        255,
        256,
        -129,
        32768,
        65504,
        70000,
        2**31,
        -(2**31) - 1,
        2**32,
        2**53 + 1,
        2**63 - 1,
        -(2**63),
    ]
    numbers += [
        2**63,
        2**64 - 1,
        0.5,
        -0.5,
        1.5,
        3e9,
        -3e9,
        1e19,
        1e5,
        2.0**64,
        -1e30,
        0.1,
        65519.0,
        65520.0,
        6e-8,
        1e-5,
    ]
    text = "\n".join(
        [f"def k(out: Array[{name}]):", *(f"    out[{n}] = {name}({x!r})" for n, x in enumerate(numbers)), ""]
    )
    got = launch({name}, text, np.zeros(len(numbers), TYPES[name]), extent=1)
    for n, x in enumerate(numbers if got else []):
        wanted = cast(
            np.array([x], np.float64 if isinstance(x, float) else object if abs(x) >= 2**63 else np.int64), name
        )
        if name in FLOATS:
            with np.errstate(all="ignore"):
                wanted = (
                    np.array([np.float64(x)]).astype(TYPES[name])
                    if isinstance(x, float)
                    else np.array([x], object).astype(np.float64).astype(TYPES[name])
                )
        check_equal(got[0][n : n + 1], wanted, f"{name}({x!r})")


# ----------------------------------------------------------------------------------------------------------------------
# What converts by itself
# ----------------------------------------------------------------------------------------------------------------------


def holds(wide, narrow):
    """True when every value of the one is a value of the other: as NumPy sees it, but that 16 bits fit f32 and 8 fit f16."""
    if "bool" in (wide, narrow):
        return wide == narrow
    digits = {"f16": 11, "f32": 24, "f64": 53}
    if wide in FLOATS and narrow in INTS:
        return TYPES[narrow].itemsize * 8 <= digits[wide]
    return np.can_cast(TYPES[narrow], TYPES[wide], "safe")


@pytest.mark.parametrize("wide", TYPES)
def test_a_value_converts_by_itself_where_none_changes(wide):
    """In a store, beside another operand, in a variable: and nowhere else."""
    for narrow in TYPES:
        text = f"def k(i: Index, a: Array[{narrow}], out: Array[{wide}]):\n    out[i] = a[i]\n"
        if not holds(wide, narrow):
            with pytest.raises(
                kp.CompileError, match=rf"'out\[i\]' is {wide}, but this is {narrow}; write {wide}\(a\[i\]\)"
            ):
                kp.compile(text)
            continue
        validate(bytes(kp.compile(text)))
        if "bool" in (wide, narrow):
            continue
        text = f"""def k(i: Index, a: Array[{narrow}], b: Array[{wide}], out: Array[{wide}]):
    x: {wide} = a[i]
    x = a[i]
    out[i] = max(a[i] + b[i], b[i] * a[i], x) if a[i] < b[i] and b[i] != a[i] else a[i]
"""
        validate(bytes(kp.compile(text)))
        values = edge_values(narrow, special=False)
        got = launch(
            {wide, narrow},
            f"def k(i: Index, a: Array[{narrow}], out: Array[{wide}]):\n    out[i] = a[i]\n",
            values,
            np.zeros(len(values), TYPES[wide]),
        )
        if got is not None:
            check_equal(got[1], values.astype(TYPES[wide]), f"{narrow} as {wide}")


# ----------------------------------------------------------------------------------------------------------------------
# Literals, names
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INTS)
def test_integer_literals_reach_the_ends_of_their_type(name):
    info = np.iinfo(INTS[name])
    low, high = int(info.min), int(info.max)
    text = f"""def k(a: Array[{name}], out: Array[{name}]):
    out[0], out[1], out[2] = {low}, {high}, {hex(high)}
    out[3] = a[0] + {high} - {high}
    x: {name} = {high}
    x += {low}
    out[4] = x
    out[5] = {high} if a[0] == 1 else {low}
"""
    got = launch({name}, text, np.ones(1, TYPES[name]), np.zeros(6, TYPES[name]), extent=1)
    if got is not None:
        assert got[1].tolist() == [low, high, high, 1, wrap(name, high + low), high]
    for beyond in (low - 1, high + 1):
        if -(2**63) <= beyond < 2**64:
            with pytest.raises(kp.CompileError, match=f"{abs(beyond)}"):
                kp.compile(f"def k(a: Array[{name}]):\n    a[0] = {beyond}\n")


@pytest.mark.parametrize("name", FLOATS)
def test_float_literals_are_rounded_to_their_type(name):
    literals = [
        "0.1",
        "1e-3",
        "3.14159265358979323846",
        "2.5",
        "1 / 3",
        "65504.0",
        "6.1035e-05",
        "math.pi",
        "math.inf",
        "-0.0",
    ]
    text = "\n".join([f"def k(out: Array[{name}]):", *(f"    out[{n}] = {x}" for n, x in enumerate(literals)), ""])
    got = launch({name}, text, np.zeros(len(literals), TYPES[name]), extent=1)
    if got is not None:
        check_equal(
            got[0], np.array([eval(x, {"math": math}) for x in literals]).astype(TYPES[name]), f"literals of {name}"
        )


FNV, LEAST, BYTE, TENTH, SMALL = 14695981039346656037, -(2**63), np.uint8(200), np.float16(0.1), np.int8(-3)
WORD, SHORT_TENTH, TOP = np.int64(-5), np.float32(0.1), np.uint64(2**64 - 1)


def test_captured_numbers_of_every_type():
    """Those of Python, and NumPy's default types, adapt; the others keep their type, from 2**63 on Python's are u64."""

    @kp.kernel
    def k(i: "Index", a: "Array[u64]", b: "Array[i64]", c: "Array[f64]"):  # noqa: F821
        a[0], a[1], a[2], a[3] = FNV, TOP // 3, BYTE, (FNV ^ 97) * 1099511628211
        b[0], b[1], b[2] = LEAST, WORD, SMALL + i16(BYTE)  # noqa: F821
        c[0], c[1], c[2] = TENTH, SHORT_TENTH, 0.1

    assert [p.dtype for p in k.params[1:]] == ["u64", "i64", "f64"]
    a, b, c = np.zeros(4, np.uint64), np.zeros(3, np.int64), np.zeros(3)
    try:
        k(a, b, c, extent=1)
    except kp.UnsupportedError as error:
        assert "llvmpipe" not in str(error)
        return
    assert a.tolist() == [FNV, (2**64 - 1) // 3, 200, (FNV ^ 97) * 1099511628211 % 2**64]
    assert b.tolist() == [LEAST, -5, 197]
    assert c.tolist() == [float(TENTH), float(SHORT_TENTH), 0.1]


SPELLINGS = {
    "f16": ["float16", "half", "np.float16", "'f16'"],
    "f32": ["float", "float32", "single", "np.float32", "'float'"],
    "f64": ["float64", "double", "np.float64", "np.double"],
    "i8": ["int8", "np.int8"],
    "i16": ["int16"],
    "i32": ["int", "int32", "np.int32"],
    "i64": ["int64", "np.int64"],
    "u8": ["uint8", "np.uint8", "'uint8'"],
    "u16": ["uint16"],
    "u32": ["uint32"],
    "u64": ["uint64", "np.uint64"],
    "bool": ["bool", "boolean", "bool_", "np.bool_"],
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_types_go_by_the_names_of_python_and_numpy(name):
    for spelling in SPELLINGS[name]:
        plain = spelling.strip("'")
        text = f"def k(i: Index, n: {spelling}, a: Array[{spelling}], v: Array[Vector(3, {spelling})]):\n    x: {spelling} = a[i]\n    a[i] = {plain}(x)\n"
        program = kp.compile(text)
        assert [p.type for p in program.params] == ["Index", name, f"Array[{name}]", f"Array[{VECTORS[name]}3]"]
        assert {p.dtype for p in program.params[1:]} == {name}
    for spelling in (np.dtype(TYPES[name]), TYPES[name].type, TYPES[name].name):
        assert kp.lang.type_text(spelling) in (name, TYPES[name].name)


def test_every_vector_has_its_name_in_kp_lang():
    for name, prefix in VECTORS.items():
        for n in (2, 3, 4):
            assert repr(getattr(kp.lang, f"{prefix}{n}")) == f"{prefix}{n}"
            (param,) = kp.compile(f"def k(a: Array[{prefix}{n}]):\n    a[0] = a[1]\n").params
            assert (param.dtype, param.components, param.size) == (name, n, n * TYPES[name].itemsize)
    for other, name in (("f16vec3", "hvec3"), ("f64vec2", "dvec2"), ("i32vec4", "ivec4"), ("u32vec2", "uvec2")):
        (param,) = kp.compile(f"def k(a: Array[{other}]):\n    a[0] = a[1]\n").params
        assert param.type == f"Array[{name}]"


# ----------------------------------------------------------------------------------------------------------------------
# Push constants, vectors
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TYPES)
def test_push_constants(name):
    """Each of natural alignment, in an order that leaves gaps."""
    vector = f"{VECTORS[name]}3"
    text = f"""def k(p: {name}, f: bool, q: {name}, v: {vector}, r: {name}, n: u32, out: Array[{name}]):
    out[0], out[1], out[2], out[3], out[4], out[5] = p, q, v.x, v.y, v.z, r
    out[6] = p if f and n == 77 else q
"""
    values = edge_values(name, special=False)
    picked = [values[n % len(values)].item() for n in (0, 1, -1, -2, 3, 4)]
    p, q, x, y, z, r = picked
    got = launch(
        {name, "bool"} if name == "bool" else {name},
        text,
        p,
        True,
        q,
        (x, y, z),
        r,
        77,
        np.zeros(7, TYPES[name]),
        extent=1,
    )
    if got is not None:
        check_equal(got[0], np.array([*picked, p], TYPES[name]), f"push constants of {name}")


def test_push_constants_out_of_range_are_refused():
    kernel = kp.kernel_from_source("def k(n: u8, out: Array[i32]):\n    out[0] = n\n")
    for value in (256, -1):
        with pytest.raises(OverflowError, match=rf"k\(\) argument 'n': {value} does not fit in u8"):
            kernel(value, np.zeros(1, np.int32), extent=1)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("name", TYPES)
def test_vectors(name, size):
    vector = f"{VECTORS[name]}{size}"
    numeric = name != "bool"
    middle = "t + w[i]" if numeric else "t ^ w[i]"
    text = f"""def k(i: Index, v: Array[{vector}], w: Array[{vector}], s: Array[{name}], same: Array[bvec{size}], n: i32):
    t = v[i]
    w[i] = {middle}
    w[i].yx = w[i].xy
    s[i] = t[n] if n < {size} else t.y
    v[i] = {vector}(t.yx, {", ".join(["s[i]"] * (size - 2))})
    same[i] = v[i] == w[i]
""".replace(", )", ")")
    values = edge_values(name, special=False)
    a = np.resize(values, (5, size)).astype(TYPES[name])
    b = np.resize(values[::-1], (5, size)).astype(TYPES[name])
    got = launch({name, "bool"}, text, a, b, np.zeros(5, TYPES[name]), np.zeros((5, size), bool), 1)
    if got is None:
        return
    v, w, s, same = got
    with np.errstate(all="ignore"):
        sums = a + b if numeric else a ^ b
    sums[:, [0, 1]] = sums[:, [1, 0]]
    made = np.stack([a[:, 1], a[:, 0], *[a[:, 1]] * (size - 2)], axis=1)
    check_equal(w.reshape(-1), sums.reshape(-1), f"{vector} sums")
    check_equal(v.reshape(-1), made.reshape(-1), f"{vector} made")
    check_equal(s, a[:, 1].copy(), f"{vector} component")
    assert (same == (made == sums)).all()


# ----------------------------------------------------------------------------------------------------------------------
# Indices, ranges, lengths
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INTS)
def test_indices_of_every_integer_type(name):
    text = f"""def k(i: Index, at: Array[{name}], a: Array[f32], v: Array[vec3], out: Array[f32]):
    out[i] = a[at[i]] + v[at[i]][at[i]]
"""
    a, v = np.array([1, 2, 4], np.float32), np.arange(9, dtype=np.float32).reshape(3, 3) * 10
    far = [2**32 + 1, 2**40, -(2**33) + 1] if name == "i64" else [2**32 + 1, 2**63] if name == "u64" else []
    at = np.array([0, 1, 2, *far], TYPES[name])
    got = launch({name}, text, at, a, v, np.full(len(at), 9, np.float32))
    if got is not None:
        assert got[3][:3].tolist() == [1, 42, 84]
        if "llvmpipe" in kp.Manager().get_device_properties()["device_name"]:
            assert got[3][3:].tolist() == [0] * len(far)  # 2**32 + 1 is not 1


RANGES = [(0, 10, 1), (3, 20, 7), (20, 3, -4), (5, 5, 1), (9, 2, 1), (2, 9, -1), (100, 127, 9)]


@pytest.mark.parametrize("name", INTS)
def test_ranges_over_every_integer_type(name):
    """The variable has the type of the ends; near the ends of the type nothing overflows."""
    info = np.iinfo(INTS[name])
    low, high = int(info.min), int(info.max)
    rows = [
        *RANGES,
        (high - 5, high, 2),
        (high - 2, high, 1),
        (low + 3, low, -1),
        (low + 9, low, -3),
        (low, low + 3, 1),
    ]
    if name in ("i64", "u64"):
        rows += [(high - 2**40, high, 2**38), (2**40, 5, -(2**39))]
    step = "i64" if name in ("i64", "u64") else "i32"
    text = f"""def k(i: Index, start: Array[{name}], stop: Array[{name}], step: Array[{step}], out: Array[{name}], turns: Array[i32]):
    total = {name}(0)
    for x in range(start[i], stop[i], step[i]):
        total = total * 3 + x
        turns[i] += 1
    out[i] = total
    for y in range(start[i], stop[i]):
        if y - start[i] > 10:
            break
        turns[i] += 100
    for z in range(stop[i], start[i], -2):
        if z + 20 < stop[i]:
            break
        turns[i] += 10000
"""
    columns = [np.array(c, TYPES[t]) for c, t in zip(zip(*rows, strict=True), (name, name, step), strict=True)]
    got = launch({name, step}, text, *columns, np.zeros(len(rows), TYPES[name]), np.zeros(len(rows), np.int32))
    for n, (start, stop, by) in enumerate(rows if got else []):
        total, turns = 0, 0
        for x in range(start, stop, by):
            total, turns = wrap(name, total * 3 + x), turns + 1
        for y in range(start, stop):
            if wrap(name, y - start) > 10:
                break
            turns += 100
        for z in range(stop, start, -2):
            if wrap(name, z + 20) < stop:
                break
            turns += 10000
        assert (got[3][n].item(), got[4][n].item()) == (total, turns), (start, stop, by)


def test_a_chain_of_comparisons_evaluates_its_middle_once_whatever_the_types():
    text = """
def drawn(a):
    a[0] += 1
    return i16(a[0])

def k(i: Index, x: Array[i8], y: Array[i64], f: Array[f32], a: Array[i32], out: Array[bool]):
    out[0] = x[0] < drawn(a) < y[0]
    out[1] = f[0] <= drawn(a) != y[0]
    out[2] = x[0] < f[0] < 3 < y[0]
"""
    x, y, f = np.array([1], np.int8), np.array([2], np.int64), np.array([1.5], np.float32)
    got = launch({"i8", "i16", "i64"}, text, x, y, f, np.array([4], np.int32), np.zeros(3, bool), extent=1)
    if got is not None:
        assert got[3][0] == 6 and got[4].tolist() == [False, True, False]


def test_the_variable_of_a_loop_may_be_wider_than_its_range():
    text = """def k(i: Index, n: Array[u8], out: Array[i64]):
    x: i64 = 5
    for x in range(n[0], n[1], 3):
        out[0] = out[0] * 10 + x
    for x in range(n[0]):
        out[1] += x * 1099511627776
"""
    got = launch({"u8", "i64"}, text, np.array([2, 9], np.uint8), np.zeros(2, np.int64), extent=1)
    if got is not None:
        assert got[1].tolist() == [258, 2**40]
    for kind in ("f32", "f64", "u8"):
        with pytest.raises(kp.CompileError, match=rf"'x' is {kind} since line 2, but this is i16; write {kind}\("):
            kp.compile(f"def k(i: Index, n: i16):\n    x: {kind} = 0\n    for x in range(n):\n        pass\n")


@pytest.mark.parametrize("name", TYPES)
def test_lengths_are_exact(name):
    for components in (1, 2, 3, 4):
        type_ = name if components == 1 else f"{VECTORS[name]}{components}"
        text = f"def k(i: Index, a: Array[{type_}], n: Array[i32]):\n    n[i] = len(a)\n"
        for count in (1, 2, 3, 4, 5, 7, 8, 101):
            got = launch({name}, text, np.zeros((count, components), TYPES[name]), np.zeros(1, np.int32))
            if got is None:
                break
            assert got[1][0] == count, (type_, count)


# ----------------------------------------------------------------------------------------------------------------------
# What a module declares
# ----------------------------------------------------------------------------------------------------------------------

SHADER, FLOAT16, FLOAT64, INT64, INT16, INT8 = 1, 9, 10, 11, 22, 39
STORAGE16, PUSH16, STORAGE8, PUSH8 = 4433, 4435, 4448, 4450

DECLARED = {
    "i: Index, a: Array[f32], n: i32, f: bool": (set(), "a[i] = 1.0 if f else 0.0"),
    "i: Index, a: Array[bool]": ({STORAGE8}, "a[i] = not a[i]"),
    "i: Index, a: Array[u8]": ({STORAGE8, INT8}, "a[i] = 1"),
    "i: Index, a: Array[i32], n: u8": ({PUSH8, INT8}, "a[i] = n"),
    "i: Index, a: Array[i32]": ({INT8}, "a[i] = u8(a[i])"),
    "i: Index, a: Array[i16]": ({STORAGE16, INT16}, "a[i] += 1"),
    "i: Index, a: Array[i32], n: i16": ({PUSH16, INT16}, "a[i] = n"),
    "i: Index, a: Array[f16]": ({STORAGE16, FLOAT16}, "a[i] = a[i] * 2 % 3"),
    "i: Index, a: Array[f32], x: f16": ({PUSH16, FLOAT16}, "a[i] = x"),
    "i: Index, a: Array[f64], x: f64": ({FLOAT64}, "a[i] = a[i] % x if isnan(x) else x ** 3"),
    "i: Index, a: Array[u64], n: i64": ({INT64}, "a[i] = a[i] // u64(n) ** a[0]"),
    "i: Index, a: Array[i64vec3]": ({INT64, FLOAT64}, "a[i].x = i64(a[i].y / 3)"),
}


@pytest.mark.parametrize("parameters", DECLARED)
def test_capabilities_are_declared_exactly_when_used(parameters):
    wanted, statement = DECLARED[parameters]
    spirv = bytes(kp.compile(f"def k({parameters}):\n    {statement}\n"))
    validate(spirv)
    words, at, found, extensions = np.frombuffer(spirv, np.uint32), 5, [], []
    while at < len(words):
        count, op = int(words[at]) >> 16, int(words[at]) & 0xFFFF
        if op == 17:
            found.append(int(words[at + 1]))
        if op == 10:
            extensions.append(words[at + 1 : at + count].tobytes().rstrip(b"\0").decode())
        at += count
    assert sorted(found) == sorted({SHADER, *wanted})
    assert extensions == (["SPV_KHR_8bit_storage"] if wanted & {STORAGE8, PUSH8} else [])
