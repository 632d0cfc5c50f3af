"""The article's two programs, and every other example: unchanged, in a process of their own, with the right numbers."""

import ast
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"
NUMBERED = sorted(EXAMPLES.glob("[0-9]*.py"))


def run(path):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def train(steps=100, rate=0.1):
    """The second program in NumPy, in single precision as on the device."""
    x = np.array([[0, 1, 1, 1, 1], [0, 0, 0, 1, 1]], np.float32)
    y = np.array([0, 0, 0, 1, 1], np.float32)
    w, b = np.array([0.001, 0.001], np.float32), np.float32(0)
    for _ in range(steps):
        y_hat = (1 / (1 + np.exp(-(w @ x + b)))).astype(np.float32)
        d_z = y_hat - y
        loss = -(y * np.log(y_hat) + (1 - y) * np.log(1 - y_hat))
        for j in range(5):
            w = (w - rate * (x[:, j] * d_z[j] / np.float32(5))).astype(np.float32)
            b = np.float32(b - rate * d_z[j] / np.float32(5))
    return w, b, loss.mean()


# SHA-256 of what follows the opening comment.
PUBLISHED = {
    "01_array_multiplication.py": "37550a063fd033175eee87464e44d4126ba123c5040dab768337a27ce86837a5",
    "02_logistic_regression.py": "56f1ec6955105b2e90813237e2c7701eadb4847c78033da8d3d036251de644e0",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_articles_programs_are_as_published(name):
    program = (EXAMPLES / name).read_text().split('"""', 2)[2]
    assert hashlib.sha256(program.encode()).hexdigest() == PUBLISHED[name]


def test_array_multiplication():
    assert run(EXAMPLES / "01_array_multiplication.py") == "[2.0, 4.0, 6.0]\n"


def test_logistic_regression():
    out = run(EXAMPLES / "02_logistic_regression.py")
    w, b, loss = re.fullmatch(r"w (\[.*\]) b (\[.*\]) loss (.*)\n", out).groups()
    expected_w, expected_b, expected_loss = train()
    np.testing.assert_allclose(ast.literal_eval(w), expected_w, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ast.literal_eval(b), [expected_b], rtol=1e-4)
    np.testing.assert_allclose(float(loss), expected_loss, rtol=1e-4)


@pytest.mark.parametrize("path", NUMBERED, ids=lambda path: path.stem)
def test_examples_show_what_they_say(path):
    """The indented lines of the docstring are the output, where there are any."""
    out = run(path)
    promised = re.findall(r"^    (.*)$", ast.get_docstring(ast.parse(path.read_text())), re.M)
    if promised:
        assert out.splitlines() == promised
    assert out


def test_the_examples_are_numbered_without_a_gap():
    assert [int(path.name[:2]) for path in NUMBERED] == list(range(1, len(NUMBERED) + 1))
