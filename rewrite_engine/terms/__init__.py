"""Terms: graphs as etuples, logic variables, unification. Knows no tensors.

`logic.py`: logic variables and patterns. `convert.py`: graphs to etuples and back.
`unification.py`: unification and reification. `print.py`: terms as text. `dispatch.py`:
registration with miniKanren. Start with `convert.py`.

The names here are looked up on first use (PEP 562), which also imports `dispatch.py`: rules only
need `logic.py`, so compiling a function does not wait for miniKanren.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewrite_engine.lazy import lookup

if TYPE_CHECKING:  # the same names as in `_HOMES`
    from rewrite_engine.terms.convert import GraphTuple, etuplize, etuplize_all, from_term
    from rewrite_engine.terms.logic import LogicVariable, PatternTerm, Term, nth, pattern_classes
    from rewrite_engine.terms.print import etuple_text, term_text
    from rewrite_engine.terms.unification import literal_matches, logic_variables, reify, unify

_HOMES = {
    "GraphTuple": "convert",
    **dict.fromkeys(("LogicVariable", "PatternTerm", "Term", "nth", "pattern_classes"), "logic"),
    **dict.fromkeys(("etuple_text", "term_text"), "print"),
    **dict.fromkeys(("etuplize", "etuplize_all", "from_term"), "convert"),
    **dict.fromkeys(("literal_matches", "logic_variables", "reify", "unify"), "unification"),
}

__all__ = [
    "GraphTuple", "LogicVariable", "PatternTerm", "Term", "etuple_text", "etuplize", "etuplize_all",
    "from_term", "literal_matches", "logic_variables", "nth", "pattern_classes",
    "reify", "term_text", "unify",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = lookup(__name__, _HOMES, first="dispatch")
