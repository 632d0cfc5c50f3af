"""Structs: in kernels, in tensors, as push constants; the same numbers as NumPy's, and errors that name the field."""

import ast
import os
from pathlib import Path

import kp
import numpy as np
import pyshader as ps
import pytest
from kp.lang import Array, Index, Uniform, dot, f32, i32, vec2, vec3
from kp.structs import dtype_of


class Box(kp.Struct):
    low: vec3
    high: vec3


class Particle(kp.Struct):
    """A point that moves."""

    position: vec3
    velocity: vec2
    mass: f32
    box: Box
    ids: Array(3, i32)


def energy(p: Particle) -> f32:
    return 0.5 * p.mass * dot(p.velocity, p.velocity)


def moved(p, dt):
    q = p.copy()
    q.position += vec3(q.velocity, 0.0) * dt
    return q


@kp.kernel
def work(i: Index, ps: Array[Particle], out: Array[f32], box: Box):
    p = ps[i]
    out[i] = energy(p) + box.low.x
    ps[i] = moved(p, 0.5)
    ps[i].position.x += 1.0
    ps[i].box.low.xy = p.velocity
    ps[i].ids[i % 3] = 4
    for k in ps[i].ids:
        out[i] += f32(k)
    made: Particle = Particle(
        velocity=vec2(1, 2), position=vec3(0.0), mass=2, box=Box(vec3(1.0), box.high), ids=[1, 2, 3]
    )
    if i > 3:
        ps[i] = made


def particles(count: int) -> np.ndarray:
    ps = np.zeros(count, Particle.dtype)
    ps["velocity"] = (1, 2)
    ps["mass"] = np.arange(count)
    ps["position"] = np.arange(3 * count).reshape(count, 3)
    return ps


def expected(ps, box_low_x, box_high):
    ps, out = ps.copy(), np.zeros(len(ps), np.float32)
    for i, p in enumerate(ps):
        out[i] = 0.5 * p["mass"] * 5 + box_low_x
        p["position"][:2] += p["velocity"] * np.float32(0.5)
        p["position"][0] += 1
        p["box"]["low"][:2] = p["velocity"]
        p["ids"][i % 3] = 4
        out[i] += p["ids"].sum()
        if i > 3:
            ps[i] = ((0, 0, 0), (1, 2), 2, ((1, 1, 1), box_high), (1, 2, 3))
    return ps, out


@pytest.mark.parametrize(
    "box", [Box((1, 2, 3), (4, 5, 6)), {"low": (1, 2, 3), "high": [4, 5, 6]}, ((1, 2, 3), np.arange(4, 7))]
)
def test_a_call(box):
    ps, out = particles(6), np.zeros(6, np.float32)
    wanted, sums = expected(ps, 1, (4, 5, 6))
    work(ps, out, box)
    assert ps.tobytes() == wanted.tobytes()
    assert out.tolist() == sums.tolist()


def test_tensors(mgr):
    ps, out = particles(6), np.zeros(6, np.float32)
    wanted, sums = expected(ps, 1, (4, 5, 6))
    tensor, results = mgr.tensor(ps), mgr.tensor(out)
    void = np.zeros(1, Box.dtype)[0]
    void["low"], void["high"] = (1, 2, 3), (4, 5, 6)
    algorithm = work.algorithm(mgr, [tensor, results], box=void)
    seq = mgr.sequence().record(kp.OpSyncDevice([tensor, results]))
    seq.record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([tensor, results])).eval()
    assert tensor.dtype == Particle.dtype
    assert tensor.data().dtype == Particle.dtype
    assert tensor.data().tobytes() == wanted.tobytes()
    assert results.data().tolist() == sums.tolist()


# ----------------------------------------------------------------------------------------------------------------------
# In CPython
# ----------------------------------------------------------------------------------------------------------------------


def test_emulation_does_what_the_device_does():
    ps, out = particles(6), np.zeros(6, np.float32)
    wanted, sums = expected(ps, 1, (4, 5, 6))
    kp.emulate(work, ps, out, Box((1, 2, 3), (4, 5, 6)))
    assert ps.tobytes() == wanted.tobytes()
    assert out.tolist() == sums.tolist()


TEXT = (Path(__file__).parent.parent / "compile" / "ok" / "structs.py").read_text()
REFUSED = {"small", "small_uniform"}  # by a device without small or wide types
RNG = np.random.default_rng(5)


