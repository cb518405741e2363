"""Loops over single elements, for kernels that are not elementwise groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewrite_engine.link.native.region import RegionPlan
from rewrite_engine.link.native.values import ONE, Length, Number, View


def in_memory(plan: RegionPlan, v: Any) -> View:
    """Return a variable in memory."""
    x = plan.get(v)
    return plan.copy(x, plan.shape(v), x.kind) if isinstance(x, Number) else x


def write_loops(
    t: Any, lengths: Sequence[Length], views: Sequence[View], steps: Sequence[Sequence[Any]],
    pointers: Sequence[str], body: Callable[[list[str]], None],
) -> None:  # fmt: skip
    """Write loops that call `body(addresses)` for all elements along axes. steps: of each view."""
    if not lengths:
        return body(list(pointers))

    def one(i: str) -> None:
        at = [step(t, p, i, s[0], v.value.kind) for v, s, p in zip(views, steps, pointers)]
        write_loops(t, lengths[1:], views, [s[1:] for s in steps], at, body)

    return write_loop(t, lengths[0], one)


def write_loop(t: Any, n: Length, body: Callable[[str], None]) -> None:
    """Write a loop if there is more than one element."""
    if n == ONE:
        return body("0")

    def one(i: str, _: list[str]) -> list[str]:
        body(i)
        return []

    t.loop("0", t.length(n), "1", one)
    return None


def step(t: Any, pointer: str, i: str, far: Length | None, kind: str) -> str:
    """Return the address of element i along an axis."""
    if far is None or i == "0":
        return pointer
    at = i if far == ONE else t.new(f"mul i64 {i}, {t.length(far)}")
    return str(t.at(pointer, at, kind))


def check_index(t: Any, i: str, n: str) -> str:
    """Return an index counted from the front. The kernel refuses if it is out of bounds."""
    below = t.new(f"icmp slt i64 {i}, 0")
    found = t.new(f"select i1 {below}, i64 {t.new(f'add i64 {i}, {n}')}, i64 {i}")
    good, bad = t.label(), t.label()
    t.do(f"br i1 {t.new(f'icmp ult i64 {found}, {n}')}, label %{good}, label %{bad}")
    t.start(bad)
    t.do("ret i64 1")
    t.start(good)
    return str(found)
