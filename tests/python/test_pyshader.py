"""The package pyshader: types, the decorator, and what it does with defaults, annotations and captured numbers."""

import importlib
import linecache
import sys
import types

import kp
import numpy as np
import pyshader as ps
import pytest

TYPES = """void boolean u8 i16 i32 i64 f16 f32 f64 vec2 vec3 vec4 ivec2 ivec3 ivec4 bvec2 bvec3 bvec4
mat2 mat3 mat4 mat2x3 mat2x4 mat3x2 mat3x4 mat4x2 mat4x3""".split()
STDLIB = """round round_even trunc abs sign floor ceil fract radians degrees sin cos tan asin acos atan sinh cosh tanh asinh
acosh atanh atan2 pow exp log exp2 log2 sqrt isqrt determinant matrix_inverse modf min max clamp mix step smooth_step length
distance cross normalize face_forward reflect nmin nmax nclamp read write sample imageLoad imageStore""".split()


def run(module, *arrays, count=None):
    """Runs a shader on copies of float arrays; gives them back."""
    mgr = kp.Manager()
    tensors = [mgr.tensor_t(np.asarray(array)) for array in arrays]
    algorithm = mgr.algorithm(tensors, module.to_spirv(), (count or len(arrays[0]), 1, 1))
    sequence = mgr.sequence().record(kp.OpSyncDevice(tensors)).record(kp.OpAlgoDispatch(algorithm))
    sequence.record(kp.OpSyncLocal(tensors)).eval()
    return [tensor.data().copy() for tensor in tensors]


def floats(*values):
    return np.array(values, np.float32)


@pytest.mark.parametrize("name", TYPES)
def test_types_are_written_by_their_names(name):
    assert repr(getattr(ps, name)) == name


def test_composed_types():
    assert repr(ps.Array(ps.f32)) == "Array(f32)"
    assert repr(ps.Array(10, ps.i32)) == "Array(10, i32)"
    assert repr(ps.Array("f32")) == "Array(f32)"
    assert ps.Vector(2, ps.f32) is ps.vec2
    assert ps.Vector(4, ps.i32) is ps.ivec4
    assert repr(ps.Vector(3, ps.f64)) == "Vector(3, f64)"
    assert ps.Matrix(2, 3, ps.f32) is ps.mat2x3
    assert ps.mat2x2 is ps.mat2
    assert repr(ps.Struct(position=ps.vec2, age=ps.f32)) == "Struct(position=vec2, age=f32)"
    assert ps.Array(ps.f32) == ps.Array(ps.f32) != ps.Array(ps.i32)
    assert len({ps.Array(ps.f32), ps.Array(ps.f32)}) == 1
    for wrong in (lambda: ps.Array(), lambda: ps.Array(0, ps.f32), lambda: ps.Array(True, ps.f32), lambda: ps.Array(3.5),
                  lambda: ps.Vector(5, ps.f32), lambda: ps.Matrix(1, 2, ps.f32), lambda: ps.Array(object)):  # fmt: skip
        with pytest.raises(TypeError):
            wrong()


def test_textures():
    """As pyshader's users declare them: in annotations, with a sampler apart, as methods and as functions."""

    @ps.python2shader
    def compute_shader_blend(
        index: ("input", "GlobalInvocationId", ps.ivec3),
        picture: (ps.RES_TEXTURE, 0, "2d f32"),  # noqa: F722
        sampler: (ps.RES_SAMPLER, 1, ""),  # noqa: F722
        other: ("texture", (0, 2), "2d rgba8ui"),  # noqa: F722
        out: ("texture", 3, "2d rgba32f"),  # noqa: F722
    ):
        color = vec4(other.read(index.xy)) / 255.0  # noqa: F821
        out.write(index.xy, color.bgra + ps.stdlib.sample(picture, sampler, vec2(0.5, 0.5)))  # noqa: F821

    mgr = kp.Manager()
    picture = mgr.image_t(floats(1, 2, 3, 4), 2, 2, 1, filter="linear")
    other = mgr.image_t(np.arange(24, dtype=np.uint8) * 10, 3, 2, 4)
    out = mgr.image(None, 3, 2, 4)
    algorithm = mgr.algorithm([picture, picture, other, out], compute_shader_blend.to_spirv(), (3, 2, 1))
    sequence = mgr.sequence().record(kp.OpSyncDevice([picture, other])).record(kp.OpAlgoDispatch(algorithm))
    sequence.record(kp.OpSyncLocal([out])).eval()
    wanted = np.arange(24).reshape(2, 3, 4)[..., [2, 1, 0, 3]] * 10 / 255 + [2.5, 0, 0, 1]
    np.testing.assert_allclose(np.asarray(out), wanted, atol=1e-5)
    emulated = np.zeros((2, 3, 4), np.float32)
    kp.emulate(compute_shader_blend, picture, picture, np.asarray(other), emulated, extent=(3, 2))
    np.testing.assert_allclose(emulated, wanted, atol=1e-5)


