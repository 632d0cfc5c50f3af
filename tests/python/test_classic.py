"""The API of Kompute 0.5: every op, in every manner of running it."""

import array
import inspect

import kp
import numpy as np
import pytest
from kp.classic import Manager, Sequence

OPS = [
    "tensor_create",
    "tensor_copy",
    "tensor_sync_device",
    "tensor_sync_local",
    "algo_mult",
    "algo_file",
    "algo_str",
    "algo_data",
    "algo_lro",
]
MULTIPLY_GLSL = """
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
layout(set = 0, binding = 1) buffer B { float b[]; };
layout(set = 0, binding = 2) buffer C { float c[]; };
void main() { uint i = gl_GlobalInvocationID.x; c[i] = a[i] * b[i]; }
"""


def three(mgr, types=(kp.device,) * 3):
    tensors = [kp.Tensor(data, type_) for data, type_ in zip(([2, 2, 2], [1, 2, 3], [0, 0, 0]), types, strict=True)]
    mgr.eval_tensor_create_def(tensors)
    return tensors


@pytest.mark.parametrize("op", OPS)
def test_every_op_has_every_manner(op):
    for name in (f"eval_{op}_def", f"eval_{op}", f"eval_async_{op}_def", f"eval_async_{op}"):
        assert inspect.getdoc(getattr(Manager, name))
    assert inspect.getdoc(getattr(Sequence, f"record_{op}"))
    names = list(inspect.signature(getattr(Manager, f"eval_{op}")).parameters)
    assert names[:3] == ["self", "tensors", "sequence_name"]


def manners(mgr, op, tensors, *extra):
    """Runs one op in each manner; yields after each."""
    getattr(mgr, f"eval_{op}_def")(tensors, *extra)
    yield "eval_def"
    getattr(mgr, f"eval_{op}")(tensors, "named", *extra)
    yield "eval"
    getattr(mgr, f"eval_async_{op}_def")(tensors, *extra)
    mgr.eval_await_def()
    yield "eval_async_def"
    getattr(mgr, f"eval_async_{op}")(tensors, "named too", *extra)
    mgr.eval_await("named too")
    yield "eval_async"
    sequence = mgr.create_sequence()
    sequence.begin()
    getattr(sequence, f"record_{op}")(tensors, *extra)
    sequence.end()
    sequence.eval()
    yield "record"


@pytest.mark.parametrize("op", ["algo_mult", "algo_data", "algo_lro"])
def test_multiplying(mgr, spirv, op):
    tensors = three(mgr)
    extra = [spirv["multiply"]] if op == "algo_data" else []
    for factor, manner in enumerate(manners(mgr, op, tensors, *extra), 1):
        mgr.eval_tensor_sync_local_def(tensors[2:])
        assert tensors[2].data() == [2.0 * factor, 4.0 * factor, 6.0 * factor], manner
        tensors[0].set_data([2 * (factor + 1)] * 3)
        mgr.eval_tensor_sync_device_def(tensors[:1])


@pytest.mark.parametrize(
    "text", [MULTIPLY_GLSL, list(MULTIPLY_GLSL), MULTIPLY_GLSL.encode(), list(MULTIPLY_GLSL.encode())]
)
def test_shader_text(mgr, text):
    tensors = three(mgr)
    for manner in manners(mgr, "algo_str", tensors, text):
        mgr.eval_tensor_sync_local_def(tensors[2:])
        assert tensors[2].data() == [2, 4, 6], manner
        tensors[2].set_data([0, 0, 0])
        mgr.eval_tensor_sync_device_def(tensors[2:])


