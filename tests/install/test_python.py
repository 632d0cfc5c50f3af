"""The installed Python package: what the wheel is, what it holds, and that it runs without a kp on the system."""

import zipfile
from pathlib import Path

from conftest import ROOT, run
from test_c import needed

ARTICLE = "import kp, pyshader as ps\nprint(kp.__file__); print(ps.__file__)"
MULTIPLY = """
import kp
mgr = kp.Manager()
a, b, out = kp.Tensor([2, 2, 2]), kp.Tensor([1, 2, 3]), kp.Tensor([0, 0, 0])
mgr.eval_tensor_create_def([a, b, out])
mgr.eval_algo_mult_def([a, b, out])
mgr.eval_tensor_sync_local_def([out])
print(out.data())
"""


def test_one_wheel_for_every_python(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name


def test_wheel_holds_what_it_needs(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert {"kp/__init__.py", "kp/_kp.abi3.so", "kp/libkp.so", "kp/py.typed", "pyshader/__init__.py"} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.endswith((".c", ".h", ".pyc")) or name.split("/")[0] not in
                ("kp", "pyshader") and ".dist-info/" not in name]  # fmt: skip
    assert "libkp.so" in needed(tmp_path / "kp" / "_kp.abi3.so")
    assert not [name for name in needed(tmp_path / "kp" / "_kp.abi3.so") if name.startswith(("libpython", "libvulkan"))]


def test_runs_where_it_is_installed(site_python: Path, tmp_path: Path, on_lavapipe: dict[str, str]) -> None:
    where = run(site_python, "-c", ARTICLE, env=on_lavapipe, cwd=tmp_path)
    assert all(str(site_python.parents[1]) in line for line in where.splitlines())
    assert run(site_python, "-c", MULTIPLY, env=on_lavapipe, cwd=tmp_path) == "[2.0, 4.0, 6.0]\n"


def test_version_is_the_same_everywhere(site_python: Path) -> None:
    code = "import kp, importlib.metadata; print(kp.__version__, importlib.metadata.version('kp'))"
    assert run(site_python, "-c", code) == "0.1.0 0.1.0\n"
    assert "project(kp VERSION 0.1.0 " in (ROOT / "CMakeLists.txt").read_text()


def test_imports_on_a_machine_without_a_driver(site_python: Path, on_lavapipe: dict[str, str], tmp_path: Path) -> None:
    """No ICD file to be found: importing works, there are no devices, and a manager says what is missing."""
    env = on_lavapipe | {"VK_DRIVER_FILES": "/nonexistent.json", "VK_ICD_FILENAMES": "/nonexistent.json"}
    code = """
import kp
print(len(kp.devices()))
try:
    kp.Manager()
except Exception as error:
    print(type(error).__name__, error)
"""
    lines = run(site_python, "-c", code, env=env, cwd=tmp_path).splitlines()
    assert lines[0] == "0"
    assert "driver" in lines[1]
