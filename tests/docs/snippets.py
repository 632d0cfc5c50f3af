"""Takes the fenced blocks out of a page and makes programs of them.

* The `python` blocks of a page are one program, in order. Each keeps its line numbers, so a traceback points into the page.
* A `c` block with `int main(` is a program; the other `c` blocks of a page are the body of one function, in order.
* A `text` block right below one of these is what that block prints.
* `sh` blocks are commands; test_docs.py says which of them are run.
* A fence with more after the language (```python no-run) is not taken: use it for what cannot run here, and say why.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").glob("*.md")
)
MARK = "=== block at line"
FENCE = re.compile(r"^(\s*)```(.*)$")


@dataclass
class Block:
    language: str
    line: int  # of the opening fence, 1-based
    lines: list[str] = field(default_factory=list)
    prints: str | None = None

    @property
    def text(self) -> str:
        return "".join(line + "\n" for line in self.lines)


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    current: Block | None = None
    last_end = 0
    indent = 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if current is None and fence:
            indent = len(fence[1])
            current = Block(fence[2].strip(), number)
        elif current is not None and fence and not fence[2].strip():
            if current.language == "text" and found and found[-1].prints is None and current.line - last_end <= 2:
                found[-1].prints = current.text
            else:
                found.append(current)
            current, last_end = None, number
        elif current is not None:
            current.lines.append(line[indent:] if line[:indent].isspace() else line)
    assert current is None, f"{page.name}: a block is not closed"
    return found


def split_output(output: str) -> dict[int, str]:
    """What each block printed, by the line of its fence."""
    parts = re.split(rf"^{MARK} (\d+)\n", output, flags=re.M)
    return {int(line): text for line, text in zip(parts[1::2], parts[2::2], strict=True)}


def python_program(page: Path) -> str:
    """One program of all `python` blocks, each on its own lines of the page."""
    lines = [""] * len(page.read_text().splitlines())
    for block in blocks(page):
        if block.language == "python":
            lines[block.line - 1] = f'print("{MARK} {block.line}", flush=True)'
            lines[block.line : block.line + len(block.lines)] = block.lines
    return "\n".join(lines) + "\n"


def c_programs(page: Path) -> list[tuple[str, str]]:
    """Name and text of each C program of a page."""
    programs, body = [], []
    for block in blocks(page):
        if block.language != "c":
            continue
        here = f'#line {block.line + 1} "{page.name}"\n'
        if "int main(" in block.text:
            programs.append((f"{page.stem.lower()}_{block.line}", here + block.text))
        else:
            body.append(f'printf("{MARK} {block.line}\\n");\n{here}{block.text}')
    if body:
        head = "#include <kp/kp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void) {\n"
        programs.append((f"{page.stem.lower()}_body", head + "".join(body) + "return 0;\n}\n"))
    return programs
