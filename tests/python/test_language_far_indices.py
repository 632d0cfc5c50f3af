"""Indices far outside of a buffer, worked out at run time: nothing outside of the tensor is read or written, whatever a driver makes
of an offset that 32 bits do not hold. Just outside, and with atomics, nothing happens at all.
"""

import kp
import numpy as np
import pytest
from typekit import NEEDS, TYPES, VECTORS, device

COUNT = 24  # elements of each tensor
# Type of the element: type of its numbers, how many.
ELEMENTS = {"u8": ("u8", 1), "bool": ("bool", 1), "u8vec3": ("u8", 3), "f16": ("f16", 1), "hvec3": ("f16", 3)}
ELEMENTS |= {"i32": ("i32", 1), "f32": ("f32", 1), "vec2": ("f32", 2), "vec3": ("f32", 3), "vec4": ("f32", 4)}
ELEMENTS |= {
    "i64": ("i64", 1),
    "f64": ("f64", 1),
    "u64vec2": ("u64", 2),
    "dvec4": ("f64", 4),
    "Array(5, i32)": ("i32", 5),
}
KINDS = ["i32", "u32", "i64"]  # of the index


def size_of(element):
    scalar, width = ELEMENTS[element]
    return TYPES[scalar].itemsize * width


def far(element, kind):
    """Indices whose offsets in bytes, or whose own bits, are near a power of two from 2^31 on, and the least ones."""
    info = np.iinfo(TYPES[kind])
    middles = [2**power // size for power in (31, 32, 33, 34) for size in (1, size_of(element))]
    middles += [2**30, 2**29, info.max, info.min, 0]
    near = {m + d for m in middles for d in (-9, -1, 0, 1, 2, 7)}
    return np.array(sorted(j for j in near if info.min <= j <= info.max and not 0 <= j < COUNT), TYPES[kind])


def near(kind):
    """Indices just outside."""
    below = range(-40, 0) if kind != "u32" else range(2**32 - 40, 2**32)
    return np.array([*below, *range(COUNT, COUNT + 40)], TYPES[kind])


def filled(mgr, element, value):
    scalar, width = ELEMENTS[element]
    return mgr.tensor_t(np.full((COUNT, width) if width > 1 else COUNT, value, TYPES[scalar]))


class Neighbours:
    """Three tensors that lie side by side; the middle one is bound."""

    def __init__(self, mgr, element, value):
        self.tensors = [filled(mgr, element, v) for v in (1, value, 1)]
        self.middle = self.tensors[1]
        mgr.sequence().record(kp.OpSyncDevice(self.tensors)).eval()

    def run(self, mgr, text, bound, extent):
        """Launches, brings all back, and looks at the neighbours."""
        algorithm = kp.kernel_from_source(text).algorithm(mgr, bound, extent=extent)
        everything = [*self.tensors, *bound]
        mgr.sequence().record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal(everything)).eval()
        for neighbour in (self.tensors[0], self.tensors[2]):
            assert (neighbour.data() == 1).all(), "a neighbour was written to"


def kernels(element, kind):
    """A store to far[j], and a load from there."""
    scalar, width = ELEMENTS[element]
    array, one = element.startswith("Array"), "True" if scalar == "bool" else "1"
    value = one if width == 1 else f"{VECTORS[scalar]}{width}({one})" if not array else one
    head = f"def k(i: Index, x: Array[{element}], j: Array[{kind}]"
    store = f"{head}):\n    x[j[i]]{'[2]' if array else ''} = {value}\n"
    result = "i32" if array else element
    load = f"{head}, out: Array[{result}]):\n    out[i] = x[j[i]]{'[2]' if array else ''}\n"
    return store, load


