#!/usr/bin/env python3
"""Runs a command once for each Vulkan driver, with unified memory used and not used, under the validation layer.

    tools/run_matrix.py NAME [--drivers lavapipe,swiftshader] [--unified 1,0] [--jobs N] [--probe PROGRAM] -- COMMAND...

NAME names the results (see results.py, which also says what `{junit}` in the command means). `--probe` is a program that is
run first, with each driver: it exits with 0 when a fault that it commits on purpose comes back as a message of the validation
layer (tests/matrix/probe.c). A driver or a layer that is missing is a failure, never a reason to run less.

    tools/run_matrix.py --env lavapipe        prints what to export to use one driver in a shell
"""

import argparse
import concurrent.futures
import json
import os
import shlex
import sys
from pathlib import Path

import results

ROOT = results.ROOT
DRIVERS = {
    "lavapipe": ["/usr/share/vulkan/icd.d/lvp_icd.*.json", "/etc/vulkan/icd.d/lvp_icd.*.json", "/usr/share/vulkan/icd.d/lvp_icd.json"],
    "swiftshader": [str(ROOT / ".drivers/swiftshader/vk_swiftshader_icd.json")],
    "nvidia": ["/usr/share/vulkan/icd.d/nvidia_icd*.json", "/etc/vulkan/icd.d/nvidia_icd*.json",
               "/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd*.json"],
}  # fmt: skip
LAYER_FOLDERS = [
    "/usr/share/vulkan/explicit_layer.d",
    "/etc/vulkan/explicit_layer.d",
    "/usr/local/share/vulkan/explicit_layer.d",
]
HOW_TO_GET = {
    "lavapipe": "it comes with Debian's mesa-vulkan-drivers: tools/setup_system.sh run",
    "swiftshader": "tools/get_swiftshader.sh fetches it",
    "nvidia": "it comes with NVIDIA's driver",
}


def manifest(driver: str) -> Path:
    """The driver's ICD file; ends the program when there is none."""
    for pattern in DRIVERS[driver]:
        folder, name = os.path.split(pattern)
        found = sorted(Path(folder).glob(name))
        if found:
            return found[0]
    sys.exit(f"run_matrix.py: the driver {driver} is not here; {HOW_TO_GET[driver]}")


def driver_env(driver: str) -> dict[str, str]:
    path = str(manifest(driver))
    return {"VK_DRIVER_FILES": path, "VK_ICD_FILENAMES": path}


def require_layer() -> None:
    folders = [*LAYER_FOLDERS, *os.environ.get("VK_LAYER_PATH", "").split(":")]
    for path in (path for folder in folders if folder for path in Path(folder).glob("*.json")):
        try:
            content = json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        layers = content.get("layers", [content.get("layer", {})])
        if any(layer.get("name") == "VK_LAYER_KHRONOS_validation" for layer in layers):
            return
    sys.exit(
        "run_matrix.py: the Khronos validation layer is not here; it comes with vulkan-validationlayers: tools/setup_system.sh test"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", metavar="DRIVER", choices=DRIVERS)
    parser.add_argument("--drivers", default=os.environ.get("KP_TEST_DRIVERS", "lavapipe,swiftshader"))
    parser.add_argument("--unified", default="1,0")
    parser.add_argument("--jobs", type=int, default=1, help="how many configurations run at once")
    parser.add_argument(
        "--timeout", type=float, default=results.TIMEOUT, help="seconds that one configuration may take"
    )
    parser.add_argument("--no-validation", action="store_true", help="for sanitizers that the layer does not bear")
    parser.add_argument("--probe")
    parser.add_argument("name", nargs="?")
    words, command = results.split_command(sys.argv[1:])
    args = parser.parse_args(words)
    if args.env:
        print("\n".join(f"export {key}={shlex.quote(value)}" for key, value in driver_env(args.env).items()))
        return 0
    if not args.name or not command:
        parser.error("NAME and COMMAND are needed")

    results.take_interrupts()
    require_layer()
    runs = []
    for driver in args.drivers.split(","):
        env = (
            os.environ | driver_env(driver) | {"KP_VALIDATION": "0" if args.no_validation else "1", "KP_CACHE_DIR": ""}
        )
        env.pop("KP_DEVICE", None)
        if args.probe and not results.run(
            f"{args.name}-{driver}-probe", [args.probe, driver], env=env, quiet=True, timeout=60
        ):
            return 1
        runs += [
            (f"{args.name}-{driver}-unified{unified}", env | {"KP_UNIFIED": unified})
            for unified in args.unified.split(",")
        ]

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [
            pool.submit(results.run, name, command, env=env, quiet=True, timeout=args.timeout) for name, env in runs
        ]
    return 0 if all(job.result() for job in jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
