"""Kompute 0.9's object API, call by call as its programs write them: names, argument order, defaults, results."""

import kp
import numpy as np
import pytest

DTYPES = ["float32", "float64", "int32", "uint32", "bool", "int8", "uint8", "int16", "uint16"]


def test_manager_arguments_by_position_and_name():
    kp.Manager(0, [], []).destroy()
    kp.Manager(device=0, family_queue_indices=[0], desired_extensions=[]).destroy()
    mgr = kp.Manager()
    assert mgr.sequence(0, 0).is_init()
    assert mgr.sequence(queue_index=0, total_timestamps=3).is_init()


def test_tensor_is_float32_and_flat(mgr):
    t = mgr.tensor([[1, 2], [3, 4]], kp.MemoryTypes.device)
    assert (t.data().dtype, t.data().shape, t.size(), len(t)) == (np.float32, (4,), 4, 4)
    assert t.data_type() == kp.DataTypes.float
    assert t.memory_type() == kp.MemoryTypes.device
    assert isinstance(t, kp.Tensor) and isinstance(t, kp.Memory) and t.is_init()
    t.data()[:] = 9  # a view of the host side
    assert list(t.data()) == [9] * 4
    t.destroy()
    assert not t.is_init()


@pytest.mark.parametrize(
    "make", [lambda m: m.tensor([1, 2, 3]), lambda m: m.zeros((2, 2)), lambda m: m.image([1, 2], 2, 1, 1)]
)
def test_the_base_of_an_array_answers_as_its_memory(make):
    """As Kompute's own programs look whether the memory behind an array is there."""
    mgr = kp.Manager()
    memory = make(mgr)
    array = memory.data()
    values = array.tolist()
    assert array.base.is_init() and array.base.size() == memory.size() and array.base.data_type() == kp.DataTypes.float
    assert array[:1].base is array and repr(memory) in repr(array.base)
    with pytest.raises(AttributeError, match="nothing"):
        _ = array.base.nothing
    del memory
    assert array.base.is_init() is True
    mgr.destroy()
    assert array.base.is_init() is False and array.tolist() == values


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensor_t_keeps_the_type(mgr, dtype):
    array = np.array([0, 1, 1, 0, 1], dtype=dtype)
    t = mgr.tensor_t(array, memory_type=kp.MemoryTypes.host)
    assert (t.data().dtype, t.memory_type()) == (np.dtype(dtype), kp.MemoryTypes.host)
    names = {"float32": "float", "float64": "double", "int32": "int", "uint32": "uint", "bool": "bool", "int8": "char",
             "uint8": "uchar", "int16": "short", "uint16": "ushort"}  # fmt: skip
    assert t.data_type() == kp.DataTypes[names[dtype]]
    other = mgr.tensor_t(np.zeros(5, dtype=dtype))
    mgr.sequence().record(kp.OpSyncDevice([t, other])).record(kp.OpCopy([t, other])).record(
        kp.OpSyncLocal([other])
    ).eval()
    assert (other.data() == array).all()


@pytest.mark.parametrize("name", ["device", "host", "storage", "deviceAndHost"])
def test_memory_types(mgr, name):
    assert mgr.tensor([1, 2], kp.MemoryTypes[name]).memory_type() == kp.MemoryTypes[name]


def test_images(mgr):
    image = mgr.image(np.arange(6), 3, 2, 1)
    assert (image.data().dtype, image.size(), image.data_type()) == (np.float32, 6, kp.DataTypes.float)
    assert isinstance(image, kp.Image) and isinstance(image, kp.Memory)
    bytes_image = mgr.image_t(np.arange(8, dtype=np.uint8), 2, 2, 2, memory_type=kp.MemoryTypes.device)
    assert bytes_image.data().dtype == np.uint8
    tensor = mgr.tensor([0] * 6)
    mgr.sequence().record(kp.OpSyncDevice([image])).record(kp.OpCopy([image, tensor])).record(
        kp.OpSyncLocal([tensor])
    ).eval()
    assert (tensor.data() == np.arange(6)).all()


def test_algorithm(mgr, spirv):
    a, b, out = mgr.tensor([1, 2, 3]), mgr.tensor([4, 5, 6]), mgr.tensor([0, 0, 0])
    algorithm = mgr.algorithm([a, b, out], spirv["multiply"], (0, 0, 0), [], [])
    named = mgr.algorithm(
        tensors=[a, b, out], spirv=spirv["multiply"], workgroup=(3, 1, 1), spec_consts=[], push_consts=[]
    )
    assert algorithm.get_mem_objects() == algorithm.get_tensors() == [a, b, out]
    for each in (algorithm, named):
        assert each.is_init()
        out.data()[:] = 0
        mgr.sequence().record(kp.OpSyncDevice([a, b, out])).record(kp.OpAlgoDispatch(each)).record(
            kp.OpSyncLocal([out])
        ).eval()
        assert list(out.data()) == [4, 10, 18]
    algorithm.destroy()
    assert not algorithm.is_init()


