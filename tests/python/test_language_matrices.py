"""Matrices: what a kernel computes with them is what NumPy computes with arrays, and what kp.emulate gives."""

import textwrap

import kp
import numpy as np
import pytest
from kernel_check import check, validate
from kp.lang import Array, Index, f32, mat2, mat3, mat3x2, mat4, vec3
from typekit import launch

SIZES = [(c, r) for c in (2, 3, 4) for r in (2, 3, 4)]
NAMES = {(c, r): f"mat{c}" if c == r else f"mat{c}x{r}" for c, r in SIZES}
TURN = ((0.0, -1.0), (1.0, 0.0))


def numbers(*shape, seed=3):
    return (np.random.default_rng(seed).integers(-8, 9, shape) / 4).astype(np.float32)


@pytest.mark.parametrize("size", SIZES, ids=NAMES.get)
def test_rows_elements_and_arithmetic(size):
    """Of every size: read, written by row and element, with a known and an unknown index; + - * / by element."""
    columns, rows = size
    name = NAMES[size]
    text = f"""
        def k(i: Index, a: Array[{name}], b: Array[{name}], s: f32, o: Array[f32]):
            m = a[i]
            n = b[i]
            m[1] = n[0]
            m[i % {rows}, i % {columns}] = s
            m[-1, 0] += 2.0
            m[0].xy = vec2(7, 8)
            b[i] = 2.0 * m + n * m - m / 4.0 - s + -n
            b[i][1, 1] *= 3.0
            b[i][i % {rows}] -= m[1]
            o[i] = f32(len(m)) + m[i % {rows}][1] + b[i][0, i % {columns}]
            for row in n:
                o[i] += row @ row
            {", ".join("wxyz"[:rows])} = n
            o[i] += w.x - x.y
            {", ".join(f"m[{k}]" for k in range(rows))} = {", ".join(f"m[{k}]" for k in reversed(range(rows)))}
            a[i] = m
            a[i] += n
            a[i][1].x = a[i][0].y
    """
    check(text, numbers(6, rows, columns), numbers(6, rows, columns, seed=4), 1.5, np.zeros(6, np.float32), extent=6)


@pytest.mark.parametrize("size", SIZES, ids=NAMES.get)
def test_products_and_transposes(size):
    columns, rows = size
    text = f"""
        def k(i: Index, a: Array[{NAMES[size]}], b: Array[{NAMES[rows, columns]}], v: Array[vec{columns}], w: Array[vec{rows}],
              ab: Array[mat{rows}], ba: Array[mat{columns}], av: Array[vec{rows}], wa: Array[vec{columns}], t: Array[{NAMES[rows, columns]}]):
            ab[i] = a[i] @ b[i]
            ba[i] = b[i] @ a[i]
            av[i] = a[i] @ v[i]
            wa[i] = w[i] @ a[i]
            t[i] = a[i].T + transpose(a[i])
    """
    a, b, v, w = numbers(5, rows, columns), numbers(5, columns, rows), numbers(5, columns), numbers(5, rows)
    empty = [
        np.zeros(s, np.float32) for s in ((5, rows, rows), (5, columns, columns), (5, rows), (5, columns), b.shape)
    ]
    ab, ba, av, wa, t = check(text, a, b, v, w, *empty)[4:]
    assert np.array_equal(ab, a @ b)
    assert np.array_equal(ba, b @ a)
    assert np.array_equal(av, np.einsum("nrc,nc->nr", a, v))
    assert np.array_equal(wa, np.einsum("nr,nrc->nc", w, a))
    assert np.array_equal(t, 2 * a.transpose(0, 2, 1))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_determinants_and_inverses(n):
    text = f"""
        def k(i: Index, a: Array[mat{n}], d: Array[f32], b: Array[mat{n}]):
            d[i] = determinant(a[i])
            b[i] = matrix_inverse(a[i]) + 0.0 * inverse(eye({n}))
    """
    a = numbers(8, n, n) + 4 * np.eye(n, dtype=np.float32)
    d, b = check(text, a, np.zeros(8, np.float32), np.zeros_like(a), tolerance=lambda w: 1e-4 * np.abs(w) + 1e-4)[1:]
    assert np.allclose(d, np.linalg.det(a), rtol=1e-4)
    assert np.allclose(b @ a, np.eye(n), atol=1e-4)


