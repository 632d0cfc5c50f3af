"""Checked kernels: an index out of range, an integer division by zero and a failed assert are exceptions, with their place."""

import re

import kernelgen
import kp
import numpy as np
import pytest
from kernel_check import compare, outcome, run_on_device, validate
from kp.emulate.launch import Emulation
from kp.lang import Array, Index, f32, i32


@kp.kernel(checked=True)
def shift(i: Index, by: i32, x: Array[f32], y: Array[f32]):
    y[i] = x[i + by]


@kp.kernel(checked=True)
def ratio(i: Index, x: Array[i32], y: Array[i32]):
    assert x[i] >= 0, "negative"
    y[i] //= x[i]


@kp.kernel
def unchecked(i: Index, x: Array[i32], y: Array[i32]):
    assert x[i] > 100
    y[i] //= x[i]
    y[i + 5] = 1


def line_of(kernel, text):
    """The line of this file that has the text."""
    lines = open(__file__).read().splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


def test_what_asynchronous_work_has_to_tell_waits_for_the_await(mgr):
    program = kp.compile("def k(i: Index, x: Array[f32]):\n    x[i + 100] = 1.0\n", checked=True)
    x = kp.Tensor([1, 2, 3])
    mgr.eval_tensor_create_def([x])
    for meanwhile in (False, True):
        mgr.eval_async_algo_data_def([x], program)
        if meanwhile:  # the call's sequence is looked at, and used again
            mgr.sequence().eval(kp.OpSyncLocal([x]))
            mgr.eval_tensor_sync_local_def([x])
            mgr.eval_async_tensor_sync_local_def([x])
        with pytest.raises(IndexError, match="index 100 of 'x' is out of range for size 3"):
            mgr.eval_await_def()
    mgr.eval_await_def()
    with pytest.raises(kp.StateError, match="nothing to wait for"):
        mgr.eval_await_def()


def test_an_index_out_of_range_is_an_index_error():
    x, y = np.arange(10, dtype=np.float32), np.zeros(10, dtype=np.float32)
    shift(0, x, y)
    assert (y == x).all()
    place = f"{__file__}:{line_of(shift, 'y[i] = x[i + by]')}:14"
    with pytest.raises(IndexError) as error:
        shift(4, x, y)
    assert (
        str(error.value)
        == f"{place}: index 10 of 'x' is out of range for size 10, in invocation (6, 0, 0) of kernel 'shift'"
    )
    with pytest.raises(IndexError, match=r"index -2 of 'x' is out of range for size 10, in invocation \(0, 0, 0\)"):
        shift(-2, x, y)
    assert (y == x).all()  # an array of the caller's stays as it was


def test_division_and_assert():
    y = np.full(5, 12, dtype=np.int32)
    ratio(np.array([1, 2, 3, 4, 6], dtype=np.int32), y)
    assert y.tolist() == [12, 6, 4, 3, 2]
    with pytest.raises(
        ZeroDivisionError, match=r"test_checked.py:\d+:\d+: .* by zero, in invocation \(2, 0, 0\) of kernel 'ratio'"
    ):
        ratio(np.array([1, 2, 0, 4, 0], dtype=np.int32), y)
    with pytest.raises(AssertionError, match=r"assertion failed: negative, in invocation \(3, 0, 0\)"):
        ratio(np.array([1, 2, 3, -4, 0], dtype=np.int32), y)


def test_unchecked_kernels_go_on():
    y = np.full(5, 12, dtype=np.int32)
    unchecked(np.array([1, 2, 0, 4, 0], dtype=np.int32), y)
    assert y.tolist() == [12, 6, 0, 3, 0]


def test_in_a_sequence_and_asynchronously(mgr):
    x, y = mgr.tensor([1, 2, 3]), mgr.tensor([0, 0, 0])
    bad = shift.algorithm(mgr, [x, y], by=1)
    good = shift.algorithm(mgr, [x, y], by=0)
    sequence = mgr.sequence().record(kp.OpSyncDevice([x, y])).record(kp.OpAlgoDispatch(bad)).record(kp.OpSyncLocal([y]))
    sequence.eval_async()
    with pytest.raises(IndexError, match="index 3 of 'x' is out of range for size 3"):
        sequence.eval_await()
    assert not sequence.is_running()
    assert y.data().tolist() == [2, 3, 0]  # what the other invocations did
    with pytest.raises(IndexError):
        sequence.eval()
    sequence.record(kp.OpAlgoDispatch(good)).record(kp.OpSyncLocal([y])).eval()
    assert y.data().tolist() == [1, 2, 3]


