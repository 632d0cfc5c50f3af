"""Workgroups in CPython: shared memory, barriers, atomics, subgroup operations.

A kernel with a barrier or a subgroup operation is rewritten as a generator: where an invocation must wait for others it yields
what it waits for. One invocation runs at a time, in order, up to there, so the same launch always does the same; when all that
a meeting needs have come, they go on. No threads, so a debugger stays where it is.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .arrays import Array, LocalArray, Places, row_major
from .scalars import Integer, i32, u32
from .structs import Struct
from .vectors import Vector, lift, typed, vector

# ----------------------------------------------------------------------------------------------------------------------
# Invocations
# ----------------------------------------------------------------------------------------------------------------------


@dataclass
class Invocation:
    """One call of the kernel in its workgroup."""

    local: tuple[int, int, int]
    number: int  # in the workgroup
    lane: int
    subgroup: int
    run: Any = None  # the generator that the kernel is, once started
    waits: Meeting | None = None


@dataclass
class Group:
    """A workgroup: its shared arrays, by where the kernel makes them."""

    subgroup_size: int
    subgroups: int
    shared: dict[Any, Any] = field(default_factory=dict)


class State:
    """What runs now."""

    group: Group
    invocation: Invocation
    call: Callable[[Invocation], Any]
    where: Callable[[Invocation], str]


NOW = State()


# ----------------------------------------------------------------------------------------------------------------------
# Shared memory
# ----------------------------------------------------------------------------------------------------------------------


def _anything(kind: Any) -> Any:
    if isinstance(kind, Array):
        return LocalArray(kind.element, [_anything(kind.element) for _ in range(kind.length or 0)])
    scalar = getattr(kind, "scalar", kind)
    if issubclass(scalar, Struct):
        return scalar.anything()
    value = scalar(scalar.high // 3) if issubclass(scalar, Integer) else scalar(float("nan"))
    return kind(*[value] * getattr(kind, "size", 1))


class Shared(Places):
    """An array that the invocations of a workgroup have together. It starts with what should catch the eye: NaN, or a large
    number."""

    def __init__(self, element: Any, lengths: Any) -> None:
        self.shape = tuple(int(n) for n in lengths) if isinstance(lengths, tuple) else (int(lengths),)
        super().__init__(element, [_anything(element) for _ in range(int(np.prod(self.shape)))])

    def _at(self, index: Any) -> int:
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != len(self.shape):
            raise TypeError(f"shared memory with {len(self.shape)} axes takes as many indices, not {len(indices)}")
        at = row_major(indices, self.shape)
        if at is None:
            raise IndexError(f"shared memory of {self.shape} elements has no [{', '.join(map(str, indices))}]")
        return at

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<shared {np.array(self.values).reshape(self.shape)!r}>"


def shared(site: Any, element: Any, lengths: Any) -> Shared:
    """The workgroup's array that is made at `site`, a place in the source."""
    made = NOW.group.shared
    if site not in made:
        made[site] = Shared(element, lengths)
    array: Shared = made[site]
    return array


# ----------------------------------------------------------------------------------------------------------------------
# Atomics: nothing comes between two steps of an invocation, so they are plain
# ----------------------------------------------------------------------------------------------------------------------


