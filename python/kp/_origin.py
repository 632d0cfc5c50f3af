"""A kernel's function and what became of it: the program for what its names stand for now, and for the types of its arguments.

A kernel is compiled where it is decorated. It is compiled again when a name that it takes from outside means something else at
a later call; when it was decorated before a function that it calls was there; and, when parameters have no types, once for each
signature that it is called with.
"""

from __future__ import annotations

from . import _kp
from ._axes import axes_of
from ._capture import ABSENT, Capture
from ._images import type_of
from ._source import _param_types, check_capture, compile_capture, compile_error
from .structs import StructType, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import CodeType, FunctionType
    from typing import Any

    from ._kp import Program


class Origin:
    def __init__(self, function: FunctionType, scope: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self.function = function
        self.types = _param_types(function, scope)
        self.options = options
        code = function.__code__
        self.names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        defaults = len(function.__defaults__ or ())
        plain = set(self.names[code.co_argcount - defaults : code.co_argcount]) if defaults else set()
        plain |= set(function.__kwdefaults__ or ())  # which the compiler refuses, and says why
        self.open = tuple(name for name in self.names if name not in self.types and name not in plain)
        # What was captured, and its programs by the types of `open`.
        self._axes: tuple[Capture | None, dict[str, int]] = (None, {})
        self._made: tuple[Capture, dict[tuple[str, ...], Program]] = (Capture(function, self.types, options), {})

    @property
    def source(self) -> str:
        source: str = self._made[0].source
        return source

    def error(self, message: str) -> _kp.CompileError:
        """One that points to the kernel as a whole."""
        return compile_error(self.function, message)

    def start(self, home: CodeType) -> Program | None:
        """The program, where the kernel is decorated; None when that has to wait: for arguments that give types, or for
        names that the code around the kernel, `home`, is still to define. CompileError otherwise."""
        try:
            if not self.open:
                return self.program(())
            check_capture(self._made[0])
        except _kp.CompileError:
            if not self._made[0].missing & {*home.co_names, *home.co_varnames, *home.co_cellvars}:
                raise
        return None

    def program(self, types: Iterable[str]) -> Program:
        """The program for these types of the parameters without one, in order."""
        return self.find(types)[0]

    def find(self, types: Iterable[str]) -> tuple[Program, Capture | None]:
        """That, and what it was compiled from."""
        key = tuple(types)
        capture, programs = self._made  # both at once: other threads may put newer ones there
        if not capture.fixed or changed(capture.watches):
            capture, programs = Capture(self.function, self.types, self.options), {}
            self._made = capture, programs
        program = programs.get(key)
        if program is None:
            given = {**self.types, **dict(zip(self.open, key, strict=True))}
            program = programs[key] = compile_capture(capture.with_params(given))
        return program, capture

    def call_names(self) -> list[str]:
        """The parameters that the caller passes."""
        return [name for name in self.names if not self.types.get(name, "").startswith(_INPUTS)]

    def types_of(self, values: Mapping[str, Any], texts: bool = False) -> tuple[str, ...]:
        """The types that arguments give to the parameters without one; with `texts`, they may be said instead."""
        missing = [name for name in self.open if name not in values]
        if missing:
            raise TypeError(
                f"{self.function.__name__}() has parameters without types, {', '.join(missing)}; they get them from "
                f"arguments{self.index_hint()}"
            )
        said = {name: value for name, value in values.items() if texts and isinstance(value, str)}
        return tuple(
            self._with_axes(name, said[name] if name in said else self._type_of(name, values[name]))
            for name in self.open
        )

    def index_hint(self) -> str:
        """For who has not said that a parameter is the index."""
        if any(text.startswith(_INPUTS) for text in self.types.values()):
            return ""
        name = next((name for name in self.names if name in ("i", "idx", "index", "gid", "tid")), None)
        return "" if name is None else f"; the index of a kernel is {name}: Index"

    def _with_axes(self, name: str, text: str) -> str:
        """Array[f32], or Array[f32, 2] where the kernel has two indices for it."""
        if not text.startswith("Array[") or text.endswith((", 2]", ", 3]")):
            return text
        capture = self._made[0]
        if self._axes[0] is not capture or changed(capture.watches):
            self._axes = capture, axes_of(self.function)
        count = self._axes[1].get(name, 1)
        return f"{text[:-1]}, {count}]" if count > 1 else text

    def _type_of(self, name: str, value: Any) -> str:
        dtype = getattr(value, "dtype", None)
        if isinstance(type(value), StructType):
            return str(type(value).text)
        if getattr(dtype, "names", None) is not None:
            try:
                text = text_of(dtype)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{self.function.__name__}() argument '{name}': {error}") from None
            return f"Array[{text}]" if getattr(value, "shape", ()) else text
        if isinstance(value, _kp.Tensor):
            return f"Array[{_TENSOR_TYPES[value.data_type().name]}]"
        if isinstance(value, _kp.Image):
            return type_of(value, f"{self.function.__name__}() argument '{name}'")
        if isinstance(value, (list, tuple)):
            return "Array[f32]"
        what = f"{self.function.__name__}() argument '{name}'"
        if dtype is not None:
            text = _NUMPY_TYPES.get(getattr(dtype, "name", str(dtype)), "")  # the name tells nothing of the byte order
            if not text:
                raise TypeError(f"{what}: has dtype {dtype}, which no kernel has")
            return f"Array[{text}]" if getattr(value, "shape", ()) else text
        for kind, text in ((bool, "bool"), (int, "i32"), (float, "f32")):
            if isinstance(value, kind):
                return text
        try:
            text = _FORMATS.get(memoryview(value).format, "")
        except TypeError:
            text = ""
        if text:
            return f"Array[{text}]"
        raise TypeError(
            f"{what}: has no type in the kernel, so it must be a tensor, an array, a list or a number, not "
            f"{type(value).__name__}"
        )


def changed(watches: Iterable[tuple[Any, ...]]) -> bool:
    """Whether a name means something else than when it was looked up."""
    for owner, name, *wanted in watches:
        if type(owner) is dict:
            value = owner.get(name, ABSENT)
        else:
            try:
                value = getattr(owner, name)
            except (AttributeError, ValueError):
                value = ABSENT
        if value is not (wanted[0] if wanted else ABSENT):
            return True
    return False


_INPUTS = (
    "Index",
    "LocalIndex",
    "LocalSize",
    "GroupIndex",
    "GroupCount",
    "('input'",
)  # what types of no argument start with
_NUMPY_TYPES = {numpy_name: text for text, numpy_name, _, _ in _kp.DTYPES}
_FORMATS = {letter: text for text, _, _, letter in _kp.DTYPES}
_TENSOR_TYPES = {member.name: _kp.DTYPES[member.value][0] for member in _kp.DataTypes if member.value >= 0}