def test_files(mgr, spirv, tmp_path):
    (tmp_path / "k.spv").write_bytes(spirv["multiply"])
    (tmp_path / "k.comp").write_text(MULTIPLY_GLSL)
    for path in (tmp_path / "k.spv", str(tmp_path / "k.spv"), str(tmp_path / "k.comp")):
        tensors = three(mgr)
        for manner in manners(mgr, "algo_file", tensors, path):
            mgr.eval_tensor_sync_local_def(tensors[2:])
            assert tensors[2].data() == [2, 4, 6], manner
    with pytest.raises(FileNotFoundError) as caught:
        mgr.eval_algo_file_def(tensors, str(tmp_path / "none.spv"))
    assert caught.value.filename == str(tmp_path / "none.spv")
    with pytest.raises(IsADirectoryError):
        mgr.eval_algo_file_def(tensors, tmp_path)


def test_a_file_that_changed_is_read_again(mgr, spirv, tmp_path):
    path = tmp_path / "k.spv"
    path.write_bytes(spirv["multiply"])
    tensors = three(mgr)
    mgr.eval_algo_file_def(tensors, path)
    path.write_bytes(spirv["add_one"])
    mgr.eval_algo_file_def(tensors[:1], path)
    mgr.eval_tensor_sync_local_def(tensors)
    assert [t.data() for t in tensors] == [[3, 3, 3], [1, 2, 3], [2, 4, 6]]


def test_lro_takes_a_shader(mgr, spirv):
    tensors = three(mgr)
    mgr.eval_algo_lro_def(tensors, spirv["multiply"])
    assert tensors[2].data() == [2, 4, 6]
    for op in ("mult", "lro"):
        with pytest.raises(ValueError, match=r"^tensors: takes three, lhs, rhs and out, not 2$"):
            getattr(mgr, f"eval_algo_{op}_def")(tensors[:2])


def test_mult_brings_its_result_back(mgr):
    tensors = three(mgr)
    mgr.eval_algo_mult_def(tensors)
    assert tensors[2].data() == [2, 4, 6]


def test_copies(mgr):
    source, one, two = kp.Tensor([1, 2]), kp.Tensor([0, 0]), kp.Tensor([0, 0])
    mgr.eval_tensor_create_def([source, one, two])
    for manner in manners(mgr, "tensor_copy", [source, one, two]):
        assert one.data() == two.data() == source.data(), manner
        mgr.eval_tensor_sync_local_def([two])
        assert two.data() == source.data(), manner
        source[0] += 1
        mgr.eval_tensor_sync_device_def([source])


def test_creation_in_every_manner(mgr):
    for k, name in enumerate(["eval_{}_def", "eval_{}", "eval_async_{}_def", "eval_async_{}"]):
        tensor = kp.Tensor([k])
        args = [[tensor]] if name.endswith("_def") else [[tensor], "s"]
        getattr(mgr, name.format("tensor_create"))(*args)
        if "async" in name:
            mgr.eval_await_def() if name.endswith("_def") else mgr.eval_await("s")
        assert tensor.is_init()
        assert tensor.manager is mgr
        mgr.eval_tensor_sync_local_def([tensor])
        assert tensor.data() == [k]
    tensor = kp.Tensor([5])
    mgr.create_sequence().begin().record_tensor_create([tensor]).end().eval()
    mgr.eval_tensor_sync_local_def([tensor])
    assert tensor.data() == [5]


def test_creating_again_uploads_again(mgr):
    tensor = kp.Tensor([1, 2])
    mgr.eval_tensor_create_def([tensor])
    tensor[0] = 7
    mgr.eval_tensor_create_def([tensor])
    mgr.eval_tensor_sync_local_def([tensor])
    assert tensor.data() == [7, 2]


def test_every_memory_type(mgr, spirv):
    for types in ((kp.device, kp.staging, kp.device), (kp.staging,) * 3, (kp.MemoryTypes.deviceAndHost,) * 3):
        tensors = three(mgr, types)
        mgr.eval_algo_data_def(tensors, spirv["multiply"])
        mgr.eval_tensor_sync_local_def(tensors[2:])
        assert tensors[2].data() == [2, 4, 6]


