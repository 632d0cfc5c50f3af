"""Loops of more than 65,535 rounds: Mesa's lavapipe cuts all the loops of an invocation there, without an error.

A kernel of ours gives the right answer on every driver, or an error that says why it cannot (design decision 9).
"""

import kp
import pytest
from kernel_check import check


def check_long(text, *args):
    try:
        check(text, *args)
    except kp.LimitError as error:
        assert "lavapipe, ends the loops of an invocation after 65535 rounds" in str(error), error


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_loops_of_more_than_65535_rounds_are_never_wrong(depth):
    lengths = {1: [100000], 2: [400, 300], 3: [60, 50, 40], 4: [20, 20, 20, 20]}[depth]
    body = "".join("    " * (n + 1) + f"for j{n} in range({count} + b[i] * 0):\n" for n, count in enumerate(lengths))
    check_long(f"def k(i: Index, b: Array[i32]):\n    r = 0\n{body}{'    ' * (depth + 1)}r += 1\n    b[i] = r\n", [0])


def test_long_while_loop_on_data_is_never_wrong():
    check_long(
        """
        def k(i: Index, b: Array[i32]):
            n = 0
            x = u32(b[i])
            while n < 70000:
                n += 1
                x = x * 1664525 + 1013904223
                if x % 65536 == 7:
                    x += 1
                    continue
            b[i] = n
        """,
        [1, 2],
    )


def test_endless_loops_of_one_lane_are_never_wrong():
    """Lanes of a vector that leave early, late, and by each way out."""
    check_long(
        """
        def k(i: Index, b: Array[i32]):
            n = 0
            while True:
                n += 1
                if n > b[i]:
                    break
                if n == 50000:
                    b[i] = -n
                    return
            for j in range(n % 7):
                for m in range(b[i] % 5000):
                    n += 1
            b[i] = n
        """,
        [1, 2, 49999, 60000, 40, 3, 20000, 5, 7],
    )


@pytest.mark.parametrize("length", [65000, 65500, 65520, 65530, 65533, 65534, 65535, 65536, 65600])
def test_near_the_limit(length):
    check_long(
        """
        def k(i: Index, b: Array[i32]):
            r = 0
            for j in range(b[i]):
                r += 1
            b[i] = r + 1
        """,
        [length, 3, length - 1],
    )


def test_a_kernel_well_below_the_limit_is_right():
    check(
        "def k(i: Index, b: Array[i32]):\n    r = 0\n    for j in range(60000 + b[i]):\n        r += j % 3\n    b[i] = r\n",
        [0, 1, 2, 3, 4, 5, 6, 7, 8],
    )
