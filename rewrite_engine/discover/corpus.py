"""Which rules would be used: `Corpus` holds the functions that some scripts compile, with their
gradients, and counts those in which a left side occurs.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.compile import observe
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.gradient import grad
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.language import find, rewritten_graph
from rewrite_engine.match.equation import Equation
from rewrite_engine.match.rule import DataRule


@dataclass
class Corpus:
    """Graphs in which rules may be met. functions: outputs of each, as they are written, and after
    all rules. failed: why a script gave no graphs, by its path.
    """

    functions: list[Sequence[Variable]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def add(self, outputs: Sequence[Variable]) -> None:
        """Add a function by its outputs: with its gradient, and what rules make of both."""
        written = [*outputs, *gradients(outputs)]
        try:
            self.functions.append([*written, *rewritten_graph(written).outputs])
        except RewriteEngineError:
            self.functions.append(written)

    def met(self, rule: DataRule | Equation) -> int:
        """Return in how many functions the left side of a rule occurs, whatever its guards say."""
        one = rule.forward if isinstance(rule, Equation) else rule
        anywhere = one.copied(lowered=one.lowered._replace(guards=()))
        found = [next(find(outputs, anywhere), None) for outputs in self.functions]
        return sum([match is not None for match in found])


def gradients(outputs: Iterable[Variable]) -> Iterator[Variable]:
    """Yield the gradients of floating outputs by floating inputs."""
    for v in outputs:
        if getattr(v.type, "kind", "") != "f":
            continue
        wrt = [x for x in explicit_graph_inputs([v]) if getattr(x.type, "kind", "") == "f"]
        try:
            total = pt.sum(v) if v.type.ndim else v
            yield from grad(total, wrt, disconnected_inputs="ignore") if wrt else ()
        except RewriteEngineError:
            continue


def corpus_of(
    paths: Iterable[Path | str], told: Callable[[str], Any] = lambda line: None
) -> Corpus:
    """Return the functions that scripts compile. paths: Python files, and folders of them; each is
    run as `__main__`. told: is called with a line on each script. A script that fails counts as far
    as it came; `failed` says why. Raises `FileNotFoundError`.
    """
    corpus = Corpus()
    for path in scripts(map(Path, paths)):
        told(f"running {path}")
        with collected(corpus.add):
            try:
                _run(path)
            except (Exception, SystemExit) as error:
                if not isinstance(error, SystemExit) or error.code:
                    corpus.failed[str(path)] = f"{type(error).__name__}: {error}"
    return corpus


def scripts(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield files, and the Python files in folders. Raises `FileNotFoundError`."""
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.py"))
        elif path.exists():
            yield path
        else:
            raise FileNotFoundError(f"there is no file or folder {str(path)!r}")


def _run(path: Path) -> None:
    arguments, places = sys.argv, sys.path[:]
    sys.argv, sys.path = [str(path)], [str(path.parent), *places]
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv, sys.path[:] = arguments, places


@contextmanager
def collected(take: Callable[[Sequence[Variable]], Any]) -> Iterator[None]:
    """Pass on the outputs, as written, of each function that is compiled in the `with` block."""

    def observer(function: Any, before: Any, trace: Any, seconds: Any) -> None:
        if before is not None:
            found.append(list(before.outputs))

    found: list[Sequence[Variable]] = []
    observe.append(observer)
    try:
        yield
    finally:
        observe.remove(observer)
        for outputs in found:
            take(outputs)
