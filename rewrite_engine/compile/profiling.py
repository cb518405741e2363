"""`ProfileStats`: counts and times of a function, its ops and its nodes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial, wraps
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from rewrite_engine import hooks
from rewrite_engine.compile.machine import busy_note
from rewrite_engine.compile.profile_cost import amount, kernels_among, operations, peak
from rewrite_engine.errors import plural
from rewrite_engine.fork import free_after_fork
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import forward_line
from rewrite_engine.link import ticks
from rewrite_engine.link.plan.held import Peak
from rewrite_engine.rewrite.result import Result, RuleStats

__all__ = ["ProfileStats"]

_lock = free_after_fork(RLock())

ProfiledNode = tuple[FrozenGraph, Apply]


class ProfileTable(NamedTuple):
    """Table of a profile. what: the subject of a row. numbers: how many columns hold numbers; these
    come first.
    """

    what: str
    heads: list[str]
    rows: list[list[str]]
    numbers: int


class ProfileStats:
    """Counts and times that `function(…, profile=True)` collects, in seconds. Several functions may
    share one. A copied or unpickled one is empty.

    message: a label. fct_callcount, fct_call_time: the calls of the functions and their time;
    first_call_time: the time of the first call. compile_time: the time of `function`, which
    includes rewriter_time and linker_time. results: the outcome of rewriting, one `Result` for each
    function.

    >>> import rewrite_engine as rw
    >>> import rewrite_engine.tensor as pt
    >>> x = pt.dvector("x")
    >>> f = rw.function([x], pt.exp(x).sum(), profile=True)
    >>> f([0.0]), f([1.0])
    (array(1.), array(2.71828183))
    >>> f.profile.fct_callcount, f.profile.op_callcount()
    (2, {exp: 2, Sum: 2})
    """

    def __init__(self, message: str | None = None) -> None:
        self.message = message
        self.compile_time = self.rewriter_time = self.linker_time = 0.0
        self.graphs: dict[FrozenGraph, ticks.Ticks] = {}
        self.results: list[Result] = []
        self.reset()

    def reset(self) -> None:
        """Clear the recorded calls."""
        with _lock:
            self.fct_callcount, self.fct_call_time = 0, 0.0
            self.first_call_time: float | None = None
            for found in self.graphs.values():
                found.reset()

    def __reduce__(self) -> Any:
        return ProfileStats, (self.message,)

    def __repr__(self) -> str:
        return f"<ProfileStats of {self.message or 'a function'}: {self._calls()}>"

    # --- what is told to it -------------------------------------------------------------------

    def ticks(self, fgraph: FrozenGraph, nodes: Sequence[Apply]) -> ticks.Ticks:
        """Return the record in which a linker stores the times of a graph's nodes. Linking the
        graph again continues the same record.
        """
        found = self.graphs.get(fgraph)
        if found is None or [n.op for n in found.nodes] != [n.op for n in nodes]:
            found = self.graphs[fgraph] = ticks.Ticks(nodes)
        return found

    def rewritten(self, seconds: float, rewriting: float, result: Any = None) -> None:
        """Record the time before linking, the share of it that was rewriting, and the result of
        rewriting.
        """
        self.compile_time += seconds
        self.rewriter_time += rewriting
        if isinstance(result, Result):
            self.results.append(result)

    def linked(self, seconds: float) -> None:
        """Record the time of linking."""
        self.compile_time += seconds
        self.linker_time += seconds

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls `call` and counts the call."""

        @wraps(call)
        def profiled(*args: Any, **kwargs: Any) -> Any:
            start = ticks.now()
            try:
                return call(*args, **kwargs)
            finally:
                seconds = ticks.now() - start
                with _lock:
                    if self.first_call_time is None:
                        self.first_call_time = seconds
                    self.fct_callcount += 1
                    self.fct_call_time += seconds

        return profiled

    # --- what is known ------------------------------------------------------------------------

    @property
    def apply_time(self) -> dict[ProfiledNode, float]:
        """Return the time of each node, by graph and node. The time of a node that holds a graph
        includes the nodes inside, which also have their own entries.
        """
        return self._rows("seconds")

    @property
    def apply_callcount(self) -> dict[ProfiledNode, int]:
        """Return how often each node ran."""
        return self._rows("runs")

    def _rows(self, what: str) -> dict[ProfiledNode, Any]:
        return {
            (fgraph, node): value
            for fgraph, found in list(self.graphs.items())
            for node, value in zip(found.nodes, getattr(found, what), strict=True)
        }

    def op_time(self) -> dict[Any, float]:
        """Return the time of each op, without the nodes of a graph that it holds."""
        found = _sums([(node.op, s) for (_, node), s in self.apply_time.items()])
        for fgraph, op in self._inner().items():
            found[op] -= sum(self.graphs[fgraph].seconds)
        return found

    def op_callcount(self) -> dict[Any, int]:
        """Return how often each op ran."""
        return _sums([(node.op, n) for (_, node), n in self.apply_callcount.items()])

    def class_time(self) -> dict[type, float]:
        """Return the time of each class of ops, like `op_time`."""
        return _sums([(type(op), s) for op, s in self.op_time().items()])

    def class_callcount(self) -> dict[type, int]:
        """Return how often ops of each class ran."""
        return _sums([(type(op), n) for op, n in self.op_callcount().items()])

    def line_time(self) -> dict[tuple[str, int], float]:
        """Return the time of each of the user's lines (file and number), without the nodes of
        graphs that its nodes hold. A gradient counts for the line that was differentiated.
        """
        inside = self._inside()
        pairs = [(line_of(n), s - inside.get(n.op, 0.0)) for (_, n), s in self.apply_time.items()]
        return _sums([(line, s) for line, s in pairs if line is not None])

    def line_callcount(self) -> dict[tuple[str, int], int]:
        """Return how often nodes of each line ran."""
        pairs = [(line_of(node), n) for (_, node), n in self.apply_callcount.items()]
        return _sums([(line, n) for line, n in pairs if line is not None])

    def apply_flops(self) -> dict[ProfiledNode, int]:
        """Return the floating-point operations of each node over all its runs, by graph and node. A
        node that holds a graph has no entry; the nodes inside have.
        """
        return operations(self.graphs)

    def memory_peak(self) -> Peak | None:
        """Return the most bytes that a call holds at once, with the node and the live values at
        that moment, for the shapes of the first call. Returns None before the first call.
        """
        return peak(self.graphs)

    def rule_stats(self) -> dict[str, RuleStats]:
        """Return the statistics of each rule during compilation: tries, firings, seconds, and
        separately the seconds of tries that loaded modules (`loading`).
        """
        return Result("", parts=list(self.results)).rules if self.results else {}

    def phase_time(self) -> dict[str, float]:
        """Return the time of each phase of rewriting, without the loading of modules."""
        leaves = [leaf for result in self.results for leaf in result.leaves()]
        return _sums([(leaf.name, leaf.seconds - leaf.loading) for leaf in leaves])

    def phase_firings(self) -> dict[str, int]:
        """Return how many rules fired in each phase."""
        leaves = [leaf for result in self.results for leaf in result.leaves()]
        return _sums([(leaf.name, leaf.firings) for leaf in leaves])

    @property
    def loading_time(self) -> float:
        """Return the part of the rewriting time spent on loading rules and the modules that they
        need. Only the first function of a process pays it.
        """
        if not self.results:
            return 0.0
        inside = sum([result.seconds for result in self.results])
        rules = sum([leaf.loading for result in self.results for leaf in result.leaves()])
        return max(self.rewriter_time - inside, 0.0) + rules

    def _inner(self) -> dict[FrozenGraph, Any]:
        ops = [node.op for found in self.graphs.values() for node in found.nodes]
        own = {g: g.holder for g in kernels_among(self.graphs)}
        return {g: op for g, op in _holders(ops).items() if g in self.graphs} | own

    def _inside(self) -> dict[Any, float]:
        """Return the time of the nodes in the graphs that ops hold, by op."""
        return _sums([(op, sum(self.graphs[g].seconds)) for g, op in self._inner().items()])

    def as_dict(self) -> dict[str, Any]:
        """Return the whole profile as data for JSON: calls, compilation by phase and rule, memory,
        and rows by op, node and line.
        """
        ops, lines = _by_name(self.op_callcount()), self.line_callcount()
        nodes, flops, fired = self.apply_callcount, self.apply_flops(), self.phase_firings()
        return {
            "message": self.message,
            "calls": self.fct_callcount,
            "seconds": self.fct_call_time,
            "first_call": self.first_call_time,
            "compiling": {
                "seconds": self.compile_time, "rewriting": self.rewriter_time,
                "linking": self.linker_time, "loading": self.loading_time,
                "phases": [{"phase": name, "seconds": s, "firings": fired[name]}
                           for name, s in self.phase_time().items()],
                "rules": [{"rule": name} | asdict(stats)
                          for name, stats in self.rule_stats().items()],
            },
            "flops": sum(flops.values()),
            "memory": self._memory(),
            "ops": [{"op": name, "seconds": s, "runs": ops[name]}
                    for name, s in _by_name(self.op_time()).items()],
            "lines": [{"file": line[0], "line": line[1], "seconds": s, "runs": lines[line]}
                      for line, s in self.line_time().items()],
            "nodes": [{"node": str(place[1]), "line": line_of(place[1]),
                       "lines": lines_of(place[1]), "seconds": s,
                       "runs": nodes[place], "flops": flops.get(place)}
                      for place, s in self.apply_time.items()],
        }  # fmt: skip

    def _memory(self) -> dict[str, Any] | None:
        found = self.memory_peak()
        if found is None:
            return None
        return {
            "bytes": found.bytes,
            "node": None if found.node is None else str(found.node),
            "line": None if found.node is None else line_of(found.node),
            "native": self._kept(),
            "held": [{"variable": repr(v), "bytes": n, "line": _line_of(v)}
                     for v, n in found.held],
        }  # fmt: skip

    def to_json(self, file: Any = None) -> str:
        """Return `as_dict` as JSON text, and write it to a file if a path is given."""
        return _written(json.dumps(self.as_dict(), indent=1), file)

    def speedscope(self, file: Any = None) -> dict[str, Any]:
        """Return the times as flame graphs in the format of speedscope
        (https://www.speedscope.app). The first has the function, below it lines, and below these
        ops; nodes in loops are below the op that holds them. The second has the phases of
        compilation, and below them rules. file: a path to write them to.
        """
        found = {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "exporter": "rewrite_engine",
            "name": self.message or "function",
            "activeProfileIndex": 0,
        } | flame_graphs([("calls", self._of_calls()), ("compiling", self._of_compiling())])
        _written(json.dumps(found), file)
        return found

    def _of_calls(self) -> Iterator[tuple[list[str], float]]:
        holders, inside = self._inner(), self._inside()
        for (fgraph, node), seconds in self.apply_time.items():
            line = line_of(node)
            stack = [
                self.message or "function",
                *[str(o) for g, o in holders.items() if g is fgraph],
            ]
            stack += [] if line is None else _told_line(line)
            yield [*stack, str(node.op)], seconds - inside.get(node.op, 0.0)

    def _of_compiling(self) -> Iterator[tuple[list[str], float]]:
        for leaf in [leaf for result in self.results for leaf in result.leaves()]:
            stack = ["compiling", "rewriting", leaf.name]
            yield from [([*stack, name], stats.seconds) for name, stats in leaf.tally.items()]
            inside = sum([stats.seconds for stats in leaf.tally.values()])
            yield stack, leaf.seconds - leaf.loading - inside
        between = self.rewriter_time - self.loading_time - sum(self.phase_time().values())
        yield ["compiling", "rewriting"], between
        yield ["compiling", "rewriting", "loading"], self.loading_time
        yield ["compiling", "linking"], self.linker_time
        yield ["compiling"], self.compile_time - self.rewriter_time - self.linker_time

    # --- printing -----------------------------------------------------------------------------

    def summary(
        self, file: Any = None, n_ops_to_print: int = 20, n_apply_to_print: int = 20
    ) -> None:
        """Print the profile, most expensive first: by class, by op, by line, by node.

        file: the destination (default: standard output). n_ops_to_print, n_apply_to_print: the
        maximum numbers of ops and nodes.
        """
        from rich.console import Console

        console = Console(file=file, highlight=False, force_jupyter=False)
        for line in self.head():
            console.print(line, markup=False, soft_wrap=True)
        for one in self.tables(n_ops_to_print, n_apply_to_print):
            console.print(_table(one))

    def _repr_html_(self) -> str:
        from rewrite_engine.compile.notebook import profile_as_html

        return profile_as_html(self)

    def tables(self, most_ops: int, most_nodes: int) -> Iterator[ProfileTable]:
        """Yield the tables that `summary` prints: by class of ops, by op, line and node, by phase
        and rule.
        """
        classes, ops, nodes = self.class_callcount(), self.op_callcount(), self.apply_callcount
        holders = self._inner()
        tables: list[Any] = [
            ("op class", "classes", self.class_time(), classes, lambda cls: [cls.__name__]),
            ("op", "ops", _by_name(self.op_time()), _by_name(ops), lambda name: [name]),
            ("line", "lines", self.line_time(), self.line_callcount(), _told_line),
            ("node", "nodes", self.apply_time, nodes, partial(_told, holders)),
        ]
        for what, many, times, runs, told in tables:
            if not times:
                continue
            most = most_nodes if what == "node" else most_ops
            ranked = sorted(times, key=lambda key: -times[key])
            rows = [[*self._numbers(times[k], runs[k]), *told(k)] for k in ranked[:most]]
            rest = sum([times[key] for key in ranked[most:]])
            if len(ranked) > most:
                rows.append(["", _time(rest), "", "", f"… {len(ranked) - most} more {many}"])
            fused = self._of_several_lines() if what == "line" else 0.0
            if fused:
                rows.append([*self._numbers(fused, 0)[:2], "", "", "kernels of several lines"])
            heads = ["%", "time", "runs", "per run", what, "built at"]
            yield ProfileTable(what, heads[: max(map(len, rows))], rows, 4)
        yield from self._of_rewriting(most_ops)

    def _of_several_lines(self) -> float:
        """Return the time of kernels of native code that compute nodes of several lines."""
        nodes = [(node, s) for (g, node), s in self.apply_time.items() if hasattr(g, "holder")]
        return sum([s for node, s in nodes if len(lines_of(node)) > 1])

    def _of_rewriting(self, most: int) -> Iterator[ProfileTable]:
        """Yield the tables of phases and rules."""
        fired, rules = self.phase_firings(), self.rule_stats()
        phases = [(name, s, fired[name]) for name, s in self.phase_time().items()]
        tried = [(name, stats.seconds, stats.firings) for name, stats in rules.items()]
        ranked = sorted(tried, key=lambda row: -row[1])
        whole = sum([s for _, s, _ in phases])
        for what, rows in (("phase", phases), ("rule", ranked)):
            told = [[f"{100 * s / whole if whole else 0:.1f}", _time(s), str(n), name]
                    for name, s, n in rows[:most]]  # fmt: skip
            if len(rows) > most:
                rest = sum([s for _, s, _ in rows[most:]])
                told.append(["", _time(rest), "", f"… {len(rows) - most} more {what}s"])
            if told:
                yield ProfileTable(what, ["%", "time", "fired", what], told, 3)

    def _calls(self) -> str:
        n = self.fct_callcount
        return f"{n} call{'' if n == 1 else 's'}, {_time(self.fct_call_time)}"

    def _first(self) -> float:
        return self.first_call_time or 0.0

    def head(self) -> list[str]:
        """Return lines with calls, times and memory."""
        rest = self.compile_time - self.rewriter_time - self.linker_time
        loading = self.loading_time
        parts = {
            "rewriting": self.rewriter_time - loading, "loading rules": loading,
            "linking": self.linker_time, "the rest": rest,
        }  # fmt: skip
        told = ", ".join([f"{what} {_time(seconds)}" for what, seconds in parts.items()])
        lines = [
            f"{self.message or 'function'}: {self._calls()}",
            f"compiled in {_time(self.compile_time)}: {told}",
        ]
        if self.graphs and self.fct_callcount:
            inside = sum(self.op_time().values())
            between = max(self.fct_call_time - inside, 0.0)
            first = "" if self.fct_callcount < 2 else f"; the first call {_time(self._first())}"
            lines.append(f"in nodes {_time(inside)}, around them {_time(between)}{first}")
        elif self.fct_callcount:
            lines.append("this linker does not time nodes")
        native = kernels_among(self.graphs)
        if native:
            regions = plural(len({g.holder for g in native}), "region")
            kernels = plural(sum([len(g.apply_nodes) for g in native]), "kernel")
            lines.append(f"{regions} of native code, {kernels}: each kernel has a row")
        busy = busy_note() if self.fct_callcount else ""
        return [*lines, *self._costs(), *([busy] if busy else [])]

    def _kept(self) -> int:
        """Return the bytes of temporaries that native code keeps between calls."""
        return sum([g.kept_bytes for g in kernels_among(self.graphs)])

    def _costs(self) -> Iterator[str]:
        """Yield lines about memory and operations."""
        found, calls = self.memory_peak(), self.fct_callcount
        if found is not None and found.bytes:
            text = f"memory: at most {amount(found.bytes, 'B')} at once"
            if found.node is not None:
                made = _told_outputs(found.node)
                text += f", while {made} is in memory{_in_brackets(found.node)}"
            largest = [
                f"{hooks.short(v, 30)} {amount(n, 'B')}{_in_brackets(v.owner)}"
                for v, n in [(_as_written(v), n) for v, n in found.held[:3]]
            ]
            kept = self._kept()
            if kept:
                what = "temporaries of native code, which are kept between calls"
                largest.append(f"{amount(kept, 'B')} {what}")
            yield f"{text}; most of it: {', '.join(largest)}"
        flops, seconds = sum(self.apply_flops().values()), sum(self.op_time().values())
        if flops and calls and seconds:
            each, rate = amount(flops / calls, "flop"), amount(flops / seconds, "flop/s")
            yield f"{each} a call, {rate} in nodes"

    def _numbers(self, seconds: float, runs: int) -> list[str]:
        share = f"{100 * seconds / self.fct_call_time:.1f}" if self.fct_call_time else ""
        return [share, _time(seconds), str(runs), _time(seconds / runs) if runs else ""]


