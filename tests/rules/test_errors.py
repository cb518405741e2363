"""Errors stay: what raises one as it was written raises one of the same kind after rewriting.

Lengths of inputs are not known while a graph is built, and those given here often do not fit.
"""

from __future__ import annotations

import itertools
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RuleRaisedError, ShapeError
from rewrite_engine.explain import why_not
from rewrite_engine.facts import cannot_fail
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import graph_inputs
from rewrite_engine.language import *
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import optimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.saturate import SaturationOptimizer
from rewrite_engine.rules.logic import CHOICES
from rewrite_engine.tensor import Alloc, CheckedLength, Join, MakeVector, Reshape, Shape_i
from rewrite_engine.tensor.op import TensorOp, same_shape
from tests.rules.instances import DATA, instances
from tests.tensor.evaluate import evaluate

PLAIN = rw.Mode("py", optimizer=None)
x, y, z = pt.vectors("x y z")
A, B = pt.matrices("A B")
s = pt.scalar("s")
i, j = pt.ivectors("i j")
n = pt.lscalar("n")
INPUTS = [x, y, z, A, B, s, i, j, n]


def called(outputs: Any, given: dict[Any, Any], mode: Any = None) -> Any:
    """The values, or the error."""
    f = rw.function(INPUTS, outputs, mode=mode, on_unused_input="ignore")
    try:
        return f(*[given[v] for v in INPUTS])
    except (ShapeError, ValueError, IndexError) as error:
        return error


def values(lengths: Any, more: int = 0) -> dict[Any, Any]:
    """Values for the inputs: three vectors, and the sides of two matrices."""
    a, b, c, *sides = lengths
    rng = np.random.default_rng(more)
    shapes = [(a,), (b,), (c,), tuple(sides[:2]), tuple(sides[2:])]
    found = {v: rng.uniform(0.5, 2, shape) for v, shape in zip(INPUTS, shapes, strict=False)}
    whole = {i: np.arange(a, dtype="int32"), j: np.arange(b, dtype="int32"), n: np.int64(more - 2)}
    return found | {s: np.float64(0.7)} | whole


LOST = {
    "the condition does not fit": pt.switch(y > 0, x, x),
    "what is not chosen does not fit": pt.switch(pt.constant(True), x, y),
    "nor this": pt.switch(pt.constant(False), x, y),
    "nor does what is never chosen": pt.switch(z > 0, pt.switch(z > 0, x, y), z),
    "here either": pt.switch(z > 0, x, pt.switch(z > 0, y, x)),
    "the condition cannot be computed": pt.switch(x[5] > 0, s, s),
    "an uneven number": x.reshape((2, -1)).reshape((-1,)),
    "a difference": pt.second(x - y, x),
    "a difference below": pt.second(pt.exp(x - y), x),
    "in the shape of another": pt.second(x, y) * x,
    "an index": pt.second(x[5], s),
    "an index of a slice": x[2:][3:].shape[0] + A[7].shape[0],
    "0 times integers": 0 * (i + j),
    "0 times a product": 0 * pt.dot(i, j),
    "a quotient": x / pt.exp(y) * pt.exp(y),
    "a quotient of sums": x / (pt.exp(y) + pt.exp(z)) * (pt.exp(y) + pt.exp(z)),
    "what the same question rules out": pt.switch(x > 0, x * pt.switch(x > 0, x, x - y[5]), x),
    "also below": pt.switch(x > 0, x * pt.switch(x > 0, x, x - (y + z).sum()), x),
    "the length of a sum": (x + y).shape[0],
    "the shape of a sum": (x + y).shape,
    "of a sum below": pt.exp(x * y).shape[0],
    "of more of them": (x + y + z).shape[0],
    "of a join": pt.join(0, A, B).shape[0],
    "of a join, the other side": pt.join(0, A, B).shape[1],
    "of a product": pt.dot(A, B).shape,
    "of a product, one side": pt.dot(A, B).shape[0],
    "of products of stacks": pt.matmul(A, B).shape[1],
    "of a product with a vector": pt.dot(A, x).shape[0],
    "of what has another size": x.reshape((3, -1)).shape[0],
    "of what is declared": pt.specify_shape(x, 7).shape,
    "of what is written into": A[0].set(x).shape,
    "of what is taken": x[pt.as_tensor_variable([0, 9])].shape[0],
    "of what is filled": pt.alloc(x, n).shape[0],
    "of less than nothing": pt.zeros(n).shape[0],
    "of the maximum of nothing": A[:0].max(axis=0).shape[0],
    "the shape of a number": (x + y).sum().shape,
    "what is dropped is not 1": A.squeeze(axis=0).shape[0],
    "of nested ones": (pt.dot(A, x) + y).shape[0],
    "a negative power": pt.switch((i ** (i - j * 2)) > 0, s, s),
    "filled beside operands that are compared": pt.second(x * y, s) * x * pt.cos(y),
    "beside others than those": pt.second(x * y, s) * x * pt.cos(z),
    "beside one of them": pt.second(x * y, s) * x,
    "filled with a number": pt.zeros_like(x + y) + pt.ones_like(x),
    "in a known shape": pt.second(x, pt.constant([1.0, 2.0, 3.0])),
    "that was made of it": pt.second(x, pt.constant([1.0, 2.0, 3.0]) * x.sum()),
    "the shape of a length": pt.shape(A.squeeze(axis=1).shape[0]),
    "a shape that follows from another": pt.reshape(x.sum(), y.shape).shape,
    "a dimension that is put back": A.squeeze(axis=0).dimshuffle("x", 0),
    "and one of a vector": x.squeeze(axis=0).dimshuffle("x"),
    "a length that is used": pt.zeros((x * y).shape),
    "joined alone": Join(0)(x + y).shape[0],
    "one of a few": MakeVector("int64")((x + y).shape[0], n)[1],
    "a length that decides whether": pt.ifelse((x - y).shape[0] > 100, x - y, x),
    "whether something is made of it": pt.ifelse((x - y).shape[0] > 100, pt.exp(x - y) * 2, x),
    "beside a branch that is not taken": pt.second(x - y, s) + pt.ifelse(n > 100, x - y, x).sum(),
    "in place of which one is chosen": pt.second(x - y, pt.ifelse(n > 100, x - y, x)),
    "below that": pt.second(pt.exp(x - y), pt.ifelse(n > 100, pt.sin(x - y), x) + x),
}


