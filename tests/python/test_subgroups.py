"""Subgroup operations, against NumPy over the lanes that the device itself reports."""

import kp
import numpy as np
import pytest
from kp.lang import (
    Array,
    Index,
    LocalIndex,
    i32,
    subgroup_all,
    subgroup_any,
    subgroup_ballot,
    subgroup_broadcast,
    subgroup_broadcast_first,
    subgroup_count,
    subgroup_elect,
    subgroup_id,
    subgroup_lane,
    subgroup_shuffle,
    subgroup_shuffle_down,
    subgroup_shuffle_up,
    subgroup_shuffle_xor,
    subgroup_size,
    u32,
    uvec4,
    vec2,
)

RANDOM = np.random.default_rng(5)
COUNT, LOCAL = 256, 128


@kp.kernel(local_size=128)
def lanes(i: Index, t: LocalIndex, out: Array[i32]):
    out[4 * i] = subgroup_size()
    out[4 * i + 1] = subgroup_lane()
    out[4 * i + 2] = subgroup_id()
    out[4 * i + 3] = subgroup_count()


def subgroups() -> list[np.ndarray]:
    """The indices of each subgroup, by lane."""
    out = np.zeros((COUNT, 4), dtype=np.int32)
    lanes(out, extent=COUNT)
    size = int(out[0, 0])
    assert (out[:, 0] == size).all()
    assert (out[:, 3] == LOCAL // size).all()
    number = np.arange(COUNT) // LOCAL * (LOCAL // size) + out[:, 2]
    found = [np.flatnonzero(number == k) for k in range(COUNT // size)]
    assert all(len(indices) == size for indices in found)
    return [indices[np.argsort(out[indices, 1])] for indices in found]


def device() -> "kp.Device":
    name = kp.Manager().get_device_properties()["device_name"]
    return next(device for device in kp.devices() if device.name == name)


def test_size_and_lanes():
    d = device()
    assert 1 <= d.min_subgroup_size <= d.subgroup_size <= d.max_subgroup_size
    for indices in subgroups():
        assert d.min_subgroup_size <= len(indices) <= d.max_subgroup_size


REDUCTIONS = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
IDENTITIES = {"add": 0, "mul": 1, "and": -1, "or": 0, "xor": 0}
REDUCE = """
def k(i: Index, x: Array[{t}], out: Array[{t}]):
    n = 3 * i
    out[n] = subgroup_{op}(x[i])
    out[n + 1] = subgroup_inclusive_{op}(x[i])
    out[n + 2] = subgroup_exclusive_{op}(x[i])
"""


@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions_and_scans(op):
    for t, dtype in (("i32", np.int32), ("u32", np.uint32), ("f32", np.float32)):
        if t == "f32" and op in ("and", "or", "xor"):
            continue
        if t == "f32":
            x = RANDOM.choice([-2, -1, 1, 2] if op == "mul" else np.arange(-50, 50), COUNT).astype(dtype)
        else:
            x = RANDOM.integers(0, 2**32, COUNT, dtype=np.uint64).astype(np.uint32).view(dtype)
        out = np.zeros((COUNT, 3), dtype=dtype)
        kp.kernel_from_source(REDUCE.format(t=t, op=op), local_size=LOCAL)(x, out, extent=COUNT)
        with np.errstate(over="ignore"):
            for indices in subgroups():
                scan = REDUCTIONS[op].accumulate(x[indices], dtype=dtype)
                assert np.array_equal(out[indices, 0], np.full(len(indices), scan[-1]))
                assert np.array_equal(out[indices, 1], scan)
                assert np.array_equal(out[indices[1:], 2], scan[:-1])
                if op in IDENTITIES:
                    assert out[indices[0], 2] == np.array(IDENTITIES[op]).astype(dtype)


def test_reductions_of_vectors_and_of_some_lanes():
    @kp.kernel(local_size=128)
    def k(i: Index, x: Array[vec2], out: Array[vec2]):
        out[i] = vec2(-1)
        if x[i].x > 0.0:
            out[i] = subgroup_shuffle(x[i], 0) if x[0].x > 1e9 else vec2(subgroup_max(x[i].y), subgroup_add(x[i].x))

    x = RANDOM.integers(-20, 20, (COUNT, 2)).astype(np.float32)
    out = np.zeros_like(x)
    k(x, out)
    for indices in subgroups():
        active = indices[x[indices, 0] > 0]
        assert (out[np.setdiff1d(indices, active)] == -1).all()
        if len(active):
            assert (out[active, 0] == x[active, 1].max()).all()
            assert (out[active, 1] == x[active, 0].sum()).all()


def test_reductions_of_other_types():
    for t, dtype in (("f64", np.float64), ("i64", np.int64), ("u8", np.uint8), ("f16", np.float16)):
        x = RANDOM.integers(0, 5, COUNT).astype(dtype)
        out = np.zeros((COUNT, 3), dtype=dtype)
        try:
            kp.kernel_from_source(REDUCE.format(t=t, op="add"), local_size=LOCAL)(x, out, extent=COUNT)
        except kp.UnsupportedError as error:
            assert any(word in str(error) for word in ("shader", "storageBuffer", "subgroup"))
            continue
        for indices in subgroups():
            scan = np.cumsum(x[indices], dtype=dtype)
            assert (out[indices, 0] == scan[-1]).all()
            assert np.array_equal(out[indices, 1], scan)


def test_votes():
    @kp.kernel(local_size=128)
    def k(i: Index, x: Array[i32], out: Array[i32], ballots: Array[uvec4], elected: Array[i32]):
        out[2 * i] = i32(subgroup_any(x[i] > 3))
        out[2 * i + 1] = i32(subgroup_all(x[i]))
        ballots[i] = subgroup_ballot(x[i] == 2)
        if subgroup_elect():
            elected[i] = 1

    x = RANDOM.integers(0, 5, COUNT).astype(np.int32)
    x[: LOCAL // 2] = RANDOM.integers(1, 3, LOCAL // 2)
    out, ballots = np.zeros((COUNT, 2), dtype=np.int32), np.zeros((COUNT, 4), dtype=np.uint32)
    elected = np.zeros(COUNT, dtype=np.int32)
    k(x, out, ballots, elected, extent=COUNT)
    for indices in subgroups():
        mine = x[indices]
        assert (out[indices, 0] == (mine > 3).any()).all()
        assert (out[indices, 1] == (mine != 0).all()).all()
        bits = sum(1 << lane for lane, value in enumerate(mine) if value == 2)
        words = [bits >> 32 * k & 0xFFFFFFFF for k in range(4)]
        assert (ballots[indices] == words).all()
        assert elected[indices].sum() == 1
        assert elected[indices[0]] == 1


def test_shuffles():
    @kp.kernel(local_size=128)
    def k(i: Index, x: Array[i32], lane: i32, out: Array[i32]):
        n = 8 * i
        size = subgroup_size()
        here = subgroup_lane()
        out[n] = subgroup_broadcast(x[i], 2)
        out[n + 1] = subgroup_broadcast(x[i], lane)
        out[n + 2] = subgroup_broadcast_first(x[i])
        out[n + 3] = subgroup_shuffle(x[i], size - 1 - here)
        out[n + 4] = subgroup_shuffle_xor(x[i], 1)
        up = subgroup_shuffle_up(x[i], 1)
        down = subgroup_shuffle_down(x[i], 2)
        out[n + 5] = up if here >= 1 else 0
        out[n + 6] = down if here + 2 < size else 0
        out[n + 7] = i32(subgroup_shuffle(x[i] > 0, 0))

    x = RANDOM.integers(-1000, 1000, COUNT).astype(np.int32)
    out = np.zeros((COUNT, 8), dtype=np.int32)
    k(x, 3, out, extent=COUNT)
    for indices in subgroups():
        mine, got = x[indices], out[indices]
        assert (got[:, 0] == mine[2]).all()
        assert (got[:, 1] == mine[3]).all()
        assert (got[:, 2] == mine[0]).all()
        assert np.array_equal(got[:, 3], mine[::-1])
        assert np.array_equal(got[:, 4], mine[np.arange(len(mine)) ^ 1])
        assert np.array_equal(got[:, 5], [0, *mine[:-1]])
        assert np.array_equal(got[:, 6], [*mine[2:], 0, 0])
        assert (got[:, 7] == (mine[0] > 0)).all()


SIZED = "def k(i: Index, out: Array[i32]):\n    out[i] = subgroup_size()\n"


def test_a_size_that_is_asked_for():
    d = device()
    out = np.zeros(2 * d.max_subgroup_size, dtype=np.int32)
    size = d.min_subgroup_size
    while size <= d.max_subgroup_size:
        k = kp.kernel_from_source(SIZED, local_size=2 * size, subgroup_size=size)
        assert k.program.subgroup_size == size
        out[:] = 0
        k(out[: 2 * size])
        assert (out[: 2 * size] == size).all()
        size *= 2
    asked = 2 * d.max_subgroup_size
    if asked <= 128:
        with pytest.raises(
            (kp.LimitError, kp.UnsupportedError), match=rf"subgroup size of {asked} .*\b{d.max_subgroup_size}\b"
        ):
            kp.kernel_from_source(SIZED, local_size=asked, subgroup_size=asked)(out)


def test_a_decorated_size():
    @kp.kernel(local_size=8, subgroup_size=64 if device().max_subgroup_size < 64 else 128)
    def k(i: Index, out: Array[u32]):
        out[i] = u32(subgroup_lane())

    assert k.program.subgroup_size in (64, 128)
    if device().max_subgroup_size < k.program.subgroup_size:
        with pytest.raises((kp.LimitError, kp.UnsupportedError), match="subgroup size of"):
            k(np.zeros(8, dtype=np.uint32))
