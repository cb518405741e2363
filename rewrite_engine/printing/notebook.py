"""Notebook views of variables, graphs, functions and rules: formulas as MathML, with the LaTeX and
a picture of the graph folded below. Wide content scrolls; of a large graph, the part near the
outputs is shown. The pieces are in `graph/html.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from rewrite_engine.errors import plural
from rewrite_engine.graph.html import bold, code, faint, first, folded, scrolled, table, whole
from rewrite_engine.graph.node import Apply
from rewrite_engine.printing.latex import latex, rule_as_latex
from rewrite_engine.printing.mathml import mathml
from rewrite_engine.printing.part import GraphPart, part_of
from rewrite_engine.printing.picture import svg
from rewrite_engine.printing.tree import sources

#: what a cell has room for: characters of a formula, nodes, and what they are computed from
MAX_CHARACTERS, MAX_NODES, MAX_EDGES = 2000, 60, 200
#: rules of a set that are shown, and how many are unfolded
MAX_RULES, MAX_UNFOLDED = 60, 12


def as_html(graph_like: Any) -> str:
    """Return the notebook view of a variable, a graph or a function."""
    part = _shown(graph_like)
    drawn = plural(len(part.nodes), "node")
    text = as_latex(graph_like)
    parts = [_heading(graph_like), scrolled(mathml(text), short=True)]
    if part.cut:
        drawn = f"the {drawn} nearest to the outputs"
    if part.nodes:
        picture = as_svg(graph_like)
        shown = scrolled(picture) if picture else faint("too wide for a picture here: see `svg`")
        parts.append(folded(f"Graph: {drawn}", shown))
    return whole(*parts, folded("LaTeX", code(text)))


def as_latex(graph_like: Any) -> str:
    """Return the LaTeX of the part that a notebook shows."""
    return latex(graph_like, MAX_CHARACTERS, len(_shown(graph_like).nodes) or 1)


def as_svg(graph_like: Any) -> str | None:
    """Return the picture of the part that a notebook shows; None if even one node is too wide."""
    nodes = _shown(graph_like).nodes
    return svg(graph_like, most=len(nodes) or 1) if _edges(nodes) <= MAX_EDGES else None


def _shown(graph_like: Any) -> GraphPart:
    """Return the part of a graph that fits in a notebook."""
    outputs = [v for source in sources(graph_like) for v in source.outputs]
    most = MAX_NODES
    while _edges((part := part_of(outputs, most)).nodes) > MAX_EDGES and most > 1:
        most //= 2
    return part


def _edges(nodes: Sequence[Apply]) -> int:
    return sum([len(node.inputs) for node in nodes])


def _heading(graph_like: Any) -> str:
    """Describe a function, a graph or a variable in a line."""
    fgraph = getattr(graph_like, "fgraph", graph_like)
    if not hasattr(fgraph, "outputs"):
        return faint(str(graph_like.type)) if hasattr(graph_like, "type") else ""
    size = plural(len(fgraph), "node")
    program = getattr(graph_like, "program", None)
    if program is None:
        return faint(f"graph of {plural(len(fgraph.inputs), 'input')}, {size}")
    names = ", ".join([a.name or str(a.type) for a in graph_like.inputs])
    return faint(f"{program.name}({names}) · {size} · {graph_like.mode!r}")


def rule_as_html(rule: Any) -> str:
    """Return the notebook view of a rule: its sides, its claim and its reason."""
    about = [str(x) for x in (rule.phase, rule.claim) if x is not None]
    reason = rule.doc.partition("\n\n")[0].strip()
    return whole(
        faint(" · ".join([rule.name, *about])),
        _formula(rule),
        faint(reason) if reason else "",
        folded("Rule", code(rule.text)),
    )


def rules_as_html(rules: Any) -> str:
    """Return the notebook view of a set of rules: the first rules of each phase, as formulas."""
    phases: dict[str | None, list[Any]] = {}
    for rule in rules:
        phases.setdefault(rule.phase, []).append(rule)
    parts = [bold(plural(len(rules), "rule"))]
    most = max(MAX_RULES // max(len(phases), 1), 1)
    for phase, found in phases.items():
        rows = ([escape(one.name), _formula(one), escape(str(one.claim))] for one in found)
        shown = table(("rule", "", "claim"), first(rows, len(found), most))
        title = f"{phase or 'without a phase'}: {plural(len(found), 'rule')}"
        parts.append(folded(title, shown, is_open=len(rules) <= MAX_UNFOLDED))
    return whole(*parts)


def _formula(rule: Any) -> str:
    """Return both sides of a rule as a formula; for a rule that is code, its text."""
    if hasattr(rule, "_repr_latex_"):
        return scrolled(mathml(rule_as_latex(rule), annotated=False))
    return code(rule.text)