def test_by_environment_and_as_plain_spirv(python, tmp_path):
    path = tmp_path / "program.py"
    path.write_text("""
import kp, numpy as np
from pyshader import python2shader, Array, f32, ivec3

@python2shader
def compute_twice(index=("input", "GlobalInvocationId", ivec3), x=("buffer", 0, Array(f32)), y=("buffer", 1, Array(f32))):
    y[index.x] = 2.0 * x[index.x + 1]

m = kp.Manager()
x, y = kp.Tensor([1, 2, 3]), kp.Tensor([0, 0, 0])
m.eval_tensor_create_def([x, y])
try:
    m.eval_algo_data_def([x, y], compute_twice.to_spirv())
    print("done")
except IndexError as error:
    print(str(error).partition(": ")[2])
""")
    code = f"import runpy; runpy.run_path({str(path)!r})"
    assert python(code, env={"KP_CHECKED": "1"}) == (
        "index 3 of 'x' is out of range for size 3, in invocation (2, 0, 0) of kernel 'compute_twice'\n"
    )
    assert python(code, env={"KP_CHECKED": "0"}) == "done\n"


def test_checked_beats_the_environment(monkeypatch):
    text = "def k(i: Index, x: Array[f32]):\n    x[i + 1] = 1.0\n"
    x = np.zeros(3, dtype=np.float32)
    monkeypatch.setenv("KP_CHECKED", "1")
    kp.kernel_from_source(text, checked=False)(x)
    with pytest.raises(IndexError):
        kp.kernel_from_source(text)(x)
    monkeypatch.delenv("KP_CHECKED")
    with pytest.raises(IndexError):
        kp.kernel_from_source(text, checked=True)(x)


def test_the_first_invocation_is_named_wherever_the_fault_is():
    text = "def k(at: Index3, x: Array[i32]):\n    assert at.x + 10 * at.y + 100 * at.z < 234\n"
    kernel = kp.kernel_from_source(text, checked=True)
    for extent in ((10, 10, 10), (300, 1, 1), (7, 50, 3)):
        cells = [(x, y, z) for z in range(extent[2]) for y in range(extent[1]) for x in range(extent[0])]
        first = next(c for c in cells if c[0] + 10 * c[1] + 100 * c[2] >= 234)
        with pytest.raises(AssertionError) as error:
            kernel(np.zeros(1, dtype=np.int32), extent=extent)
        assert f"in invocation {first} of" in str(error.value)


def test_a_workgroup_with_barriers_goes_on_without_effect(mgr):
    text = """
@kernel(local_size=8)
def k(i: Index, l: LocalIndex, x: Array[i32], y: Array[i32]):
    tile = shared(i32, 8)
    tile[l] = x[i]
    if i == 3:
        tile[l + 5] = 99
        x[i + 50] = 7
    barrier()
    y[i] = tile[7 - l]
"""
    x, y = np.arange(16, dtype=np.int32), np.zeros(16, dtype=np.int32)
    tensors = [mgr.tensor_t(x), mgr.tensor_t(y)]
    algorithm = kp.kernel_from_source(text, checked=True).algorithm(mgr, tensors, extent=16)
    with pytest.raises(
        IndexError, match=r":7:14: index 8 of 'tile' is out of range for size 8, in invocation \(3, 0, 0\)"
    ):
        mgr.sequence().record(kp.OpSyncDevice(tensors)).record(kp.OpAlgoDispatch(algorithm)).record(
            kp.OpSyncLocal(tensors)
        ).eval()
    assert tensors[0].data().tolist() == x.tolist()
    assert tensors[1].data().tolist() == x.reshape(2, 8)[:, ::-1].reshape(-1).tolist()


def test_many_faults_at_once():
    text = "def k(i: Index, x: Array[i32]):\n    x[-5 - i] = 1\n    x[i * 1000003 % 5000 - 1] = 1\n"
    kernel = kp.kernel_from_source(text, checked=True)
    for _ in range(3):
        with pytest.raises(
            IndexError, match=r":2:7: index -5 of 'x' is out of range for size 4, in invocation \(0, 0, 0\)"
        ):
            kernel(np.zeros(4, dtype=np.int32), extent=100000)


