"""What a graph may not have after a phase, held on request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.check.legal import HELD, held
from rewrite_engine.config import config
from rewrite_engine.errors import IllegalGraphError
from rewrite_engine.pipeline.phases import NAMES

x, y = pt.vectors("x y")
TERMS = [
    ("neg_of_neg", pt.neg(pt.neg(x))), ("sub_of_neg", pt.sub(x, pt.neg(y))),
    ("log_of_exp", pt.log(pt.exp(x))),
    ("abs_of_nonneg", pt.abs(pt.sqr(x))), ("log_of_one_plus", pt.log(1 + x)),
    ("abs_of_nonneg", pt.abs(pt.exp(x) * pt.sqr(y))),  # (as a fact says)
    ("over_power_of_two", x / 2), ("abs_of_neg", pt.abs(-x)),
    ("sum_of_neg", pt.sum(-x)), ("pow_two", x ** 2), ("cos_of_neg", pt.cos(-x)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    with config.change_flags(check_phases=True):
        yield


@pytest.mark.parametrize(("rule", "term"), TERMS)
def test_a_term_that_stays_is_told(rule: str, term: pt.TensorVariable) -> None:
    rw.function([x, y], term, on_unused_input="ignore")
    mode = rw.Mode("fast_run").excluding(rule)
    with pytest.raises(IllegalGraphError, match="after the phase '.*' the graph has "):
        rw.function([x, y], term, mode=mode, on_unused_input="ignore")


def test_nothing_is_held_by_default() -> None:
    with config.change_flags(check_phases=False):
        rw.function([x], pt.log(pt.exp(x)), mode=rw.Mode("fast_run").excluding("log_of_exp"))


def test_every_phase_exists() -> None:
    assert {*HELD} <= {*NAMES}


def test_the_spec_is_that_of_all_rules_without_assumptions() -> None:
    assert len(held(("canonicalize",))) > 60
    both = held(("canonicalize", "stabilize"))
    assert {r.phase for r in both} == {"canonicalize", "stabilize"}
    assert {r.phase for r in held(("stabilize",))} == {"stabilize"}
    assert not [r.name for r in both if r.needs_grant]


@pytest.mark.parametrize("left_out", ["stabilize", "specialize"])
def test_phases_that_did_not_run_promise_nothing(left_out: str) -> None:
    rw.function([x], pt.log(1 + x) / 2, mode=rw.Mode("fast_run").excluding(left_out))
    rw.function([x], pt.log(1 + x) / 2, mode=rw.Mode("fast_run").including("saturate"))
