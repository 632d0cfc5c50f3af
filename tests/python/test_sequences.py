"""Sequences beyond Kompute's: asyncio, context managers, profiles, ops made of ops, indirect dispatches, algorithms that change,
constants by name."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import kp
import numpy as np
import pytest

SCALE = """
def scale(i: Index, by: f32, shift: i32, x: Array[f32]):
    x[i] = x[i] * by + f32(shift)
"""
GLSL = """#version 450
layout(local_size_x = 1) in;
layout(constant_id = 4) const float step = 1.0;
layout(constant_id = 9) const int times = 1;
layout(constant_id = 2) const bool twice = false;
layout(push_constant) uniform Push { float a; uint b; int c; layout(offset = 16) vec3 v; } push;
layout(binding = 0) buffer X { float x[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    x[i] += step * times * (twice ? 2 : 1) + push.a + float(push.b) + float(push.c) + push.v.z;
}
"""
ZERO = {"a": 0, "b": 0, "c": 0, "v": (0, 0, 0)}


def run(mgr, algorithm, tensor, **kwargs):
    seq = mgr.sequence()
    seq.record(kp.OpSyncDevice([tensor])).record(kp.OpAlgoDispatch(algorithm, **kwargs))
    seq.record(kp.OpSyncLocal([tensor])).eval()
    return tensor.data().tolist()


@pytest.fixture
def x(mgr):
    return mgr.tensor([1, 2, 3])


@pytest.fixture
def scale(mgr, x):
    return mgr.algorithm([x], kp.compile(SCALE), push_consts={"by": 2, "shift": -1})


# --- constants


def test_push_constants_by_name_are_typed(mgr, x, scale):
    assert run(mgr, scale, x) == [1, 3, 5]
    assert run(mgr, scale, x, push_consts={"shift": 7, "by": 0.5}) == [7.5, 8.5, 9.5]
    scale.set_push_consts({"by": np.float32(1), "shift": np.int64(1)})
    assert run(mgr, scale, x) == [8.5, 9.5, 10.5]


def test_push_constants_from_a_structured_scalar(mgr, x, scale):
    dtype = np.dtype([("shift", "i4"), ("pad", "V4"), ("by", "f8")])[["shift", "by"]]  # another layout, by value
    scale.set_push_consts(np.array((2, 3.0), dtype=dtype))
    assert run(mgr, scale, x) == [5, 8, 11]
    scale.set_push_consts(np.array([(1, 1.0)], dtype=dtype)[0])
    assert run(mgr, scale, x) == [6, 9, 12]


@pytest.mark.parametrize(
    ("push", "error", "words"),
    [
        ({"by": 1}, ValueError, "push_consts: 'shift' is not given"),
        ({"by": 1, "shift": 1, "z": 1}, ValueError, "push_consts: there is no 'z'; there are: 'by', 'shift'"),
        ({"by": 1, "shift": 1.5}, TypeError, "push_consts 'shift': must be i32, not float"),
        ({"by": 1, "shift": 2**31}, OverflowError, "push_consts 'shift': 2147483648 does not fit in i32"),
        ({"by": "1", "shift": 1}, TypeError, "push_consts 'by': must be f32, not str"),
        ({1: 1}, ValueError, "push_consts: there is no 1; there are: 'by', 'shift'"),
    ],
)
def test_push_constants_that_do_not_fit(mgr, x, scale, push, error, words):
    with pytest.raises(error) as caught:
        kp.OpAlgoDispatch(scale, push)
    assert str(caught.value) == words
    with pytest.raises(error):
        scale.set_push_consts(push)
    with pytest.raises(error):
        mgr.algorithm([x], kp.compile(SCALE), push_consts=push)
    assert run(mgr, scale, x) == [1, 3, 5]


def test_foreign_modules_have_names_too(mgr, x):
    program = kp.compile_shader(GLSL)
    push = {"a": 0.5, "b": 2, "c": -1, "v": (9, 9, 100)}
    algorithm = mgr.algorithm([x], program, push_consts=push)
    assert run(mgr, algorithm, x) == [103.5, 104.5, 105.5]
    specs = {"step": 2.5, 9: 3, "twice": True}
    algorithm = mgr.algorithm([x], program, spec_consts=specs, push_consts=ZERO)
    assert run(mgr, algorithm, x) == [118.5, 119.5, 120.5]
    algorithm.set_spec_consts({4: 1})
    assert run(mgr, algorithm, x) == [119.5, 120.5, 121.5]
    algorithm.set_spec_consts({})
    assert run(mgr, algorithm, x) == [120.5, 121.5, 122.5]
    with pytest.raises(ValueError, match=r"spec_consts: there is no 0; there are: 'twice', 'step', 'times'"):
        algorithm.set_spec_consts({0: 1.0})
    with pytest.raises(TypeError, match=r"spec_consts 'times': must be i32, not float"):
        mgr.algorithm([x], program, spec_consts={"times": 0.5}, push_consts=ZERO)
    with pytest.raises(ValueError, match="push_consts 'v': 3 x f32 has 3 components, not 2"):
        algorithm.set_push_consts(ZERO | {"v": (1, 2)})


# --- algorithms that change


def test_a_recorded_algorithm_changes(mgr, x):
    y = mgr.tensor([0, 0, 0])
    algorithm = mgr.algorithm([x], kp.compile(SCALE), push_consts={"by": 2, "shift": 0})
    seq = mgr.sequence().record(kp.OpSyncDevice([x, y])).record(kp.OpAlgoDispatch(algorithm))
    seq.record(kp.OpSyncLocal([x, y])).eval()
    assert x.data().tolist() == [2, 4, 6]
    assert algorithm.bind([y]) is algorithm
    algorithm.set_push_consts({"by": 1, "shift": 5})
    seq.eval()
    assert (x.data().tolist(), y.data().tolist()) == ([2, 4, 6], [5, 5, 5])
    assert algorithm.get_mem_objects() == [y]
    algorithm.set_workgroup((1, 1, 1))
    seq.eval()
    assert y.data().tolist() == [10, 5, 5]
    algorithm.set_extent((2,))
    seq.eval()
    assert y.data().tolist() == [15, 10, 5]
    algorithm.set_workgroup((0, 0, 0))
    seq.eval()
    assert y.data().tolist() == [20, 15, 10]


def test_changes_that_do_not_fit(mgr, x, scale):
    other = kp.Manager()
    with pytest.raises(ValueError, match="manager"):
        scale.bind([other.tensor([1, 2, 3])])
    with pytest.raises(TypeError, match="tensors"):
        scale.bind([1])
    with pytest.raises(TypeError, match="workgroup"):
        scale.set_workgroup("abc")
    assert run(mgr, scale, x) == [1, 3, 5]
    scale.destroy()
    for call in (lambda: scale.bind([x]), lambda: scale.set_push_consts({}), lambda: scale.set_spec_consts([])):
        with pytest.raises(kp.StateError):
            call()


def test_an_algorithm_changes_while_threads_evaluate(mgr):
    """Whatever a thread sees, it is one of the states that the algorithm had."""
    tensors = [mgr.tensor(np.zeros(64)) for _ in range(2)]
    algorithm = mgr.algorithm([tensors[0]], kp.compile(SCALE), push_consts={"by": 1, "shift": 1})
    seqs = [mgr.sequence().record(kp.OpAlgoDispatch(algorithm)) for _ in range(2)]
    mgr.sequence().record(kp.OpSyncDevice(tensors)).eval()

    def evaluate(seq):
        for _ in range(150):
            seq.eval()

    threads = [threading.Thread(target=evaluate, args=(seq,)) for seq in seqs]
    for thread in threads:
        thread.start()
    for i in range(150):
        algorithm.bind([tensors[i % 2]])
        algorithm.set_push_consts({"by": 1, "shift": 1 + i % 2})
    for thread in threads:
        thread.join()
    mgr.sequence().record(kp.OpSyncLocal(tensors)).eval()
    total = sum(tensor.data() for tensor in tensors)
    assert 300 <= total[0] <= 600 and (total == total[0]).all()


# --- ops


class Round(kp.OpBase):
    """There, the work, and back."""

    def __init__(self, tensors, *inner):
        self.tensors, self.inner = tensors, inner

    def ops(self):
        yield kp.OpSyncDevice(self.tensors)
        yield from self.inner
        yield kp.OpSyncLocal(self.tensors)


def test_an_op_made_of_ops(mgr, x, scale):
    seq = mgr.sequence().record(Round([x], kp.OpAlgoDispatch(scale), Round([x], kp.OpAlgoDispatch(scale))))
    assert [name.split()[0] for name in seq.op_names()] == [
        "sync_device", "dispatch", "sync_device", "dispatch", "sync_local", "sync_local",
    ]  # fmt: skip
    mgr.sequence().eval(Round([x], kp.OpAlgoDispatch(scale)))
    assert x.data().tolist() == [1, 3, 5]


def test_an_op_made_of_ops_is_recorded_whole_or_not_at_all(mgr, x, scale):
    class Broken(Round):
        def ops(self):
            raise KeyError("mine")

    class Endless(kp.OpBase):
        def ops(self):
            return [self]

    seq = mgr.sequence().record(kp.OpSyncDevice([x]))
    other = kp.Manager().tensor([1])
    with pytest.raises(ValueError):
        seq.record(Round([x], kp.OpAlgoDispatch(scale), kp.OpSyncLocal([other])))
    with pytest.raises(KeyError, match="mine"):
        seq.record(Broken([x]))
    with pytest.raises(RecursionError):
        seq.record(Endless())
    with pytest.raises(TypeError, match="op: must be a kp.OpBase"):
        seq.record(Round([x], 1))
    with pytest.raises(TypeError, match="subclass"):
        kp.OpBase()
    assert len(seq.op_names()) == 1
    seq.record(kp.OpAlgoDispatch(scale)).record(kp.OpSyncLocal([x])).eval()
    assert x.data().tolist() == [1, 3, 5]


def test_an_indirect_dispatch(mgr, scale, x):
    counts = mgr.tensor_t(np.array([7, 2, 1, 1], dtype=np.uint32))
    seq = mgr.sequence().record(kp.OpSyncDevice([x, counts]))
    seq.record(kp.OpAlgoDispatchIndirect(scale, counts, 4)).record(kp.OpSyncLocal([x])).eval()
    assert x.data().tolist() == [1, 3, 3]
    op = kp.OpAlgoDispatchIndirect(scale, counts, offset=4, push_consts={"by": 0, "shift": 9})
    mgr.sequence().record(kp.OpSyncDevice([counts])).record(op).record(kp.OpSyncLocal([x])).eval()
    assert x.data().tolist() == [9, 9, 3]
    with pytest.raises(TypeError, match="u32"):
        mgr.sequence().record(kp.OpAlgoDispatchIndirect(scale, x))
    with pytest.raises(ValueError, match="offset is 8"):
        mgr.sequence().record(kp.OpAlgoDispatchIndirect(scale, counts, 8))
    with pytest.raises(TypeError, match="counts"):
        kp.OpAlgoDispatchIndirect(scale, 5)


# --- asyncio, context managers


@pytest.mark.parametrize("extent", [0, (0,), (4, 0), (0, 0, 0), np.int64(0)], ids=repr)
def test_an_extent_of_nothing_is_refused(mgr, programs, extent):
    data = mgr.tensor([1, 2])
    with pytest.raises(
        ValueError, match="^extent: must be numbers from 1 up, not .*, which leaves nothing to dispatch$"
    ):
        mgr.algorithm([data], programs["add_one"], extent=extent)
    algorithm = mgr.algorithm([data], programs["add_one"], extent=1)
    with pytest.raises(ValueError, match="^extent: must be"):
        algorithm.set_extent(extent)
    mgr.sequence().record(kp.OpSyncDevice([data])).record(kp.OpAlgoDispatch(algorithm)).eval(kp.OpSyncLocal([data]))


def test_a_workgroup_of_no_x_is_none(mgr, programs):
    """As in Kompute: as many as tensors[0] has elements."""
    data = mgr.tensor([1, 2, 3])
    for workgroup in ((0,), (0, 5, 5), [0, 0, 0]):
        data.data()[:] = 0
        algorithm = mgr.algorithm([data], programs["add_one"], workgroup=workgroup)
        seq = mgr.sequence().record(kp.OpSyncDevice([data])).record(kp.OpAlgoDispatch(algorithm))
        seq.record(kp.OpSyncLocal([data])).eval()
        assert data.data().tolist() == [1, 1, 1]


def long_work(mgr, steps=20000):
    text = (
        "def work(i: Index, x: Array[i32], steps: i32):\n    t = 0\n    for k in range(steps):\n"
        "        t = t + (k ^ x[i])\n    x[i] = t\n"
    )
    x = mgr.tensor_t(np.zeros(256, dtype=np.int32))
    algorithm = mgr.algorithm([x], kp.compile(text), push_consts={"steps": steps})
    seq = mgr.sequence().record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(algorithm))
    return seq.record(kp.OpSyncLocal([x])), x


def test_await_lets_the_loop_go_on(mgr):
    jobs = [long_work(mgr) for _ in range(3)]

    async def main():
        ticks = 0
        done = asyncio.gather(*[wait(seq) for seq, _ in jobs])
        while not done.done():
            ticks += 1
            await asyncio.sleep(0)
        assert [seq for seq, _ in jobs] == await done
        return ticks

    async def wait(seq):
        return await seq.eval_async()

    assert asyncio.run(main()) > 1
    for seq, x in jobs:
        assert not seq.is_running()
        assert x.data()[0] == sum(range(20000))


def test_await_without_work_is_an_error(mgr):
    async def main():
        await mgr.sequence()

    with pytest.raises(kp.StateError, match="nothing to await"):
        asyncio.run(main())


def test_a_cancelled_await_leaves_the_sequence_usable(mgr):
    seq, x = long_work(mgr)

    async def main():
        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        if seq.is_running():
            seq.eval_await()  # at once: no thread is in it any more

    async def wait():
        await seq.eval_async()

    asyncio.run(main())
    assert x.data()[0] == sum(range(20000))
    seq.rerecord().eval()


def test_more_awaits_than_asyncio_has_threads(mgr):
    jobs = [long_work(mgr) for _ in range(3)]

    async def wait(seq):
        await seq.eval_async()

    async def main():
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        tasks = [asyncio.ensure_future(wait(seq)) for seq, _ in jobs]
        await asyncio.sleep(0)
        tasks[2].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[2]
        await asyncio.gather(*tasks[:2])
        if jobs[2][0].is_running():
            jobs[2][0].eval_await()

    asyncio.run(main())
    assert [x.data()[0] for _, x in jobs] == [sum(range(20000))] * 3


def test_two_awaits_of_one_evaluation_are_an_error(mgr):
    seq, x = long_work(mgr)

    async def wait():
        await seq

    async def main():
        seq.eval_async()
        results = await asyncio.gather(wait(), wait(), return_exceptions=True)
        assert results[0] is None
        assert isinstance(results[1], kp.StateError)
        assert str(results[1]) == "the sequence is awaited already: one await for each eval_async()"

    asyncio.run(main())
    assert x.data()[0] == sum(range(20000))


def test_eval_await_with_a_timeout(mgr):
    seq, x = long_work(mgr)
    seq.eval_async()
    assert seq.is_running()
    try:
        seq.eval_await(0)
    except TimeoutError:
        assert seq.is_running()
        seq.eval_await()
    assert not seq.is_running()
    assert x.data()[0] == sum(range(20000))


def test_context_managers(x):
    with kp.Manager() as mgr:
        tensor = mgr.tensor([1, 2])
        with mgr.sequence() as seq:
            seq.record(kp.OpSyncDevice([tensor])).eval()
            assert seq.is_init()
        assert not seq.is_init()
        assert mgr.is_init()
    assert not mgr.is_init()
    with pytest.raises(ZeroDivisionError), kp.Manager() as mgr:
        raise ZeroDivisionError
    assert not mgr.is_init()


# --- profiles


def test_a_profile_names_and_times_each_op(mgr, x, scale, tmp_path):
    if not mgr.device.timestamps:
        pytest.skip("no timestamps")
    seq = mgr.sequence(0, 3)
    with pytest.raises(kp.StateError):
        seq.profile()
    seq.record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(scale)).record(kp.OpSyncLocal([x])).eval()
    profile = seq.profile()
    ticks = seq.get_timestamps()
    assert [record.name for record in profile] == seq.op_names()
    assert [round(record.duration / mgr.device.timestamp_period) for record in profile] == list(np.diff(ticks))
    assert profile[0].start == 0 and profile.total == (ticks[-1] - ticks[0]) * mgr.device.timestamp_period
    lines = str(profile).splitlines()
    assert lines[0].split() == ["op", "start", "us", "us", "%"] and len(lines) == 4
    assert lines[2].startswith("dispatch 'scale'")
    profile.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == seq.op_names()
    assert all(event["ph"] == "X" for event in events)
    seq.record(kp.OpSyncLocal([x]))
    assert seq.get_timestamps() == ticks  # of other ops
    with pytest.raises(kp.StateError, match="was not evaluated since it was recorded or cleared"):
        seq.profile()
    assert len(seq.eval().profile()) == 1
    with pytest.raises(kp.StateError, match="was not evaluated since it was recorded or cleared"):
        seq.clear().profile()
    gone = mgr.tensor([1])
    seq.eval(kp.OpSyncLocal([gone]))
    gone.destroy()
    for call in (seq.eval, seq.get_timestamps, seq.profile):  # of the evaluation that failed there are none
        with pytest.raises(kp.StateError):
            call()
    with pytest.raises(kp.StateError):
        mgr.sequence().record(kp.OpSyncLocal([x])).eval().profile()
