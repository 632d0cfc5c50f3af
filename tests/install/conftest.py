"""The trees that the tests of this folder look at: the library as `make install` leaves it, and the package as pip leaves it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ROOT / "build" / "release"


def run(*command: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """The output of a command, which must succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{command[0]} exited with {done.returncode}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="session")
def on_lavapipe() -> dict[str, str]:
    """The environment in which a program runs on Mesa's CPU driver."""
    lines = run(sys.executable, ROOT / "tools" / "run_matrix.py", "--env", "lavapipe").splitlines()
    pairs = (line.removeprefix("export ").split("=", 1) for line in lines)
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {
        k: v.strip("'") for k, v in pairs
    }


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed tree, moved away from where it was installed."""
    first = tmp_path_factory.mktemp("install") / "first"
    run("cmake", "--install", RELEASE, "--prefix", first)
    moved = first.with_name("a folder elsewhere")
    shutil.move(first, moved)
    return moved


@pytest.fixture(scope="session")
def clean_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that git has or would have, and nothing that a build left."""
    copy = tmp_path_factory.mktemp("checkout") / "kp"
    for name in run("git", "ls-files", "-co", "--exclude-standard", "-z", cwd=ROOT).split("\0"):
        source = ROOT / name
        if name and source.is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy / name)
    return copy


@pytest.fixture(scope="session")
def wheel(clean_checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that pip builds in isolation, from a clean checkout, with the newest CMake."""
    folder = tmp_path_factory.mktemp("wheel")
    tools = folder / "tools"
    run(sys.executable, "-m", "venv", tools)
    run(tools / "bin" / "pip", "install", "--quiet", "cmake")
    (newest,) = tools.glob("lib/python3*/site-packages/cmake/data/bin/cmake")
    assert "cmake version 3.2" not in run(newest, "--version")
    env = os.environ | {"CMAKE_EXECUTABLE": str(newest)}
    run(tools / "bin" / "pip", "wheel", "--no-deps", "-w", folder, clean_checkout, env=env)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def site_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a virtual environment that holds the wheel and what it asks for."""
    venv = tmp_path_factory.mktemp("site") / "venv"
    run(sys.executable, "-m", "venv", venv)
    run(venv / "bin" / "pip", "install", "--quiet", wheel)
    return venv / "bin" / "python"
