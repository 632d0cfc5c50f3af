"""Kernels as Python functions: @kp.kernel, kp.kernel_from_source, kp.Kernel.

A kernel is compiled where it is decorated, so its errors show there. Calling it runs it and waits:

* tensors are used as they are on their device: their device sides are read and written, and nothing is copied. Bring data up
  with kp.OpSyncDevice and down with kp.OpSyncLocal when you want it.
* NumPy arrays, other arrays and lists are copied to the device, and those that the kernel writes are copied back. They run on
  the manager of the tensors in the same call, or else on one manager for the process, made when first needed.
* images are used as tensors are. Arrays become images where the kernel has one: (height, width), or (height, width, channels).
* scalars become push constants, and what is declared as Const[...] specialization constants: each new value makes a pipeline.
"""

from __future__ import annotations

from . import _kp
from ._arguments import bind, check_array, check_memory, own_extent, read_extent, refuse_masked, shape_of, target_of
from ._images import FOURTH, KINDS, describe
from ._source import check_function
from .structs import uniform_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, SupportsIndex, TypeAlias

    from ._capture import Capture
    from ._kp import Param, Program, Tensor
    from ._origin import Origin
    from .classic import Manager

    _Remembered: TypeAlias = tuple[list[Any], Any, tuple[tuple[int, int, int, str], ...]]
    Extent: TypeAlias = SupportsIndex | Sequence[SupportsIndex]

_default_manager: Manager | None = None


def default_manager() -> Manager:
    """The manager of kernels that are called without tensors: the best device, or $KP_DEVICE."""
    from .classic import Manager

    global _default_manager
    if _default_manager is None or not _default_manager.is_init():
        _default_manager = Manager()
    return _default_manager


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    local_size: Sequence[int] | int | None = None,
    subgroup_size: int | None = None,
    checked: bool | None = None,
) -> Any:
    """Makes a function in the kernel language a Kernel: @kp.kernel, or @kp.kernel(local_size=(8, 8)).

    The parameters have annotations: i: Index (also Index2, Index3), x: Array[f32], a: f32; or pyshader's tuples.
    local_size is the size of a workgroup, on one to three axes, for kernels whose invocations work together; subgroup_size
    asks for subgroups of that many of them.
    checked=True makes the kernel look for mistakes as it runs: an index out of range raises IndexError, an integer
    division by zero ZeroDivisionError, an assert that does not hold AssertionError, and a shift or a conversion to an integer
    what it raises in Python. By default where $KP_CHECKED is 1.

    CompileError: with file, line and caret. TypeError: not a function.
    """
    options = _options(local_size, subgroup_size, checked)
    if function is None:
        return lambda decorated: _make(decorated, options, 2)
    return _make(function, options, 2)


def _options(local_size: Sequence[int] | int | None, subgroup_size: int | None, checked: bool | None) -> dict[str, Any]:
    """As _kp.compile takes them."""
    options: dict[str, Any] = {"checked": checked}
    if local_size is not None:
        axes: Any = local_size if hasattr(local_size, "__iter__") else (local_size,)
        options["local_size"] = tuple(axes)
        if not 1 <= len(options["local_size"]) <= 3 or not all(map(_is_count, options["local_size"])):
            raise ValueError(f"local_size: must be one to three numbers from 1 up, not {local_size!r}")
    if subgroup_size is not None:
        options["subgroup_size"] = check_subgroup_size(subgroup_size)
    return options


def check_subgroup_size(size: Any) -> int:
    if not _is_count(size):
        raise ValueError(f"subgroup_size: must be a number from 1 up, not {size!r}")
    return int(size)


def _is_count(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool) and 1 <= value < 2**32


def _make(function: Callable[..., Any], options: dict[str, Any], depth: int) -> Kernel:
    import sys

    from ._origin import Origin

    plain = check_function(function, "@kp.kernel")
    frame = sys._getframe(depth)
    origin = Origin(plain, frame.f_locals, options)
    return Kernel(origin.start(frame.f_code), origin.source, plain, origin)


