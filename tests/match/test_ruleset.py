"""Sets of rules: arithmetic, look-up, queries by tag, name, phase and claim."""

from __future__ import annotations

import pickle
from types import ModuleType
from typing import Any

import pytest

from rewrite_engine.errors import DuplicateRuleError, PatternError, UnknownNameError
from rewrite_engine.match.claim import approx, assumes, exact, refines
from rewrite_engine.match.decorate import node_rewriter, relation
from rewrite_engine.match.decorate import rule as plain_rule
from rewrite_engine.match.query import Query, RewriteDatabaseQuery
from rewrite_engine.match.ruleset import RuleSet
from tests.match.language import rule
from tests.toy import exp, log, neg, sin, sub


@rule(phase="first", claim=exact)
def cancel(a):
    """-(-a)."""
    return neg(neg(a)) >> a


@rule(phase="first", claim=approx(3), tags=("slow",))
def log_exp(a):
    """log(exp(a))."""
    return log(exp(a)) >> a


@rule(phase="second", claim=assumes("fastmath"))
def gone(a):
    """a - a."""
    return sub(a, a) >> 0


@node_rewriter([sin], phase="second")
def free(fgraph, node):
    """Not data."""


ALL = RuleSet([cancel, log_exp, gone, free])


def names(rules: RuleSet) -> list[str]:
    return [r.short_name for r in rules]


def test_order_and_look_up() -> None:
    assert names(ALL) == ["cancel", "log_exp", "gone", "free"]
    assert len(ALL) == 4
    assert cancel in ALL
    assert "test_ruleset/cancel" in ALL
    assert "cancel" in ALL  # as ALL["cancel"] finds it
    assert "cance" not in ALL
    assert ALL["cancel"] is ALL["test_ruleset/cancel"] is cancel
    with pytest.raises(UnknownNameError, match="no rule is called 'cancle'; did you mean cancel"):
        ALL["cancle"]


def test_a_name_that_several_have() -> None:
    twin = type(cancel)(cancel.fn, phase="first")
    twin.name = "other/cancel"
    both = "'cancel' names several rules: write test_ruleset/cancel or other/cancel"
    with pytest.raises(UnknownNameError, match=both):
        (ALL + twin)["cancel"]


def test_a_hint_names_a_rule_once() -> None:
    twin = type(cancel)(cancel.fn, phase="first")
    twin.name = "other/cancel"
    for given, wanted in (
        ("cancal", "cancel"),
        ("other/cancal", "other/cancel"),
        ("test_ruleset/cancal", "test_ruleset/cancel"),
        ("log_expp", "log_exp"),
        ("test_ruleset/log_expp", "test_ruleset/log_exp"),
    ):
        with pytest.raises(UnknownNameError) as info:
            (ALL + twin)[given]
        said = str(info.value).partition("did you mean ")[2].rstrip("?").split(" or ")
        assert said[0] == wanted
        assert not {wanted, wanted.rpartition("/")[2]} & set(said[1:])
        assert len(set(said)) == len(said)


def test_arithmetic() -> None:
    assert names(RuleSet([cancel]) + RuleSet([gone, cancel])) == ["cancel", "gone"]
    assert names(RuleSet([cancel]) + gone) == ["cancel", "gone"]
    assert names(ALL - gone) == ["cancel", "log_exp", "free"]
    assert names(ALL - "gone") == ["cancel", "log_exp", "free"]
    assert names(ALL - RuleSet([gone, free])) == ["cancel", "log_exp"]
    assert RuleSet([cancel, log_exp, gone, free]) == ALL
    assert RuleSet([log_exp, cancel, gone, free]) != ALL
    assert hash(ALL) == hash(RuleSet(ALL))
    assert repr(ALL) == "<RuleSet of 4 rules>"
    with pytest.raises(UnknownNameError):
        ALL - "nothing"
    assert names(ALL - "slow") == names(ALL - "approx") == ["cancel", "gone", "free"]
    assert names(ALL - "second") == ["cancel", "log_exp"]
    assert names(ALL & RuleSet([free, cancel])) == ["cancel", "free"]
    assert ALL | RuleSet([free, cancel]) == ALL == ALL + RuleSet() == RuleSet() + ALL
    assert sum([RuleSet([gone]), RuleSet([free])], RuleSet()) == RuleSet([gone, free])
    for wrong in (lambda: ALL + "cancel", lambda: ALL & "cancel", lambda: ALL - 3):
        with pytest.raises(TypeError):
            wrong()


