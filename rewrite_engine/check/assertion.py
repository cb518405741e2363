"""For tests of rules: what a term becomes, that values stay, and terms and values as Hypothesis
strategies. The plugin for pytest has the same (`plugin.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.check.claim import sides, terms_of
from rewrite_engine.check.draw import draws
from rewrite_engine.check.lengths import small_lengths
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.judge.difference import BothSides, both_sides
from rewrite_engine.judge.verdict import Verdict, case_text, judge_terms
from rewrite_engine.language import rewritten_graph
from rewrite_engine.match.claim import Claim, refines
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.rewrite.trace import Trace, brief

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def assert_rewrites(
    term: Any,
    to: Any,
    rules: Iterable[Rule] = (),
    only: Iterable[Any] | None = None,
    excluding: Iterable[Any] = (),
    including: Iterable[Any] = (),
) -> None:
    """Assert what a term becomes; if it does not, the trace is shown.

    to: the text of the result, a term, or None for a term that stays as it is. rules: used beside
    the others, in the default pipeline; only: these alone, in one phase. Raises `AssertionError`.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.vector("x")
    >>> assert_rewrites(pt.log(1 + x), "log1p(x)")
    """
    trace = Trace(terms=True)
    graph = rewritten_graph(
        [term], including=including, rules=rules, only=only, excluding=excluding, trace=trace
    )
    found = brief(graph.outputs[0], 20)
    wanted = to if isinstance(to, str) else brief(term if to is None else to, 20)
    steps = [f"    {r.rule_name}: {r.before} → {r.after}" for r in trace]
    told = "\n".join(steps or ["    no rule fired"])
    if found != wanted:
        raise AssertionError(f"{brief(term, 20)} becomes {found}, not {wanted}\n{told}")


def assert_same_values(
    term: Any,
    other: Any,
    given: Mapping[Any, Any] | None = None,
    claim: Claim = refines,
    stabilises: bool = False,
) -> None:
    """Assert that a term may take the place of another one, by what a claim promises.

    given: {input: value}; None: special values, shapes and layouts of all kinds. stabilises: what
    is NaN at an infinity may become the limit. Raises `AssertionError` with the smallest case.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.vector("x")
    >>> assert_same_values(pt.log(1 + x), pt.log1p(x))
    >>> assert_same_values(x - x, pt.zeros_like(x))
    Traceback (most recent call last):
    AssertionError: the terms, refines: NaN becomes a number, which is the limit
    ...
    """
    two = BothSides("the terms", claim, term, other, limits=stabilises)
    inputs = list(dict.fromkeys(explicit_graph_inputs([term, other])))
    drawn = [small_lengths(one, [term, other]) for one in draws(inputs, 0)]
    values = drawn if given is None else [dict(given)]
    with np.errstate(all="ignore"):
        for one in values:
            arrays = {v: np.asarray(a, v.type.dtype) for v, a in one.items()}
            verdict = judge_terms(two, arrays)
            if verdict.broken:
                raise AssertionError(_text(two, verdict))


def _text(two: BothSides, verdict: Verdict) -> str:
    return f"{two.name}, {two.promise}: {verdict.why}\n{case_text(two, verdict)}"


def rule_strategies(rule: DataRule) -> SearchStrategy[tuple[BothSides, dict[Any, Any]]]:
    """A Hypothesis strategy: both sides of a data rule, and values for their inputs. (Where the
    rule fires nowhere, nothing can be drawn.)
    """
    from hypothesis import strategies as st

    def made(seed: int) -> Any:
        two, inputs = known[seed % len(known)]
        values = list(islice(draws(inputs, seed, tame=two.granted == "fastmath"), 12))
        return two, small_lengths(values[seed // len(known) % len(values)], [two.term, two.new])

    known: Sequence[Any] = [
        (both_sides(rule, term, new), inputs)
        for term, inputs, _ in islice(terms_of(rule), 500)
        if (new := sides(rule, term)) is not None
    ]
    return st.integers(0, 1 << 20).map(made) if known else st.nothing()


def assert_keeps_claim(two: BothSides, given: dict[Any, Any]) -> None:
    """Assert that values are as a rule claims: of what `rule_strategies` draws."""
    with np.errstate(all="ignore"):
        verdict = judge_terms(two, given)
    if verdict.broken:
        raise AssertionError(_text(two, verdict))
