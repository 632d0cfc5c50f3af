"""What the tests of the scalar types share: the types, values at their edges, and a launch that a device may refuse.

out = launch({"i8"}, text, a, b, out_array)      # None: refused, in the right words, by a device that lacks a type
"""

import functools
import math
import re

import kp
import numpy as np
import pytest
from kernel_check import validate

INTS = {name: np.dtype(name.replace("i", "int")) for name in ("i8", "i16", "i32", "i64")}
INTS |= {name: np.dtype(name.replace("u", "uint")) for name in ("u8", "u16", "u32", "u64")}
FLOATS = {name: np.dtype(name.replace("f", "float")) for name in ("f16", "f32", "f64")}
TYPES = {**INTS, **FLOATS, "bool": np.dtype(bool)}
VECTORS = {"f16": "hvec", "f32": "vec", "f64": "dvec", "i32": "ivec", "u32": "uvec", "bool": "bvec"}
VECTORS |= {name: f"{name}vec" for name in ("i8", "i16", "i64", "u8", "u16", "u64")}

# The features that a type may need, of which a device may lack any.
NEEDS = {
    "i8": "shaderInt8|storageBuffer8BitAccess|storagePushConstant8",
    "i16": "shaderInt16|storageBuffer16BitAccess|storagePushConstant16",
    "i64": "shaderInt64",
    "f16": "shaderFloat16|storageBuffer16BitAccess|storagePushConstant16",
    "f64": "shaderFloat64",
    "bool": "storageBuffer8BitAccess",
    "i32": "",
    "f32": "",
}
NEEDS |= {name.replace("i", "u"): needs for name, needs in NEEDS.items() if name.startswith("i")}


@functools.cache
def device():
    """The device's name."""
    manager = kp.Manager()
    name = manager.get_device_properties()["device_name"]
    manager.destroy()
    return name


def wrap(name, value):
    """An integer as the type keeps it."""
    info = np.iinfo(INTS[name])
    return (int(value) - int(info.min)) % (int(info.max) - int(info.min) + 1) + int(info.min)


def edges(name):
    """Numbers of an integer type, its ends among them."""
    info = np.iinfo(INTS[name])
    low, high = int(info.min), int(info.max)
    near = [0, 1, -1, 2, -2, 3, -3, 5, 7, -7, 10, -10, 100, low, low + 1, high, high - 1, high // 2, high // 3 + 1]
    far = [255, 65535, -65536, 2**24 + 1, 2**31 - 1, -(2**31), 2**31, 3 * 10**9, 123456789, 2**40 + 7, -(2**53) - 1]
    return [x for x in dict.fromkeys(near + far) if low <= x <= high]


def floats(name):
    """Numbers of a float type, without subnormal ones, which a device may take for zeros."""
    info = np.finfo(FLOATS[name])
    some = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 3.0, -7.0, 0.1, -0.1, 1e-3, 100.0, 2047.0, -2049.0]
    return [*some, float(info.max), -float(info.max), float(info.tiny), float(info.tiny) * 4, float(info.max) / 3]


def edge_values(name, special=True):
    """An array of the edges of any type."""
    if name == "bool":
        return np.array([False, True])
    if name in INTS:
        return np.array(edges(name), TYPES[name])
    return np.array(floats(name) + ([math.inf, -math.inf, math.nan] if special else []), TYPES[name])


def pairs(left, right):
    """All pairs of the elements of two arrays, as two arrays."""
    return np.repeat(left, len(right)), np.tile(right, len(left))


def launch(types, text, *arguments, extent=None):
    """Runs the kernel `k` of a text on copies of the arrays, and gives them; None when the device lacks one of the types."""
    kernel = kp.kernel_from_source(text, name="k")
    validate(kernel.spirv())
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    needs = [NEEDS[name] for name in types if NEEDS[name]]
    try:
        kernel(*copies, extent=extent)
    except kp.UnsupportedError as error:
        assert needs and "llvmpipe" not in device(), error
        words = (
            rf"algorithm 'k': {re.escape(device())} lacks ({'|'.join(needs)}), which the module's capability \w+ needs"
        )
        assert re.fullmatch(words, str(error)), error
        return None
    assert not needs or "SwiftShader" not in device(), "SwiftShader lacks these types, so it must have been refused"
    return [a for a in copies if isinstance(a, np.ndarray)]


def check_equal(got, wanted, what, near=None):
    """Bit for bit, but NaN like NaN; `near`: floats that may differ by that absolute error, an array."""
    same = (got == wanted) | ((got != got) & (wanted != wanted))
    if got.dtype.kind == "f":
        same &= (np.signbit(got) == np.signbit(wanted)) | (got != got)
    if near is not None:
        with np.errstate(all="ignore"):
            same |= np.abs(got.astype(np.float64) - wanted.astype(np.float64)) <= near
    if not same.all():
        at = np.argwhere(~same)[:6].reshape(-1)
        rows = "; ".join(f"[{n}] {got[n]!r}, wanted {wanted[n]!r}" for n in at)
        pytest.fail(f"{what}: {np.count_nonzero(~same)} of {same.size} differ: {rows}")