def contents(param):
    """Something for a parameter of a kernel of the text."""
    if param.structure is None:
        shape = param.shape if param.kind == "uniform" else (8, *param.shape)
        return np.asarray(RNG.integers(1, 9, shape), {"f32": np.float32, "i32": np.int32}[param.dtype])
    dtype = dtype_of(param.structure)
    array = np.zeros((4, 2) if param.ndim == 2 else 8 if param.kind == "buffer" else 1, dtype)
    fill(array)
    return array


def fill(array):
    for name in array.dtype.names:
        if array.dtype[name].base.names is not None:
            fill(array[name])
        else:
            array[name] = RNG.integers(0, 2 if array.dtype[name].base.kind == "b" else 5, array[name].shape)


@pytest.mark.parametrize(
    "name", [n.name for n in ast.parse(TEXT).body if isinstance(n, ast.FunctionDef) and n.name[0] != "_"]
)
def test_kernels_do_what_cpython_does(name):
    kernel = kp.kernel_from_source(TEXT, name)
    alone = ("whole", "large")  # others change what these read
    extent = {"view": (2, 4), "shared_structs": 64, "local_array": 6, "write": 3}.get(name, 1 if name in alone else 8)
    passed = [param for param in kernel.params if param.kind != "input"]
    if name == "shared_structs":
        arguments = [np.tile(contents(passed[0]), 8), np.zeros(64, np.float32)]
    else:
        arguments = [contents(param) for param in passed]
    if name == "write":
        arguments = [arguments[0][:3]]
    arguments = [a[0] if p.kind == "constant" else a for p, a in zip(passed, arguments, strict=True)]
    wanted = [a.copy() for a in arguments]
    kp.emulate(kernel, *wanted, extent=extent)
    try:
        kernel(*arguments, extent=extent)
    except kp.UnsupportedError as error:
        assert name in REFUSED and "lacks" in str(error)
        return
    for got, expected_ in zip(arguments, wanted, strict=True):
        assert (got == expected_).all(), (got, expected_)


# ----------------------------------------------------------------------------------------------------------------------
# Uniforms
# ----------------------------------------------------------------------------------------------------------------------


class Settings(kp.Struct):
    step: f32
    offset: vec3
    weights: Array(3, f32)
    n: i32


@kp.kernel
def settle(i: Index, x: Array[f32], s: Uniform[Settings], v: Uniform[vec3], t: Uniform[Array(5, vec2)]):
    x[i] = s.step + s.offset.y + s.weights[i % 3] + v.z + f32(s.n) + t[i % 5].y


def settled():
    i = np.arange(8)
    return 0.5 + 2 + np.array([1, 2, 4])[i % 3] + 9 + 3 + np.arange(10).reshape(5, 2)[i % 5, 1]


VALUES = (0.5, (1, 2, 3), (1, 2, 4), 3)


@pytest.mark.parametrize("form", [Settings(*VALUES), VALUES, dict(zip(Settings.fields, VALUES, strict=True)), "array"])
def test_uniforms(form):
    x, table = np.zeros(8, np.float32), np.arange(10, dtype=np.float32)
    settle(x, np.array([VALUES], Settings.dtype) if form == "array" else form, (7, 8, 9), table)
    assert x.tolist() == settled().tolist()


def test_uniforms_in_a_sequence(mgr):
    tensors = [mgr.tensor(np.zeros(8)), mgr.tensor(np.array([VALUES], Settings.dtype)), mgr.tensor([7, 8, 9])]
    tensors.append(mgr.tensor(np.arange(10)))
    seq = mgr.sequence().record(kp.OpSyncDevice(tensors)).record(kp.OpAlgoDispatch(settle.algorithm(mgr, tensors)))
    seq.record(kp.OpSyncLocal(tensors[:1])).eval()
    assert tensors[0].data().tolist() == settled().tolist()
    tensors[1].data()["step"] = 1.5
    seq.eval()
    assert tensors[0].data().tolist() == (settled() + 1).tolist()


def test_a_view_as_uniform(mgr):
    rows = mgr.tensor(np.arange(128))
    x, settings, table = (
        mgr.tensor(np.zeros(8)),
        mgr.tensor(np.array([VALUES], Settings.dtype)),
        mgr.tensor(np.arange(10)),
    )
    tensors = [x, settings, rows[64:67], table]
    seq = mgr.sequence().record(kp.OpSyncDevice([rows, settings, table]))
    seq.record(kp.OpAlgoDispatch(settle.algorithm(mgr, tensors))).record(kp.OpSyncLocal([x])).eval()
    assert x.data().tolist() == (settled() + 66 - 9).tolist()


