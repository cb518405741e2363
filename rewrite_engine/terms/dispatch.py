"""Registration of graphs and patterns with `etuples`, `cons`, `unification` and `kanren`.

Importing this makes their functions (`etuplize`, `rator`, `rands`, `apply`, `car`, `cdr`, `unify`,
`reify`), and with them relations such as `eq`, `conso`, `applyo`, `walko`, `reduceo`, work on
variables directly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Number
from typing import Any

import cons.core
import etuples.dispatch
import unification.core
from cons.core import ConsError, ConsPair, NonCons
from etuples.core import ExpressionTuple
from unification import Var

from rewrite_engine.graph.intern import Record
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.terms.convert import GraphTuple, etuplize, make, null
from rewrite_engine.terms.logic import LogicVariable, PatternTerm
from rewrite_engine.terms.unification import Reifier, logic_variables, solve


def _shallow(x: Any) -> GraphTuple:
    """Return the term of a variable, node or pattern, with unconverted operands."""
    term = etuplize(x, shallow=True)
    if term is x:
        raise ConsError("Not a cons pair")
    return term  # type: ignore[no-any-return]


def _apply(op: Op, operands: Sequence[Any]) -> Any:
    """Return `op(*operands)`, or its term if it contains a logic variable."""
    keeps = isinstance(operands, GraphTuple)  # the operands of a term know that term
    term: Any = (op,) + operands if keeps else make((op, *operands))  # type: ignore[operator]
    return term if term._evaled_obj is null and logic_variables(term) else term.evaled_obj


def _etuplize(x: Any, shallow: bool = False, *args: Any, **options: Any) -> Any:
    """Convert graphs for `etuples.etuplize`; operators and operands are converted by its own
    rules.
    """
    if options.keys() & {"rator_transform_fn", "rands_transform_fn"}:
        return etuples.dispatch.etuplize.dispatch(object)(x, shallow, *args, **options)
    return etuplize(x, shallow)


def _reify(x: Any, s: Mapping[Any, Any]) -> Iterator[Any]:
    """Reify in the protocol of `unification`: yield the open parts, a mark, the result."""
    reifier = Reifier(s)
    new = reifier.result(x)
    for variable in reifier.open:  # noqa: UP028  (values are sent in, which a dict does not take)
        yield variable
    yield unification.core.construction_sentinel
    yield reifier.finish(x, new)


for kind in (Variable, Apply, PatternTerm):
    NonCons.register(kind)  # or else `cons` asks a variable for its length
    cons.core._car.add((kind,), lambda x: _shallow(x)._tuple[0])
    # (a slice knows its parent: consing head and tail gives that back)
    cons.core._cdr.add((kind,), lambda x: _shallow(x)[1:])
    etuples.dispatch.etuplize.add((kind,), _etuplize)
etuples.dispatch.etuplize.add((Record,), _etuplize)
etuples.dispatch.apply.add((Op, Sequence), _apply)
etuples.dispatch.apply.add((Op, ExpressionTuple), _apply)
unification.core._reify.add((GraphTuple, Mapping), _reify)
unification.core._reify.add((PatternTerm, Mapping), _reify)
graphs = (Variable, Apply, GraphTuple, PatternTerm)
others = (*graphs, ExpressionTuple, ConsPair)
pairs: set[tuple[Any, Any]] = {(a, b) for a in graphs for b in others}
pairs |= {(PatternTerm, b) for b in (tuple, Var)}
pairs |= {(Record, b) for b in (ExpressionTuple, GraphTuple, PatternTerm)}
pairs |= {(Constant, Number), (LogicVariable, object), (LogicVariable, LogicVariable)}
pairs |= {(LogicVariable, Var), (LogicVariable, PatternTerm), (LogicVariable, ConsPair)}
for a, b in pairs:
    unification.core._unify.add((a, b, Mapping), solve)
    unification.core._unify.add((b, a, Mapping), solve)
