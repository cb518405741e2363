"""Derivations of nodes, and why a rule did not fire in a whole function."""

from __future__ import annotations

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import UnknownNameError
from rewrite_engine.explain import explain
from rewrite_engine.explain.diagnosis import find_rule
from rewrite_engine.explain.why import derivation, find_nodes, not_fired
from rewrite_engine.match.claim import assumes
from rewrite_engine.match.decorate import rule
from rewrite_engine.match.equation import equation
from rewrite_engine.pipeline.phases import all_rules
from rewrite_engine.rewrite.strategies import innermost, repeat, seq

x, m = pt.vector("x"), pt.matrix("m")
F = rw.OpFromGraph([x], [pt.log(1 + pt.exp(x)) * 1.0], name="f")
G = rw.OpFromGraph([x], [F(pt.sin(x)) + 1.0], name="g")
NOT_INPLACE = rw.Mode().excluding("inplace")


def record(target, **options):
    return explain(target, mode=options.pop("mode", NOT_INPLACE), **options).functions[0].record


def rules_for(target, what="0"):
    found = record(target)
    return [step.rule_name for step in derivation(found, find_nodes(found, what)[0]).steps]


def test_a_chain_of_firings():
    assert rules_for(pt.log(1 + pt.exp(x))) == [
        "exp_log/log_of_one_plus",
        "exp_log/log1p_of_exp",
    ]


def test_what_no_rule_made_has_no_chain():
    assert rules_for(pt.sin(x)) == []


def test_only_the_firings_that_led_there():
    both = pt.join(0, pt.log(pt.exp(pt.sin(x))) * 1, pt.log(1 + x))
    assert rules_for(both, "log1p") == ["exp_log/log_of_one_plus"]


def test_firings_below_that_were_used():
    y = pt.exp(m) / pt.exp(m).sum(axis=1, keepdims=True)
    assert rules_for(pt.log(y)) == ["softmax/softmax_from_exp", "softmax/log_of_softmax"]


def test_nodes_are_found_by_op_output_formula_and_tree():
    s = pt.exp(x)
    found = record([s + 1, pt.sin(s)])
    exp = found.after.outputs[0].owner.inputs[0].owner
    exp = exp if exp is not None else found.after.outputs[1].owner.inputs[0].owner
    by_op = find_nodes(found, "exp")
    assert by_op == find_nodes(found, "a")
    assert find_nodes(found, "output 1") == find_nodes(found, "1") == find_nodes(found, "sin")
    assert find_nodes(found, "A") == [found.after.outputs[0].owner]


def test_nodes_are_found_by_the_users_names_and_by_updates():
    s = rw.shared(1.0, name="s")
    y = pt.exp(s)
    y.name = "grown"
    found = record([pt.sin(y)], updates=[(s, s + y)])
    assert [str(node.op) for node in find_nodes(found, "grown")] == ["exp"]
    assert [str(node.op) for node in find_nodes(found, "new s")] == ["add"]


def test_a_name_that_nothing_has():
    found = record(pt.sin(x))
    with pytest.raises(UnknownNameError, match="called 'zzz'"):
        find_nodes(found, "zzz")
    with pytest.raises(UnknownNameError, match="x is an input"):
        find_nodes(found, "x")


# --- what did not fire --------------------------------------------------------------------------


def ask(target, rule, **options):
    found = record(target, **options)
    return not_fired(found, find_rule(rule))


def test_a_rule_that_fired_says_where():
    answer = ask(pt.log(1 + x), "log_of_one_plus")
    assert "it fired once: #1" in answer.general
    assert [(graph, one.reason) for graph, one in answer.nodes] == [("before", "it fired here: #1")]


def test_a_rule_that_no_node_concerns():
    answer = ask(pt.sin(x), "log_of_one_plus")
    assert answer.general == [
        "the graph before has no log, which the rule looks at",
        "the graph after has no log, which the rule looks at",
    ]