def test_pyshaders_uniform(mgr):
    @ps.python2shader
    def compute_it(
        i=("input", "GlobalInvocationId", ps.ivec3),
        x=("buffer", 0, ps.Array(ps.Struct(a=ps.f32, b=ps.vec2))),
        s=("uniform", 1, ps.Struct(gain=ps.f32, shift=ps.vec4)),
    ):
        x[i.x].a = x[i.x].b.y * s.gain + s.shift.w

    x = np.zeros(4, np.dtype([("a", "f4"), ("b", "f4", 2)]))
    x["b"][:, 1] = range(4)
    data, settings = mgr.tensor(x), mgr.tensor(np.array([2, 0, 0, 0, 5]))
    algorithm = mgr.algorithm([data, settings], compute_it.to_spirv(), (4, 1, 1))
    seq = mgr.sequence().record(kp.OpSyncDevice([data, settings])).record(kp.OpAlgoDispatch(algorithm))
    seq.record(kp.OpSyncLocal([data])).eval()
    assert data.data()["a"].tolist() == [5, 7, 9, 11]


# ----------------------------------------------------------------------------------------------------------------------
# Tensors
# ----------------------------------------------------------------------------------------------------------------------


def test_views_copies_and_elements(mgr):
    ps_, wanted = particles(6), particles(6)
    tensor, other = mgr.tensor(ps_), mgr.tensor(particles(6)[:3])
    assert tensor[1:4].data().tobytes() == wanted[1:4].tobytes()
    assert tensor.reshape(2, 3).data().shape == (2, 3)
    assert tensor[2]["mass"] == 2
    tensor[2] = wanted[5]
    assert tensor.data()[2] == wanted[5]
    tensor.set_data(wanted[::-1])
    assert (tensor.data() == wanted[::-1]).all()
    seq = mgr.sequence().record(kp.OpSyncDevice([tensor])).record(kp.OpCopy([tensor[3:6], other]))
    seq.record(kp.OpSyncLocal([other])).eval()
    assert (other.data() == wanted[2::-1]).all()
    assert len(tensor) == tensor.size() == 6
    assert (np.asarray(tensor) == wanted[::-1]).all()
    assert repr(tensor) == (
        "kp.Tensor(structs of 60 bytes (position, velocity, mass, box, ids), shape=(6,), memory_type=device)"
    )
    assert "structs of 60 bytes" in tensor._repr_html_()
    with pytest.raises(BufferError, match="DLPack has no structs"):
        tensor.__dlpack__()
    with pytest.raises(TypeError, match="a fill is for numbers"):
        mgr.sequence().record(kp.OpFill([tensor], 1))
    with pytest.raises(TypeError, match="tensor 'tensor' holds structs .*, tensor 'tensor' holds f32"):
        mgr.sequence().record(kp.OpCopy([tensor, mgr.tensor(np.zeros(90))]))
    with pytest.raises(TypeError, match="has dtype .*, must be"):
        tensor.set_data(np.zeros(6))
    with pytest.raises(ValueError, match="has 3 elements, the tensor has 6"):
        tensor.set_data(wanted[:3])


PACKED = np.dtype([("a", "u1"), ("b", "f4")])


def test_a_struct_of_a_dtype():
    dtype = np.dtype([("a", "f4"), ("v", "f4", 2), ("m", "f4", (2, 3)), ("n", [("k", "i4")])], align=True)
    made = kp.struct(dtype, "Made")
    assert made.dtype == dtype
    assert repr(made) == "Made"
    with pytest.raises(ValueError, match="'b' is at byte 1 of the dtype, but at byte 4 in a kernel.*align=True"):
        kp.struct(PACKED)
    with pytest.raises(ValueError, match="has 12 bytes, but a kernel's struct 16.*align=True"):
        kp.struct(np.dtype([("a", "f8"), ("b", "f4")]))
    with pytest.raises(TypeError, match="'a' has dtype >f4"):
        kp.struct(np.dtype([("a", ">f4")]))
    with pytest.raises(TypeError, match="has no fields"):
        kp.struct(np.float32)


