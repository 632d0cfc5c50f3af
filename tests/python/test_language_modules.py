"""The form of the modules: valid, and laid out as every Vulkan driver expects."""

import ast
import itertools
import re
import subprocess
from pathlib import Path

import kernelgen
import kp
import numpy as np
import pytest
from kernel_check import compare, compile_text, outcome, run_on_device
from kp.emulate.launch import Array, Emulation

KERNELS = Path(__file__).parent.parent / "compile" / "ok"
# The object API binds set 0; test_language_arrays.py runs the others: kp.emulate refuses what they read.
NOT_RUN = {"compute_set_and_binding", "product", "zeros"}


def kernels():
    """(file, name) of every kernel of tests/compile/ok."""
    # test_emulate_parallel.py, test_checked.py, test_print.py, test_language_views.py, test_structs.py, test_language_images.py,
    # test_atomics.py
    names = ("parallel", "report", "views", "structs", "images", "atomic_places")
    elsewhere = {KERNELS / f"{name}.py" for name in names}
    for path in sorted(set(KERNELS.glob("*.py")) - elsewhere):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name not in NOT_RUN and node.name[0] != "_":
                yield pytest.param(path.name, node.name, id=f"{path.stem}-{node.name}")


def make(kind, rng):
    """A push constant, or the contents of a buffer, for a parameter of this type."""
    spec = kind[2] if isinstance(kind, tuple) else kind
    if isinstance(spec, Array):
        spec, inner = spec.element, 1
        while isinstance(spec, Array):
            spec, inner = spec.element, inner * spec.length
        size = getattr(spec, "size", 1) * inner
        shape = (16, size) if size > 1 else (16,)
        dtype = getattr(getattr(spec, "scalar", spec), "numpy", np.bool_)
        return (rng.integers(1, 12, shape) / (4 if dtype == np.float32 else 1)).astype(dtype)
    value = rng.integers(1, 9, getattr(spec, "size", 1)).tolist()
    return value if len(value) > 1 else value[0]


@pytest.mark.parametrize(("file", "name"), list(kernels()))
def test_kernels_of_the_compile_tests_do_what_cpython_does(file, name):
    text = (KERNELS / file).read_text()
    spirv = compile_text(text, name)
    kernel = Emulation(text, name)
    args = [make(p.spec, np.random.default_rng(7)) for p in kernel.parameters if not p.is_input]
    wanted = outcome(kernel, 1, args)
    try:
        run_on_device(spirv, kernel, 1, args)
    except kp.UnsupportedError as error:
        assert ("scalar_types" in file or file == "library.py") and "lacks" in str(
            error
        )  # a device without types of 8, 16 or 64 bits
        return
    near = lambda w: 1e-3 * np.abs(w) + 1e-3  # noqa: E731  (test_language_functions.py has the close tolerances)
    for got, expected in zip(args, wanted, strict=True):
        if isinstance(got, np.ndarray):
            compare(got, expected, near, name)


def disassemble(text):
    command = ["spirv-dis", "--raw-id", "--no-color", "-"]
    return subprocess.run(command, input=compile_text(text), capture_output=True, check=True).stdout.decode()


MANY = """
def k(i: Index, n: i32, s: f32, m: u32, v: vec3, a: Array[f32], b: Array[f32], c: Array[i32], d: Array[u32], e: Array[vec3], f: Array[vec3]):
    t = i32(s) + n + i32(m)
    p = v + e[i] + f[i] * 2.0
    e[i] = p
    f[i] = p.zyx
    a[i] = b[i] + f32(t) + p.x
    c[i] = t if t > 3 else -t
    d[i] = u32(t) + m
"""


def test_types_are_declared_once():
    lines = [re.sub(r"^\s*%\d+ = ", "", x) for x in disassemble(MANY).splitlines()]
    types = [x for x in lines if re.match(r"OpType(Void|Bool|Int|Float|Vector|Function|Pointer)\b", x)]
    assert len(types) == len(set(types)), sorted(types)


def test_every_buffer_has_set_and_binding_and_is_a_storage_buffer():
    text = disassemble(MANY)
    buffers = re.findall(r"(%\d+) = OpVariable %\d+ StorageBuffer", text)
    assert len(buffers) == 6
    for kind, wanted in (("DescriptorSet", [0] * 6), ("Binding", list(range(6)))):
        placed = [re.search(rf"OpDecorate {buffer} {kind} (\d+)", text)[1] for buffer in buffers]
        assert sorted(map(int, placed)) == wanted, kind
    assert "BufferBlock" not in text and " Uniform " not in text


