"""Terms: graphs as etuples, logic variables, unification. Knows no tensors.

`expression.py` the etuple of a graph · `logic.py` variables and patterns · `convert.py` graphs to
terms and back · `unify.py` unification · `print.py` terms as text · `dispatch.py` what miniKanren
sees. Start with `convert.py`.
"""

import rewrite_engine.terms.dispatch  # importing it registers
from rewrite_engine.terms.convert import etuplize, etuplize_all, from_term, from_terms
from rewrite_engine.terms.expression import GraphTuple, nth
from rewrite_engine.terms.logic import LogicVariable, PatternTerm, Term, pattern_classes
from rewrite_engine.terms.print import etuple_text, term_text
from rewrite_engine.terms.unify import (
    literal_matches,
    logic_variables,
    reify,
    rename_apart,
    substitute,
    unify,
)

__all__ = [
    "GraphTuple", "LogicVariable", "PatternTerm", "Term", "etuple_text", "etuplize", "etuplize_all",
    "from_term", "from_terms", "literal_matches", "logic_variables", "nth", "pattern_classes",
    "reify", "rename_apart", "substitute", "term_text", "unify",
]  # fmt: skip