@pytest.mark.on_vm
@pytest.mark.parametrize("name", LOST)
def test_the_error_stays(name: str) -> None:
    failed = 0
    for more, lengths in enumerate([(2, 3, 2, 2, 3, 3, 3), (3, 2, 2, 3, 2, 3, 4)]):
        given = values(lengths, more)
        before, after = called(LOST[name], given, PLAIN), called(LOST[name], given)
        if isinstance(before, Exception):
            failed += 1
            assert isinstance(after, ShapeError) == isinstance(before, ShapeError), after
            assert isinstance(after, Exception)
        else:
            np.testing.assert_array_equal(before, after)
    assert failed


def test_the_message_has_the_lengths_and_the_line() -> None:
    total = (x + y).shape[0]
    error = called(total, values((2, 3, 2, 2, 2, 2, 2)))
    assert "add" in str(error)
    assert "2 and 3" in str(error)
    assert "test_errors.py" in str(error)


@pytest.mark.parametrize("rule", DATA, ids=lambda r: r.name)
def test_a_rule_loses_no_error(rule: Any) -> None:
    """Whatever lengths its operands have."""
    for term, _ in instances(rule, ["float64", "int8"]):
        new = rule.apply(None, term.owner)
        if not isinstance(new, Variable) or not rule.accept(term, new):
            continue
        inputs = [v for v in graph_inputs([term]) if not isinstance(v, Constant)]
        free = [v for v in inputs if None in v.type.shape]
        for lengths in itertools.islice(itertools.product([2, 3], repeat=len(free)), 1, 6):
            long = dict(zip(free, lengths, strict=True))
            given = {
                v: np.ones([long[v] if n is None else n for n in v.type.shape], v.type.dtype)
                for v in inputs
            }
            if fails(term, given):
                assert fails(new, given), (term, new, long)


def fails(term: Any, given: Any) -> bool:
    try:
        with np.errstate(all="ignore"):
            evaluate(term, given)
    except (ValueError, IndexError):
        return True
    return False


# --- graphs put together at random ----------------------------------------------------------------