def kernel_from_source(
    text: str,
    name: str | None = None,
    *,
    file: str | None = None,
    local_size: Sequence[int] | int | None = None,
    subgroup_size: int | None = None,
    checked: bool | None = None,
) -> Kernel:
    """Makes a Kernel of a text with functions in the kernel language: the one of that name, or the last.

    For programs without source files: frozen ones, generated kernels, the plain interpreter. Nothing of the text is run. file is
    for messages. The others are those of the kernel decorator, and go before what a decorator in the text says.

    CompileError: with line and caret.
    """
    options = _options(local_size, subgroup_size, checked)
    if checked is None and "checked" in text:
        from ._text import says_checked

        options["checked"] = says_checked(text, name) or None
    try:
        return Kernel(_kp.compile(text, kernel=name, file=file, **options), text, None)
    except _kp.CompileError:
        from ._text import text_origin

        origin = text_origin(text, name, file, options)
        if origin is None:
            raise
    return Kernel(None, text, None, origin)


class _Signature:
    """The signature of a kernel's function, for inspect: of kernels, not of their class, and of no kernel that is a text."""

    def __get__(self, kernel: Kernel | None, owner: type) -> Any:
        if kernel is None or kernel.function is None:
            raise AttributeError("__signature__")
        import inspect

        return inspect.signature(kernel.function)


