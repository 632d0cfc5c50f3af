"""Threads: the GIL is free while the device works, and misuse is an error, not a crash. And forks."""

import threading
import time

import kp
import numpy as np
import pytest


@pytest.fixture
def slow(mgr, spirv):
    """A sequence that keeps the device busy for a good while, however fast it is."""
    tensor = mgr.tensor_t(np.arange(2048, dtype=np.int32))
    algorithm = mgr.algorithm([tensor], spirv["count"], push_consts=np.array([20_000], np.int32))
    dispatches, seconds = 2, 0.0
    while seconds < 0.02:
        dispatches *= 2
        sequence = mgr.sequence().record(kp.OpSyncDevice([tensor]))
        for _ in range(dispatches):
            sequence.record(kp.OpAlgoDispatch(algorithm))
        start = time.perf_counter()
        sequence.eval()
        seconds = time.perf_counter() - start
    return sequence


def counted_meanwhile(blocking):
    """How far another thread counts while `blocking` runs; None when it ran before the other could have started."""
    started, stop = threading.Event(), threading.Event()
    count = 0

    def counting():
        nonlocal count
        started.set()
        while not stop.is_set():
            count += 1

    thread = threading.Thread(target=counting)
    thread.start()
    started.wait()
    before = count
    blocking()
    after = count
    stop.set()
    thread.join()
    return after - before


def test_evaluating_leaves_the_gil_to_others(slow):
    assert counted_meanwhile(slow.eval) > 100


def test_awaiting_leaves_the_gil_to_others(slow):
    slow.eval_async()
    assert counted_meanwhile(slow.eval_await) > 100


def test_making_a_manager_leaves_the_gil_to_others():
    assert counted_meanwhile(lambda: [kp.Manager() for _ in range(3)]) > 100


# The device waits for the gate, the call for the device, and only the other thread opens the gate: it gets the interpreter
# when the call lets go of it, and never before, since nothing else takes it away.
GATED = """
import sys, threading
import kp
import numpy as np

mgr = kp.Manager()
x, y = mgr.zeros(4), mgr.zeros(4)
kernel = kp.kernel_from_source("def k(i: Index, x: Array[f32]):\\n    x[i] += 1.0\\n")
kernel(y)
held = mgr.sequence().record(kp.OpFill([x], 5)).record(kp.OpSyncLocal([x]))
behind = mgr.sequence().record(kp.OpFill([x], 6)).record(kp.OpSyncLocal([x]))
gate, done = mgr.semaphore(), mgr.semaphore()
held.submit(waits=[(gate, 1)], signals=[(done, 1)])
sys.setswitchinterval(1000)
lock = threading.Lock()
lock.acquire()
thread = threading.Thread(target=lambda: (lock.acquire(), gate.signal(1)))
thread.start()
lock.release()
CALL
sys.setswitchinterval(0.005)
thread.join()
held.eval_await()
done.wait(1)
print(done.value)
"""


@pytest.mark.parametrize(
    "call",
    [
        "held.eval_await()",
        "behind.eval()",
        "done.wait(1)",
        "x.upload(np.ones(4, np.float32))",
        "x.download()",
        "kernel(x)",
    ]
    + ["mgr.sequence().eval(kp.OpSyncLocal([x]))", "behind.eval_async().eval_await()"],
)
def test_every_call_that_waits_leaves_the_gil_to_others(mgr, python, call):
    if not mgr.device.timeline_semaphores:
        pytest.skip("no timelines")
    code = GATED.replace("CALL", call)
    if call.startswith("held"):
        code = code.replace("thread.join()\nheld.eval_await()", "thread.join()")
    assert python(code, env={"KP_VALIDATION": "0"}) == "1\n"  # the layer may hang there: docs/drivers.md


