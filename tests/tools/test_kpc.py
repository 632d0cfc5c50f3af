"""kpc: what it prints and writes, its exit statuses, and what it says of wrong options."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KPC = ROOT / "build" / "release" / "src" / "cli" / "kpc"

KERNELS = """
def helper(v):
    return 2.0 * v

@kp.kernel(local_size=64)
def double(i: Index, x: Array[f32]):
    x[i] = helper(x[i])

def scale(i: Index, a: f32, n: vec3, x: Array[f32], y: Array[i32]):
    x[i] = a * x[i] + n.x
    y[i] = 1

@kp.kernel(local_size=64)
def total(i: Index, x: Array[f32], out: Array[f32]):
    s = shared(f32, 1)
    s[0] = 0.0
    barrier()
    atomic_add(s, 0, x[i])
    atomic_add(out, 0, s[0])

def paint(at: Index2, picture: Image2D[vec4, "rgba8"], t: Texture2D[f32]):
    picture[at] = vec4(t[at])
"""

# Prints the table of a program, and its words' sum.
MAIN = r"""
#include "kernels.h"
#include "kernels.h"
#include <stdio.h>
static unsigned sum_of(const uint32_t *words, size_t count) {
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += words[i];
    return sum;
}
static void show(const kp_program *p) {
    printf("%s %zu %u %u %u\n", p->name, p->word_count, sum_of(p->words, p->word_count), p->push_size, p->local_size[0]);
    for (size_t i = 0; i < p->alternative_count; i++)
        printf("  or %u %u\n", p->alternatives[i].needs, sum_of(p->alternatives[i].words, p->alternatives[i].word_count));
    for (size_t i = 0; i < p->param_count; i++) {
        const kp_param *a = &p->params[i];
        printf("  %s %s %d %d %u %u %u %u %d %d%s%s\n", a->name, a->type, a->kind, a->dtype, a->components, a->binding,
               a->offset, a->size, a->reads, a->writes, a->format != NULL ? " " : "",
               a->format != NULL ? a->format : "");
    }
}
int main(void) {
    show(&double_program);
    show(&scale_program);
    show(&paint_program);
    show(&total_program);
    return 0;
}
"""


def kpc(*words: object, text: str = "", status: int = 0) -> tuple[str, str]:
    """What kpc writes to the standard output and the standard error."""
    done = subprocess.run([str(KPC), *map(str, words)], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)
    return file


def test_it_only_checks_without_options(kernels: Path) -> None:
    assert kpc(kernels) == ("", "")
    assert kpc("-", text=KERNELS) == ("", "")


def test_a_module_is_written(kernels: Path, tmp_path: Path) -> None:
    kpc(kernels, "-o", tmp_path / "last.spv")
    kpc(kernels, "-o", tmp_path / "double.spv", "--kernel=double")
    kpc(kernels, f"-o={tmp_path / 'bare.spv'}", "--no-debug")
    last, double, bare = ((tmp_path / f"{name}.spv").read_bytes() for name in ("last", "double", "bare"))
    for module in (last, double, bare):
        assert int.from_bytes(module[:4], "little") == 0x07230203
    assert last != double and len(bare) < len(last) and b"kernels.py" in last and b"kernels.py" not in bare
    subprocess.run(["spirv-val", "--target-env", "vulkan1.1", tmp_path / "double.spv"], check=True)


@pytest.mark.parametrize("compiler", [["cc", "-std=c11"], ["c++", "-xc++", "-std=c++17"]])
def test_names_that_are_words_of_c(compiler: list[str], tmp_path: Path) -> None:
    text = """
class union(Struct):
    int: i32
    new: Array(2, vec2)
class Outer(Struct):
    inner: union
    default: bool
    plain: f32
def register(i: Index, double: Array[Outer], long: union):
    double[i].inner.int = long.int
"""
    kpc("-", "--c-header", tmp_path / "kernels.h", text=text)
    (tmp_path / "main.c").write_text("""
