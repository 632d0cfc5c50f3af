"""print(...) in a kernel: the text that CPython's print makes of the same numbers, in the order of the indices."""

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, f32, vec2


@kp.kernel
def table(i: Index, x: Array[f32]):
    """Prints."""
    print(i, x[i], x[i] > 0, vec2(x[i], -1), sep=" | ")
    if i % 2 == 1:
        print("odd\t100%", end=";\n")


def test_prints_in_the_order_of_the_indices(capsys):
    x = np.array([0.5, -0.1, 3e20, 16777216], dtype=np.float32)
    table(x, extent=4)
    assert capsys.readouterr().out == (
        "0 | 0.5 | True | vec2(0.5, -1.0)\n"
        "1 | -0.1 | False | vec2(-0.1, -1.0)\nodd\t100%;\n"
        "2 | 3e+20 | True | vec2(3e+20, -1.0)\n"
        "3 | 16777216.0 | True | vec2(16777216.0, -1.0)\nodd\t100%;\n"
    )


def test_the_same_as_in_cpython(capsys):
    x = np.array([0.5, -0.1, 3e20, 1e-7, 12345679], dtype=np.float32)
    table(x, extent=5)
    device = capsys.readouterr().out
    table.emulate(x, extent=5)
    assert capsys.readouterr().out == device


def printed(capsys, kind, values, extra=""):
    text = f"def k(i: Index, x: Array[{kind}]):\n    print(x[i])\n"
    kp.kernel_from_source(text)(values, extent=len(values))
    return capsys.readouterr().out.splitlines()


def test_floats_have_the_fewest_digits_that_tell_them_apart(capsys):
    random = np.random.default_rng(3)
    bits = random.integers(0, 1 << 32, 3000, dtype=np.uint32)
    exponents = (10.0 ** np.arange(-44, 39)).astype(np.float32)
    short = (random.integers(-9999, 9999, 500) / 100).astype(np.float32)
    edges = np.array(
        [0, 1, -1, 1e16, 1e15, 9999999, 1e-4, 9.9e-5, 3.4028235e38, 1e-45, np.inf, -np.inf, np.nan], np.float32
    )
    values = np.concatenate([bits.view(np.float32), exponents, short, edges, -edges])
    values = values[~((values != 0) & (np.abs(values) < 1.2e-38))]  # devices may flush subnormal numbers
    assert printed(capsys, "f32", values) == [repr(float(str(v))) for v in values]


@pytest.mark.parametrize(
    ("kind", "dtype"), [("i32", "int32"), ("u32", "uint32"), ("i8", "int8"), ("u8", "uint8"), ("i16", "int16"),
                        ("u16", "uint16"), ("i64", "int64"), ("u64", "uint64"), ("f64", "float64"), ("f16", "float16"),
                        ("bool", "bool")]
)  # fmt: skip
def test_every_type(capsys, kind, dtype):
    random = np.random.default_rng(5)
    if dtype == "bool":
        values = np.array([True, False, True])
    elif dtype.startswith("float"):
        small = random.integers(0, 1 << 16, 500, dtype=np.uint16).view(np.float16)
        values = (
            small if dtype == "float16" else random.standard_normal(500) * 10.0 ** random.integers(-30, 30, 500)
        ).astype(dtype)
        values = values[(np.abs(values) > 1e-4) | (values == 0)]
    else:
        info = np.iinfo(dtype)
        edges = np.array([info.min, info.max, 0, 1], dtype=dtype)
        values = np.concatenate([edges, random.integers(info.min, info.max, 50, dtype=dtype)])
    try:
        lines = printed(capsys, kind, values)
    except kp.UnsupportedError as error:
        assert kind in ("i8", "u8", "i16", "u16", "i64", "u64", "f64", "f16", "bool")
        assert "lacks" in str(error)
        return
    wanted = [float(str(v)) for v in values] if dtype == "float16" else values.tolist()
    assert lines == list(map(repr, wanted))


def test_vectors_by_name(capsys):
    text = "def k(i: Index):\n    print(ivec3(1, -2, i), uvec2(3), bvec2(True, i > 0), vec4(0.25))\n"
    kp.kernel_from_source(text)(extent=1)
    assert capsys.readouterr().out == "ivec3(1, -2, 0) uvec2(3, 3) bvec2(True, False) vec4(0.25, 0.25, 0.25, 0.25)\n"


