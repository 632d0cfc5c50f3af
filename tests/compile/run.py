#!/usr/bin/env python3
"""Runs the compile tests on one file, or on all files of a folder.

    tests/compile/run.py KPC FILE-OR-FOLDER... [--bless]

What a file must do is told by the folder it is in:
    ok/      each of its functions compiles, checked and not, and where it has atomics also with --float-atomics, and the
             modules pass spirv-val for Vulkan 1.1; one whose name starts with "_" is not a kernel, but called by those
    error/   its last function, or the one that a line "# kpc: --kernel=NAME" names, does not compile, and says so in the words
             and at the place of its first line, "# error: LINE:COLUMN: message" (an .expect file of the same name may hold
             that line for a file that cannot)
    golden/  as ok/, and what spirv-dis makes of the kernel's function (of `multiply`: of the whole module), less debug
             information, is the .spvasm file of the same name; --bless writes that anew: read it before you commit it.
             What a line "# kpc: OPTION" says goes to kpc
Ends with "N passed, N failed".
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

FUNCTION = re.compile(r"^(?:async )?def (\w+)", re.M)
BARE = ("OpName", "OpMemberName", "OpSource", "OpString", "OpLine", "OpNoLine", "OpModuleProcessed")


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, timeout=60, **options)
    return result.returncode, (result.stdout + result.stderr).decode(errors="replace")


def compile_kernel(kpc, path, kernel, out, *options):
    """Writes SPIR-V of the kernel to `out`; the words of a failure, or None."""
    status, text = run(kpc, f"--kernel={kernel}", *options, "-o", out, path)
    return None if status == 0 else f"kpc exited with {status}: {text}"


def kernels_of(path):
    return [name for name in FUNCTION.findall(path.read_text()) if not name.startswith("_")]


def check_ok(kpc, path, _bless):
    """The faults of the kernels of a file that must compile, each with the kernel's name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "kernel.spv"
        ways = [(), ("--checked",)] + [("--float-atomics",)] * ("atomic_" in path.read_text())
        for kernel in kernels_of(path):
            for options in ways:
                fault = compile_kernel(kpc, path, kernel, out, *options)
                if fault is None:
                    status, text = run("spirv-val", "--target-env", "vulkan1.1", out)
                    fault = text if status else None
                yield " ".join((kernel, *options)), fault


def expectation(path):
    """(line, column, message, kernel or None) of a file that must not compile."""
    companion = path.with_suffix(".expect")
    text = (companion if companion.exists() else path).read_text(errors="surrogateescape")
    position, message = re.match(r"# error: (\S+?): (.*)", text).groups()
    option = re.search(r"^# kpc: --kernel=(\S+)", text, re.M)
    line, column = (int(n) for n in position.split(":")) if ":" in position else (0, 0)
    return line, column, message, option and option[1]


def check_error(kpc, path, _bless):
    """kpc must fail with "path:line:column: message", and show the line with carets below it."""
    line, column, message, kernel = expectation(path)
    options = [f"--kernel={kernel}"] if kernel else []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "kernel.spv"
        status, text = run(kpc, *options, "-o", out, path)
        where = f"{path}:{line}:{column}" if line else str(path)
        wanted = f"{where}: {message}"
        first, *rest = text.splitlines() or [""]
        fault = None
        if status != 1:
            fault = f"kpc exited with {status}, not 1: {text}"
        elif first.replace("error: ", "", 1) != wanted:
            fault = f"wanted {wanted}\n   found {first}"
        elif line and not any("^" in r for r in rest):
            fault = f"no caret below the line: {text}"
        elif out.exists():
            fault = "kpc failed, but wrote its output"
        yield path.stem, fault


def normalise(assembly, function=None):
    """The assembly without debug information, and with unnamed ids numbered as they come; of one function if asked."""
    ids = {}
    lines = []
    for line in assembly.splitlines():
        line = line.strip()
        if line and not line.split(" = ")[-1].startswith(BARE):
            lines.append(re.sub(r"%\d+", lambda m: ids.setdefault(m[0], f"%{len(ids) + 1}"), line))
    if function:
        start = next(n for n, line in enumerate(lines) if line.startswith(f"%{function} = OpFunction "))
        return normalise("\n".join(lines[start : lines.index("OpFunctionEnd", start) + 1]))
    return "\n".join(lines) + "\n"


def check_golden(kpc, path, bless):
    for name, fault in check_ok(kpc, path, bless):
        kernel, *checked = name.split()
        if fault is None and not checked:
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "kernel.spv"
                compile_kernel(kpc, path, kernel, out, *re.findall(r"^# kpc: (\S+)", path.read_text(), re.M))
                assembly = run("spirv-dis", "--no-color", "--no-header", out)[1]
                found = normalise(assembly, None if kernel == "multiply" else kernel)
            golden = path.with_suffix(".spvasm")
            if bless:
                golden.write_text(found)
            fault = difference(golden.read_text() if golden.exists() else "", found)
        yield name, fault


def difference(wanted, found):
    if wanted == found:
        return None
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "golden", Path(folder) / "found"]
        for path, text in zip(paths, (wanted, found), strict=True):
            path.write_text(text)
        return run("diff", "-u", *paths)[1]


CHECKS = {"ok": check_ok, "error": check_error, "golden": check_golden}


def main():
    bless = "--bless" in sys.argv
    kpc, *given = [a for a in sys.argv[1:] if a != "--bless"]
    paths = [Path(p) for g in given for p in (sorted(Path(g).glob("*.py")) if Path(g).is_dir() else [g])]
    passed = failed = 0
    for path in paths:
        for name, fault in CHECKS[path.parent.name](kpc, path, bless):
            passed, failed = passed + (fault is None), failed + (fault is not None)
            if fault is not None:
                print(f"FAILED {path.parent.name}/{path.stem} {name}\n   {fault}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
