"""What all tests share: a manager, SPIR-V that does not come from our compiler, subprocesses, and the rule that a log record
at ERROR, or one of the validation layer, fails the test."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import hypothesis
import kp
import pytest

os.environ.setdefault("KP_CACHE_DIR", "")  # tests leave nothing behind
hypothesis.settings.register_profile("kp", deadline=None)  # a driver may compile in the middle of an example
hypothesis.settings.load_profile("kp")

ROOT = Path(__file__).parents[2]

# Kernels that the tests of the runtime use.
KERNELS = """
def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):
    out[i] = a[i] * b[i]

def saxpy(i: Index, a: f32, x: Array[f32], y: Array[f32]):
    y[i] = a * x[i] + y[i]

def add_one(i: Index, data: Array[f32]):
    data[i] = data[i] + 1.0

def count(i: Index, data: Array[i32], steps: i32):
    total = 0
    for k in range(steps):
        total = total + (k ^ data[i])
    data[i] = total
"""


class Faults(logging.Handler):
    """Records that must not be."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        line = record.getMessage()
        if record.levelno >= logging.ERROR or line.startswith("validation:"):
            self.lines.append(line)


@pytest.fixture(autouse=True)
def no_faults():
    """Fails a test that left an error or a validation message in the log. A test that provokes one clears `lines`."""
    handler = Faults()
    logger = logging.getLogger("kp")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)
    assert not handler.lines, "\n".join(handler.lines)


@pytest.fixture
def mgr():
    manager = kp.Manager()
    yield manager
    manager.destroy()


@pytest.fixture(scope="session")
def programs():
    """Compiled kernels by name."""
    return {name: kp.compile(KERNELS, kernel=name) for name in ("multiply", "saxpy", "add_one", "count")}


@pytest.fixture(scope="session")
def spirv(programs):
    """The same as bytes."""
    return {name: program.spirv for name, program in programs.items()}


@pytest.fixture
def python():
    """Runs a program in a fresh interpreter; gives its output. A crash, or anything that it says on stderr, fails."""

    def run(code, *args, env=None, check=True, cwd=None):
        done = subprocess.run(
            [sys.executable, "-c", code, *args],
            capture_output=True,
            text=True,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            timeout=120,
        )
        if check:
            assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
            assert done.stderr == "", done.stderr
        return done.stdout

    return run