def twin_of(original: Any, **changed: Any) -> Any:
    """Another rule of the same name."""
    return rule(phase=original.phase, **changed)(original.fn)


def test_a_name_stands_for_one_rule() -> None:
    other = twin_of(log_exp, claim=exact)
    with pytest.raises(DuplicateRuleError) as info:
        ALL + other
    assert "two rules are called test_ruleset/log_exp" in str(info.value)
    assert "overwrite=True" in str(info.value)
    assert "test_ruleset.py:" in str(info.value)
    changed = ALL.adding(other, overwrite=True)
    assert names(changed) == names(ALL)
    assert changed["log_exp"] is other
    assert ALL["log_exp"] is log_exp
    assert ALL.adding(log_exp, cancel) == ALL


def test_places_are_told_by_name() -> None:
    few = RuleSet([cancel, gone])
    assert names(few.adding(log_exp, before="gone")) == ["cancel", "log_exp", "gone"]
    assert names(few.adding(log_exp, after="cancel")) == ["cancel", "log_exp", "gone"]
    assert names(few.adding(log_exp, free, before="test_ruleset")) == [
        "log_exp", "free", "cancel", "gone",
    ]  # fmt: skip
    assert names(few.adding(RuleSet([log_exp]), after="test_ruleset")) == [
        "cancel", "gone", "log_exp",
    ]  # fmt: skip
    assert names(ALL.adding(free, before="cancel")) == ["free", "cancel", "log_exp", "gone"]
    other = twin_of(cancel)
    assert few.adding(other, after="gone", overwrite=True).rules == (gone, other)
    with pytest.raises(UnknownNameError, match="no rule here is called 'cancle'; did you mean"):
        few.adding(free, before="cancle")
    with pytest.raises(ValueError, match="one place"):
        few.adding(free, before="cancel", after="gone")


def test_sets_with_the_same_rules_share_what_they_found_out() -> None:
    one, two = RuleSet(ALL), ALL.excluding("slow").adding(log_exp, after="cancel")
    assert one is not two
    assert one.dispatch is two.dispatch
    assert (one - cancel).dispatch is not one.dispatch


@pytest.mark.parametrize("verb", ["including", "excluding", "requiring"])
def test_unknown_names_are_refused(verb: str) -> None:
    with pytest.raises(UnknownNameError, match="name or tag 'slwo'; did you mean slow"):
        getattr(ALL, verb)("slwo")


def test_rules_may_be_named_by_themselves() -> None:
    assert names(ALL.excluding(cancel, approx)) == ["gone", "free"]
    assert names(ALL.excluding("approx(ulps=3)", "assumes(fastmath)")) == ["cancel", "free"]
    with pytest.raises(TypeError, match="takes names, tags, rules and claims"):
        ALL.excluding(3)


def test_phases_and_tags() -> None:
    assert names(ALL.phase("first")) == ["cancel", "log_exp"]
    assert names(ALL.excluding("slow")) == ["cancel", "gone", "free"]
    assert names(ALL.excluding("test_ruleset/cancel", "second")) == ["log_exp"]
    assert names(ALL.requiring("first", "slow")) == ["log_exp"]
    assert names(ALL.excluding(approx)) == ["cancel", "gone", "free"]
    assert names(ALL.excluding(exact)) == ["log_exp", "gone", "free"]
    assert names(ALL.requiring(refines)) == ["free"]
    assert names(ALL.requiring(approx)) == ["log_exp"]


