"""`Blockwise`: an op on the last dimensions, applied along all others (NumPy's generalised ufuncs).

A signature such as "(m,n),(n)->(m)" names the last dimensions of inputs and outputs. Dimensions
with one name have equal lengths; a number is a length. The leading dimensions are the batch: they
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
    dimensions,
    plural,
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
    """Return the dimension names of inputs and outputs in a signature. Raise `ShapeError` if it is
    invalid.

    >>> parse("(m,n),(n)->(m)")
    ((('m', 'n'), ('n',)), (('m',),))
    """
    sides = [_groups(text) for text in signature.split("->")]
    if len(sides) != 2 or None in sides:
        raise ShapeError(f"{signature!r} is not a signature; write one as '(m,n),(n)->(m)'")
    return sides[0], sides[1]  # type: ignore[return-value]


def _groups(text: str) -> Names | None:
    """Return the names in each pair of brackets; None if the text is not a list of brackets."""
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
    """Op that applies `core_op` to the last dimensions of arrays, along all others.

    signature: "(m,n),(n)->(m)"; by default the `gufunc_signature` of the core op. If the core op
    has a function `batched` that broadcasts arrays as NumPy does, it computes all of a batch at
    once; otherwise `core.perform` computes one element at a time. Gradients are those of the core
    op, applied along the batch. Raises `NDimError`, `ShapeError`, `BroadcastError`, and the errors
    of the core op.
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
            raise ShapeError(f"{core_op} has no gufunc_signature: pass Blockwise(…, signature=…)")
        self.core_op = core_op
        self.signature = signature.replace(" ", "")
        self.nin, self.nout = map(len, parse(self.signature))
        if known_outputs(core_op) not in (None, self.nout):
            told = f"{core_op} has {known_outputs(core_op)} outputs"
            raise ShapeError(f"{told}, but the signature {signature!r} has {self.nout}")
        self.output_names = core_op.output_names
        self.only_lengths = getattr(core_op, "only_lengths", False)

    @property
    def batched(self) -> Callable[..., Any] | None:
        """The function that computes a whole batch at once, or None."""
        inner = isinstance(self.core_op, Blockwise)  # its batch would not be ours
        return None if inner else getattr(self.core_op, "batched", None)

    def __str__(self) -> str:
        return f"Blockwise{{{self.core_op}, {self.signature}}}"

    # --- shapes -------------------------------------------------------------------------------

    def ranks(self, types: Sequence[Any]) -> list[int]:
        """Return the number of batch dimensions of each input. Raise `NDimError`."""
        inputs = parse(self.signature)[0]
        for i, (t, names) in enumerate(zip(types, inputs, strict=True)):
            if t.ndim < len(names):
                what = f"input {i} must have {dimensions(len(names))} or more, but has type {t}"
                raise NDimError(f"{what}; the signature is {self.signature}")
        return [t.ndim - len(names) for t, names in zip(types, inputs, strict=True)]

    def core_types(self, types: Sequence[Any]) -> Types:
        """Return the input types of the core op, without batch dimensions."""
        return tuple([t.clone(shape=t.shape[n:]) for t, n in zip(types, self.ranks(types))])

    def dtypes(self, *types: TensorType) -> list[str]:
        """Return the output dtypes of the core op."""
        return [t.dtype for t in types_made_by(self.core_op, self.core_types(types))]

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape rule: the batch dimensions, then those of the signature and the core
        op.
        """
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
            ranks_of = ", ".join([dimensions(len(own)) for own in known])
            what = f"{self.core_op} has {plural(len(known), 'output')}, of {ranks_of}"
            raise NDimError(f"{what}, but the signature is {self.signature}")
        lengths = [
            [*batch, *[places[n][0] if n in places else k for n, k in zip(names, own, strict=True)]]
            for names, own in zip(outputs, known, strict=True)
        ]
        return Shapes(lengths, equal)

    def _core_shapes(self, types: Types, ranks: Sequence[int]) -> tuple[Any, Any]:
        """Return the core op's output lengths and the groups of equal lengths, in terms of the
        batched inputs.
        """
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
        """Return `BroadcastError` for lengths of the batch, `ShapeError` for others."""
        i, axis = group[0]
        return BroadcastError if axis < self.ranks(types)[i] else ShapeError

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to a larger batch; an operand with fewer batch dimensions gets dimensions of
        length 1.
        """
        ranks = self.ranks([v.type for v in node.inputs])
        missing = [max(ranks) - n for n in ranks]
        return self.make_node(*behind_batch(node.inputs, inputs, missing)).outputs

    # --- running ------------------------------------------------------------------------------

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the outputs for a batch. Raise `ShapeError`, `BroadcastError`."""
        run = self.make_function(node)
        if run is None:
            self._loop(node, inputs, output_storage, self.checked(node, inputs))
        else:
            store(output_storage, run(*inputs))

    def make_function(self, node: Apply) -> Callable[..., Any] | None:
        """Return the function that computes a whole batch at once, or None."""
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
                    self.fail(
                        node,
                        f"results along the batch have different shapes; one is {np.shape(value)}",
                    )
                result[index] = value
        for cell, result in zip(cells, results, strict=True):
            if result is None:
                self.fail(
                    node, f"the batch of shape {batch} is empty: the length of a result is unknown"
                )
            cell[0] = result

    def _core_inputs(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Return variables that represent the inputs of the core op."""
        return [t() for t in self.core_types([v.type for v in inputs])]

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """Return the answer of the core op."""
        return self.core_op.do_constant_folding(fgraph, node)

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return the operations of the core op, times the size of the batch."""
        ins, outs = parse(self.signature)
        core = [s[len(s) - len(names) :] for s, names in zip(inputs, ins)]
        made = [s[len(s) - len(names) :] for s, names in zip(outputs, outs)]
        batch = outputs[0][: len(outputs[0]) - len(outs[0])]
        return math.prod(batch) * self.core_op.flops(core, made)

    # --- derivatives --------------------------------------------------------------------------

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Return the connections of the core op."""
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
        """Return the core op's gradients along the batch, summed where an input was broadcast."""
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
        """Return the core op's Jacobian-vector products along the batch."""
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
    """Return a function for a node: it checks the inputs and computes the outputs by `batched`, a
    function of arrays.

    `batched` raises short errors such as `ShapeError(what)`; this function adds the op and the
    place where it was applied.

    one: a faster function for arrays with elements, whose outputs have the dtypes of the node; if
    it returns None, `batched` is called.
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
    """Return a function that combines two others.

    The first serves non-empty arrays of these ranks whose lengths are equal in each group; the
    second serves other arrays, and the cases in which the first returns None.
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
    """Store the results of a function from `of_arrays` in the output cells."""
    for cell, value in zip(cells, found if len(cells) > 1 else (found,), strict=True):
        cell[0] = value


