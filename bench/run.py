#!/usr/bin/env python3
"""Runs the benchmarks and prints one table: what was asked, kp's value, its peer's, the ratio of the two, and the
target.

    bench/run.py [--quick] [--only NAME,...] [--build FOLDER] [--out FILE]

C programs come from FOLDER/bench (build/release unless said otherwise), Python ones from this folder, run by the
interpreter that runs this file; what is not built or cannot run is listed at the end. Everything is also written to
FILE, as JSON. Targets are reported, not enforced: the exit code is 0 as long as something ran. On a machine that
others use too, believe a second run.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAMS = [
    "multiply.py",
    "multiply",
    "logistic.py",
    "call.py",
    "dispatch",
    "queues.py",
    "compile",
    "import.py",
    "manager",
    "memory",
    "soak",
    "transfer",
    "thresholds.py",
]


def command(program: str, build: Path) -> list[str]:
    return [sys.executable, str(HERE / program)] if program.endswith(".py") else [str(build / "bench" / program)]


def run(program: str, build: Path, quick: bool) -> tuple[list[dict[str, Any]], str]:
    """The rows of one program, and why there are none, or not all."""
    try:
        done = subprocess.run(
            [*command(program, build), "--json", *(["--quick"] if quick else [])],
            capture_output=True,
            text=True,
            timeout=1800,
            env={**os.environ, "KP_BENCH_BUILD": str(build / "bench")},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [], str(error)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0:
        return rows, (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return rows, "" if rows else "it printed no row"


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def ratio(value: float) -> str:
    """Small ratios as one over something, which reads better: 1/68."""
    return f"1/{1 / value:.3g}" if 0 < value < 0.3 else f"{value:.3g}"


def cells(row: dict[str, Any]) -> list[str]:
    peer = f"{row['peer_name']}: {number(row['peer'])}" if "peer" in row else ""
    show = ratio if "peer" in row else number
    spread = f"{show(row['low'])} to {show(row['high'])}" if row["rounds"] > 1 else ""
    target = ""
    if "limit" in row:
        what, comparison, value = row["limit"].split()
        value = ratio(float(value)) if what == "ratio" else f"{number(float(value))} {row['unit']}"
        target = f"{what} {comparison} {value}"
    return [
        row["question"],
        f"{number(row['kp'])} {row['unit']}",
        peer,
        ratio(row["ratio"]) if "ratio" in row else "",
        spread,
        target,
        {True: "met", False: "MISSED"}.get(row.get("met"), ""),  # type: ignore[arg-type]
    ]


def print_table(rows: list[dict[str, Any]]) -> None:
    table = [["question", "kp", "peer", "ratio", "quartiles", "target", ""], *map(cells, rows)]
    widths = [max(len(line[k]) for line in table) for k in range(len(table[0]))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    parser.add_argument("--only", default="", help=f"some of {', '.join(PROGRAMS)}, with or without .py")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build" / "release")
    parser.add_argument("--out", type=Path, default=HERE.parent / "build" / "bench.json")
    args = parser.parse_args()

    only = [name for name in args.only.split(",") if name]
    chosen = [p for p in PROGRAMS if not only or p in only or Path(p).stem in only]
    if not chosen:
        parser.error(f"no benchmark is called {args.only}; there are {', '.join(PROGRAMS)}")
    rows: list[dict[str, Any]] = []
    troubles: list[str] = []
    for program in chosen:
        print(f"{program} ...", end="\r", file=sys.stderr, flush=True)
        found, trouble = run(program, args.build, args.quick)
        rows += found
        troubles += [f"{program}: {trouble}"] if trouble else []
    print_table(rows)
    print(*(f"not run, or not to its end: {trouble}" for trouble in troubles), sep="\n")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
