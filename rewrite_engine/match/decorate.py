"""Constructors of rules for authors: `@rule`, `@node_rewriter`, `@relation`, `compute`. No tensors
here: `language.py` binds these to the operators of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from rewrite_engine.errors import PatternError, refuse_options
from rewrite_engine.graph.op import Op
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.mistakes import collected
from rewrite_engine.match.outline import ROOTS
from rewrite_engine.match.pattern import names_of
from rewrite_engine.match.relation import RelationRule
from rewrite_engine.match.rule import DataRule, NodeRewriter, Overlaps
from rewrite_engine.match.ruleset import Table

#: a function of a rule's variables, whose number a checker reads off a lambda
OfVariables = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[..., Any]
)


def rule(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a data rule of a function whose parameters are the variables, and which returns
    `left >> right`. options: the options of `DataRule`.

    Raises a `RuleError` with the rule's name, its file and line, and all of its mistakes.
    """
    if fn is not None and not callable(fn):
        raise PatternError(f"pass the phase by name: @rule(phase={fn!r}), not @rule({fn!r})")
    make = partial(collected, DataRule, **options)
    return make if fn is None else make(fn)


def table(
    tag: str,
    *rows: tuple[Any, ...],
    rule: Callable[..., Any],
    tags: Iterable[str] = (),
    overlaps: Overlaps = "",
    **sorts: Any,
) -> Table:
    """Make a data rule of each row `(name, lambda x: left >> right, claim, reason)`, optionally
    with an example, "term -> its rewritten form".

    tag: a name that selects all of them. rule: the constructor that makes a rule of a function.
    overlaps: of each rule. sorts: of the variables, by their names. Raises `PatternError` for a row
    of another form, and for a sort of a variable that no row has.
    """
    rules, more = [], {tags} if isinstance(tags, str) else set(tags)
    known: set[str] = set()
    for row in rows:
        if len(row) not in (4, 5) or not str(row[0]).isidentifier() or not callable(row[1]):
            raise PatternError(
                f"table {tag!r}: a row must be (name, lambda x: left >> right, claim, reason), and "
                f"perhaps an example; not {row!r}"
            )
        name, fn, claim, reason, *example = row
        fn.__name__ = fn.__qualname__ = name
        fn.__doc__ = reason
        for before, _, after in [text.rpartition(" -> ") for text in example]:
            fn.__doc__ += f"\n\n>>> rewritten({before.strip()})\n{after}"
        names = names_of(fn)
        known |= set(names)
        fn.__annotations__ = {v: sort for v, sort in sorts.items() if v in names}
        rules.append(rule(fn, claim=claim, tags={tag, *more}, overlaps=overlaps))
    if not known >= sorts.keys():
        unused = ", ".join(sorted(sorts.keys() - known))
        raise PatternError(f"table {tag!r}: no row has a variable {unused}")
    return Table([rule for rule in rules if rule is not None])  # (see `collected`)


def node_rewriter(
    tracks: Any = None, inplace: bool = False, requirements: Any = (), **options: Any
) -> Callable[..., NodeRewriter]:
    """Make a rule of a function `(fgraph, node)` returning replacements for the outputs, or None.

    tracks: ops, classes of ops, or predicates on ops (one op or class needs no list); None: every
    node. options: the options of `NodeRewriter`. inplace, requirements: options of other libraries;
    other values than the defaults raise `OptionError`. Explain in the docstring why it is not data.
    Instead of None the function may return `unknown("why", v)`, or the answer of a fact: traces and
    `why_not` report it.
    """
    why = "ops declare in-place forms (`inplace_on_inputs`), and graphs need no requirements"
    refuse_options("node_rewriter", why, inplace=inplace, requirements=requirements or None)
    roots = several(tracks, "@node_rewriter([op, ...])")
    return partial(collected, NodeRewriter, tracks=roots, **options)


def relation(*, tracks: Any = None, **options: Any) -> Callable[..., RelationRule]:
    """Make a rule of a miniKanren relation `(term, result) -> goal`; the first answer that fits is
    used. options: the options of `RelationRule`.
    """
    roots = several(tracks, "@relation(tracks=[op, ...])")
    return partial(collected, RelationRule, tracks=roots, **options)


def several(tracks: Any, wanted: str) -> Sequence[Any] | None:
    """Return the `tracks` of a rule as a sequence. Raises `PatternError` for anything else."""
    if isinstance(tracks, Op | type):
        return [tracks]
    if tracks is None:
        return None
    if isinstance(tracks, list | tuple | set | frozenset) and all(map(callable, tracks)):
        return [one if isinstance(one, ROOTS) else _asking(one) for one in tracks]
    raise PatternError(f"tracks must be a list of ops or classes, {wanted}; not {tracks!r}")


def _asking(predicate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a predicate as a function."""
    return lambda op: predicate(op)


def compute(fn: OfVariables) -> Compute:
    """Make a right side of a function of the rule's variables, by name; it may return None for
    "does not apply".
    """
    return Compute(fn, names_of(fn))