def test_undefined_opcodes_are_not_used():
    operators = ["+", "-", "*", "//", "%", "**", "&", "|", "^", "<<", ">>"]
    lines = "".join(f"    b[i] = b[i] {op} n\n    u[i] = u[i] {op} m\n" for op in operators)
    floats = "".join(f"    x[i] = x[i] {op} s\n" for op in ["+", "-", "*", "/", "//", "%", "**"])
    head = "def k(i: Index, n: i32, m: u32, s: f32, b: Array[i32], u: Array[u32], x: Array[f32]):\n"
    text = disassemble(head + lines + floats)
    assert not re.search(r"\bOp(SRem|SMod|FRem|FMod)\b", text)


def test_names_and_lines_lead_back_to_the_source():
    text = disassemble(
        "def saxpy(i: Index, scale: f32, first: Array[f32]):\n    total = scale * first[i]\n    first[i] = total\n"
    )
    for name in ("saxpy", "scale", "first", "total"):
        assert re.search(rf'Op(Member)?Name .*"{name}"', text), name
    assert re.search(r"OpLine %\d+ 2 ", text) and re.search(r"OpLine %\d+ 3 ", text)


def test_two_entry_points():
    text = disassemble("def k(i: Index, a: Array[f32]):\n    a[i] = 1.0\n")
    assert re.findall(r'OpEntryPoint GLCompute %\d+ "(\w+)"', text) == ["main", "kp_blocks"]


def test_compiling_is_repeatable():
    for seed in range(20):
        text = kernelgen.generate(seed)
        first, second = (bytes(kp.compile(text)) for _ in range(2))
        assert first == second


SHAPES = {
    "variables": lambda k: f"    v{k} = r + {k}\n    r ^= v{k}\n",
    "constants": lambda k: f"    r = r * {k * 7919 + 3} + {k}\n",
    "branches": lambda k: f"    if r > {k}:\n        r -= {k}\n    elif r < -{k}:\n        r += 1\n",
    "loops": lambda k: f"    for j{k} in range({k % 5 + 1}):\n        r += j{k}\n",
    "choices": lambda k: f"    r = r + 1 if r > {k} and n < {k} else r - 1\n",
    "elements": lambda k: f"    b[{k}] = r + b[i + {k}]\n",
    "calls": lambda k: f"    r = helper(r, {k % 3})\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_compile_time_grows_with_the_length(shape):
    """Ten times the lines take about ten times the time, not a hundred times."""
    import time

    def seconds(lines):
        head = "def helper(a, c):\n    return a * c\n\ndef k(i: Index, n: i32, b: Array[i32]):\n    r = n\n"
        text = head + "".join(map(SHAPES[shape], range(lines))) + "    b[i] = r\n"
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            kp.compile(text)
            best = min(best, time.process_time() - start)
        return best

    seconds(500)  # the first use of memory costs most
    assert seconds(5000) < 45 * seconds(500) + 0.01


@pytest.mark.parametrize("size", [300, 5000])
def test_long_kernels(size):
    """Hundreds of names and constants, branches over thousands of lines."""
    lines = ["def k(i: Index, n: i32, b: Array[i32]):", "    r = n", "    if n > 1:"]
    for k in range(size):
        lines.append(f"        v{k % 300} = r * {k + 3} + {k * 7919 % 100003}")
        if k % 50 == 49:
            lines.append(f"        if v{k % 300} % 3 == {k % 3}:")
            lines.append(f"            r = v{(k - 9) % 300} ^ r")
        elif k % 7 == 6:
            lines.append(f"        r += v{(k - 3) % 300} if r > {k} else v{k % 300}")
    lines += ["    else:", "        r = -1", "    b[i] = r"]
    text = "\n".join(lines) + "\n"
    kernel = Emulation(text)
    for n in (0, 12345):
        args = [n, np.zeros(3, np.int32)]
        wanted = outcome(kernel, 3, args)
        run_on_device(compile_text(text), kernel, 3, args)
        compare(args[1], wanted[1], what="b")


def test_modules_from_the_cache_of_types_and_constants_are_independent():
    texts = [
        f"def k(i: Index, a: Array[{t}]):\n    a[i] = a[i] * {c}\n"
        for t, c in itertools.product(["f32", "i32"], [2, 3])
    ]
    assert len({compile_text(t) for t in texts}) == len(texts)
