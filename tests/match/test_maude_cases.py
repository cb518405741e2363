"""Matching modulo axioms as Maude's manual, release notes and test suite show it, and Maude itself
(the package `maude`, extra `oracle`) as an oracle, where it is installed.

How its notions map to ours. `match` (all of the subject): a pattern under another op, or one that
takes everything. `xmatch` (with extension): a left side that is a sum leaves operands alone, here
bound to "*". A variable of a sort below the sort of sums: our variable, one operand each. A
variable of the sort of sums: the one variable that takes all that is left (it occurs once), or a
`Rest`, of which there may be several. `id: z` and a variable that may be z: a `Rest` may be empty.
A condition: a guard. `red` and `rew`: an equilibrium of rules.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import note, settings
from hypothesis import strategies as st

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.replace import Shared
from rewrite_engine.match.fact import given
from rewrite_engine.match.find import find
from rewrite_engine.match.pattern import Anything, Rest, Sort
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.terms.logic import LogicVariable
from tests.growth import lines
from tests.match.cases import a, answers, b, c, check, d, e, f2, fa, fac, fc, g
from tests.match.language import ask, make, same
from tests.toy import ToyOp, add, const, mul, num

# --- documented cases -----------------------------------------------------------------------------


def test_the_manuals_example_of_match() -> None:
    """+(X, *(X, Y)) is no sum of two products, whose first operand would be in the second."""
    subject = add(mul(a, b), mul(c, d))
    check(f2(subject), lambda x, y: f2(add(x, mul(x, y))), [])
    check(f2(add(a, mul(a, d))), lambda x, y: f2(add(x, mul(x, y))), [dict(x=a, y=d)])


def test_the_manuals_example_of_xmatch() -> None:
    """Two of three products, in each order of each, with the one that is left."""
    terms = [(a, b), (c, d), (a, e)]
    subject = add(*[mul(*t) for t in terms])
    wanted = []
    for i, first in enumerate(terms):
        for j, second in enumerate(terms):
            if i != j:
                left = (mul(*terms[3 - i - j]),)
                for p, q in (first, first[::-1]):
                    for x, y in (second, second[::-1]):
                        wanted.append({"p": p, "q": q, "x": x, "y": y, "*": left})
    assert len(wanted) == 24
    check(subject, lambda p, q, x, y: add(mul(p, q), mul(x, y)), wanted)


def test_a_fragment_of_a_longer_sum() -> None:
    """f(a, b) is no f(a, b, c, d), but a fragment of it."""
    pair = lambda x, y: fac(g(x), f2(y))
    check(fac(g(a), f2(b), c, d), pair, [{"x": a, "y": b, "*": (c, d)}])
    check(fac(d, f2(b), c, g(a)), pair, [{"x": a, "y": b, "*": (d, c)}])
    check(f2(fac(g(a), f2(b), c, d)), lambda x, y: f2(fac(g(x), f2(y))), [])


def test_a_commutative_op_within_a_sum() -> None:
    """g(f(X, Y), Z) with g associative and commutative, f commutative."""
    subject = fac(fc(a, b), fc(c, c))
    wanted = [dict(x=a, y=b, z=fc(c, c)), dict(x=b, y=a, z=fc(c, c)), dict(x=c, y=c, z=fc(a, b))]
    check(subject, lambda x, y, z: fac(fc(x, y), z), wanted)


def test_a_variable_that_is_forced_from_outside() -> None:
    """f(X, g(f(X, Y))) where X can only be a, and a is not within: no exponential search."""
    names = [num(f"{name}{i}") for name in "bcde" for i in range(6)]
    subject = f2(fac(a, g(fac(*names))))
    nothing = lambda: check(subject, lambda x, y: f2(fac(x, g(fac(x, y)))), [])
    assert lines(nothing) < 100_000
    found = f2(fac(names[3], g(fac(*names))))
    (m,) = answers(found, lambda x, y: f2(fac(x, g(fac(x, y)))))
    assert "('x', 'd3')" not in m
    assert f"('x', '{names[3].name}')" in m


def numbers(n: int) -> Any:
    """The sum of 0, 1, …, n, as operands."""
    return [const(float(i)) if i else num.make_constant(0.0) for i in range(n + 1)]


@pytest.mark.parametrize("wanted", [11.0, 0.0, 5.0])
def test_strippers_and_collectors(wanted: float) -> None:
    """h(f(N, S), f(M, S)) = M, and h(f(N, S), f(N, T)) = T, if N is a certain number."""
    operands = numbers(11)
    subject = Shared()(f2(fac(*operands), fac(*operands)))
    asked = lambda n: n.number == wanted
    assert make(stripped(asked)).transform(None, subject.owner).number == wanted
    made = make(collected(asked)).transform(None, subject.owner)
    assert [v.number for v in made.owner.inputs] == [float(i) for i in range(12) if i != wanted]


def stripped(asked: Any) -> Any:
    def rule(n: Any, m: Any, s: Rest) -> Any:
        return f2(fac(n, *s), fac(m, *s)) >> m, given(asked)

    return rule


def collected(asked: Any) -> Any:
    def rule(n: Any, s: Rest, t: Rest) -> Any:
        return f2(fac(n, *s), fac(n, *t)) >> fac(*t), given(asked)

    return rule


def test_distribution_and_back() -> None:
    """X * (Y + Z) => X * Y + X * Z, and the other way round."""
    spread = make(lambda x, y, z: mul(x, add(y, z)) >> add(mul(x, y), mul(x, z)))
    gather = make(lambda x, y, z: add(mul(x, y), mul(x, z)) >> mul(x, add(y, z)))
    there = spread.transform(None, mul(a, add(b, c)).owner)
    assert same(there, add(mul(a, b), mul(a, c)))
    assert same(gather.transform(None, there.owner), mul(a, add(b, c)))
    more = gather.transform(None, add(mul(a, b), d, mul(c, a)).owner)
    assert same(more, add(mul(a, add(b, c)), d))


def test_identities_reduce_to_a_normal_form() -> None:
    """0 * X = 0, 1 * X = X, 0 + X = X."""

    def gone(rest: Rest) -> Any:
        return mul(0.0, *rest) >> 0.0

    rules = [
        named(make(gone), "gone"),
        named(make(lambda x: mul(1.0, x) >> x), "one"),
        named(make(lambda x: add(0.0, x) >> x), "zero"),
    ]
    zero, one = num.make_constant(0.0), const(1.0)
    term = add(mul(one, a), mul(zero, b, c), zero, d)
    graph = FunctionGraph(None, [term])
    EquilibriumOptimizer(rules).rewrite(graph)
    assert same(graph.outputs[0], add(a, d))


def named(rule: Any, name: str) -> Any:
    rule.name = name
    return rule


# --- Maude as an oracle ---------------------------------------------------------------------------

MODULE = """
fmod ORACLE is
  sorts Elt Bag .
  subsort Elt < Bag .
  ops a b c hole : -> Elt .
  op z : -> Bag .
  op _+_ : Bag Bag -> Bag [assoc comm] .
  op _*_ : Bag Bag -> Bag [assoc comm id: z] .
  op _;_ : Bag Bag -> Bag [assoc] .
  op _@_ : Bag Bag -> Bag [assoc id: z] .
  op g : Bag -> Elt .
  op h : Elt Elt -> Elt [comm] .