def test_storage_tensors(mgr, spirv):
    source, hidden, out = kp.Tensor([1, 2]), kp.Tensor([0, 0], kp.storage), kp.Tensor([0, 0])
    mgr.eval_tensor_create_def([source, hidden, out])
    mgr.eval_tensor_copy_def([source, hidden])
    mgr.eval_algo_data_def([hidden], spirv["add_one"])
    mgr.eval_tensor_copy_def([hidden, out])
    mgr.eval_tensor_sync_local_def([out])
    assert out.data() == [2, 3]
    with pytest.raises(kp.StateError):
        mgr.eval_tensor_sync_local_def([hidden])


def test_build_tensor(mgr):
    tensor = mgr.build_tensor([1, 2, 3])
    assert isinstance(tensor, kp.Tensor)
    assert tensor.is_init()
    assert tensor.data() == [1.0, 2.0, 3.0]
    assert mgr.build_tensor([1], kp.staging).tensor_type() is kp.staging
    assert mgr.build_tensor(data=[1], tensorType=kp.storage).tensor_type() is kp.storage


def test_spirv_in_every_form(mgr, spirv, programs):
    data = spirv["multiply"]
    words = np.frombuffer(data, np.uint32)
    forms = [
        data,
        bytearray(data),
        memoryview(data),
        memoryview(data).cast("I"),
        array.array("I", data),
        words,
        np.repeat(words, 2)[::2],
        words.byteswap(),
        words.byteswap().tobytes(),
        words.tolist(),
        list(data),
        tuple(data),
        np.frombuffer(data, np.uint8),
        programs["multiply"],
    ]
    for form in forms:
        tensors = three(mgr)
        mgr.eval_algo_data_def(tensors, form)
        mgr.eval_tensor_sync_local_def(tensors[2:])
        assert tensors[2].data() == [2, 4, 6], type(form)


def test_named_sequences(mgr, spirv):
    a = kp.Tensor([1])
    mgr.eval_tensor_create_def([a])
    sequence = mgr.create_sequence("mine")
    assert mgr.get_create_sequence("mine") is sequence
    assert mgr.get_create_sequence("other") is not sequence
    mgr.eval_algo_data([a], "mine", spirv["add_one"])
    sequence.eval()  # replays what the manager recorded in it
    mgr.eval_tensor_sync_local_def([a])
    assert a.data() == [3]
    assert mgr.create_sequence("mine") is not sequence
    assert mgr.create_sequence() is not mgr.create_sequence()
    assert isinstance(sequence, kp.Sequence)


def test_recording(mgr, spirv):
    a = kp.Tensor([1])
    mgr.eval_tensor_create_def([a])
    sequence = mgr.create_sequence()
    assert sequence.is_init()
    assert sequence.init() is sequence
    assert not sequence.is_rec()
    sequence.begin()
    assert sequence.is_rec()
    sequence.record_algo_data([a], spirv["add_one"])
    sequence.record_algo_data([a], spirv["add_one"])
    sequence.record_tensor_sync_local([a])
    assert sequence.is_rec()
    sequence.end()
    assert not sequence.is_rec()
    sequence.eval()
    sequence.eval()
    assert a.data() == [5]
    sequence.begin()  # drops what was recorded
    sequence.record_tensor_sync_local([a])
    sequence.end()
    sequence.eval()
    assert a.data() == [5]


def test_awaiting(mgr, spirv):
    a = kp.Tensor([1])
    mgr.eval_tensor_create_def([a])
    with pytest.raises(kp.StateError, match=r"^nothing to wait for"):
        mgr.eval_await_def()
    with pytest.raises(ValueError, match=r"^no sequence is called 'none'; there are \[\]$"):
        mgr.eval_await("none")
    sequence = mgr.create_sequence("s")
    with pytest.raises(kp.StateError):
        mgr.eval_await("s")
    for _ in range(200):
        mgr.eval_async_algo_data_def([a], spirv["add_one"])
    mgr.eval_await_def(2**64 - 1)
    with pytest.raises(kp.StateError, match=r"^nothing to wait for"):
        mgr.eval_await_def()
    mgr.eval_async_tensor_sync_local([a], "s")
    assert sequence.is_running()
    sequence.eval_await(10**12)
    assert not sequence.is_running()
    assert a.data() == [201]