def test_indices_of_packed_vectors_and_from_the_end():
    text = "def k(i: Index, v: Array[vec3], j: i32):\n    v[i].xy = v[j].yx\n    v[-3].z = 1.0\n"
    kernel = kp.kernel_from_source(text, checked=True)
    kernel(np.zeros((3, 3), dtype=np.float32), 2)
    with pytest.raises(IndexError, match=":2:17: index 3 of 'v' is out of range for size 3"):
        kernel(np.zeros((3, 3), dtype=np.float32), 3)
    with pytest.raises(IndexError, match=":3:7: index -3 of 'v' is out of range for size 2"):
        kernel(np.zeros((2, 3), dtype=np.float32), 1)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "a = [1, 2, 3]\n    x[i] = a[i - 4]",
            "3:14: index -4 of 'a' is out of range for size 3, in invocation (0, 0, 0)",
        ),
        (
            "a = [i] * 4\n    a[i] = 7\n    x[i] = a[3]",
            "3:7: index 4 of 'a' is out of range for size 4, in invocation (4, 0, 0)",
        ),
        (
            "a = [[1, 2], [3, 4]]\n    a[i % 3][1] = 7",
            "3:7: index 2 of 'a' is out of range for size 2, in invocation (2, 0, 0)",
        ),
        ("for v in [1, 2, 3]:\n        assert v < 3 or i < 2", "3:9: assertion failed, in invocation (2, 0, 0)"),
        ("atomic_add(x, i * 2, 1)", "2:19: index 6 of 'x' is out of range for size 6, in invocation (3, 0, 0)"),
    ],
)
def test_local_arrays_loops_over_them_and_atomics(body, message):
    text = f"def k(i: Index, x: Array[i32]):\n    {body}\n"
    with pytest.raises((IndexError, AssertionError)) as error:
        kp.kernel_from_source(text, checked=True, file="k.py")(np.zeros(6, np.int32), extent=6)
    assert str(error.value) == f"k.py:{message} of kernel 'k'"


def test_a_text_says_it_and_the_call_goes_before_it():
    for head, checked, wanted in [
        ("@kp.kernel(checked=True)", None, True),
        ("@kernel(\n    local_size=None, checked=True)", None, True),
        ("@kp.kernel(checked=True)", False, False),
        ("@kp.kernel(checked=False)", None, False),
        ("@kp.kernel(checked=False)", True, True),
        ("# checked", None, False),
    ]:
        for type_ in (": Array[i32]", ""):
            text = f"{head}\ndef k(i: Index, x{type_}):\n    x[i + 1] = 1\n"
            kernel, x = kp.kernel_from_source(text, checked=checked), np.zeros(4, np.int32)
            if wanted:
                with pytest.raises(IndexError, match="index 4 of 'x' is out of range for size 4"):
                    kernel(x)
            else:
                kernel(x)
                assert x.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("put(data, i + 4, 1)", " of 'data'"),  # the kernel's name for it; in `put` it is 'a'
        ("put(m, i + 4, 1)", " of 'a'"),
        ("rows[1].n[i + 4] = 1", " of 'rows[1].n'"),
        ("m[i + 4] = 1", " of 'm'"),
        ("data[0] = TABLE[i + 4]", " of 'TABLE'"),
        ("data[0] = rows[1].n[i + 4]", " of 'rows[1].n'"),
        ("data[0] = rows[(1 + 2 + 3 + 4 + 5 + 6) - 20].n[i + 4]", ""),  # it would be too long
        ("data[0] = rows[\n        1].n[i + 4]", ""),
    ],
)
def test_what_an_index_is_of(line, named):
    text = f"""
TABLE = (1, 2, 3, 4)
class Row(Struct):
    n: Array(4, i32)
def put(a, k, value):
    a[k] = value
def k(i: Index, data: Array[i32], rows: Array[Row]):
    m = [0] * 4
    {line}
    data[0] += m[0]
"""
    rows = np.zeros(2, np.dtype([("n", np.int32, 4)]))
    with pytest.raises(IndexError, match=re.escape(f": index 4{named} is out of range for size 4, in")):
        kp.kernel_from_source(text, checked=True)(np.zeros(4, np.int32), rows, extent=1)


def test_what_is_right_stays_so_when_checked():
    for seed in range(3):
        text = kernelgen.generate(seed, 12, False)
        kernel, args = Emulation(text), kernelgen.arguments(seed, 8)
        wanted = outcome(kernel, 8, args)
        spirv = bytes(kp.compile(text, checked=True))
        validate(spirv)
        run_on_device(spirv, kernel, 8, args)
        for parameter, got, expected in zip(
            [p for p in kernel.parameters if not p.is_input], args, wanted, strict=True
        ):
            if hasattr(got, "dtype"):
                near = (lambda w: 2e-3 * np.abs(w) + 2e-3) if parameter.name == "out_r" else None
                compare(got, expected, near, parameter.name)
