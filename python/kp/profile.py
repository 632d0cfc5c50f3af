"""What a sequence's timestamps say: `Sequence.profile()`, as a list, a table, and a trace for chrome://tracing or Perfetto."""

from __future__ import annotations

import json
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any


class Record(NamedTuple):
    """One op: its name, and nanoseconds from the start of the evaluation and of its own."""

    name: str
    start: float
    duration: float


class Profile(list[Record]):
    """One record for each op that got a timestamp, in order. `str` of it is a table."""

    @property
    def total(self) -> float:
        """Nanoseconds from the start of the evaluation to the end of the last op."""
        return self[-1].start + self[-1].duration if self else 0.0

    def __str__(self) -> str:
        width = max([len(record.name) for record in self], default=2)
        lines = [f"{'op':<{width}} {'start us':>12} {'us':>12} {'%':>6}"]
        for name, start, duration in self:
            share = 100 * duration / self.total if self.total else 0.0
            lines.append(f"{name:<{width}} {start / 1e3:>12.2f} {duration / 1e3:>12.2f} {share:>6.1f}")
        return "\n".join(lines)

    def trace(self) -> dict[str, Any]:
        """Chrome's trace format; its times are microseconds."""
        events = [
            {"name": name, "cat": "kp", "ph": "X", "ts": start / 1e3, "dur": duration / 1e3, "pid": 0, "tid": 0}
            for name, start, duration in self
        ]
        return {"traceEvents": events, "displayTimeUnit": "ns"}

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the trace as JSON."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.trace(), file)


def from_ticks(names: list[str], ticks: list[int], period: float) -> Profile:
    """`ticks` has one more than there are records; `period` is nanoseconds a tick."""
    profile = Profile()
    for name, begin, end in zip(names, ticks, ticks[1:], strict=False):
        profile.append(Record(name, (begin - ticks[0]) * period, (end - begin) * period))
    return profile
