"""The object API: managers, algorithms, sequences, ops."""

import struct

import kp
import numpy as np
import pytest


def test_the_readme_program_of_kompute(mgr, spirv):
    a, b, out = mgr.tensor([2, 2, 2]), mgr.tensor([1, 2, 3]), mgr.tensor([0, 0, 0])
    params = [a, b, out]
    algorithm = mgr.algorithm(params, spirv["multiply"], (3, 1, 1), [], [])
    (
        mgr.sequence()
        .record(kp.OpTensorSyncDevice(params))
        .record(kp.OpAlgoDispatch(algorithm))
        .record(kp.OpTensorSyncLocal(params))
        .eval()
    )
    assert out.data().tolist() == [2, 4, 6]
    assert algorithm.get_tensors() == algorithm.get_mem_objects() == params
    assert algorithm.is_init()


def test_older_names():
    assert kp.TensorTypes is kp.MemoryTypes
    assert kp.TensorDataTypes is kp.DataTypes
    assert kp.OpTensorSyncDevice is kp.OpSyncDevice
    assert kp.OpTensorSyncLocal is kp.OpSyncLocal
    assert kp.OpTensorCopy is kp.OpCopy
    assert [t.name for t in kp.MemoryTypes] == ["device", "host", "storage", "deviceAndHost"]
    names = {"bool", "int", "uint", "float", "double", "custom", "short", "ushort", "char", "uchar"}
    assert names <= set(kp.DataTypes.__members__)


def test_recording_after_an_evaluation_starts_afresh(mgr, spirv):
    t = mgr.tensor([0])
    add = kp.OpAlgoDispatch(mgr.algorithm([t], spirv["add_one"]))
    down = kp.OpSyncLocal([t])
    sequence = mgr.sequence()
    sequence.record(kp.OpSyncDevice([t])).record(add).record(down).eval()
    assert t[0] == 1
    sequence.record(add).record(add).record(down).eval()
    assert t[0] == 3
    sequence.eval().eval()
    assert t[0] == 7
    sequence.eval(add)
    sequence.eval(down)
    assert t[0] == 8
    sequence.record(add).clear().record(down).eval()
    assert t[0] == 8


def test_states(mgr, spirv):
    t = mgr.tensor([0])
    sequence = mgr.sequence()
    assert sequence.is_init()
    assert not sequence.is_recording()
    assert not sequence.is_running()
    sequence.record(kp.OpSyncDevice([t]))
    assert sequence.is_recording()
    sequence.eval_async()
    assert sequence.is_running()
    assert not sequence.is_recording()
    with pytest.raises(kp.StateError):
        sequence.record(kp.OpSyncDevice([t]))
    with pytest.raises(kp.StateError):
        sequence.eval()
    assert sequence.eval_await() is sequence
    assert not sequence.is_running()
    with pytest.raises(kp.StateError):
        sequence.eval_await()
    assert sequence.eval_async(kp.OpSyncLocal([t])).eval_await(10**12) is sequence
    assert sequence.rerecord() is sequence
    sequence.eval()
    sequence.destroy()
    sequence.destroy()
    assert not sequence.is_init()
    for use in (sequence.eval, sequence.clear, sequence.rerecord, lambda: sequence.record(kp.OpSyncLocal([t]))):
        with pytest.raises(kp.StateError, match=r"^the sequence is destroyed$"):
            use()


def test_an_empty_sequence_evaluates(mgr):
    sequence = mgr.sequence()
    assert sequence.eval() is sequence
    assert sequence.eval_async().eval_await() is sequence


def test_an_op_that_fails_leaves_the_sequence(mgr, spirv):
    t, gone = mgr.tensor([0]), mgr.tensor([0])
    add = kp.OpAlgoDispatch(mgr.algorithm([t], spirv["add_one"]))
    sequence = mgr.sequence().record(kp.OpSyncDevice([t])).record(add)
    gone.destroy()
    with pytest.raises(kp.StateError, match=r"^memories\[1\]: is destroyed$"):
        sequence.record(kp.OpSyncDevice([t, gone]))
    with pytest.raises(kp.StateError):
        sequence.eval(kp.OpSyncDevice([gone]))
    sequence.eval()
    sequence.eval(kp.OpSyncLocal([t]))
    assert t[0] == 1


