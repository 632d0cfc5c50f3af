"""Random sequences of calls, held against a model in NumPy: values where they are defined, the right errors, and nothing else.

The model knows two sides of each tensor (one where the device works on host memory), what each sequence has recorded, and
what is in flight. A side that nothing definite was written to is None. KP_STATE_MACHINE sets how many runs there are.
"""

import os

import kp
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

KERNELS = """
def add(i: Index, x: Array[i32], y: Array[i32], out: Array[i32]):
    out[i] = x[i] + y[i]

def scale(i: Index, x: Array[i32], k: i32):
    x[i] = x[i] * k
"""
INTS = st.integers(-(2**30), 2**30)
SIZES = st.sampled_from([2, 2, 70])
TYPES = st.sampled_from(["device", "device", "host", "storage", "deviceAndHost"])


class Tensor:
    def __init__(self, mgr, values, memory_type):
        self.kp = mgr.tensor_t(np.array(values, np.int32), getattr(kp.MemoryTypes, memory_type))
        self.storage = memory_type == "storage"
        # deviceAndHost may be either, and syncs say which values it has: the model leaves what it cannot know open.
        self.unsure = memory_type == "deviceAndHost"
        unified = mgr.device.unified and os.environ.get("KP_UNIFIED") != "0"
        self.shared = not self.storage and (unified or memory_type == "host")
        self.host = None if self.storage else np.array(values, np.int32)
        self.dev = self.host if self.shared else None
        self.size = len(values)
        self.alive = True

    def set_dev(self, values):
        self.dev = None if values is None else np.array(values, np.int32)
        if self.shared:
            self.host = self.dev
        elif self.unsure:
            self.host = None

    def set_host(self, values):
        self.host = None if values is None else np.array(values, np.int32)
        if self.shared:
            self.dev = self.host
        elif self.unsure:
            self.dev = None


class Op:
    """What is recorded: how kp has it, the tensors, and what it does to the model."""

    def __init__(self, op, tensors, run):
        self.op, self.tensors, self.run = op, tensors, run


class Algorithm:
    def __init__(self, algorithm, tensors, run):
        self.kp, self.tensors, self.run = algorithm, tensors, run
        self.alive = True


class Recorded:
    def __init__(self, mgr):
        self.kp = mgr.sequence()
        self.ops = []
        self.fresh = False  # the next op starts a new recording
        self.running = False


def add(x, y, out):
    known = x.dev is not None and y.dev is not None
    out.set_dev(x.dev + y.dev if known else None)


def scale(x, k):
    x.set_dev(None if x.dev is None else (x.dev.astype(np.int64) * k).astype(np.int32))


def copy(source, targets):
    for target in targets:
        if target is source:
            continue
        host = source.host if not (source.storage or target.storage or target.shared) else target.host
        target.set_dev(source.dev)
        if not target.storage and not target.shared:
            target.host = None if target.unsure or host is None else np.array(host, np.int32)


