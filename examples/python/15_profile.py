"""Where the time goes: a sequence with timestamps says how long the device took for each op.

`profile()` is a list of (name, start, duration) in nanoseconds, prints as a table, and `save` writes a trace that
chrome://tracing and ui.perfetto.dev show.
"""

import tempfile
from pathlib import Path

import kp
import numpy as np
from kp.lang import Array, Index, f32


@kp.kernel
def light(i: Index, x: Array[f32], y: Array[f32]):
    y[i] = x[i] + 1.0


@kp.kernel
def heavy(i: Index, x: Array[f32], y: Array[f32]):
    value = x[i]
    for _ in range(200):
        value = value * 0.5 + 1.0
    y[i] = value


mgr = kp.Manager()
if not mgr.device.timestamps:
    raise SystemExit(f"{mgr.device.name} has no timestamps")
x, y = mgr.tensor(np.ones(100_000)), mgr.zeros(100_000)
seq = mgr.sequence(total_timestamps=8)
seq.record(kp.OpSyncDevice([x]))
seq.record(kp.OpAlgoDispatch(light.algorithm(mgr, [x, y])))
seq.record(kp.OpAlgoDispatch(heavy.algorithm(mgr, [x, y])))
seq.record(kp.OpSyncLocal([y]))
for _ in range(3):  # drivers compile at the first one
    seq.eval()

profile = seq.profile()
print(profile)
slowest = max(profile, key=lambda record: record.duration)
print(f"{slowest.name} takes {100 * slowest.duration / profile.total:.0f} % of {profile.total / 1e3:.1f} us")
with tempfile.TemporaryDirectory() as folder:
    profile.save(Path(folder) / "trace.json")
assert len(profile) == 4
