# ruff: noqa: F821, E501, I001, UP037
"""Where kernels come from: functions and text, pyshader's forms and native ones, and the errors of both."""

from __future__ import annotations

import linecache
import subprocess
import sys
import textwrap

import kp
import numpy as np
import pyshader as ps
import pytest
from kp.emulate.launch import Emulation
from kernel_check import check, compare, compile_text, outcome, run_on_device, validate


def run_function(function, extent, *args):
    """Runs a @python2shader function on the device and in CPython."""
    module = ps.python2shader(function) if not hasattr(function, "to_spirv") else function
    spirv = module.to_spirv()
    validate(spirv)
    kernel = Emulation(module)
    wanted = outcome(kernel, extent, args)
    run_on_device(spirv, kernel, extent, args)
    for got, expected in zip(args, wanted, strict=True):
        if isinstance(got, np.ndarray):
            compare(got, expected, lambda w: 1e-5 * np.abs(w), module.input.__name__)


@ps.python2shader
def compute_with_defaults(
    index=("input", "GlobalInvocationId", ps.ivec3),
    data1=("buffer", 0, ps.Array(ps.f32)),
    data2=("buffer", 1, ps.Array(ps.f32)),
):
    i = index.x
    data2[i] = exp(data1[i]) + vec2(data1[i], 1.0).y


@ps.python2shader
def compute_with_annotations(
    index: ("input", "GlobalInvocationId", ps.ivec3),
    data1: ("buffer", 0, ps.Array(ps.f32)),
    data2: ("buffer", 1, ps.Array(ps.f32)),
):
    data2[index.x] = data1[index.x] * 2.0


@ps.python2shader
def compute_with_strings(
    index=("input", "GlobalInvocationId", "ivec3"),
    data1=("buffer", 0, "Array(f32)"),
    data2=("buffer", 1, "Array(f32)"),
):
    data2[index.x] = data1[index.x] * 3.0


SCALE = 4


@ps.python2shader
def compute_with_global(
    index=("input", "GlobalInvocationId", ps.ivec3),
    data1=("buffer", 0, ps.Array(ps.f32)),
    data2=("buffer", 1, ps.Array(ps.f32)),
):
    data2[index.x] = data1[index.x] * SCALE


@pytest.mark.parametrize(
    "function",
    [compute_with_defaults, compute_with_annotations, compute_with_strings, compute_with_global],
    ids=lambda f: f.input.__name__,
)
def test_python2shader(function):
    run_function(function, 5, np.arange(5, dtype=np.float32), np.zeros(5, np.float32))


def test_postponed_annotations_find_closure_names():
    element = ps.f32

    def compute_closure(
        index: ("input", "GlobalInvocationId", ps.ivec3),
        data: ("buffer", 0, ps.Array(ps.f32)),
    ):
        data[index.x] = f32(index.x)

    assert element is ps.f32
    run_function(compute_closure, 4, np.zeros(4, np.float32))


def test_captured_numbers_of_a_factory_differ():
    def factory(scale):
        @ps.python2shader
        def compute_scale(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
            data[index.x] = data[index.x] * scale

        return compute_scale

    for scale in (2, 3.5):
        run_function(factory(scale), 4, np.arange(4, dtype=np.float32))
    assert factory(2).to_spirv() != factory(3).to_spirv()


def test_the_functions_source_may_come_from_exec():
    text = textwrap.dedent(
        """
        import pyshader as ps
        @ps.python2shader
        def compute_exec(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
            data[index.x] = 7.0
        """
    )
    name = "<a test>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {}
    exec(compile(text, name, "exec"), scope)
    validate(scope["compute_exec"].to_spirv())


def test_a_function_without_source_is_refused_with_the_cause():
    text = (
        "import pyshader as ps\n"
        "try:\n"
        "    exec('''@ps.python2shader\n"
        'def compute_k(index=("input", "GlobalInvocationId", ps.ivec3)):\n'
        "    pass\n"
        "'''.replace('pass', 'return'))\n"
        "    compute_k.to_spirv()\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    result = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert "source" in result.stdout.lower(), result.stdout + result.stderr


def test_language_names_need_no_import_and_locals_come_first():
    check(
        """
        def k(i: Index, a: Array[f32], step: f32):
            sign = step
            length = sign * 2.0
            e = vec2(length, 3.0)
            a[i] = e.x + e.y + exp(0.0)
        """,
        np.zeros(4, np.float32),
        1.5,
    )


def test_types_under_the_names_of_python_and_numpy():
    for name in ("f32", "float"):
        compile_text(f"def k(i: Index, s: {name}, a: Array[{name}]):\n    a[i] = {name}(i) + s\n")
    for name in ("i32", "int"):
        compile_text(f"def k(i: Index, s: {name}, a: Array[{name}]):\n    a[i] = {name}(2.5) + s\n")
    for name in ("np.float32", "numpy.float32"):
        compile_text(f"def k(i: Index, a: Array[{name}]):\n    a[i] = 1.5\n")


def test_annotated_assignment():
    check(
        """
        def k(i: Index, v: Array[vec3], a: Array[f32]):
            t: f32
            t = 2
            c: vec3 = v[i] + t
            n: int = 3
            ok: bool = c.x > 1.0
            a[i] = c.y + f32(n) if ok else t
        """,
        np.arange(12, dtype=np.float32).reshape(4, 3),
        np.zeros(4, np.float32),
    )


def test_an_error_has_file_line_caret_and_both_types():
    text = "def k(i: Index, n: i32, a: Array[f32]):\n    t = 1.0\n    a[i] = t + n\n"
    with pytest.raises(kp.CompileError) as caught:
        kp.compile(text)
    error = caught.value
    assert error.lineno == 3 and error.text == "    a[i] = t + n"
    assert "f32" in error.msg and "i32" in error.msg
    assert "^" in str(error) and ":3:" in str(error)


def test_an_error_in_a_function_has_the_file_and_its_own_line():
    def compute_wrong(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
        data[index.x] = index.y

    first = compute_wrong.__code__.co_firstlineno
    with pytest.raises(kp.CompileError) as caught:
        ps.python2shader(compute_wrong).to_spirv()
    assert caught.value.filename == __file__
    assert caught.value.lineno == first + 1


def test_a_scalar_global_invocation_id_is_refused():
    text = 'def k(index=("input", "GlobalInvocationId", i32), a=("buffer", 0, Array(f32))):\n    a[index] = 1.0\n'
    with pytest.raises(kp.CompileError, match="ivec3"):
        kp.compile(text)
