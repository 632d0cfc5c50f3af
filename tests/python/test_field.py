"""Kernels of the field as their users write them, plain and checked, against NumPy, CPython and hashlib. Sorts, scans, products and
histograms by workgroups are in test_parallel.py."""

import hashlib
import math
import struct
from decimal import Decimal, localcontext

import kp
import numpy as np
import pytest
from kp.lang import (
    Array,
    GroupIndex,
    Image2D,
    Index,
    Index2,
    LocalIndex,
    atomic_add,
    barrier,
    bit_reverse,
    clamp,
    cos,
    dot,
    f32,
    i32,
    mul_hi,
    shared,
    sin,
    sqrt,
    subgroup_count,
    subgroup_id,
    subgroup_inclusive_add,
    subgroup_lane,
    subgroup_size,
    u32,
    uvec4,
    vec2,
    vec3,
)


def both(**options):
    """A kernel, plain and checked, by `checked`."""
    return lambda function: {checked: kp.kernel(checked=checked, **options)(function) for checked in (False, True)}


@pytest.fixture(params=[False, True], ids=["plain", "checked"])
def checked(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@both(local_size=64)
def radix_hist(i: Index, g: GroupIndex, t: LocalIndex, shift: u32, keys: Array[u32], hist: Array[u32, 2]):
    counts = shared(u32, 16)
    if t < 16:
        counts[t] = 0
    barrier()
    if i < len(keys):
        digit = (keys[i] >> shift) & 0xF
        atomic_add(counts[digit], 1)
    barrier()
    if t < 16:
        hist[t, g] = counts[t]


@both(local_size=64)
def radix_scatter(
    i: Index, g: GroupIndex, t: LocalIndex, shift: u32, keys: Array[u32], starts: Array[u32, 2], out: Array[u32]
):
    digits = shared(u32, 64)
    mine = u32(255)
    if i < len(keys):
        mine = (keys[i] >> shift) & 15
    digits[t] = mine
    barrier()
    if i < len(keys):
        rank = u32(0)
        for k in range(t):
            if digits[k] == mine:
                rank += 1
        out[starts[mine, g] + rank] = keys[i]


def test_radix_sort(checked, rng):
    keys = rng.integers(0, 2**32, 1000, dtype=np.uint32)
    w = np.sort(keys)
    groups = (len(keys) + 63) // 64
    out = np.zeros_like(keys)
    for shift in range(0, 32, 4):
        hist = np.zeros((16, groups), np.uint32)
        radix_hist[checked](shift, keys, hist, extent=len(keys))
        starts = np.concatenate([[0], np.cumsum(hist.reshape(-1))[:-1]]).astype(np.uint32).reshape(hist.shape)
        radix_scatter[checked](shift, keys, starts, out, extent=len(keys))
        keys, out = out, keys
    assert (keys == w).all()


@both()
def mandelbrot(at: Index2, out: Array[i32, 2], limit: i32 = 50):
    h, w = out.shape
    cx = -2.0 + 3.0 * f32(at.x) / f32(w)
    cy = -1.5 + 3.0 * f32(at.y) / f32(h)
    x, y, n = 0.0, 0.0, 0
    while x * x + y * y <= 4 and n < limit:
        x, y = x * x - y * y + cx, 2 * x * y + cy
        n += 1
    out[at.y, at.x] = n


def test_mandelbrot(checked, rng):
    out = np.zeros((40, 60), np.int32)
    mandelbrot[checked](out)
    f = np.float32
    bad = 0
    for r in range(40):
        for c in range(60):
            cx = f(-2.0) + f(f(3.0) * f(c)) / f(60)
            cy = f(-1.5) + f(f(3.0) * f(r)) / f(40)
            x = y = f(0)
            n = 0
            while x * x + y * y <= 4 and n < 50:
                x, y = x * x - y * y + cx, f(2) * x * y + cy
                n += 1
            bad += n != out[r, c]
    assert bad < 40, "more than what rounding otherwise explains, at the edge of the set"


G = 6.67e-2


@both()
def nbody(i: Index, dt: f32, pos: Array[vec3], vel: Array[vec3], mass: Array[f32], new: Array[vec3]):
    p = pos[i]
    a = vec3(0)
    for j in range(len(pos)):
        if j == i:
            continue
        d = pos[j] - p
        r2 = dot(d, d) + 1e-3
        a += G * mass[j] * d / (r2 * sqrt(r2))
    vel[i] += a * dt
    new[i] = p + vel[i] * dt


def test_n_body(checked, rng):
    n = 50
    pos = rng.random((n, 3)).astype(np.float32)
    vel = rng.random((n, 3)).astype(np.float32)
    mass = rng.random(n).astype(np.float32)
    new = np.zeros_like(pos)
    v0 = vel.copy()
    nbody[checked](0.1, pos, vel, mass, new)
    d = pos[None].astype(float) - pos[:, None]
    r2 = (d**2).sum(-1) + 1e-3
    a = (G * mass[None, :, None] * d / (r2 * np.sqrt(r2))[..., None]).sum(1)
    v = v0 + a * 0.1
    assert np.allclose(vel, v, atol=1e-4) and np.allclose(new, pos + v * 0.1, atol=1e-4)


PRIMES = [p for p in range(2, 312) if all(p % q for q in range(2, p))]
with localcontext() as context:  # SHA-256's constants: of cube roots, what is behind the point
    context.prec = 60
    ROUNDS = tuple(int(Decimal(p) ** (Decimal(1) / 3) % 1 * 2**32) for p in PRIMES)


def rotr(x: u32, n: i32) -> u32:
    return (x >> n) | (x << (32 - n))


@both()
def sha256(i: Index, blocks: Array[u32, 2], out: Array[u32, 2]):
    h = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
    w = [u32(0)] * 64
    for t in range(16):
        w[t] = blocks[i, t]
    for t in range(16, 64):
        s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ (w[t - 15] >> 3)
        s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ (w[t - 2] >> 10)
        w[t] = w[t - 16] + s0 + w[t - 7] + s1
    a, b, c, d, e, f, g, hh = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
    for t in range(64):
        S1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)
        ch = (e & f) ^ (~e & g)
        t1 = hh + S1 + ch + ROUNDS[t] + w[t]
        S0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)
        maj = (a & b) ^ (a & c) ^ (b & c)
        t2 = S0 + maj
        hh, g, f, e, d, c, b, a = g, f, e, d + t1, c, b, a, t1 + t2
    k = 0
    for x in (a, b, c, d, e, f, g, hh):
        out[i, k] = h[k] + x
        k += 1