def lacks(mgr, element, kind):
    """True where the device refuses the types, which it says in the right words."""
    if not any(NEEDS[name] for name in (ELEMENTS[element][0], kind)):
        return False
    tensors = [filled(mgr, element, 0), mgr.tensor_t(far(element, kind))]
    try:
        kp.kernel_from_source(kernels(element, kind)[0]).algorithm(mgr, tensors, extent=1)
    except kp.UnsupportedError as error:
        assert "llvmpipe" not in device()
        assert " lacks " in str(error)
        return True
    assert "SwiftShader" not in device(), "SwiftShader lacks these types, so it must have been refused"
    return False


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("element", ELEMENTS)
def test_loads_and_stores_stay_in_their_tensor(mgr, element, kind):
    if lacks(mgr, element, kind):
        return
    store, load = kernels(element, kind)
    scalar, width = ELEMENTS[element]
    for indices, nothing in ((far(element, kind), False), (near(kind), True)):
        j = mgr.tensor_t(indices)
        mgr.sequence().record(kp.OpSyncDevice([j])).eval()
        around = Neighbours(mgr, element, 0)
        around.run(mgr, store, [around.middle, j], len(indices))
        if nothing:
            assert not around.middle.data().any()
        around = Neighbours(mgr, element, 0)  # only the neighbours have anything but zeros
        width = 1 if element.startswith("Array") else width
        shape = (len(indices), width) if width > 1 else len(indices)
        out = mgr.tensor_t(np.ones(shape, TYPES[scalar]))
        around.run(mgr, load, [around.middle, j, out], len(indices))
        assert not out.data().any(), "a neighbour was read"


@pytest.mark.parametrize("element", ["u32", "f32"])
@pytest.mark.parametrize("call", ["atomic_add(x, j[i], 5)", "atomic_exchange(x, j[i], 5)", "atomic_max(x, j[i], 5)"])
def test_atomics_do_nothing(mgr, element, call):
    indices = np.concatenate([far("f32", "i32"), near("i32")])
    x, j = mgr.tensor_t(np.full(COUNT, 3, TYPES[element])), mgr.tensor_t(indices)
    out = mgr.tensor_t(np.ones(len(indices), TYPES[element]))
    mgr.sequence().record(kp.OpSyncDevice([x, j, out])).eval()
    text = f"def k(i: Index, x: Array[{element}], j: Array[i32], out: Array[{element}]):\n    out[i] = {call}\n"
    algorithm = kp.kernel_from_source(text).algorithm(mgr, [x, j, out], extent=len(indices))
    mgr.sequence().record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([x, out])).eval()
    assert (x.data() == 3).all() and not out.data().any()


def test_a_part_of_a_tensor_stays_in_the_tensor(mgr):
    j = mgr.tensor_t(np.concatenate([far("f32", "i32"), near("i32")]))
    tensors = [mgr.tensor_t(np.full(200, v, np.float32)) for v in (1, 0, 1)]
    mgr.sequence().record(kp.OpSyncDevice([*tensors, j])).eval()
    text = "def k(i: Index, x: Array[f32], j: Array[i32]):\n    x[j[i]] = 7.0\n"
    algorithm = kp.kernel_from_source(text).algorithm(mgr, [tensors[1][64:80], j], extent=j.size())
    mgr.sequence().record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal(tensors)).eval()
    assert (tensors[0].data() == 1).all() and (tensors[2].data() == 1).all()


def test_views_with_axes_stay_in_their_tensor(mgr):
    """Indices whose row times the length of a row is more than 32 bits hold."""
    text = "def k(i: Index, x: Array[f32, 2], j: Array[i32], c: Array[i32]):\n    x[j[i], c[i]] = 7.0\n"
    some = np.array([-1, -(2**31), 2**31 - 1, 2**30, 2**28 + 1, 6, 4], np.int32)
    j, c = (mgr.tensor_t(np.ascontiguousarray(a.reshape(-1))) for a in np.meshgrid(some, some))
    tensors = [mgr.tensor_t(np.full((6, 4), v, np.float32)).reshape(6, 4) for v in (1, 0, 1)]
    mgr.sequence().record(kp.OpSyncDevice([*tensors, j, c])).eval()
    algorithm = kp.kernel_from_source(text).algorithm(mgr, [tensors[1], j, c], extent=some.size**2)
    mgr.sequence().record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal(tensors)).eval()
    assert (tensors[0].data() == 1).all() and (tensors[2].data() == 1).all()
