"""Control flow of kernels: each kernel runs on the device and in CPython, over values that reach every way through it."""

import numpy as np
import pytest
from kernel_check import check

VALUES = list(range(-4, 12))


def test_branch_that_looks_like_a_boolean_keeps_its_break():
    check(
        """
        def k(i: Index, b: Array[i32]):
            r = 0
            for j in range(10):
                r = j
                if b[i] == 3:
                    if j == 4:
                        break
                if j == 7:
                    break
            b[i] = r
        """,
        VALUES,
    )


def test_break_under_or_of_conditions():
    check(
        """
        def k(i: Index, b: Array[i32]):
            r = 0
            for j in range(20):
                if j == b[i] or j == 9 and b[i] > 2:
                    break
                if j > 5 and b[i] < 0 or j > 15:
                    r += 100
                    break
                r += j
            b[i] = r
        """,
        VALUES,
    )


def test_continue_and_break_in_one_loop_ends():
    check(
        """
        def k(i: Index, b: Array[i32]):
            r = 0
            for j in range(10):
                if j % 2 == 0:
                    continue
                if j == b[i]:
                    break
                r += j
            b[i] = r
        """,
        VALUES,
    )


def test_loop_of_continues_only():
    check(
        """
        def k(i: Index, b: Array[i32]):
            for j in range(b[i]):
                continue
            while b[i] < 3:
                b[i] += 1
                continue
        """,
        VALUES,
    )


def test_break_in_inner_loop_leaves_the_outer_one_running():
    (b,) = check(
        """
        def k(i: Index, b: Array[i32]):
            r = 0
            for j in range(10):
                for k in range(10):
                    break
                r += 1
            b[i] = r
        """,
        [0],
    )
    assert b.tolist() == [10]


@pytest.mark.parametrize("breaks", [1, 2, 3, 4])
def test_several_breaks_in_one_while(breaks):
    lines = "".join(f"        if b[i] == {3 * n}:\n            break\n        j += {n + 1}\n" for n in range(breaks))
    check(f"def k(i: Index, b: Array[i32]):\n    j = 0\n    while j < 10:\n{lines}    b[i] = j\n", VALUES)


def test_breaks_in_nested_ifs():
    check(
        """
        def k(i: Index, b: Array[i32]):
            j = 0
            while j < 10:
                if b[i] > 3:
                    if b[i] == j:
                        break
                    elif b[i] > 5:
                        if b[i] > 8:
                            break
                        j += 2
                    else:
                        j += 1
                        if j > 6:
                            break
                j += 1
            b[i] = j
        """,
        VALUES,
    )


def test_self_assignment_around_and_in_a_loop():
    check(
        """
        def k(i: Index, v: Array[vec3]):
            t = v[i]
            t = t
            for j in range(3):
                t = t
            t = t
            v[i] = t
        """,
        np.arange(12, dtype=np.float32).reshape(4, 3),
    )


def test_break_on_data_in_a_loop_of_constant_or_runtime_length():
    check(
        """
        def k(i: Index, n: i32, a: Array[i32], b: Array[i32], c: Array[i32]):
            for j in range(10):
                b[i] += 1
                if j == a[i]:
                    break
            for j in range(n):
                c[i] += 1
                if j == a[i]:
                    break
        """,
        7,
        VALUES,
        np.zeros(16, np.int32),
        np.zeros(16, np.int32),
    )


def test_return_inside_loops_leaves_the_kernel():
    check(
        """
        def k(i: Index, b: Array[i32], first: Array[i32]):
            j = 0
            while True:
                j += 1
                if j > 10:
                    return
                for k in range(5):
                    first[i] += 1
                    if j * 5 + k == b[i]:
                        first[i] = 100 + j
                        return
            first[i] = -1
        """,
        [0, 7, 12, 33, 54, 55, 99, -3],
        np.zeros(8, np.int32),
    )


def test_statements_after_a_conditional_return_remain():
    check(
        """
        def k(i: Index, n: i32, b: Array[i32]):
            if i >= n:
                return
            b[i] *= 2
            if b[i] > 6:
                return
            b[i] += 100
        """,
        9,
        VALUES,
    )


def test_early_return_in_if_with_else():
    check(
        """
        def k(i: Index, b: Array[i32]):
            if b[i] <= 0:
                b[i] = 7
                return
            else:
                b[i] += 1
                if b[i] > 5:
                    return
                else:
                    b[i] *= 3
            b[i] -= 1
        """,
        VALUES,
    )


