"""Loops that go up to 1 behind calculations that a driver calls a routine for: NVIDIA's compiler lost their last rounds."""

import functools

import numpy as np
import pytest
from typekit import launch

CALLS = {  # the types, and a number that is not one of the loops'
    "i64 division": ({"i64"}, "i32(i64(a[i]) // 7)"),
    "i64 remainder": ({"i64"}, "i32(i64(a[i]) % (i64(a[i + 1]) | 1)) + 100"),
    "u64 division": ({"u64"}, "i32(((u64(u32(a[i])) << 5) // 7) & 0xFFFF)"),
    "f64 division": ({"f64"}, "i32(f64(a[i]) / f64(a[i + 1]))"),
    "f64 square root": ({"f64"}, "i32(math.sqrt(f64(a[i])))"),
    "f32 to i64": ({"i64"}, "i32(i64(f32(a[i]) * 0.3))"),
    "f16 division": ({"f16"}, "i32(f16(a[i] & 1023) / f16(3))"),
    "no call": (set(), "a[i] // 7"),
}

LOOPS = {  # what runs for each number, at BODY
    "range": ("for j in range(-2, 1):\n    BODY", [-2, -1, 0]),
    "longer range": ("for j in range(-3, 1):\n    BODY", [-3, -2, -1, 0]),
    "range from a number": ("for j in range(lowest[0], 1):\n    BODY", [-2, -1, 0]),
    "range to a known number": ("stop = 1\nfor j in range(-2, stop):\n    BODY", [-2, -1, 0]),
    "empty range": ("for j in range(3, lowest[0] + 3):\n    BODY", []),
    "range by 2": ("for j in range(-4, 1, 2):\n    BODY", [-4, -2, 0]),
    "range down": ("for j in range(2, -1, -1):\n    BODY", [2, 1, 0]),
    "less": ("j = -2\nwhile j < 1:\n    BODY\n    j += 1", [-2, -1, 0]),
    "at most": ("j = -2\nwhile j <= 0:\n    BODY\n    j += 1", [-2, -1, 0]),
    "turned around": ("j = -2\nwhile not j > 0:\n    BODY\n    j += 1", [-2, -1, 0]),
    "known end": ("j = -2\nend = 1\nwhile j < end:\n    BODY\n    j += 1", [-2, -1, 0]),
    "chain": ("j = -2\nwhile -9 < j < 1:\n    BODY\n    j += 1", [-2, -1, 0]),
    "two ends": ("j = -4\nwhile j > -9 and j < 1:\n    BODY\n    j += 1", [-4, -3, -2, -1, 0]),
    "two ends, both looked at": ("j = -2\nwhile (j < 1) & (j > -9):\n    BODY\n    j += 1", [-2, -1, 0]),
    "two ends, one known": ("j = -2\nend = 1\nwhile -9 < j < end:\n    BODY\n    j += 1", [-2, -1, 0]),
    "variable": ("j = -2\ngo = True\nwhile go:\n    BODY\n    j += 1\n    go = j < 1", [-2, -1, 0]),
    "minimum": ("j = -2\nwhile min(j, 3) < 1:\n    BODY\n    j += 1", [-2, -1, 0]),
    "break": ("j = -2\nwhile True:\n    if j > 0:\n        break\n    BODY\n    j += 1", [-2, -1, 0]),
    "loop in a loop": ("for q in range(2):\n    for j in range(-2, 1):\n        BODY", [-2, -1, 0] * 2),
    "else": ("j = -2\nwhile j < 1:\n    BODY\n    j += 1\nelse:\n    j = 7\n    BODY", [-2, -1, 0, 7]),
    "continue": ("j = -3\nwhile j < 1:\n    j += 1\n    if j == -1:\n        continue\n    BODY", [-2, 0, 1]),
}

KERNEL = """
def k(i: Index, a: Array[i32], lowest: Array[i32], rounds: Array[i32], total: Array[i32]):
    m = {call}
{loop}
    a[i] = m
"""

BODY = "rounds[i] += 1 if a[i] != m else 100; total[i] = total[i] * 10 + j"


@pytest.mark.parametrize("call", CALLS)
def test_loops_keep_all_their_rounds(call):
    needs, number = CALLS[call]
    for name, (loop, numbers) in LOOPS.items():
        text = KERNEL.format(call=number, loop="    " + loop.replace("BODY", BODY).replace("\n", "\n    "))
        rounds, total = np.zeros(5, np.int32), np.zeros(5, np.int32)
        left = np.array([40, 53, 71, 94, 111, 3], np.int32)
        result = launch(needs, text, left, np.array([-2], np.int32), rounds, total, extent=5)
        if result is None:
            return  # refused: the device lacks a type
        _, _, rounds, total = result
        wanted = functools.reduce(lambda value, j: value * 10 + j, numbers, 0)
        assert rounds.tolist() == [len(numbers)] * 5, name
        assert total.tolist() == [wanted] * 5, name
