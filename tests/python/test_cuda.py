"""One memory of a kp tensor and CUDA, on an NVIDIA GPU: through CUDA's driver library, as another program would."""

import ctypes
import os

import kp
import numpy as np
import pytest

COUNT = 1000


class HandleDesc(ctypes.Structure):  # CUDA_EXTERNAL_MEMORY_HANDLE_DESC
    _fields_ = (
        ("type", ctypes.c_int),
        ("fd", ctypes.c_int64 * 2),  # a union of 16 bytes, of which a file descriptor is the first 4
        ("size", ctypes.c_ulonglong),
        ("flags", ctypes.c_uint),
        ("reserved", ctypes.c_uint * 16),
    )


class BufferDesc(ctypes.Structure):  # CUDA_EXTERNAL_MEMORY_BUFFER_DESC
    _fields_ = (
        ("offset", ctypes.c_ulonglong),
        ("size", ctypes.c_ulonglong),
        ("flags", ctypes.c_uint),
        ("reserved", ctypes.c_uint * 16),
    )


@pytest.fixture
def cuda(mgr):
    """CUDA's driver library with a context on the manager's device."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        pytest.skip("there is no CUDA driver")
    device, count, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    if library.cuInit(0) != 0 or library.cuDeviceGetCount(ctypes.byref(count)) != 0:
        pytest.skip("CUDA finds no device")
    for index in range(count.value):
        uuid = (ctypes.c_ubyte * 16)()
        assert library.cuDeviceGet(ctypes.byref(device), index) == 0
        assert library.cuDeviceGetUuid(uuid, device) == 0
        if bytes(uuid).hex() == mgr.device.uuid:
            assert library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
            assert library.cuCtxSetCurrent(context) == 0
            yield library
            library.cuDevicePrimaryCtxRelease_v2(device)
            return
    pytest.skip("the manager's device is not CUDA's")


def test_cuda_works_on_a_tensors_memory(mgr, cuda):
    x = mgr.exportable(COUNT)
    x.data()[:] = np.arange(COUNT)
    mgr.sequence().eval(kp.OpSyncDevice([x]))
    memory = x.export()
    external, pointer = ctypes.c_void_p(), ctypes.c_ulonglong()
    handle = HandleDesc(type=1, size=memory.size, flags=int(memory.dedicated))  # 1: a file descriptor, which CUDA takes
    handle.fd[0] = memory.fd
    try:
        assert cuda.cuImportExternalMemory(ctypes.byref(external), ctypes.byref(handle)) == 0
    except AssertionError:
        os.close(memory.fd)
        raise
    place = BufferDesc(offset=memory.offset, size=4 * COUNT)
    assert cuda.cuExternalMemoryGetMappedBuffer(ctypes.byref(pointer), external, ctypes.byref(place)) == 0

    seen = np.zeros(COUNT, np.float32)
    assert cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(seen.ctypes.data), pointer, ctypes.c_size_t(4 * COUNT)) == 0
    assert (seen == np.arange(COUNT)).all()
    seen[:] = 5
    assert cuda.cuMemcpyHtoD_v2(pointer, ctypes.c_void_p(seen.ctypes.data), ctypes.c_size_t(4 * COUNT)) == 0
    assert cuda.cuCtxSynchronize() == 0
    mgr.sequence().eval(kp.OpSyncLocal([x]))
    assert (x.data() == 5).all()
    assert cuda.cuMemFree_v2(pointer) == 0
    assert cuda.cuDestroyExternalMemory(external) == 0
