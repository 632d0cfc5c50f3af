"""From a Python function to its text, types and captured numbers: what @kernel and @python2shader hand to the compiler.

The source comes from inspect, so it needs a file, or a line cache as IPython and exec'ing tools keep; or from what was typed at the
prompt or behind `python -c`, or given to `exec`. Defaults and annotations are evaluated here, in the function's own scope, because they may be names or
expressions that only Python can resolve. Numbers that the function captures from its module or closure become constants.
"""

from __future__ import annotations

from os import environ

from . import _kp

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping
    from types import FunctionType
    from typing import Any

    from ._capture import Capture
    from ._kp import Program


def compile_function(function: FunctionType, scope: Mapping[str, Any], **options: Any) -> tuple[Program, str]:
    """The program of a function, and its source text. `scope` is what the decorator's caller sees as local names, `options` what
    the decorator says.

    TypeError: not a Python function. CompileError: anything else, with file and line.
    """
    from ._capture import Capture

    if options.get("checked") is None:
        options["checked"] = environ.get("KP_CHECKED") == "1"  # before the programs that there are are looked through
    capture = Capture(function, _param_types(function, scope), options)
    return compile_capture(capture), capture.source


_programs: dict[str, Program] = {}  # by all that they are made of
PROGRAMS_KEPT = 1024


def compile_capture(capture: Capture) -> Program:
    """The program of what was gathered: the one there is, when the same was compiled before."""
    key = capture.key()
    program = _programs.get(key)
    if program is None:
        program = _compile(capture)
        if len(_programs) >= PROGRAMS_KEPT:
            del _programs[next(iter(_programs))]
        _programs[key] = program
    return program


def check_capture(capture: Capture) -> None:
    """Finds what is wrong with it whatever the types are that it does not have."""
    _with_places(_kp.compile_check, capture)


def _compile(capture: Capture) -> Program:
    program: Program = _with_places(_kp.compile, capture)
    return program


def _with_places(work: Any, capture: Capture) -> Any:
    try:
        return work(capture.source, **capture.arguments)
    except _kp.CompileError as error:
        # A fault in a type is better shown where it is written than in the text that was evaluated from it.
        if error.text not in capture.arguments["params"].values():
            capture.explain(error)
            raise
        first = error
    try:
        work(capture.source, **{**capture.arguments, "params": {}})
    except _kp.CompileError as error:
        if error.msg == first.msg:
            raise error from None
    raise first


def compile_error(function: FunctionType, message: str) -> _kp.CompileError:
    """A CompileError that points to the function, not to a place in it."""
    code = function.__code__
    error = _kp.CompileError(f"{code.co_filename}:{code.co_firstlineno}: {message}")
    error.msg, error.filename, error.lineno = message, code.co_filename, code.co_firstlineno
    return error


def check_function(function: object, decorator: str) -> FunctionType:
    """The function itself, when it can be a kernel: a plain def."""
    code = getattr(function, "__code__", None)
    if code is None or isinstance(function, type):
        mend = ""
        if isinstance(function, staticmethod):
            mend = f"; write @staticmethod above {decorator}"
        elif isinstance(function, (int, tuple)) and decorator == "@kp.kernel":
            mend = "; an option has a name, as in @kp.kernel(local_size=64)"
        raise TypeError(f"{decorator} takes a function, not {type(function).__name__}{mend}")
    plain: FunctionType = getattr(function, "__func__", None) or function  # type: ignore[assignment]
    while isinstance(wrapped := getattr(plain, "__wrapped__", None), type(plain)):
        plain = wrapped  # functools.wraps: the text is that of the function inside, and so must its names be
    if plain.__name__ == "<lambda>":
        raise compile_error(plain, "a lambda cannot be a kernel: a kernel is a def of its own")
    if code.co_varnames[: code.co_argcount][:1] in (("self",), ("cls",)):
        raise compile_error(plain, f"the method '{plain.__qualname__}' cannot be a kernel: a kernel has no object")
    return plain


def helper_of(value: Any) -> Any:
    """The function that a kernel calls by it: that of a Kernel, or of a functools.cache; else the value itself."""
    inner = getattr(value, "function", None)
    if isinstance(inner, type(helper_of)):
        return inner
    return value.__wrapped__ if type(value).__name__ == "_lru_cache_wrapper" else value


# ----------------------------------------------------------------------------------------------------------------------
# Source
# ----------------------------------------------------------------------------------------------------------------------


