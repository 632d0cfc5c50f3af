"""Several drivers in one process: lavapipe and SwiftShader together, and one of them installed twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAVAPIPE = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd.*.json"))
SWIFTSHADER = ROOT / ".drivers" / "swiftshader" / "vk_swiftshader_icd.json"

pytestmark = pytest.mark.skipif(
    not LAVAPIPE or not SWIFTSHADER.exists() or os.environ.get("KP_UNIFIED") == "0",
    reason="needs both CPU drivers, and one round of the matrix",
)


def run(program, *manifests):
    paths = ":".join(map(str, manifests))
    env = os.environ | {"VK_DRIVER_FILES": paths, "VK_ICD_FILENAMES": paths}
    env.pop("KP_DEVICE", None)
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_managers_on_two_drivers_work_at_once():
    program = """
import kp
devices = kp.devices()
managers = [kp.Manager(device.uuid) for device in devices]
assert len({manager.device.name for manager in managers}) == 2, devices
text = "def k(i: Index, x: Array[f32]):\\n    x[i] = x[i] * 2.0\\n"
tensors = [manager.tensor([1, 2, 3]) for manager in managers]
seqs = []
for manager, x in zip(managers, tensors):
    seq = manager.sequence().record(kp.OpSyncDevice([x]))
    seq.record(kp.OpAlgoDispatch(manager.algorithm([x], kp.compile(text)))).record(kp.OpSyncLocal([x]))
    seqs.append(seq)
for _ in range(20):
    for seq in seqs:
        seq.eval_async()
    for seq in seqs:
        seq.eval_await()
assert [x.data().tolist() for x in tensors] == [[v * 2**20 for v in (1, 2, 3)]] * 2  # what comes back goes in again
try:
    seqs[0].record(kp.OpSyncLocal([tensors[1]]))
except ValueError as error:
    assert "manager" in str(error)
else:
    raise AssertionError("memory of another driver's manager was taken")
managers[0].destroy()
seqs[1].eval()
print(len(devices))
"""
    assert run(program, LAVAPIPE[0], SWIFTSHADER) == ["2"]


def absolute(manifest_file):
    """The manifest, with a path of the library that holds from anywhere."""
    manifest = json.loads(manifest_file.read_text())
    library = Path(manifest["ICD"]["library_path"])
    manifest["ICD"]["library_path"] = str(library if library.is_absolute() else manifest_file.parent / library)
    return manifest


def test_a_portability_device_is_listed_and_runs(tmp_path):
    """The loader hides a driver that says it is not all of Vulkan (MoltenVK does) from programs that do not ask for it."""
    manifest = absolute(SWIFTSHADER)
    manifest["ICD"]["is_portability_driver"] = True
    (tmp_path / "icd.json").write_text(json.dumps(manifest))
    program = """
import kp
mgr = kp.Manager(0)
x = mgr.tensor([1, 2, 3])
mgr.sequence().record(kp.OpSyncDevice([x])).record(kp.OpMult([x, x, x])).record(kp.OpSyncLocal([x])).eval()
print(len(kp.devices()), *x.data())
"""
    assert run(program, tmp_path / "icd.json") == ["1", "1.0", "4.0", "9.0"]


def test_a_card_that_two_drivers_offer_is_listed_once(tmp_path):
    manifest = absolute(SWIFTSHADER)
    copies = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "icd.json").write_text(json.dumps(manifest))
        copies.append(folder / "icd.json")
    program = "import kp; print(*[device.index for device in kp.devices()]); kp.Manager('0')"
    assert run(program, *copies) == ["0"]
    assert run(program, LAVAPIPE[0], *copies) == ["0", "1"]