def test_a_rule_that_the_mode_leaves_out():
    mode = NOT_INPLACE.excluding("log_of_one_plus")
    answer = ask(pt.log(1 + x), "log_of_one_plus", mode=mode)
    assert any("the mode leaves it out" in text for text in answer.general)


def test_an_assumption_that_is_not_granted():
    answer = ask(x - x, "difference_with_itself")
    assert answer.general == [
        "facts have to prove 'fastmath', which the mode does not grant: --include fastmath"
    ]
    assert "guard finite(x): it may be infinite, or NaN: x" in answer.nodes[0][1].reason
    granted = ask(x - x, "difference_with_itself", mode=NOT_INPLACE.including("fastmath"))
    assert "it fired once: #1" in granted.general


def test_a_mode_that_rewrites_nothing():
    answer = ask(pt.log(1 + x), "log_of_one_plus", mode=rw.Mode(optimizer=None))
    assert any("rewrites nothing" in text for text in answer.general)


def test_an_earlier_rule_took_the_node():
    answer = ask(pt.log(pt.exp(x)), "log_of_one_plus")
    assert answer.nodes[0][1].reason == (
        "`1 + x`: exp(x) is computed by exp; #1 exp_log/log_of_exp rewrote the node"
    )


def test_the_node_that_came_closest_is_told_first():
    answer = ask([pt.log(pt.sin(x)), pt.log(2 + x)], "log_of_one_plus")
    assert answer.nodes[0][1].term == "log(2.0 + x)"


def reasons(answer, graph="before"):
    return [one.reason for where, one in answer.nodes if where == graph]


@pytest.mark.on_vm
def test_ops_that_overwrite_are_what_they_are_variants_of():
    answer = ask(pt.log(2 + pt.sqr(x)), "log_of_one_plus", mode=rw.Mode())
    found = record(pt.log(2 + pt.sqr(x)), mode=rw.Mode())
    assert "inplace" in str(found.after.outputs[0].owner.op)
    assert answer.general == []
    assert reasons(answer) == reasons(answer, "after") == ["`1`: 2.0 is another number"]


def test_a_rule_that_would_match_says_what_keeps_it_from_it():
    mode = NOT_INPLACE.excluding("log_of_one_plus")
    answer = ask(pt.log(1 + x), "log_of_one_plus", mode=mode)
    [bar] = answer.general
    assert "the mode leaves it out" in bar
    assert reasons(answer) == reasons(answer, "after") == [f"it matches here, but {bar}"]


def test_a_rule_that_would_match_under_an_assumption():
    answer = ask(x**2.5 * x, "power_times_base")
    bar = "it assumes 'fastmath', which the mode does not grant: --include fastmath"
    assert answer.general == [bar]
    assert reasons(answer) == [f"it matches here, but {bar}"]


def test_a_rule_that_is_only_part_of_a_strategy():
    rules = all_rules()
    both = seq(rules["log_of_one_plus"], rules["log1p_of_exp"])
    answer = ask(pt.log(1 + pt.sqr(x)), "log_of_one_plus", mode=rw.Mode(optimizer=innermost(both)))
    bar = f"it is only part of the strategy {both.name}"
    assert answer.general == [bar]
    assert reasons(answer) == [f"it matches here, but {bar}"]


def test_a_driver_of_ones_own_uses_what_it_was_given():
    own = seq(repeat(innermost(all_rules()["power_times_base"])), innermost(late_exp))
    answer = ask(x**2.5 * x, "power_times_base", mode=rw.Mode(optimizer=own))
    assert answer.general[0] == "it fired once: #1"
    assert reasons(answer) == ["it fired here: #1"]
    assert not any("does not grant" in text for text in answer.general)


@rule(phase="stabilize")
def late_sine(a):
    """A test: matches as written only where the canonical form does not."""
    return pt.sin(pt.mul(a, 1)) >> pt.cos(a)


@rule(phase="specialize")
def late_exp(a):
    """A test: its node is gone by then."""
    return pt.exp(pt.sin(a)) >> pt.cos(a)


