"""The text of functions that stand in no file: behind `python -c`, in `exec`, or at Python's own prompt, which forgets it before
Python 3.13.

What was typed, and what the callers of `exec` hold, is searched for a text that makes the very same function: its code must be
equal, line numbers and all. Types of variables are no part of it: where two texts differ in them alone, there is none.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

LINES_KEPT = 5000  # of the prompt's history
TEXTS_KEPT = 32

_texts: list[str] = []  # that functions were found in: helpers may be looked for when `exec` is over
_found: list[tuple[CodeType, list[str]]] = []  # which function had which lines, of equal ones too


def find(code: CodeType) -> list[str] | None:
    """The lines of the function, decorators included; None: nothing that was typed or executed makes it."""
    if code.co_filename == "<stdin>":
        return _from_the_prompt(code)
    for known, lines in _found:
        if known is code:
            return lines
    for texts in (*_executed(code), sys.orig_argv, _texts):
        made = [(text, lines) for text in texts for lines in _lines_of(code, text.splitlines(keepends=True))]
        if made:
            text, lines = made[0]
            if len(made) > 1 and any(_variable_types(others) != _variable_types(lines) for _, others in made):
                return None
            _texts[:] = [*[other for other in _texts if other != text][1 - TEXTS_KEPT :], text]
            _found[:] = [*_found[1 - TEXTS_KEPT :], (code, lines)]
            return lines
    return None


def _executed(code: CodeType) -> Iterator[list[str]]:
    """The strings at hand where the text was given to `exec`: the names there, the constants, and the names of its module."""
    frame: FrameType | None = sys._getframe()
    executes = False
    while frame is not None:
        if executes:
            for held in (frame.f_locals.values(), frame.f_code.co_consts, frame.f_globals.values()):
                yield [text for text in list(held) if isinstance(text, str) and code.co_name in text]
        executes = frame.f_code.co_filename == code.co_filename and frame.f_code.co_name == "<module>"
        frame = frame.f_back


def _from_the_prompt(code: CodeType) -> list[str] | None:
    typed, before = _history(), code.co_firstlineno - 1
    for start in range(len(typed) - before - 1, -1, -1):
        first = typed[start + before].lstrip()
        if first.startswith(("@", "def ")) and (before == 0 or not typed[start][0].isspace()):
            for lines in _lines_of(code, typed[start:]):
                return lines
    return None


def _history() -> list[str]:
    readline = sys.modules.get("readline")  # which the prompt loads, if there is a terminal
    if readline is None:
        return []
    count = readline.get_current_history_length()
    lines = [readline.get_history_item(n) or "" for n in range(max(1, count - LINES_KEPT), count + 1)]
    return [line + "\n" for line in lines]


def _lines_of(code: CodeType, lines: list[str]) -> Iterator[list[str]]:
    """The function's own lines, if the statement that `lines` begin with, or all of them, make it."""
    import inspect
    from tokenize import TokenError

    if code.co_firstlineno > len(lines) or not any(code.co_name in line for line in lines):
        return
    try:
        statement = inspect.getblock(lines)
    except (SyntaxError, TokenError):  # it is no program
        return
    for text in (lines, statement):
        if _makes("".join(text), code):
            yield inspect.getblock(text[code.co_firstlineno - 1 :])
            return


def _variable_types(lines: list[str]) -> list[str]:
    """What stands behind the colon in `name: type = value`, the one thing that two texts of a function may differ in."""
    import ast

    text = "".join(lines)
    tree = ast.parse("if 1:\n" + text if lines[0][:1].isspace() else text)
    return [ast.dump(part.annotation) for part in ast.walk(tree) if isinstance(part, ast.AnnAssign)]


def _makes(text: str, code: CodeType) -> bool:
    import __future__

    flags = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
    try:
        whole = compile(text, code.co_filename, "exec", flags=code.co_flags & flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    inside = [whole]
    while inside:
        part = inside.pop()
        if part == code:
            return True
        inside += [constant for constant in part.co_consts if isinstance(constant, type(code))]
    return False
