"""The functions of the bits of numbers, over edge values of every type, against Python's ints and NumPy's views."""

import itertools

import numpy as np
import pytest
from kernel_check import check
from typekit import FLOATS, INTS, TYPES, launch


def needs(*names):
    """Whether the device has the types; one that it lacks is refused."""
    texts = [f"def k(i: Index, x: Array[{name}]):\n    x[i] = x[i] + x[i]\n" for name in names]
    return all(
        launch({name}, text, np.zeros(1, TYPES[name])) is not None for name, text in zip(names, texts, strict=True)
    )


def values(name):
    """0, all powers of two and their neighbours, the ends of the range, and their negatives."""
    info = np.iinfo(INTS[name])
    found = {0, info.min, info.max, 0x5A5A5A5A, 0x0F1E2D3C4B5A6978}
    for n in range(info.bits):
        found |= {1 << n, (1 << n) - 1, (1 << n) + 1, -(1 << n), -(1 << n) - 1}
    return np.array(sorted(x for x in found if info.min <= x <= info.max), dtype=INTS[name])


@pytest.mark.parametrize("name", INTS)
def test_counts_lengths_and_reversals(name):
    if not needs(name):
        return
    x = values(name)
    bits = x.itemsize * 8
    got = check(
        f"""
        def k(i: Index, x: Array[{name}], n: Array[i32], m: Array[i32], r: Array[{name}]):
            n[i] = 1000 * bit_count(x[i]) + bit_length(x[i])
            m[i] = 1000 * x[i].bit_count() + x[i].bit_length()
            r[i] = bit_reverse(x[i])
        """,
        x,
        np.zeros(len(x), np.int32),
        np.zeros(len(x), np.int32),
        np.zeros_like(x),
    )
    counts = [1000 * int(v).bit_count() + int(v).bit_length() for v in x]
    assert got[1].tolist() == counts == got[2].tolist()
    mask = (1 << bits) - 1
    assert [int(v) & mask for v in got[3]] == [int(f"{int(v) & mask:0{bits}b}"[::-1], 2) for v in x]


@pytest.mark.parametrize("name", [name for name in INTS if not name.endswith("64")])
def test_the_upper_half_of_a_product(name):
    if not needs(name):
        return
    some = values(name)[:: 1 if name.endswith("8") else 5]
    a, b = (np.array(c, dtype=some.dtype) for c in zip(*itertools.product(some, some), strict=True))
    text = f"def k(i: Index, a: Array[{name}], b: Array[{name}]):\n    a[i] = mul_hi(a[i], b[i])\n"
    (got, _) = check(text, a, b)
    assert got.tolist() == [int(x) * int(y) >> 8 * some.itemsize for x, y in zip(a, b, strict=True)]


CASTS = [
    ("f32", "u32"), ("f32", "i32"), ("u32", "i32"), ("f16", "u16"), ("f16", "i16"), ("i8", "u8"),
    ("f64", "u64"), ("f64", "i64"), ("u64", "i64"),
]  # fmt: skip


@pytest.mark.parametrize("a, b", CASTS, ids=[f"{a}-{b}" for a, b in CASTS])
def test_the_same_bits_of_another_type(a, b):
    if not needs(a, b):
        return
    ints = values("u" + a[1:])
    x, y = ints.view(TYPES[a]), ints.view(TYPES[b])
    keep = ~np.isnan(x)  # a device may give a NaN other bits
    if a in FLOATS:
        keep &= (np.abs(x) >= np.finfo(FLOATS[a]).tiny) | (x == 0)
    x, y = x[keep], y[keep]
    text = f"def k(i: Index, x: Array[{a}], y: Array[{b}]):\n    s = bitcast({b}, x[i])\n    x[i] = bitcast({a}, y[i])\n    y[i] = s\n"
    got = check(text, x, y[::-1].copy())
    assert got[0].tobytes() == x[::-1].tobytes() and got[1].tobytes() == y.tobytes()


def test_vectors_and_literals():
    f = np.array([1.5, -2.0, 3e8, 0.0, 1e-3, -0.0], dtype=np.float32)
    got = check(
        """
        def k(i: Index, f: Array[vec3], n: Array[ivec3], u: Array[uvec3]):
            u[i] = bitcast(u32, f[i])
            n[i] = bit_count(u[i]) + 100 * bit_length(bitcast(ivec3, f[i])) + bitcast(i32, 2.5)
            u[i] = mul_hi(u[i], u32(0x10000)) + bit_reverse(uvec3(1, 2, 3))
            f[i] = bitcast(vec3, bitcast(i32, f[i]) ^ -0x80000000)
        """,
        f.reshape(2, 3),
        np.zeros((2, 3), np.int32),
        np.zeros((2, 3), np.uint32),
        extent=2,
    )
    assert got[0].tobytes() == (-f).tobytes()
    bits, signed = f.view(np.uint32).tolist(), f.view(np.int32).tolist()
    two_and_a_half = int(np.float32(2.5).view(np.int32))
    wanted = [u.bit_count() + 100 * s.bit_length() + two_and_a_half for u, s in zip(bits, signed, strict=True)]
    assert got[1].reshape(-1).tolist() == wanted
    assert got[2].reshape(-1).tolist() == [
        (u >> 16) + r for u, r in zip(bits, [1 << 31, 1 << 30, 3 << 30] * 2, strict=True)
    ]


def test_bits_in_the_text():
    """A literal may have its highest bit set."""
    text = "def k(i: Index, x: Array[f32]):\n    x[i] = bitcast(f32, 0xBF800000) * x[i] + bitcast(f32, -0x40000000)\n"
    assert check(text, np.arange(3, dtype=np.float32))[0].tolist() == [-2, -3, -4]


def test_products_of_literals():
    text = "def k(i: Index, x: Array[i32]):\n    x[i] = x[i] * mul_hi(3, 4) + mul_hi(0x40000000, 8)\n"
    assert check(text, np.arange(3, dtype=np.int32))[0].tolist() == [2, 2, 2]


def test_a_random_generator():
    """Philox 4x32-10, whose rounds are products' halves, against Python's whole numbers."""
    text = """
    def k(i: Index, key: Array[u32], out: Array[uvec4]):
        counter = uvec4(u32(i) + 1, 0, 0, 0)
        k0, k1 = key[0], key[1]
        for _ in range(10):
            a, b = u32(0xD2511F53) * counter.x, mul_hi(u32(0xD2511F53), counter.x)
            c, d = u32(0xCD9E8D57) * counter.z, mul_hi(u32(0xCD9E8D57), counter.z)
            counter = uvec4(d ^ counter.y ^ k0, c, b ^ counter.w ^ k1, a)
            k0 += 0x9E3779B9
            k1 += 0xBB67AE85
        out[i] = counter
    """
    _, got = check(text, np.array([1, 2], np.uint32), np.zeros((5, 4), np.uint32), extent=5)

    def philox(counter):
        x, keys = [counter, 0, 0, 0], [1, 2]
        for _ in range(10):
            p, q = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
            x = [q >> 32 ^ x[1] ^ keys[0], q & 0xFFFFFFFF, p >> 32 ^ x[3] ^ keys[1], p & 0xFFFFFFFF]
            keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
        return x

    assert got.tolist() == [philox(i + 1) for i in range(5)]