def flame_graphs(graphs: Iterable[tuple[str, Iterable[tuple[list[str], float]]]]) -> dict[str, Any]:
    """Convert named graphs, each of stacks of names with their seconds, to the format of
    speedscope.
    """
    frames: dict[str, int] = {}
    profiles = []
    for name, rows in graphs:
        kept = [(stack, seconds) for stack, seconds in rows if seconds > 0]
        samples = [[frames.setdefault(x, len(frames)) for x in stack] for stack, _ in kept]
        weights = [seconds for _, seconds in kept]
        profiles.append({
            "type": "sampled", "name": name, "unit": "seconds", "startValue": 0,
            "endValue": sum(weights), "samples": samples, "weights": weights,
        })  # fmt: skip
    return {"shared": {"frames": [{"name": name} for name in frames]}, "profiles": profiles}


def _written(text: str, file: Any) -> str:
    if file is not None:
        Path(file).write_text(text, encoding="utf-8")
    return text


def _in_brackets(node: Apply | None) -> str:
    """Return the user's line of a node in brackets, if it is known."""
    lines = [] if node is None else lines_of(node)
    return f" ({_told_lines(lines)})" if lines else ""


def _as_written(v: Variable) -> Variable:
    """Return the variable of the graph in the place of an output of native code."""
    gives: Sequence[Variable] = () if v.owner is None else getattr(v.owner.op, "gives", ())
    return gives[v.owner.outputs.index(v)] if v.owner is not None and gives else v


