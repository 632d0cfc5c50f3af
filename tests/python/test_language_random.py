"""Random kernels, the same on the device as in CPython; see kernelgen.py for what is in them.

KP_RANDOM_KERNELS sets how many this process runs. Each configuration of the matrix (driver, unified memory) has seeds of its
own, so the four of CI run 2,000 different kernels. `make random` runs 100,000.
"""

import os

import kernelgen
import numpy as np
import pytest
from kernel_check import compare, compile_text, manager, outcome, run_on_device
from kp.emulate.launch import Emulation

COUNT = int(os.environ.get("KP_RANDOM_KERNELS", "500"))
GROUPS = 20
INDICES = 8


def is_swiftshader():
    """The driver that lacks types of 8, 16 and 64 bits."""
    return "SwiftShader" in manager().get_device_properties()["device_name"]


def first_seed():
    """Where this configuration's seeds start."""
    swiftshader = is_swiftshader()
    return COUNT * (2 * swiftshader + (os.environ.get("KP_UNIFIED") == "0"))


def text_of(seed):
    """A few large ones among many small ones: small ones fail in a way that is easy to read."""
    return kernelgen.generate(seed, 50 if seed % 25 == 24 else 7, every_type(seed))


def every_type(seed):
    """Half of the kernels have all integer types, where the device does."""
    return seed % 2 == 1 and not is_swiftshader()


def check_seed(seed):
    text = text_of(seed)
    kernel, args = Emulation(text), kernelgen.arguments(seed, INDICES)
    wanted = outcome(kernel, INDICES, args)
    run_on_device(compile_text(text), kernel, INDICES, args)
    for parameter, got, expected in zip([p for p in kernel.parameters if not p.is_input], args, wanted, strict=True):
        if hasattr(got, "dtype"):
            near = (lambda w: 2e-3 * np.abs(w) + 2e-3) if parameter.name == "out_r" else None
            compare(got, expected, near, parameter.name)


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_kernels(group):
    first = first_seed()
    for seed in range(first + group, first + COUNT, GROUPS):
        try:
            check_seed(seed)
        except Exception as error:
            raise AssertionError(f"kernel {seed}:\n{text_of(seed)}") from error
