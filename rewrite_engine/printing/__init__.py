"""Graphs as text. Looks at graphs and never changes them.

`tree.py` `debugprint` · `formula.py` `pp` · `identifier.py` the letters that nodes are called by.
"""

from rewrite_engine.printing.formula import pp, pprint
from rewrite_engine.printing.tree import debugprint, dprint, op_debug_information

__all__ = ["debugprint", "dprint", "op_debug_information", "pp", "pprint"]
