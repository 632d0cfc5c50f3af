"""Where a whole number is wanted, a bool is none, nor is a float or what does not fit; NumPy's integers are."""

import logging

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, f32

SPEC = "def k(i: Index, x: Array[i32], n: Const[i32]):\n    x[i] = n\n"


def twice(i: Index, x: Array[f32]):
    x[i] = x[i] * 2.0


# What is called with the number in its place, and the words that the refusal starts with.
PLACES = {
    "family": (lambda mgr, n: kp.Manager(0, [n]), "family_queue_indices: must be a whole number"),
    "device": (lambda mgr, n: kp.Manager(n), "device: must be an index"),
    "queue": (lambda mgr, n: mgr.sequence(n), "queue_index: must be a whole number"),
    "timestamps": (lambda mgr, n: mgr.sequence(0, n), "total_timestamps: must be a whole number"),
    "named queue": (lambda mgr, n: mgr.create_sequence("s", n), "queueIndex: must be a whole number"),
    "width": (lambda mgr, n: mgr.image([0.0], n, 1, 1), "width: must be a whole number"),
    "height": (lambda mgr, n: mgr.image([0.0], 1, n, 1), "height: must be a whole number"),
    "channels": (lambda mgr, n: mgr.image([0.0], 1, 1, n), "num_channels: must be a whole number"),
    "depth": (lambda mgr, n: mgr.image([0.0], 1, 1, 1, depth=n), "depth: must be a whole number"),
    "shape": (lambda mgr, n: mgr.zeros(n), "shape: must be a whole number"),
    "axis": (lambda mgr, n: mgr.empty((2, n)), "shape: must be a whole number"),
    "reshape": (lambda mgr, n: mgr.zeros(6).reshape(-1, n), "shape: must be a whole number"),
    "memory type": (lambda mgr, n: mgr.tensor([1.0], n), "memory type: must be one of kp.MemoryTypes"),
    "workgroup": (lambda mgr, n: mgr.algorithm([mgr.zeros(1)], twice_spirv(), n), "workgroup: must be up to three"),
    "workgroups": (lambda mgr, n: mgr.algorithm([mgr.zeros(1)], twice_spirv(), (1, n)), "workgroup: must be up to three"),
    "extent": (lambda mgr, n: mgr.algorithm([mgr.zeros(1)], twice_spirv(), extent=n), "extent: must be up to three"),
    "call's extent": (lambda mgr, n: kp.kernel(twice)(mgr.zeros(4), extent=n), "extent: must be one to three whole numbers"),
    "call's brackets": (lambda mgr, n: kp.kernel(twice)[n](mgr.zeros(4)), "extent: must be one to three whole numbers"),
    "emulated extent": (lambda mgr, n: kp.emulate(twice, np.zeros(4, "f"), extent=n), "extent: must be one to three whole"),
    "emulated subgroup": (
        lambda mgr, n: kp.emulate(twice, np.zeros(4, "f"), subgroup_size=n),
        "subgroup_size: must be a number from 1 up",
    ),
    "timeout": (lambda mgr, n: mgr.sequence().eval_async().eval_await(n), "timeout: must be nanoseconds, a whole number"),
    "semaphore": (lambda mgr, n: mgr.semaphore(n), "value: must be a whole number"),
    "fd": (lambda mgr, n: mgr.import_semaphore(n), "fd: must be a whole number"),
    "offset": (
        lambda mgr, n: kp.OpAlgoDispatchIndirect(kp.kernel(twice).algorithm(mgr, [mgr.zeros(1)]), mgr.zeros(3, "u4"), n),
        "offset: must be a whole number",
    ),
    "region": (lambda mgr, n: kp.OpCopyRegion(mgr.image([0.0], 1, 1, 1), mgr.zeros(1), (0, n)), "source_offset: must be up to"),
    "line": (lambda mgr, n: kp.compile(SPEC, first_line=n), "first_line: must be a whole number"),
    "subgroup": (lambda mgr, n: kp.compile(SPEC, subgroup_size=n), "subgroup_size: must be a whole number"),
    "local size": (lambda mgr, n: kp.compile(SPEC, local_size=n), "local_size: must be up to three whole numbers"),
    "extensions": (lambda mgr, n: kp.device_extensions(n), "index: must be a whole number"),
    "version": (lambda mgr, n: kp.Manager.from_vulkan(**(mgr.vulkan() | {"api_version": n})), "api_version: must be a whole"),
    "handle": (lambda mgr, n: kp.Manager.from_vulkan(**(mgr.vulkan() | {"device": n})), "device: must be a whole number"),
    "log level": (lambda mgr, n: set_log_level(n), "log level: must be a whole number"),
}  # fmt: skip