def test_push_constants_of_a_dispatch_override(mgr, spirv):
    x, y = mgr.tensor([1, 2]), mgr.tensor([0, 0])
    algorithm = mgr.algorithm([x, y], spirv["saxpy"], push_consts=[2.0])
    seq = mgr.sequence().record(kp.OpSyncDevice([x, y])).record(kp.OpAlgoDispatch(algorithm))
    seq.record(kp.OpAlgoDispatch(algorithm, [10.0])).record(kp.OpAlgoDispatch(algorithm, push_consts=[100.0]))
    seq.record(kp.OpSyncLocal([y])).eval()
    assert list(y.data()) == [112, 224]


def test_every_op(mgr, spirv):
    a, b, out = mgr.tensor([1, 2, 3]), mgr.tensor([4, 5, 6]), mgr.tensor([0, 0, 0])
    seq = mgr.sequence()
    for op in (
        kp.OpSyncDevice([a, b, out]),
        kp.OpMult([a, b, out], mgr.algorithm()),
        kp.OpMemoryBarrier([out]),
        kp.OpCopy([out, a]),
        kp.OpSyncLocal([a, out]),
    ):
        assert isinstance(op, kp.OpBase)
        assert seq.record(op) is seq
    seq.eval()
    assert list(out.data()) == list(a.data()) == [4, 10, 18]


def test_every_method_of_a_sequence(mgr):
    x = mgr.tensor([2, 3])
    seq = mgr.sequence(total_timestamps=2)
    mult, down = kp.OpMult([x, x, x], mgr.algorithm()), kp.OpSyncLocal([x])
    assert not seq.is_recording()
    assert seq.record(kp.OpSyncDevice([x])) is seq and seq.is_recording()
    assert seq.eval() is seq and not seq.is_recording()
    assert len(seq.get_timestamps()) >= 1
    assert seq.eval(mult).eval_async(down) is seq
    assert seq.is_running() and seq.eval_await() is seq and not seq.is_running()
    assert list(x.data()) == [4, 9]
    assert seq.record(mult).record(down).eval_async().eval_await(10**10) is seq
    assert list(x.data()) == [16, 81]
    assert seq.rerecord() is seq and seq.eval() is seq  # the same again
    assert list(x.data()) == [256, 6561]
    assert seq.clear() is seq and seq.eval() is seq  # nothing
    assert list(x.data()) == [256, 6561]
    assert seq.is_init()
    seq.destroy()
    assert not seq.is_init()


def test_devices_as_dicts(mgr):
    keys = {
        "device_name",
        "max_work_group_count",
        "max_work_group_invocations",
        "max_work_group_size",
        "timestamps_supported",
    }
    assert set(mgr.get_device_properties()) == keys
    assert all(set(device) == keys for device in mgr.list_devices())
    assert mgr.get_device_properties() in mgr.list_devices()


def test_older_names_are_the_same_things(mgr):
    assert (kp.TensorTypes, kp.TensorDataTypes) == (kp.MemoryTypes, kp.DataTypes)
    assert (kp.OpTensorSyncDevice, kp.OpTensorSyncLocal, kp.OpTensorCopy) == (
        kp.OpSyncDevice,
        kp.OpSyncLocal,
        kp.OpCopy,
    )
    older = mgr.tensor([1, 2], tensor_type=kp.TensorTypes.host)
    assert older.tensor_type() == kp.TensorTypes.host
    assert mgr.tensor_t(np.arange(3), tensor_type=kp.TensorTypes.storage).memory_type() == kp.MemoryTypes.storage
    with pytest.raises(TypeError, match="memory_type and tensor_type are two names of one argument"):
        mgr.tensor([1, 2], kp.MemoryTypes.host, tensor_type=kp.TensorTypes.host)
    assert {m.name for m in kp.DataTypes} >= {
        "bool",
        "int",
        "uint",
        "float",
        "double",
        "custom",
        "short",
        "ushort",
        "char",
        "uchar",
    }


def test_the_names_of_the_arguments():
    """Programs pass any of them by name."""
    expected = {
        "Manager.tensor": ["self", "data", "memory_type"],
        "Manager.tensor_t": ["self", "data", "memory_type"],
        "Manager.image": ["self", "data", "width", "height", "num_channels", "memory_type"],
        "Manager.image_t": ["self", "data", "width", "height", "num_channels", "memory_type"],
        "Manager.algorithm": ["self", "tensors", "spirv", "workgroup", "spec_consts", "push_consts"],
        "Manager.sequence": ["self", "queue_index", "total_timestamps"],
        "OpAlgoDispatch": ["algorithm", "push_consts"],
    }
    for path, names in expected.items():
        thing = kp
        for part in path.split("."):
            thing = getattr(thing, part)
        text = thing.__text_signature__.replace("$", "").replace("(0, 0, 0)", "0").replace("()", "0")
        found = [part.split("=")[0].strip(" ()") for part in text.split(",")]
        assert [name for name in found if name not in ("/", "*")][: len(names)] == names, path


def test_destroying_the_manager_destroys_all():
    mgr = kp.Manager()
    tensor, seq, algorithm = mgr.tensor([1]), mgr.sequence(), mgr.algorithm()
    mgr.destroy()
    assert not (mgr.is_init() or tensor.is_init() or seq.is_init() or algorithm.is_init())
