"""@python2shader and what it makes."""

from __future__ import annotations

from kp._source import check_function, compile_error, compile_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import kp


class ShaderModule:
    """A compiled shader: what python2shader makes of a function.

    It stays what it was where it was decorated: a number or function from outside that changes later changes nothing, as in
    pyshader. A kp.kernel follows such changes.
    """

    def __init__(self, input: Callable[..., Any], program: kp.Program) -> None:
        self.input = input
        self._program = program

    def __repr__(self) -> str:
        return f"<pyshader.ShaderModule {self.input.__name__}: {len(self.to_spirv())} bytes of SPIR-V>"

    def to_spirv(self) -> bytes:
        """The SPIR-V module, with the entry point "main". The same bytes object each time."""
        return self._program.spirv


def python2shader(func: Callable[..., Any]) -> ShaderModule:
    """Compiles a function to a compute shader. Its name must contain "compute".

    Each parameter is a tuple (resource, slot, type), as default value or as annotation:
    ("input", "GlobalInvocationId", ivec3), ("buffer", 0, Array(f32)).

    TypeError: not a function. kp.CompileError: anything else, with file and line.
    """
    import sys

    plain = check_function(func, "python2shader")
    if "compute" not in plain.__name__.lower():
        raise compile_error(
            plain,
            f"the name of a shader tells its stage, so it must contain 'compute'; '{plain.__name__}' does not "
            f"(vertex and fragment shaders are out of scope)",
        )
    program, _ = compile_function(plain, sys._getframe(1).f_locals)
    return ShaderModule(func, program)
