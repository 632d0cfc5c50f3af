"""Where the text of a kernel may come from: the prompt, `python -c`, standard input, IPython, exec, archives, a .pyc alone, a frozen
program. Where there is none, the error says so and what to do."""

import os
import pty
import py_compile
import select
import subprocess
import sys
import textwrap
import zipfile

import pytest

MODULE = '''import kp, numpy as np
from kp.lang import Array, Index, f32

def twice(value):
    return 2.0 * value

@kp.kernel
def double(i: Index, x: Array[f32]):
    """A text."""
    x[i] = twice(x[i])
'''
USE = "x = np.ones(2, np.float32)\ndouble(x)\ndouble.emulate(x)\nprint(x.tolist())\n"
DONE = "[4.0, 4.0]"
REFUSED = (
    "the source of 'double' is not at hand; a kernel is compiled from its text. Put it in a file, or pass the text: "
    "kp.kernel_from_source(text)"
)


def run(*arguments, cwd=None, text=None):
    """What a program says, on both channels."""
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=120, cwd=cwd, input=text
    )
    return done.stdout + done.stderr


def at_the_prompt(lines, *arguments):
    """What Python says on a terminal to lines that are typed one by one."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", PYTHON_BASIC_REPL="1", PYTHON_HISTORY=os.devnull)
        os.execv(sys.executable, [sys.executable, "-q", *arguments])
    said = b""
    os.write(terminal, "".join(line + "\n" for line in [*lines, "exit()"]).encode())
    while select.select([terminal], [], [], 60)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(terminal)
    os.waitpid(child, 0)
    return said.decode().replace("\r\n", "\n")


def typed(text):
    """Lines as people type them: an empty one ends a block."""
    return text.replace("\n\n", "\n").replace("\n@", "\n\n@").splitlines() + [""]


def test_the_prompt():
    lines = [*typed(MODULE), *USE.splitlines()]
    later = ["def twice(value):", "    return 5.0 * value", "", "double(x)", "print(x.tolist())"]
    said = at_the_prompt([*lines, *later])
    assert DONE in said and "[20.0, 20.0]" in said, said
    factory = """def make(scale):
    @kp.kernel
    def scaled(i: Index, x: Array[f32]):
        x[i] = scale * x[i]
    return scaled
