"""Code of the user's that runs inside a call of ours (__float__, __index__, __fspath__, a generator, __del__) and destroys what
the call is working on: an error or the right answer, never a crash."""

import gc

import kp
import numpy as np
import pytest


class Number:
    """A number that does something when it is asked for its value."""

    def __init__(self, act, value):
        self.act = act
        self.value = value

    def __index__(self):
        self.act()
        return self.value

    def __float__(self):
        self.act()
        return float(self.value)


class Path:
    def __init__(self, act, path):
        self.act = act
        self.path = path

    def __fspath__(self):
        self.act()
        return self.path


GLSL = """#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
void main() { a[gl_GlobalInvocationID.x] += 1.0; }
"""


def words(spirv, act):
    """The SPIR-V as list of ints, the last of which acts."""
    numbers = np.frombuffer(spirv, np.uint32).tolist()
    return [*numbers[:-1], Number(act, numbers[-1])]


def after(tensors, act):
    yield from tensors
    act()


@pytest.fixture
def tensors(mgr):
    made = [kp.Tensor([1, 2, 3]) for _ in range(3)]
    mgr.eval_tensor_create_def(made)
    return made


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "add.comp"
    path.write_text(GLSL)
    return str(path)


def test_a_shader_that_destroys_the_manager(mgr, tensors, spirv):
    with pytest.raises(kp.StateError, match=r"^the manager is destroyed$"):
        mgr.eval_algo_data_def(tensors, words(spirv["multiply"], mgr.destroy))
    assert not mgr.is_init()
    assert tensors[0].data() == [1.0, 2.0, 3.0]


def test_a_path_that_destroys_the_manager(mgr, tensors, source):
    with pytest.raises(kp.StateError, match=r"^the manager is destroyed$"):
        mgr.eval_algo_file_def(tensors[:1], Path(mgr.destroy, source))


def test_text_that_destroys_the_manager(mgr, tensors):
    with pytest.raises(kp.StateError, match=r"^the manager is destroyed$"):
        mgr.eval_algo_str_def(tensors[:1], after(GLSL, mgr.destroy))


def test_a_manager_destroyed_from_within_is_gone_and_others_work(mgr, tensors, spirv):
    other = kp.Manager()
    with pytest.raises(kp.StateError):
        mgr.eval_algo_data_def(tensors, words(spirv["multiply"], mgr.destroy))
    moved = [kp.Tensor(t.data()) for t in tensors]
    other.eval_tensor_create_def(moved)
    other.eval_algo_data_def(moved, spirv["multiply"])
    other.eval_tensor_sync_local_def(moved[2:])
    assert moved[2].data() == [1.0, 4.0, 9.0]


def test_tensors_from_a_generator_that_destroys_the_sequence(mgr, tensors):
    sequence = mgr.create_sequence("s")
    with pytest.raises(kp.StateError, match=r"^the sequence is destroyed$"):
        sequence.record_tensor_sync_device(after(tensors, sequence.destroy))


def test_a_sequence_that_records_refuses_what_a_shader_does_to_it(mgr, tensors, spirv, source):
    sequence = mgr.create_sequence("s")
    with pytest.raises(kp.StateError, match=r"^the sequence is in use"):
        sequence.record_algo_data(tensors, words(spirv["multiply"], sequence.destroy))
    with pytest.raises(kp.StateError, match=r"^the sequence is in use"):
        sequence.record_algo_file(tensors[:1], Path(sequence.eval_async, source))
    sequence.begin().record_algo_data(tensors, spirv["multiply"]).record_tensor_sync_local(tensors[2:]).eval()
    assert tensors[2].data() == [1.0, 4.0, 9.0]


def test_tensors_of_a_generator_live_as_long_as_the_recording(mgr, spirv):
    sequence = mgr.create_sequence("s")
    out = kp.Tensor([0, 0, 0])
    mgr.eval_tensor_create_def([out])

    def made():
        for _ in range(2):
            t = kp.Tensor([1, 2, 3])
            mgr.eval_tensor_create_def([t])
            yield t
        yield out

    sequence.record_algo_data(made(), spirv["multiply"])
    gc.collect()
    sequence.record_tensor_sync_local(t for t in [out]).eval()
    assert out.data() == [1.0, 4.0, 9.0]


