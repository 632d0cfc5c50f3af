"""Loops of more than 65,535 turns: Mesa's lavapipe cuts all the loops of an invocation there, without an error.

A kernel of ours gives the right answer on every driver, or an error that says why it cannot (design decision 9).
"""

import kp
import pytest
from kernel_check import check


def check_long(text, *args):
    """Right, or refused in words that say why: Mesa's lavapipe cuts the loops of an invocation at 65,535 turns in total."""
    try:
        check(text, *args)
    except kp.Error as error:
        assert "65,535" in str(error) or "65535" in str(error), error


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_loops_of_more_than_65535_turns_are_never_wrong(depth):
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