def test_a_struct_of_the_argument(mgr):
    @kp.kernel
    def total(i: Index, rows, out):
        out[i] = rows[i].a + rows[i].v.y + rows[i].m[1].z

    rows = np.zeros(3, np.dtype([("a", "f4"), ("v", "f4", 2), ("m", "f4", (2, 3))], align=True))
    rows["a"], rows["v"][:, 1], rows["m"][:, 1, 2] = 1, (2, 3, 4), 5
    out = np.zeros(3, np.float32)
    total(rows, out)
    assert out.tolist() == [8, 9, 10]
    total(mgr.tensor(rows), mgr.tensor(out))
    with pytest.raises(ValueError, match=r"total\(\) argument 'rows': .*'b' is at byte 1"):
        total(np.zeros(3, PACKED), out)


# ----------------------------------------------------------------------------------------------------------------------
# Errors
# ----------------------------------------------------------------------------------------------------------------------

GOOD = ((1, 2, 3), (4, 5, 6))
OTHER = np.dtype([("position", "f4", 3), ("velocity", "f4", 3)])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((particles(2), np.zeros(2, "f4"), ((1, 2), (1, 2, 3))), ValueError, "'box.low': vec3 has 3 components, not 2"),
        ((particles(2), np.zeros(2, "f4"), {"low": (1, 2, 3)}), TypeError, "'box': Box needs a value for 'high'"),
        ((particles(2), np.zeros(2, "f4"), {"low": 1, "up": 2}), TypeError, "'box': Box has no field 'up'; it has low, high"),
        ((particles(2), np.zeros(2, "f4"), 3), TypeError, "'box': must be Box, a dict or a tuple of its fields, not int"),
        ((particles(2), np.zeros(2, "f4"), (("a", 2, 3), (1, 2, 3))), TypeError, "'box.low': must be f32, not str"),
        ((np.zeros(2, "f4"), np.zeros(2, "f4"), GOOD), TypeError, "has dtype float32, must be an array of Particle"),
        ((np.zeros(2, OTHER), np.zeros(2, "f4"), GOOD), TypeError, "is Array.Particle., tensor .* field 'velocity' is 3 x f32, not vec2"),
        ((particles(2), particles(2), GOOD), TypeError, "parameter 'out' is Array.f32., tensor|has dtype|must be"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(arguments, error, message):
    with pytest.raises(error, match=message):
        work(*arguments)


def test_uniforms_that_do_not_fit(mgr):
    x, table = np.zeros(8, np.float32), np.zeros(10, np.float32)
    with pytest.raises(ValueError, match="'v': vec3 has 3 components, not 2"):
        settle(x, VALUES, (1, 2), table)
    with pytest.raises(ValueError, match="parameter 'v' is Uniform.vec3. of 12 bytes, tensor 'tensor' has 8"):
        settle(x, VALUES, mgr.tensor([1, 2]), table)
    with pytest.raises(TypeError, match="'s.n': must be i32, not float"):
        settle(x, (*VALUES[:3], 1.5), (1, 2, 3), table)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("mass: f32 = 1.0", "P.mass: a field has no default value"),
        ("mass: str", "P.mass: .* is no type of the kernel language"),
        ("copy: f32", "cannot be called 'copy'"),
        ("mass = 1.0", "a struct has at least one field"),
    ],
)
def test_classes_that_are_no_structs(body, message):
    with pytest.raises(TypeError, match=message):
        exec(f"class P(kp.Struct):\n    {body}\n", {"kp": kp, "f32": f32})


def test_values_in_python():
    box = Box((1, 2, 3), high=(4, 5, 6))
    copy = box.copy()
    copy.low = (0, 0, 0)
    assert repr(box) == "Box(low=(1, 2, 3), high=(4, 5, 6))"
    for values, named, message in (
        ((1, 2, 3), {}, "has 2 fields"),
        ((1,), {"low": 1}, "twice"),
        ((1,), {}, "needs a value"),
        ((), {}, r"needs values for '\w+', '\w+'; \w+\(\) is one of zeros in kernels alone$"),
    ):
        with pytest.raises(TypeError, match=message):
            Box(*values, **named)