def test_same_names_in_a_constant_and_a_runtime_loop():
    check(
        """
        def k(i: Index, b: Array[i32]):
            for j in range(3):
                t = j
                b[i] += t
            for j in range(b[i] + 1):
                for t in range(3):
                    b[i] += t * j
        """,
        VALUES,
    )


@pytest.mark.parametrize(
    "bounds",
    ["5", "-5, 5", "3, 9", "9, 3", "0, 10, 3", "1, 10, 3", "10, 0, -1", "10, 0, -3", "10, -1, -1", "5, -5, -4", "0"]
    + ["b[i]", "b[i], 8", "-2, b[i], 2", "8, b[i], -1", "8, b[i], -3", "b[i], -b[i], -2", "0, 9, abs(b[i]) + 1"]
    + ["3, 3", "3, 4, 100", "3, 2, -100", "0, b[i], b[i] | 1", "0, -9, b[i] | 1"],
)
def test_range_of_any_start_and_step(bounds):
    check(
        f"""
        def k(i: Index, b: Array[i32], out: Array[i32]):
            last = -99
            for j in range({bounds}):
                if j == 2:
                    continue
                out[i] = out[i] * 3 + j
                last = j
            out[i] = out[i] * 7 + last
        """,
        VALUES,
        np.zeros(16, np.int32),
    )


def test_range_that_ends_at_the_edge_of_the_type():
    check(
        """
        def k(i: Index, b: Array[i32], u: Array[u32], m: u32):
            for j in range(2147483640, 2147483647):
                b[i] += 1
            for j in range(2147483640, 2147483647, 5):
                b[i] += 1
            for j in range(-2147483640, -2147483648, -1):
                b[i] += 1
            for j in range(-2147483640, -2147483648, -5):
                b[i] += 1
            for w in range(m, u32(4294967295)):
                u[i] += w
            for w in range(m, u32(4294967295), 3):
                u[i] += w
            for w in range(m, m - 8, -3):
                u[i] += w
            for w in range(u32(7), u32(0), -3):
                u[i] += w
        """,
        [0],
        np.zeros(1, np.uint32),
        4294967290,
    )


def test_range_evaluates_its_bounds_once():
    check(
        """
        def k(i: Index, b: Array[i32]):
            n = b[i]
            for j in range(n):
                n += 1
                b[i] += 1
            b[i] += n
        """,
        VALUES,
    )


def test_assigning_to_the_loop_variable_does_not_steer_the_loop():
    check(
        """
        def k(i: Index, b: Array[i32]):
            for j in range(6):
                j = j * 2
                if j == b[i]:
                    continue
                b[i] += j
                j = 100
        """,
        VALUES,
    )


def test_loop_variable_keeps_its_last_value():
    check(
        """
        def k(i: Index, b: Array[i32]):
            j = -7
            for j in range(b[i]):
                if j == 5:
                    break
            b[i] = j
        """,
        VALUES,
    )


def test_range_longer_than_2_to_the_30():
    check(
        """
        def k(i: Index, b: Array[i32]):
            n = 2**30 + 1
            for j in range(2**30 + 1):
                if j == 1000 + b[i]:
                    break
                n -= 1
            for j in range(2147483647, -2147483648, -1):
                if j == 2147483647 - 900:
                    break
                n -= 1
            for j in range(-2147483648, 2147483647):
                if j == -2147483648 + 900:
                    break
                n -= 1
            for j in range(-2147483648, 2147483647, 2147483647):
                n -= 1
            b[i] = n
        """,
        VALUES,
    )


def test_loops_that_go_backwards_with_empty_bodies():
    check(
        """
        def k(i: Index, b: Array[i32]):
            for j in range(b[i], -1, -1):
                for k in range(b[i], j, -1):
                    pass
                else:
                    b[i] += 0
            for j in range(b[i]):
                pass
            while False:
                pass
        """,
        VALUES,
    )


def test_while_else_and_for_else():
    check(
        """
        def k(i: Index, b: Array[i32], out: Array[i32]):
            j = 0
            while j < 6:
                if j == b[i]:
                    break
                j += 1
            else:
                out[i] += 1
            for j in range(b[i]):
                if j == 4:
                    break
                if j == 2:
                    continue
            else:
                out[i] += 10
            for j in range(2, b[i]):
                for m in range(2, j):
                    if j % m == 0:
                        break
                else:
                    out[i] += 100
                    continue
                out[i] += 10000
        """,
        VALUES,
        np.zeros(16, np.int32),
    )


def test_break_in_the_else_of_an_inner_loop_leaves_the_outer_one():
    check(
        """
        def k(i: Index, b: Array[i32]):
            r = 0
            for j in range(5):
                for m in range(3):
                    if b[i] == j * 3 + m:
                        break
                else:
                    r += 1
                    if j == 3:
                        break
                    continue
                r += 100
            b[i] = r
        """,
        VALUES,
    )