def run_all(work, count=8):
    """Runs work(k) in `count` threads; raises the first error of any."""
    errors = []

    def guarded(k):
        try:
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_one_manager_many_threads(mgr, spirv):
    def work(k):
        tensor = mgr.tensor([k, k])
        add = kp.OpAlgoDispatch(mgr.algorithm([tensor], spirv["add_one"]))
        sequence = mgr.sequence().eval(kp.OpSyncDevice([tensor]))
        sequence.record(add)
        for _ in range(200):
            sequence.eval()
        sequence.eval(kp.OpSyncLocal([tensor]))
        assert tensor.data().tolist() == [k + 200, k + 200]

    run_all(work)


def test_classic_calls_from_many_threads(mgr, spirv):
    def work(k):
        tensor = kp.Tensor([k])
        mgr.eval_tensor_create_def([tensor])
        for _ in range(100):
            mgr.eval_algo_data_def([tensor], spirv["add_one"])
        mgr.eval_tensor_sync_local_def([tensor])
        assert tensor.data() == [k + 100]
        mgr.eval_algo_data([tensor], f"sequence {k}", spirv["add_one"])
        mgr.eval_tensor_sync_local([tensor], f"sequence {k}")
        assert tensor.data() == [k + 101]

    run_all(work)


def test_a_manager_each(spirv):
    def work(k):
        manager = kp.Manager()
        tensor = kp.Tensor([k])
        manager.eval_tensor_create_def([tensor])
        for _ in range(20):
            manager.eval_algo_data_def([tensor], spirv["add_one"])
        manager.eval_tensor_sync_local_def([tensor])
        assert tensor.data() == [k + 20]
        manager.destroy()

    run_all(work, 4)


def test_compiling_in_many_threads():
    text = "def k(i: Index, a: Array[f32]):\n    a[i] = a[i] + {}.0\n"
    results = {}

    def work(k):
        for round_ in range(50):
            results[k, round_] = kp.compile(text.format(round_)).spirv
            with pytest.raises(kp.CompileError, match=f"name_{k}"):
                kp.compile(f"def k(i: Index, a: Array[f32]):\n    a[i] = name_{k}\n")

    run_all(work)
    for round_ in range(50):
        assert len({results[k, round_] for k in range(8)}) == 1


def while_it_runs(slow, act):
    """Calls act() while another thread is inside slow.eval()."""
    done = threading.Event()

    def evaluate():
        try:
            slow.eval()
        finally:
            done.set()

    thread = threading.Thread(target=evaluate)
    thread.start()
    while not slow.is_running() and not done.is_set():
        pass
    result = act() if not done.is_set() else None
    thread.join()
    return result


def test_a_second_thread_on_one_sequence_is_an_error(slow):
    def act():
        for use in (slow.eval, slow.clear, slow.eval_await, slow.destroy, slow.get_timestamps):
            with pytest.raises(kp.StateError, match=r"^the sequence is in use by another thread, or awaited$"):
                use()
        return True

    assert while_it_runs(slow, act)
    assert slow.eval() is slow


def test_destroying_the_manager_while_another_thread_waits(slow, mgr):
    def act():
        mgr.destroy()
        assert not mgr.is_init()
        with pytest.raises(kp.StateError, match=r"^the manager is destroyed$"):
            mgr.tensor([1])
        return True

    assert while_it_runs(slow, act)
    with pytest.raises(kp.StateError):
        slow.eval()


def test_the_last_reference_goes_while_another_thread_waits(spirv):
    manager = kp.Manager()
    tensor = manager.tensor_t(np.arange(2048, dtype=np.int32))
    algorithm = manager.algorithm([tensor], spirv["count"], push_consts=np.array([20_000], np.int32))
    sequence = manager.sequence().record(kp.OpSyncDevice([tensor])).record(kp.OpAlgoDispatch(algorithm))
    thread = threading.Thread(target=sequence.eval)
    thread.start()
    del manager, tensor, algorithm, sequence
    thread.join()