@pytest.mark.parametrize("where", ["ps[n].mass", "ps[0].ids[n]", "t[n].y"])
def test_a_checked_kernel_finds_an_index(where):
    text = f"def k(i: Index, ps: Array[{Particle.text}], t: Uniform[Array(5, vec2)], n: i32, out: Array[f32]):\n    out[i] = f32({where})\n"
    kernel = kp.kernel_from_source(text, checked=True)
    with pytest.raises(IndexError, match="index 77"):
        kernel(particles(3), np.zeros(10, np.float32), 77, np.zeros(2, np.float32))


def test_a_kernel_of_another_struct_is_another_program():
    def made(struct):
        @kp.kernel
        def first(i: Index, x: Array[struct], out: Array[f32]):
            y: struct = x[i]
            out[i] = y.a

        return first

    class S(kp.Struct):
        a: f32

    class T(kp.Struct):
        b: i32
        a: f32

    out = np.zeros(1, np.float32)
    for struct in (S, T):
        rows = np.zeros(1, struct.dtype)
        rows["a"] = 3 + len(struct.fields)
        made(struct)(rows, out)
        assert out.tolist() == [3 + len(struct.fields)]


def test_push_constants_by_name(mgr):
    tensors = [mgr.tensor(particles(3)), mgr.tensor(np.zeros(3))]
    algorithm = mgr.algorithm(tensors, work.program, push_consts={"box": {"low": (1, 2, 3), "high": (4, 5, 6)}})
    seq = mgr.sequence().record(kp.OpSyncDevice(tensors)).record(kp.OpAlgoDispatch(algorithm))
    seq.record(kp.OpSyncLocal(tensors)).eval()
    wanted, sums = expected(particles(3), 1, (4, 5, 6))
    assert (tensors[0].data() == wanted).all()
    assert tensors[1].data().tolist() == sums.tolist()
    with pytest.raises(TypeError, match="push_consts 'box': Box needs a value for 'high'"):
        mgr.algorithm(tensors, work.program, push_consts={"box": {"low": (1, 2, 3)}})


class Pair(kp.Struct):
    number: f32
    place: vec2


@kp.kernel
def turned(i: Index, ps: Array[Pair]):
    ps[0], ps[1], ps[2] = ps[1], ps[2], ps[0]
    ps[3].place, ps[4].place = ps[4].place, ps[3].place


def test_structs_that_change_places():
    ps = np.array([(k, (10 * k, 20 * k)) for k in range(5)], Pair.dtype)
    wanted, emulated = ps[[1, 2, 0, 3, 4]], ps.copy()
    wanted["place"][[3, 4]] = ps["place"][[4, 3]]
    turned(ps, extent=1)
    turned.emulate(emulated, extent=1)
    np.testing.assert_array_equal(ps, wanted)
    np.testing.assert_array_equal(emulated, wanted)


def test_a_field_that_is_not_there_is_not_set():
    pair = Pair(1, (2, 3))
    with pytest.raises(AttributeError, match=r"^Pair has no field 'nunber'; it has number, place$"):
        pair.nunber = 2
    pair.number = 2
    assert pair.number == 2


class Single(kp.Struct):
    a: Array(1, i32)
    pair: Array(1, Pair)


@kp.kernel
def of_one(i: Index, s: Single, ss: Array[Single], u: Uniform[Array(1, f32)], out: Array[f32]):
    out[i] = f32(s.a[0]) + s.pair[0].place.y + u[0] + f32(ss[i].a[0])


def test_arrays_of_one_element_are_arrays():
    assert Single.dtype["a"].shape == (1,)
    assert Single.dtype["pair"].shape == (1,)
    ss, out = np.zeros(2, Single.dtype), np.zeros(2, np.float32)
    ss["a"] = [[7], [8]]
    for given in (
        Single([5], [Pair(1, (2, 3))]),
        ([5], [(1, (2, 3))]),
        {"a": np.array([5]), "pair": [Pair(1, (2, 3))]},
    ):
        of_one(given, ss, [0.5], out)
        assert out.tolist() == [15.5, 16.5]
    wanted = np.zeros(2, np.float32)
    of_one.emulate(Single([5], [Pair(1, (2, 3))]), ss, np.array([0.5], np.float32), wanted)
    assert wanted.tolist() == [15.5, 16.5]
    with pytest.raises(TypeError, match="'s.a'"):
        of_one(Single(5, [Pair(1, (2, 3))]), ss, [0.5], out)


# ----------------------------------------------------------------------------------------------------------------------
# Tensors of a size
# ----------------------------------------------------------------------------------------------------------------------


