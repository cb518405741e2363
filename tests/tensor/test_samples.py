"""Every op on tensors, at the samples that it declares: values in several dtypes and layouts, along
batches, lengths (by all who ask for them, and where they do not fit), gradients, memory, identity.
"""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, MethodNotDefined, ShapeError
from rewrite_engine.facts import cannot_fail, length
from rewrite_engine.gradient import Lop, Rop, verify_grad
from rewrite_engine.gradient.stops import GradientView
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.memory import check_memory
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.link.plan import Dims, axes
from rewrite_engine.tensor.linalg.factor import _Internal
from rewrite_engine.tensor.linalg.spectral import SVD
from rewrite_engine.tensor.op import TensorOp
from rewrite_engine.tensor.type import TensorType
from tests.tensor.references import MEANS
from tests.tensor.test_memory import check

DTYPES = ["float64", "float32", "int8", "bool", "complex128"]
#: dtypes that an op does not take
REFUSED = {
    "Recurrence": {"int8", "bool"},
    "MakeVector": {"complex128"},
    "BinCount": {"complex128"},
    "CovarianceGradient": {"complex128"},
    **{
        name: {"complex128"}
        for name in ("Softmax", "LogSoftmax", "ScaledExp", "LogSumExp", "SoftmaxAndLog")
    },
    **{name: {"complex128"} for name in ("RFFTOp", "IRFFTOp")},
}
#: ops of which the values tell lengths, or whose types leave one out
COUNTS = ["Unbroadcast", "Unique"]


def classes(base: type) -> list[Any]:
    """The ops of the library that compute something."""
    below = [c for cls in base.__subclasses__() for c in [cls, *classes(cls)]]
    tops = {c: c.__module__.split(".")[:2] for c in below}  # (what is in `compat` is of others)
    ours = [c for c in below if tops[c][0] == "rewrite_engine" and tops[c][1] != "compat"]
    return [c for c in dict.fromkeys(ours) if c.perform is not Op.perform and c.__name__[0] != "_"]


class Case(NamedTuple):
    """An op, and what its inputs are."""

    op: Any
    given: tuple[Any, ...]

    @property
    def name(self) -> str:
        return type(self.op).__name__

    @property
    def arrays(self) -> list[int]:
        """The inputs that are arrays of any dtype."""
        return [i for i, x in enumerate(self.given) if isinstance(x, tuple)]

    def values(self, dtype: str = "float64") -> list[Any]:
        return [array(x, dtype, i) if isinstance(x, tuple) else np.asarray(x)
                for i, x in enumerate(self.given)]  # fmt: skip

    def wanted(self, values: Any) -> list[Any]:
        """The true outputs."""
        found = MEANS[self.name](self.op, *values)
        return [np.asarray(x) for x in (found if isinstance(found, list) else [found])]


def array(shape: Any, dtype: str, seed: int) -> Any:
    """An array of different numbers, none of which is 0."""
    n = int(np.prod(shape))
    x = np.random.default_rng(seed).permutation(np.linspace(-2.1, 1.9, n)).reshape(shape)
    if dtype == "bool":
        return x > 0
    return (x + 0.5j * x[::-1] if dtype == "complex128" and x.ndim else x).astype(dtype)


def apply(op: Any, values: Any, known: bool) -> tuple[list[Any], list[Any]]:
    """Variables for values, and the outputs. known: whether their types know the shapes; if not,
    they know which lengths are 1.
    """
    shapes = [x.shape if known else [1 if n == 1 else None for n in x.shape] for x in values]
    inputs = [TensorType(x.dtype, s)() for x, s in zip(values, shapes, strict=True)]
    return inputs, op.make_node(*inputs).outputs


def in_phase(found: Any, wanted: Any) -> Any:
    """Singular vectors as those that are wanted, up to a number of size 1 for each pair, which
    libraries of linear algebra choose as they like.
    """
    u, s, vh = found
    turn = (u.conj() * wanted[0]).sum(axis=-2)[..., : s.shape[-1]]
    turn = (turn / abs(turn)).astype(u.dtype)
    return [u * turn[..., None, :], s, vh * turn.conj()[..., None]]


def assert_equal(found: Any, wanted: Any, op: Any) -> None:
    assert len(found) == len(wanted)
    if type(op) is SVD and not op.full_matrices:
        found = in_phase(found, wanted)
    for got, want in zip(found, wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if type(op) is not pt.AllocEmpty:
            rtol = 1e-5 if want.dtype in ("complex64", "float32", "float16") else 1e-12
            np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)


ALL = [getattr(pt, name) for name in dir(pt)]  # families are loaded by their names
OPS = [c for c in classes(TensorOp) if c.takes is TensorOp.takes]  # of tensors alone
CASES = [Case(cls(**sample[0]), sample[1:]) for cls in OPS for sample in cls.samples]
of_all = pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.op}-{c.given}")


