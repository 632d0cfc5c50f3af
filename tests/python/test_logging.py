"""kp's log is logging.getLogger("kp")."""

import logging
import sys

import kp
import pytest


@pytest.fixture
def logger():
    logger = logging.getLogger("kp")
    level = logger.level
    yield logger
    logger.setLevel(level)
    kp.devices()  # the library takes the level when work is made


def test_debug_messages_come_when_the_logger_wants_them(logger, caplog):
    logger.setLevel(logging.DEBUG)
    manager = kp.Manager()
    levels = {record.levelno for record in caplog.records if record.name == "kp"}
    assert logging.DEBUG in levels
    assert any(manager.device.name in record.getMessage() for record in caplog.records), "which device was chosen"
    caplog.clear()
    logger.setLevel(logging.WARNING)
    kp.Manager()
    assert not [record for record in caplog.records if record.levelno < logging.WARNING]


def test_the_root_loggers_level_counts(logger, caplog):
    logger.setLevel(logging.NOTSET)
    with caplog.at_level(logging.DEBUG):
        kp.Manager()
    assert [record for record in caplog.records if record.name == "kp"]


@pytest.mark.parametrize(
    ("given", "level"), [(0, 1), (1, 10), (2, 20), (3, 30), (4, 40), (5, 50), (6, 100), (10, 10), (35, 35)]
)
def test_log_level(logger, given, level):
    assert kp.log_level(given) is None
    assert logger.level == level


def test_log_levels_that_are_none(logger):
    for level in (-1, 5000):
        with pytest.raises(ValueError, match=rf"^log level {level}: must be 0"):
            kp.log_level(level)
    with pytest.raises(TypeError):
        kp.log_level("debug")


def test_a_layer_that_is_missing_is_one_warning(python):
    code = """
import logging, kp
class Handler(logging.Handler):
    def emit(self, record):
        if "not installed" in record.getMessage():
            print(record.levelname, record.name)
logging.getLogger("kp").addHandler(Handler())
kp.Manager(validation=True)
"""
    env = {"VK_LAYER_PATH": "/nonexistent", "XDG_DATA_DIRS": "/nonexistent", "VK_ADD_LAYER_PATH": ""}
    assert python(code, env=env) == "WARNING kp\n"


def test_silent_without_handlers(python):
    assert python("import kp; kp.Manager(); kp.devices()") == ""


def test_a_handler_that_fails_is_reported_and_no_more(python):
    code = """
import logging, sys, kp
class Handler(logging.Handler):
    def emit(self, record):
        raise ZeroDivisionError("in a handler")
logging.getLogger("kp").addHandler(Handler())
logging.getLogger("kp").setLevel(1)
seen = []
sys.unraisablehook = lambda args: seen.append(args.exc_type)
mgr = kp.Manager()
print(mgr.is_init(), set(seen) == {ZeroDivisionError})
"""
    assert python(code) == "True True\n"


def test_a_handler_may_use_kp(python):
    code = """
import logging, kp
class Handler(logging.Handler):
    def emit(self, record):
        kp.Tensor([1]).data()
logging.getLogger("kp").addHandler(Handler())
logging.getLogger("kp").setLevel(1)
print(kp.Manager().is_init())
"""
    assert python(code) == "True\n"


THREADS = """
import logging, threading
import kp
kp.log_level(10)
outer = threading.RLock()  # of the program's own: held while it calls kp, and wanted by its handler
lines, printed, failures = [], [], []
class Handler(logging.Handler):
    def emit(self, record):
        with outer:
            lines.append(record.getMessage())
class Out:
    def write(self, text):
        with outer:
            printed.extend(text.splitlines())
    def flush(self):
        pass
logging.getLogger("kp").addHandler(Handler())
program = kp.compile("def k(i: Index, n: i32, x: Array[f32]):\\n    print('at', i, n)\\n    x[i] = f32(n)\\n")
def work(k):
    try:
        for turn in range(3):
            mgr = kp.Manager(label=f"manager {k}")
            x = mgr.zeros(2)
            algorithm = mgr.algorithm([x], program, push_consts={"n": k})
            seq = mgr.sequence().record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([x]))
            if (k + turn) % 2 == 0:
                with outer:
                    algorithm.bind([x])
                    seq.eval()
            else:
                seq.eval()
            assert list(x.data()) == [k, k]
    except BaseException as error:
        failures.append(error)
import sys
console, sys.stdout = sys.stdout, Out()
threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.stdout = console
made = [line for line in lines if line.startswith("manager 'manager")]
print(failures, len(made), sorted(printed) == sorted(f"at {i} {k}" for k in range(6) for i in range(2) for _ in range(3)))
"""


def test_threads_log_and_print_at_once_and_none_waits_for_ever(python):
    assert python(THREADS) == "[] 18 True\n"


SUB_INTERPRETER = """
import logging
import sys
import _xxsubinterpreters as interpreters
import kp
lines = []
handler = logging.Handler()
handler.emit = lambda record: lines.append(record.getMessage())
logging.getLogger("kp").addHandler(handler)
kp.log_level(10)
# One that shares the GIL: from 3.12 on there are others, and modules say themselves whether they bear those.
sub = interpreters.create(isolated=False) if sys.version_info >= (3, 12) else interpreters.create()
interpreters.run_string(sub, "import kp; kp.log_level(10); print(kp.Manager().tensor([1, 2]))")
interpreters.destroy(sub)
before = len(lines)
kp.Manager()
print(len(lines) > before)
"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the module for sub-interpreters has another name")
def test_a_sub_interpreter_that_ends_leaves_the_log_on(python):
    assert python(SUB_INTERPRETER).split("\n")[-2] == "True"
