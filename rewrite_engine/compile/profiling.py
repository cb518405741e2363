"""`ProfileStats`: how often and how long a function, its ops and its nodes run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from threading import Lock
from typing import Any

from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.origin import forward_line
from rewrite_engine.link import ticks

__all__ = ["ProfileStats"]

ProfiledNode = tuple[FrozenGraph, Apply]


class ProfileStats:
    """What `function(…, profile=True)` counts, all times in seconds; several functions may have
    one. A copy, or a pickled one, is empty.

    message: which one it is. fct_callcount, fct_call_time: calls of the functions, and their time;
    first_call_time: that of the first call. compile_time: of `function`, of which rewriter_time and
    linker_time.

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
        self._lock = Lock()
        self.reset()

    def reset(self) -> None:
        """Forget the calls so far."""
        with self._lock:
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
        """Where a linker leaves the times of the nodes of a graph (linked again, it goes on)."""
        found = self.graphs.get(fgraph)
        if found is None or [n.op for n in found.nodes] != [n.op for n in nodes]:
            found = self.graphs[fgraph] = ticks.Ticks(nodes)
        return found

    def rewritten(self, seconds: float, rewriting: float) -> None:
        """Note the time before linking, and how much of it was rewriting."""
        self.compile_time += seconds
        self.rewriter_time += rewriting

    def linked(self, seconds: float) -> None:
        """Note the time of linking."""
        self.compile_time += seconds
        self.linker_time += seconds

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls another and counts that."""

        @wraps(call)
        def profiled(*args: Any, **kwargs: Any) -> Any:
            start = ticks.now()
            try:
                return call(*args, **kwargs)
            finally:
                seconds = ticks.now() - start
                with self._lock:
                    if self.first_call_time is None:
                        self.first_call_time = seconds
                    self.fct_callcount += 1
                    self.fct_call_time += seconds

        return profiled

    # --- what is known ------------------------------------------------------------------------

    @property
    def apply_time(self) -> dict[ProfiledNode, float]:
        """The time of each node, by graph and node; of one that holds a graph, that of the nodes in
        it as well, which have their own entries.
        """
        return self._rows("seconds")

    @property
    def apply_callcount(self) -> dict[ProfiledNode, int]:
        """How often each node ran."""
        return self._rows("runs")

    def _rows(self, what: str) -> dict[ProfiledNode, Any]:
        return {
            (fgraph, node): value
            for fgraph, found in list(self.graphs.items())
            for node, value in zip(found.nodes, getattr(found, what), strict=True)
        }

    def op_time(self) -> dict[Any, float]:
        """The time of each op, without that of the nodes in the graph that it may hold."""
        found = _sums([(node.op, s) for (_, node), s in self.apply_time.items()])
        for fgraph, op in _holders(found).items():
            if fgraph in self.graphs:
                found[op] -= sum(self.graphs[fgraph].seconds)
        return found

    def op_callcount(self) -> dict[Any, int]:
        """How often each op ran."""
        return _sums([(node.op, n) for (_, node), n in self.apply_callcount.items()])

    def class_time(self) -> dict[type, float]:
        """The time of each class of ops, like `op_time`."""
        return _sums([(type(op), s) for op, s in self.op_time().items()])

    def class_callcount(self) -> dict[type, int]:
        """How often ops of each class ran."""
        return _sums([(type(op), n) for op, n in self.op_callcount().items()])

    def line_time(self) -> dict[tuple[str, int], float]:
        """The time of each line of the user (file and number), without that of nodes in graphs that
        its nodes hold; of gradients that of the line that was differentiated.
        """
        inside = {op: sum(self.graphs[g].seconds) for g, op in self._inner().items()}
        pairs = [(line_of(n), s - inside.get(n.op, 0.0)) for (_, n), s in self.apply_time.items()]
        return _sums([(line, s) for line, s in pairs if line is not None])

    def line_callcount(self) -> dict[tuple[str, int], int]:
        """How often nodes of each line ran."""
        pairs = [(line_of(node), n) for (_, node), n in self.apply_callcount.items()]
        return _sums([(line, n) for line, n in pairs if line is not None])

    def _inner(self) -> dict[FrozenGraph, Any]:
        ops = [node.op for found in self.graphs.values() for node in found.nodes]
        return {g: op for g, op in _holders(ops).items() if g in self.graphs}

    def as_dict(self) -> dict[str, Any]:
        """All that is known, for JSON: calls, compiling, and rows by op, node and line."""
        ops, lines = self.op_callcount(), self.line_callcount()
        nodes = self.apply_callcount
        return {
            "message": self.message,
            "calls": self.fct_callcount,
            "seconds": self.fct_call_time,
            "first_call": self.first_call_time,
            "compiling": {
                "seconds": self.compile_time, "rewriting": self.rewriter_time,
                "linking": self.linker_time,
            },
            "ops": [{"op": str(op), "seconds": s, "runs": ops[op]}
                    for op, s in self.op_time().items()],
            "lines": [{"file": line[0], "line": line[1], "seconds": s, "runs": lines[line]}
                      for line, s in self.line_time().items()],
            "nodes": [{"node": str(place[1]), "line": line_of(place[1]), "seconds": s,
                       "runs": nodes[place]} for place, s in self.apply_time.items()],
        }  # fmt: skip

    def speedscope(self) -> dict[str, Any]:
        """The times as a flame graph, in the format of speedscope (https://www.speedscope.app): the
        function, below it lines, below these ops; of nodes in loops, below the op that holds them.
        """
        frames: dict[str, int] = {}

        def frame(name: str) -> int:
            return frames.setdefault(name, len(frames))

        top, holders = frame(self.message or "function"), self._inner()
        inside = {op: sum(self.graphs[g].seconds) for g, op in holders.items()}
        samples, weights = [], []
        for (fgraph, node), seconds in self.apply_time.items():
            line = line_of(node)
            stack = [top, *[frame(str(op)) for g, op in holders.items() if g is fgraph]]
            stack += [] if line is None else [frame(f"{os.path.basename(line[0])}:{line[1]}")]
            samples.append([*stack, frame(str(node.op))])
            weights.append(max(seconds - inside.get(node.op, 0.0), 0.0))
        return {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": [{"name": name} for name in frames]},
            "profiles": [{
                "type": "sampled", "name": self.message or "function", "unit": "seconds",
                "startValue": 0, "endValue": sum(weights), "samples": samples, "weights": weights,
            }],
        }  # fmt: skip

    # --- printing -----------------------------------------------------------------------------

    def summary(
        self, file: Any = None, n_ops_to_print: int = 20, n_apply_to_print: int = 20
    ) -> None:
        """Print what is known, what took the most time first: by class, by op, by line, by node.

        file: where to (standard output). n_ops_to_print, n_apply_to_print: at most so many ops, and
        nodes.
        """
        from rich.console import Console

        console = Console(file=file, highlight=False)
        for line in self._head():
            console.print(line, markup=False, soft_wrap=True)
        classes, ops, nodes = self.class_callcount(), self.op_callcount(), self.apply_callcount
        most, holders = n_ops_to_print, _holders(ops)
        tables: list[Any] = [
            ("op class", "classes", most, self.class_time(), classes, lambda cls: [cls.__name__]),
            ("op", "ops", most, self.op_time(), ops, lambda op: [str(op)]),
            ("line", "lines", most, self.line_time(), self.line_callcount(), _told_line),
            ("node", "nodes", n_apply_to_print, self.apply_time, nodes, partial(_told, holders)),
        ]
        for what, many, most, times, runs, told in tables:
            if times:
                ranked = sorted(times, key=lambda key: -times[key])
                rows = [[*self._numbers(times[k], runs[k]), *told(k)] for k in ranked[:most]]
                rest = sum([times[key] for key in ranked[most:]])
                if len(ranked) > most:
                    rows.append(["", _time(rest), "", "", f"… {len(ranked) - most} more {many}"])
                console.print(_table(["%", "time", "runs", "per run", what, "built at"], rows))

    def _calls(self) -> str:
        n = self.fct_callcount
        return f"{n} call{'' if n == 1 else 's'}, {_time(self.fct_call_time)}"

    def _first(self) -> float:
        return self.first_call_time or 0.0

    def _head(self) -> list[str]:
        rest = self.compile_time - self.rewriter_time - self.linker_time
        parts = {"rewriting": self.rewriter_time, "linking": self.linker_time, "the rest": rest}
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
            lines.append("the linker tells no times of nodes")
        return lines

    def _numbers(self, seconds: float, runs: int) -> list[str]:
        share = f"{100 * seconds / self.fct_call_time:.1f}" if self.fct_call_time else ""
        return [share, _time(seconds), str(runs), _time(seconds / runs) if runs else ""]


def _holders(ops: Iterable[Any]) -> dict[FrozenGraph, Any]:
    """The ops that hold graphs, by their graphs."""
    return {op.fgraph: op for op in ops if isinstance(op, HasInnerGraph)}


def _told(holders: dict[FrozenGraph, Any], place: ProfiledNode) -> list[str]:
    """A node, with the op whose graph it is in, and the user's line."""
    fgraph, node = place
    inside = f"in {holders[fgraph]}: " if fgraph in holders else ""
    where = node.where()
    line = "" if where is None else f"{os.path.basename(where[0])}:{where[1]}"
    return [inside + str(node), line]


def line_of(node: Apply) -> tuple[str, int] | None:
    """The user's line of a node; of a node of a gradient, of what was differentiated."""
    return forward_line(node.origin) or node.where()


def _told_line(line: tuple[str, int]) -> list[str]:
    return [f"{os.path.basename(line[0])}:{line[1]}"]


def _table(heads: list[str], rows: list[list[str]]) -> Any:
    """A `rich` table; what stands in the fifth column is cut where there is no room."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for k, head in enumerate(heads[: max([len(row) for row in rows])]):
        table.add_column(head, justify="right" if k < 4 else "left", no_wrap=k != 4)
    for row in rows:
        table.add_row(*[Text(text[:500], no_wrap=True, overflow="ellipsis") for text in row])
    return table


def _sums(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in pairs:
        found[key] = found.get(key, 0) + value
    return found


def _time(seconds: float) -> str:
    """A time with its unit, to three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 else f"{seconds:.0f} s"
    return f"{seconds * 1e6:.3g} µs"
