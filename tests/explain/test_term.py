"""Changes as text."""

from __future__ import annotations

import rewrite_engine.tensor as pt
from rewrite_engine.explain.term import cut, describe_change, describe_overwrite, term_text
from rewrite_engine.terms.print import letter
from tests.toy import add, const, divmod_, exp, log, mul, neg, num, sin

x, y = num("x"), num("y")


def long(v):
    """Something that is too long to be written out."""
    return exp(sin(exp(sin(exp(v)))))


def test_short_terms_are_written_out():
    change = describe_change(log(exp(x)), x)
    assert (change.before, change.after, change.letters) == ("log(exp(x))", "x", ())
    assert str(change) == "log(exp(x)) → x"


def test_what_both_sides_share_is_a_letter():
    a = long(x)
    change = describe_change(mul(a, y), mul(y, neg(a)))
    assert change.term == "A * y → y * -A"
    assert change.where() == "A = exp(sin(exp(sin(exp(x)))))"


def test_what_plays_no_part_is_a_letter():
    change = describe_change(mul(long(x), 0.0), const(0.0))
    assert change.term == "A * 0.0 → 0.0"


def test_a_term_that_grows_around_itself():
    old = add(long(x), y)
    assert describe_change(old, neg(old)).term == "A + y → -(A + y)"


def test_names_are_used_where_there_are_some():
    a = long(x)
    a.name = "a"
    assert describe_change(mul(a, y), mul(y, a)).term == "a * y → y * a"


def test_one_output_of_several():
    q = divmod_(x, y)[0]
    assert describe_change(neg(neg(q)), q).term == "--DivMod(x, y)[0] → DivMod(x, y)[0]"


def test_equal_notation_is_told_apart_by_the_name_of_the_op():
    assert describe_change(neg(const(1.0)), num.make_constant(-1.0)).term == "neg(1.0) → -1.0"


def test_working_in_place_is_an_appendix():
    v, w = pt.vectors("v w")
    old = pt.exp(v) + w
    new = pt.add.inplace_on_inputs([0], old.owner)(*old.owner.inputs)
    assert describe_overwrite(old.owner, new.owner).term == "exp(v) + w, written into exp(v)"


def test_the_term_stays_where_operands_are_in_place_by_now():
    v, w = pt.vectors("v w")
    first = pt.second(pt.tanh(v), pt.exp(w)) * pt.sqr(v)
    old = first + pt.exp(w) * first.sum()
    again = pt.mul.inplace_on_inputs([0], first.owner)(*first.owner.inputs)
    new = pt.add.inplace_on_inputs([0], old.owner)(again, old.owner.inputs[1])
    change = describe_overwrite(old.owner, new.owner)
    assert change.term == "A + B, written into A"
    assert change.definitions == ["A = second(tanh(v), exp(w)) * sqr(v)", "B = exp(w) * Sum(A)"]


def test_letters_are_defined_by_each_other():
    a = long(x)
    b = sin(exp(sin(neg(a))))
    change = describe_change(mul(a, b), mul(b, a))
    assert change.term == "A * B → B * A"
    assert change.definitions == ["A = exp(sin(exp(sin(exp(x)))))", "B = sin(exp(sin(-A)))"]


def test_an_output_of_several_is_defined():
    q = divmod_(long(x), long(y))[0]
    change = describe_change(neg(neg(q)), q)
    assert change.definitions[0].startswith("A = DivMod(")


def test_the_nodes_of_the_old_term_are_noted():
    old = log(exp(x))
    assert describe_change(old, x).used == (old.owner, old.owner.inputs[0].owner)


def test_a_deep_term_costs_no_more_than_a_flat_one():
    v = x
    for _ in range(100_000):
        v = sin(v)
    change = describe_change(neg(neg(v)), v)
    assert change.term == "--A → A"
    assert len(change.where()) < 130


def test_shared_terms_do_not_explode():
    v = x
    for _ in range(60):
        v = add(v, v)
    assert len(term_text(v)) < 100


def test_letters_go_on_after_z():
    assert [letter(n) for n in (0, 25, 26, 52)] == ["A", "Z", "A1", "A2"]


def test_texts_are_cut_with_a_mark():
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
