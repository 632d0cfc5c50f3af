"""Device memory that calls with arrays keep for the next call gives way to what needs it now; and how it is when there is none."""

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, f32

COUNT = 10 << 20  # floats, in a block of their own


@kp.kernel
def add(i: Index, x: Array[f32], by: Array[f32]):
    x[i] = x[i] + by[0]


def test_what_is_kept_gives_way():
    mgr = kp.Manager(unified=False)
    if mgr.device.type != "cpu" or mgr.device.memory > 4 << 30:
        pytest.skip("a GPU's memory is not ours to fill")
    by, array, other = mgr.tensor([1.0]), np.zeros(COUNT, np.float32), np.zeros(COUNT - 1, np.float32)
    mgr.sequence().eval(kp.OpSyncDevice([by]))
    needs = {  # memory of that size
        "data": lambda t: t.data()[:1],
        "array": lambda t: np.asarray(t)[:1],
        "view": lambda t: t[5:6].data(),
        "element": lambda t: t[0],
        "buffer": memoryview,
        "record": lambda t: mgr.sequence().record(kp.OpSyncDevice([t])),
        "tensor": lambda t: mgr.empty(COUNT),
        "image": lambda t: mgr.image(None, 4096, COUNT // 4096, 1),
        "call": lambda t: add(other, by),
    }
    tensors = [mgr.empty(COUNT) for _ in range(2)]  # whose host sides nobody has asked for
    add(array, by)  # from now on as much is kept for the next such call
    blocks = []
    while mgr.memory()["reserved"] + 4 * COUNT <= mgr.device.memory:
        blocks.append(mgr.empty(COUNT, memory_type=kp.MemoryTypes.storage))
    for name, use in needs.items():
        before = mgr.memory()["used"]
        tensors.append(use(tensors[0]))
        assert mgr.memory()["used"] < before + 4 * COUNT, name  # something of what was kept is gone
        rest = []
        with pytest.raises(kp.DeviceMemoryError):  # and now all of it
            while True:
                rest.append(mgr.empty(COUNT, memory_type=kp.MemoryTypes.storage))
        with pytest.raises(kp.DeviceMemoryError, match=r"out of device memory: \d+ bytes wanted"):
            use(tensors[1])
        with pytest.raises(kp.DeviceMemoryError, match=r"out of device memory: \d+ bytes wanted"):
            add(array, by)
        rest.clear()
        del tensors[2:]
        tensors[0] = None
        tensors[0] = mgr.empty(COUNT)
        array[:] = 1
        add(array, by)
        assert (array == 2).all()
    assert other[0] == other[-1] == 1
