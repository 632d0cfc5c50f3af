"""kp.emulate: runs a kernel in CPython, computing as a device does, so that print() and breakpoints work inside it.

    kp.emulate(saxpy, 2.0, x, y)          # as saxpy(2.0, x, y), with no device
    saxpy.emulate(2.0, x, y, extent=1)    # the first index alone

The function that runs is yours, statement by statement, from its file and lines; scalars.py, vectors.py and functions.py hold
the values and functions of the language, rewrite.py puts them under your code, launch.py goes over the indices.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def emulate(kernel: Any, /, *args: Any, extent: Any = None, subgroup_size: int | None = None, **kwargs: Any) -> None:
    """Runs `kernel` in CPython: a kp.Kernel, pyshader's, or the plain function. Arguments and extent are those of a call of
    the kernel; arrays, lists and the host sides of tensors are changed in place.

    Floats are rounded and integers wrap as their types do on a device. What a device lets pass raises here: IndexError,
    ZeroDivisionError (integers), ValueError and OverflowError (shifts by negative numbers, integers made of NaN and of infinite
    floats), UnboundLocalError, AssertionError, and RuntimeError for a barrier that not all reach, with a note of the kernel and
    the index.

    A workgroup's invocations take turns, each up to its next barrier or subgroup operation, so a run always does the same.
    Subgroups have subgroup_size invocations: what the kernel declares, or else 32. Shared memory starts with NaN and large
    numbers, so that a kernel that reads what nobody wrote shows.

    TypeError, ValueError, OverflowError: arguments that do not fit the kernel. TypeError: it is no kernel. CompileError: it
    is a function that cannot be one.
    """
    from .._source import check_function
    from ..kernel import Kernel, check_subgroup_size
    from .launch import Emulation

    if not isinstance(kernel, Kernel) and not isinstance(getattr(kernel, "input", kernel), str):
        check_function(getattr(kernel, "input", kernel), "kp.emulate")

    emulation = Emulation(kernel, called_with=(args, kwargs))
    if subgroup_size is not None:
        emulation.subgroup_size = check_subgroup_size(subgroup_size)
    emulation.launch(args, kwargs, extent)


__all__ = ["emulate"]