endfm
"""
fa2 = ToyOp("fa2", None, associative=True)
SIGNS = {"+": add, "*": mul, ";": fa, "@": fa2}
NAMES = {add: "_+_", mul: "_*_", fa: "_;_", fa2: "_@_", g: "g", fc: "h"}

#: what is no sum and no list, like Maude's sort Elt
ELT = Sort("Elt", lambda v: v.head not in (add, mul, fa, fa2))
VARIABLES = {name: LogicVariable(name, sort=ELT) for name in "XYZ"} | {
    "S": LogicVariable("S", sort=Anything),
    "R": LogicVariable("R", sort=Anything),
    "Q": LogicVariable("Q", sort=Anything),
}
RESTS = {name: LogicVariable(name, sort=Rest, rest=True) for name in "RQ"}


@pytest.fixture(scope="module")
def module() -> Any:
    maude = pytest.importorskip("maude")
    maude.init(advise=False)
    maude.input(MODULE)
    return maude.getModule("ORACLE")


@st.composite
def subjects(draw: Any, depth: int = 2) -> Any:
    """A term that is no sum: Maude's text, and ours."""
    kind = draw(st.sampled_from(["leaf", "leaf", "g", "h"])) if depth else "leaf"
    if kind == "leaf":
        name = draw(st.sampled_from("abc"))
        return name, {"a": a, "b": b, "c": c}[name]
    if kind == "h":
        (s, u), (t, v) = draw(subjects(depth - 1)), draw(subjects(depth - 1))
        return f"h({s}, {t})", fc(u, v)
    s, u = draw(sums(depth=depth - 1))
    return f"g({s})", g(u)