def test_every_way_out_of_three_nested_loops():
    check(
        """
        def k(i: Index, b: Array[i32], out: Array[i32]):
            for j in range(4):
                m = 0
                while m < 4:
                    m += 1
                    for n in range(4):
                        out[i] += 1
                        if n == 2 and b[i] % 2 == 0:
                            continue
                        if b[i] == n + 4:
                            break
                        if b[i] == j * m * n:
                            return
                        out[i] += 1000
                    if m == b[i] - 6:
                        break
                    if m + j == b[i]:
                        continue
                    out[i] += 100000
                if j == b[i]:
                    break
            out[i] = -out[i]
        """,
        VALUES,
        np.zeros(16, np.int32),
    )


def test_while_condition_with_short_circuit():
    check(
        """
        def k(i: Index, b: Array[i32], out: Array[i32]):
            j = 0
            while j < 16 and b[j] != i or j == 3:
                j += 1
            out[i] = j
        """,
        VALUES,
        np.zeros(16, np.int32),
    )


def test_dead_code_is_dead():
    check(
        """
        def k(i: Index, b: Array[i32]):
            for j in range(3):
                b[i] += j
                continue
                b[i] += 100
            while True:
                b[i] += 1
                break
                b[i] += 100
            if b[i] > 5:
                return
                b[i] += 100
            b[i] += 1000
            return
            b[i] += 100
        """,
        VALUES,
    )


def test_conditions_are_true_when_not_zero():
    check(
        """
        def k(i: Index, b: Array[i32], x: Array[f32], out: Array[i32]):
            if b[i]:
                out[i] += 1
            if x[i]:
                out[i] += 2
            if u32(b[i] & 1):
                out[i] += 4
            if not b[i]:
                out[i] += 8
            if b[i] and x[i]:
                out[i] += 16
            n = b[i] & 7
            while n:
                n -= 1
                out[i] += 32
        """,
        VALUES,
        np.array([0, 0.5, -0.0, np.nan, np.inf, 1e-30, -1, 0] * 2, np.float32),
        np.zeros(16, np.int32),
    )


def test_variables_assigned_in_branches():
    check(
        """
        def k(i: Index, b: Array[i32]):
            if b[i] < 0:
                t = 1
            elif b[i] < 3:
                t = 2
            elif b[i] == 7:
                return
            else:
                t = 3
            while True:
                s = t
                if s > 5:
                    break
                t += b[i] & 3 | 1
            b[i] = s * 10 + t
        """,
        VALUES,
    )


def test_variables_of_a_loop_body_start_afresh():
    check(
        """
        def k(i: Index, b: Array[i32]):
            for j in range(4):
                t = 0
                if j == b[i]:
                    t = 5
                t += 1
                b[i] += t
        """,
        VALUES,
    )


@pytest.mark.parametrize("use", ["t", "t * 3", "t + b[i]"])
def test_value_loaded_in_an_endless_loop_is_there_after_it(use):
    """Mesa's lavapipe keeps one value for all lanes of a vector: a load in a loop that other lanes stay in longer becomes 0."""
    check(
        f"""
        def k(i: Index, b: Array[i32], out: Array[i32]):
            while True:
                t = b[i]
                if t > 0:
                    break
                b[i] += 1
            out[i] = {use}
        """,
        [1, 2, 3, -4, 5, -60, 7, 8, *range(-20, 13)],
        np.zeros(41, np.int32),
    )


def test_value_loaded_before_several_breaks_is_there_after_the_loop():
    check(
        """
        def k(i: Index, x: Array[f32], out: Array[f32]):
            while True:
                t = x[i]
                p = vec2(t, x[i] * 0.5)
                if t > 3.0:
                    break
                x[i] += 1.0
                if t < -18.0:
                    break
                if i == 7:
                    out[i] = t
                    return
            out[i] = t + p.y
        """,
        np.arange(-20, 13, dtype=np.float32),
        np.zeros(33, np.float32),
    )


@pytest.mark.parametrize("count", [1, 5, 8, 13, 65, 3000])
def test_a_loop_behind_an_endless_one_is_whole_at_every_length(count):
    """Lanes of a vector that have no index to work on must not use up what a driver allows a group to loop."""
    check(
        """
        def k(i: Index, b: Array[i32], out: Array[i32]):
            while True:
                t = b[i]
                if t > 0:
                    break
                b[i] += 1
            for j in range(10):
                out[i] += j + t
        """,
        list(range(-3, count - 3)),
        np.zeros(count, np.int32),
    )