def test_texts_have_python_s_escapes(capsys):
    literals = [
        r'"a\tb\\c\"d"',
        r"'\x41\u00e9\U0001F600\101\0771'",
        r'r"raw \n"',
        '"""two\nlines"""',
        "\"joined\" ' text'",
        '"go \\\n on"',
        '"Grüße, 世界 %d %s %%"',
    ]
    for literal in literals:
        kp.kernel_from_source(f"def k(i: Index):\n    print({literal}, end='')\n")(extent=1)
        assert capsys.readouterr().out == eval(literal), literal


def test_print_from_helpers_loops_and_branches(capsys):
    text = """
def show(what: i32, x: f32):
    if x > 1.0:
        print(what, x)

def k(i: Index, x: Array[f32]):
    for n in range(i):
        show(n, x[i] * f32(n))
    print("end of", i)
"""
    kp.kernel_from_source(text)(np.array([1, 1, 2], dtype=np.float32), extent=3)
    assert capsys.readouterr().out == "end of 0\nend of 1\n1 2.0\nend of 2\n"


def test_in_a_sequence_each_dispatch_prints_in_turn(mgr, capsys):
    first = kp.kernel_from_source("def k(i: Index, x: Array[f32]):\n    print('first', x[i])\n    x[i] += 1.0\n")
    x = mgr.tensor([1, 2])
    once = first.algorithm(mgr, [x], extent=2)
    sequence = mgr.sequence().record(kp.OpSyncDevice([x]))
    sequence.record(kp.OpAlgoDispatch(once)).record(kp.OpAlgoDispatch(once))
    sequence.eval_async()
    sequence.eval_await()
    lines = "first 1.0\nfirst 2.0\nfirst 2.0\nfirst 3.0\n"
    assert capsys.readouterr().out == lines
    sequence.eval()
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_prints_before_a_fault_are_shown(capsys):
    text = "def k(i: Index, x: Array[i32]):\n    print('at', i)\n    x[3 * i] = 1\n    print('after', i)\n"
    with pytest.raises(IndexError, match="index 3 of 'x' is out of range for size 3"):
        kp.kernel_from_source(text, checked=True)(np.zeros(3, dtype=np.int32))
    assert capsys.readouterr().out == "at 0\nafter 0\nat 1\nat 2\n"


def test_too_many_prints_are_counted(capsys):
    count = (1 << 20) // 12
    kp.kernel_from_source("def k(i: Index, x: Array[i32]):\n    print(x[0])\n")(np.ones(1, np.int32), extent=count + 50)
    out = capsys.readouterr().out
    assert out == "1\n" * count + "[k: 50 more prints found no room in 1048576 bytes]\n"


def test_a_print_tells_its_place_where_that_is_asked_for(python, tmp_path):
    program = """import kp
from kp.lang import Array, Index, i32

def helper(n):
    print("helped", n)

@kp.kernel
def first(i: Index, n: i32):
    print(i, end=": ")
    print("two\\nlines")
    helper(n)

first(7, extent=2)
"""
    (tmp_path / "program.py").write_text(program)
    code = "import runpy, os; runpy.run_path('program.py')"
    plain = "".join(f"{i}: two\nlines\nhelped 7\n" for i in range(2))
    assert python(code, cwd=tmp_path) == plain
    told = python(code, env={"KP_PRINT_PLACES": "1"}, cwd=tmp_path)
    assert told == "".join(f"program.py:9: first: {i}: two\nlines\nprogram.py:5: first: helped 7\n" for i in range(2))


def test_no_stdout_is_no_problem(python):
    python(
        "import kp, sys, numpy as np\n"
        "k = kp.kernel_from_source('def k(i: Index, x: Array[i32]):\\n    print(x[i])\\n')\n"
        "sys.stdout = None\n"
        "k(np.zeros(3, np.int32), extent=3)\n"
    )


def test_names_that_stand_for_print():
    text = "def print(x: i32):\n    return x + 1\n\ndef k(i: Index, y: Array[i32]):\n    y[i] = print(i)\n"
    y = np.zeros(3, dtype=np.int32)
    kp.kernel_from_source(text)(y)
    assert y.tolist() == [1, 2, 3]
