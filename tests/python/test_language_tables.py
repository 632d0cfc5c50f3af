"""Tables of integers: what tuples and lists of Python's ints are when the kernel runs, up to SHA-256 with plain constants."""

import hashlib

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, i32, u32
from typekit import launch

K = (
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5, 0xD807AA98, 0x12835B01,
    0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174, 0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC,
    0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA, 0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147,
    0x06CA6351, 0x14292967, 0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070, 0x19A4C116, 0x1E376C08,
    0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3, 0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208,
    0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
)  # fmt: skip
START = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
WIDE = ((1, 2**40), (-(2**35), 7))


def rotated(x, n):
    return (x >> n) | (x << (32 - n))


@kp.kernel
def sha256(i: Index, blocks: i32, words: Array[u32], digest: Array[u32]):
    """The digest of one padded message of `blocks` blocks, by invocation."""
    h = [START[k] for k in range(8)]
    for block in range(blocks):
        w = [u32(0)] * 64
        for t in range(16):
            w[t] = words[(i * blocks + block) * 16 + t]
        for t in range(16, 64):
            s0 = rotated(w[t - 15], 7) ^ rotated(w[t - 15], 18) ^ (w[t - 15] >> 3)
            s1 = rotated(w[t - 2], 17) ^ rotated(w[t - 2], 19) ^ (w[t - 2] >> 10)
            w[t] = w[t - 16] + s0 + w[t - 7] + s1
        s = h.copy()
        for t in range(64):
            a, e = s[0], s[4]
            t1 = s[7] + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + K[t] + w[t]
            t2 = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]))
            for k in range(7, 0, -1):
                s[k] = s[k - 1]
            s[4] += t1
            s[0] = t1 + t2
        for k in range(8):
            h[k] += s[k]
    for k in range(8):
        digest[8 * i + k] = h[k]


def padded(message):
    data = message + b"\x80" + b"\0" * (-(len(message) + 9) % 64) + (8 * len(message)).to_bytes(8, "big")
    return np.frombuffer(data, dtype=">u4").astype(np.uint32)


def test_sha256_with_its_constants_as_plain_ints():
    messages = [bytes((7 * k + n) % 256 for k in range(70 + n)) for n in range(40)]
    words = np.concatenate([padded(m) for m in messages])
    digests = np.zeros(8 * len(messages), dtype=np.uint32)
    sha256(2, words, digests, extent=len(messages))
    wanted = b"".join(hashlib.sha256(m).digest() for m in messages)
    assert digests.astype(">u4").tobytes() == wanted


def test_sha256_in_cpython():
    digest = np.zeros(8, dtype=np.uint32)
    sha256.emulate(1, padded(b"abc"), digest, extent=1)
    assert digest.astype(">u4").tobytes() == hashlib.sha256(b"abc").digest()


@pytest.mark.parametrize("how", ["device", "emulate"])
def test_lists_and_tuples_in_the_text(how):
    """u32 when they all fit that and not i32."""

    def tables(i: Index, out: Array[u32]):
        a = [1, 0xFFFFFFFF, 0x80000000]
        b = [[1, 2], [3000000000, 4]]
        out[i] = a[i] + (5, 0xF0000000, 7)[i] + b[i % 2][0]

    out = np.zeros(3, dtype=np.uint32)
    kernel = kp.kernel(tables)
    (kernel if how == "device" else kernel.emulate)(out)
    wanted = [(1 + 5 + 1), (0xFFFFFFFF + 0xF0000000 + 3000000000), (0x80000000 + 7 + 1)]
    assert out.tolist() == [w % 2**32 for w in wanted]


def test_a_table_beyond_u32_is_one_of_i64():
    text = f"T = {WIDE}\ndef k(i: Index, out: Array[i64]):\n    out[i] = T[i // 2][i % 2]\n"
    got = launch({"i64"}, text, np.zeros(4, dtype=np.int64))
    assert got is None or got[0].tolist() == [1, 2**40, -(2**35), 7]


def test_a_table_within_i32_stays_one():
    """Also where all its numbers are positive: it adapts to nothing else."""
    with pytest.raises(kp.CompileError, match="takes two values of one type, but these are u32 and i32"):
        kp.kernel_from_source("T = (1, 2)\ndef k(i: Index, x: Array[u32]):\n    x[i] = x[i] + T[i]\n")


N = 100


@kp.kernel
def outside_and_inside(i: Index, out: Array[i32]):
    a = [N * 2 for N in range(3)]
    out[i] = N + a[i] + [k + 0 for k in range(N)][i]


def test_a_variable_of_a_comprehension_hides_a_global_in_it_alone():
    out = np.zeros(3, dtype=np.int32)
    outside_and_inside(out)
    assert out.tolist() == [100, 103, 106]
    outside_and_inside.emulate(out)
    assert out.tolist() == [100, 103, 106]
