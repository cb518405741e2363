"""Graphs as text and pictures. Reads graphs and never changes them.

`tree.py`: `debugprint`. `formula.py`: `pp`. `picture.py`: `pydotprint`, `d3viz`, and pictures as
`svg`, `dot` or `mermaid`. `latex.py`: mathematical formulas; `mathml.py`: these formulas for
browsers. `notebook.py`: notebook views. `identifier.py`: letters that identify nodes.
"""

from typing import Any

from rewrite_engine.printing.formula import pp, pprint, short
from rewrite_engine.printing.latex import latex, rule_as_latex
from rewrite_engine.printing.mathml import mathml
from rewrite_engine.printing.notebook import (
    as_html,
    as_latex,
    as_svg,
    rule_as_html,
    rules_as_html,
)
from rewrite_engine.printing.picture import d3viz, dot, mermaid, pydotprint, svg
from rewrite_engine.printing.tree import debugprint, dprint, op_debug_information

__all__ = [
    "as_html",
    "as_latex",
    "as_svg",
    "d3viz",
    "debugprint",
    "dot",
    "dprint",
    "latex",
    "mathml",
    "mermaid",
    "op_debug_information",
    "pp",
    "pprint",
    "pydotprint",
    "rule_as_html",
    "rule_as_latex",
    "rules_as_html",
    "short",
    "svg",
]


def __getattr__(name: str) -> Any:
    """Return the op `Print`, which other libraries have in this module."""
    if name != "Print":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rewrite_engine.tensor.flow.watch import Print

    return Print
