#!/usr/bin/env python3
"""Runs test runners, keeps what each one counted, and adds it up.

    tools/results.py clear
    tools/results.py run NAME [--timeout SECONDS] [--verbose] -- COMMAND...
    tools/results.py sum [--make-status STATUS]

`{junit}` in the command stands for the path of a JUnit file that the runner is to write (pytest --junitxml, ctest
--output-junit); a command without it counts as one test, which passes when it exits with 0. A ctest test that is a cmocka
program counts as the tests that cmocka ran in it. A runner that crashes, hangs, or runs nothing is a failure of its own.

`sum` ends with the line "N passed, N failed" and exits with 1 when anything failed or nothing ran. STATUS is what `make` exited
with: when it is not 0 although no runner has failed, something broke before its runner started, which is a failure too.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "results"
TIMEOUT = 1200

CMOCKA_RUN = re.compile(r"^\[==========\] (?:\S+: )?(\d+) test\(s\) run", re.M)
CMOCKA_FAILED = re.compile(r"^\[  FAILED  \] (?:\S+: )?(\d+) test\(s\)", re.M)
CMOCKA_SKIPPED = re.compile(r"^\[  SKIPPED \] (?:\S+: )?(\d+) test\(s\)", re.M)
CMOCKA_NAMES = re.compile(r"^\[  FAILED  \] (?!\d+ test)(\S+)", re.M)


def count_case(case: ET.Element) -> tuple[int, int, int, list[str]]:
    """Passed, failed, skipped and the names of the failures in one <testcase>."""
    name = ".".join(part for part in (case.get("classname"), case.get("name")) if part)
    output = "".join(part.text or "" for part in case.findall("system-out"))
    bad = case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail"
    ran = sum(map(int, CMOCKA_RUN.findall(output)))
    if ran:
        failed = sum(map(int, CMOCKA_FAILED.findall(output)))
        skipped = sum(map(int, CMOCKA_SKIPPED.findall(output)))
        names = sorted({f"{case.get('name')}: {found}" for found in CMOCKA_NAMES.findall(output)})
        if bad and not failed:  # its tests passed, and then it crashed or leaked
            return ran - skipped, 1, skipped, [f"{name} (passed its tests, but failed)"]
        return ran - failed - skipped, failed, skipped, names
    if bad:
        return 0, 1, 0, [name]
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return 0, 0, 1, []
    return 1, 0, 0, []


def count_junit(path: Path) -> tuple[int, int, int, list[str]]:
    total = [0, 0, 0]
    names: list[str] = []
    for case in ET.parse(path).iter("testcase"):
        *counts, failures = count_case(case)
        total = [a + b for a, b in zip(total, counts, strict=True)]
        names += failures
    return total[0], total[1], total[2], names


def execute(command: list[str], env: dict[str, str] | None, log: Path | None, timeout: float) -> int | None:
    """The exit status, or None when the time ran out and the command and its children were killed."""
    with open(log, "wb") if log else open(os.devnull, "rb") as stream:
        process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stream if log else None,
            stderr=subprocess.STDOUT if log else None,
            start_new_session=True,
        )
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def run(
    name: str, command: list[str], *, env: dict[str, str] | None = None, quiet: bool = False, timeout: float = TIMEOUT
) -> bool:
    """Runs one runner, keeps its record, prints one line (and, of a quiet one that failed, its output)."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    junit = FOLDER / f"{name}.xml"
    log = FOLDER / f"{name}.log" if quiet else None
    junit.unlink(missing_ok=True)
    counts_itself = any("{junit}" in word for word in command)
    start = time.monotonic()
    try:
        status = execute([word.replace("{junit}", str(junit)) for word in command], env, log, timeout)
    except OSError as error:
        print(f"{name}: {error}", flush=True)
        status = 127
    seconds = time.monotonic() - start

    passed, failed, skipped, names = 0, 0, 0, []
    trouble = ""
    if counts_itself:
        try:
            passed, failed, skipped, names = count_junit(junit)
        except (OSError, ET.ParseError):
            trouble = "left no result"
        if not trouble and passed + failed == 0:
            trouble = "ran no test"
        if not trouble and status != 0 and not failed:
            trouble = f"passed its tests, but exited with {status}"
    else:
        passed = int(status == 0)
    if status is None:
        trouble = f"was stopped after {timeout:.0f} s"
    elif status != 0 and not failed and not trouble:
        trouble = f"exited with {status}"
    if trouble:
        failed += 1
        names.append(f"{name} {trouble}")

    record = {
        "name": name,
        "passed": passed,
        "failed": failed,
        "skipped": skipped,
        "seconds": seconds,
        "failures": names,
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(record))
    if quiet and failed and log is not None:
        text = log.read_text(errors="replace").splitlines()
        print(f"---- {name}: the end of {log.relative_to(ROOT)}", *text[-150:], "----", sep="\n")
    print(line(record), flush=True)
    return failed == 0


def line(record: dict) -> str:
    mark = "FAIL" if record["failed"] else "ok"
    skipped = f", {record['skipped']} skipped" if record["skipped"] else ""
    return f"{mark:4}  {record['name']:42} {record['passed']:5} passed, {record['failed']} failed{skipped}  ({record['seconds']:.1f} s)"


def clear() -> None:
    if FOLDER.is_dir():
        for path in FOLDER.iterdir():
            path.unlink()


def add_up(make_status: int) -> int:
    records = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    if make_status and not any(record["failed"] for record in records):
        why = f"make exited with {make_status} before a runner could start"
        records.append({"name": "make", "passed": 0, "failed": 1, "skipped": 0, "seconds": 0, "failures": [why]})
    print()
    for record in records:
        print(line(record))
    failures = [name for record in records for name in record["failures"]]
    for name in failures[:100]:
        print(f"failed: {name}")
    if not records:
        print("no test ran")
    passed, failed, skipped = (sum(record[key] for record in records) for key in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if records and passed and not failed else 1


def take_interrupts() -> None:
    """What a shell starts in the background ignores SIGINT, and so do its children; tests of interrupts need it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def split_command(words: list[str]) -> tuple[list[str], list[str]]:
    """What stands before `--`, and the command after it."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("clear")
    adder = actions.add_parser("sum")
    adder.add_argument("--make-status", type=int, default=0)
    runner = actions.add_parser("run")
    runner.add_argument("name")
    runner.add_argument("--timeout", type=float, default=TIMEOUT)
    runner.add_argument("--verbose", action="store_true", help="show the command's output, not just that of a failure")
    words, command = split_command(sys.argv[1:])
    args = parser.parse_args(words)
    take_interrupts()
    if args.action == "clear":
        clear()
        return 0
    if args.action == "sum":
        return add_up(args.make_status)
    if not command:
        parser.error("no command after --")
    return 0 if run(args.name, command, quiet=not args.verbose, timeout=args.timeout) else 1


if __name__ == "__main__":
    sys.exit(main())
