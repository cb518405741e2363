"""A pattern is what its ops build: it matches its own term, or is refused when it is written."""

from __future__ import annotations

import linecache
from functools import partial, update_wrapper
from inspect import signature
from typing import Any

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import PatternError, RuleError, SeveralOutputsError
from rewrite_engine.graph.op import Op
from rewrite_engine.language import *
from rewrite_engine.language import TensorLogicVariable
from rewrite_engine.match.interpret import match_root
from rewrite_engine.match.lower import lower
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.sample import check_sides, own_form
from rewrite_engine.pipeline.phases import all_rules, rewrite_graph
from tests.families import SparseType

RANKS = {"Scalar": 0, "Vector": 1, "Matrix": 2, "Tensor[None, None, None]": 3}


def written(expression: str, decorator: str = "rule", **sorts: str) -> Any:
    """A rule with a left side, from text, as an author would write it in a file."""
    parameters = ", ".join(f"{name}: {sort}" if sort else name for name, sort in sorts.items())
    used = ", ".join(sorts)
    text = (
        f"@{decorator}\ndef written({parameters}):\n    '(For tests.)'\n"
        f"    return ({expression}) >> compute(lambda {used}: None)\n"
    )
    linecache.cache["<written>"] = (len(text), None, text.splitlines(True), "<written>")
    names = globals() | {"__name__": "written"}
    exec(compile(text, "<written>", "exec"), names)
    return names["written"]


def term(expression: str, **sorts: str) -> Any:
    names = {name: pt.tensor(name, shape=(None,) * RANKS[sort]) for name, sort in sorts.items()}
    return eval(expression, {"pt": pt, **names})


EXPRESSIONS = """
a.sum(axis=-1) | a.max(axis=-1) | a.argmax(axis=-1) | a.sum(axis=0)
a.sum(axis=-1, keepdims=True) | a.all(axis=-1) | a.any() | pt.prod(a, axis=-1)
pt.max(a, axis=(0, -1)) | pt.trace(a.T) | pt.trace(a) | a.T | a.mT | pt.moveaxis(a, 0, -1)
a.swapaxes(0, -1) | pt.expand_dims(a, -1) | pt.shape_padright(a, 2) | a[..., 0] | a[..., None]
a[0] | a[::-1] | a[1:-1] | a[a > 0] | a[0].set(1) | a[0].inc(a[1]) | pt.ravel(a) | a.flatten()
a.size | a.shape | a.shape[0] | a.reshape((2, -1)) | a.dimshuffle("x", *range(a.ndim))
pt.outer(a, a) | pt.inner(a, a) | pt.vdot(a, a) | pt.tensordot(a, a, 1) | a @ a | a.dot(a)
pt.dot(a, 2) | pt.join(-1, a, a) | pt.concatenate([a, a], axis=None) | pt.stack([a, a], axis=-1)
pt.horizontal_stack(a, a) | a.cumsum() | a.cumsum(axis=-1) | a.cumprod(0) | pt.softmax(a, axis=-1)
pt.log_softmax(a) | pt.logsumexp(a, axis=-1) | a.mean() | a.mean(axis=-1) | a.var(axis=-1)
a.std() | pt.empty_like(a) | pt.diag(a) | pt.identity_like(a) | a.zeros_like() | a.fill(2)
a.astype("float32") | a.clip(0, 1) | a % 2 | a // 2 | abs(a) | pt.eq(a, a)
pt.where(a > 0, a, -a) | pt.isclose(a, a) | pt.isclose(a, 1) | pt.tril(a) | pt.diagonal(a)
pt.repeat(a, 2, axis=0) | pt.tile(a, 2) | pt.roll(a, 1) | pt.split(a, [1, 2], 2)[0]
pt.argsort(a) | pt.sort(a) | a[[0, 0]] | pt.arange(a) | a + a.T | pt.specify_shape(a, (2, None))
pt.squeeze(a, 0) | pt.atleast_3d(a) | pt.broadcast_to(a, (3, 2, 2))
"""


def matches(pattern: Any, term: Any) -> bool:
    """Whether a pattern matches a term as built or, if it looked at types, in its normal form."""
    normal = rewrite_graph(term)
    roots = [v.owner for v in (term, normal) if v.owner is not None]
    return any(next(match_root(pattern, node), None) is not None for node in roots)


