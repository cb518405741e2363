"""`Blockwise`: an op on the last dimensions, applied along all others (NumPy's generalised ufuncs).

A signature such as "(m,n),(n)->(m)" names the last dimensions of inputs and outputs; dimensions of
one name are equally long, a number is a length. The dimensions in front of them are the batch: they
broadcast as in elementwise ops (`tensor/broadcast.py`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, update_wrapper
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from rewrite_engine import hooks
from rewrite_engine.config import config
from rewrite_engine.errors import (
    BatchError,
    BroadcastError,
    NDimError,
    RewriteEngineError,
    ShapeError,
)
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import is_disconnected
from rewrite_engine.graph.op import Op, known_outputs
from rewrite_engine.graph.origin import located
from rewrite_engine.graph.traverse import ancestors, toposort
from rewrite_engine.tensor.broadcast import broadcast
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.elemwise_grad import zero_gradient
from rewrite_engine.tensor.math import second
from rewrite_engine.tensor.op import (
    Computed,
    Group,
    Shapes,
    TensorOp,
    Types,
    Value,
    behind_batch,
    is_dimension,
)
from rewrite_engine.tensor.reduce import Sum, sum_to
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    pass

V = TypeVar("V", bound=Variable)

__all__ = ["Blockwise", "vectorize", "vectorize_graph"]

Names = tuple[tuple[str, ...], ...]


@cache
def parse(signature: str) -> tuple[Names, Names]:
    """The names of the dimensions of inputs and outputs. Raises `ShapeError`.

    >>> parse("(m,n),(n)->(m)")
    ((('m', 'n'), ('n',)), (('m',),))
    """
    sides = [_groups(text) for text in signature.split("->")]
    if len(sides) != 2 or None in sides:
        raise ShapeError(f"not a signature such as '(m,n),(n)->(m)': {signature!r}")
    return sides[0], sides[1]  # type: ignore[return-value]


def _groups(text: str) -> Names | None:
    """The names in each pair of brackets; None if it is not such a list."""
    *groups, rest = text.split(")")
    found: list[tuple[str, ...]] = []
    for group in groups:
        before, bracket, inside = group.partition("(")
        names = [name.strip() for name in inside.split(",")] if inside.strip() else []
        named = all([name.replace("_", "0").isalnum() for name in names])
        if not bracket or before.strip() != ("," if found else "") or not named:
            return None
        found.append(tuple(names))
    return None if rest.strip() else tuple(found)


class Blockwise(TensorOp):
    """`core_op` on the last dimensions of arrays, along all the others.

    signature: "(m,n),(n)->(m)"; by default the `gufunc_signature` of the core op. Where the core op
    has an attribute `batched`, a function of arrays that broadcasts as NumPy's do, that computes
    it, else `core.perform`, one by one. Gradients are
    those of the core op, with more dimensions. Raises `NDimError`, `ShapeError`, `BroadcastError`,
    and what the core op raises.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__: tuple[str, ...] | None = ("core_op", "signature")
    samples: Sequence[Any] = (
        ({"core_op": Sum(axis=0), "signature": "(m,n)->(n)"}, (4, 2, 3)),
        ({"core_op": Sum(), "signature": "(3)->()"}, (3,)),
        ({"core_op": Sum(axis=0), "signature": "(m,n)->(n)"}, (0, 2, 3)),
    )

    def __init__(self, core_op: Op, signature: str | None = None) -> None:
        if signature is None:
            signature = getattr(core_op, "gufunc_signature", None)
        if signature is None:
            raise ShapeError(f"{core_op} has no gufunc_signature: say Blockwise(…, signature=…)")
        self.core_op = core_op
        self.signature = signature.replace(" ", "")
        self.nin, self.nout = map(len, parse(self.signature))
        if known_outputs(core_op) not in (None, self.nout):
            told = f"{core_op} has {known_outputs(core_op)} outputs"
            raise ShapeError(f"{told}, and the signature {signature!r} has {self.nout}")
        self.output_names = core_op.output_names
        self.only_lengths = getattr(core_op, "only_lengths", False)

    @property
    def batched(self) -> Callable[..., Any] | None:
        """What computes all of a batch at once, if there is something."""
        inner = isinstance(self.core_op, Blockwise)  # its batch would not be ours
        return None if inner else getattr(self.core_op, "batched", None)

    def __str__(self) -> str:
        return f"Blockwise{{{self.core_op}, {self.signature}}}"

    # --- shapes -------------------------------------------------------------------------------

    def ranks(self, types: Sequence[Any]) -> list[int]:
        """How many dimensions of each input are of the batch. Raises `NDimError`."""
        inputs = parse(self.signature)[0]
        for i, (t, names) in enumerate(zip(types, inputs, strict=True)):
            if t.ndim < len(names):
                what = f"input {i} must have {len(names)} dimensions or more; it is a {t}"
                raise NDimError(f"{what}, and the signature is {self.signature}")
        return [t.ndim - len(names) for t, names in zip(types, inputs, strict=True)]

    def core_types(self, types: Sequence[Any]) -> Types:
        """The types of what the core op is applied to."""
        return tuple([t.clone(shape=t.shape[n:]) for t, n in zip(types, self.ranks(types))])

    def dtypes(self, *types: TensorType) -> list[str]:
        """As the core op says."""
        return [t.dtype for t in types_made_by(self.core_op, self.core_types(types))]

    def shapes(self, *types: TensorType) -> Shapes:
        """The batch, and what the signature and the core op say."""
        ranks, (inputs, outputs) = self.ranks(types), parse(self.signature)
        batch, equal = broadcast([t.shape[:n] for t, n in zip(types, ranks)])
        places: dict[str, list[Any]] = {}
        for i, names in enumerate(inputs):
            for k, name in enumerate(names):
                places.setdefault(name, []).append((i, ranks[i] + k))
        for name, group in places.items():
            group += [int(name)] if name.isdigit() else []
            if len(group) > 1:
                equal.append(group)
        known, more = self._core_shapes(types, ranks)
        equal += [group for group in more if group not in equal]
        if [len(own) for own in known] != [len(names) for names in outputs]:
            ranks_of = ", ".join([str(len(own)) for own in known])
            what = f"{self.core_op} has {len(known)} outputs, of {ranks_of} dimensions"
            raise NDimError(f"{what}, and the signature is {self.signature}")
        lengths = [
            [*batch, *[places[n][0] if n in places else k for n, k in zip(names, own, strict=True)]]
            for names, own in zip(outputs, known, strict=True)
        ]
        return Shapes(lengths, equal)

    def _core_shapes(self, types: Types, ranks: Sequence[int]) -> tuple[Any, Any]:
        """The lengths of the core op's outputs and those that it compares, as of our inputs."""
        own = self.core_types(types)
        if not isinstance(self.core_op, TensorOp):
            return [t.shape for t in types_made_by(self.core_op, own)], []
        rule = self.core_op.shape_rule(own)

        def lifted(length: Any) -> Any:
            if isinstance(length, Computed):
                return Computed(length.rule, [lifted(part) for part in length.of])
            if isinstance(length, Value) and ranks[length.i]:
                return None  # one for each of the batch
            return (length[0], length[1] + ranks[length[0]]) if is_dimension(length) else length

        outputs = [[lifted(n) for n in lengths] for lengths in rule.outputs]
        return outputs, [[lifted(n) for n in group] for group in rule.equal]

    def misfit(self, types: Types, group: Group) -> type[ShapeError]:
        """Another for lengths of batches."""
        i, axis = group[0]
        return BroadcastError if axis < self.ranks(types)[i] else ShapeError

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """A larger batch, with dimensions of length 1 where an operand had a smaller one."""
        ranks = self.ranks([v.type for v in node.inputs])
        missing = [max(ranks) - n for n in ranks]
        return self.make_node(*behind_batch(node.inputs, inputs, missing)).outputs

    # --- running ------------------------------------------------------------------------------

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute. Raises `ShapeError`, `BroadcastError`."""
        run = self.make_function(node)
        if run is None:
            self._loop(node, inputs, output_storage, self.checked(node, inputs))
        else:
            store(output_storage, run(*inputs))

    def make_function(self, node: Apply) -> Callable[..., Any] | None:
        """What computes all of a batch at once, if there is something."""
        return None if self.batched is None else of_arrays(self, self.batched, node)

    def _loop(self, node: Apply, inputs: Any, cells: Any, shapes: Sequence[Any]) -> None:
        ranks = self.ranks([v.type for v in node.inputs])
        arrays = [np.asarray(x) for x in inputs]
        batch = np.broadcast_shapes(*[x.shape[:n] for x, n in zip(arrays, ranks)])
        arrays = [np.broadcast_to(x, batch + x.shape[n:]) for x, n in zip(arrays, ranks)]
        core = self.core_op.make_node(*self._core_inputs(node.inputs))
        results = [
            None if None in s else np.empty(s, v.type.numpy_dtype)
            for s, v in zip(shapes, node.outputs, strict=True)
        ]
        for index in np.ndindex(batch):
            found: list[list[Any]] = [[None] for _ in results]
            self.core_op.perform(core, [np.asarray(x[index]) for x in arrays], found)
            for k, (value,) in enumerate(found):
                result = results[k]
                if result is None:
                    shape = batch + np.shape(value)
                    result = results[k] = np.empty(shape, node.outputs[k].type.numpy_dtype)
                if np.shape(value) != result.shape[len(batch) :]:
                    self.fail(node, f"shapes along the batch differ: one is {np.shape(value)}")
                result[index] = value
        for cell, result in zip(cells, results, strict=True):
            if result is None:
                self.fail(node, f"the batch of shape {batch} is empty: a length cannot be computed")
            cell[0] = result

    def _core_inputs(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Variables for what the core op is applied to."""
        return [t() for t in self.core_types([v.type for v in inputs])]

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """As the core op says."""
        return self.core_op.do_constant_folding(fgraph, node)

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Those of the core op, times the size of the batch."""
        ins, outs = parse(self.signature)
        core = [s[len(s) - len(names) :] for s, names in zip(inputs, ins)]
        made = [s[len(s) - len(names) :] for s, names in zip(outputs, outs)]
        batch = outputs[0][: len(outputs[0]) - len(outs[0])]
        return math.prod(batch) * self.core_op.flops(core, made)

    # --- derivatives --------------------------------------------------------------------------

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """As the core op says."""
        pattern = self.core_op.connection_pattern
        if pattern is None:
            return [[True] * len(node.outputs) for _ in node.inputs]
        return pattern(self.core_op.make_node(*self._core_inputs(node.inputs)))

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """The core op's gradients along the batch, summed where an input was broadcast."""
        types = self.core_types([x.type for x in inputs])
        outs = parse(self.signature)[1]
        slopes = [_last(g.type, len(names)) for g, names in zip(output_gradients, outs)]
        own, made, gs, found = _pullback(self.core_op, types, tuple(slopes), config.floatX)
        given = dict(zip([*own, *made, *gs], [*inputs, *outputs, *output_gradients], strict=True))
        batch = outputs[0].type.ndim - made[0].type.ndim
        result = []
        for x, core, g in zip(inputs, own, along_batch(found, given, self), strict=True):
            if not isinstance(g.type, TensorType):
                result.append(g)
            elif g.type.ndim - core.type.ndim < batch:  # of no output: it would have its batch
                result.append(zero_gradient(x))
            else:
                result.append(sum_to(g, x.type))
        return result

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """The core op's Jacobian-vector products along the batch."""
        outputs = self.make_node(*inputs).outputs
        own, ins = self._core_inputs(inputs), parse(self.signature)[0]
        made = self.core_op.make_node(*own).outputs
        points = [
            None if v is None else _last(v.type, len(names))()
            for v, names in zip(eval_points, ins, strict=True)
        ]
        given = dict(zip([*own, *made, *points], [*inputs, *outputs, *eval_points], strict=True))
        found: list[Any] = []
        for z, v in zip(outputs, self.core_op.R_op(own, points), strict=True):
            if v is not None and not is_disconnected(v):
                (v,) = along_batch([v], given, self)
                v = v if v.type.broadcastable == z.type.broadcastable else second(z, v)
            found.append(v)
        return found