def test_names():
    assert (ps.RES_INPUT, ps.RES_BUFFER, ps.RES_UNIFORM) == ("input", "buffer", "uniform")
    assert set(STDLIB) <= set(dir(ps.stdlib))
    assert set(STDLIB) == set(ps.stdlib.__all__)
    for name in ps.__all__:
        assert hasattr(ps, name)


def test_language_names_do_nothing_outside():
    with pytest.raises(TypeError, match=r"^vec2 is a type of the kernel language"):
        ps.vec2(1, 2)
    with pytest.raises(TypeError, match=r"^exp\(\) is a function of the kernel language"):
        ps.stdlib.exp(1)


@ps.python2shader
def compute_double(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
    data[index.x] = data[index.x] * 2.0


def test_the_module():
    assert isinstance(compute_double, ps.ShaderModule)
    assert compute_double.input.__name__ == "compute_double"
    assert type(compute_double.to_spirv()) is bytes
    assert compute_double.to_spirv() is compute_double.to_spirv()
    assert compute_double.to_spirv()[:4] == b"\x03\x02\x23\x07"
    assert "compute_double" in repr(compute_double)
    assert run(compute_double, floats(1, 2, 3))[0].tolist() == [2, 4, 6]


def test_resources_by_constant_and_by_set():
    @ps.python2shader
    def compute_k(index=(ps.RES_INPUT, "GlobalInvocationId", ps.ivec3), data=(ps.RES_BUFFER, (0, 0), ps.Array(ps.f32))):
        data[index.x] = f32(index.x)  # noqa: F821

    assert run(compute_k, floats(9, 9, 9))[0].tolist() == [0, 1, 2]


def test_types_from_variables_and_helpers():
    """The defaults are Python objects, however they are written; kp_param_type replaces what the source says."""

    def buffer(binding, element):
        return ("buffer", binding, ps.Array(element))

    element, index_3d = ps.f32, ("input", "GlobalInvocationId", ps.ivec3)

    @ps.python2shader
    def compute_k(index=index_3d, a=buffer(0, element), b=buffer(1, element)):
        b[index.x] = a[index.x] + 1.0

    assert run(compute_k, floats(1, 2), floats(0, 0))[1].tolist() == [2, 3]


def test_captured_numbers():
    count, factor, flag = 3, 0.5, True

    @ps.python2shader
    def compute_k(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
        if flag:
            for _ in range(count):
                data[index.x] = data[index.x] * factor

    assert run(compute_k, floats(8, 16))[0].tolist() == [1, 2]


@pytest.mark.parametrize("kind", [np.float32, np.int32, np.uint32])
def test_captured_numpy_scalars_keep_their_type(kind):
    captured = kind(3)

    @ps.python2shader
    def compute_k(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
        data[index.x] = f32(captured)  # noqa: F821

    assert run(compute_k, floats(0))[0].tolist() == [3]


def test_numpys_default_types_adapt():
    whole, real = np.int64(2), np.float64(0.5)

    @ps.python2shader
    def compute_k(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
        data[index.x] = real * whole

    assert run(compute_k, floats(0))[0].tolist() == [1]


def test_postponed_annotations(tmp_path, monkeypatch):
    (tmp_path / "postponed_shaders.py").write_text(
        """
from __future__ import annotations
import pyshader as ps

def make():
    element = ps.f32

    @ps.python2shader
    def compute_k(index: ("input", "GlobalInvocationId", ps.ivec3), data: ("buffer", 0, ps.Array(element))):
        data[index.x] = 7.0

    return compute_k
"""
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("postponed_shaders")
    assert run(module.make(), floats(1))[0].tolist() == [7]


def test_errors_show_file_and_line_at_decoration():
    with pytest.raises(kp.CompileError) as caught:

        @ps.python2shader
        def compute_wrong(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
            data[index.x] = 1.0
            data[index.x] = nothing_of_that_name  # noqa: F821

    error = caught.value
    assert error.filename == __file__
    line = linecache.getline(__file__, error.lineno)
    assert "nothing_of_that_name" in line
    assert line[error.offset - 1 : error.end_offset - 1] == "nothing_of_that_name"
    assert error.text == line.rstrip("\n")
    assert str(error).startswith(f"{__file__}:{error.lineno}:{error.offset}: ")


def test_a_fault_in_a_type_is_shown_where_it_is_written():
    with pytest.raises(kp.CompileError) as caught:

        @ps.python2shader
        def compute_wrong(index=("input", "GlobalInvocationId", ps.i32), data=("buffer", 0, ps.Array(ps.f32))):
            data[0] = 1.0

    assert caught.value.filename == __file__
    assert "ps.i32" in linecache.getline(__file__, caught.value.lineno)
    assert "ivec3" in str(caught.value)


def test_what_cannot_be_a_shader():
    with pytest.raises(kp.CompileError, match="must contain 'compute'"):
        ps.python2shader(run)
    with pytest.raises(TypeError, match=r"^python2shader takes a function, not int$"):
        ps.python2shader(3)
    with pytest.raises(TypeError, match=r"^python2shader takes a function, not type$"):
        ps.python2shader(kp.Manager)
    with pytest.raises(kp.CompileError, match="a lambda cannot be a kernel"):
        ps.python2shader(lambda compute: 1)

    class Holder:
        def compute_method(self, index=("input", "GlobalInvocationId", ps.ivec3)):
            pass

    with pytest.raises(kp.CompileError, match=r"the method '.*Holder\.compute_method' cannot be a kernel"):
        ps.python2shader(Holder.compute_method)
    with pytest.raises(kp.CompileError, match="only a number has a default value"):

        @ps.python2shader
        def compute_default(index=("input", "GlobalInvocationId", ps.ivec3), factor: ps.Array(ps.f32) = 2.0):
            pass

    with pytest.raises(kp.CompileError, match=r"the parameter 'data': .* is no type of the kernel language"):

        @ps.python2shader
        def compute_foreign(index: ("input", "GlobalInvocationId", ps.ivec3), data: Holder):
            pass


TEXT = """
import pyshader as ps
@ps.python2shader
def compute_k(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
    data[index.x] = 5.0
"""


def test_without_source():
    with pytest.raises(kp.CompileError) as caught:
        exec(TEXT.replace("compute_k", "compute_j"), {"__name__": "nowhere"})  # a text that nobody holds
    assert "the source of 'compute_j' is not at hand" in str(caught.value)
    assert "kp.kernel_from_source(text)" in str(caught.value)
    assert caught.value.filename == "<string>"
    assert caught.value.lineno == 3


def test_a_line_cache_is_enough():
    """As IPython, Jupyter and doctest have it."""
    name = "<cell 7>"
    linecache.cache[name] = (len(TEXT), None, TEXT.splitlines(keepends=True), name)
    scope = {"__name__": "__main__"}
    exec(compile(TEXT, name, "exec"), scope)
    assert run(scope["compute_k"], floats(1))[0].tolist() == [5]


def test_a_program_from_a_pipe_or_a_script(python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(TEXT + "print(len(compute_k.to_spirv()) > 20)\n")
    assert python(f"exec(compile(open({str(script)!r}).read(), {str(script)!r}, 'exec'))") == "True\n"
    assert python(f"import runpy; runpy.run_path({str(script)!r})") == "True\n"


def test_a_file_that_changed_under_the_program(tmp_path, monkeypatch):
    path = tmp_path / "changing_shaders.py"
    path.write_text("def compute_k(index, data):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("changing_shaders")
    path.write_text("# another text\n\n\ndef other():\n    pass\n")
    linecache.checkcache()
    with pytest.raises(kp.CompileError):
        ps.python2shader(module.compute_k)
    del sys.modules["changing_shaders"]


def test_a_shader_stays_what_it_was_when_decorated():
    module = types.ModuleType("module")
    module.factor = 2.0

    @ps.python2shader
    def compute_scaled(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
        data[index.x] = module.factor * data[index.x]

    before = compute_scaled.to_spirv()
    module.factor = 3.0
    assert compute_scaled.to_spirv() is before
    assert ps.python2shader(compute_scaled.input).to_spirv() != before


def test_a_shader_in_place_of_its_spirv(mgr):
    x = mgr.tensor([1.0, 2.0])
    mgr.eval_tensor_sync_device_def([x])

    @ps.python2shader
    def compute_double(index: ("input", "GlobalInvocationId", "ivec3"), data: ("buffer", 0, "Array(f32)")):
        data[index.x] = 2.0 * data[index.x]

    kernel = kp.kernel_from_source("def twice(i: Index, x: Array[f32]):\n    x[i] = 2.0 * x[i]\n")
    with pytest.raises(
        TypeError, match=r"spirv: must be SPIR-V, not <class '.*ShaderModule'>; its to_spirv\(\) gives that"
    ):
        mgr.eval_algo_data_def([x], compute_double)
    with pytest.raises(TypeError, match=r"makes an algorithm of a kernel, kernel\.spirv\(\) its SPIR-V"):
        mgr.eval_algo_data_def([x], kernel)
    mgr.eval_algo_data_def([x], compute_double.to_spirv())
    mgr.eval_algo_data_def([x], kernel.spirv())
    mgr.eval_tensor_sync_local_def([x])
    assert x.data().tolist() == [4.0, 8.0]
