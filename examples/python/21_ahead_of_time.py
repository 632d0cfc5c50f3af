"""Kernels without their source: a text that the program carries, and SPIR-V that was made before, as `kpc` writes it too.

Python keeps no source in a frozen program, or in `exec`; a text or a module does not need it. Either runs wherever SPIR-V does.

You should see:

    an entry point
    [2. 4. 6.]
    [3. 6. 9.]
"""

import tempfile
from pathlib import Path

import kp
import numpy as np

TEXT = """
def scale(i: Index, by: f32, x: Array[f32]):
    x[i] *= by
"""

scale = kp.kernel_from_source(TEXT)
x = np.array([1, 2, 3], dtype=np.float32)
scale(2.0, x)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "scale.spv"
    path.write_bytes(scale.spirv())  # what `kpc scale.py -o scale.spv` writes
    program = kp.load_shader(path)
print("an entry point" if "OpEntryPoint" in program.disassemble() else "none")
print(x)

mgr = kp.Manager()
y = mgr.tensor([1, 2, 3])
work = mgr.algorithm([y], program, push_consts=[3.0])
mgr.sequence().record(kp.OpSyncDevice([y])).record(kp.OpAlgoDispatch(work)).record(kp.OpSyncLocal([y])).eval()
print(y.data())
