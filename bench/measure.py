"""What the Python benchmarks share: interleaved samples, medians, and rows printed for people or as JSON.

The rules and the JSON are those of bench.h: samples of kp and of its peer alternate, the ratio is the median of the
ratios of neighbouring samples, `low` and `high` are their quartiles. Every program takes --json, --quick and --rounds
N.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCALES = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


@dataclass
class Row:
    question: str
    unit: str  # "ns", "us", "ms", "s", or a plain number's
    peer: str | None = None  # what kp is compared with
    limit: str | None = None  # what should hold: "ratio <= 1.5", "kp <= 100"; reported, never asserted


def arguments(doc: str | None, **options: int) -> argparse.Namespace:
    """The command line: --json, --quick, --rounds, and one --name N for each of `options`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    parser.add_argument("--rounds", type=int, default=0, help="that many samples")
    for name, default in options.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()


def fewer(args: argparse.Namespace, count: int) -> int:
    """`count` samples, or as the command line has it."""
    return args.rounds or (max(3, count // 10) if args.quick else count)


def seconds(work: Callable[[], object], repeat: int = 1) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - start) / repeat


def interleave(samplers: Sequence[Callable[[], float]], rounds: int) -> list[list[float]]:
    """`rounds` samples of each, in turn, after one of each that does not count. Who goes first alternates."""
    values: list[list[float]] = [[] for _ in samplers]
    for sampler in samplers:
        sampler()
    for round_ in range(rounds):
        order = range(len(samplers)) if round_ % 2 == 0 else reversed(range(len(samplers)))
        for k in order:
            values[k].append(samplers[k]())
    return values


def holds(limit: str, kp: float, ratio: float | None) -> bool:
    what, comparison, value = limit.split()
    have = kp if what == "kp" else ratio
    assert have is not None
    return have <= float(value) if comparison == "<=" else have >= float(value)


def report(args: argparse.Namespace, row: Row, kp: list[float], peer: list[float] | None = None) -> None:
    """Prints a row. Values are seconds when the unit is one of time."""
    scale = SCALES.get(row.unit, 1.0)
    ratios = [a / b for a, b in zip(kp, peer, strict=True)] if peer else None
    spread = ratios or [value * scale for value in kp]
    low, _, high = statistics.quantiles(spread, n=4, method="inclusive") if len(spread) > 1 else spread * 3
    result: dict[str, Any] = {
        "bench": Path(sys.argv[0]).stem,
        "question": row.question,
        "unit": row.unit,
        "kp": statistics.median(kp) * scale,
    }
    ratio = statistics.median(ratios) if ratios else None
    if peer:
        result |= {"peer": statistics.median(peer) * scale, "peer_name": row.peer, "ratio": ratio}
    result |= {"low": low, "high": high, "rounds": len(kp)}
    if row.limit:
        result |= {"limit": row.limit, "met": holds(row.limit, statistics.median(kp) * scale, ratio)}
    print(json.dumps(result) if args.json else text(result), flush=True)


def text(row: dict[str, Any]) -> str:
    words = f"{row['question']}: kp {row['kp']:.4g} {row['unit']}"
    if "peer" in row:
        words += f", {row['peer_name']} {row['peer']:.4g} {row['unit']}, ratio {row['ratio']:.3g}"
    words += f" ({row['low']:.3g} to {row['high']:.3g})"
    if "limit" in row:
        words += f"; target {row['limit']}: {'met' if row['met'] else 'MISSED'}"
    return words