def _last(type_: Any, n: int) -> Any:
    """Return the type of the last n dimensions of a tensor; other types unchanged."""
    return type_.clone(shape=type_.shape[-n or type_.ndim :]) if type_.ndim else type_


@lru_cache(maxsize=256)
def _pullback(core: Op, types: Types, slopes: Types, float_x: str) -> tuple[Any, ...]:
    """Return the inputs and outputs of an op on these types, variables for the output gradients,
    and the input gradients.
    """
    own = [t() for t in types]
    made, gs = core.make_node(*own).outputs, [t() for t in slopes]
    return own, made, gs, core.L_op(own, made, gs)


@overload
def vectorize_graph(outputs: V, replace: Mapping[Any, Variable]) -> V: ...
@overload
def vectorize_graph(outputs: Iterable[V], replace: Mapping[Any, Variable]) -> list[V]: ...
def vectorize_graph(outputs: Any, replace: Mapping[Any, Variable]) -> Any:
    """Return `outputs` (a variable, or a list) with some variables replaced by ones with more
    leading dimensions.

    The additional leading dimensions are a batch, along which everything is computed. Batches
    broadcast as in elementwise ops. Most ops compute a batch at once; the few that cannot, such as
    slices of different lengths, are computed one by one (`Blockwise`). If the number of steps of a
    loop, or the condition that ends it, differs along the batch, a loop over the batch computes
    everything.

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
    """Compute outputs for a batch, at once or one by one."""
    try:
        return whole_batch(outputs, given)
    except BatchError as error:
        return hooks.batch_loop(outputs, given, error)  # type: ignore[no-any-return]


def along_batch(
    outputs: Sequence[Variable], given: Mapping[Any, Variable], like: Blockwise | None = None
) -> list[Any]:
    """Return outputs along a batch, as `vectorize_graph` does, but without batch dimensions on
    values that do not depend on the batch, such as a length.

    like: the function that applies the op of a node without batch.
    """
    found: dict[Any, Any] = dict(given)
    for node in toposort(outputs, found):
        inputs = [found.get(v, v) for v in node.inputs]
        if any([a is not b for a, b in zip(inputs, node.inputs)]):
            found.update(zip(node.outputs, _vectorized(node, inputs, like), strict=True))
    return [found.get(v, v) for v in outputs]


def whole_batch(outputs: Sequence[Variable], given: Mapping[Any, Variable]) -> list[Any]:
    """Return outputs along a batch, as `vectorize_graph` does; values that do not depend on the
    batch are broadcast to it.

    There is one state for the whole batch if a state is not a tensor. Raises `BatchError` if a
    value cannot be computed for the batch at once.
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
    """Return the lengths of the first n dimensions."""
    return tuple([v.shape[i] for i in range(n)])