@st.composite
def sums(draw: Any, sign: Any = None, depth: int = 2) -> Any:
    """Two to five operands of one of the signs, sorted, so that equal sums are equal terms."""
    sign = sign or draw(st.sampled_from("+*;@"))
    parts = draw(st.lists(subjects(depth), min_size=2, max_size=5))
    if SIGNS[sign].commutative:
        parts.sort(key=lambda p: p[0])
    return f" {sign} ".join(s for s, _ in parts), SIGNS[sign](*[v for _, v in parts])


@st.composite
def operands(draw: Any, kinds: str) -> Any:
    """A pattern for one operand: Maude's text, and ours."""
    kind = draw(st.sampled_from(kinds))
    if kind == "g":
        return "g(S:Bag)", g(VARIABLES["S"])
    if kind == "h":
        x, y = draw(st.sampled_from("XYZ")), draw(st.sampled_from("XYZ"))
        return f"h({x}:Elt, {y}:Elt)", fc(VARIABLES[x], VARIABLES[y])
    return f"{kind}:Elt", VARIABLES[kind]


@st.composite
def cases(draw: Any, kinds: str, rests: str = "") -> Any:
    """A sum and a pattern for it; rests: who takes what is left, R, or two or three of R and Q."""
    sign = draw(st.sampled_from("+*" if len(rests) < 2 else "*"))
    few = len(rests) > 1  # (Maude has no pattern without an operator)
    parts = draw(st.lists(operands(kinds), min_size=max(2 - len(rests), 0), max_size=3 - few))
    text = f" {sign} ".join([s for s, _ in parts] + [f"{name}:Bag" for name in rests])
    taking = [RESTS[name] if sign == "*" else VARIABLES[name] for name in rests]
    return sign, draw(sums(sign)), text, SIGNS[sign](*[u for _, u in parts], *taking)


def form(v: Any, sign: str = "*") -> Any:
    """One of our terms, without an order where there is none."""
    if isinstance(v, tuple):
        v = "z" if not v else v[0] if len(v) == 1 else SIGNS[sign](*v)
    if isinstance(v, str) or v.owner is None:
        return getattr(v, "name", v)
    parts = [form(i) for i in v.owner.inputs]
    return (NAMES[v.owner.op], *(sorted(parts, key=repr) if v.owner.op.commutative else parts))


IN_ORDER = ("_;_", "_@_")


def maude_form(term: Any) -> Any:
    """One of Maude's (a context is not flat)."""
    name = str(term.symbol())
    parts = [maude_form(t) for t in term.arguments()]
    if name in ("_+_", "_*_", "_;_", "_@_"):
        parts = [
            q for p in parts for q in (p[1:] if isinstance(p, tuple) and p[0] == name else [p])
        ]
    return (name, *(parts if name in IN_ORDER else sorted(parts, key=repr))) if parts else name


def maude_answers(module: Any, subject: str, pattern: str, extended: bool = False) -> set[str]:
    term, hole = module.parseTerm(subject), module.parseTerm("hole")
    term.reduce()
    found = set()
    for match in term.match(module.parseTerm(pattern), maxDepth=0 if extended else -1):
        bound = {str(k).split(":")[0]: maude_form(v) for k, v in match[0]}
        if extended:
            left = maude_form(match[1](hole))
            parts = [left] if left == "hole" else list(left[1:])
            if str(term.symbol()) in IN_ORDER:
                at = parts.index("hole")
                bound |= {"<*": parts[:at], "*>": parts[at + 1 :]}
            else:
                bound["*"] = sorted(set_minus(parts), key=repr)
        found.add(repr(sorted(bound.items())))
    return found


def set_minus(parts: Any) -> list[Any]:
    """What is beside the hole."""
    return [p for p in parts if p != "hole"]


def our_answers(subject: Any, pattern: Any, sign: str, extended: bool = False) -> set[str]:
    whole = Shared()(subject if extended else f2(subject))
    found = set()
    for m in find(whole, pattern if extended else f2(pattern), every=True):
        if m.variable is whole:
            bound = {k: form(v, sign) for k, v in m.bindings.items() if "*" not in k}
            if extended and sign == ";":
                bound |= {k: [form(v) for v in m.bindings.get(k, ())] for k in ("<*", "*>")}
            elif extended:
                bound["*"] = sorted([form(v) for v in m.bindings.get("*", ())], key=repr)
            found.add(repr(sorted(bound.items())))
    return found