def twice_spirv():
    return kp.kernel(twice).program


def set_log_level(level):
    before = logging.getLogger("kp").level
    try:
        kp.log_level(level)
    finally:
        logging.getLogger("kp").setLevel(before)


@pytest.mark.parametrize("place", PLACES)
def test_a_bool_or_a_float_is_no_whole_number(mgr, place):
    call, words = PLACES[place]
    for wrong in (True, False, np.True_, 1.0, np.float32(1)):
        with pytest.raises((TypeError, ValueError), match=f"^({words})"):
            call(mgr, wrong)


@pytest.mark.parametrize("place", PLACES)
def test_what_does_not_fit_is_a_value_error(mgr, place):
    for wrong in (-(2**80), 2**80):
        with pytest.raises((ValueError, IndexError)) as caught:
            PLACES[place][0](mgr, wrong)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [{2, 3}, frozenset([2]), {2: 3}, "23", b"23", bytearray(b"23"), None, 2.0, object()], ids=repr
)
def test_what_has_no_order_is_no_shape_and_no_launch(mgr, wrong):
    x = mgr.zeros(4)
    for make in (mgr.zeros, mgr.empty, lambda shape: mgr.full(shape, 1.0), mgr.exportable):
        with pytest.raises(TypeError, match=f"shape: must be a whole number or a tuple of some, not {type(wrong)}"):
            make(wrong)
    if wrong is not None:
        for name in ("workgroup", "extent"):
            with pytest.raises(TypeError, match=f"^{name}: must be up to three whole numbers"):
                mgr.algorithm([x], twice_spirv(), **{name: wrong})


def test_numpys_integers_are_whole_numbers(mgr):
    two = np.uint8(2)
    assert mgr.zeros((two, np.int64(3))).shape == (2, 3)
    assert mgr.zeros(np.int16(6)).reshape(np.int32(-1), two).shape == (3, 2)
    x = mgr.zeros(np.uint64(4))
    x.data()[:] = [1, 2, 3, 4]
    mgr.sequence().eval(kp.OpSyncDevice([x]))
    kp.kernel(twice)(x, extent=two)
    mgr.sequence().eval(kp.OpSyncLocal([x]))
    assert list(x.data()) == [2, 4, 3, 4]
    mgr.sequence(np.int8(0), np.uint32(1)).eval_async().eval_await(np.uint64(2**64 - 1))
    assert mgr.semaphore(np.int64(7)).value == 7
    assert mgr.tensor([1.0], kp.MemoryTypes.host).memory_type() == kp.MemoryTypes.host
    assert kp.Manager(np.int64(0)).device.index == 0


def test_specialization_constants_go_by_numpys_integers_and_no_bools(mgr):
    program, x = kp.compile(SPEC), mgr.zeros(2, "int32")
    run = mgr.algorithm([x], program, spec_consts={np.int64(0): 5})
    mgr.sequence().record(kp.OpAlgoDispatch(run)).record(kp.OpSyncLocal([x])).eval()
    assert list(x.data()) == [5, 5]
    for key in (False, True, 0.0, -1, 2**32):
        with pytest.raises(ValueError, match="there is no "):
            mgr.algorithm([x], program, spec_consts={key: 5})