def test_no_op_is_left_out() -> None:
    """But those that take something else than tensors, too."""
    others = {"PdbBreakpoint", "Print", "ScalarFromTensor", "TensorFromScalar"}
    ours = [cls for cls in classes(TensorOp) if cls.__module__.startswith("rewrite_engine.tensor.")]
    assert {cls.__name__ for cls in ours if cls not in OPS} == others


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.__name__)
def test_every_op_has_samples_and_a_meaning(cls: Any) -> None:
    assert cls.samples
    assert cls.__name__ in MEANS


# --- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@of_all
def test_values(case: Case, dtype: str) -> None:
    if not case.arrays and dtype != "float64":
        return
    values = case.values(dtype)
    if case.arrays and dtype in REFUSED.get(case.name, ()):
        with pytest.raises(DTypeError):
            apply(case.op, values, known=True)
        return
    for known in (True, False):
        inputs, outputs = apply(case.op, values, known)
        try:
            wanted = case.wanted(values)
        except np.linalg.LinAlgError:  # of integers a matrix may be singular: then for us, too
            with pytest.raises(np.linalg.LinAlgError, match="singular"):
                rw.function(inputs, outputs)(*values)
            return
        assert [v.type.dtype for v in outputs] == [x.dtype.name for x in wanted]
        assert_equal(evaluate(outputs, dict(zip(inputs, values, strict=True))), wanted, case.op)
    f = rw.function(inputs, outputs)
    assert_equal(f(*values), wanted, case.op)


@of_all
def test_arrays_that_are_not_contiguous(case: Case) -> None:
    values = case.values()
    for spread in (_by_columns, _every_second):
        apart = [spread(x) for x in values]
        inputs, outputs = apply(case.op, apart, known=False)
        wanted = case.wanted(values)
        assert_equal(evaluate(outputs, dict(zip(inputs, apart, strict=True))), wanted, case.op)
        assert_equal(rw.function(inputs, outputs)(*apart), wanted, case.op)


def _by_columns(x: Any) -> Any:
    return np.asarray(x, order="F")


def _every_second(x: Any) -> Any:
    if not x.ndim:
        return x
    room = np.full([2 * n for n in x.shape], 99).astype(x.dtype)
    part = room[tuple([slice(None, None, 2)] * x.ndim)][::-1]
    part[...] = x
    return part


@pytest.mark.parametrize("part", ["all", "first", "last"])
@of_all
def test_batches(case: Case, part: str) -> None:
    """Along all arrays, or one."""
    lifted = {"all": case.arrays, "first": case.arrays[:1], "last": case.arrays[-1:]}[part]
    if not lifted or (part != "all" and case.arrays == lifted):
        return
    values = case.values()
    inputs, outputs = apply(case.op, values, known=False)
    many = [np.stack([x, x * 0.5, x - 3]) if i in lifted else x for i, x in enumerate(values)]
    given = [
        TensorType(x.dtype, [None] * (x.ndim - v.type.ndim) + list(v.type.shape))()
        for x, v in zip(many, inputs, strict=True)
    ]
    results = pt.vectorize_graph(outputs, dict(zip(inputs, given, strict=True)))
    each = [[x[k] if i in lifted else x for i, x in enumerate(many)] for k in range(3)]
    wanted = [np.stack(same) for same in zip(*map(case.wanted, each), strict=True)]
    found = evaluate(results, dict(zip(given, many, strict=True)))
    found = [np.broadcast_to(x, w.shape) for x, w in zip(found, wanted, strict=True)]
    assert_equal(found, wanted, case.op)
    check(results, dict(zip(given, many, strict=True)))


# --- lengths ----------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False])
@of_all
def test_all_that_the_shape_rule_says_agrees_with_the_values(case: Case, known: bool) -> None:
    values = case.values()
    inputs, outputs = apply(case.op, values, known)
    node, given = outputs[0].owner, dict(zip(inputs, values, strict=True))
    shapes = dict(
        zip((*inputs, *outputs), map(np.shape, (*values, *case.wanted(values))), strict=True)
    )
    for made, said in zip(outputs, node.op.checked(node, values), strict=True):
        assert agree(made.type.shape, shapes[made])
        assert agree(said, shapes[made])
        if known and case.name not in COUNTS and all(isinstance(x, tuple) for x in case.given):
            assert None not in made.type.shape
    dims = Dims()
    axes(node.op, node, dims)
    ids: dict[int, int] = {}
    for v, shape in shapes.items():
        for axis, size in enumerate(shape):
            assert ids.setdefault(dims.find(dims.of(v)[axis]), size) == size, (v, axis)
            found = length(v, axis).value
            if isinstance(found, Variable):  # an integer that gives the length
                found = int(evaluate([found], given)[0])
            assert size == (found if isinstance(found, int) else shapes[found[0]][found[1]])
    lengths = [n for v in outputs for n in _inferred(node, v.index)]
    assert [int(n) for n in evaluate(lengths, given)] == [n for v in outputs for n in shapes[v]]
    f = rw.function(inputs, [v.shape for v in outputs], on_unused_input="ignore")
    assert [tuple(s) for s in f(*values)] == [shapes[v] for v in outputs]


