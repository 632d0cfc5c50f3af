"""What the memories of a kernel's call must be, whether a device runs it or kp.emulate does: their element types, their shapes,
and the extent."""

from __future__ import annotations

from operator import index

from . import _kp
from ._dtypes import NUMPY_NAMES
from ._images import KINDS, check_image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._kp import Param

MOST = 2**31 - 1  # indices on an axis


def bind(
    kernel: str,
    names: list[str],
    defaults: dict[str, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    hint: Callable[[], str] | None = None,
) -> dict[str, Any]:
    """The value of each parameter by name, with Python's errors."""
    if len(args) > len(names):
        raise TypeError(f"{kernel}() takes {len(names)} arguments but {len(args)} were given")
    values = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            has = f"it has {', '.join(names)}" if names else "it has none by name"
            raise TypeError(f"{kernel}() got an unexpected argument '{name}'; {has}")
        if name in values:
            raise TypeError(f"{kernel}() got multiple values for argument '{name}'")
        values[name] = value
    values = {**defaults, **values}
    missing = [name for name in names if name not in values]
    if missing:
        raise TypeError(f"{kernel}() missing arguments: {', '.join(missing)}{hint() if hint else ''}")
    return values


def check_memory(param: Param, memory: Any, what: str) -> None:
    """That a tensor or an image is one for this parameter."""
    if param.kind in KINDS:
        check_image(memory, what)
        return
    if isinstance(memory, _kp.Image):
        raise TypeError(f"{what}: must be a tensor or an array, not an image")
    if not isinstance(memory, _kp.Tensor):
        raise TypeError(f"{what}: must be a kp.Tensor, not {type(memory).__name__}")
    dtype = _KOMPUTE_NAMES[memory.data_type().name]
    own = memory.dtype if dtype == "u8" else None
    if dtype != param.dtype or (own is not None and (own.names is None) != (param.structure is None)):
        raise wrong_type(param, memory.dtype, what)
    if param.kind != "uniform":  # of which the algorithm says what is too small
        check_shape(param, memory.shape, what)


def check_array(param: Param, array: Any, what: str) -> None:
    """That an array, or a list, may be one: all but the type of its numbers."""
    dtype = getattr(array, "dtype", None)
    if param.structure is not None and getattr(dtype, "names", None) is None:
        if dtype is not None:
            raise wrong_type(param, dtype, what)
        raise TypeError(f"{what}: must be a tensor or an array of {param.structure[0]}, not {type(array).__name__}")
    if param.structure is None and getattr(dtype, "names", None) is not None:
        raise wrong_type(param, dtype, what)
    shape = shape_of(array)
    if len(shape) > 1 or param.ndim > 1:
        check_shape(param, shape, what)


def refuse_masked(argument: Any, what: str) -> None:
    """Where a copy of the argument would lose what NumPy's masked arrays hide."""
    if type(argument).__name__ == "MaskedArray":
        import numpy

        if numpy.ma.is_masked(argument):
            raise TypeError(f"{what}: has masked elements, which no device knows; pass what filled() gives")


def wrong_type(param: Param, dtype: Any, what: str) -> TypeError:
    wanted = f"an array of {param.structure[0]}" if param.structure is not None else NUMPY_NAMES[param.dtype]
    names = getattr(dtype, "names", None)
    has = str(dtype) if names is None else f"structs of {', '.join(names)}"
    return TypeError(f"{what}: has {'dtype ' if names is None else ''}{has}, must be {wanted}")


def shape_of(array: Any) -> tuple[int, ...]:
    """The axes of an array, or of lists in lists; () of what has none."""
    shape = getattr(array, "shape", None)
    if isinstance(shape, tuple):
        return shape
    if isinstance(array, (list, tuple)):
        return len(array), *(shape_of(array[0]) if len(array) else ())
    if not hasattr(array, "__len__") or isinstance(array, str):
        return ()
    try:
        return memoryview(array).shape or ()
    except TypeError:
        return (len(array),)


def check_shape(param: Param, shape: tuple[int, ...], what: str) -> None:
    """That elements stand in a shape: flat ones anywhere, those of several numbers along its last axes, or all in a row."""
    element = param.shape
    own = len(element) if element and shape[-len(element) :] == element else 1 if element else 0
    if param.ndim > 1 and len(shape) != param.ndim + own:
        needs = param.ndim + len(element)
        axes = ", ".join([*("planes", "rows", "columns")[-param.ndim :], *map(str, element)])
        mend = f"; write .reshape({axes})" if len(shape) == 1 else ""
        raise ValueError(f"{what}: has shape {shape}, {param.type} needs {needs} axes{mend}")
    flat = len(shape) < 2 and param.ndim == 1
    if not element or 0 in shape or (flat and (shape or (1,))[0] % param.components == 0):
        return
    if flat:
        raise ValueError(f"{what}: has {shape[0]} numbers, {param.type} needs a multiple of {param.components}")
    if shape[-len(element) :] != element and shape[-1] != param.components:
        axes = ", ".join(map(str, ("n", *element) if param.ndim == 1 else ("...", *element)))
        raise ValueError(f"{what}: has shape {shape}, {param.type} needs ({axes})")


def whole(number: Any) -> int:
    """As operator.index, but that a bool is no number."""
    if isinstance(number, bool):
        raise TypeError(f"must be a whole number, not {number!r}")
    return index(number)


def read_extent(extent: Any) -> tuple[int, ...]:
    """One to three counts."""
    one = getattr(extent, "shape", None) == () or not hasattr(extent, "__iter__")
    text_or_set = isinstance(extent, (str, bytes, bytearray, dict, set, frozenset))
    try:
        counts = tuple(map(whole, (extent,) if one or text_or_set else extent))
    except TypeError:
        raise TypeError(f"extent: must be one to three whole numbers, not {extent!r}") from None
    if not 1 <= len(counts) <= 3 or any(count < 0 for count in counts):
        raise ValueError(f"extent: must be one to three numbers from 0 up, not {extent!r}")
    if any(count > MOST for count in counts):
        raise ValueError(f"extent: must be at most {MOST} on an axis, not {extent!r}")
    return counts


def own_extent(name: str, index: str, param: Param | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Over which indices a kernel runs when nobody says: param is the first that it writes, shape that of what is bound to it."""
    if param is None:
        return _kp.extent(name, index, (), None, False, 1, 1)
    return _kp.extent(name, index, shape, param.name, param.kind in KINDS, param.ndim, param.components)


def as_numpy(argument: Any, what: str) -> Any:
    """The NumPy array that it is, or shows."""
    import numpy

    try:
        return numpy.asarray(argument)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what}: an array that cannot be read as numbers ({error})") from None


def target_of(argument: Any, what: str) -> Any:
    """Where results go that are computed in a copy: a list, or a NumPy array on the argument's memory."""
    if isinstance(argument, list):
        if any(hasattr(item, "__len__") for item in argument):
            raise TypeError(f"{what}: is written by the kernel; pass an array instead of nested lists")
        return argument
    try:
        writable = not memoryview(argument).readonly
    except (TypeError, ValueError):  # ValueError: NumPy's dates, which the dtype's check refuses
        writable = hasattr(argument, "__array__")
    if not writable:
        raise TypeError(
            f"{what}: is written by the kernel; pass a tensor, a writable array or a list, not {type(argument).__name__}"
        )
    return as_numpy(argument, what)


_KOMPUTE_NAMES = {member.name: _kp.DTYPES[member.value][0] for member in _kp.DataTypes if member.value >= 0}

__all__ = [
    "bind",
    "check_array",
    "check_memory",
    "check_shape",
    "own_extent",
    "read_extent",
    "refuse_masked",
    "shape_of",
    "target_of",
    "wrong_type",
]