#include "kernels.h"
int main(void) {
    Outer outer = {{1, {{2, 3}, {4, 5}}}, true, 6};
    union_ *inner = &outer.inner;
    return inner->int_ == 1 && inner->new_[1][0] == 4 && outer.default_ && outer.plain == 6 &&
                   register_program.param_count == 3 && kp_struct_Outer.fields[1].name[7] == 0 ? 0 : 1;
}
""")
    flags = ["-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", "main.c", "-o", "main"]
    subprocess.run([*compiler, *flags], check=True, cwd=tmp_path)
    subprocess.run([tmp_path / "main"], check=True)


def test_a_header_of_several_kernels_is_c(kernels: Path, tmp_path: Path) -> None:
    names = ("double", "scale", "paint", "total")
    kpc(kernels, *(f"--kernel={name}" for name in names), "--c-header", tmp_path / "kernels.h")
    (tmp_path / "main.c").write_text(MAIN)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", f"-I{ROOT / 'include'}"]
    subprocess.run(["cc", *flags, "main.c", "-o", "main"], check=True, cwd=tmp_path)
    lines = subprocess.check_output([tmp_path / "main"], text=True).splitlines()

    def words_of(*options: str) -> list[int]:
        kpc(kernels, *options, "-o", tmp_path / "one.spv")
        module = (tmp_path / "one.spv").read_bytes()
        return [int.from_bytes(module[k : k + 4], "little") for k in range(0, len(module), 4)]

    sums = [f"{len(words)} {sum(words) % 2**32}" for words in (words_of(f"--kernel={name}") for name in names)]
    adding = sum(words_of("--kernel=total", "--float-atomics")) % 2**32
    # name, type, kind, dtype, components, binding, offset, size, reads, writes, format; kinds: buffer 0, push constant 2,
    # input 3, image 5, texture 6
    assert lines == [
        f"double {sums[0]} 0 64",
        "  i Index 3 5 1 0 0 4 0 0",
        "  x Array[f32] 0 0 1 0 0 4 1 1",
        f"scale {sums[1]} 28 0",
        "  i Index 3 5 1 0 0 4 0 0",
        "  a f32 2 0 1 0 0 4 0 0",
        "  n vec3 2 0 3 0 16 12 0 0",
        "  x Array[f32] 0 0 1 0 0 4 1 1",
        "  y Array[i32] 0 5 1 1 0 4 0 1",
        f"paint {sums[2]} 0 0",
        "  at Index2 3 5 2 0 0 8 0 0",
        '  picture Image2D[vec4, "rgba8"] 5 7 4 0 0 4 0 1 rgba8',
        "  t Texture2D[f32] 6 0 1 1 0 4 1 0",
        f"total {sums[3]} 0 64",
        f"  or 3 {adding}",  # alternatives: what they need, best first
        *(line for line in lines if line.startswith(("  or 2 ", "  or 1 "))),
        "  i Index 3 5 1 0 0 4 0 0",
        "  x Array[f32] 0 0 1 0 0 4 1 0",
        "  out Array[f32] 0 0 1 1 0 4 1 1",
    ]
    assert sum(line.startswith("  or ") for line in lines) == 3


def test_the_name_of_the_program(kernels: Path) -> None:
    assert "static const kp_program mine = {" in kpc(kernels, "--c-header=-", "--name=mine")[0]
    assert "static const kp_program paint_program = {" in kpc(kernels, "--c-header=-")[0]


def test_every_stage_is_dumped(kernels: Path) -> None:
    text = "def k(i: Index, x: Array[f32]):\n    x[i] = 2.5\n"
    found = {stage: kpc("-", f"--dump={stage}", text=text)[0] for stage in ("tokens", "ast", "types", "spirv")}
    assert "2.5" in found["tokens"] and "2.5" in found["ast"] and "f32" in found["types"]
    assert "OpEntryPoint GLCompute %main" in found["spirv"] and "%float_2_5 = OpConstant %float 2.5" in found["spirv"]
    assert len(set(found.values())) == 4
    assert kpc(kernels, "--list")[0] == "helper\ndouble\nscale\ntotal\npaint\n"


def test_a_module_for_devices_that_add_floats(kernels: Path) -> None:
    portable, adding = (
        kpc(kernels, "--kernel=total", "--dump=spirv", *options)[0] for options in ((), ("--float-atomics",))
    )
    assert "OpAtomicFAddEXT" not in portable and portable.count("OpAtomicCompareExchange") == 2
    assert adding.count("OpAtomicFAddEXT") == 2 and "OpAtomicCompareExchange" not in adding
    plain = [kpc(kernels, "--kernel=double", "--dump=spirv", *o)[0] for o in ((), ("--float-atomics",))]
    assert plain[0] == plain[1]


def test_a_faulty_kernel(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    file.write_text("def k(i: Index, x: Array[f32]):\n    x[i] = nothing\n")
    out, words = kpc(file, "-o", tmp_path / "k.spv", status=1)
    assert out == "" and not (tmp_path / "k.spv").exists()
    first, line, caret = words.splitlines()
    assert first.startswith(f"{file}:2:12: ") and "'nothing'" in first
    assert line.strip() == "x[i] = nothing" and caret.strip() == "^^^^^^^"
    assert "missing" in kpc(file, "--kernel=missing", status=1)[1]


def test_wrong_options(kernels: Path, tmp_path: Path) -> None:
    cases = [
        ((), "usage: kpc FILE"),
        ((kernels, "--frobnicate"), "kpc: cannot make sense of '--frobnicate'"),
        ((kernels, kernels), f"kpc: cannot make sense of '{kernels}'"),
        ((kernels, "-o"), "kpc: cannot make sense of '-o'"),
        ((kernels, "--dump=glsl"), "kpc: there is no stage 'glsl'; there are tokens, ast, types and spirv"),
        ((kernels, "--kernel=a", "--kernel=b", "-o", "x"), "kpc: -o is for one kernel, and there are 2"),
        ((kernels, "--kernel=a", "--kernel=b", "--dump=ast"), "kpc: --dump is for one kernel, and there are 2"),
        ((kernels, "--kernel=a", "--kernel=b", "--name=c"), "kpc: --name is for one kernel, and there are 2"),
        ((kernels, "--name=my-blur"), "kpc: --name: 'my-blur' cannot be a name in C"),
        ((kernels, "--name=int"), "kpc: --name: 'int' cannot be a name in C"),
    ]
    for words, message in cases:
        assert kpc(*words, status=2)[1].startswith(message), words


def test_files_that_cannot_be_read_or_written(kernels: Path, tmp_path: Path) -> None:
    missing = tmp_path / "no" / "such"
    assert kpc(missing, status=3)[1] == f"kpc: cannot read {missing}: No such file or directory\n"
    for option in ("-o", "--c-header"):
        assert kpc(kernels, option, missing, status=3)[1] == f"kpc: cannot write {missing}: No such file or directory\n"


def test_help_and_version() -> None:
    assert kpc("--help")[0].startswith("usage: kpc FILE [options]\n")
    assert kpc("--version")[0] == "kpc 0.1.0\n"
