#!/usr/bin/env python3
"""check_32bit.py BUILD: compiles every C file of src/ for a processor of 32 bits, where Vulkan's handles are numbers of 64 bits and sizes are not.

Only to see what the compiler says: the objects are thrown away. Needs clang, and the C library's 32-bit headers (Debian's
libc6-dev-i386); a machine that has none, as those of other makers, has nothing to check.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror".split()
LAYERS = ("base", "compiler", "shader", "vulkan", "runtime")
CLANG = ["clang", "-m32", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-DKP_BUILD", "-fsyntax-only"]


def has_headers() -> bool:
    probe = subprocess.run([*CLANG, "-x", "c", "-"], input="#include <stdio.h>\n", capture_output=True, text=True)
    return probe.returncode == 0


def check(file: Path) -> str:
    # A layer's own headers are beside its files; those of others, all here, are checked by check_layers.py.
    made = Path(sys.argv[1]).resolve() / "src" / file.parent.name
    command = [*CLANG, *WARNINGS, f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", f"-I{made}", str(file)]
    return subprocess.run(command, capture_output=True, text=True).stderr


def main() -> int:
    if not has_headers():
        print("no 32-bit headers: nothing checked")
        return 0
    files = sorted(file for layer in LAYERS for file in (ROOT / "src" / layer).glob("*.c"))
    with ThreadPoolExecutor() as pool:
        faults = [text for text in pool.map(check, files) if text]
    print(*faults, f"{len(files)} files for 32 bits, {len(faults)} with faults", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