@pytest.mark.parametrize("name", ["spirv", "workgroup", "spec_consts", "push_consts"])
def test_an_argument_of_an_algorithm_that_destroys_a_tensor(mgr, spirv, name):
    x, y, z = (mgr.tensor([1, 2, 3]) for _ in range(3))
    arguments = {"spirv": spirv["multiply"], name: [Number(z.destroy, 3)]}
    if name == "spirv":
        arguments["spirv"] = words(spirv["multiply"], z.destroy)
    with pytest.raises(kp.StateError, match=r"^tensors\[2\]: is destroyed$"):
        mgr.algorithm([x, y, z], **arguments)


@pytest.mark.parametrize("name", ["spirv", "workgroup", "spec_consts", "push_consts"])
def test_an_argument_of_an_algorithm_that_destroys_the_manager(mgr, spirv, name):
    x, y, z = (mgr.tensor([1, 2, 3]) for _ in range(3))
    arguments = {"spirv": spirv["multiply"], name: [Number(mgr.destroy, 3)]}
    if name == "spirv":
        arguments["spirv"] = words(spirv["multiply"], mgr.destroy)
    with pytest.raises(kp.StateError, match=r"^the manager is destroyed$"):
        mgr.algorithm([x, y, z], **arguments)


def test_a_push_constant_that_destroys_its_algorithm(mgr, programs):
    algorithm = mgr.algorithm([mgr.tensor([1]), mgr.tensor([1])], programs["saxpy"], push_consts=[1.0])
    with pytest.raises(kp.StateError, match=r"^algorithm: is empty or destroyed$"):
        mgr.sequence().record(kp.OpAlgoDispatch(algorithm, [Number(algorithm.destroy, 2)]))


@pytest.mark.parametrize("of_manager", [True, False])
def test_a_value_that_destroys_the_tensor_it_is_set_in(mgr, of_manager):
    def tensor():
        t = mgr.tensor([1, 2, 3])
        return t, Number(mgr.destroy if of_manager else t.destroy, 1)

    for assign in (
        lambda t, n: t.__setitem__(0, n),
        lambda t, n: t.__setitem__(slice(None), [n, 2, 3]),
        lambda t, n: t.set_data([1, n, 3]),
        lambda t, n: t.__setitem__(n, 5.0),
        lambda t, n: t[n],
    ):
        if of_manager and not mgr.is_init():
            break
        with pytest.raises(kp.StateError, match=r"is destroyed$"):
            assign(*tensor())


def test_a_finalizer_that_asks_for_a_manager_that_is_going_away():
    found = []

    class Watched(kp.Tensor):
        def __del__(self):
            found.append(self.manager)

    mgr = kp.Manager()
    tensors = [Watched([1, 2]) for _ in range(3)]
    mgr.eval_tensor_create(tensors, "s")
    mgr.eval_algo_mult(tensors, "s")
    del tensors, mgr
    gc.collect()
    assert len(found) == 3 and all(isinstance(m, kp.Manager) for m in found)
    assert found[0].tensor([5, 6]).data().tolist() == [5.0, 6.0]
    assert found[0].create_sequence("t").is_init()


def test_a_list_that_changes_while_it_is_read():
    numbers = [1.0] * 4
    numbers.insert(1, Number(numbers.clear, 2))
    assert kp.Tensor(numbers).data() == [1.0, 2.0]
    numbers = [1.0]
    numbers.append(Number(lambda: numbers.append(3.0), 2))
    assert kp.Tensor(numbers).data() == [1.0, 2.0, 3.0]


def test_errors_of_the_users_own_come_through():
    def fail():
        raise KeyError("mine")

    class Iterable:
        def __iter__(self):
            fail()

    class Array:
        def __array__(self):
            fail()

    for data in ([Number(fail, 1)], Iterable(), Array()):
        with pytest.raises(KeyError, match=r"^'mine'$"):
            kp.Tensor(data)