class Kernel(_kp._Call):
    """A compiled kernel. Call it with its arguments in order, without the index, or by name:

        multiply(a, b, out)                  # once for each element of the first buffer that it writes
        multiply(a, b, out, extent=100)      # for the first 100 indices
        multiply[100](a, b, out)             # the same
        blur[640, 480](image, result)        # x from 0 to 639, y from 0 to 479

    A kernel with Index2 or Index3 goes over the first buffer that it writes when that is a view, Array[f32, 2]: x is its last
    axis; or an image with as many axes. Otherwise the extent must be given, as when it writes no buffer.
    """

    __signature__ = _Signature()

    def __init__(
        self,
        program: Program | None,
        source: str,
        function: Callable[..., Any] | None,
        origin: Origin | None = None,
    ) -> None:
        self.source = source
        self.function = function
        _refuse_extent(program, origin)
        self._origin = origin
        named = origin.function if origin is not None else function
        self.__name__ = getattr(named, "__name__", None) or (program and program.name) or "kernel"
        self.__qualname__ = getattr(function, "__qualname__", self.__name__)
        self.__doc__ = getattr(function, "__doc__", None)
        self.__module__ = getattr(function, "__module__", __name__)
        self._last = None if program is None else _Variant(program, None)

    def _refresh(self, values: dict[str, Any] | None = None, texts: bool = False) -> _Variant:
        """The program for what the kernel's names stand for now, and for the arguments whose types it takes; with `texts`, types
        in writing will do. A call goes on with what it got here: another thread's call may have other types."""
        variant = self._last
        if self._origin is not None:
            types = self._origin.types_of(values or {}, texts) if self._origin.open else ()
            program, capture = self._origin.find(types)
            if variant is None or program is not variant.program or capture is not variant.capture:
                variant = self._last = _Variant(program, capture)
        assert variant is not None
        return variant

    def _called_with(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Variant:
        if self._origin is None or not self._origin.open:
            return self._refresh()
        return self._refresh({**dict(zip(self._origin.call_names(), args, strict=False)), **kwargs})

    def _types_with(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, str]:
        """The types that such a call gives to the parameters without one, written out."""
        if self._origin is None or not self._origin.open:
            return {}
        values = {**dict(zip(self._origin.call_names(), args, strict=False)), **kwargs}
        return dict(zip(self._origin.open, self._origin.types_of(values), strict=True))

    @property
    def program(self) -> Program:
        """The compiled kernel. TypeError when parameters have no types: there is one for each signature then."""
        return self._refresh().program

    def __repr__(self) -> str:
        variant = self._last
        if variant is None or (self._origin is not None and self._origin.open):
            return f"<kp.Kernel {self.__name__}>"
        listed = ", ".join(f"{param.name}: {param.type}" for param in variant.program.params)
        return f"<kp.Kernel {self.__name__}({listed})>"

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters in the order of the signature, index included."""
        return self.program.params

    def spirv(self, **types: Any) -> bytes:
        """The SPIR-V module, for these types of the parameters that have none: x="Array[f32]", or an argument. Its entry point
        "main" means the same in any Vulkan program: one invocation per index."""
        return self._refresh(types, True).program.spirv

    def disassemble(self, **types: Any) -> str:
        """The SPIR-V module as text, one instruction a line. types as for spirv()."""
        return self._refresh(types, True).program.disassemble()

    def algorithm(
        self, manager: Manager, tensors: Sequence[Tensor], *, extent: Extent | None = None, **scalars: Any
    ) -> _kp.Algorithm:
        """An algorithm for use in sequences: tensors for the buffers in order, scalars by name.

        extent is how many indices a dispatch has, by default as in a call.

        TypeError, ValueError: arguments that do not fit the kernel. StateError: a tensor without device memory.
        """
        tensors = list(tensors)
        if self._origin is not None and self._origin.open:
            names = [name for name in self._origin.call_names() if name not in scalars]
            variant = self._refresh({**dict(zip(names, tensors, strict=False)), **scalars})
        else:
            variant = self._refresh()
        if len(tensors) != len(variant.buffers):
            raise TypeError(f"{self.__name__}() has {len(variant.buffers)} buffers, not {len(tensors)}")
        values = self._bind((), scalars, variant.scalars + variant.consts)
        push, specs = variant.constants(values, f"{self.__name__}() argument")
        for param, tensor in zip(variant.buffers, tensors, strict=True):
            check_memory(param, tensor, f"{self.__name__}() argument '{param.name}'")
        if extent is not None:
            counts = read_extent(extent)
        else:
            written = ((p, t.shape) for p, t in zip(variant.buffers, tensors, strict=True) if p.writes)
            counts = own_extent(self.__name__, variant.index, *next(written, (None, ())))
        if 0 in counts:
            raise ValueError(f"{self.__name__}(): an extent of {counts} leaves nothing to dispatch")
        return variant.program._algorithm(manager, tensors, counts, push, specs)

    def emulate(
        self, *args: Any, extent: Extent | None = None, subgroup_size: int | None = None, **kwargs: Any
    ) -> None:
        """As a call, but in CPython, with no device: print() and breakpoints work inside. See kp.emulate."""
        from .emulate import emulate

        emulate(self, *args, extent=extent, subgroup_size=subgroup_size, **kwargs)

    def __getitem__(self, extent: Extent) -> Callable[..., None]:
        def launch(*args: Any, **kwargs: Any) -> None:
            if "extent" in kwargs:
                raise TypeError(f"{self.__name__}() got multiple values for argument 'extent'")
            self(*args, extent=extent, **kwargs)

        return launch

    def _call(self, /, *args: Any, extent: Extent | None = None, **kwargs: Any) -> _Remembered | None:
        """Runs the kernel and waits. The extension calls it for each call that it does not remember; what comes back is
        remembered: the names that must mean what they do now, what was recorded, and where push constants lie in it."""
        return self._run(extent, args, kwargs)

    # ------------------------------------------------------------------------------------------------------------------

    def _run(self, extent: Extent | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Remembered | None:
        variant = self._called_with(args, kwargs)
        values = self._bind(args, kwargs, variant.params)
        push, specs = variant.constants(values, f"{self.__name__}() argument")
        arguments = tuple(self._argument(variant, param, values[param.name]) for param in variant.buffers)
        counts = None if extent is None else read_extent(extent)
        manager = None if any(isinstance(argument, _kp.Memory) for argument in arguments) else default_manager()
        if manager is not None and not arguments:
            arguments = (manager.tensor([0]),)  # a kernel without buffers can still print
        try:
            made = _kp.launch(variant.program, self.__name__, arguments, counts, push, specs, manager)
        except _kp.UnsupportedError as error:
            for param, argument in zip(variant.buffers, arguments, strict=False):
                if isinstance(argument, tuple) and argument[4] is not None and argument[4][1] == 3:
                    what, reason = f"{self.__name__}() argument '{param.name}'", str(error).partition(": ")[2]
                    raise _kp.UnsupportedError(f"{what}: {reason}; {FOURTH}") from None
            raise
        if made == 0 or variant.watches is None:
            return None
        return variant.watches, made, tuple(place for place in variant.layout if place[0] < len(args))

    def _argument(self, variant: _Variant, param: Param, argument: Any) -> Any:
        """As _kp.launch takes it: memory as it is; of all else what is read, where results go, and its shape or its pixels."""
        what = f"{self.__name__}() argument '{param.name}'"
        if isinstance(argument, _kp.Memory):
            check_memory(param, argument, what)
            return argument
        if param.kind != "uniform":
            refuse_masked(argument, what)
        target = target_of(argument, what) if param.writes else None
        readable = argument if target is None else target
        if param.kind in KINDS:
            pixels, size, channels, normalized = describe(readable, param, what)
            return argument, pixels, target, None, (size, channels, normalized)
        if param.kind == "uniform":
            readable = uniform_array(variant.program, param, argument, f"{self.__name__}() argument")
        else:
            check_array(param, readable, what)
        is_list = param.kind == "buffer" and not hasattr(argument, "shape")
        shape = shape_of(argument) if is_list and variant.views else None
        return argument, readable, target, shape, None

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any], params: list[Param]) -> dict[str, Any]:
        """The value of each parameter by name."""
        defaults = {param.name: param.default for param in params if param.default is not None}
        hint = None if self._origin is None else self._origin.index_hint
        return bind(self.__name__, [param.name for param in params], defaults, args, kwargs, hint)


def _refuse_extent(program: Program | None, origin: Origin | None) -> None:
    """A parameter that a call could not pass by its name."""
    message = "a parameter of a kernel cannot be called 'extent', which is how many indices a call goes over"
    if origin is not None and "extent" in origin.names:
        raise origin.error(message)
    if origin is None and program is not None and any(param.name == "extent" for param in program.params):
        raise _kp.CompileError(message)


class _Variant:
    """A program, and its parameters by what becomes of them. Never changes."""

    def __init__(self, program: Program, capture: Capture | None) -> None:
        self.program = program
        self.capture = capture
        # The names that it depends on; None: nothing tells their changes.
        self.watches = [] if capture is None else capture.watches if capture.fixed else None
        self.params = [param for param in program.params if param.kind != "input"]
        self.index = next((param.type for param in program.params if param.type in ("Index2", "Index3")), "Index")
        self.buffers = [param for param in self.params if param.kind in ("buffer", "uniform", *KINDS)]
        self.views = any(param.ndim > 1 for param in self.buffers if param.kind == "buffer")
        self.scalars = [param for param in self.params if param.kind == "constant"]
        self.consts = [param for param in self.params if param.kind == "spec"]
        # Of each number: its position in a call, its offset, bytes and type in the push constants.
        self.layout = tuple(
            (position, param.offset, param.size, param.dtype)
            for position, param in enumerate(self.params)
            if param.kind == "constant" and param.components == 1 and param.structure is None
        )

    def constants(self, values: dict[str, Any], who: str) -> tuple[bytes, bytes]:
        """The push constants, and the specialization constants, of the arguments by name."""
        return self.program._push(values, who), self.program._specs(values, who)