def _told_outputs(node: Apply) -> str:
    """Describe the outputs of a node by their formulas: the first, and how many others."""
    told = list(dict.fromkeys([hooks.short(_as_written(v), 40) for v in node.outputs]))
    return told[0] + (f" (and {plural(len(told) - 1, 'other')})" if len(told) > 1 else "")


def _holders(ops: Iterable[Any]) -> dict[FrozenGraph, Any]:
    """Return the ops that hold graphs, by graph. (The graph of a region of native code is its
    kernels; a region may have variants, which `ProfileStats._inner` adds.)
    """
    return {op.fgraph: op for op in ops if isinstance(op, HasInnerGraph)}


def _told(holders: dict[FrozenGraph, Any], place: ProfiledNode) -> list[str]:
    """Describe a node in words: the op whose graph contains it, the node, and the user's line."""
    fgraph, node = place
    is_kernel = hasattr(fgraph, "holder")  # its name says so
    inside = f"in {holders[fgraph]}: " if fgraph in holders and not is_kernel else ""
    is_region = getattr(node.op, "is_region", False)
    lines = lines_of(node) if is_region else [line for line in [node.where()] if line]
    return [inside + str(node), *([_told_lines(lines)] if lines else [])]


def line_of(node: Apply) -> tuple[str, int] | None:
    """Return the user's line of a node; for a node of a gradient, the line that was differentiated.
    Returns None for native code that comes from several lines.
    """
    if getattr(node.op, "is_region", False):
        lines = lines_of(node)
        return lines[0] if len(lines) == 1 else None
    return forward_line(node.origin) or node.where()