def test_sha256(checked, rng):
    msgs = [bytes(rng.integers(0, 256, 30, dtype=np.uint8)) for _ in range(5)]
    blocks = np.zeros((5, 16), np.uint32)
    for r, m in enumerate(msgs):
        b = m + b"\x80" + b"\0" * (55 - len(m)) + struct.pack(">Q", 8 * len(m))
        blocks[r] = np.frombuffer(b, ">u4")
    out = np.zeros((5, 8), np.uint32)
    sha256[checked](blocks, out)
    for r, m in enumerate(msgs):
        assert out[r].astype(">u4").tobytes() == hashlib.sha256(m).digest(), r


def mulhilo(a: u32, b: u32):
    return mul_hi(a, b), a * b


@both()
def philox(i: Index, k0: u32, k1: u32, out: Array[uvec4]):
    c = uvec4(u32(i), 0, 0, 0)
    key0, key1 = k0, k1
    for _ in range(10):
        hi0, lo0 = mulhilo(0xD2511F53, c.x)
        hi1, lo1 = mulhilo(0xCD9E8D57, c.z)
        c = uvec4(hi1 ^ c.y ^ key0, lo1, hi0 ^ c.w ^ key1, lo0)
        key0 += 0x9E3779B9
        key1 += 0xBB67AE85
    out[i] = c


def test_philox_random_numbers(checked, rng):
    out = np.zeros((8, 4), np.uint32)
    philox[checked](0, 0, out)
    assert [hex(x) for x in out[0]] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"], out[0]

    def ref(c, k):
        M = 2**32
        for _ in range(10):
            p0 = 0xD2511F53 * c[0]
            p1 = 0xCD9E8D57 * c[2]
            c = [(p1 >> 32) ^ c[1] ^ k[0], p1 % M, (p0 >> 32) ^ c[3] ^ k[1], p0 % M]
            k = [(k[0] + 0x9E3779B9) % M, (k[1] + 0xBB67AE85) % M]
        return c

    philox[checked](123, 2**32 - 1, out)
    for r in range(8):
        assert out[r].tolist() == ref([r, 0, 0, 0], [123, 2**32 - 1])


@both()
def life(i: Index2, a: Array[i32, 2], b: Array[i32, 2]):
    h, w = a.shape
    n = 0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            if not (dx == 0 and dy == 0):
                n += a[(i.y + dy) % h, (i.x + dx) % w]
    b[i.y, i.x] = int(n == 3 or (n == 2 and a[i.y, i.x] == 1))


def test_game_of_life(checked, rng):
    a = rng.integers(0, 2, (20, 30)).astype(np.int32)
    b = np.zeros_like(a)
    life[checked](a, b)
    n = sum(np.roll(a, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)
    assert (b == ((n == 3) | ((n == 2) & (a == 1)))).all()


GX = ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1))