@pytest.mark.parametrize("sort", RANKS)
@pytest.mark.parametrize("expression", EXPRESSIONS.replace("\n", " | ").strip(" |").split(" | "))
def test_a_pattern_matches_its_own_term_or_says_what_to_write(expression: str, sort: str) -> None:
    try:
        found = term(expression, a=sort)
    except Exception:
        return  # there is no such term
    if found.owner is None:
        return
    try:
        made = written(expression, a=sort)
    except RuleError as error:
        text = str(error)
        assert (
            "does not bind" in text
            or expression in text
            or "patterns are made of" in text
            or "several outputs" in text
        )
        return
    assert matches(made.left, found), (expression, sort)


@pytest.mark.parametrize("name", [n for n in dir(pt) if n[0] != "_"])
def test_every_function_of_tensors(name: str) -> None:
    """Of one, two or three operands of any rank, with a number behind them or not."""
    if isinstance(getattr(pt, name), type) or not callable(getattr(pt, name)):
        return
    for sorts in ("Matrix",), ("Vector",), ("Scalar",), ("Matrix", "Matrix"), ("Matrix", "Vector"):
        names = dict(zip("abc", sorts, strict=False))
        for more in "", ", 0", ", -1":
            call = f"pt.{name}({', '.join(names)}{more})"
            try:
                found = term(call, **names)
                node = found.owner
            except Exception:
                continue
            if node is None or isinstance(found, list):
                continue
            try:
                made = written(call, **names)
            except RuleError:
                continue
            assert matches(made.left, found), (call, names)


@pytest.mark.parametrize(
    ("expression", "sorts", "what"),
    [
        ("a.sum(-1)", {"a": ""}, "the pattern has Sum{axis=-1}, but a term has Sum{axis=1}"),
        ("pt.exp(pt.max(a, axis=(0, -1)))", {"a": ""}, "a term has Max"),
        ("pt.exp(pt.split(a, [1, 2], 2))", {"a": "Vector"}, "has 2 outputs: write Split"),
        ("pt.concatenate([a])", {"a": "Vector"}, "is not an op"),
    ],
)  # fmt: skip
def test_what_is_refused(expression: str, sorts: dict[str, str], what: str) -> None:
    with pytest.raises(PatternError) as info:
        written(expression, **sorts)
    assert str(info.value).startswith("rule written/written (<written>:1: @rule)\n")
    assert what in str(info.value)


def test_ranks_that_sorts_do_not_fix() -> None:
    """What fits some terms is a rule for those."""
    for expression in "pt.sum(a, axis=0)", "pt.Sum(axis=5)(a)", "a @ b", "pt.join(0, a, b)", "a[0]":
        sorts = {"a": "", "b": ""} if "b" in expression else {"a": ""}
        assert written(expression, **sorts)


def test_parameters_rests_and_missing_operands() -> None:
    assert str(written("pt.Sum(axis=ax)(a.sum(axis=-1))", a="Matrix", ax="Prop")) == (
        "written/written: Sum(axis=ax)(Sum{axis=1}(a)) -> compute(a, ax)"
    )
    for expression in "pt.join(0, a, *xs)", "pt.exp(pt.mul(*xs)) * a", "a + pt.mul(*xs)":
        assert written(expression, a="", xs="Rest")
    with pytest.raises(PatternError, match="can never match"):  # the rest may have any rank
        written("pt.add(a, *xs).sum(axis=-1)", a="Vector", xs="Rest")


class Doubled(Op):
    """Builds another op than itself for what is no vector."""

    __props__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = n

    def make_node(self, x: Any) -> Any:
        wanted = Doubled(x.type.ndim)
        return Op.make_node(self, x) if wanted is self else wanted.make_node(x)

    def convert_input(self, x: Any) -> Any:
        return pt.as_tensor_variable(x)

    def infer_types(self, types: Any) -> Any:
        return [types[0]]


def test_ops_of_others() -> None:
    globals()["Doubled"] = Doubled
    made = written("Doubled(7)(pt.exp(a))", a="Matrix")
    assert made.left.op is Doubled(2)
    with pytest.raises(PatternError, match="can never match"):
        written("Doubled(7)(pt.exp(a))", a="")


def test_terms_that_no_dtype_allows() -> None:
    with pytest.raises(PatternError, match=r"exp\(a\) & 1 can never match: and_: is not defined"):
        written("pt.exp(a) & 1", a="")
    assert written("pt.exp(a * (b & 1))", a="", b="")
    with pytest.raises(PatternError, match="SVD.*takes a matrix, not type TensorType"):
        written("pt.linalg.SVD()(a).S", a="Vector")


def of_types(*itypes: Any) -> Any:
    def perform(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0]

    body = {"__props__": (), "itypes": itypes, "otypes": itypes[:1], "perform": perform}
    return type("OfTypes", (Op,), body)()


