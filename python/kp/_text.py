"""A kernel's text whose parameters do not all have types: kernel_from_source() compiles it once for each signature, as a
decorated function is. Nothing of the text is run.
"""

from __future__ import annotations

import ast
from types import SimpleNamespace

from . import _kp
from ._axes import axes_in
from ._origin import Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ._capture import Capture
    from ._kp import Program


def _kernel_in(text: str, name: str | None) -> ast.FunctionDef | None:
    """The function of that name, or the last; None where there is none, or Python cannot read the text."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and name in (None, node.name)]
    return functions[-1] if functions else None


def text_origin(text: str, name: str | None, file: str | None, options: Mapping[str, Any]) -> TextOrigin | None:
    """None: all parameters have types, or it is nothing that Python can read, which the compiler says better."""
    definition = _kernel_in(text, name)
    if definition is None:
        return None
    origin = TextOrigin(text, definition, file, options)
    if not origin.open:
        return None
    _kp.compile_check(text, kernel=definition.name, file=file, **options)
    return origin


def says_checked(text: str, name: str | None) -> bool:
    """Whether a decorator of the text's kernel has checked=True."""
    definition = _kernel_in(text, name)
    calls = [call for call in (definition.decorator_list if definition else ()) if isinstance(call, ast.Call)]
    said = [option.value for call in calls for option in call.keywords if option.arg == "checked"]
    return any(isinstance(value, ast.Constant) and value.value is True for value in said)


class TextOrigin(Origin):
    def __init__(self, text: str, definition: ast.FunctionDef, file: str | None, options: Mapping[str, Any]) -> None:
        self.function: Any = SimpleNamespace(__name__=definition.name)
        self.options = options
        self._text, self._file, self._definition = text, file, definition
        args = definition.args
        listed = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        self.names = tuple(arg.arg for arg in listed)
        self.types = {arg.arg: ast.unparse(arg.annotation) for arg in listed if arg.annotation is not None}
        places = [arg.arg for arg in (*args.posonlyargs, *args.args)]
        plain = dict(zip(places[len(places) - len(args.defaults) :], args.defaults, strict=True))
        plain |= {
            arg.arg: value for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None
        }
        for given, value in plain.items():
            self.types.setdefault(given, ast.unparse(value))  # a number, or pyshader's tuple
        self.open = tuple(given for given in self.names if given not in self.types)
        self._programs: dict[tuple[str, ...], Program] = {}

    @property
    def source(self) -> str:
        return self._text

    def error(self, message: str) -> _kp.CompileError:
        return _kp.CompileError(message)

    def find(self, types: Iterable[str]) -> tuple[Program, Capture | None]:
        """A text takes nothing from outside, so there is nothing that could change."""
        key = tuple(types)
        program = self._programs.get(key)
        if program is None:
            params = dict(zip(self.open, key, strict=True))
            program = self._programs[key] = _kp.compile(
                self._text, kernel=self.function.__name__, file=self._file, params=params, **self.options
            )
        return program, None

    def _with_axes(self, name: str, text: str) -> str:
        count = axes_in(self._definition).get(name, 1)
        return (
            f"{text[:-1]}, {count}]"
            if count > 1 and text.startswith("Array[") and not text.endswith((", 2]", ", 3]"))
            else text
        )