def turned(m, by: mat2):
    m = m @ by
    m[0, 0] += 1
    return m


def halves(m: mat3) -> tuple[mat3, vec3]:
    return m / 2, m[2]


def set_first(matrices, m):
    matrices[0] = m
    return matrices[1].T


@kp.kernel
def helpers(i: Index, a: Array[mat3], o: Array[mat2], gain: mat2, offset: mat3x2, shift: f32, all4: mat4):
    half, last = halves(a[i])
    a[i] = half if i % 2 == 0 else a[i] * half
    made = [mat2(1, 2, 3, 4), mat2(TURN), gain]
    t = set_first(made, turned(gain, made[1]))
    o[i] = made[0] + t + made[2] * shift + mat2(last.xy, offset @ last) + all4[1, 3]
    o[i][1] += offset[1].xz


def called(how):
    return helpers if how == "device" else helpers.emulate


@pytest.mark.parametrize("how", ["device", "cpython"])
def test_helpers_locals_and_push_constants(how):
    a, o = numbers(4, 3, 3), np.zeros((4, 2, 2), np.float32)
    gain, offset = numbers(2, 2, seed=5), numbers(2, 3, seed=6)
    all4 = numbers(4, 4, seed=8)
    start = a.copy()
    called(how)(a, o, gain, offset.tolist(), 0.5, tuple(map(tuple, all4)))
    turn = np.array(TURN, np.float32)
    for i in range(4):
        assert np.array_equal(a[i], start[i] / 2 if i % 2 == 0 else start[i] * start[i] / 2)
        m = gain @ turn
        m[0, 0] += 1
        last = start[i, 2]
        wanted = m + turn.T + gain * np.float32(0.5) + np.array([last[:2], offset @ last]) + all4[1, 3]
        wanted[1] += offset[1, [0, 2]]
        assert np.array_equal(o[i], wanted)


def test_layout():
    """A buffer of matrices is NumPy's array of shape (n, rows, columns), tight; so are push constants."""
    text = "def k(i: Index, x: f32, a: Array[mat3], m: mat3, n: mat4, o: Array[mat4], p: mat2):\n"
    kernel = kp.kernel_from_source(text + "    a[i] = m * x\n    o[i] = n\n    o[i][0] += vec4(p[0], p[1])\n")
    validate(kernel.spirv())
    params = {p.name: p for p in kernel.params}
    assert [(params[n].size, params[n].components) for n in "aomnp"] == [(36, 9), (64, 16), (36, 9), (64, 16), (16, 4)]
    assert [params[n].offset for n in "xmnp"] == [0, 4, 48, 112]
    a, o = np.zeros((3, 3, 3), np.float32), np.zeros((3, 4, 4), np.float32)
    m, n, p = numbers(3, 3), numbers(4, 4), numbers(2, 2)
    kernel(2.0, a, m, n, o, p)
    assert np.array_equal(a, np.stack([2 * m] * 3))
    assert np.array_equal(o[:, 1:], np.stack([n] * 3)[:, 1:])
    assert np.array_equal(o[2, 0], n[0] + p.reshape(-1))


def test_constructors():
    text = """
        def k(i: Index, x: Array[f32], o: Array[mat2], q: Array[mat3x2]):
            v = vec2(x[0], 2)
            rows = mat2(v, v.yx)
            lists = mat2([[1, 2], [x[1], 4]])
            mixed = mat2([1, x[2]], v)
            o[i] = rows + 10 * lists + 100 * mixed + mat2(1, 0.5, x[3], 0) + x[1] * eye(2)
            q[i] = mat3x2(1, 2, 3, 4, 5, 6) + mat3x2(vec3(1), (x[0], 1, 2))
    """
    check(
        text,
        np.array([3, 5, 7, 9], np.float32),
        np.zeros((1, 2, 2), np.float32),
        np.zeros((1, 2, 3), np.float32),
        extent=1,
    )


