"""The API of Kompute 0.5: one method per op and manner of running it, on top of the extension's Manager and Sequence.

    eval_<op>_def(tensors, ...)              now, in an anonymous sequence
    eval_<op>(tensors, sequence_name, ...)   now, in the named sequence, which is made when there is none
    eval_async_<op>_def, eval_async_<op>     the same without waiting; eval_await_def() and eval_await(name) wait
    Sequence.record_<op>(tensors, ...)       later, when the sequence is evaluated

An algo op dispatches len(tensors[0]) workgroups in x; its tensors are bindings 0, 1, 2, ... of set 0. Every method raises
StateError for a tensor that has no device memory yet, ValueError for one of another manager, and leaves all as it was.
Running the same op again on the same tensors with the same shader object replays what was recorded.
"""

from __future__ import annotations

from . import _kp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from os import PathLike
    from typing import Any, TypeAlias

    from ._kp import Tensor, _Spirv
    from .profile import Profile

    Tensors: TypeAlias = Iterable[Tensor]
    Path: TypeAlias = str | bytes | PathLike[str]
    Text: TypeAlias = str | bytes | Iterable[str] | Iterable[int]


class Sequence(_kp.Sequence):
    __doc__ = _kp.Sequence.__doc__
    _awaited = False

    def __repr__(self) -> str:
        try:
            return f"kp.Sequence([{', '.join(self.op_names())}])"
        except _kp.StateError:  # destroyed, or another thread's
            return f"kp.Sequence(is_init={self.is_init()})"

    def __enter__(self) -> Sequence:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()

    def __await__(self) -> Generator[Any, None, Sequence]:
        """Waits for eval_async() as eval_await() does, while the event loop goes on: `await seq.eval_async()`."""
        return self._wait().__await__()

    async def _wait(self) -> Sequence:
        import asyncio  # as heavy as all of kp: for those who have it already

        if self._awaited:
            raise _kp.StateError("the sequence is awaited already: one await for each eval_async()")
        self._awaited, stop = True, bytearray(2)
        waiting = asyncio.get_running_loop().run_in_executor(None, self._await, stop)
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError:
            stop[0] = 1  # the thread leaves the library, and with it the sequence
            if not stop[1]:
                waiting.cancel()  # all of asyncio's threads are in use: it need not begin
            await asyncio.wait([waiting])
            raise
        finally:
            self._awaited = False
        return self

    def profile(self) -> Profile:
        """How long each op of the last evaluation took, for the first `total_timestamps` ops.

        StateError, UnsupportedError: as get_timestamps(); StateError where other ops were recorded since.
        """
        from .profile import from_ticks

        names, ticks = self.op_names(), self.get_timestamps()
        if self.is_recording() or len(ticks) > len(names) + 1:
            raise _kp.StateError("the sequence was not evaluated since it was recorded or cleared")
        return from_ticks(names, ticks, self._tick())

    def record_tensor_create(self, tensors: Tensors) -> Sequence:
        """Records: device memory for each, and an upload of its local data."""
        return self._record_op(_kp.TENSOR_CREATE, tensors)

    def record_tensor_copy(self, tensors: Tensors) -> Sequence:
        """Records: the first tensor into all the others, device and local."""
        return self._record_op(_kp.TENSOR_COPY, tensors)

    def record_tensor_sync_device(self, tensors: Tensors) -> Sequence:
        """Records: local data to the device."""
        return self._record_op(_kp.TENSOR_SYNC_DEVICE, tensors)

    def record_tensor_sync_local(self, tensors: Tensors) -> Sequence:
        """Records: device to local data."""
        return self._record_op(_kp.TENSOR_SYNC_LOCAL, tensors)

    def record_algo_mult(self, tensors: Tensors) -> Sequence:
        """Records: out = lhs * rhs, built in."""
        return self._record_op(_kp.ALGO_MULT, tensors)

    def record_algo_file(self, tensors: Tensors, path: Path) -> Sequence:
        """Records: a file of SPIR-V, GLSL or HLSL."""
        return self._record_op(_kp.ALGO_FILE, tensors, path)

    def record_algo_str(self, tensors: Tensors, text: Text) -> Sequence:
        """Records: shader source, as a string or a list of characters."""
        return self._record_op(_kp.ALGO_STR, tensors, text)

    def record_algo_data(self, tensors: Tensors, data: _Spirv) -> Sequence:
        """Records: SPIR-V bytes."""
        return self._record_op(_kp.ALGO_DATA, tensors, data)

    def record_algo_lro(self, tensors: Tensors, data: _Spirv | None = None) -> Sequence:
        """Records: a shader on lhs, rhs and out; without one, lhs * rhs."""
        return self._record_op(_kp.ALGO_LRO, tensors, data)