class Machine(RuleBasedStateMachine):
    tensors = Bundle("tensors")
    algorithms = Bundle("algorithms")
    sequences = Bundle("sequences")

    def __init__(self):
        super().__init__()
        self.mgr = kp.Manager()
        self.programs = {name: kp.compile(KERNELS, kernel=name) for name in ("add", "scale")}
        self.flying = []  # recorded sequences
        self.made = []

    def teardown(self):
        for recorded in self.flying:
            recorded.kp.eval_await()
        self.mgr.destroy()

    # ---- making ----

    @initialize(target=tensors)
    def first_tensors(self):
        self.made = [Tensor(self.mgr, [5 * k, 7], "device") for k in range(3)]
        return multiple(*self.made)

    @rule(target=tensors, size=SIZES, memory_type=TYPES, data=st.data())
    def tensor(self, size, memory_type, data):
        values = data.draw(INTS) + np.arange(size)
        tensor = Tensor(self.mgr, values, memory_type)
        self.made.append(tensor)
        return tensor

    @rule(target=sequences)
    def sequence(self):
        return Recorded(self.mgr)

    @rule(target=algorithms, x=tensors, y=tensors, out=tensors)
    def add_algorithm(self, x, y, out):
        used = [x, y, out]
        if not all(t.alive for t in used):
            with pytest.raises(kp.StateError):
                self.mgr.algorithm([t.kp for t in used], self.programs["add"])
            return multiple()
        if len({t.size for t in used}) != 1:
            return multiple()  # legal, but what is read behind the end is not defined
        made = self.mgr.algorithm([t.kp for t in used], self.programs["add"], extent=(x.size,))
        return Algorithm(made, used, lambda: add(x, y, out))

    @rule(target=algorithms, x=tensors, k=st.integers(-3, 3))
    def scale_algorithm(self, x, k):
        if not x.alive:
            return multiple()
        push = np.array([k], np.int32)
        made = self.mgr.algorithm([x.kp], self.programs["scale"], push_consts=push, extent=(x.size,))
        return Algorithm(made, [x], lambda: scale(x, k))

    # ---- host side ----

    @rule(tensor=tensors, data=st.data())
    def write(self, tensor, data):
        if self.flying or tensor.storage or not tensor.alive:
            return
        values = data.draw(INTS) - np.arange(tensor.size)
        tensor.kp.data()[:] = values
        tensor.set_host(values)

    @invariant()
    def values_agree(self):
        if self.flying:
            return
        for tensor in self.made:
            if tensor.alive and tensor.host is not None:
                assert tensor.kp.data().tolist() == tensor.host.tolist()

    # ---- recording ----

    def record(self, recorded, op):
        if recorded.running:
            with pytest.raises(kp.StateError):
                recorded.kp.record(op.op)
            return
        recorded.kp.record(op.op)
        if recorded.fresh:
            recorded.ops, recorded.fresh = [], False
        recorded.ops.append(op)

    @rule(recorded=sequences, algorithm=algorithms)
    def record_dispatch(self, recorded, algorithm):
        op = kp.OpAlgoDispatch(algorithm.kp)
        if not algorithm.alive or not all(t.alive for t in algorithm.tensors):
            with pytest.raises(kp.StateError):
                recorded.kp.record(op)
            return
        self.record(recorded, Op(op, [algorithm, *algorithm.tensors], algorithm.run))

    @rule(recorded=sequences, used=st.lists(tensors, min_size=1, max_size=3))
    def record_sync_device(self, recorded, used):
        self.record_sync(recorded, used, kp.OpSyncDevice, lambda t: None if t.shared else t.set_dev(t.host))

    @rule(recorded=sequences, used=st.lists(tensors, min_size=1, max_size=3))
    def record_sync_local(self, recorded, used):
        self.record_sync(recorded, used, kp.OpSyncLocal, lambda t: None if t.shared else t.set_host(t.dev))

    def record_sync(self, recorded, used, make, run):
        op = make([t.kp for t in used])
        if not all(t.alive and not t.storage for t in used):
            with pytest.raises(kp.StateError):
                recorded.kp.record(op)
            return
        self.record(recorded, Op(op, used, lambda: [run(t) for t in used]))

    @rule(recorded=sequences, used=st.lists(tensors, min_size=2, max_size=3))
    def record_copy(self, recorded, used):
        op = kp.OpCopy([t.kp for t in used])
        if not all(t.alive for t in used):
            with pytest.raises(kp.StateError):
                recorded.kp.record(op)
        elif len({t.size for t in used}) != 1:
            with pytest.raises((ValueError, kp.StateError)):
                recorded.kp.record(op)
        else:
            self.record(recorded, Op(op, used, lambda: copy(used[0], used[1:])))

    @rule(recorded=sequences, algorithm=algorithms)
    def record_round(self, recorded, algorithm):
        """Up, dispatch, down: what programs do."""
        with_host = [t for t in algorithm.tensors if not t.storage]
        if with_host:
            self.record_sync_device(recorded, with_host)
        self.record_dispatch(recorded, algorithm)
        if with_host:
            self.record_sync_local(recorded, with_host)

    @rule(recorded=sequences)
    def clear(self, recorded):
        if recorded.running:
            with pytest.raises(kp.StateError):
                recorded.kp.clear()
        else:
            recorded.kp.clear()
            recorded.ops, recorded.fresh = [], False

    # ---- running ----

    def runs(self, recorded, call):
        """Makes the call; True when it ran, False when it had to be refused, and was."""
        gone = any(not used.alive for op in recorded.ops for used in op.tensors)
        if gone or recorded.running:
            with pytest.raises(kp.StateError):
                call()
            recorded.fresh |= not recorded.running  # a recording ends with its evaluation, whatever comes of it
            return False
        call()
        recorded.fresh = True
        for op in recorded.ops:
            op.run()
        return True

    @rule(recorded=sequences)
    def evaluate(self, recorded):
        self.runs(recorded, recorded.kp.eval)

    @rule(algorithm=algorithms)
    def run_now(self, algorithm):
        recorded = Recorded(self.mgr)
        self.record_round(recorded, algorithm)
        self.evaluate(recorded)

    @rule(used=st.lists(tensors, min_size=2, max_size=3))
    def copy_now(self, used):
        recorded = Recorded(self.mgr)
        self.record_sync_device(recorded, used[:1])
        self.record_copy(recorded, used)
        self.record_sync_local(recorded, used[1:])
        self.evaluate(recorded)

    @rule(recorded=sequences)
    def evaluate_async(self, recorded):
        if self.runs(recorded, recorded.kp.eval_async):
            recorded.running = True
            self.flying.append(recorded)

    @rule(recorded=sequences)
    def wait(self, recorded):
        if not recorded.running:
            with pytest.raises(kp.StateError):
                recorded.kp.eval_await()
            return
        recorded.kp.eval_await()
        recorded.running = False
        self.flying.remove(recorded)

    # ---- destroying ----

    @rule(tensor=consumes(tensors))
    def destroy_tensor(self, tensor):
        tensor.kp.destroy()
        tensor.alive = False

    @rule(algorithm=consumes(algorithms))
    def destroy_algorithm(self, algorithm):
        algorithm.kp.destroy()
        algorithm.alive = False


RUNS = int(os.environ.get("KP_STATE_MACHINE", "30"))
TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=RUNS,
    stateful_step_count=50,
    derandomize=RUNS <= 30,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