@both()
def sobel(at: Index2, src: Image2D[f32], dst: Image2D[f32]):
    gx = gy = 0.0
    for dy in range(3):
        for dx in range(3):
            v = src[clamp(at.x + dx - 1, 0, src.width - 1), clamp(at.y + dy - 1, 0, src.height - 1)]
            gx += f32(GX[dy][dx]) * v
            gy += f32(GX[dx][dy]) * v
    dst[at] = math.hypot(gx, gy)


def test_sobel_filter(checked, rng):
    a = rng.random((9, 13)).astype(np.float32)
    out = np.zeros_like(a)
    sobel[checked](a, out)
    p = np.pad(a, 1, mode="edge").astype(float)
    k = np.array(GX, float)
    gx = sum(k[y, x] * p[y : y + 9, x : x + 13] for y in range(3) for x in range(3))
    gy = sum(k[x, y] * p[y : y + 9, x : x + 13] for y in range(3) for x in range(3))
    assert np.allclose(out, np.hypot(gx, gy), atol=1e-5)


@both()
def jacobi(i: Index2, u: Array[f32, 2], v: Array[f32, 2]):
    h, w = u.shape
    if 0 < i.x < w - 1 and 0 < i.y < h - 1:
        v[i.y, i.x] = 0.25 * (u[i.y - 1, i.x] + u[i.y + 1, i.x] + u[i.y, i.x - 1] + u[i.y, i.x + 1])
    else:
        v[i.y, i.x] = u[i.y, i.x]