def types_made_by(op: Op, types: Types) -> Sequence[Any]:
    """The types of an op's outputs for inputs of these types: as `infer_types` says, or as
    `make_node` makes them where an op has its own.
    """
    if type(op).make_node is Op.make_node:
        return op.infer_types(types)
    return [v.type for v in op.make_node(*[t() for t in types]).outputs]


def of_arrays(
    op: TensorOp,
    batched: Callable[..., Any],
    node: Apply,
    one: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """A node as a function: its inputs are checked, and its outputs made by `batched`, a function
    of arrays. What is wrong with them that says in an error with no more than what it is, as
    `ShapeError(what)`; of which op, and where that was applied, is added.

    one: a quicker function of arrays with elements, whose outputs have the dtypes of the node's;
    where it returns None, `batched` is asked.
    """
    groups = op.shapes_of(node).equal
    dtypes = [v.type.numpy_dtype for v in node.outputs]
    plain = all([is_dimension(n) for group in groups for n in group])
    (first,) = dtypes if len(dtypes) == 1 else (None,)

    def run(*arrays: Any) -> Any:
        op.check(node, arrays)
        try:
            found = batched(*arrays)
        except RewriteEngineError as error:
            op.fail(node, str(error), type(error))
        if first is not None:
            return np.asarray(found, first)
        return tuple([np.asarray(x, dtype) for x, dtype in zip(found, dtypes, strict=True)])

    if one is None or not plain:
        return run
    ranks = tuple([v.type.ndim for v in node.inputs])
    return _quick(ranks, tuple(map(tuple, groups)))(one, run)


@cache
def _quick(ranks: tuple[int, ...], groups: tuple[Any, ...]) -> Callable[..., Callable[..., Any]]:
    """Makes a function of two others: the first for arrays of these ranks with elements where the
    lengths of groups are equal, the second for others, and where the first returns None.
    """
    count = len(ranks)
    names = ", ".join([f"x{i}" for i in range(count)])
    equal = [
        [f"x{i}.shape[{axis}]" if axis else f"len(x{i})" for i, axis in group] for group in groups
    ]
    tests = [" == ".join(["0 != " + first, *others]) for first, *others in equal]
    known = {member for group in groups for member in group}
    tests += [f"x{i}.size" for i in range(count) if not known >= {(i, a) for a in range(ranks[i])}]
    found = f"(found := one({names})) is not None"
    text = f"found if {' and '.join([*tests, found])} else run({names})"
    return eval(f"lambda one, run: lambda {names}: {text}")  # type: ignore[no-any-return]


def store(cells: Sequence[list[Any]], found: Any) -> None:
    """Store what such a function returns."""
    for cell, value in zip(cells, found if len(cells) > 1 else (found,), strict=True):
        cell[0] = value


def _last(type_: Any, n: int) -> Any:
    """The type of the last n dimensions of a tensor; other types as they are."""
    return type_.clone(shape=type_.shape[-n or type_.ndim :]) if type_.ndim else type_


@lru_cache(maxsize=256)
def _pullback(core: Op, types: Types, slopes: Types, float_x: str) -> tuple[Any, ...]:
    """An op on variables of these types: its inputs, outputs, variables for the gradients of the
    outputs, and its gradients.
    """
    own = [t() for t in types]
    made, gs = core.make_node(*own).outputs, [t() for t in slopes]
    return own, made, gs, core.L_op(own, made, gs)


@overload
def vectorize_graph(outputs: V, replace: Mapping[Any, Variable]) -> V: ...
@overload
def vectorize_graph(outputs: Iterable[V], replace: Mapping[Any, Variable]) -> list[V]: ...
def vectorize_graph(outputs: Any, replace: Mapping[Any, Variable]) -> Any:
    """What `outputs` (a variable, or several: a list) are when variables have more dimensions in
    front, a batch, along which all is computed: those of the variables that replace them.

    Batches broadcast as in elementwise ops. Ops do all of a batch at once; the few that cannot,
    as slices of different lengths, are computed one by one (`Blockwise`). Where the number of steps
    of a loop, or the condition that ends it, differs along the batch, all is: by a loop over it.

    >>> from rewrite_engine.tensor import dmatrix, dvector
    >>> x, rows = dvector("x"), dmatrix("rows")
    >>> vectorize_graph(x[::-1].cumsum(), {x: rows}).eval({rows: [[1.0, 2.0], [3.0, 4.0]]})
    array([[2., 3.],
           [4., 7.]])
    """
    if isinstance(outputs, Variable):
        return _all_of_batch([outputs], replace)[0]
    return _all_of_batch(list(outputs), replace)


def _all_of_batch(outputs: Sequence[Variable], given: Mapping[Any, Variable]) -> list[Any]:
    """At once, or one by one."""
    try:
        return whole_batch(outputs, given)
    except BatchError as error:
        return hooks.batch_loop(outputs, given, error)  # type: ignore[no-any-return]


def along_batch(
    outputs: Sequence[Variable], given: Mapping[Any, Variable], like: Blockwise | None = None
) -> list[Any]:
    """As `vectorize_graph`; but what is the same along all of the batch, as a length, has none.
    like: what the core op of that becomes.
    """
    found: dict[Any, Any] = dict(given)
    for node in toposort(outputs, found):
        inputs = [found.get(v, v) for v in node.inputs]
        if any([a is not b for a, b in zip(inputs, node.inputs)]):
            found.update(zip(node.outputs, _vectorized(node, inputs, like), strict=True))
    return [found.get(v, v) for v in outputs]


def whole_batch(outputs: Sequence[Variable], given: Mapping[Any, Variable]) -> list[Any]:
    """As `vectorize_graph`: what is the same along all of the batch is stretched (of states that
    are no tensors there is one). Raises `BatchError` where not all is done at once.
    """
    wide = along_batch(outputs, given)
    for k, (v, w) in enumerate(zip(outputs, wide, strict=True)):
        if w is not v and isinstance(w.type, TensorType) and w.type.ndim == v.type.ndim:
            from rewrite_engine.tensor.dimshuffle import broadcast_to
            from rewrite_engine.tensor.shaping.rearrange import broadcast_shape

            above = {*ancestors([v])}
            extra = {given[u]: given[u].type.ndim - u.type.ndim for u in given if u in above}
            batches = [_lengths(u, n) for u, n in extra.items() if n]
            if batches:
                batch = broadcast_shape(*batches, arrays_are_shapes=True)
                wide[k] = broadcast_to(w, (*batch, *_lengths(w, w.type.ndim)))
    return wide


def _lengths(v: Any, n: int) -> tuple[Any, ...]:
    """Of the first n dimensions."""
    return tuple([v.shape[i] for i in range(n)])


def vectorize(func: Callable[..., Any], signature: str | None = None) -> Callable[..., Any]:
    """A function of arrays that applies `func`, a function of variables, to their last dimensions,
    along all others (`numpy.vectorize`).

    signature: "(m,n),(n)->(m)" names the last dimensions of the arguments and results; without one
    `func` is of 0-d arguments. Raises `ShapeError` for a wrong signature, or results that are not
    as it says, `TypeError` for a wrong number of arguments, `NDimError`.

    >>> from rewrite_engine.tensor import dmatrix
    >>> x = dmatrix("x")
    >>> vectorize(lambda row: row / row.sum(), "(n)->(n)")(x).eval({x: [[1.0, 3.0], [2.0, 2.0]]})
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    sides = None if signature is None else parse(signature)

    def vectorized(*arguments: Any) -> Any:
        xs = [as_tensor_variable(x) for x in arguments]
        ranks = [0] * len(xs) if sides is None else [*map(len, sides[0])]
        if len(xs) != len(ranks):
            raise TypeError(located(f"{signature} takes {len(ranks)} arguments, not {len(xs)}"))
        for x, n in zip(xs, ranks, strict=True):
            if x.type.ndim < n:
                what = f"takes an array of {n} dimensions or more ({signature}), not a {x.type}"
                raise NDimError(located(what, inputs=xs))
        cores = [_last(x.type, n)(x.name) for x, n in zip(xs, ranks, strict=True)]
        found = func(*cores)
        several = isinstance(found, list | tuple)
        outputs = [as_tensor_variable(v) for v in (found if several else [found])]
        if sides is not None and [v.type.ndim for v in outputs] != [*map(len, sides[1])]:
            what = f"the results are {', '.join([str(v.type) for v in outputs])}"
            raise ShapeError(located(f"{what}, where the signature is {signature}"))
        wide = _all_of_batch(outputs, dict(zip(cores, xs, strict=True)))
        return type(found)(wide) if several else wide[0]

    return update_wrapper(vectorized, func)


def _vectorized(node: Apply, inputs: Sequence[Any], like: Blockwise | None) -> Sequence[Any]:
    """The outputs of a node for inputs with a batch."""
    op, ranks = node.op, [v.type.ndim for v in node.inputs]
    if [v.type.ndim for v in inputs] == ranks:
        return op.make_node(*inputs).outputs  # type: ignore[no-any-return]
    if like is not None and op is like.core_op and ranks == [*map(len, parse(like.signature)[0])]:
        return like.make_node(*inputs).outputs
    made = op.vectorize(node, inputs)
    return Blockwise(op, _ranks_only(node)).make_node(*inputs).outputs if made is None else made


def _ranks_only(node: Apply) -> str:
    """A signature with nothing but the numbers of dimensions."""
    number = itertools.count()
    sides = [
        ",".join([f"({','.join([f'd{next(number)}' for _ in v.type.shape])})" for v in side])
        for side in (node.inputs, node.outputs)
    ]
    return "->".join(sides)