def test_what_is_below_has_changed_only_where_it_has():
    answer = ask(pt.sin(x * 1), late_sine, mode=NOT_INPLACE + late_sine)
    assert reasons(answer) == [
        "it matches as written; what is below changed first: #1 ac/drop_identity, x * 1.0 → x"
    ]
    answer = ask(pt.log(pt.exp(pt.sin(x))), late_exp, mode=NOT_INPLACE + late_exp)
    assert reasons(answer) == [
        "it matches as written; what uses the node was rewritten first, and left it out"
    ]


@equation
def inner_sine(a):
    """A test."""
    return pt.sin(pt.exp(a)), pt.sin(pt.cos(a))


def test_an_equation_answers_for_both_directions():
    mode = (NOT_INPLACE + inner_sine).including("saturate")
    answer = ask(pt.sin(x), inner_sine, mode=mode)
    assert answer.general == []
    assert reasons(answer) == [
        "inner_sine.forward: `exp(a)`: x is an input; inner_sine.backward: `cos(a)`: x is an input"
    ]
    kept = ask(pt.sin(pt.exp(x)), inner_sine, mode=mode)
    assert reasons(kept) == ["it matches here, but saturation found nothing cheaper by it"]


def test_an_equation_that_fired_says_where():
    a, b, v = pt.matrix("a"), pt.matrix("b"), pt.vector("v")
    mode = NOT_INPLACE.including("saturate", "fastmath")
    report = explain(a @ b @ v, mode=mode)
    for name in ("matmul_assoc", "matmul_assoc.forward"):
        [(_, answer)] = report.why_not(name)
        assert answer.general == ["it fired once: #1"]
        assert "it fired here: #1" in reasons(answer)
    [(_, answer)] = report.why_not("matmul_assoc.backward")
    assert "it fired once: #1" not in answer.general


def test_an_assumption_that_is_granted_is_no_guard():
    @rule(phase="late", claim=assumes("fastmath"))
    def never_run(a):
        """A test."""
        return pt.sin(a) >> pt.cos(a)

    answer = ask(pt.sin(x), never_run, mode=NOT_INPLACE.including("fastmath"))
    assert answer.general == ["its phase 'late' is not run"]


# --- inside of ops --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [NOT_INPLACE, rw.Mode()])
def test_nodes_inside_of_ops_have_their_chain(mode):
    y = pt.vector("y")  # an equal op, of another line
    explain(rw.OpFromGraph([y], [pt.log(1 + pt.exp(y)) * 1.0], name="f")(x), mode=mode)
    report = explain(G(x), mode=mode)
    found = report.functions[0].record
    (node,) = find_nodes(found, "softplus")
    names = [step.rule_name for step in derivation(found, node).steps if "exp" in step.rule_name]
    assert names == ["exp_log/log_of_one_plus", "exp_log/log1p_of_exp"]
    (sin,) = find_nodes(found, "sin")
    assert not [step for step in derivation(found, sin).steps if "inplace" not in step.rule_name]
    ((_, answer),) = report.why("softplus")
    assert answer.steps[0].phase.endswith(" in f")


def test_a_name_outside_comes_first():
    found = record(pt.sin(G(x)))
    assert find_nodes(found, "sin") == [found.after.outputs[0].owner]


def test_rules_that_did_not_fire_inside_are_told():
    found = record(G(x), mode=rw.Mode("fast_compile").excluding("stabilize"))
    answer = not_fired(found, all_rules()["log_of_one_plus"])
    (before, after) = [(g, n) for g, n in answer.nodes if n.matches]
    assert (before[0], after[0]) == ("before in f", "after in f")
    assert "the mode leaves it out" in after[1].reason
    fired = not_fired(record(G(x)), all_rules()["log_of_one_plus"])
    assert fired.general[0].startswith("it fired once")
    assert ("before in f", True) in [(g, n.matches) for g, n in fired.nodes]
    assert "fired in f: #" in {g: n.reason for g, n in fired.nodes}["before in f"]
    none = not_fired(record(G(x)), all_rules()["log_of_softmax"])
    assert not [text for text in none.general if "the graph before has no" in text]