def test_jacobi_step(checked, rng):
    u = rng.random((12, 17)).astype(np.float32)
    v = np.zeros_like(u)
    jacobi[checked](u, v)
    w = u.copy()
    w[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    assert np.allclose(v, w, atol=1e-6)


@both(local_size=64)
def scan(i: Index, t: LocalIndex, g: GroupIndex, x: Array[i32], out: Array[i32], sums: Array[i32]):
    parts = shared(i32, 64)
    v = x[i] if i < len(x) else 0
    inc = subgroup_inclusive_add(v)
    if subgroup_lane() == subgroup_size() - 1:
        parts[subgroup_id()] = inc
    barrier()
    if t == 0:
        run = 0
        for k in range(subgroup_count()):
            run, parts[k] = run + parts[k], run
        sums[g] = run
    barrier()
    if i < len(x):
        out[i] = inc + parts[subgroup_id()]


@both()
def add_offsets(i: Index, offsets: Array[i32], out: Array[i32]):
    out[i] += offsets[i // 64]


def test_prefix_sum_by_subgroups(checked, rng):
    x = rng.integers(-50, 50, 300).astype(np.int32)
    out = np.zeros_like(x)
    sums = np.zeros(5, np.int32)
    scan[checked](x, out, sums, extent=300)
    add_offsets[checked]((np.cumsum(sums) - sums).astype(np.int32), out)
    assert (out == np.cumsum(x)).all()


@both()
def spmv(row: Index, ptr: Array[i32], col: Array[i32], val: Array[f32], x: Array[f32], y: Array[f32]):
    acc = 0.0
    for k in range(ptr[row], ptr[row + 1]):
        acc += val[k] * x[col[k]]
    y[row] = acc


@both()
def axpy(i: Index, alpha: f32, x: Array[f32], y: Array[f32]):
    y[i] += alpha * x[i]


@both()
def xpby(i: Index, beta: f32, r: Array[f32], p: Array[f32]):
    p[i] = r[i] + beta * p[i]


@both()
def dotk(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):
    atomic_add(out, 0, a[i] * b[i])


def test_conjugate_gradients(checked, rng):
    n = 40
    A = np.diag(np.full(n, 2.5)) + np.diag(np.full(n - 1, -1.0), 1) + np.diag(np.full(n - 1, -1.0), -1)
    ptr, col, val = [0], [], []
    for r in range(n):
        for c in np.nonzero(A[r])[0]:
            col.append(c)
            val.append(A[r, c])
        ptr.append(len(col))
    ptr, col, val = np.array(ptr, np.int32), np.array(col, np.int32), np.array(val, np.float32)
    b = rng.random(n).astype(np.float32)
    x = np.zeros(n, np.float32)
    r = b.copy()
    p = b.copy()
    q = np.zeros(n, np.float32)

    def dot_(u, v):
        o = np.zeros(1, np.float32)
        dotk[checked](u, v, o, extent=n)
        return float(o[0])

    rr = dot_(r, r)
    for _ in range(60):
        spmv[checked](ptr, col, val, p, q)
        alpha = rr / dot_(p, q)
        axpy[checked](alpha, p, x)
        axpy[checked](-alpha, q, r)
        new = dot_(r, r)
        if new < 1e-10:
            break
        xpby[checked](new / rr, r, p)
        rr = new
    assert np.allclose(A @ x, b, atol=1e-3)


class Ray(kp.Struct):
    origin: vec3
    dir: vec3


class Sphere(kp.Struct):
    center: vec3
    radius: f32


def hit(ray: Ray, s: Sphere) -> f32:
    oc = ray.origin - s.center
    b = dot(oc, ray.dir)
    c = dot(oc, oc) - s.radius * s.radius
    disc = b * b - c
    if disc < 0:
        return -1.0
    root = sqrt(disc)
    t = -b - root
    if t > 1e-4:
        return t
    t = -b + root
    return t if t > 1e-4 else -1.0


@both()
def trace(i: Index, rays: Array[Ray], spheres: Array[Sphere], t: Array[f32], which: Array[i32]):
    best, best_i = math.inf, -1
    for k in range(len(spheres)):
        d = hit(rays[i], spheres[k])
        if 0 < d < best:
            best, best_i = d, k
    t[i], which[i] = best, best_i


def test_rays_and_spheres(checked, rng):
    rays = np.zeros(30, Ray.dtype)
    sp = np.zeros(4, Sphere.dtype)
    rays["origin"] = rng.normal(size=(30, 3))
    d = rng.normal(size=(30, 3))
    rays["dir"] = d / np.linalg.norm(d, axis=1, keepdims=True)
    sp["center"] = rng.normal(size=(4, 3)) * 2
    sp["radius"] = 0.7
    t = np.zeros(30, np.float32)
    w = np.zeros(30, np.int32)
    trace[checked](rays, sp, t, w, extent=30)
    for r in range(30):
        best = (math.inf, -1)
        for k in range(4):
            oc = rays["origin"][r].astype(float) - sp["center"][k]
            b = oc @ rays["dir"][r]
            c = oc @ oc - 0.49
            disc = b * b - c
            if disc < 0:
                continue
            for tt in (-b - math.sqrt(disc), -b + math.sqrt(disc)):
                if tt > 1e-4:
                    if tt < best[0]:
                        best = (tt, k)
                    break
        assert w[r] == best[1], r
        assert best[1] == -1 and math.isinf(t[r]) or abs(t[r] - best[0]) < 1e-3


def cmul(a: vec2, b: vec2):
    return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x)


@both(local_size=32)
def fft64(t: LocalIndex, g: GroupIndex, data: Array[vec2]):
    s = shared(vec2, 64)
    for k in (t, t + 32):
        r = bit_reverse(u32(k)) >> 26
        s[r] = data[g * 64 + k]
    barrier()
    half = 1
    while half < 64:
        pos = t % half
        base = (t // half) * 2 * half + pos
        ang = -math.pi * f32(pos) / f32(half)
        w = vec2(cos(ang), sin(ang))
        u, v = s[base], cmul(w, s[base + half])
        barrier()
        s[base], s[base + half] = u + v, u - v
        barrier()
        half <<= 1
    for k in (t, t + 32):
        data[g * 64 + k] = s[k]


def test_fft(checked, rng):
    x = (rng.random((2, 64)) + 1j * rng.random((2, 64))).astype(np.complex64)
    d = x.view(np.float32).reshape(-1, 2).copy()
    fft64[checked](d, extent=64)
    assert np.allclose(
        d.reshape(2, 64, 2).view(np.float32)[..., 0] + 1j * d.reshape(2, 64, 2)[..., 1], np.fft.fft(x), atol=2e-2
    )


N = 5


@both()
def lu(i: Index, m: Array[f32, 3], det: Array[f32]):
    a = [[0.0] * N for _ in range(N)]
    for r in range(N):
        for c in range(N):
            a[r][c] = m[i, r, c]
    d = 1.0
    for k in range(N):
        p = k
        for r in range(k + 1, N):
            if abs(a[r][k]) > abs(a[p][k]):
                p = r
        if p != k:
            for c in range(N):
                a[k][c], a[p][c] = a[p][c], a[k][c]
            d = -d
        d *= a[k][k]
        for r in range(k + 1, N):
            f = a[r][k] / a[k][k]
            a[r][k] = f
            for c in range(k + 1, N):
                a[r][c] -= f * a[k][c]
    det[i] = d


def test_lu_with_pivots(checked, rng):
    m = rng.normal(size=(6, N, N)).astype(np.float32)
    det = np.zeros(6, np.float32)
    lu[checked](m, det)
    assert np.allclose(det, np.linalg.det(m), rtol=1e-3, atol=1e-4)
