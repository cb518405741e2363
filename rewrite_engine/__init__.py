"""Symbolic arrays whose graphs are improved by rules that you can read, check, trace and switch
off.

The names of this package are loaded at their first use (PEP 562): importing it loads neither NumPy
nor any op. The modules are listed in `docs/architecture.md`.

>>> import rewrite_engine as rw
>>> import rewrite_engine.tensor as pt
>>> x = pt.vector("x")
>>> f = rw.function([x], pt.exp(x).sum())
>>> f([0.0, 0.0])
array(2.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Eager, because the submodule of the same name would otherwise hide the object; it is tiny.
from rewrite_engine.config import config
from rewrite_engine.lazy import lookup

if TYPE_CHECKING:  # what type checkers and editors see; the same names as in `_HOMES`
    from rewrite_engine import gradient as gradient
    from rewrite_engine import printing as printing
    from rewrite_engine import tensor as tensor
    from rewrite_engine.check import CheckModule
    from rewrite_engine.compile import In as In
    from rewrite_engine.compile import Mode as Mode
    from rewrite_engine.compile import Out as Out
    from rewrite_engine.compile.export import export as export
    from rewrite_engine.compile.from_graph import OpFromGraph as OpFromGraph
    from rewrite_engine.compile.function import function as function
    from rewrite_engine.compile.ops import as_op as as_op
    from rewrite_engine.compile.ops import wrap_py as wrap_py
    from rewrite_engine.compile.saving import load as load
    from rewrite_engine.compile.saving import save as save
    from rewrite_engine.compile.shared import shared as shared
    from rewrite_engine.explain import ExplainModule
    from rewrite_engine.explain.accuracy.measure import accuracy as accuracy
    from rewrite_engine.gradient import Lop as Lop
    from rewrite_engine.gradient import Rop as Rop
    from rewrite_engine.gradient import grad as grad
    from rewrite_engine.gradient import pullback as pullback
    from rewrite_engine.gradient import pushforward as pushforward
    from rewrite_engine.graph.node import Apply as Apply
    from rewrite_engine.graph.node import Constant as Constant
    from rewrite_engine.graph.node import Variable as Variable
    from rewrite_engine.graph.op import Op as Op
    from rewrite_engine.graph.origin import provenance as provenance
    from rewrite_engine.graph.replace import clone_replace as clone_replace
    from rewrite_engine.graph.replace import graph_replace as graph_replace
    from rewrite_engine.graph.type import Type as Type
    from rewrite_engine.language import expand as expand
    from rewrite_engine.language import find as find
    from rewrite_engine.link.jax import jax_function as jax_function
    from rewrite_engine.loops import scan as scan
    from rewrite_engine.match.query import Query as Query
    from rewrite_engine.match.query import RewriteDatabaseQuery as RewriteDatabaseQuery
    from rewrite_engine.match.ruleset import RuleSet as RuleSet
    from rewrite_engine.pipeline.assumptions import assume as assume
    from rewrite_engine.pipeline.packs import load_rules as load_rules
    from rewrite_engine.pipeline.phases import rewrite_graph as rewrite_graph
    from rewrite_engine.printing import debugprint as debugprint
    from rewrite_engine.printing import dprint as dprint
    from rewrite_engine.printing import pp as pp
    from rewrite_engine.tensor.flow.branches import ifelse as ifelse

    __version__: str
    check: CheckModule  # modules that can be called
    explain: ExplainModule

_PACKAGES = frozenset({"check", "explain", "gradient", "printing", "tensor"})

_HOMES = {
    "Apply": "graph.node",
    "Constant": "graph.node",
    "Variable": "graph.node",
    "Op": "graph.op",
    "Type": "graph.type",
    "provenance": "graph.origin",
    "export": "compile.export",
    "jax_function": "link.jax",
    "clone_replace": "graph.replace",
    "graph_replace": "graph.replace",
    "scan": "loops",
    "assume": "pipeline.assumptions",
    "ifelse": "tensor.flow.branches",
    "expand": "language",
    "find": "language",
    "rewrite_graph": "pipeline.phases",
    "Lop": "gradient",
    "Rop": "gradient",
    "grad": "gradient",
    "pullback": "gradient",
    "pushforward": "gradient",
    "In": "compile",
    "Mode": "compile",
    "OpFromGraph": "compile.from_graph",
    "Out": "compile",
    "as_op": "compile.ops",
    "wrap_py": "compile.ops",
    "function": "compile",
    "load": "compile.saving",
    "save": "compile.saving",
    "shared": "compile",
    "accuracy": "explain.accuracy.measure",
    "Query": "match.query",
    "RewriteDatabaseQuery": "match.query",
    "RuleSet": "match.ruleset",
    "load_rules": "pipeline.packs",
    "debugprint": "printing",
    "dprint": "printing",
    "pp": "printing",
}

__all__ = ["__version__", "config", *sorted(_PACKAGES), *_HOMES]

_find = lookup(__name__, _HOMES | {name: f"{name}:" for name in _PACKAGES})


if not TYPE_CHECKING:  # a checker is to find misspelt names

    def __getattr__(name: str) -> Any:
        """Load the module of `name` at its first use."""
        if name != "__version__":
            return _find(name)
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("rewrite-engine")
        except PackageNotFoundError:  # run from the sources, not installed
            found = "0+unknown"
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    """Return the public names, including those not yet loaded."""
    return sorted(__all__)
