"""Rules that fail: the error names rule and term, and the graph is as it was before."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from rewrite_engine.config import config
from rewrite_engine.errors import (
    CycleError,
    MissingInputError,
    PatternError,
    RuleError,
    RuleRaisedError,
    RuleTypeError,
)
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import compute, node_rewriter
from rewrite_engine.match.fact import given
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.step import RuleWarning
from rewrite_engine.rewrite.trace import Trace, brief
from tests.match.language import x, y
from tests.rewrite.graphs import named
from tests.toy import DivMod, Num, divmod_, exp, log, mul, neg, num, pos, sin, sub

stranger = num("stranger")


@node_rewriter([sin])
def raises(fgraph, node):
    """Raises."""
    raise ZeroDivisionError("on purpose")


@node_rewriter([sin])
def foreign(fgraph, node):
    """Proposes a variable of nowhere."""
    return neg(stranger)


@node_rewriter([sin])
def above(fgraph, node):
    """Proposes for its input what is computed from its output."""
    return {node.inputs[0]: exp(node.outputs[0])}


@node_rewriter([sin])
def text(fgraph, node):
    """Returns text."""
    return "sin"


@node_rewriter([sin])
def texts(fgraph, node):
    """Returns texts."""
    return ["sin"]


@node_rewriter([sin])
def too_many(fgraph, node):
    """Returns too many."""
    return [node.inputs[0], node.inputs[0]]


@node_rewriter([exp])
def wider(fgraph, node):
    """Returns a less precise type."""
    return neg(node.inputs[0])


class Other(Num):
    """Another kind of numbers."""

    __props__ = ("positive",)

    def is_super(self, otype: Any) -> bool | None:
        return None

    def same_kind(self, otype: Any) -> bool:
        return False


FAILURES: dict[str, tuple[Any, type[RuleError], str, type[Exception] | None]] = {
    "raises": (raises, RuleRaisedError, "raised ZeroDivisionError: on purpose", ZeroDivisionError),
    "foreign": (foreign, RuleError, "a term that cannot be put in", MissingInputError),
    "above": (above, RuleError, "a term that cannot be put in", CycleError),
    "text": (text, PatternError, "must return a variable, 1 of them, a dict or None", None),
    "texts": (texts, PatternError, "proposes 'sin' for", None),
    "too_many": (too_many, PatternError, "must return a variable, 1 of them", None),
    "wider": (wider, RuleTypeError, "changes the type: ", None),
    "guard": (
        named("guard", lambda a: (sin(a) >> a, given(lambda a: 1 / 0))),
        RuleRaisedError,
        "raised ZeroDivisionError",
        ZeroDivisionError,
    ),
    "right": (
        named("right", lambda a: sin(a) >> compute(lambda a: a.nothing)),
        RuleRaisedError,
        "raised AttributeError",
        AttributeError,
    ),
}
DRIVERS: dict[str, Callable[..., Any]] = {
    "equilibrium": EquilibriumOptimizer,
    "walk": WalkingOptimizer,
}


def graph() -> FunctionGraph:
    return FunctionGraph([x, y], [mul(sin(log(x)), y), neg(exp(sin(log(x)))), neg(neg(y))])


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
@pytest.mark.parametrize("case", FAILURES.values(), ids=FAILURES)
def test_a_rule_that_fails(case: Any, driver: Any, traced: bool) -> None:
    rule, cls, what, cause = case
    fgraph = graph()
    before = [brief(v, 9) for v in fgraph.outputs]
    with pytest.raises(RuleError) as info:
        driver([rule]).rewrite(fgraph, Trace() if traced else None)
    message = str(info.value)
    assert (type(info.value).__name__, isinstance(info.value, cls)) == (cls.__name__, True)
    assert message.startswith(f"rule {rule.name} ({rule.where[0]}:{rule.where[1]}")
    assert what in message
    assert "\nat " in message
    assert "input 0: " in message
    assert f"built at {__file__}:" in message
    if cause is not None:
        assert isinstance(info.value.__cause__, cause)
    if cls is RuleRaisedError:
        again = pickle.loads(pickle.dumps(info.value))
        assert (type(again), str(again)) == (RuleRaisedError, message)
    fgraph.check_integrity()
    assert [brief(v, 9) for v in fgraph.outputs] == before


class Unsupported(NotImplementedError):
    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")


@pytest.mark.parametrize(
    ("raised", "caught"),
    [(Unsupported("sin", "no"), NotImplementedError), (KeyError("sin"), KeyError.__base__),
     (ZeroDivisionError("sin"), ArithmeticError), (OSError("sin"), RuleRaisedError)],
)  # fmt: skip
def test_what_a_rule_raises_can_be_caught(raised: Exception, caught: type[Exception]) -> None:
    def stop(a: Any) -> Any:
        raise raised

    rule = named("stop", lambda a: sin(a) >> compute(stop))
    with pytest.raises(caught, match=rf"rule \S*stop(?s:.*)\n.*raised {type(raised).__name__}"):
        EquilibriumOptimizer([rule]).rewrite(graph())


@pytest.mark.parametrize("case", FAILURES.values(), ids=FAILURES)
def test_a_warning_instead(case: Any) -> None:
    rule, _, what, _ = case
    config.on_rule_error = "warn"
    fgraph = graph()
    neg_neg = named("neg_neg", lambda a: neg(neg(a)) >> a)
    with pytest.warns(RuleWarning) as seen:
        result = EquilibriumOptimizer([rule, neg_neg]).rewrite(fgraph)
    assert any(what in str(w.message) for w in seen)
    assert result.fired == {neg_neg.name: 1}  # the others go on
    fgraph.check_integrity()
    assert brief(fgraph.outputs[0], 9) == "sin(log(x)) * y"


def test_no_warning_without_a_failure() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EquilibriumOptimizer([named("never", lambda a: neg(sin(a)) >> a)]).rewrite(graph())


def test_a_right_side_whose_type_does_not_fit_everywhere_is_a_guard() -> None:
    """exp is positive, its operand may not be: the rule applies where it is."""
    rule = named("exp_log", lambda a: exp(log(a)) >> a)
    p = pos("p")
    fgraph = FunctionGraph([x, p], [exp(log(x)), exp(log(p))])
    result = EquilibriumOptimizer([rule]).rewrite(fgraph)
    assert result.firings == 1
    assert fgraph.outputs[1] is fgraph.inputs[1]
    assert brief(fgraph.outputs[0], 9) == "exp(log(x))"


def test_a_right_side_of_another_kind_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Num, "same_kind", lambda self, other: False)
    rule = named("worse", lambda a: exp(a) >> neg(a))
    with pytest.raises(RuleTypeError, match="has type Pos, but its replacement .* has Num"):
        EquilibriumOptimizer([rule]).rewrite(FunctionGraph(None, [exp(x)]))


def test_several_replacements_are_checked_before_the_first() -> None:
    @node_rewriter([DivMod])
    def half(fgraph, node):
        """The first is fine, the second is not."""
        return [sub(*node.inputs), "text"]

    fgraph = FunctionGraph([x, y], divmod_(x, y))
    with pytest.raises(PatternError):
        EquilibriumOptimizer([half]).rewrite(fgraph)
    assert brief(fgraph.outputs[0], 9) == "DivMod(x, y)[0]"
    fgraph.check_integrity()


def test_what_failed_leaves_no_rest() -> None:
    fgraph = graph()
    size = len(fgraph)
    with pytest.raises(RuleError):
        EquilibriumOptimizer([foreign]).rewrite(fgraph)
    assert len(fgraph) == size
    assert stranger not in fgraph
