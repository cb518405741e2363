"""miniKanren on graphs."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import cons
import etuples
import pytest
from cons.core import ConsError, ConsNull
from etuples import etuple as e
from kanren import conde, conso, eq, lall, membero, run, var
from kanren.constraints import isinstanceo, neq
from kanren.graph import reduceo, walko
from kanren.term import applyo

from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.terms import GraphTuple, LogicVariable, PatternTerm, etuplize, from_term
from tests.toy import Num, add, const, divmod_, exp, log, mul, num, sin

x, y = num("x"), num("y")


def log_exp(before: Any, after: Any) -> Any:
    """The relation of log(exp(k)) and k."""
    k = LogicVariable("k")
    return lall(eq(before, log(exp(k))), eq(after, k))


def double(before: Any, after: Any) -> Any:
    k = LogicVariable("k")
    return lall(eq(before, add(k, k)), eq(after, mul(2.0, k)))


def test_eq_on_variables() -> None:
    q = LogicVariable("q")
    assert run(0, q, eq(log(add(1, q)), log(add(1, x)))) == (x,)
    assert run(0, q, eq(log(add(1, q)), log(x))) == ()
    (made,) = run(1, mul(q, q), eq(log(q), log(x)))
    assert made.owner.inputs == (x, x)
    v = var()
    assert run(1, v, eq(e(log, v), log(x))) == (x,)
    assert run(1, v, eq(v, log(q)), eq(q, x))[0].owner.inputs == (x,)


def test_backwards() -> None:
    q = var()
    (before,) = run(1, q, double(q, mul(2.0, x)))
    assert isinstance(before, Variable)
    assert before.owner.op is add
    assert before.owner.inputs == (x, x)


def test_car_and_cdr() -> None:
    z = log(add(x, y))
    assert cons.car(z) is log
    assert cons.cdr(z)._tuple == z.owner.inputs
    assert etuples.rator(z) is log
    assert etuples.rands(z) == e(z.owner.inputs[0])
    assert etuples.apply(cons.car(z), cons.cdr(z)) is z
    assert etuples.apply(log, [x]).owner.op is log
    assert cons.cons(cons.car(z), cons.cdr(z)).evaled_obj is z
    assert cons.car(divmod_(x, y)[0]).__name__ == "nth"
    assert cons.car(z.owner) is log
    q = LogicVariable("q")
    assert cons.car(log(q)) is log
    assert isinstance(etuples.apply(log, e(q)), GraphTuple)
    for leaf in (x, const(1.0)):
        with pytest.raises(ConsError):
            cons.car(leaf)
        with pytest.raises(ConsError):
            cons.cdr(leaf)


def test_conso() -> None:
    head, tail, whole = var(), var(), var()
    z = log(add(x, y))
    ((h, t),) = run(0, (head, tail), conso(head, tail, z))
    assert (h, t._tuple) == (log, z.owner.inputs)
    assert run(0, whole, conso(head, tail, z), conso(head, tail, whole))[0].evaled_obj is z
    assert run(0, head, conso(head, tail, x)) == ()
    assert run(0, head, conso(head, tail, PatternTerm(e(log, x)))) == (log,)


def test_applyo_and_membero() -> None:
    op, operands, made = var(), var(), var()
    z = add(x, y)
    assert run(0, (op, operands), applyo(op, operands, z)) == ((add, e(x, y)),)
    assert run(0, made, applyo(log, e(x), made))[0].owner.inputs == (x,)
    assert set(run(0, op, membero(op, etuplize(z)[1:]))) == {x, y}


def test_reduceo_finds_the_fixed_point_first() -> None:
    q = var()
    z = log(exp(log(exp(x))))
    assert run(1, q, reduceo(log_exp, z, q)) == (x,)
    assert run(1, q, reduceo(log_exp, etuplize(z), q)) == (x,)


def test_walko() -> None:
    q = var()
    found = [t.evaled_obj for t in run(0, q, walko(log_exp, sin(log(exp(x))), q))]
    assert any(v.owner.op is sin and v.owner.inputs == (x,) for v in found)


def test_walko_with_operators() -> None:
    """A search below ops, which the operators do not take part in."""

    def either(before: Any, after: Any) -> Any:
        return conde([log_exp(before, after)], [double(before, after)])

    q = var()
    z = sin(add(log(exp(x)), log(exp(x))))
    results = run(20, q, reduceo(lambda a, b: walko(either, a, b, rator_goal=eq), z, q))
    texts = {repr(PatternTerm(etuplize(t))) for t in results}
    assert "sin(2.0 * x)" in texts


def test_constraints() -> None:
    q = LogicVariable("q")
    assert run(0, q, neq(q, x), eq(log(q), log(x))) == ()
    assert run(0, q, neq(q, y), eq(log(q), log(x))) == (x,)
    assert run(0, q, isinstanceo(q, Op), eq(e(q, x), log(x))) == (log,)


class Sized(Variable):
    """As tensors are: it has a length and no truth value."""

    __slots__ = ()

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        raise AssertionError("asked for its truth value")


class SizedNum(Num):
    variable_type = Sized


def test_a_variable_with_a_length_is_no_list() -> None:
    z = SizedNum()("z")
    v = log(exp(z))
    q, k = var(), LogicVariable("k")
    assert not isinstance(z, ConsNull)
    assert run(1, q, reduceo(log_exp, v, q))[0] is z
    found = [t.evaled_obj for t in run(0, q, walko(log_exp, sin(v), q))]
    assert any(f.owner.op is sin and f.owner.inputs[0] is z for f in found)
    assert run(0, k, eq(log(exp(k)), v))[0] is z
    assert from_term(etuplize(v, holes={z: k})) == log(exp(k))


def run_alone(code: str) -> str:
    """What a new Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_compiling_a_function_imports_no_minikanren() -> None:
    code = """if True:
        import sys
        import rewrite_engine as rw, rewrite_engine.tensor as pt
        x = pt.vector("x")
        rw.function([x], pt.log(1 + pt.exp(x)) / x.sum())
        names = ("kanren", "etuples", "unification", "cons", "multipledispatch")
        print([name for name in names if name in sys.modules])"""
    assert run_alone(code) == "[]"


def test_the_variables_of_rules_are_logic_variables_of_unification() -> None:
    code = """if True:
        from rewrite_engine.language import *
        import unification, rewrite_engine.terms.convert
        found = []
        @rule
        def log_of_exp(x: Inexact):
            "Inverse of each other."
            found.append(x)
            return pt.log(pt.exp(x)) >> x
        print(unification.isvar(found[0]), isinstance(found[0], unification.Var))
        print(found[0] in {found[0]}, found[0] == unification.var("x"))"""
    code = code.replace("import unification", "import rewrite_engine.tensor as pt, unification")
    assert run_alone(code) == "True True\nTrue False"
