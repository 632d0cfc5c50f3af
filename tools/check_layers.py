#!/usr/bin/env python3
"""Proves that no folder includes what it must not: reads every #include and holds it against the table below.

The build's include paths say the same (cmake/layers.cmake), but only about headers of kp; this also covers system headers.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

STANDARD = set(
    "assert complex ctype errno fenv float inttypes limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef"
    " stdint stdio stdlib stdnoreturn string time uchar wchar wctype".split()
)
POSIX = ("dirent", "dlfcn", "fcntl", "pthread", "sched", "sys/", "unistd", "windows")
SPIRV = ("spirv/",)  # the headers of numbers, no library
VULKAN = ("vulkan/", "volk")
PUBLIC = ("base", "compiler", "external", "kernels", "kp", "runtime", "shader", "vulkan")

# folder: the layers that it may include as "layer/x.h", the public headers that it may include as <kp/x.h>, and the
# beginnings of other headers in <>. Standard C is allowed everywhere.
RULES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "include/kp": ((), PUBLIC, ()),
    "src/base": ((), ("base",), POSIX),
    "src/compiler": (("base",), ("base", "compiler"), (*SPIRV, "spirv-tools/")),
    "src/shader": (("base",), ("base", "shader"), (*POSIX, "shaderc/")),
    "src/vulkan": (("base",), ("base",), (*POSIX, *VULKAN, *SPIRV)),
    "src/runtime": (
        ("base", "vulkan"),
        ("base", "external", "runtime", "vulkan"),
        (*POSIX, *VULKAN, *SPIRV, "spirv-tools/"),
    ),
    "src/kernels": ((), ("base", "kernels"), ()),
    "src/cli": ((), PUBLIC, POSIX),
    "python/ext": ((), PUBLIC, (*POSIX, "Python", "structmember")),
    "examples": ((), PUBLIC, POSIX),
    "bench": ((), PUBLIC, (*POSIX, *VULKAN)),
    "tests/gpu": ((), PUBLIC, (*POSIX, *VULKAN, *SPIRV, "cmocka")),
}
SHARED = ROOT / "tests" / "layer_link.h"  # of the Vulkan layers of tests and benchmarks
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def fault(path: Path, folder: str, bracket: str, header: str) -> str | None:
    """What is wrong with one #include, or None."""
    layers, public, system = RULES[folder]
    if bracket == '"':
        if "/" not in header:
            text = path.parent / (header.removesuffix(".inc").removesuffix(".kernel.h") + ".py")
            made = folder == "src/kernels" or text.exists()  # library.inc is made of library.py, x.kernel.h of x.py
            return None if (path.parent / header).exists() or made else "no such file in its own folder"
        if (path.parent / header).resolve() == SHARED and folder in ("bench", "tests/gpu"):
            return None
        layer = header.split("/")[0]
        if (path.parent / header).exists() and ".." not in header:
            return None
        return (
            None
            if layer in layers and (ROOT / "src" / header).exists()
            else f"may include only {list(layers) or 'no layer'}"
        )
    if header.startswith("kp/"):
        return None if header[3:-2] in public else f"may include only {[f'kp/{name}.h' for name in public]}"
    if header.removesuffix(".h") in STANDARD or header.startswith(system):
        return None
    if folder == "include/kp" and path.name == "vulkan.h" and header == "vulkan/vulkan.h":
        return None
    return "not standard C, and not in the folder's list"


def main() -> int:
    faults, count = [], 0
    for folder in RULES:
        for path in sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in (".c", ".h")):
            for number, text in enumerate(path.read_text().splitlines(), 1):
                found = INCLUDE.match(text)
                if found:
                    count += 1
                    what = fault(path, folder, found[1], found[2])
                    if what:
                        faults.append(f"{path.relative_to(ROOT)}:{number}: includes {found[2]}: {what}")
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{count} includes, {len(faults)} forbidden")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