def _atomic(change: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def atomic(array: Any, index: Any, value: Any) -> Any:
        old = array[index]
        array[index] = change(old, typed(value, type(old), "the value"))
        return old

    return atomic


def _compare_exchange(array: Any, index: Any, expected: Any, value: Any) -> Any:
    old = array[index]
    kind = type(old)
    same = np.array(old, kind.numpy).tobytes() == np.array(typed(expected, kind, "expected"), kind.numpy).tobytes()
    if same:
        array[index] = value
    return old


ATOMICS: dict[str, Callable[..., Any]] = {
    "atomic_add": _atomic(operator.add),
    "atomic_sub": _atomic(operator.sub),
    "atomic_min": _atomic(min),
    "atomic_max": _atomic(max),
    "atomic_and": _atomic(operator.and_),
    "atomic_or": _atomic(operator.or_),
    "atomic_xor": _atomic(operator.xor),
    "atomic_exchange": _atomic(lambda old, new: new),
    "atomic_compare_exchange": _compare_exchange,
}


class Fields:
    """What has fields, or components, as an array of them: atomic_add(cells[i].count, 1) is atomic_add(Fields(cells[i]), "count",
    1)."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __getitem__(self, name: str) -> Any:
        return getattr(self.owner, name)

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self.owner, name, value)


def takes_place(called: Any, count: int) -> bool:
    """Whether a call with so many arguments is that of an atomic whose first one is a place: the value of an element says no
    longer where it is from."""
    atomic = any(called is function for function in ATOMICS.values())
    return atomic and count == (3 if called is _compare_exchange else 2)


# ----------------------------------------------------------------------------------------------------------------------
# Meetings
# ----------------------------------------------------------------------------------------------------------------------


@dataclass
class Meeting:
    """What an invocation waits for: an operation, its arguments, and the place in the source."""

    name: str
    args: tuple[Any, ...]
    site: tuple[str, int, int]


class Collective:
    """A function that several invocations call together. Calling it gives the meeting, which the kernel yields."""

    def __init__(self, name: str, work: Callable[[list[Invocation]], list[Any]] | None) -> None:
        self.name, self.work = name, work

    def __call__(self, site: tuple[str, int, int], *args: Any) -> Meeting:
        return Meeting(self.name, args, site)


def _argument(who: Invocation, k: int = 0) -> Any:
    assert who.waits is not None
    value = who.waits.args[k]
    return i32(value) if type(value) is int else value


def _reduce(change: Callable[[Any, Any], Any]) -> Callable[[list[Invocation]], list[Any]]:
    def work(active: list[Invocation]) -> list[Any]:
        total = functools.reduce(change, [_argument(who) for who in active])
        return [total] * len(active)

    return work


def _scan(change: Callable[[Any, Any], Any], first: Callable[[Any], Any] | None) -> Any:
    """An inclusive scan; an exclusive one, when `first` tells the neutral element of a type."""

    def work(active: list[Invocation]) -> list[Any]:
        results = []
        total = None
        for who in active:
            value = _argument(who)
            if first is not None:
                results.append(_neutral(value, first) if total is None else total)
            total = value if total is None else change(total, value)
            if first is None:
                results.append(total)
        return results

    return work


def _neutral(value: Any, first: Callable[[Any], Any]) -> Any:
    return value.map(first) if isinstance(value, Vector) else first(value)


def _ends(x: Any) -> tuple[Any, Any]:
    kind = type(x)
    return (kind(kind.low), kind(kind.high)) if isinstance(x, Integer) else (kind(float("-inf")), kind(float("inf")))


_least, _most = lift(lambda a, b: min(a, b)), lift(lambda a, b: max(a, b))

_REDUCTIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "add": (operator.add, lambda x: type(x)(0)),
    "mul": (operator.mul, lambda x: type(x)(1)),
    "min": (_least, lambda x: _ends(x)[1]),
    "max": (_most, lambda x: _ends(x)[0]),
    "and": (operator.and_, lambda x: x == x if isinstance(x, bool) else ~type(x)(0)),
    "or": (operator.or_, lambda x: type(x)(0)),
    "xor": (operator.xor, lambda x: type(x)(0)),
}


def _ballot(active: list[Invocation]) -> list[Any]:
    words = [0, 0, 0, 0]
    for who in active:
        if _argument(who):
            words[who.lane // 32] |= 1 << who.lane % 32
    return [vector(u32, 4)(*words) for _ in active]


def _from(lane: Callable[[Invocation], int]) -> Callable[[list[Invocation]], list[Any]]:
    """Each invocation gets the value of another lane; its own, where that lane is not there."""

    def work(active: list[Invocation]) -> list[Any]:
        by_lane = {who.lane: who for who in active}
        return [_argument(by_lane.get(lane(who), who)) for who in active]

    return work


COLLECTIVES: dict[str, Collective] = {
    name: Collective(name, work)
    for name, work in {
        "barrier": None,
        "subgroup_elect": lambda active: [who is active[0] for who in active],
        "subgroup_any": lambda active: [any(map(_argument, active))] * len(active),
        "subgroup_all": lambda active: [all(map(_argument, active))] * len(active),
        "subgroup_ballot": _ballot,
        "subgroup_broadcast": _from(lambda who: int(_argument(who, 1))),
        "subgroup_broadcast_first": lambda active: [_argument(active[0])] * len(active),
        "subgroup_shuffle": _from(lambda who: int(_argument(who, 1))),
        "subgroup_shuffle_xor": _from(lambda who: who.lane ^ int(_argument(who, 1))),
        "subgroup_shuffle_up": _from(lambda who: who.lane - int(_argument(who, 1))),
        "subgroup_shuffle_down": _from(lambda who: who.lane + int(_argument(who, 1))),
        **{f"subgroup_{name}": _reduce(change) for name, (change, _) in _REDUCTIONS.items()},
        **{f"subgroup_inclusive_{name}": _scan(change, None) for name, (change, _) in _REDUCTIONS.items()},
        **{f"subgroup_exclusive_{name}": _scan(change, first) for name, (change, first) in _REDUCTIONS.items()},
    }.items()
}

PARALLEL: dict[str, Any] = {
    **ATOMICS,
    **COLLECTIVES,
    "shared": shared,
    "memory_barrier": lambda: None,
    "group_memory_barrier": lambda: None,
    "subgroup_size": lambda: i32(NOW.group.subgroup_size),
    "subgroup_lane": lambda: i32(NOW.invocation.lane),
    "subgroup_id": lambda: i32(NOW.invocation.subgroup),
    "subgroup_count": lambda: i32(NOW.group.subgroups),
}


# ----------------------------------------------------------------------------------------------------------------------
# Running a workgroup
# ----------------------------------------------------------------------------------------------------------------------


def _step(who: Invocation, result: Any = None) -> None:
    """Runs one invocation up to its next meeting, or its end."""
    NOW.invocation = who
    who.waits = None
    try:
        if who.run is None:
            who.run = NOW.call(who)
        if who.run is not None:
            who.waits = who.run.send(result)
    except StopIteration:
        pass
    except Exception as error:
        error.add_note(NOW.where(who))
        raise


def _subgroup_meeting(members: list[Invocation]) -> bool:
    """Lets those of a subgroup meet that wait at the first place; says whether there were any."""
    waiting = [who for who in members if who.waits is not None and who.waits.name != "barrier"]
    if not waiting:
        return False
    first = min(who.waits.site for who in waiting if who.waits is not None)
    active = [who for who in waiting if who.waits is not None and who.waits.site == first]
    assert active[0].waits is not None
    work = COLLECTIVES[active[0].waits.name].work
    assert work is not None
    for who, result in zip(active, work(active)):
        _step(who, result)
    return True


def _barrier(everyone: list[Invocation]) -> None:
    """All wait at one barrier, or it is an error."""
    there = [who for who in everyone if who.waits is not None]
    first = there[0]
    assert first.waits is not None
    for who in everyone:
        if who.waits is None or who.waits.site != first.waits.site:
            where = "has returned" if who.waits is None else f"is at the one of line {who.waits.site[1]}"
            raise RuntimeError(
                f"barrier() of line {first.waits.site[1]}: the invocation {first.local} of the workgroup waits there, "
                f"but {who.local} {where}"
            )


def run_group(
    everyone: list[Invocation], group: Group, call: Callable[[Invocation], Any], where: Callable[[Invocation], str]
) -> None:
    """Runs the invocations of a workgroup to their ends. `call` starts one, and gives what remains of it when the kernel is a
    generator; `where` describes one for an error."""
    NOW.group, NOW.call, NOW.where = group, call, where
    for who in everyone:
        _step(who)
    while any(who.waits is not None for who in everyone):
        for number in range(group.subgroups):
            members = [who for who in everyone if who.subgroup == number]
            while _subgroup_meeting(members):
                pass
        if any(who.waits is not None for who in everyone):
            _barrier(everyone)
            for who in everyone:
                _step(who)


__all__ = ["COLLECTIVES", "NOW", "PARALLEL", "Collective", "Group", "Invocation", "Shared", "run_group", "shared"]
