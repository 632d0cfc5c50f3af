"""What waits for the device sees to signals meanwhile, so that Ctrl-C ends it."""

import contextlib
import signal
import threading

import kp
import pytest


class Alarm(Exception):
    pass


@contextlib.contextmanager
def alarm(go, value):
    """Raises in the main thread in a moment, and signals `go` if nothing came of that for long."""

    def ring(*_):
        raise Alarm

    late = threading.Timer(30, go.signal, (value,))
    before = signal.signal(signal.SIGALRM, ring)
    late.start()
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Alarm):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        late.cancel()
    assert go.value < value


def test_a_signal_ends_a_wait(mgr):
    go, x = mgr.semaphore(), kp.Tensor([1, 2, 0])
    mgr.eval_tensor_create_def([x])
    held = mgr.sequence().record(kp.OpMult([x, x, x])).record(kp.OpSyncLocal([x])).submit(waits=[(go, 1)])
    for wait in (lambda: go.wait(1), lambda: go.wait(1, 10**18), held.eval_await, lambda: held.eval_await(10**18)):
        with alarm(go, 1):
            wait()
    assert held.is_running()
    behind = mgr.sequence().record(kp.OpMult([x, x, x])).record(kp.OpSyncLocal([x]))
    with alarm(go, 1):
        behind.eval()
    assert behind.is_running()  # it was submitted
    mgr.eval_async_algo_mult_def([x, x, x])
    mgr.eval_async_tensor_sync_local_def([x])
    with alarm(go, 1):
        mgr.eval_await_def()
    go.signal(1)
    held.eval_await()
    behind.eval_await()
    mgr.eval_await_def()
    assert x.data() == [1, 256, 0]
    behind.eval()
    assert x.data() == [1, 65536, 0]


def test_a_handler_finds_the_sequence_in_use(mgr):
    go, x, answers = mgr.semaphore(), mgr.tensor([1, 2, 3]), []
    held = mgr.sequence().record(kp.OpSyncDevice([x])).submit(waits=[(go, 1)])

    def handler(*_):
        for call in (held.eval, held.eval_await, held.destroy, held.clear):
            with pytest.raises(kp.StateError, match="in use by another thread, or awaited"):
                call()
        answers.append(held.is_running())
        go.signal(1)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        held.eval_await()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert answers == [True]


def test_a_long_timeout_is_kept(mgr):
    go = mgr.semaphore()
    held = mgr.sequence().submit(waits=[(go, 1)])
    for wait in (lambda: go.wait(1, 250_000_000), lambda: held.eval_await(250_000_000)):
        with pytest.raises(TimeoutError, match="not done within 250000000 ns"):
            wait()
    go.signal(1)
    held.eval_await(10**12)