@pytest.mark.parametrize(
    "wanted",
    [
        pt.bscalar, pt.zrow, pt.TensorType("float64", (3,)), pt.TensorType("float32", (3, 7, 1)),
        SparseType("float64"),
    ],
)  # fmt: skip
def test_a_variable_may_be_what_an_op_asks_for(wanted: Any) -> None:
    """Also where no tensor of the usual dtypes, ranks and lengths is."""
    op, other = of_types(wanted), of_types(wanted, pt.dscalar)
    x, y = wanted("x"), pt.dscalar("y")

    @rule(phase="canonicalize")
    def twice(x):  # type: ignore[no-untyped-def]
        """(For tests.)"""
        return op(op(x)) >> x

    assert str(rewritten(op(op(x)), rules=[twice])) == "x"
    found = rw.find(other(op(x), y), lambda a, b: other(op(a), b))
    assert [(match["a"], match["b"]) for match in found] == [(x, y)]
    with pytest.raises(PatternError, match="can never match: OfTypes: input 0 must be of type"):
        list(rw.find(op(x), lambda a: op(pt.eq(a, a))))
    with pytest.raises(PatternError, match="can never match: OfTypes: input 0 must be of type"):
        list(rw.find(op(x), lambda a: of_types(pt.fvector)(op(a))))


def test_a_sort_holds_beside_what_an_op_asks_for() -> None:
    x, op = pt.zrow("x"), of_types(pt.zrow)

    def turned(a: Matrix) -> Any:
        return op(a)

    def never(a: Float) -> Any:
        return op(a)

    assert [match["a"] for match in rw.find(op(x), turned)] == [x]
    with pytest.raises(PatternError, match="can never match"):
        list(rw.find(op(x), never))


def test_find_looks_for_what_ops_build() -> None:
    m = pt.matrix("m")

    def last(a: Matrix) -> Any:
        return pt.sum(pt.exp(a), axis=-1)

    assert [match["a"] for match in rw.find(pt.exp(m).sum(axis=1), last)] == [m]
    assert [match["a"] for match in rw.find(pt.exp(m).sum(axis=0), last)] == []
    with pytest.raises(PatternError, match="can never match"):
        list(rw.find(m.sum(axis=1), lambda a: pt.sum(a, axis=-1)))


def test_equations_are_as_ops_build_both_sides() -> None:
    @equation
    def turned(a: Matrix):  # type: ignore[no-untyped-def]
        """(For tests.)"""
        return pt.exp(a).sum(axis=-1), pt.exp(a.T).sum(axis=-2)

    assert str(turned.left.op), str(turned.right.op) == ("Sum{axis=1}", "Sum{axis=0}")
    assert turned.backward.left == turned.right


def shipped() -> list[DataRule]:
    found = []
    for one in all_rules():
        found += [r for r in getattr(one, "directions", [one]) if isinstance(r, DataRule)]
    return found


@pytest.mark.parametrize("one", shipped(), ids=lambda r: r.name)
def test_shipped_rules_are_as_ops_build_them(one: DataRule) -> None:
    """They are not looked at when they are imported."""
    worlds = TensorLogicVariable.worlds()
    assert own_form(one.left, worlds, one.lowered.exact) == one.left
    check_sides(lower(one.fn, one.variable, one.lowered.exact))


class Both(Op):
    """Two outputs, and says nothing of it before it is applied."""

    __props__ = ("q",)

    def __init__(self, q: int) -> None:
        self.q = q

    def infer_types(self, types: Any) -> Any:
        return [types[0], types[0]]


@pytest.mark.parametrize(
    "expression",
    [
        "pt.Sum(axis=p)(Both(q=3)(a))",
        "pt.exp(Both(q=p)(a))",
        "pt.exp(pt.Sum(axis=p)(Both(q=3)(a)))",
        "pt.exp(pt.Sum(axis=p)(Both(q=p)(a)))",
        "pt.exp(Both(q=p)(a)[7])",
    ],
)
def test_several_outputs_beside_parameters(expression: str) -> None:
    """What may not be built of any sample is refused, whatever its parameters."""
    with pytest.raises(SeveralOutputsError, match="Both.* has 2 outputs"):
        written(expression, a="Vector", p="Prop")


def test_a_name_that_is_missing_in_a_function_with_some_arguments() -> None:
    def made(k: int, x: Any) -> Any:
        """(For tests.)"""
        return nowhere(k, x) >> x  # type: ignore[name-defined]

    one = update_wrapper(partial(made, 3), made)
    one.__signature__ = signature(one.func).replace(  # type: ignore[attr-defined]
        parameters=[signature(made).parameters["x"]]
    )
    with pytest.raises(PatternError, match="name 'nowhere' is not defined"):
        rule(one)
