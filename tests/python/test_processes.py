"""Several processes on one device at once, invocations on one element, and machines on which a part of Vulkan is missing."""

import os
import subprocess
import sys

import kp
import numpy as np

WORKER = """
import sys
import kp, numpy as np
from kp.lang import Array, Index, i32
seed = int(sys.argv[1])
mgr = kp.Manager()
text = "def k(i: Index, x: Array[i32], by: i32):\\n    x[i] = x[i] * by + i"
k = kp.kernel_from_source(text)
x = mgr.tensor_t(np.arange(5000, dtype=np.int32))
sequence = mgr.sequence().record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(k.algorithm(mgr, [x], by=seed))).record(kp.OpSyncLocal([x]))
sys.stdout.write("ready\\n"); sys.stdout.flush()
sys.stdin.readline()
wanted = np.arange(5000, dtype=np.int32)
for _ in range(30):
    sequence.eval()
    wanted = wanted * np.int32(seed) + np.arange(5000, dtype=np.int32)
    assert (x.data() == wanted).all()
print("done", len(kp.devices()))
"""


def test_processes_share_a_device(tmp_path):
    """All have their managers before any computes; the folder of the pipeline cache is one, too."""
    env = os.environ | {"KP_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", WORKER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": env}
    workers = [subprocess.Popen([*command, str(seed)], **pipes) for seed in range(2, 6)]
    try:
        assert [worker.stdout.readline() for worker in workers] == ["ready\n"] * 4
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        said = [worker.communicate(timeout=120) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    assert said == [(f"done {len(kp.devices())}\n", "")] * 4


MANAGER = (
    "import kp\nprint(kp.devices())\ntry:\n    kp.Manager()\nexcept kp.NoDeviceError as error:\n    print(error)\n"
)


def test_each_part_of_vulkan_that_is_missing_is_named(python, tmp_path):
    broken = tmp_path / "libvulkan.so.1"
    broken.write_bytes(b"")
    (tmp_path / "libvulkan.so").write_bytes(b"")
    path = f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    said = python(MANAGER, env={"LD_LIBRARY_PATH": path})
    assert said.startswith("[]\nno Vulkan loader: libvulkan.so.1 cannot be opened") and "apt install" in said

    nowhere = {"VK_DRIVER_FILES": "/nonexistent.json", "VK_ICD_FILENAMES": "/nonexistent.json"}
    said = python(MANAGER, env=nowhere)
    assert said.startswith("[]\n") and "driver" in said and said.count("\n") == 2

    manifest = tmp_path / "gone.json"
    manifest.write_text(
        '{"file_format_version": "1.0.0", "ICD": {"library_path": "/nonexistent/libdriver.so", "api_version": "1.1.0"}}'
    )
    said = python(MANAGER, env={"VK_DRIVER_FILES": str(manifest), "VK_ICD_FILENAMES": str(manifest)})
    assert said.startswith("[]\n") and "driver" in said and said.count("\n") == 2


def test_adding_to_an_element_means_the_same_however_it_is_written():
    """`x[0] = x[0] + 1` is `x[0] += 1`: a load and a store. What is atomic is written as that."""
    head = "def k(i: Index, x: Array[i32], y: Array[i32]):\n    "
    for body in ("x[0] = x[0] + y[i]", "x[0] += y[i]"):
        text = kp.kernel_from_source(head + body).disassemble()
        function = text[text.index("%k = OpFunction") :]
        assert [function.count(op) for op in ("OpLoad", "OpIAdd", "OpStore", "OpAtomic")] == [2, 1, 1, 0]
    x = np.zeros(1, np.int32)
    kp.kernel_from_source(head + "atomic_add(x, 0, y[i])")(x, np.arange(30, dtype=np.int32), extent=30)
    assert x[0] == sum(range(30))