def agree(said: Any, shape: Any) -> bool:
    return len(said) == len(shape) and all(a in (None, b) for a, b in zip(said, shape, strict=True))


def _inferred(node: Any, index: int) -> Any:
    """The lengths as variables; where the op tells none, those of the result."""
    try:
        found = node.op.infer_shape(None, node, [pt.shape_tuple(x) for x in node.inputs])
    except MethodNotDefined:
        found = [pt.shape_tuple(v) for v in node.outputs]
    return found[index or 0]


@of_all
def test_a_longer_dimension_is_right_or_an_error_for_everybody(case: Case) -> None:
    for i in case.arrays:
        for axis, n in enumerate(case.given[i]):
            if n == 1:  # it may be stretched, as its type says
                continue
            shape = (*case.given[i][:axis], n + 2, *case.given[i][axis + 1 :])
            changed = case._replace(given=(*case.given[:i], shape, *case.given[i + 1 :]))
            values = changed.values()
            results = [_result(run, case.op, values) for run in (_known, _by_perform, _compiled)]
            if None not in results:
                assert_equal(results[0], changed.wanted(values), case.op)
            assert [r is None for r in results] in ([True] * 3, [False] * 3), (i, axis)
            if None in results:  # of these types it may fail
                assert not any([cannot_fail(v) for v in apply(case.op, values, known=False)[1]])


def _result(run: Any, op: Any, values: Any) -> Any:
    try:
        return run(op, values)
    except ShapeError:
        return None


def _known(op: Any, values: Any) -> Any:
    inputs, outputs = apply(op, values, known=True)
    return evaluate(outputs, dict(zip(inputs, values, strict=True)))


def _by_perform(op: Any, values: Any) -> Any:
    inputs, outputs = apply(op, values, known=False)
    return evaluate(outputs, dict(zip(inputs, values, strict=True)))


def _compiled(op: Any, values: Any) -> Any:
    inputs, outputs = apply(op, values, known=False)
    return rw.function(inputs, outputs)(*values)


# --- derivatives ------------------------------------------------------------------------------

#: what has no gradient of some input, and says so


@of_all
def test_gradients(case: Case) -> None:
    values = case.values()
    floats = [i for i, x in enumerate(values) if x.dtype.kind == "f"]
    if isinstance(case.op, GradientView | _Internal):  # it gives another one, or none
        return
    _, outputs = apply(case.op, values, known=False)
    moves = [k for k, v in enumerate(outputs) if v.type.kind == "f"]
    if not floats or not moves:
        return

    def of(k: int) -> Any:
        def fun(*xs: Any) -> Any:
            mine = dict(zip(floats, xs, strict=True))
            mine |= {i: pt.tril(mine[i]) for i in getattr(case.op, "triangular", ())}
            return case.op.make_node(*[mine.get(i, x) for i, x in enumerate(values)]).outputs[k]

        return fun

    for k in moves:
        verify_grad(of(k), [values[i] for i in floats])


@of_all
def test_derivatives_forwards_are_those_backwards(case: Case) -> None:
    values = case.values()
    inputs, outputs = apply(case.op, values, known=False)
    floats = [i for i, v in enumerate(inputs) if v.type.kind == "f"]
    pattern = getattr(case.op, "connection_pattern", None)
    linked = pattern is None or any(any(row) for row in pattern(outputs[0].owner))
    if isinstance(case.op, GradientView | _Internal):
        return
    if not floats or not linked or outputs[0].type.kind != "f":
        return
    rng = np.random.default_rng(9)
    xs, given = [inputs[i] for i in floats], dict(zip(inputs, values, strict=True))
    directions = [x.type() for x in xs]
    given |= {v: rng.normal(size=values[i].shape) for i, v in zip(floats, directions, strict=True)}
    weights = outputs[0].type()
    given[weights] = rng.normal(size=case.wanted(values)[0].shape)
    ahead = Rop(outputs[0], xs, directions)
    back = Lop(outputs[0], xs, weights, disconnected_inputs="ignore")
    sides = [
        (weights * ahead).sum(),
        sum((g * v).sum() for g, v in zip(back, directions, strict=True)),
    ]
    np.testing.assert_allclose(*evaluate(sides, given), rtol=1e-9, atol=1e-9)


# --- the op itself ----------------------------------------------------------------------------


@of_all
def test_identity_and_memory(case: Case) -> None:
    op, values = case.op, case.values()
    assert pickle.loads(pickle.dumps(op)) is op
    assert type(op)(**{name: getattr(op, name) for name in op.__props__}) is op
    inputs, outputs = apply(op, values, known=False)
    node = outputs[0].owner
    check_memory(node, values)
    fast = op.inplace_on_inputs(range(len(inputs)), node)
    if fast is not None:
        check_memory(fast.make_node(*inputs), values)
        (i,) = fast.destroys
        given = [x.copy() for x in values]
        cells: list[list[Any]] = [[None] for _ in outputs]
        fast.perform(fast.make_node(*inputs), given, cells)
        assert_equal([cell[0] for cell in cells], case.wanted(values), op)
        assert cells[0][0] is given[i]
