"""Bad input: one clear line, the right exception, and everything still usable afterwards."""

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, Index2, f32


@pytest.fixture
def still_works(mgr, spirv):
    """After the test, the manager multiplies."""
    yield
    a, b, out = kp.Tensor([2, 3]), kp.Tensor([4, 5]), kp.Tensor([0, 0])
    mgr.eval_tensor_create_def([a, b, out])
    mgr.eval_algo_data_def([a, b, out], spirv["multiply"])
    mgr.eval_tensor_sync_local_def([out])
    assert out.data() == [8, 15]


pytestmark = pytest.mark.usefixtures("still_works")


def one_line(caught):
    text = str(caught.value)
    assert text
    assert "\n" not in text
    return text


def test_every_exception_of_ours_is_an_error():
    bases = {
        kp.StateError: RuntimeError,
        kp.DeviceMemoryError: MemoryError,
        kp.LimitError: ValueError,
        kp.SpirvError: ValueError,
        kp.NoDeviceError: RuntimeError,
        kp.UnsupportedError: RuntimeError,
        kp.DeviceLostError: RuntimeError,
        kp.CompileError: Exception,
    }
    for error, base in bases.items():
        assert issubclass(error, kp.Error)
        assert issubclass(error, base)
        assert error.__module__ == "kp"
        assert error.__doc__


def test_a_tensor_that_was_never_created(mgr, spirv):
    made, local = kp.Tensor([1]), kp.Tensor([1])
    mgr.eval_tensor_create_def([made])
    message = r"^tensors\[1\]: has no device memory; call manager\.eval_tensor_create_def\(\[tensor\]\) first$"
    for use in (
        lambda: mgr.eval_tensor_sync_local_def([made, local]),
        lambda: mgr.eval_tensor_sync_device_def([made, local]),
        lambda: mgr.eval_tensor_copy_def([made, local]),
        lambda: mgr.eval_algo_data_def([made, local], spirv["multiply"]),
        lambda: mgr.eval_async_algo_data([made, local], "s", spirv["multiply"]),
        lambda: mgr.create_sequence().record_tensor_copy([made, local]),
        lambda: mgr.algorithm([made, local], spirv["multiply"]),
    ):
        with pytest.raises(kp.StateError, match=message):
            use()


def test_a_tensor_of_another_manager(mgr, spirv):
    other = kp.Manager()
    mine, theirs = kp.Tensor([1]), kp.Tensor([1])
    mgr.eval_tensor_create_def([mine])
    other.eval_tensor_create_def([theirs])
    message = r"^(tensors|memories)\[1\]: belongs to another manager$"
    for use in (
        lambda: mgr.eval_tensor_create_def([mine, theirs]),
        lambda: mgr.eval_tensor_sync_local_def([mine, theirs]),
        lambda: mgr.eval_algo_data_def([mine, theirs], spirv["multiply"]),
        lambda: mgr.algorithm([mine, theirs], spirv["multiply"]),
        lambda: mgr.sequence().record(kp.OpSyncDevice([mine, theirs])),
    ):
        with pytest.raises(ValueError, match=message):
            use()
    algorithm = other.algorithm([theirs], spirv["add_one"])
    with pytest.raises(ValueError, match=r"^algorithm: belongs to another manager$"):
        mgr.sequence().record(kp.OpAlgoDispatch(algorithm))
    other.destroy()


def test_arguments_that_are_no_tensors(mgr):
    with pytest.raises(TypeError, match=r"^tensors\[0\]: must be a kp\.Tensor, not <class 'list'>$"):
        mgr.eval_tensor_create_def([[1, 2]])
    with pytest.raises(TypeError, match=r"^tensors: must be a list of kp\.Tensor, not one tensor; write \[tensor\]$"):
        mgr.eval_tensor_create_def(kp.Tensor([1]))
    with pytest.raises(TypeError, match=r"^tensors: must be a list of kp\.Tensor, not <class 'NoneType'>$"):
        mgr.eval_tensor_sync_local_def(None)
    with pytest.raises(ValueError, match=r"^tensors: needs at least one$"):
        mgr.eval_tensor_create_def([])


