#!/usr/bin/env python3
"""Proves that the public headers are a manual: every function in include/kp has a comment, and a `Thread-safety:` note, its own
or that of the group it stands in.

A group is the declarations from a comment that speaks for them ("Thread-safety of these", "Thread-safety of all", or a
function's full comment) up to the next blank line; "Thread-safety of all" holds up to the next section line (// ----).
A comment of the form "As kp_x." takes over what kp_x says.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUNCTION = re.compile(r"^KP_API\b.*?\b(kp_\w+)\s*\(", re.S)
AS_OTHER = re.compile(r"\bAs (kp_\w+)\b")


def check(path: Path) -> tuple[int, list[str]]:
    """The number of functions declared in a header, and what is wrong with them."""
    faults: list[str] = []
    documented: dict[str, bool] = {}  # function: does it have a Thread-safety note
    comment: list[str] = []  # of the paragraph that we are in
    group, section_safe = "", False
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("// ---"):
            section_safe = False
            comment, group = [], ""
        elif text.startswith("//"):
            comment.append(text.removeprefix("//").strip())
        elif not text:
            if re.search(r"Thread-safety\s+of\s+all", " ".join(comment)):
                section_safe = True
            comment, group = [], ""
        elif text.startswith("KP_API"):
            declaration = " ".join(lines[number - 1 : number + 5])
            found = FUNCTION.match(declaration)
            if not found:
                continue
            name = found[1]
            own = " ".join(comment)
            trailing = "//" in line
            group = own or group
            if not group and not trailing and not section_safe:
                faults.append(f"{path.name}:{number}: {name} has no comment")
            same = AS_OTHER.search(group)
            documented[name] = "Thread-safety" in group or section_safe or bool(same and documented.get(same[1]))
            if not documented[name]:
                faults.append(f"{path.name}:{number}: {name} has no Thread-safety note")
            comment = []
        else:
            group = " ".join(comment) or group  # a type in the paragraph; the comment above it goes on to hold
            comment = []
    return len(documented), faults


def main() -> int:
    count, faults = 0, []
    for path in sorted((ROOT / "include" / "kp").glob("*.h")):
        functions, wrong = check(path)
        count += functions
        faults += wrong
        if not path.read_text().startswith(f"// kp/{path.name} - "):
            faults.append(f"{path.name}:1: does not open with its own name and job")
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{count} public functions, {len(faults)} faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
