"""Random kernels, the same on the device as in CPython. KP_RANDOM_KERNELS sets how many; see kernelgen.py for what is in them."""

import os

import kernelgen
import numpy as np
import pytest
from kernel_check import compare, compile_text, outcome, run_on_device
from kp.emulate.launch import Emulation

COUNT = int(os.environ.get("KP_RANDOM_KERNELS", "250"))
GROUPS = 20
INDICES = 16


def check_seed(seed):
    # A few large ones among many small ones: small ones fail in a way that is easy to read.
    text = kernelgen.generate(seed, size=60 if seed % 10 == 9 else 14)
    kernel, args = Emulation(text), kernelgen.arguments(seed, INDICES)
    wanted = outcome(kernel, INDICES, args)
    run_on_device(compile_text(text), kernel, INDICES, args)
    for parameter, got, expected in zip([p for p in kernel.parameters if not p.is_input], args, wanted, strict=True):
        if hasattr(got, "dtype"):
            compare(
                got,
                expected,
                (lambda w: 2e-3 * np.abs(w) + 2e-3) if parameter.name == "out_r" else None,
                parameter.name,
            )


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_kernels(group):
    for seed in range(group, COUNT, GROUPS):
        try:
            check_seed(seed)
        except Exception as error:
            raise AssertionError(f"kernel {seed}:\n{kernelgen.generate(seed, 60 if seed % 10 == 9 else 14)}") from error
