"""Who keeps whom: any order of destruction, work in flight, nothing that piles up."""

import gc
import itertools
import os
import weakref
from pathlib import Path

import kp
import numpy as np
import pytest


def resident():
    """Bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def flat(work, rounds, allowed, warm_up=None):
    """Fails when `rounds` of work leave more than `allowed` bytes behind."""
    for _ in range(warm_up or rounds // 4):
        work()
    gc.collect()
    before = resident()
    for _ in range(rounds):
        work()
    gc.collect()
    grown = resident() - before
    assert grown < allowed, f"{grown} bytes more after {rounds} rounds"


ORDERS = list(itertools.permutations(["manager", "tensor", "view", "algorithm", "sequence"]))


@pytest.mark.parametrize("explicit", [True, False], ids=["destroy", "drop"])
def test_every_order_of_destruction_with_work_in_flight(spirv, explicit):
    for order in ORDERS:
        manager = kp.Manager()
        tensor = manager.tensor(np.ones(1000))
        algorithm = manager.algorithm([tensor], spirv["add_one"])
        sequence = manager.sequence().record(kp.OpSyncDevice([tensor])).record(kp.OpAlgoDispatch(algorithm))
        sequence.record(kp.OpSyncLocal([tensor]))
        things = {
            "manager": manager,
            "tensor": tensor,
            "view": tensor.data(),
            "algorithm": algorithm,
            "sequence": sequence,
        }
        del manager, tensor, algorithm, sequence
        things["sequence"].eval_async()
        for name in order:
            thing = things.pop(name)
            if explicit and name != "view":
                thing.destroy()
            del thing
        gc.collect()


def test_what_was_recorded_stays(mgr, spirv):
    out = mgr.tensor([0, 0])
    sequence = mgr.sequence()

    def record():
        a, b = mgr.tensor([2, 3]), mgr.tensor([4, 5])
        algorithm = mgr.algorithm([a, b, out], spirv["multiply"])
        sequence.record(kp.OpSyncDevice([a, b])).record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([out]))

    record()
    gc.collect()
    assert sequence.eval().eval() is sequence
    assert out.data().tolist() == [8, 15]


def test_the_manager_stays_as_long_as_what_it_made(spirv):
    tensor = kp.Manager().tensor([1, 2])
    gc.collect()
    assert tensor.is_init()
    assert tensor.data().tolist() == [1, 2]
    sequence = tensor.manager.sequence()
    sequence.record(kp.OpSyncDevice([tensor])).record(kp.OpSyncLocal([tensor]))
    del tensor
    assert sequence.eval() is sequence
    named = kp.Manager().create_sequence("s")
    assert named.is_init()
    assert named.eval() is named


def test_dropping_a_tensor_frees_it_at_once(mgr, spirv):
    """Without the collector, and although classic calls were made with it."""
    gc.disable()
    try:
        before = mgr.memory()["used"]
        tensor = kp.Tensor(np.zeros(100_000))
        mgr.eval_tensor_create_def([tensor])
        for _ in range(3):
            mgr.eval_algo_data_def([tensor], spirv["add_one"])
            mgr.eval_tensor_sync_local_def([tensor])
        assert mgr.memory()["used"] > before
        del tensor
        assert mgr.memory()["used"] == before
    finally:
        gc.enable()


def test_dropping_a_manager_frees_it_at_once(spirv):
    gc.disable()
    try:
        manager = kp.Manager()
        tensor = kp.Tensor([1])
        manager.eval_tensor_create_def([tensor])
        manager.eval_algo_data_def([tensor], spirv["add_one"])
        manager.eval_algo_data([tensor], "named", spirv["add_one"])
        reference = weakref.ref(manager)
        del manager
        assert reference() is None
        assert tensor.is_init()  # it keeps the device
    finally:
        gc.enable()


def test_cycles_are_collected(mgr, spirv):
    class Mine(kp.Tensor):
        pass

    tensor = Mine([1])
    mgr.eval_tensor_create_def([tensor])
    tensor.sequence = mgr.sequence().record(kp.OpSyncDevice([tensor]))
    tensor.algorithm = mgr.algorithm([tensor], spirv["add_one"])
    tensor.op = kp.OpAlgoDispatch(tensor.algorithm)
    reference = weakref.ref(tensor)
    del tensor
    gc.collect()
    assert reference() is None


def test_in_flight_work_outlives_what_it_uses(mgr, spirv):
    tensor = mgr.tensor_t(np.zeros(4096, np.int32))
    algorithm = mgr.algorithm([tensor], spirv["count"], push_consts=np.array([2000], np.int32))
    sequence = mgr.sequence().record(kp.OpSyncDevice([tensor])).record(kp.OpAlgoDispatch(algorithm))
    sequence.eval_async()
    algorithm.destroy()
    tensor.destroy()
    del tensor, algorithm
    gc.collect()
    sequence.eval_await()
    with pytest.raises(kp.StateError):
        sequence.eval()


def test_destroyed_members_of_a_recording(mgr, spirv):
    tensor, other = mgr.tensor([1]), mgr.tensor([1])
    algorithm = mgr.algorithm([tensor], spirv["add_one"])
    with_algorithm = mgr.sequence().record(kp.OpAlgoDispatch(algorithm))
    with_tensor = mgr.sequence().record(kp.OpSyncDevice([other]))
    algorithm.destroy()
    algorithm.destroy()
    assert not algorithm.is_init()
    other.destroy()
    for sequence in (with_algorithm, with_tensor):
        with pytest.raises(kp.StateError) as caught:
            sequence.eval()
        assert "destroyed" in str(caught.value)
    with pytest.raises(kp.StateError, match=r"^algorithm: is empty or destroyed$"):
        mgr.sequence().record(kp.OpAlgoDispatch(algorithm))


def test_tensors_pile_up_nowhere(mgr):
    flat(lambda: mgr.tensor([1] * 16).data(), 10_000, 1 << 20)
    # A GPU's driver takes memory in steps of its own.
    flat(lambda: mgr.build_tensor([1] * 16), 2_000, 1 << 20 if mgr.device.type == "cpu" else 8 << 20)


def test_algorithms_pile_up_nowhere(mgr, spirv):
    x, y = mgr.tensor([1]), mgr.tensor([1])
    flat(lambda: mgr.algorithm([x, y], spirv["saxpy"], push_consts=[2]), 5_000, 1 << 20)


def test_sequences_pile_up_nowhere(mgr):
    x = mgr.tensor([1])
    flat(lambda: mgr.sequence().record(kp.OpSyncDevice([x])).eval(), 1_000, 2 << 20)


@pytest.mark.parametrize("same_shader", [True, False])
def test_classic_calls_pile_up_nowhere(mgr, spirv, same_shader):
    tensors = [kp.Tensor([1]) for _ in range(3)]
    mgr.eval_tensor_create_def(tensors)
    data = spirv["multiply"]

    def work():
        mgr.eval_algo_data_def(tensors, data if same_shader else bytearray(data))
        mgr.eval_tensor_sync_local_def(tensors[2:])
        mgr.eval_async_algo_data_def(tensors, data)
        mgr.eval_await_def()

    flat(work, 2_000, 1 << 20)


def test_errors_pile_up_nowhere(mgr, spirv):
    tensor = kp.Tensor([1])
    mgr.eval_tensor_create_def([tensor])

    def work():
        for use in (
            lambda: mgr.eval_algo_data_def([tensor], spirv["multiply"]),
            lambda: mgr.eval_algo_data_def([tensor], b"nonsense"),
            lambda: kp.compile("def k(i: Index): x"),
            lambda: mgr.tensor(["a"]),
        ):
            with pytest.raises((ValueError, TypeError, kp.Error)):
                use()

    flat(work, 1_000, 1 << 20)


def test_managers_pile_up_nowhere(spirv):
    def work():
        manager = kp.Manager()
        tensor = kp.Tensor([1])
        manager.eval_tensor_create_def([tensor])
        manager.eval_algo_data_def([tensor], spirv["add_one"])

    flat(work, 40, 40 << 20, warm_up=5)  # drivers keep something for each device


def test_python_objects_pile_up_nowhere(mgr, spirv):
    def work():
        tensor = mgr.tensor([1, 2])
        algorithm = mgr.algorithm([tensor], spirv["add_one"])
        mgr.sequence().record(kp.OpAlgoDispatch(algorithm, None)).eval()
        kp.devices()

    for _ in range(20):
        work()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(50):
        work()
    gc.collect()
    assert len(gc.get_objects()) - before < 20
