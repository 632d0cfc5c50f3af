"""Classes derived from ours, as programs for Kompute have them: __init__ does the making, under whatever arguments."""

import kp
import numpy as np
import pytest


class Named(kp.Tensor):
    def __init__(self, name, data):
        super().__init__(data)
        self.name = name


class OnFirst(kp.Manager):
    def __init__(self, note):
        super().__init__(0)
        self.note = note


def test_a_tensor_with_an_init_of_its_own(mgr, spirv):
    a, b, out = (Named(name, data) for name, data in (("a", [1, 2]), ("b", np.array([3.0, 4.0])), ("out", [0, 0])))
    mgr.eval_tensor_create_def([a, b, out])
    mgr.eval_algo_data_def([a, b, out], spirv["multiply"])
    mgr.eval_tensor_sync_local_def([out])
    assert (out.name, out.data(), out.memory_type()) == ("out", [3.0, 8.0], kp.MemoryTypes.device)
    assert isinstance(out, kp.Tensor)


def test_a_manager_with_an_init_of_its_own():
    mgr = OnFirst("mine")
    assert (mgr.note, mgr.device.index, mgr.is_init()) == ("mine", 0, True)
    t = mgr.tensor([1, 2])
    assert t.manager is mgr
    assert t.data().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"^there is no device '99'"):
        type("OnLast", (kp.Manager,), {"__init__": lambda self: kp.Manager.__init__(self, 99)})()


def test_an_init_that_is_never_called_leaves_something_empty():
    tensor = kp.Tensor.__new__(kp.Tensor)
    assert (tensor.data(), len(tensor), tensor.is_init()) == ([], 0, False)
    mgr = type("Idle", (kp.Manager,), {"__init__": lambda self: None})()
    assert not mgr.is_init()
    mgr.destroy()
    with pytest.raises(kp.StateError):
        mgr.tensor([1])
    with pytest.raises(kp.StateError):
        mgr.eval_tensor_create_def([kp.Tensor([1])])


def test_an_init_that_is_called_twice(mgr):
    classic, made = kp.Tensor([1, 2]), mgr.tensor([3])
    for tensor in (classic, made):
        with pytest.raises(kp.StateError, match=r"^the tensor has its data: __init__ is called once$"):
            tensor.__init__([5, 6, 7])
    assert classic.data() == [1.0, 2.0] and made.data().tolist() == [3.0]
    for _ in range(2):
        with pytest.raises(kp.StateError, match=r"^the manager has its device: __init__ is called once$"):
            mgr.__init__(0)
        mgr.destroy()


def test_an_init_that_is_called_while_it_runs_or_is_looked_at():
    tensor = kp.Tensor.__new__(kp.Tensor)

    class Again:
        def __float__(self):
            tensor.__init__([1, 2])
            return 3.0

    with pytest.raises(kp.StateError):
        tensor.__init__([Again()])
    assert tensor.data() == [1.0, 2.0]

    tensor = kp.Tensor.__new__(kp.Tensor)
    view = memoryview(tensor)
    with pytest.raises(kp.StateError):
        tensor.__init__([1, 2])
    assert view.nbytes == 0
    view.release()
    tensor.__init__([1, 2])
    assert tensor.data() == [1.0, 2.0]
