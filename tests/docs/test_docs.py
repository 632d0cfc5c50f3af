"""Every snippet in README.md, CONTRIBUTING.md, CHANGELOG.md and docs/ runs, prints what the page says, and every link leads
somewhere. Runs on Mesa's CPU driver, against build/release and the package in the interpreter that runs the tests."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import snippets
from snippets import PAGES, ROOT

RELEASE = ROOT / "build" / "release"
TOOLS = RELEASE / "src" / "cli"
C_FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused", f"-I{ROOT / 'include'}"]

# Commands that a page may show and that are not run: they change the machine, need what a test has not, or are tested elsewhere.
NOT_RUN = (
    "git clone",
    "cd ",
    "pip install",
    "cmake ",
    "ctest ",
    "sudo ",
    "apt",
    "export ",
    ". .venv",
    "tools/run_matrix.py ",
    "eval ",
)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))


def of_all_pages(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in snippets.blocks(page))]


def name(page: Path) -> str:
    return page.name


@pytest.fixture(scope="session")
def env() -> dict[str, str]:
    lines = subprocess.check_output(
        [sys.executable, ROOT / "tools/run_matrix.py", "--env", "lavapipe"], text=True
    ).splitlines()
    driver = dict(shlex.split(line.removeprefix("export "))[0].split("=", 1) for line in lines)
    tools = f"{TOOLS}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return os.environ | driver | {"PATH": tools, "LD_LIBRARY_PATH": str(RELEASE / "src")}


def run(command: list[str], env: dict[str, str], cwd: Path) -> str:
    done = subprocess.run(command, env=env, cwd=cwd, text=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def check_output(page: Path, language: str, printed: dict[int, str]) -> None:
    for block in snippets.blocks(page):
        if block.language == language and block.prints is not None and block.line in printed:
            assert printed[block.line] == block.prints, (
                f"{page.name}:{block.line} prints something else than the page says"
            )


@pytest.mark.parametrize("page", of_all_pages("python"), ids=name)
def test_python_snippets(page: Path, env: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / f"{page.stem}.py"
    program.write_text(snippets.python_program(page))
    check_output(page, "python", snippets.split_output(run([sys.executable, str(program)], env, tmp_path)))


def compile_c(stem: str, text: str, env: dict[str, str], folder: Path) -> None:
    (folder / f"{stem}.c").write_text(text)
    run(["cc", *C_FLAGS, f"{stem}.c", f"-L{RELEASE / 'src'}", "-lkp", "-o", stem], env, folder)


@pytest.mark.parametrize("page", of_all_pages("c"), ids=name)
def test_c_snippets(page: Path, env: dict[str, str], tmp_path: Path) -> None:
    for stem, text in snippets.c_programs(page):
        compile_c(stem, text, env, tmp_path)
        output = run([str(tmp_path / stem)], env, tmp_path)
        line = stem.rpartition("_")[2]
        check_output(page, "c", {int(line): output} if line.isdigit() else snippets.split_output(output))


@pytest.mark.parametrize("faults", ["a kernel", "the drivers"])
def test_the_c_program_of_the_readme_tells_what_fails(faults: str, env: dict[str, str], tmp_path: Path) -> None:
    [(stem, text)] = snippets.c_programs(ROOT / "README.md")
    if faults == "a kernel":
        text, words = text.replace("a[i] * b[i]", "a[i] * c[i]"), "<kernel>:2:21: "
    else:
        env, words = env | {"VK_ICD_FILENAMES": os.devnull, "VK_DRIVER_FILES": os.devnull}, "no Vulkan d"
    compile_c(stem, text, env, tmp_path)
    done = subprocess.run([str(tmp_path / stem)], env=env, text=True, capture_output=True)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.startswith(words), done


@pytest.mark.parametrize("page", of_all_pages("sh"), ids=name)
def test_shell_snippets(page: Path, env: dict[str, str], tmp_path: Path) -> None:
    """`make x` must be a target; kpc, kpinfo, echo and python are run, in a folder of the page's own."""
    for block in snippets.blocks(page):
        if block.language != "sh":
            continue
        for line in block.lines:
            command = line.split("#")[0].strip()
            if command.startswith("make"):
                assert {word for word in command.split()[1:] if "=" not in word} <= TARGETS, (
                    f"{page.name}:{block.line}: no such target: {command}"
                )
            elif command.startswith(("kpc", "kpinfo", "echo ")) or re.match(r"\w+=\S+ (kpinfo|python)", command):
                run(["sh", "-c", command], env, tmp_path)
            else:
                assert not command or command.startswith(NOT_RUN), f"{page.name}:{block.line}: is this run? {command}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name}: no such file: {target}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_have_a_language(page: Path) -> None:
    for block in snippets.blocks(page):
        assert block.language.split(" ")[0] in {"python", "c", "sh", "text", "cmake"}, f"{page.name}:{block.line}"


def test_language_page_names_every_function() -> None:
    """The table of docs/language.md, and the compiler's own list."""
    rows = re.findall(r'^(?:BUILTIN|CONSTANT)\("(\w+)", (.*)\)', (ROOT / "src/compiler/builtins.def").read_text(), re.M)
    known = {name for name, _ in rows}
    table = (ROOT / "docs/language.md").read_text().partition("## Functions")[2].partition("Each of the")[0]
    assert {name.removeprefix("math.") for name in re.findall(r"`([\w.]+)`", table)} == known


def test_every_example_is_listed() -> None:
    """The table of docs/guide.md, by name or number, and the programs that there are."""
    table = (ROOT / "docs/guide.md").read_text().partition("## Whole programs")[2]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\|.*\|$", table, re.M)[2:]]
    for column, pattern in ((1, "examples/c/[0-9]*.c"), (2, "examples/python/[0-9]*.py")):
        listed = {word[:2] for row in rows for word in re.findall(r"`([\w]+)`", row[column])}
        full = {word for row in rows for word in re.findall(r"`(\w{3,})`", row[column])}
        stems = {path.stem for path in ROOT.glob(pattern)}
        assert listed == {stem[:2] for stem in stems} and full <= stems