def test_an_assumption_has_to_be_granted() -> None:
    assert names(ALL.query(Query())) == ["cancel", "log_exp", "free"]
    assert names(ALL.including("fastmath")) == ["cancel", "log_exp", "gone", "free"]
    assert names(ALL.query(Query().including("fastmath").excluding("fastmath"))) == [
        "cancel",
        "log_exp",
        "free",
    ]


def test_queries_are_values() -> None:
    plain = Query()
    one = plain.including("a").excluding("b").requiring("c")
    assert plain == Query()
    assert one.mentioned == {"a", "b", "c"}
    assert one.excluding("a").include == frozenset()
    assert one.including("b").exclude == frozenset()
    assert hash(one) == hash(plain.including("a").excluding("b").requiring("c"))
    assert Query().excluding(approx(2), approx).exclude == {"approx"}
    assert one == Query(include="a", exclude=["b"], require=("c",))
    assert Query(include=None) == Query([]) == RewriteDatabaseQuery() == plain
    assert repr(one) == "Query().including('a').excluding('b').requiring('c')"
    assert pickle.loads(pickle.dumps(one)) == one


def test_claims() -> None:
    assert str(exact) == "exact"
    assert str(approx(8)) == "approx(ulps=8)"
    assert str(assumes("fastmath")) == "assumes(fastmath)"
    assert assumes("fastmath").tags == {"assumes", "fastmath"}
    assert assumes("x").condition == "x"
    assert exact.condition is None
    assert log_exp.claim == approx(3)


def test_names_a_query_may_use() -> None:
    assert {"first", "slow", "cancel", "test_ruleset", "fastmath", "approx"} <= ALL.names
    assert RuleSet().names == frozenset()


def test_rules_of_a_module_in_source_order() -> None:
    module = ModuleType(__name__)
    module.__dict__.update(b=gone, a=cancel, foreign=_foreign())
    assert names(RuleSet.of(module)) == ["gone", "cancel"]


def _foreign() -> Any:
    def far(a):
        """Defined elsewhere."""
        return neg(a) >> a

    far.__module__ = "elsewhere"
    return rule(far)


# --- what is easily mistaken --------------------------------------------------------------------


def test_one_tag_is_one_tag() -> None:
    @rule(tags="mine")
    def tagged(a):
        """An example."""
        return log(exp(a)) >> a

    assert "mine" in tagged.names
    assert "m" not in tagged.names


def test_one_op_needs_no_list_and_a_bare_decorator_is_told() -> None:
    def fires(fgraph, node):
        """An example."""

    for tracks in (log, type(log), [log], (log,), {log}):
        assert node_rewriter(tracks)(fires).considers(log)
    assert node_rewriter()(fires).considers(log)
    with pytest.raises(PatternError, match=r"@node_rewriter\(\[op, ...\]\); not <function"):
        node_rewriter(fires)
    with pytest.raises(PatternError, match=r"@relation\(tracks=\[op, ...\]\); not 'log'"):
        relation(tracks="log")
    with pytest.raises(PatternError, match=r"@rule\(phase='canonicalize'\)"):
        plain_rule("canonicalize")
    with pytest.raises(TypeError, match="a RuleSet takes rules, not 'a'"):
        RuleSet("ab")


@pytest.mark.parametrize("other", [3, None, "cancel", [3]])
def test_what_is_no_rule_is_not_added(other: Any) -> None:
    with pytest.raises(TypeError, match="a RuleSet takes rules, not .*"):
        RuleSet([cancel]).adding(other)
    with pytest.raises(UnknownNameError, match="no rule is called 0"):
        RuleSet([cancel])[0]  # type: ignore[index]


def test_the_name_of_a_file_is_no_rule() -> None:
    with pytest.raises(TypeError, match=r"those of a file: load_rules\('mine.py'\)"):
        ALL.adding("mine.py")