@pytest.mark.parametrize(("name", "prefix"), [("f16", "h"), ("f64", "d")])
def test_matrices_of_other_floats(name, prefix):
    dtype = np.dtype(name.replace("f", "float"))
    text = f"""def k(i: Index, a: Array[{prefix}mat3], b: Array[{prefix}vec3], c: Array[mat3]):
    m = a[i] @ a[i].T + 1.0
    b[i] = m @ b[i]
    c[i] = mat3(m)
    a[i] = {prefix}mat3(c[i]) / 2.0
"""
    a, b = numbers(4, 3, 3).astype(dtype), numbers(4, 3).astype(dtype)
    got = launch({name, "f32"}, text, a, b, np.zeros((4, 3, 3), np.float32))
    if got is None:
        return
    m = a @ a.transpose(0, 2, 1) + dtype.type(1)
    assert np.array_equal(got[0], m / 2)
    assert np.allclose(got[1].astype(np.float64), np.einsum("nrc,nc->nr", m.astype(np.float64), b), rtol=1e-2)
    assert np.array_equal(got[2], m.astype(np.float32))


def test_shared_memory_and_tensors():
    text = """
        def k(i: Index, t: LocalIndex, a: Array[mat3], o: Array[mat3]):
            tile = shared(mat3, 4)
            tile[t] = a[i]
            tile[t][1, 2] += 1.0
            barrier()
            o[i] = tile[3 - t]
    """
    kernel = kp.kernel_from_source(textwrap.dedent(text), local_size=4)
    a = numbers(8, 3, 3)
    mgr = kp.Manager()
    x, y = mgr.tensor(a), mgr.tensor(np.zeros_like(a))
    algorithm = kernel.algorithm(mgr, [x, y])
    seq = mgr.sequence().record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([y]))
    seq.eval()
    wanted = a.copy()
    wanted[:, 1, 2] += 1
    assert np.array_equal(y.data().reshape(2, 4, 3, 3), wanted.reshape(2, 4, 3, 3)[:, ::-1])
    mgr.destroy()


def test_indices_stay_inside():
    """A row or column out of range is the last; a negative one counts from the end."""
    text = "def k(i: Index, at: Array[i32], o: Array[f32]):\n    m = mat2x3(1, 2, 3, 4, 5, 6)\n    o[i] = m[at[i], 0] + 10 * m[0, at[i]]\n"
    kernel = kp.kernel_from_source(text)
    at, o = np.array([0, 1, 2, 3, -1, -2, 100], np.int32), np.zeros(7, np.float32)
    kernel(at, o)
    assert o.tolist() == [1 + 10, 3 + 20, 5 + 20, 5 + 20, 5 + 20, 3 + 10, 5 + 20]


def test_arguments_that_do_not_fit():
    kernel = kp.kernel_from_source("def k(i: Index, m: mat3x2, o: Array[f32]):\n    o[i] = m[1, 2]\n")
    o = np.zeros(1, np.float32)
    for wrong in ([[1, 2, 3]], [1, 2], [[1, 2], [3, 4], [5, 6]]):
        with pytest.raises(ValueError, match=r"^k\(\) argument 'm': mat3x2 is 2 rows of 3 numbers$"):
            kernel(wrong, o)
    with pytest.raises(
        ValueError, match=r"^k\(\) argument 'm': has shape \(3, 2\), mat3x2 takes \(2, 3\), or 6 in a row$"
    ):
        kernel(np.zeros((3, 2)), o)
    for right in (np.arange(6), range(6), np.arange(6).reshape(2, 3).tolist()):
        kernel(right, o)
        assert o[0] == 5
    with pytest.raises(TypeError, match=r"argument 'm': must be mat3x2, not float"):
        kernel(1.0, o)
    with pytest.raises(ValueError, match=r"has 10 numbers, Array\[mat3\] needs a multiple of 9"):
        kp.kernel_from_source("def k(i: Index, m: Array[mat3]):\n    m[i] *= 2.0\n")(np.zeros(10, np.float32))