class Manager(_kp.Manager):
    __doc__ = _kp.Manager.__doc__

    def __repr__(self) -> str:
        try:
            return f"kp.Manager(device={self.device.name!r}, queue_count={self.queue_count})"
        except _kp.StateError:
            return "kp.Manager(is_init=False)"

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()

    def eval_tensor_create_def(self, tensors: Tensors) -> None:
        """Runs: device memory for each, and an upload of its local data."""
        self._eval_op(_kp.TENSOR_CREATE, tensors, None, None, False)

    def eval_tensor_create(self, tensors: Tensors, sequence_name: str) -> None:
        """Runs in a named sequence: device memory for each, and an upload of its local data."""
        self._eval_op(_kp.TENSOR_CREATE, tensors, None, sequence_name, False)

    def eval_async_tensor_create_def(self, tensors: Tensors) -> None:
        """Starts: device memory for each, and an upload of its local data."""
        self._eval_op(_kp.TENSOR_CREATE, tensors, None, None, True)

    def eval_async_tensor_create(self, tensors: Tensors, sequence_name: str) -> None:
        """Starts in a named sequence: device memory for each, and an upload of its local data."""
        self._eval_op(_kp.TENSOR_CREATE, tensors, None, sequence_name, True)

    def eval_tensor_copy_def(self, tensors: Tensors) -> None:
        """Runs: the first tensor into all the others, device and local."""
        self._eval_op(_kp.TENSOR_COPY, tensors, None, None, False)

    def eval_tensor_copy(self, tensors: Tensors, sequence_name: str) -> None:
        """Runs in a named sequence: the first tensor into all the others, device and local."""
        self._eval_op(_kp.TENSOR_COPY, tensors, None, sequence_name, False)

    def eval_async_tensor_copy_def(self, tensors: Tensors) -> None:
        """Starts: the first tensor into all the others, device and local."""
        self._eval_op(_kp.TENSOR_COPY, tensors, None, None, True)

    def eval_async_tensor_copy(self, tensors: Tensors, sequence_name: str) -> None:
        """Starts in a named sequence: the first tensor into all the others, device and local."""
        self._eval_op(_kp.TENSOR_COPY, tensors, None, sequence_name, True)

    def eval_tensor_sync_device_def(self, tensors: Tensors) -> None:
        """Runs: local data to the device."""
        self._eval_op(_kp.TENSOR_SYNC_DEVICE, tensors, None, None, False)

    def eval_tensor_sync_device(self, tensors: Tensors, sequence_name: str) -> None:
        """Runs in a named sequence: local data to the device."""
        self._eval_op(_kp.TENSOR_SYNC_DEVICE, tensors, None, sequence_name, False)

    def eval_async_tensor_sync_device_def(self, tensors: Tensors) -> None:
        """Starts: local data to the device."""
        self._eval_op(_kp.TENSOR_SYNC_DEVICE, tensors, None, None, True)

    def eval_async_tensor_sync_device(self, tensors: Tensors, sequence_name: str) -> None:
        """Starts in a named sequence: local data to the device."""
        self._eval_op(_kp.TENSOR_SYNC_DEVICE, tensors, None, sequence_name, True)

    def eval_tensor_sync_local_def(self, tensors: Tensors) -> None:
        """Runs: device to local data."""
        self._eval_op(_kp.TENSOR_SYNC_LOCAL, tensors, None, None, False)

    def eval_tensor_sync_local(self, tensors: Tensors, sequence_name: str) -> None:
        """Runs in a named sequence: device to local data."""
        self._eval_op(_kp.TENSOR_SYNC_LOCAL, tensors, None, sequence_name, False)

    def eval_async_tensor_sync_local_def(self, tensors: Tensors) -> None:
        """Starts: device to local data."""
        self._eval_op(_kp.TENSOR_SYNC_LOCAL, tensors, None, None, True)

    def eval_async_tensor_sync_local(self, tensors: Tensors, sequence_name: str) -> None:
        """Starts in a named sequence: device to local data."""
        self._eval_op(_kp.TENSOR_SYNC_LOCAL, tensors, None, sequence_name, True)

    def eval_algo_mult_def(self, tensors: Tensors) -> None:
        """Runs: out = lhs * rhs, built in."""
        self._eval_op(_kp.ALGO_MULT, tensors, None, None, False)

    def eval_algo_mult(self, tensors: Tensors, sequence_name: str) -> None:
        """Runs in a named sequence: out = lhs * rhs, built in."""
        self._eval_op(_kp.ALGO_MULT, tensors, None, sequence_name, False)

    def eval_async_algo_mult_def(self, tensors: Tensors) -> None:
        """Starts: out = lhs * rhs, built in."""
        self._eval_op(_kp.ALGO_MULT, tensors, None, None, True)

    def eval_async_algo_mult(self, tensors: Tensors, sequence_name: str) -> None:
        """Starts in a named sequence: out = lhs * rhs, built in."""
        self._eval_op(_kp.ALGO_MULT, tensors, None, sequence_name, True)

    def eval_algo_file_def(self, tensors: Tensors, path: Path) -> None:
        """Runs: a file of SPIR-V, GLSL or HLSL."""
        self._eval_op(_kp.ALGO_FILE, tensors, path, None, False)

    def eval_algo_file(self, tensors: Tensors, sequence_name: str, path: Path) -> None:
        """Runs in a named sequence: a file of SPIR-V, GLSL or HLSL."""
        self._eval_op(_kp.ALGO_FILE, tensors, path, sequence_name, False)

    def eval_async_algo_file_def(self, tensors: Tensors, path: Path) -> None:
        """Starts: a file of SPIR-V, GLSL or HLSL."""
        self._eval_op(_kp.ALGO_FILE, tensors, path, None, True)

    def eval_async_algo_file(self, tensors: Tensors, sequence_name: str, path: Path) -> None:
        """Starts in a named sequence: a file of SPIR-V, GLSL or HLSL."""
        self._eval_op(_kp.ALGO_FILE, tensors, path, sequence_name, True)

    def eval_algo_str_def(self, tensors: Tensors, text: Text) -> None:
        """Runs: shader source, as a string or a list of characters."""
        self._eval_op(_kp.ALGO_STR, tensors, text, None, False)

    def eval_algo_str(self, tensors: Tensors, sequence_name: str, text: Text) -> None:
        """Runs in a named sequence: shader source, as a string or a list of characters."""
        self._eval_op(_kp.ALGO_STR, tensors, text, sequence_name, False)

    def eval_async_algo_str_def(self, tensors: Tensors, text: Text) -> None:
        """Starts: shader source, as a string or a list of characters."""
        self._eval_op(_kp.ALGO_STR, tensors, text, None, True)

    def eval_async_algo_str(self, tensors: Tensors, sequence_name: str, text: Text) -> None:
        """Starts in a named sequence: shader source, as a string or a list of characters."""
        self._eval_op(_kp.ALGO_STR, tensors, text, sequence_name, True)

    def eval_algo_data_def(self, tensors: Tensors, data: _Spirv) -> None:
        """Runs: SPIR-V bytes."""
        self._eval_op(_kp.ALGO_DATA, tensors, data, None, False)

    def eval_algo_data(self, tensors: Tensors, sequence_name: str, data: _Spirv) -> None:
        """Runs in a named sequence: SPIR-V bytes."""
        self._eval_op(_kp.ALGO_DATA, tensors, data, sequence_name, False)

    def eval_async_algo_data_def(self, tensors: Tensors, data: _Spirv) -> None:
        """Starts: SPIR-V bytes."""
        self._eval_op(_kp.ALGO_DATA, tensors, data, None, True)

    def eval_async_algo_data(self, tensors: Tensors, sequence_name: str, data: _Spirv) -> None:
        """Starts in a named sequence: SPIR-V bytes."""
        self._eval_op(_kp.ALGO_DATA, tensors, data, sequence_name, True)

    def eval_algo_lro_def(self, tensors: Tensors, data: _Spirv | None = None) -> None:
        """Runs: a shader on lhs, rhs and out; without one, lhs * rhs."""
        self._eval_op(_kp.ALGO_LRO, tensors, data, None, False)

    def eval_algo_lro(self, tensors: Tensors, sequence_name: str, data: _Spirv | None = None) -> None:
        """Runs in a named sequence: a shader on lhs, rhs and out; without one, lhs * rhs."""
        self._eval_op(_kp.ALGO_LRO, tensors, data, sequence_name, False)

    def eval_async_algo_lro_def(self, tensors: Tensors, data: _Spirv | None = None) -> None:
        """Starts: a shader on lhs, rhs and out; without one, lhs * rhs."""
        self._eval_op(_kp.ALGO_LRO, tensors, data, None, True)

    def eval_async_algo_lro(self, tensors: Tensors, sequence_name: str, data: _Spirv | None = None) -> None:
        """Starts in a named sequence: a shader on lhs, rhs and out; without one, lhs * rhs."""
        self._eval_op(_kp.ALGO_LRO, tensors, data, sequence_name, True)


_kp.set_classes(Manager, Sequence)