UNARY: list[Any] = [
    pt.exp, pt.neg, pt.sqr, lambda v: v * 0, lambda v: v - v, lambda v: pt.log(pt.exp(v)),
    lambda v: v.sum(), lambda v: v.sum(axis=0), lambda v: v.max(axis=-1), lambda v: v.T,
    lambda v: v.reshape((-1,)), lambda v: v.reshape((2, -1)), lambda v: v[1:], lambda v: v[2],
    lambda v: v[5] if v.ndim else v, lambda v: v.shape[0] * 1.0, lambda v: pt.zeros(v.shape),
    lambda v: pt.softmax(v, axis=0), lambda v: pt.alloc(s, v.shape[0]), lambda v: v[:2].set(1.0),
    lambda v: pt.specify_shape(v, (3,) * v.ndim), lambda v: v.dimshuffle("x", 0),
    lambda v: v.squeeze(axis=0), lambda v: pt.cast(v.shape, "float64"),
]  # fmt: skip
BINARY: list[Any] = [
    pt.add, pt.mul, pt.maximum, pt.second, pt.dot, lambda a, b: pt.switch(a > 0, b, b),
    lambda a, b: pt.switch(pt.constant(True), a, b),
    lambda a, b: pt.switch(a > 0, pt.switch(a > 0, a, b), a),
    lambda a, b: pt.second(a - b, a), lambda a, b: pt.second(a, b) * a,
    lambda a, b: a / pt.exp(b) * pt.exp(b), lambda a, b: pt.ones_like(a) * b,
    lambda a, b: pt.join(0, a, b), lambda a, b: pt.join(0, a, b)[: a.shape[0]],
    lambda a, b: a.reshape(b.shape), lambda a, b: pt.stack([a, b])[0], lambda a, b: a[1:].inc(b),
    lambda a, b: pt.grad((a * b).sum(), a), lambda a, b: pt.grad(pt.second(a, b.sum()).sum(), b),
]  # fmt: skip
STEP = st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))


