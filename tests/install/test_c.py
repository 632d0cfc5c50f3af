"""The installed C library: a program is built against it by find_package and by pkg-config, and its symbols are looked at."""

import os
import re
import subprocess
from pathlib import Path

from conftest import RELEASE, ROOT, run

CONSUMER = Path(__file__).with_name("consumer")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def needed(library: Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", library))


def exported(library: Path) -> list[str]:
    return [line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()]


def test_find_package(prefix: Path, tmp_path: Path, on_lavapipe: dict[str, str]) -> None:
    run(
        "cmake",
        "-S",
        CONSUMER,
        "-B",
        tmp_path,
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_FLAGS={' '.join(WARNINGS)}",
    )
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "consumer", env=on_lavapipe) == "kp 0.1.0: 2 4 6\n"
    assert run(tmp_path / "embedded", env=on_lavapipe) == "9 25 49\n"


def test_a_faulty_kernel_fails_the_build(prefix: Path, tmp_path: Path) -> None:
    text = "cmake_minimum_required(VERSION 3.16)\nproject(x C)\nfind_package(kp 0.1 REQUIRED)\n"
    (tmp_path / "CMakeLists.txt").write_text(text + "add_executable(x main.c)\nkp_add_kernels(x faulty.py)\n")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "faulty.py").write_text("def k(i: Index, x: Array[f32]):\n    x[i] = nothing\n")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    done = subprocess.run(["cmake", "--build", tmp_path / "build"], capture_output=True, text=True)
    assert done.returncode != 0 and f"{tmp_path / 'faulty.py'}:2:12: there is no 'nothing'" in done.stdout + done.stderr


def test_two_files_for_one_header(prefix: Path, tmp_path: Path) -> None:
    text = "cmake_minimum_required(VERSION 3.16)\nproject(x C)\nfind_package(kp 0.1 REQUIRED)\n"
    text += "add_executable(x main.c)\nkp_add_kernels(x a/blur.py)\nkp_add_kernels(x a/blur.py)\nkp_add_kernels(x b/blur.py)\n"
    (tmp_path / "CMakeLists.txt").write_text(text)
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(command, capture_output=True, text=True)
    said = " ".join(done.stderr.split())
    assert done.returncode != 0 and "kp_add_kernels(x): blur.kernel.h is made already, of" in said, done.stderr


def test_find_package_refuses_another_version(prefix: Path, tmp_path: Path) -> None:
    other = tmp_path / "CMakeLists.txt"
    other.write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(x C)\nfind_package(kp 9.0)\nmessage(STATUS found=${kp_FOUND})\n"
    )
    assert "found=0" in run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")


def test_pkg_config(prefix: Path, tmp_path: Path, on_lavapipe: dict[str, str]) -> None:
    link = tmp_path / "kp"  # flags with spaces in them need a shell's quoting
    link.symlink_to(prefix)
    (pc,) = link.rglob("kp.pc")
    env = os.environ | {"PKG_CONFIG_PATH": str(pc.parent)}
    assert run("pkg-config", "--modversion", "kp", env=env) == "0.1.0\n"
    flags = run("pkg-config", "--cflags", "--libs", "kp", env=env).split()
    program = tmp_path / "consumer"
    run("cc", "-std=c11", *WARNINGS, CONSUMER / "main.c", *flags, f"-Wl,-rpath,{pc.parent.parent}", "-o", program)
    assert run(program, env=on_lavapipe) == "kp 0.1.0: 2 4 6\n"


def test_tools_run_from_where_they_lie(prefix: Path, tmp_path: Path, on_lavapipe: dict[str, str]) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text("def twice(i: Index, x: Array[f32], y: Array[f32]):\n    y[i] = 2.0 * x[i]\n")
    words = tmp_path / "kernel.spv"
    run(prefix / "bin" / "kpc", kernel, "-o", words)
    assert int.from_bytes(words.read_bytes()[:4], "little") == 0x07230203
    assert "llvmpipe" in run(prefix / "bin" / "kpinfo", env=on_lavapipe)


def test_every_header_is_installed(prefix: Path) -> None:
    ours = {path.name for path in (ROOT / "include" / "kp").glob("*.h")}
    assert {path.name for path in (prefix / "include" / "kp").iterdir()} == ours


def test_nothing_links_to_the_vulkan_loader() -> None:
    assert not [name for name in needed(RELEASE / "src" / "libkp.so") if "vulkan" in name]


def test_only_public_functions_are_exported() -> None:
    headers = "".join(path.read_text() for path in (ROOT / "include" / "kp").glob("*.h"))
    declared = set(re.findall(r"^KP_API\b[^;]*?\b(kp_\w+)\s*\(", headers, re.M))
    assert set(exported(RELEASE / "src" / "libkp.so")) == declared


def test_every_function_takes_nothing(prefix: Path, tmp_path: Path, on_lavapipe: dict[str, str]) -> None:
    """All arguments 0 or NULL: an error with words where there is a result, and never a crash."""
    calls = []
    for path in sorted((ROOT / "include" / "kp").glob("*.h")):
        text = re.sub(r"//.*", "", path.read_text())
        for result, name, args in re.findall(r"^KP_API\s+([\w \*]+?)\s*\b(kp_\w+)\(([^;]*)\);", text, re.M):
            count = 0 if args == "void" else len(re.sub(r"\[[^\]]*\]", "", args).split(","))
            call = f"{name}({', '.join(['0'] * count)})"
            calls.append(f'look("{name}", {call});' if result == "kp_result" else f"(void){call};")
    assert len(calls) > 90
    program = tmp_path / "nothing.c"
    program.write_text(
        "#include <kp/kp.h>\n#include <kp/external.h>\n#include <kp/vulkan.h>\n#include <stdio.h>\n"
        "static void look(const char *name, kp_result result) {\n"
        "    if (result == KP_OK || kp_last_error()[0] == 0)\n"
        '        printf("%s: %d\\n", name, (int)result);\n}\n'
        "int main(void) {\n    " + "\n    ".join(calls) + "\n}\n"
    )
    library = next(prefix.rglob("libkp.so"))
    run("cc", program, f"-I{prefix / 'include'}", library, f"-Wl,-rpath,{library.parent}", "-o", tmp_path / "nothing")
    assert run(tmp_path / "nothing", env=on_lavapipe) == ""