def test_ops_check_their_arguments(mgr, spirv):
    t = mgr.tensor([0])
    algorithm = mgr.algorithm([t], spirv["add_one"])
    with pytest.raises(TypeError, match=r"^memories: must be a list of kp\.Tensor, not one tensor; write \[tensor\]$"):
        kp.OpSyncDevice(t)
    with pytest.raises(TypeError, match=r"^memories\[1\]: must be a kp\.Tensor, not <class 'int'>$"):
        kp.OpSyncDevice([t, 1])
    with pytest.raises(TypeError, match=r"^memories: must be a list of kp\.Tensor, not <class 'int'>$"):
        kp.OpSyncLocal(1)
    with pytest.raises(TypeError, match=r"^algorithm: must be a kp\.Algorithm, not <class 'kp\.Tensor'>$"):
        kp.OpAlgoDispatch(t)
    with pytest.raises(TypeError, match=r"^op: must be a kp\.OpBase, .*, not <class 'kp\.Algorithm'>$"):
        mgr.sequence().record(algorithm)
    with pytest.raises(TypeError):
        kp.OpBase()
    with pytest.raises(ValueError, match=r"^memories: OpMult takes three"):
        mgr.sequence().record(kp.OpMult([t]))
    for op in (kp.OpSyncDevice, kp.OpSyncLocal, kp.OpCopy, kp.OpMemoryBarrier, kp.OpMult):
        assert isinstance(op(memories=[t]), kp.OpBase)


def test_mult(mgr):
    a, b, out = mgr.tensor([2, 2]), mgr.tensor([3, 4]), mgr.tensor([0, 0])
    empty = mgr.algorithm()
    assert not empty.is_init()
    assert empty.get_mem_objects() == []
    with pytest.raises(kp.StateError, match=r"^algorithm: is empty or destroyed$"):
        mgr.sequence().record(kp.OpAlgoDispatch(empty))
    sequence = mgr.sequence().record(kp.OpSyncDevice([a, b, out])).record(kp.OpMult([a, b, out], empty))
    sequence.record(kp.OpSyncLocal([out])).eval()
    assert out.data().tolist() == [6, 8]
    assert empty.is_init()
    assert empty.get_mem_objects() == [a, b, out]
    sequence.record(kp.OpMult([out, b, a])).record(kp.OpSyncLocal([a])).eval()
    assert a.data().tolist() == [18, 32]


def test_copies_and_barriers(mgr, spirv):
    a, b, c = mgr.tensor([1, 2]), mgr.tensor([0, 0]), mgr.tensor([0, 0])
    add = kp.OpAlgoDispatch(mgr.algorithm([a], spirv["add_one"]))
    sequence = mgr.sequence().record(kp.OpSyncDevice([a])).record(add)
    sequence.record(kp.OpMemoryBarrier([a], 1, 2, 3, 4, True))
    sequence.record(kp.OpCopy([a, b, c])).record(kp.OpSyncLocal([a, b, c])).eval()
    assert a.data().tolist() == b.data().tolist() == c.data().tolist() == [2, 3]
    with pytest.raises(ValueError):
        mgr.sequence().record(kp.OpCopy([a]))
    with pytest.raises(ValueError):
        mgr.sequence().record(kp.OpCopy([a, mgr.tensor([1])]))
    with pytest.raises(TypeError):
        mgr.sequence().record(kp.OpCopy([a, mgr.tensor_t(np.zeros(2, np.int32))]))


@pytest.mark.parametrize("form", ["list", "float32", "bytes", "bytearray", "struct"])
def test_push_constants(mgr, spirv, form):
    def push(value):
        packed = struct.pack("f", value)
        return {
            "list": [value],
            "float32": np.array([value], np.float32),
            "bytes": packed,
            "bytearray": bytearray(packed),
            "struct": memoryview(packed),
        }[form]

    x, y = mgr.tensor([1, 2]), mgr.tensor([10, 20])
    algorithm = mgr.algorithm([x, y], spirv["saxpy"], push_consts=push(2.0))
    changing = push(100.0)
    override = kp.OpAlgoDispatch(algorithm, changing)
    if form in ("float32", "bytearray"):
        changing[:] = changing[:1] * 0 if form == "float32" else bytes(4)  # an op keeps what it was given
    sequence = mgr.sequence().record(kp.OpSyncDevice([x, y])).record(kp.OpAlgoDispatch(algorithm)).record(override)
    sequence.record(kp.OpSyncLocal([y])).eval()
    assert y.data().tolist() == [112, 224]


def test_int_push_constants_are_taken_as_they_are(mgr, spirv):
    t = mgr.tensor_t(np.array([0, 1], np.int32))
    algorithm = mgr.algorithm([t], spirv["count"], push_consts=np.array([5], np.int32))
    mgr.sequence().record(kp.OpSyncDevice([t])).record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([t])).eval()
    assert t.data().tolist() == [0 + 1 + 2 + 3 + 4, 1 + 0 + 3 + 2 + 5]