def grown(steps: list[tuple[int, int, int]]) -> list[Any]:
    """Terms made of the inputs and of each other; steps that are not possible are left out."""
    terms: list[Any] = [x, y, z, A, B, s]
    made = []
    for what, a, b in steps:
        left, right = terms[-1 - a % len(terms)], terms[-1 - b % len(terms)]
        functions = UNARY if what % 3 == 0 else BINARY
        make = functions[what // 3 % len(functions)]
        try:
            new = make(left) if functions is UNARY else make(left, right)
        except (TypeError, ValueError):
            continue
        terms.append(new)
        made.append(new)
    return made


@hypothesis.settings(max_examples=150, deadline=None)
@hypothesis.example([(37, 86, 40), (37, 86, 40)], [[4, 3, 4, 3, 3, 3, 3]] * 3, 1)
@hypothesis.example(
    [(0, 0, 0), (0, 0, 0), (0, 0, 0), (70, 5, 77), (55, 0, 0)],
    [[1] * 7, [1] * 7, [1, 1, 1, 1, 2, 1, 1]],
    1,
)
@hypothesis.given(
    st.lists(STEP, min_size=2, max_size=8),
    st.lists(st.lists(st.integers(1, 4), min_size=7, max_size=7), min_size=3, max_size=3),
    st.integers(1, 2),
)
def test_graphs_lose_no_error(steps: Any, lengths: Any, count: int) -> None:
    outputs = grown(steps)[-count:]
    for more, some in enumerate(lengths):
        given = values(some, more)
        before, after = called(outputs, given, PLAIN), called(outputs, given)
        failed = isinstance(before, Exception)
        assert failed == isinstance(after, Exception), (outputs, before, after)
        if failed:
            assert not all(map(cannot_fail, outputs))
            assert isinstance(after, ValueError | IndexError)
        else:
            assert [v.shape for v in before] == [v.shape for v in after]


# --- what is known --------------------------------------------------------------------------------

three, four = pt.vector("three", shape=(3,)), pt.matrix("four", shape=(4, None))
SURE = [
    x, s + 1, pt.exp(x) + x, x + s, x * x.sum(), x[1:], x[::-1] + x, x[None] + A[:, :0].sum(),
    three[2], four[-4], four.reshape((2, -1)), x.reshape((-1, 1)), pt.ravel(A), A.T.T + A,
    pt.dot(A, A.T), pt.dot(x, pt.exp(x)), pt.join(0, A, A), pt.join(1, A, pt.exp(A)),
    pt.softmax(A), four.max(axis=0), pt.cast(x, "int8"), i // j[:0].sum(), i**2, i ** (j.sum() > 0),
    pt.zeros(x.shape), pt.zeros_like(x) + x, pt.eye(x.shape[0]), pt.arange(n), A.shape, A.size,
    x[1:].set(0.0), A[:, 1:].inc(s), pt.cumsum(x), pt.stack([s, x.sum()]),
    pt.switch(x > 0, x, 0.0), A + x[None, :1].sum(), pt.specify_shape(three, (3,)),
]  # fmt: skip
UNSURE = [
    x + y, pt.exp(x * y), x[2], x[n], x[::n], x.reshape((2, -1)), pt.dot(A, B), pt.dot(A, x),
    pt.join(0, A, B), x.max(), pt.argmax(A, axis=0), i**i, pt.zeros(n), pt.eye(n), A.squeeze(0),
    pt.specify_shape(x, (3,)), three + x, A + x, A[0].set(x), x[i], pt.alloc(x, n),
    pt.arange(0, n, n), pt.reshape(s, y.shape), (x + y).sum(), x.reshape(y.shape),
]  # fmt: skip


@pytest.mark.parametrize("term", SURE, ids=rw.pp)
def test_what_cannot_fail(term: Any) -> None:
    assert cannot_fail(term), cannot_fail(term)
    for lengths in itertools.product([0, 1, 2], [0, 3], [1], [0, 2], [0, 3], [2], [2]):
        f = rw.function([*INPUTS, three, four], term, mode=PLAIN, on_unused_input="ignore")
        known = np.ones(3), np.ones((4, lengths[0]))
        f(*[values(lengths)[v] for v in INPUTS], *known)


def test_evidence_that_a_term_cannot_fail_goes_down_to_its_operands() -> None:
    term = pt.exp(pt.sin(x))
    assert str(cannot_fail(term)) == "because its op cannot fail (its op cannot fail)"


@pytest.mark.parametrize("term", UNSURE, ids=rw.pp)
def test_what_may_fail(term: Any) -> None:
    assert not cannot_fail(term)


def test_an_op_that_says_nothing_may_fail() -> None:
    class Picky(Op):
        __props__ = ()

        def infer_types(self, types: Any) -> Any:
            return types

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            raise ValueError("never")

    assert not cannot_fail(Picky()(x))
    assert repr(rewritten(Picky()(three).shape)) != "[3]"
    assert repr(rewritten(pt.switch(Picky()(s) > 0, s, s))) != "s"


class Narrow(TensorOp):
    """An op of a user that takes numbers above 0, and says so."""

    __props__ = ()
    may_fail = True
    implied = {"fits": lambda f, v: f.every("of", f.positive, [v])}

    def shapes(self, *types: Any) -> Any:
        return same_shape(types[0])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        if (inputs[0] <= 0).any():
            self.fail(node, "a number is not above 0")
        output_storage[0][0] = inputs[0]


def test_an_op_says_when_it_does_not_fail_for_other_reasons() -> None:
    @rule
    def not_needed(a: Inexact) -> Any:
        """(For tests.)"""
        return pt.exp(Narrow()(a)) >> pt.exp(a)

    assert cannot_fail(Narrow()(pt.exp(x)))
    assert not cannot_fail(Narrow()(x))
    for v, ops in ((pt.exp(y), "exp exp"), (y, "Narrow exp")):
        graph = FunctionGraph(None, [pt.exp(Narrow()(v))])
        EquilibriumOptimizer(RuleSet([not_needed])).rewrite(graph)
        assert " ".join([str(node.op) for node in graph.toposort()]) == ops


@pytest.mark.parametrize("length", [-1, -2])
def test_a_length_that_is_negative_is_an_error(length: int) -> None:
    """Where it is an input; in the template, -1 is what is left over."""
    assert not cannot_fail(Reshape(("i",))(x, length))
    assert cannot_fail(Reshape((-1,))(x))


class Doubled(Op):
    """An op of a user, who says how the shape follows, and nothing of when it fails."""

    __props__ = ()

    def infer_types(self, types: Any) -> Any:
        return types

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = 2 * inputs[0]

    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Any:
        return shapes


def test_an_op_that_says_how_its_shape_follows_need_not_be_computed() -> None:
    assert not cannot_fail(Doubled()(x))
    assert repr(rewritten(Doubled()(x).shape[0])) == "Shape_i{i=0}(x)"
    assert "CheckedLength" in repr(rewritten(Doubled()(x + y).shape[0]))


def test_facts_of_deep_terms() -> None:
    deep = x
    for _ in range(5_000):
        deep = pt.sin(deep) * 2
    assert cannot_fail(deep)
    assert not cannot_fail(deep + y)
    for length, nodes in ((deep.shape[0], 1), ((deep + y).shape[0], 3)):
        graph = FunctionGraph([x, y], [length])
        optimizer().rewrite(graph)
        assert len(graph) == nodes


# --- what stays is not lost -----------------------------------------------------------------------


def test_what_is_computed_anyway_may_be_dropped() -> None:
    total = x + y
    assert repr(rewritten(pt.second(total, pt.exp(total)))) == "exp(x + y)"
    both = rewritten(total.shape[0], pt.exp(total))
    assert list(map(repr, both)) == ["Shape_i{i=0}(x)", "exp(x + y)"]
    assert repr(rewritten(pt.switch(total > 0, total, total))) == "x + y"


def test_lengths_that_the_new_term_compares_need_no_other_check() -> None:
    slopes = rw.grad((x * pt.sin(y) * pt.sin(z)).sum(), [y, z])
    f = rw.function([x, y, z], slopes)
    assert not any(isinstance(node.op, Alloc | CheckedLength) for node in f.nodes)
    a, b, c = np.array([0.5, -1.0]), np.array([2.0, 0.1]), np.array([-0.3, 4.0])
    wanted = [a * np.cos(b) * np.sin(c), a * np.sin(b) * np.cos(c)]
    for found, right in zip(f(a, b, c), wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14)
    for one in range(3):
        given = [v if i == one else v.repeat(2) for i, v in enumerate((a, b, c))]
        with pytest.raises(ShapeError, match="do not fit"):
            f(*given)


def test_only_one_of_two_that_hold_each_other_is_dropped() -> None:
    """Each would be computed for the other."""
    total = x + y
    found = rewritten(total.shape[0], pt.exp(total).shape[0])
    assert any("CheckedLength" in repr(v) or "x + y" in repr(v) for v in found)


def test_lengths_that_are_known_to_be_equal_are_not_checked() -> None:
    assert repr(rewritten((x + pt.exp(x)).shape[0])) == "Shape_i{i=0}(x)"
    assert repr(rewritten(Shape_i(0)(pt.dot(A, A.T)))) == "Shape_i{i=0}(A)"
    assert repr(rewritten((three + pt.vector(shape=(3,))).shape)) == "[3]"


def test_the_user_may_let_errors_go() -> None:
    free = {"including": ["shape_unsafe"]}
    assert repr(rewritten(pt.switch(y > 0, x, x), **free)) == "x"
    assert repr(rewritten((x + y).shape[0], **free)) == "Shape_i{i=0}(x)"
    assert repr(rewritten(x.reshape((2, -1)).reshape((-1,)), **free)) == "x"
    assert repr(rewritten(pt.second(x - y, x), **free)) == "x"


def test_why_not_says_what_may_be_lost() -> None:
    said = str(why_not(CHOICES["switch_of_same"], pt.switch(y > 0, x, x)))
    assert "the dropped term may not fit the kept ones" in said
    said = str(why_not(CHOICES["switch_on_true"], pt.switch(pt.constant(True), x, pt.dot(A, x))))
    assert "dot may raise an error" in said.lower()


@rule(phase="canonicalize", claim=exact)
def first_of(a, b):
    """A rule of a user, who thinks of values."""
    return pt.maximum(a, a + 0 * b) >> a


def test_rules_of_users_lose_none_either() -> None:
    assert first_of.keeps is not None
    assert not first_of.apply(None, pt.maximum(i, i + 0 * j).owner)
    assert first_of.apply(None, pt.maximum(i, i + 0 * pt.sqr(i)).owner) is i
    assert first_of.unchecked.apply(None, pt.maximum(i, i + 0 * j).owner) is i


@pytest.mark.parametrize(
    ("rule", "b", "expected"),
    [
        (first_of, j, pt.neg(pt.maximum(i, i + 0 * j))),
        (first_of, pt.sqr(i), pt.neg(i)),
        (first_of.unchecked, j, pt.neg(i)),
    ],
)
def test_terms_are_chosen_without_a_loss(rule: Any, b: Any, expected: Any) -> None:
    graph = FunctionGraph([i, j], [pt.neg(pt.maximum(i, i + 0 * b))], clone=False)
    SaturationOptimizer(rule).rewrite(graph)
    assert rw.pp(graph.outputs[0]) == rw.pp(expected)


@node_rewriter([pt.minimum])
def left_one(fgraph: Any, node: Any) -> Any:
    """(A rewriter of a user.)"""
    return node.inputs[0]


def test_node_rewriters_ask_for_it() -> None:
    assert left_one.apply(None, pt.minimum(x, pt.exp(x)).owner) is x
    assert not left_one.apply(None, pt.minimum(x, y).owner)
    assert not left_one.apply(None, pt.minimum(x, x[7]).owner)
    assert left_one.unchecked.apply(None, pt.minimum(x, x[7]).owner) is x


def test_a_function_raises_what_a_rewriter_would_have_lost() -> None:
    @node_rewriter([pt.add], phase="specialize")
    def first_term(fgraph: Any, node: Any) -> Any:
        """(A rewriter of a user, who thinks of zeros.)"""
        return node.inputs[0]

    mode = rw.Mode(optimizer=EquilibriumOptimizer(RuleSet(first_term)))
    f = rw.function([x, y], x + y, mode=mode)
    with pytest.raises(ShapeError):
        f(np.ones(2), np.ones(3))
    short = rw.function([x], x + 0.0 * x, mode=mode)
    assert rw.pp(short.fgraph.outputs[0]) == "x"


def test_what_is_taken_apart_is_not_dropped() -> None:
    """Of the product both operands are kept; of the other one only x."""

    @node_rewriter([pt.exp])
    def parts(fgraph: Any, node: Any) -> Any:
        """(A rewriter of a user.)"""
        return pt.exp(x) * pt.exp(y) if node.inputs[0].owner.op is pt.add else pt.exp(x)

    def fires(term: Any) -> bool:
        return isinstance(parts.apply(None, pt.exp(term).owner), Variable)

    assert fires(x + y)
    assert fires(-(-x + -y)) is False  # (no sum: only exp(x) is returned)
    assert not fires(x * y)
    assert fires(x * pt.sqr(x))
    assert not fires(x * x[3])


def test_lengths_that_only_what_is_taken_apart_compares_are_still_compared() -> None:
    f = rw.function([A, s], pt.second(pt.dot(A, A), s))
    assert f(np.ones((2, 2)), 3.0).tolist() == [[3.0, 3.0]] * 2
    with pytest.raises(ShapeError):
        f(np.ones((1, 2)), 3.0)


def test_no_rule_is_to_blame_for_shapes_that_turn_out_not_to_fit() -> None:
    A, v = pt.matrix("A", shape=(5, 2)), pt.vector("v", shape=(2,))
    none = v.shape[pt.gt(v.shape, 5)]  # rewriting learns that its length is 0
    e = pt.exp(A)
    term = none / e.sum(axis=1, keepdims=True) * e
    f = rw.function([A, v], term)
    with pytest.raises(ShapeError, match="mul.*do not fit"):
        f(np.ones((5, 2)), np.ones(2))


def test_a_rule_that_builds_what_does_not_fit_is_to_blame() -> None:
    @node_rewriter([pt.exp], phase="specialize")
    def stacks(fgraph: Any, node: Any) -> Any:
        """One that is wrong."""
        return node.outputs[0] + pt.constant([1.0, 2.0, 3.0])

    a = pt.vector("a", shape=(2,))
    with pytest.raises(RuleRaisedError, match="stacks"):
        rw.function([a], pt.exp(a), mode=rw.Mode() + stacks)


@pytest.mark.parametrize("rows", [1, 2])
def test_reshapes_that_never_fit_together_fail_when_they_run(rows: int) -> None:
    """Three by something has never two elements, though it may be split in twos."""
    A = pt.matrix("A", shape=(None, 3))
    for mode in (PLAIN, rw.Mode()):
        f = rw.function([A], A.reshape((-1, 2)).reshape((1, 2, 1)), mode=mode)
        with pytest.raises(ShapeError, match="Reshape"):
            f(np.ones((rows, 3)))


def test_numpy_finds_that_lengths_do_not_fit() -> None:
    """The product says that the minimum has length 1, so its first step may use memory of that."""
    a, B, v = pt.vector("a", shape=(1,)), pt.matrix("B", shape=(1, None)), pt.vector("v")
    term = pt.dot(pt.minimum(a, a, a, v), B)
    for mode in (PLAIN, rw.Mode()):
        with pytest.raises(ShapeError):
            rw.function([a, B, v], term, mode=mode)(np.ones(1), np.ones((1, 2)), np.ones(2))


def test_a_power_of_integers_without_elements_has_no_error() -> None:
    """What all elements share is computed once, but for what may fail."""
    x = pt.imatrix("x")
    f = rw.function([x], pt.second(x, 2) ** -1)
    assert f(np.empty((0, 2), "int32")).shape == (0, 2)
    with pytest.raises(ValueError, match="negative integer powers"):
        f(np.ones((1, 2), "int32"))
