"""Exact results of one node, for any op: `exact.compute`, with further functions (`function.py`),
linear algebra (`matrix.py`) and ops that move or check values. Ops without an exact meaning are run
in their own dtype on the nearest numbers of it: `taken`.

Exact numbers are `mpf` in arrays of objects; integers and booleans are themselves. Loops and other
ops that hold graphs are left to whoever runs graphs (`explain/accuracy/lockstep.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mp, mpf

import rewrite_engine.tensor as pt
from rewrite_engine.graph.node import Apply
from rewrite_engine.judge import exact, function, matrix
from rewrite_engine.judge.exact import SCALAR, NotKnown
from rewrite_engine.judge.matrix import eigenpairs, matrix_values, meaning_of, stacked
from rewrite_engine.judge.values import REFERENCE
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.tensor.blockwise import Blockwise, parse
from rewrite_engine.tensor.creation import ARange
from rewrite_engine.tensor.flow.branches import IfElse
from rewrite_engine.tensor.flow.raise_op import CheckAndRaise
from rewrite_engine.tensor.index.diagonals import IncDiagonal
from rewrite_engine.tensor.linalg.elimination import SolveLUFactor
from rewrite_engine.tensor.linalg.factor import FactorInverse, FactorSLogDet, FactorSolve
from rewrite_engine.tensor.linalg.op import _MatrixOp
from rewrite_engine.tensor.linalg.spectral import Eigh
from rewrite_engine.tensor.order.sorting import SortOp
from rewrite_engine.tensor.product.blocks import BlockDiag, Kron
from rewrite_engine.tensor.running import Recurrence
from rewrite_engine.tensor.special import ScaledExp, SoftmaxAndLog

ZERO, ONE = mpf(0), mpf(1)


def results(node: Apply, inputs: Sequence[Any], found: Sequence[Any] = ()) -> list[Any]:
    """Return the exact outputs of a node. found: its computed results, which show a choice that an
    op leaves open. Raises `NotKnown`.
    """
    if not all(isinstance(a, np.ndarray) for a in inputs):
        raise NotKnown  # (generators, sparse matrices)
    own = next((fn for cls, fn in OWN.items() if isinstance(node.op, cls)), None)
    if own is None and getattr(node.op, "must_view_map", None) == {0: 0}:
        own = _filled
    if own is not None:
        return own(node, inputs, found)
    try:
        return exact.compute(node, inputs, pairs=True)
    except NotKnown:
        return _elementwise(node, inputs)


def taken(node: Apply, inputs: Sequence[Any]) -> list[Any]:
    """Return the results that a node computes in its dtypes, from the nearest numbers."""
    given = [narrowed(a, v) for a, v in zip(inputs, node.inputs, strict=True)]
    found = REFERENCE.plain(node, given)
    return [exact.exact(a) if v.type.kind in "fc" else a for a, v in zip(found, node.outputs)]


def narrowed(a: Any, v: Any) -> Any:
    """Return the nearest numbers in the dtype of a variable."""
    if not isinstance(a, np.ndarray) or a.dtype != object:
        return a
    with np.errstate(all="ignore"):
        number = complex if v.type.kind == "c" else float
        return np.asarray(np.frompyfunc(number, 1, 1)(a)).astype(v.type.dtype)


def _elementwise(node: Apply, inputs: Sequence[Any]) -> list[Any]:
    op = getattr(node.op, "scalar_op", None)
    if op is None or not isinstance(node.op, pt.Elemwise):
        raise NotKnown
    return scalar_values(op, [v.type.kind for v in node.outputs], inputs)


def scalar_values(op: Any, kinds: Sequence[str], inputs: Sequence[Any]) -> list[Any]:
    """Return the outputs of a scalar op for arrays. Raises `NotKnown`."""
    if isinstance(op, Composite):
        return _composite(op, inputs)
    name = str(op)
    if function.defined(name) and kinds[0] in "fc":
        return [np.asarray(function.value_of(name, [*map(exact.exact, inputs)]), object)]
    raise NotKnown


def _composite(op: Composite, inputs: Sequence[Any]) -> list[Any]:
    values: dict[Any, Any] = dict(zip(op.fgraph.inputs, inputs, strict=True))
    for node in op.fgraph.toposort():
        given = [values[v] if v in values else exact.constant(v) for v in node.inputs]
        if len(node.outputs) != 1 or (node.outputs[0].type.kind in "biu" and _plain(given)):
            results = _as_arrays(node, given)
        else:
            try:
                results = [np.asarray(exact.elementwise(node.op, given, node.outputs[0]))]
            except NotKnown:
                kinds = [v.type.kind for v in node.outputs]
                results = scalar_values(node.op, kinds, given)
        values.update(zip(node.outputs, results, strict=True))
    return [values[v] if v in values else exact.constant(v) for v in op.fgraph.outputs]


def _plain(given: Sequence[Any]) -> bool:
    return all(a.dtype != object for a in given)


def _as_arrays(node: Apply, given: Sequence[Any]) -> list[Any]:
    """Compute a scalar node of integers on arrays."""
    if not _plain(given):
        raise NotKnown
    variables = [pt.constant(np.asarray(a)) for a in given]
    return REFERENCE.plain(pt.Elemwise(node.op).make_node(*variables), given)


def _checked(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    return [exact.exact(inputs[0]) if node.outputs[0].type.kind in "fc" else inputs[0]]


def _arbitrary(node: Apply, inputs: Sequence[Any], found: Sequence[Any]) -> list[Any]:
    a = found[0] if found else REFERENCE.plain(node, inputs)[0]
    return [exact.exact(a) if node.outputs[0].type.kind in "fc" else a]


def _chosen(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    return [inputs[1] if inputs[0] else inputs[2]]


def _matrix(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    core: Any = node.op.core_op if isinstance(node.op, Blockwise) else node.op
    if meaning_of(core) is None or any(v.type.kind == "c" for v in node.inputs):
        return exact.compute(node, inputs)
    signature = getattr(node.op, "signature", None) or core.signature
    ranks = [len(names) for names in parse(signature)[0]]
    pivots = isinstance(core, SolveLUFactor | FactorSolve | FactorInverse | FactorSLogDet)
    arrays = [a if i == 1 and pivots else exact.exact(a) for i, a in enumerate(inputs)]
    try:
        return matrix_values(core, ranks, arrays)
    except (ZeroDivisionError, ValueError) as error:
        raise NotKnown from error


def _eigenpairs(node: Apply, inputs: Sequence[Any], found: Sequence[Any]) -> list[Any]:
    """Return eigenvalues, and eigenvectors with the signs of the computed ones."""
    if any(v.type.kind != "f" for v in (*node.inputs, *node.outputs)):
        raise NotKnown
    values, vectors = eigenpairs(exact.exact(inputs[0]), node.op.lower)
    if found:
        signs = np.sign(np.sum(found[1] * narrowed(vectors, node.outputs[1]), axis=0))
        vectors = vectors * exact.exact(np.where(signs < 0, -1.0, 1.0))
    return [values, vectors]


def _blockwise(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    """Apply the meaning of a core op along a batch."""
    op: Any = node.op
    if isinstance(op.core_op, _MatrixOp):
        return _matrix(node, inputs, found)
    ranks = [len(names) for names in parse(op.signature)[0]]
    batch = np.broadcast_shapes(*[a.shape[: a.ndim - n] for a, n in zip(inputs, ranks)])
    wide = [np.broadcast_to(a, (*batch, *a.shape[a.ndim - n :])) for a, n in zip(inputs, ranks)]
    kinds = [v.type.clone(shape=(None,) * n) for v, n in zip(node.inputs, ranks, strict=True)]
    core = op.core_op.make_node(*[kind() for kind in kinds])
    rows = [results(core, [a[index] for a in wide]) for index in np.ndindex(batch)]
    return stacked(rows, batch)


def _sorted(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    kind = node.outputs[0].type.kind
    a = exact.exact(inputs[0]) if kind == "f" else inputs[0]
    if kind == "c" or (a.dtype == object and any(x != x for x in a.flat)):
        raise NotKnown
    return [np.sort(a, axis=node.op.axis)]


def _recurrence(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    a, b = [np.moveaxis(exact.exact(x), node.op.axis, 0) for x in inputs]
    h = b.copy()
    for i in range(1, len(h)):
        h[i] = a[i] * h[i - 1] + b[i]
    return [np.moveaxis(h, 0, node.op.axis)]


def _numbers(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    if all(a.dtype != object for a in inputs):
        made = REFERENCE.plain(node, inputs)
        return [exact.exact(made[0]) if node.outputs[0].type.kind == "f" else made[0]]
    start, stop, step = [exact.exact(a).item() for a in inputs]
    n = max(0, int(mp.ceil((stop - start) / step)))
    return [np.array([start + i * step for i in range(n)], object)]


def _scaled(node: Apply, inputs: Sequence[Any], found: Sequence[Any]) -> list[Any]:
    """Return exponentials with the factor of the computed ones, whose largest count as exact."""
    x, axis = exact.exact(inputs[0]), node.op.axis
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis)
    if not found or not x.size:
        return [SCALAR["exp"](x)]
    largest = np.maximum.reduce(x, axis=axes, keepdims=True)
    scale = exact.exact(np.max(found[0], axis=axes, keepdims=True))
    usual = np.asarray(np.frompyfunc(lambda s: bool(s - s == 0 < s), 1, 1)(scale), bool)
    scaled = SCALAR["exp"](x - np.where(usual, largest, ZERO)) * np.where(usual, scale, ONE)
    return [scaled]


def _softmax_and_log(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    op: Any = node.op
    x = exact.exact(inputs[0])
    return [exact.ARRAY[type(one)](one, x, None) for one in (pt.Softmax(op.axis), op.log)]


def _filled(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    parts = [exact.exact(a) if v.type.kind in "fc" else a for a, v in zip(inputs, node.inputs)]
    if len(parts) > 1 and parts[0].dtype == object:
        parts[1] = exact.exact(parts[1])
    cells: list[list[Any]] = [[None]]
    node.op.perform(node, parts, cells)
    return [np.asarray(cells[0][0])]


def _product(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    kinds = {v.type.kind for v in (*node.inputs, *node.outputs)}
    if kinds - {"f"} or any(a.ndim == 0 or not a.size for a in inputs):
        return exact.compute(node, inputs, pairs=True)
    return [matrix.product(*map(exact.exact, inputs))]


def _kronecker(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    if any(v.type.kind != "f" for v in node.outputs):
        return exact.compute(node, inputs)
    (m, n), (p, q) = [a.shape for a in inputs]
    a, b = map(exact.exact, inputs)
    whole = np.multiply.outer(a, b).transpose(0, 2, 1, 3)
    return [np.asarray(whole, object).reshape(m * p, n * q)]


def _along_diagonal(node: Apply, inputs: Sequence[Any], found: Any) -> list[Any]:
    if any(v.type.kind != "f" for v in node.outputs):
        return exact.compute(node, inputs)
    whole = np.full([sum([a.shape[i] for a in inputs]) for i in range(2)], ZERO, object)
    row = column = 0
    for a in inputs:
        below, right = row + a.shape[0], column + a.shape[1]
        whole[row:below, column:right] = exact.exact(a)
        row, column = below, right
    return [whole]


OWN: dict[type, Callable[[Apply, Sequence[Any], Sequence[Any]], list[Any]]] = {
    pt.Dot: _product,
    pt.MatMul: _product,
    CheckAndRaise: _checked,
    IfElse: _chosen,
    pt.AllocEmpty: _arbitrary,
    Eigh: _eigenpairs,
    _MatrixOp: _matrix,
    Blockwise: _blockwise,
    SortOp: _sorted,
    Recurrence: _recurrence,
    ARange: _numbers,
    ScaledExp: _scaled,
    SoftmaxAndLog: _softmax_and_log,
    IncDiagonal: _filled,
    Kron: _kronecker,
    BlockDiag: _along_diagonal,
}