def test_sizes_and_types_that_do_not_fit(mgr, spirv):
    two, three = kp.Tensor([1, 2]), kp.Tensor([1, 2, 3])
    mgr.eval_tensor_create_def([two, three])
    with pytest.raises(ValueError) as caught:
        mgr.eval_tensor_copy_def([two, three])
    assert "2" in one_line(caught)
    assert "3" in one_line(caught)
    ints = mgr.tensor_t(np.zeros(2, np.int32))
    with pytest.raises(TypeError) as caught:
        mgr.eval_tensor_copy_def([two, ints])
    assert "f32" in one_line(caught)
    assert "i32" in one_line(caught)


BROKEN = {
    "empty": lambda good: b"",
    "cut": lambda good: good[: len(good) // 2 // 4 * 4],
    "cut inside a word": lambda good: good[:-2],
    "the header alone": lambda good: good[:20],
    "less than a header": lambda good: good[:12],
    "text": lambda good: b"#version 450\nvoid main() {}\n",
    "zeros": lambda good: bytes(len(good)),
    "scrambled": lambda good: good[:20] + bytes(b ^ 0x5A for b in good[20:]),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_spirv_that_is_none(mgr, spirv, kind):
    tensors = [kp.Tensor([1]), kp.Tensor([1]), kp.Tensor([1])]
    mgr.eval_tensor_create_def(tensors)
    for use in (mgr.eval_algo_data_def, mgr.algorithm):
        with pytest.raises(kp.SpirvError) as caught:
            use(tensors, BROKEN[kind](spirv["multiply"]))
        one_line(caught)


def test_spirv_in_the_other_byte_order_is_fine(mgr, spirv):
    swapped = np.frombuffer(spirv["add_one"], np.uint32).byteswap().tobytes()
    tensor = kp.Tensor([1])
    mgr.eval_tensor_create_def([tensor])
    mgr.eval_algo_data_def([tensor], swapped)
    mgr.eval_tensor_sync_local_def([tensor])
    assert tensor.data() == [2]


@pytest.mark.parametrize(
    ("spirv_", "message"),
    [
        ("#version 450", "spirv: must be SPIR-V (bytes), not str; kp.compile_shader(text) makes SPIR-V from GLSL and HLSL, "
         "kp.load_shader(path) reads a file"),
        (None, "spirv: must be SPIR-V: bytes, an array of uint32, or a list of ints, not NoneType"),
        (5, "spirv: must be SPIR-V: bytes, an array of uint32, or a list of ints, not int"),
        (np.zeros(4), "spirv: has dtype float64, must be uint32"),
        (np.zeros(4, np.int64), "spirv: has dtype int64, must be uint32"),
        ([1.5], "spirv[0]: must be a whole number, not float"),
        (["a"], "spirv[0]: must be a whole number, not str"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_spirv_of_a_type_that_is_none(mgr, spirv_, message):
    tensor = kp.Tensor([1])
    mgr.eval_tensor_create_def([tensor])
    with pytest.raises(TypeError) as caught:
        mgr.eval_algo_data_def([tensor], spirv_)
    assert str(caught.value) == message


def test_lists_that_are_neither_words_nor_bytes(mgr):
    tensor = kp.Tensor([1])
    mgr.eval_tensor_create_def([tensor])
    with pytest.raises(ValueError, match=r"\(spirv\[1\] is 300\)$"):
        mgr.eval_algo_data_def([tensor], [1, 300])
    with pytest.raises(OverflowError):
        mgr.eval_algo_data_def([tensor], [-1])


@pytest.mark.parametrize("count", [0, 1, 2])
def test_bindings_without_a_tensor(mgr, spirv, count):
    tensors = [mgr.tensor([1]) for _ in range(count)]
    with pytest.raises(ValueError) as caught:
        mgr.algorithm(tensors, spirv["multiply"])
    assert f"binding {count} of set 0" in one_line(caught)


def test_tensors_of_another_type(mgr, programs):
    tensors = [mgr.tensor([1]), mgr.tensor_t(np.zeros(1, np.int32)), mgr.tensor([1])]
    with pytest.raises(TypeError) as caught:
        mgr.algorithm(tensors, programs["multiply"])
    assert "i32" in one_line(caught)
    assert "f32" in one_line(caught)


@pytest.mark.parametrize("size", [1, 3, 5, 12, 128])
def test_push_constants_of_another_size(mgr, spirv, size):
    tensors = [mgr.tensor([1]), mgr.tensor([1])]
    with pytest.raises(ValueError) as caught:
        mgr.algorithm(tensors, spirv["saxpy"], push_consts=bytes(size))
    assert f" {size} were given" in one_line(caught)
    good = mgr.algorithm(tensors, spirv["saxpy"], push_consts=[1])
    with pytest.raises(ValueError):
        mgr.sequence().record(kp.OpAlgoDispatch(good, bytes(size)))


def test_push_constants_that_nobody_gave(mgr, spirv):
    algorithm = mgr.algorithm([mgr.tensor([1]), mgr.tensor([1])], spirv["saxpy"])
    with pytest.raises(ValueError) as caught:
        mgr.sequence().record(kp.OpAlgoDispatch(algorithm))
    assert "none were given" in one_line(caught)
    mgr.sequence().record(kp.OpAlgoDispatch(algorithm, [1]))


def test_push_constants_beyond_the_limit(mgr, spirv):
    limit = mgr.device.max_push_constants
    with pytest.raises(ValueError) as caught:
        mgr.algorithm([mgr.tensor([1]), mgr.tensor([1])], spirv["saxpy"], push_consts=bytes(limit + 4))
    assert str(limit + 4) in one_line(caught)


def test_workgroups_beyond_the_limit(mgr):
    """A module of somebody else's cannot be folded: too many workgroups on an axis are an error with both numbers."""
    program = kp.compile_shader(
        "#version 450\nlayout(local_size_x = 4) in;\nlayout(binding = 0) buffer A { float a[]; };\nvoid main() { a[0] = 1; }\n"
    )
    limit = mgr.device.max_workgroup_count[1]
    with pytest.raises(kp.LimitError) as caught:
        algorithm = mgr.algorithm([mgr.tensor([1])], program.spirv, workgroup=(1, limit + 1, 1))
        mgr.sequence().record(kp.OpAlgoDispatch(algorithm))
    assert str(limit) in one_line(caught)
    assert str(limit + 1) in one_line(caught)


def test_tensors_beyond_the_limit(mgr):
    limit = mgr.device.max_buffer_range
    if limit > 2**40:
        return
    too_long = np.broadcast_to(np.zeros(1, np.uint8), (limit + 4,))
    with pytest.raises((kp.LimitError, MemoryError)):
        mgr.tensor_t(too_long, kp.storage)


@pytest.mark.parametrize("device", [99, 2**31, "no such card", "ffffffffffffffffffffffffffffffff"])
def test_a_device_that_is_not_there(device):
    with pytest.raises(ValueError) as caught:
        kp.Manager(device)
    assert kp.devices()[0].name in one_line(caught)


def test_arguments_of_managers():
    with pytest.raises(ValueError, match=r"^device: index -1; indices start at 0, see kp\.devices\(\)$"):
        kp.Manager(-1)
    with pytest.raises(TypeError, match=r"^device: must be an index, or a name or UUID \(str\), not <class 'float'>$"):
        kp.Manager(1.5)
    with pytest.raises(ValueError) as caught:
        kp.Manager(0, [7])
    assert "7" in one_line(caught)
    with pytest.raises(
        ValueError, match=r"^family_queue_indices: must be the index .*'compute' or 'transfer', not 'a'$"
    ):
        kp.Manager(0, ["a"])
    for families in ([2**32 - 1], [2**32 - 2], [2**32 - 3]):
        with pytest.raises(ValueError, match=rf"there is no queue family {families[0]}"):
            kp.Manager(0, families)
    with pytest.raises(TypeError, match=r"^desired_extensions: must be a list of str, not <class 'str'>$"):
        kp.Manager(0, [], "VK_KHR_x")
    with pytest.raises(TypeError, match=r"^desired_extensions\[0\]: must be str, not <class 'int'>$"):
        kp.Manager(0, [], [1])
    for index in (2**31, 2**63, 10**30):
        with pytest.raises(ValueError, match=r"^(device: )?there is no device") as caught:
            kp.Manager(index)
        one_line(caught)
    for families in ([-1], [2**32]):
        with pytest.raises(ValueError, match=r"^family_queue_indices: must be from 0 to 2\*\*32 - 1, not"):
            kp.Manager(0, families)
    for argument in (0, [None], [0.0], "0"):
        with pytest.raises(TypeError, match=r"^family_queue_indices: must be a "):
            kp.Manager(0, argument)
    assert kp.Manager(0, np.array([0])).queue_count == 1
    for arguments in (("x\0y",), (0, [], ["VK_KHR_x\0"])):
        with pytest.raises(ValueError, match=r"^(device|desired_extensions): has a NUL character$"):
            kp.Manager(*arguments)


def test_messages_name_the_argument_and_stay_on_one_line(mgr, spirv):
    x = [mgr.tensor([1, 2, 3]) for _ in range(3)]
    square = np.zeros((2, 2))
    for call, start in (
        (lambda: mgr.algorithm(x, spirv["multiply"], (1.5, 1, 1)), "workgroup: "),
        (lambda: mgr.algorithm(x, spirv["multiply"], square), "workgroup: "),
        (lambda: mgr.tensor([1], square), "memory type: "),
        (lambda: mgr.sequence(None), "queue_index: "),
        (lambda: mgr.sequence().eval_await("1"), "timeout: "),
        (lambda: mgr.eval_tensor_sync_local([kp.Tensor([1])], 5), "sequence_name: "),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert one_line(caught).startswith(start)
    with pytest.raises(OverflowError, match=r"^data\[1\]: does not fit in float32$"):
        kp.Tensor([1, 10**400])


def test_queues_that_are_not_there(mgr):
    with pytest.raises(IndexError) as caught:
        mgr.sequence(5)
    assert "5" in one_line(caught)
    with pytest.raises(ValueError, match=r"^queue_index: must be from 0 to 2\*\*32 - 1, not -1$"):
        mgr.sequence(-1)


def test_paths_that_do_not_exist(mgr, tmp_path):
    path = tmp_path / "none.spv"
    with pytest.raises(FileNotFoundError) as caught:
        kp.load_shader(path)
    assert caught.value.filename == path
    assert str(caught.value) == f"[Errno 2] No such file or directory: {str(path)!r}" or str(path) in str(caught.value)
    with pytest.raises(TypeError):
        kp.load_shader(5)


def test_shader_text_with_a_fault(mgr):
    tensor = kp.Tensor([1])
    mgr.eval_tensor_create_def([tensor])
    text = "#version 450\nlayout(local_size_x = 1) in;\nvoid main() { nonsense; }\n"
    with pytest.raises(kp.CompileError) as caught:
        mgr.eval_algo_str_def([tensor], text)
    assert caught.value.lineno == 3
    assert "nonsense" in str(caught.value)
    for none in (5, None, [1.5]):
        with pytest.raises(TypeError):
            mgr.eval_algo_str_def([tensor], none)


def test_compile_errors_have_the_fields_of_syntax_errors():
    with pytest.raises(kp.CompileError) as caught:
        kp.compile("def k(i: Index, a: Array[f32]):\n    a[i] = nothing\n", file="mine.py", first_line=10)
    error = caught.value
    assert (error.filename, error.lineno, error.offset, error.end_offset) == ("mine.py", 11, 12, 19)
    assert error.text == "    a[i] = nothing"
    assert "nothing" in error.msg
    assert str(error) == f"mine.py:11:12: {error.msg}\n        a[i] = nothing\n               ^^^^^^^"
    assert kp.CompileError("plain").lineno is None


def test_arguments_of_compile():
    with pytest.raises(TypeError, match=r"^source: must be str, not <class 'bytes'>$"):
        kp.compile(b"def k(): pass")
    with pytest.raises(TypeError, match=r"^source: must be str, not None$"):
        kp.compile(None)
    with pytest.raises(ValueError, match=r"^source: has a NUL character$"):
        kp.compile("def k(i: Index, a: Array[f32]):\n    a[i] = 1.0 \0\n")
    with pytest.raises(TypeError, match=r"^constants: 'N' must be a number, not <class 'str'>$"):
        kp.compile("def k(i: Index, a: Array[f32]): a[i] = N", constants={"N": "1"})
    with pytest.raises(TypeError, match=r"^params: must be a dict, not <class 'list'>$"):
        kp.compile("def k(i: Index, a: Array[f32]): a[i] = N", params=[])
    with pytest.raises(TypeError, match=r"^a: must be str, not <class 'int'>$"):
        kp.compile("def k(i: Index, a): a[i] = 1.0", params={"a": 1})
    with pytest.raises(OverflowError):
        kp.compile("def k(i: Index, a: Array[i32]): a[i] = N", constants={"N": 2**70})
    with pytest.raises(ValueError, match=r"^language: must be 'auto', 'glsl' or 'hlsl', not 'c'$"):
        kp.compile_shader("", language="c")
    assert kp.compile_list("def a(i: Index): pass\ndef b(i: Index): pass\n") == ["a", "b"]


@kp.kernel
def triples(i: Index, x: Array[f32]):
    x[i] = 3.0 * x[i]


@kp.kernel
def transposes(at: Index2, a: Array[f32, 2], out: Array[f32, 2]):
    out[at.x, at.y] = a[at.y, at.x]


@pytest.mark.parametrize(
    "use",
    [
        lambda mgr, x: mgr.algorithm([x], triples),
        lambda mgr, x: mgr.sequence().record(triples),
        lambda mgr, x: mgr.sequence().eval(triples),
        lambda mgr, x: kp.OpAlgoDispatch(triples),
        lambda mgr, x: kp.OpAlgoDispatchIndirect(triples, x),
    ],
)
def test_a_kernel_for_an_algorithm_says_how_to_make_one(mgr, use):
    with pytest.raises(
        TypeError, match=r"must be .*, not .*; kernel\.algorithm\(mgr, \[\.\.\.\]\) makes an algorithm"
    ) as caught:
        use(mgr, mgr.tensor([1, 2, 3]))
    one_line(caught)


def test_a_flat_tensor_for_a_view_says_how_to_shape_it(mgr):
    flat = mgr.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    out = mgr.zeros((3, 2))
    with pytest.raises(ValueError, match=r"has shape \(6,\), .* needs 2 axes; write \.reshape\(rows, columns\)$"):
        transposes.algorithm(mgr, [flat, out])
    transposes.algorithm(mgr, [flat.reshape(2, 3), out], extent=(3, 2))
    with pytest.raises(ValueError, match=r"has shape \(2, 3, 1\), .* needs 2 axes$"):
        transposes.algorithm(mgr, [flat.reshape(2, 3, 1), out])


def test_a_device_that_the_environment_names_and_that_is_not_there(monkeypatch):
    monkeypatch.setenv("KP_DEVICE", "no such card")
    with pytest.raises(ValueError, match=r"^KP_DEVICE: there is no device 'no such card'; there are: 0 \(") as caught:
        kp.Manager()
    one_line(caught)
    with pytest.raises(ValueError, match=r"^there is no device 'nor this one'; "):
        kp.Manager("nor this one")


def test_bytes_that_are_no_text_do_not_hide_an_error(mgr, tmp_path):
    x = mgr.tensor([1])
    module = kp.compile("def k(i: Index, a: Array[f32]):\n    a[i] = 1.0\n").spirv
    with pytest.raises(ValueError, match="none is 'main', name one of: 'm\ufffd\ufffdn'"):
        mgr.algorithm([x], module.replace(b"main", b"m\xff\xfen"))
    path = tmp_path / "latin.comp"
    path.write_bytes("#version 450\nvoid main() { caf\u00e9; }\n".encode("latin-1"))
    with pytest.raises(kp.CompileError) as caught:
        kp.load_shader(path)
    assert caught.value.lineno == 2
