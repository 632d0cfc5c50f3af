"""How long does `import kp` take in a fresh interpreter that has not loaded NumPy? The peer is an empty module.

Two rows: the import statement alone, timed inside the interpreter; and the whole process, from start to end.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import measure

PROGRAM = """
import sys, time
assert "numpy" not in sys.modules
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""


def main() -> None:
    args = measure.arguments(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "this_empty_module.py").write_text("")

        def run(module: str) -> str:
            # -P: nothing is found by accident in the folder that the child runs in.
            path = f"import sys; sys.path.insert(0, {folder!r})\n"
            command = [sys.executable, "-P", "-c", path + PROGRAM.format(module=module)]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout

        def statement(module: str) -> Callable[[], float]:
            return lambda: float(run(module))

        def process(module: str) -> Callable[[], float]:
            return lambda: measure.seconds(lambda: run(module))

        rounds = measure.fewer(args, 40)
        kp, empty = measure.interleave([statement("kp"), statement("this_empty_module")], rounds)
        measure.report(args, measure.Row("import kp", "ms", "an empty module", "kp <= 100"), kp, empty)
        kp, empty = measure.interleave([process("kp"), process("this_empty_module")], rounds)
        measure.report(args, measure.Row("a process that imports kp", "ms", "an empty module"), kp, empty)


if __name__ == "__main__":
    main()