@settings(max_examples=150, deadline=None)
@over(case=cases("XYZgh") | cases("XYZgh", rests="R"))
def test_all_matches_are_those_of_maude(module: Any, case: Any) -> None:
    sign, (text, subject), pattern_text, pattern = case
    note(f"{pattern_text} <=? {text}")
    assert our_answers(subject, pattern, sign) == maude_answers(module, text, pattern_text)


@settings(max_examples=80, deadline=None)
@over(case=cases("Xgh", rests="RQ") | cases("Xg", rests="RQR") | cases("g", rests="RRQ"))
def test_several_rests_share_operands_as_in_maude(module: Any, case: Any) -> None:
    sign, (text, subject), pattern_text, pattern = case
    note(f"{pattern_text} <=? {text}")
    assert our_answers(subject, pattern, sign) == maude_answers(module, text, pattern_text)


@settings(max_examples=80, deadline=None)
@over(case=cases("gh"))
def test_all_fragments_are_those_of_maude(module: Any, case: Any) -> None:
    sign, (text, subject), pattern_text, pattern = case
    note(f"{pattern_text} <=? {text}, with extension")
    ours = our_answers(subject, pattern, sign, extended=True)
    assert ours == maude_answers(module, text, pattern_text, extended=True)


# --- operands that have an order ------------------------------------------------------------------


@st.composite
def rows(draw: Any, sign: str, kinds: str, wide: str) -> Any:
    """A list and a pattern for it. wide: variables for several operands side by side, somewhere."""
    parts = draw(st.lists(operands(kinds), min_size=max(2 - len(wide), 0), max_size=3))
    for name in wide:
        taking = RESTS[name] if sign == "@" else VARIABLES[name]
        parts.insert(draw(st.integers(0, len(parts))), (f"{name}:Bag", taking))
    text = f" {sign} ".join([s for s, _ in parts])
    return sign, draw(sums(sign)), text, SIGNS[sign](*[u for _, u in parts])


@settings(max_examples=150, deadline=None)
@over(case=st.sampled_from(["", "R", "RQ"]).flatmap(lambda w: rows(";", "XYgh", w))
      | st.sampled_from(["R", "RQ", "RQR"]).flatmap(lambda w: rows("@", "XYgh", w)))  # fmt: skip
def test_lists_match_as_in_maude(module: Any, case: Any) -> None:
    """A variable for several is one operand or more without an identity, a rest with one."""
    sign, (text, subject), pattern_text, pattern = case
    note(f"{pattern_text} <=? {text}")
    assert our_answers(subject, pattern, sign) == maude_answers(module, text, pattern_text)


@settings(max_examples=100, deadline=None)
@over(case=rows(";", "XYgh", ""))
def test_fragments_of_lists_are_those_of_maude(module: Any, case: Any) -> None:
    sign, (text, subject), pattern_text, pattern = case
    note(f"{pattern_text} <=? {text}, with extension")
    ours = our_answers(subject, pattern, sign, extended=True)
    assert ours == maude_answers(module, text, pattern_text, extended=True)


def test_sorting_a_list_by_neighbours() -> None:
    """X ; Y = Y ; X if Y < X: any two that stand side by side."""

    def swap(x: Any, y: Any) -> Any:
        return fa(x, y) >> fa(y, x), given(lambda x, y: y.number < x.number)

    term = fa(*[const(float(n)) for n in (5, 3, 8, 1, 9, 2)])
    graph = FunctionGraph(None, [term])
    EquilibriumOptimizer([named(make(swap), "swap")]).rewrite(graph)
    assert [v.number for v in graph.outputs[0].owner.inputs] == [1, 2, 3, 5, 8, 9]


def test_a_list_without_repetition() -> None:
    """X ; X = X, and the palindromes of the manual: nil, X, X ; P ; X."""
    once = make(lambda x: fa(x, x) >> x)
    graph = FunctionGraph(None, [fa(a, a, b, c, c, c, a)])
    EquilibriumOptimizer([named(once, "once")]).rewrite(graph)
    assert same(graph.outputs[0], fa(a, b, c, a))

    def inside(x: Any, p: Rest) -> Any:
        return g(fa(x, *p, x)) >> g(f2(*p))

    assert same(ask(make(inside), g(fa(a, b, c, b, a))), g(f2(b, c, b)))
    assert same(ask(make(inside), g(fa(a, a))), g(f2()))
    assert ask(make(inside), g(fa(a, b, c))) is None
