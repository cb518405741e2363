"""Examples for rules that have none, as their docstrings may have them."""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.check.example import with_rules
from rewrite_engine.check.firing import own_terms
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.match.suggest import SourceWriter


def example_of(rule: Rule, added: RuleSet) -> str:
    """Return an example in which a rule fires, as its docstring may have it."""
    leaves: dict[Variable, str] = {}
    terms = own_terms(rule)[0] if isinstance(rule, DataRule) else []
    for term in terms:
        leaves |= {v: _leaf(v) for v in explicit_graph_inputs([term])}
        writer = SourceWriter({"pt": pt}, leaves)
        try:
            return f">>> rewritten({writer.source(term)}) gives {with_rules(added)(term)}"
        except Exception:  # not of all terms there is a text
            continue
    roots = ", ".join([str(getattr(root, "__name__", root)) for root in rule.roots() or ()])
    return f">>> rewritten(...) of a term of {roots or 'an op'} that the rule rewrites"


def _leaf(v: Any) -> str:
    """Return the source of an input of an example."""
    makers = {0: "scalar", 1: "vector", 2: "matrix"}
    shape = v.type.shape
    if v.type.dtype == "float64" and shape == (None,) * v.type.ndim and v.type.ndim in makers:
        return f'pt.{makers[v.type.ndim]}("{v.name}")'
    return f'pt.tensor("{v.name}", "{v.type.dtype}", {shape})'
