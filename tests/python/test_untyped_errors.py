"""Mistakes of a kernel without types that no type could mend: they show where it is decorated, not at the first call."""

import ast
import linecache
from pathlib import Path

import kp
import numpy as np
import pytest
from kp import _kp
from kp.lang import Index

OK = Path(__file__).parents[1] / "compile" / "ok"
HEAD = "@kp.kernel\ndef k(i: Index, a, b):\n"
TYPES = ("Index", "Local", "Group", "('input'")  # of parameters that no argument gives


def decorate(text):
    """Runs a module of that text."""
    source = f"import kp, math\nimport numpy as np\nfrom kp.lang import *\n{text}"
    file = f"<untyped {hash(text):x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"__name__": "untyped"}
    exec(compile(source, file, "exec"), scope)
    return scope


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (HEAD + "    a[i] = bb[i]\n", 6, 12, "there is no 'bb' here; did you mean 'b'?"),
        (HEAD + "    a[i] = b[j]\n", 6, 14, "there is no 'j' here: it is neither a parameter"),
        ("@kp.kernel\ndef k(a, b):\n    a[i] = b[i]\n", 6, 14, "the index is a parameter, i: Index"),
        (HEAD + "    a[i] = fracty(b[i])\n", 6, 12, "there is no function 'fracty'; did you mean fract?"),
        (HEAD + "    a[i] = np.where(b[i] > 0, 1, 2)\n", 6, 12, "there is no function 'where'"),
        (HEAD + "    a[i] = math.foo\n", 6, 12, "there is no 'math.foo' here"),
        (HEAD + "    a[i] = x\n    x = b[i]\n", 6, 12, "'x' is used here before it is assigned"),
        (HEAD + "    x += 1\n", 6, 5, "'x' is used here before it is assigned"),
        (HEAD + "    return a[i]\n", 6, 5, "a kernel returns nothing"),
        (HEAD + "    with a:\n        pass\n", 6, 5, "'with' is not in the kernel language"),
        (HEAD + "    a[i] = (lambda x: x)(1)\n", 6, 13, "'lambda' is not in the kernel language"),
        (HEAD + "    yield a[i]\n", 6, 5, "'yield' is not in the kernel language"),
        ("@kp.kernel\nasync def k(i: Index, a):\n    a[i] = 0\n", 5, 1, "'async' is not in the kernel language"),
        ("@kp.kernel\ndef k(i: Index, *a):\n    pass\n", 5, 17, "'*' parameters are not in the kernel language"),
        ("@kp.kernel\ndef k(i: Index, a, /):\n    pass\n", 5, 20, "'/' is for the functions that a kernel calls"),
        (HEAD + "    global g\n    g = 3\n", 6, 12, "'g' is assigned in this function"),
        (HEAD + "    a[i] = sin(1.0, 2.0)\n", 6, 12, "sin takes 1 argument, not 2"),
        (HEAD + "    a[i] = abs(x=1.0)\n", 6, 16, "abs takes no names for its arguments"),
        (HEAD + "    for k in range():\n        pass\n", 6, 14, "range takes one to three arguments, not 0"),
        (HEAD + "    a[i] = 'text'\n", 6, 12, "strings are not in the kernel language"),
        (HEAD + "    a[i] = float('inf')\n", 6, 18, "strings are not in the kernel language; write math.inf"),
        (HEAD + "    if b[i] is None:\n        pass\n", 6, 13, "'is' is not in the kernel language"),
        (HEAD + "    a.append(3)\n", 6, 5, "methods are not in the kernel language"),
        (HEAD + "    print('{}'.format(b[i]))\n", 6, 11, "print of a kernel takes values beside texts"),
        (HEAD + "    assert b[i] > 0, b[i]\n", 6, 22, "the message of assert is a text in quotes"),
        (HEAD + "    barrier()\n", 6, 5, "barrier needs to know the size of a workgroup"),
        (HEAD + "    a[i] = subgroup_add(b[i])\n", 6, 12, "subgroup_add needs to know the size of a workgroup"),
        (HEAD + "    c: f33 = b[i]\n", 6, 8, "there is no type 'f33'; did you mean f32?"),
        ("NAMES = ['x']\n" + HEAD + "    a[i] = NAMES[0]\n", 7, 12, "'NAMES' is a list"),
        ("class C:\n    pass\n\n" + HEAD + "    a[i] = C(b[i])\n", 9, 12, "'C' cannot be called from a kernel"),
        ("def f(x):\n    return y\n" + HEAD + "    a[i] = f(b[i])\n", 5, 12, "there is no 'y' here"),
        ("def f(x):\n    return x\n" + HEAD + "    a[i] = f(b[i], 2)\n", 8, 12, "f takes 1 argument, not 2"),
        ("def f(x):\n    return x\n" + HEAD + "    a[i] = f(z=b[i])\n", 8, 14, "f has no parameter 'z'"),
        (
            "def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\n" + HEAD + "    a[i] = f(b[i])\n",
            7,
            12,
            "recursion is not in the kernel language: f calls g, which calls f",
        ),
    ],
)
def test_at_the_decoration(text, line, column, message):
    with pytest.raises(kp.CompileError) as caught:
        decorate(text)
    error = caught.value
    assert message in error.msg
    assert (error.lineno, error.offset) == (line, column)
    assert error.text.rstrip("\n") == ("import\n\n\n" + text).split("\n")[line - 1]