"""
    said = at_the_prompt(
        [*typed(MODULE), *typed(factory), "x = np.ones(2, np.float32)", "make(3.0)(x)", "print(x.tolist())"]
    )
    assert "[3.0, 3.0]" in said, said


def test_the_prompt_shows_where_a_mistake_is():
    said = at_the_prompt([*typed(MODULE.replace("twice(x[i])", "twise(x[i])"))])
    assert "<stdin>:4:12: there is no 'twise' here" in said or "<stdin>:4:12: there is no function 'twise'" in said, (
        said
    )
    assert "x[i] = twise(x[i])" in said


def test_behind_the_option_c():
    assert run("-c", MODULE + USE) == DONE + "\n"
    assert run("-Bc", "if True:\n" + textwrap.indent(MODULE + USE, "    ")) == DONE + "\n"
    assert run("-OO", "-c", "import kp, sys\n" + MODULE + USE, "another argument") == DONE + "\n"


def test_standard_input_that_is_no_terminal_is_refused():
    said = run("-", text=MODULE + USE)
    assert f"kp.CompileError: <stdin>:7: {REFUSED}" in said, said


@pytest.mark.parametrize("option", ["-O", "-OO", "-B"])
def test_a_module_under_every_optimization(tmp_path, option):
    (tmp_path / "module.py").write_text(MODULE)
    assert run(option, "-c", "from module import *\n" + USE, cwd=tmp_path) == DONE + "\n"


def test_a_compiled_module_alone_is_refused(tmp_path):
    source = tmp_path / "module.py"
    source.write_text(MODULE)
    py_compile.compile(str(source), cfile=str(tmp_path / "module.pyc"))
    source.unlink()
    said = run("-c", "from module import *\n" + USE, cwd=tmp_path)
    assert f"module.py:7: {REFUSED}" in said, said


def test_a_module_in_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as archive:
        archive.writestr("module.py", MODULE)
    code = "import sys\nsys.path.insert(0, 'modules.zip')\nfrom module import *\n" + USE
    assert run("-c", code, cwd=tmp_path) == DONE + "\n"


def test_exec_of_a_text(tmp_path):
    """A constant, a name, a parameter, inside of each other, and with a kernel that is compiled when `exec` is over."""
    assert run("-c", f"exec({MODULE + USE!r})") == DONE + "\n"
    assert run("-c", f"text = {MODULE!r}\nexec(compile(text, 'made', 'exec'))\n{USE}") == DONE + "\n"
    assert run("-c", f"def work(text, names):\n    exec(text, names)\n\nwork({MODULE + USE!r}, {{}})") == DONE + "\n"
    assert run("-c", f"exec({f'exec({MODULE + USE!r})'!r})") == DONE + "\n"
    later = MODULE.replace("i: Index, x: Array[f32]", "i: Index, x")
    program = tmp_path / "program.py"
    program.write_text(f"TEXT = {later!r}\nnames = {{}}\nexec(TEXT, names)\nglobals().update(names)\ndel TEXT\n" + USE)
    assert run(str(program)) == DONE + "\n"


TYPED = "@kp.kernel\ndef typed(i: Index, x: Array[i32]):\n    y: {} = 100\n    y -= 200\n    x[i] = i32(y // 2)\n"
CALL = "x = np.zeros(1, dtype=np.int32); typed(x); print(x)"


def test_exec_of_texts_that_differ_in_the_type_of_a_variable():
    """Python makes the same code of them."""
    start = f"import kp, numpy as np\nfrom kp.lang import Array, Index, i32\nTEXT = {TYPED!r}\n"
    code = "def work(name):\n    text = TEXT.format(name)\n    exec(text, globals())\n"
    each = f"for name in ('i32', 'u32'):\n    work(name)\n    {CALL}\n"
    assert run("-c", start + code + each) == "[-50]\n[2147483598]\n"
    both = f"a, b = TEXT.format('i32'), TEXT.format('u32')\ndel TEXT\nexec(a)\n{CALL}"
    assert REFUSED.replace("double", "typed") in run("-c", start + both)
    both = (
        f"a, b, TEXT = TEXT.format('i32'), TEXT.format('i32').replace('Array[i32]', 'Array[u32]'), ''\nexec(a)\n{CALL}"
    )
    assert run("-c", start + both) == "[-50]\n"


def test_exec_beside_texts_that_are_no_programs():
    held = "a, b, c, d = 'double(1, ', 'double \"\"\"', '  double\\n double', 'double\\0'"
    assert run("-c", f"text = {MODULE!r}\n{held}\nexec(compile(text, 'made', 'exec'))\n{USE}") == DONE + "\n"


def test_exec_of_a_text_that_nobody_holds(tmp_path):
    """Python keeps no text of it: refused, and the way out works, as in a frozen program."""
    (tmp_path / "kernels.txt").write_text(MODULE)
    said = run("-c", "exec(open('kernels.txt').read())", cwd=tmp_path)
    assert f"kp.CompileError: <string>:7: {REFUSED}" in said, said
    changed = "text = text.replace('2.0', '3.0')\nexec(text.replace('3.0', '4.0'))"
    said = run("-c", f"text = {MODULE!r}\n{changed}")
    assert REFUSED.replace("double", "twice") in said, said  # what is held is another text than the one that runs
    frozen = f"import kp, numpy as np\nTEXT = {MODULE!r}\ndouble = kp.kernel_from_source(TEXT)\n" + USE
    assert run("-c", f"exec(compile({frozen!r}, 'frozen', 'exec'))") == DONE + "\n"


def test_ipython_and_notebooks():
    """Cells, of which each may define anew what another one uses."""
    pytest.importorskip("IPython")
    cells = [MODULE, USE, "def twice(value):\n    return 5.0 * value\n", "double(x)\nprint(x.tolist())\ndouble"]
    cells += ["@kp.kernel\ndef wrong(i: Index, x: Array[f32]):\n    x[i] = twise(x[i])\n"]
    program = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
shell.history_manager.enabled = False
print([shell.run_cell(cell).success for cell in {cells!r}])
"""
    said = run("-c", program)
    assert DONE in said and "[20.0, 20.0]" in said and "[True, True, True, True, False]" in said, said
    assert "there is no function 'twise'" in said and "x[i] = twise(x[i])" in said


def test_methods_lambdas_and_classes_are_refused_with_a_reason():
    import kp

    class Thing:
        def method(self, i):
            pass

        @classmethod
        def of_class(cls, i):
            pass

    for function, words in (
        (Thing.method, "the method '.*Thing.method' cannot be a kernel: a kernel has no object"),
        (Thing().method, "the method '.*Thing.method' cannot be a kernel: a kernel has no object"),
        (Thing.of_class, "the method '.*Thing.of_class' cannot be a kernel: a kernel has no object"),
        (lambda i, x: None, "a lambda cannot be a kernel: a kernel is a def of its own"),
    ):
        with pytest.raises(kp.CompileError, match=words):
            kp.kernel(function)
    for thing, kind in ((Thing, "type"), (Thing(), "Thing"), (print, "builtin_function_or_method"), (3, "int")):
        with pytest.raises(TypeError, match=f"takes a function, not {kind}"):
            kp.kernel(thing)