def test_push_constants_have_the_size_of_what_the_module_takes_or_of_a_struct_of_c(mgr):
    """Such a struct ends at a multiple of 8 or 16 bytes only where it has a member of 8, or of 12 and more."""
    x = mgr.zeros(1)
    for count in range(1, 9):
        names = [f"a{n}" for n in range(count)]
        program = kp.compile(
            f"def k(i: Index, x: Array[f32], {', '.join(f'{name}: f32' for name in names)}):\n    x[i] = {' + '.join(names)}\n"
        )
        for given in range(1, 13):
            fits = given in {
                count,
                *([(count + 1) // 2 * 2] if count > 2 else []),
                *([(count + 3) // 4 * 4] if count > 2 else []),
            }
            try:
                algorithm = mgr.algorithm([x], program, push_consts=np.ones(given, np.float32))
            except ValueError as error:
                assert not fits, (count, given)
                assert f"the module has {4 * count} bytes of push constants, {4 * given} were given" in str(error)
                continue
            assert fits, (count, given)
            mgr.sequence().record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([x])).eval()
            assert x.data()[0] == count
    for count in (1, 2):  # Python's own floats, as NumPy has them
        parameters = ", ".join(f"a{n}: f32" for n in range(count))
        program = kp.compile(f"def k(i: Index, x: Array[f32], {parameters}):\n    x[i] = a0\n")
        with pytest.raises(ValueError, match=f"has {4 * count} bytes of push constants, {8 * count} were given"):
            mgr.algorithm([x], program, push_consts=np.array([1.5] * count))


@pytest.mark.parametrize("argument", ["push_consts", "spec_consts"])
@pytest.mark.parametrize("dtype", ["int64", "float16", "int8", "bool", "uint16"])
def test_constants_of_a_type_that_is_none(mgr, spirv, argument, dtype):
    x, y = mgr.tensor([1, 2]), mgr.tensor([10, 20])
    message = rf"^{argument}: has dtype {dtype}, must be float32, float64, int32 or uint32(, or bytes)?$"
    with pytest.raises(TypeError, match=message):
        mgr.algorithm([x, y], spirv["saxpy"], **{argument: np.zeros(1, dtype)})


def test_workgroups(mgr, spirv):
    t = mgr.tensor([0] * 8)

    def counts(**kwargs):
        t.data()[:] = 0
        algorithm = mgr.algorithm([t], spirv["add_one"], **kwargs)
        sequence = mgr.sequence().record(kp.OpSyncDevice([t])).record(kp.OpAlgoDispatch(algorithm))
        sequence.record(kp.OpSyncLocal([t])).eval()
        return t.data().sum()

    assert counts() == 8
    assert counts(workgroup=(0, 0, 0)) == 8
    assert counts(workgroup=(3, 1, 1)) == 3
    assert counts(workgroup=[5]) == 5
    assert counts(workgroup=np.array([2, 1, 1])) == 2
    assert counts(workgroup=4) == counts(workgroup=np.int64(4)) == 4
    assert counts(extent=(6,)) == counts(extent=6) == 6
    with pytest.raises(TypeError, match=r"^workgroup: must be up to three whole numbers"):
        counts(workgroup=(1, 1, 1, 1))
    with pytest.raises(TypeError, match=r"^workgroup: must be up to three whole numbers"):
        counts(workgroup="abc")
    with pytest.raises(ValueError, match=r"^workgroup: has a number outside 0 to 2\*\*32 - 1, -1$"):
        counts(workgroup=(-1, 1, 1))
    with pytest.raises(TypeError):
        counts(workgroup=(1.5, 1, 1))


def test_timestamps(mgr, spirv):
    t = mgr.tensor([0])
    add = kp.OpAlgoDispatch(mgr.algorithm([t], spirv["add_one"]))
    sequence = mgr.sequence(0, 3)
    with pytest.raises(kp.StateError):
        sequence.get_timestamps()
    sequence.record(kp.OpSyncDevice([t])).record(add).record(add).eval()
    ticks = sequence.get_timestamps()
    assert len(ticks) == 4
    assert ticks == sorted(ticks)
    assert mgr.device.timestamp_period > 0
    with pytest.raises(kp.StateError):
        mgr.sequence().eval().get_timestamps()


def test_devices(mgr):
    all_ = kp.devices()
    assert [device.index for device in all_] == list(range(len(all_)))
    device = mgr.device
    assert device in all_
    assert device == all_[device.index]
    assert kp.Manager(device.index).device == device
    assert kp.Manager(device.uuid).device.uuid == device.uuid
    assert kp.Manager(device.name[:6].upper()).device.name == device.name
    assert device.type in ("discrete", "integrated", "virtual", "cpu", "other")
    assert len(device.uuid) == 32
    assert any(family.compute for family in device.queue_families)
    properties = mgr.get_device_properties()
    assert properties == {
        "device_name": device.name,
        "max_work_group_count": device.max_workgroup_count,
        "max_work_group_invocations": device.max_workgroup_invocations,
        "max_work_group_size": device.max_workgroup_size,
        "timestamps_supported": device.timestamps,
    }
    assert properties in mgr.list_devices() == kp.list_devices()


def test_manager_arguments(spirv):
    assert kp.Manager(device=0, family_queue_indices=[], desired_extensions=[]).queue_count == 1
    assert kp.Manager(0, (), ()).is_init()
    assert kp.Manager(0, np.array([0], np.uint32)).queue_count == 1
    assert kp.Manager(unified=False, regroup=False, label="mine").is_init()
    plain = kp.Manager(0, desired_extensions=["VK_EXT_external_memory_host"])
    assert plain.is_init()
    with pytest.raises((ValueError, kp.UnsupportedError), match="VK_KHR_no_such_thing"):
        kp.Manager(0, [], ["VK_KHR_no_such_thing"])


def test_memory_statistics(mgr):
    before = mgr.memory()["used"]
    tensor = mgr.tensor([0] * 1000)
    stats = mgr.memory()
    assert stats["used"] >= before + 4000
    assert stats["peak"] >= stats["reserved"] >= 4000
    assert stats["allocations"] >= 1
    del tensor
    assert mgr.memory()["used"] == before


def test_destroying_the_manager(spirv):
    mgr = kp.Manager()
    t = mgr.tensor([0])
    algorithm = mgr.algorithm([t], spirv["add_one"])
    sequence = mgr.sequence().record(kp.OpAlgoDispatch(algorithm))
    mgr.destroy()
    mgr.destroy()
    assert not (mgr.is_init() or t.is_init() or algorithm.is_init() or sequence.is_init())
    for use in (
        lambda: mgr.tensor([1]),
        lambda: mgr.algorithm([t], spirv["add_one"]),
        mgr.sequence,
        mgr.memory,
        mgr.get_device_properties,
        lambda: mgr.device,
        lambda: mgr.eval_tensor_create_def([kp.Tensor([1])]),
        mgr.eval_await_def,
        sequence.eval,
        t.data,
    ):
        with pytest.raises(kp.StateError, match=r"^the manager is destroyed$"):
            use()


def test_objects_say_what_they_are(mgr, spirv):
    x = mgr.tensor([1, 2], label="x")
    algorithm = mgr.algorithm([x], spirv["add_one"], label="one more")
    seq = mgr.sequence().record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(algorithm))
    assert repr(mgr) == f"kp.Manager(device={mgr.device.name!r}, queue_count=1)"
    assert repr(seq) == "kp.Sequence([sync_device 'x', dispatch 'one more'])"
    assert repr(algorithm) == "kp.Algorithm(memories=1)"
    assert repr(kp.OpCopy([x, x])) == "kp.OpCopy(memories=2)"
    assert repr(kp.OpAlgoDispatch(algorithm)) == "kp.OpAlgoDispatch(kp.Algorithm(memories=1))"
    mgr.destroy()
    assert repr(mgr) == "kp.Manager(is_init=False)" and repr(seq) == "kp.Sequence(is_init=False)"
    assert repr(algorithm) == "kp.Algorithm(memories=1, is_init=False)"


def test_labels_are_in_messages_and_names_of_ops(mgr, spirv):
    kinds = [
        lambda **label: mgr.tensor([1], **label),
        lambda **label: mgr.tensor_t(np.zeros(3, np.float32), **label),
        lambda **label: mgr.tensor_t(np.zeros(1024, np.float32), copy=False, **label),
        lambda **label: mgr.tensor_t(np.zeros(3, [("a", "f4")]), **label),
        lambda **label: mgr.zeros(3, **label),
        lambda **label: mgr.empty(3, **label),
        lambda **label: mgr.full(3, 7, **label),
        lambda **label: mgr.image(None, 2, 2, 1, **label),
        lambda **label: mgr.image_t(np.zeros(4, np.float32), 2, 2, 1, **label),
    ]
    for kind in kinds:
        for label, name in (({"label": "weights"}, "weights"), ({"label": None}, None), ({}, None)):
            memory = kind(**label)
            (found,) = mgr.sequence().record(kp.OpSyncLocal([memory])).op_names()
            assert found == f"sync_local '{name or ('image' if isinstance(memory, kp.Image) else 'tensor')}'"
        with pytest.raises(TypeError):
            kind(label=3)
    with pytest.raises(kp.StateError, match="sequence 'steps': nothing to await"):
        mgr.sequence(label="steps").eval_await()
    with pytest.raises(ValueError, match="algorithm 'add'"):
        mgr.algorithm([], spirv["add_one"], label="add")