def test_tensors_are_destroyed_while_algorithms_are_made_of_them(mgr):
    """Each round compiles anew, so that making the algorithm takes its time."""
    stop = threading.Event()
    current = [mgr.tensor([1])]
    destroyed = {}

    def destroying():
        while not stop.is_set():
            tensor = current[0]
            tensor.destroy()
            destroyed[id(tensor)] = tensor  # kept, so that no id comes twice

    thread = threading.Thread(target=destroying)
    thread.start()
    try:
        for k in range(60):
            program = kp.compile(f"def k(i: Index, a: Array[f32]):\n    a[i] = a[i] * {k}.0 + {k}.5\n")
            current[0] = mgr.tensor([1])
            try:
                algorithm = mgr.algorithm([current[0]], program)
                mgr.sequence().eval(kp.OpAlgoDispatch(algorithm))
            except kp.StateError as error:
                assert "destroyed" in str(error)
    finally:
        stop.set()
        thread.join()
    assert destroyed
    assert not any(tensor.is_init() for tensor in destroyed.values())  # also where destroy() had to wait


def test_children_are_dropped_while_their_manager_is_destroyed(spirv):
    for _ in range(10):
        manager = kp.Manager()
        children = []
        for _ in range(20):
            tensor = manager.tensor([1])
            algorithm = manager.algorithm([tensor], spirv["add_one"])
            children += [tensor, algorithm, manager.sequence().record(kp.OpAlgoDispatch(algorithm))]
        children[-1].eval_async()
        threads = [threading.Thread(target=manager.destroy), threading.Thread(target=children.clear)]
        del tensor, algorithm
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not manager.is_init()


FORK = """
import os, sys, gc, warnings
import kp
mgr = kp.Manager()
tensor = kp.Tensor([1, 2])
mgr.eval_tensor_create_def([tensor])
made = mgr.tensor([1, 2])
sequence = mgr.sequence().record(kp.OpSyncDevice([made]))
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 on: of forks beside threads
cpu = mgr.device.type == "cpu"
pid = os.fork()
if pid == 0:
    try:
        mgr.eval_tensor_sync_local_def([tensor])
    except kp.StateError as error:
        print(error, flush=True)
    try:
        sequence.eval()
    except kp.StateError as error:
        print(error, flush=True)
    try:
        kp.Manager()
    except kp.StateError as error:
        print(error, flush=True)
    print(mgr.is_init(), made.is_init(), sequence.is_init(), tensor.data(), flush=True)
    mgr.destroy()
    del mgr, sequence, made, tensor
    gc.collect()
    if not cpu:
        os._exit(3)  # NVIDIA's driver does not bear its own exit handlers in a child: docs/drivers.md
    sys.exit(3)
_, status = os.waitpid(pid, 0)
assert os.waitstatus_to_exitcode(status) == 3, status
sequence.eval()
mgr.eval_tensor_sync_local_def([tensor])
print("parent", tensor.data())
"""


def test_a_forked_child_gets_errors(python):
    message = (
        "this manager was made before a fork, which Vulkan does not survive; fork before the first manager, "
        "or start processes by multiprocessing's 'spawn'"
    )
    lines = python(FORK).splitlines()
    assert lines[2].startswith("this process was forked from one that used Vulkan, which no driver survives; ")
    del lines[2]
    assert lines == [message, message, "False False False [1.0, 2.0]", "parent [1.0, 2.0]"]


def test_the_last_of_a_manager_goes_in_one_thread_while_another_uses_it():
    """With its last tensor goes the manager, which waits for the device without the GIL: other threads find the tensor whole."""
    keeper = kp.Manager()
    for _ in range(30):
        tensor = kp.Tensor([1, 2, 3])
        kp.Manager().eval_tensor_create_def([tensor])
        barrier = threading.Barrier(3)

        def destroy(tensor=tensor, barrier=barrier):
            barrier.wait()
            tensor.destroy()

        def move(tensor=tensor, barrier=barrier):
            barrier.wait()
            try:
                keeper.eval_tensor_create_def([tensor])
            except ValueError as error:
                assert str(error) == "tensors[0]: belongs to another manager"
            except kp.StateError as error:  # it came in between creating and uploading
                assert "destroyed" in str(error)

        threads = [threading.Thread(target=target) for target in (destroy, move, destroy)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        keeper.eval_tensor_create_def([tensor])
        keeper.eval_tensor_sync_local_def([tensor])
        assert tensor.data() == [1.0, 2.0, 3.0]