def lines_of(node: Apply) -> list[tuple[str, int]]:
    """Return the user's lines of a node; for native code, of all nodes that it computes."""
    is_region = getattr(node.op, "is_region", False)
    lines = [line_of(one) for one in (node.op.nodes if is_region else [node])]
    return list(dict.fromkeys([line for line in lines if line is not None]))


def _line_of(v: Variable) -> tuple[str, int] | None:
    """Return the user's line that computes a variable."""
    return None if v.owner is None else line_of(v.owner)


def _told_line(line: tuple[str, int]) -> list[str]:
    return [f"{os.path.basename(line[0])}:{line[1]}"]


def _told_lines(lines: Sequence[tuple[str, int]]) -> str:
    """Describe the first of some lines, and how many more there are."""
    more = f", … {len(lines) - 1} more" if len(lines) > 1 else ""
    return _told_line(lines[0])[0] + more


def _table(one: ProfileTable) -> Any:
    """Build a `rich` table; text after the numbers is cut if there is no space."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for k, head in enumerate(one.heads):
        table.add_column(
            head, justify="right" if k < one.numbers else "left", no_wrap=k != one.numbers
        )
    for row in one.rows:
        table.add_row(*[Text(text[:500], no_wrap=True, overflow="ellipsis") for text in row])
    return table


def _by_name(counts: dict[Any, Any]) -> dict[str, Any]:
    """Return sums by the names of ops: ops of one name are one row of a table."""
    return _sums([(str(op), n) for op, n in counts.items()])


def _sums(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in pairs:
        found[key] = found.get(key, 0) + value
    return found


def _time(seconds: float) -> str:
    """Format a time with its unit, with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 else f"{seconds:.0f} s"
    return f"{seconds * 1e6:.3g} µs"