class Two(kp.Struct):
    a: i32
    b: f32


TWO = np.dtype([("a", "<i4"), ("b", "<f4")])


@pytest.mark.parametrize(
    "dtype", [Two.dtype, Two, TWO, [("a", "<i4"), ("b", "<f4")]], ids=["class.dtype", "class", "numpy", "list"]
)
def test_tensors_of_structs_are_made_by_their_size(mgr, dtype):
    expected = np.zeros((2, 3), TWO)
    zeros, empty = mgr.zeros((2, 3), dtype), mgr.empty(6, dtype=dtype)
    full = mgr.full((2, 3), (7, 0.5), dtype)
    assert zeros.dtype == full.dtype == TWO == empty.dtype
    assert (np.asarray(zeros) == expected).all() and zeros.shape == (2, 3) == full.shape and empty.shape == (6,)
    expected[...] = (7, 0.5)
    assert (np.asarray(full) == expected).all()
    assert mgr.zeros((), dtype).shape == (1,) and mgr.zeros(0, dtype).size() == 0 == mgr.full(0, (1, 2), dtype).size()
    storage = mgr.empty(3, dtype, kp.MemoryTypes.storage)
    storage.upload(expected[0])
    assert (storage.download() == expected[0]).all()


def test_a_kernel_takes_tensors_made_by_their_size(mgr):
    @kp.kernel
    def swap(i: Index, x: Array[Two], y: Array[Two]):
        y[i] = Two(i32(x[i].b), f32(x[i].a) + 0.5)

    x, y = mgr.full(5, Two(3, 8), Two), mgr.zeros(5, Two)
    mgr.sequence().eval(kp.OpSyncDevice([x, y]))
    swap(x, y)
    mgr.sequence().eval(kp.OpSyncLocal([y]))
    assert y.data().tolist() == [(8, 3.5)] * 5
    whole = Particle((1, 2, 3), (4, 5), 6, Box((7, 8, 9), (0, 1, 2)), [3, 4, 5])
    right = np.array(([1, 2, 3], [4, 5], 6, ([7, 8, 9], [0, 1, 2]), [3, 4, 5]), Particle.dtype)
    assert str(mgr.full(2, whole, Particle).data()[1]) == str(right)
    with pytest.raises(TypeError, match="Two"):
        mgr.full(2, Two("no number", 1), Two)
    wrong = mgr.zeros(5, [("b", "<f4"), ("a", "<i4")])
    with pytest.raises(TypeError):
        swap(wrong, y)


def test_memory_of_structs_is_shared(mgr):
    try:
        x = mgr.exportable((2, 2), Two.dtype)
    except kp.UnsupportedError as error:
        assert "VK_KHR_external_memory_fd" in str(error)
        return
    assert x.dtype == TWO and x.shape == (2, 2)
    np.asarray(x)[...] = (1, 2)
    mgr.sequence().eval(kp.OpSyncDevice([x]))
    memory = x.export()
    y = kp.Manager().import_tensor(memory, 4, Two)
    os.close(memory.fd)
    y.manager.sequence().eval(kp.OpSyncLocal([y]))
    assert y.dtype == TWO and y.data().tolist() == [(1, 2.0)] * 4


def test_structs_that_no_device_has_are_refused(mgr):
    for make in (mgr.zeros, mgr.empty, mgr.exportable, lambda shape, dtype: mgr.full(shape, 0, dtype)):
        with pytest.raises(TypeError, match="dtype: field 'z' has dtype complex64, which no device has"):
            make(4, np.dtype([("z", np.complex64)]))
        with pytest.raises(TypeError, match="dtype: field 'z' has dtype >f4"):
            make(4, np.dtype([("z", ">f4")]))
        with pytest.raises(TypeError):
            make(4, np.dtype("V8"))
        with pytest.raises(TypeError):
            make(4, kp.Struct)
    with pytest.raises(ValueError, match="a storage tensor has no host side to fill"):
        mgr.full(4, (1, 2), Two, kp.MemoryTypes.storage)
    with pytest.raises((TypeError, ValueError)):
        mgr.full(4, "no pair", Two)
    with pytest.raises(kp.LimitError):
        mgr.zeros(2**62, Two)
    mgr.destroy()
    with pytest.raises(kp.StateError):
        mgr.zeros(4, Two)