def vectorize(func: Callable[..., Any], signature: str | None = None) -> Callable[..., Any]:
    """Return a function that applies `func` to the last dimensions of arrays, along all others
    (`numpy.vectorize`).

    func: a function of variables. signature: "(m,n),(n)->(m)" names the last dimensions of the
    arguments and results; by default `func` takes 0-d arguments. Raises `ShapeError` for an invalid
    signature or results that do not match it, `TypeError` for a wrong number of arguments,
    `NDimError`.

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
                what = (
                    f"takes an array with {dimensions(n)} or more ({signature}), not type {x.type}"
                )
                raise NDimError(located(what, inputs=xs))
        cores = [_last(x.type, n)(x.name) for x, n in zip(xs, ranks, strict=True)]
        found = func(*cores)
        several = isinstance(found, list | tuple)
        outputs = [as_tensor_variable(v) for v in (found if several else [found])]
        if sides is not None and [v.type.ndim for v in outputs] != [*map(len, sides[1])]:
            what = f"the results have the types {', '.join([str(v.type) for v in outputs])}"
            raise ShapeError(located(f"{what}, but the signature is {signature}"))
        wide = _all_of_batch(outputs, dict(zip(cores, xs, strict=True)))
        return type(found)(wide) if several else wide[0]

    return update_wrapper(vectorized, func)


def _vectorized(node: Apply, inputs: Sequence[Any], like: Blockwise | None) -> Sequence[Any]:
    """Return the outputs of a node for inputs with a batch."""
    op, ranks = node.op, [v.type.ndim for v in node.inputs]
    if [v.type.ndim for v in inputs] == ranks:
        return op.make_node(*inputs).outputs  # type: ignore[no-any-return]
    if like is not None and op is like.core_op and ranks == [*map(len, parse(like.signature)[0])]:
        return like.make_node(*inputs).outputs
    made = op.vectorize(node, inputs)
    return Blockwise(op, _ranks_only(node)).make_node(*inputs).outputs if made is None else made


def _ranks_only(node: Apply) -> str:
    """Return a signature that states only the numbers of dimensions."""
    number = itertools.count()
    sides = [
        ",".join([f"({','.join([f'd{next(number)}' for _ in v.type.shape])})" for v in side])
        for side in (node.inputs, node.outputs)
    ]
    return "->".join(sides)
