"""Graphs as text. Looks at graphs and never changes them.

`tree.py` `debugprint` · `formula.py` `pp` · `identifier.py` the letters that nodes are called by.
"""

from typing import Any

from rewrite_engine.printing.formula import pp, pprint
from rewrite_engine.printing.tree import debugprint, dprint, op_debug_information

__all__ = ["debugprint", "dprint", "op_debug_information", "pp", "pprint"]


def __getattr__(name: str) -> Any:
    """`Print`, the op, where the field has it."""
    if name != "Print":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rewrite_engine.tensor.flow.watch import Print

    return Print