def test_an_await_after_other_calls_still_finds_its_work(mgr, spirv):
    a, b = kp.Tensor([1]), kp.Tensor([1])
    mgr.eval_tensor_create_def([a, b])
    mgr.eval_async_algo_data_def([a], spirv["add_one"])
    mgr.eval_async_tensor_sync_local_def([a])
    for _ in range(20):
        mgr.eval_algo_data_def([b], spirv["add_one"])
    mgr.eval_await_def()
    assert a.data() == [2]


@pytest.mark.parametrize("timeout", [-1, 2**64])
def test_timeouts_that_are_none(mgr, timeout):
    message = rf"^timeout: must be nanoseconds from 0 to 2\*\*64 - 1, not {timeout}$"
    for wait in (mgr.eval_await_def, mgr.sequence().eval_await, lambda t: mgr.eval_await("s", t)):
        with pytest.raises(ValueError, match=message):
            wait(timeout)


def test_repeated_calls_follow_the_tensors(mgr, spirv):
    """Replaying must not outlive what it was recorded for."""
    a, b = kp.Tensor([1]), kp.Tensor([10])
    mgr.eval_tensor_create_def([a, b])
    for tensor in (a, b, a, b):
        for _ in range(3):
            mgr.eval_algo_data_def([tensor], spirv["add_one"])
    mgr.eval_tensor_sync_local_def([a])
    mgr.eval_tensor_sync_local_def([b])
    assert (a[0], b[0]) == (7, 16)
    changed = bytearray(spirv["add_one"])
    mgr.eval_algo_data_def([a], changed)
    changed[:4] = b"\0\0\0\0"
    with pytest.raises(kp.SpirvError):
        mgr.eval_algo_data_def([a], changed)
    mgr.eval_tensor_sync_local_def([a])
    assert a.data() == [8]
    a.destroy()
    with pytest.raises(kp.StateError, match=r"^tensors\[0\]: has no device memory"):
        mgr.eval_algo_data_def([a], spirv["add_one"])
    mgr.eval_tensor_create_def([a])
    mgr.eval_algo_data_def([a], spirv["add_one"])
    mgr.eval_tensor_sync_local_def([a])
    assert a.data() == [9]


def test_several_queues(spirv):
    families = [i for i, family in enumerate(kp.devices()[0].queue_families) if family.compute]
    mgr = kp.Manager(0, [families[0]])
    a, b = kp.Tensor([1]), kp.Tensor([2])
    mgr.eval_tensor_create_def([a, b])
    sequence = mgr.create_sequence("q", 0)
    sequence.begin().record_algo_data([a], spirv["add_one"]).record_tensor_sync_local([a]).end().eval()
    assert a.data() == [2]
    with pytest.raises(IndexError):
        mgr.create_sequence("r", mgr.queue_count)
    available = kp.devices()[0].queue_families[families[0]].count
    if available > 1:
        both = kp.Manager(0, [families[0]] * 2)
        assert both.queue_count == 2
        mgr = both
        mgr.eval_tensor_create_def([c := kp.Tensor([1])])
        mgr.create_sequence("x", 1).begin().record_algo_data([c], spirv["add_one"]).record_tensor_sync_local([c]).eval()
        assert c.data() == [2]
    else:
        with pytest.raises(ValueError, match=str(available)):
            kp.Manager(0, [families[0]] * (available + 1))


def test_local_data_survives_the_manager():
    mgr = kp.Manager()
    tensor = kp.Tensor([1, 2])
    mgr.eval_tensor_create_def([tensor])
    tensor[0] = 5
    mgr.destroy()
    assert not tensor.is_init()
    assert tensor.data() == [5, 2]
    again = kp.Manager()
    again.eval_tensor_create_def([tensor])
    assert tensor.is_init()
    again.eval_tensor_sync_local_def([tensor])
    assert tensor.data() == [5, 2]