def test_pyshader():
    import pyshader as ps

    assert repr(ps.Matrix(3, 2, ps.f32)) == "mat3x2" and ps.mat4x4 is mat4

    @ps.python2shader
    def compute_shader(
        index=("input", "GlobalInvocationId", ps.ivec3),
        data1=("buffer", 0, ps.Array(ps.Matrix(2, 2, ps.f32))),
        data2=("buffer", 1, ps.Array(ps.mat2)),
    ):
        data2[index.x] = data1[index.x] @ data1[index.x]

    a = numbers(3, 2, 2)
    mgr = kp.Manager()
    x, y = mgr.tensor(a), mgr.tensor(np.zeros_like(a))
    algorithm = mgr.algorithm([x, y], compute_shader.to_spirv(), (3, 1, 1))
    mgr.sequence().record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([y])).eval()
    assert np.array_equal(y.data().reshape(a.shape), a @ a)
    mgr.destroy()


class Body(kp.Struct):
    mass: f32
    frame: mat3
    point: vec3
    turns: Array(2, mat2)


@kp.kernel
def structs(i: Index, b: Array[Body], o: Array[mat3], own: Body):
    o[i] = b[i].frame @ b[i].frame.T
    b[i].frame[1, 2] = 7.0
    b[i].turns[1][0] = b[i].point.xy
    x = b[i].copy()
    x.frame = x.frame * 2.0
    o[i] += x.frame + own.frame
    b[i].point = x.frame @ x.point


def test_matrices_in_structs():
    """Of any place: a matrix is aligned as its numbers are."""
    validate(structs.spirv())
    assert Body.dtype["frame"].shape == (3, 3) and Body.dtype["turns"].shape == (2, 2, 2)
    assert Body.dtype.itemsize == 4 * (1 + 9 + 3 + 8)
    b = np.zeros(3, Body.dtype)
    b["frame"], b["point"] = np.arange(27).reshape(3, 3, 3), (1, 2, 3)
    o, start, own = np.zeros((3, 3, 3), np.float32), b.copy(), b[1].copy()
    structs(b, o, own)
    frame = start["frame"].copy()
    wanted = frame @ frame.transpose(0, 2, 1)
    frame[:, 1, 2] = 7
    assert np.array_equal(o, wanted + 2 * frame + own["frame"])
    assert np.array_equal(b["frame"], frame)
    assert np.array_equal(b["turns"], [[[[0, 0], [0, 0]], [[1, 2], [0, 0]]]] * 3)
    assert np.array_equal(b["point"], np.einsum("nij,j->ni", 2 * frame, np.array([1, 2, 3], np.float32)))


SHEAR = np.array([[1, 0.5, 0], [0, 1, 0]])  # mat3x2
TURNED = np.array(TURN, dtype=np.float32)


@kp.kernel
def captured(i: Index, v: Array[vec3], o: Array[mat2]):
    w = SHEAR @ v[i]
    o[i] = TURNED * 2.0 + mat2(w, TURNED @ w)
    for row in SHEAR:
        o[i][1, 1] += row[i % 3] * SHEAR[0, 1] + f32(len(SHEAR))


@pytest.mark.parametrize("how", ["device", "cpython"])
def test_arrays_from_outside(how):
    """Which may change: the next call has what is in them then."""
    v, o = numbers(4, 3), np.zeros((4, 2, 2), np.float32)
    for shear in (0.5, -2.0):
        SHEAR[0, 1] = shear
        (captured if how == "device" else captured.emulate)(v, o)
        w = v @ SHEAR.T.astype(np.float32)
        wanted = 2 * TURNED + np.stack([w, w @ TURNED.T], axis=1)
        wanted[:, 1, 1] += SHEAR.sum(axis=0)[np.arange(4) % 3] * shear + 4
        assert np.array_equal(o, wanted)
    SHEAR[0, 1] = 0.5


def test_arrays_from_outside_that_are_no_matrices():
    BIG = np.eye(5)

    def k(i: Index, o: Array[f32]):
        o[i] = BIG[0, 0]

    with pytest.raises(kp.CompileError, match="'BIG' is an ndarray; from outside, a kernel takes numbers, "):
        kp.kernel(k)