def read_source(function: FunctionType) -> tuple[str, int]:
    """The text of the function, decorators included, and the number of its first line."""
    import inspect

    name = function.__code__.co_name  # as the text has it
    try:
        lines, first_line = inspect.getsourcelines(function.__code__)  # not of what a decorator says that it wraps
    except (OSError, TypeError, SyntaxError, IndexError):
        from ._typed import find

        typed = find(function.__code__)
        if typed is not None:
            return "".join(typed), function.__code__.co_firstlineno
        raise compile_error(
            function,
            f"the source of '{name}' is not at hand; a kernel is compiled from its text. Put it in a file, or pass "
            f"the text: kp.kernel_from_source(text)",
        ) from None
    if not any(line.lstrip().startswith(("def ", "async def ")) and name in line for line in lines):
        raise compile_error(function, f"the file has changed since '{name}' was read from it; start Python anew")
    return "".join(lines), first_line


def definition_of(function: FunctionType, text: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function in its text, which may be indented; None where it is not there. SyntaxError."""
    import ast

    tree = ast.parse("if 1:\n" + text if text[:1] in (" ", "\t") else text)
    definitions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return next((n for n in definitions if n.name == function.__code__.co_name), None)


# ----------------------------------------------------------------------------------------------------------------------
# Types
# ----------------------------------------------------------------------------------------------------------------------


class _Names(dict[str, object]):
    """The names that an annotation in text form can use: local ones, the function's globals, then the language's."""

    def __init__(self, function: FunctionType, scope: Mapping[str, Any]) -> None:
        super().__init__(scope)
        self.update(_closure(function))
        self._globals = function.__globals__

    def __missing__(self, name: str) -> object:
        import builtins

        import pyshader

        from . import lang

        if name in self._globals:
            return self._globals[name]
        for home in (builtins, lang, pyshader):
            if hasattr(home, name):
                return getattr(home, name)
        raise KeyError(name)


def _param_types(function: FunctionType, scope: Mapping[str, Any]) -> dict[str, str]:
    """The type of each parameter that has one, as text for the compiler."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:count]
    defaults = default_values(function)
    visible = _Names(function, scope)
    types = {}
    for name in names:
        value = defaults.get(name, function.__annotations__.get(name))
        if name in defaults and not _is_type(value, name in function.__annotations__):
            value = function.__annotations__.get(name)
        if value is None:
            continue
        try:
            types[name] = _text(value, visible)
        except TypeError as error:
            raise compile_error(function, f"the parameter '{name}': {error}") from None
    return types


def _is_type(value: object, annotated: bool) -> bool:
    """Whether a default is pyshader's way to say a type, rather than a value: behind an annotation, its triples alone."""
    if annotated:
        return isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], str)
    return isinstance(value, (tuple, str))


def helper_types(function: FunctionType) -> tuple[dict[str, str], dict[str, object]]:
    """What the hints of a function that a kernel calls say, where they are types of the language, "return" among them;
    and its default values."""
    names = _Names(function, {})
    types = {}
    for name, hint in function.__annotations__.items():
        value = _evaluate(hint, names) if isinstance(hint, str) else hint
        text = _hint_text(value)
        if text is not None:
            types[name] = text
    return types, default_values(function)


def default_values(function: FunctionType) -> dict[str, object]:
    """The default values of a function's parameters, by name."""
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    defaults = dict(zip(reversed(positional), reversed(function.__defaults__ or ()), strict=False))
    return {**defaults, **(function.__kwdefaults__ or {})}


def _hint_text(value: object) -> str | None:
    from .lang import type_text

    if getattr(value, "__origin__", None) is tuple:
        parts = [_hint_text(part) for part in value.__args__]  # type: ignore[attr-defined]
        return None if None in parts else f"tuple[{', '.join(map(str, parts))}]"
    try:
        return None if isinstance(value, str) else type_text(value)
    except TypeError:
        return None


def _text(value: object, names: _Names) -> str:
    from .lang import type_text

    if isinstance(value, str):
        value = _evaluate(value, names)
    if isinstance(value, tuple) and len(value) == 3:  # pyshader's (resource, slot, type)
        resource, slot, type_ = value
        if resource in ("texture", "sampler") and isinstance(type_, str):  # "2d rgba8", which is no type of its own
            return repr(value)
        return f"({resource!r}, {slot!r}, {_text(type_, names)})"
    if isinstance(value, tuple):
        return repr(value)  # the compiler says what is wrong with it
    return type_text(value)


def _evaluate(text: str, names: _Names) -> object:
    """What the text names; the text itself where Python cannot tell, for the compiler to read."""
    try:
        value = eval(text, {"__builtins__": {}}, names)
    except Exception:
        return text
    return text if value is None else value


def _closure(function: FunctionType) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found