@pytest.mark.parametrize(
    "body",
    [
        "    while b[i] > 0:\n        if b[i] > 3:\n            x = 2\n        else:\n            a[i] = x\n        x = 3\n",
        "    rows, cols = a.shape\n    a[i, 0], b[i, 0] = divmod(rows, cols)\n",
        "    for x, y in ((1, 2), (3, 4)):\n        a[i] = x * y\n",
        "    c = [k * b[k] for k in range(4)]\n    a[i] = c[0] + Array(16, f32)()[0]\n",
        "    a[i] = bitcast(u32, b[i]) + isclose(1.0, 2.0, rel_tol=1e-3)\n",
        "    print('x', b[i], sep='')\n    assert b[i] > 0, 'no'\n    a[i] = math.pi * np.pi\n",
        "    p = b[i].copy()\n    p.x.y[3] = 2\n    a[i] = p\n",
        "    a[i] = b.sample(vec2(i) / vec2(b.size)).bit_count()\n",
        "    later(a, i)\ndef later(a, i):\n    a[i] = 1\n",
    ],
)
def test_what_types_may_make_right_is_left_to_the_call(body):
    assert isinstance(decorate(HEAD + body)["k"], kp.Kernel)


def without_types(text, name):
    """The text with the types of the kernel's parameters blanked; positions stay."""
    functions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name]
    lines = text.encode().split(b"\n")
    plain = functions[-1].args.args[: len(functions[-1].args.args) - len(functions[-1].args.defaults)]
    for argument in reversed(plain):
        note = argument.annotation
        if note is None or ast.unparse(note).strip("'").startswith(TYPES):
            continue
        line, start, end = argument.lineno - 1, argument.col_offset + len(argument.arg), note.end_col_offset
        assert note.end_lineno == argument.lineno
        lines[line] = lines[line][:start] + b" " * (end - start) + lines[line][end:]
    return b"\n".join(lines).decode()


def test_no_good_kernel_is_refused():
    looked_at = 0
    for file in sorted(OK.glob("*.py")):
        text = file.read_text().replace("\\q", "q")  # of which Python warns
        for name in _kp.compile_list(text):
            try:
                _kp.compile(text, kernel=name)
            except kp.CompileError:  # a function for others
                continue
            _kp.compile_check(text, kernel=name)
            _kp.compile_check(without_types(text, name), kernel=name)
            looked_at += 1
    assert looked_at > 150


def test_a_helper_that_comes_later_is_found_then():
    @kp.kernel
    def k(i: Index, a):
        a[i] = twice(a[i])

    with pytest.raises(kp.CompileError, match="there is no function 'twice'"):
        k(np.ones(2, np.float32))

    def twice(x):
        return x * 2.0

    a = np.ones(2, np.float32)
    k(a)
    assert a.tolist() == [2, 2]
