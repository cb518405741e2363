"""`vectorize_graph` for named dimensions: the dimensions of a batch have names, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewrite_engine.errors import DimsError, ForeignObjectError, NDimError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.tensor.blockwise import along_batch
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.xtensor.alignment import in_order, lengths_of, refuse_missing, stretched
from rewrite_engine.xtensor.random import XRV
from rewrite_engine.xtensor.type import is_named, named, xtensor_from_tensor

__all__ = ["XRV", "vectorize_graph"]


def vectorize_graph(
    outputs: Any, replace: Mapping[Any, Any], *, new_tensor_dims: Sequence[str] = ()
) -> Any:
    """Return `outputs` (a variable, or a list) with some variables replaced by ones with more
    dimensions.

    The additional dimensions are a batch, along which everything is computed. An array with names
    may have new ones at any position. A tensor has its new dimensions first; new_tensor_dims names
    them, from the left, and those of length 1 broadcast. The results have all new dimensions first:
    names that are in no tensor, then new_tensor_dims. Raises `DimsError` for a missing name, or one
    that the graph already has, `NDimError` for dimensions of tensors without names.

    >>> from rewrite_engine.xtensor import xtensor
    >>> x, w = xtensor("x", dims=("a",)), xtensor("w", dims=("a",))
    >>> many = xtensor("x", dims=("a", "draw"))
    >>> vectorize_graph((x * w).sum("a"), {x: many}).dims
    ('draw',)
    """
    of_tensors = named(new_tensor_dims)
    replace = {old: _with_names(old, new, of_tensors) for old, new in replace.items()}
    batch = _batch_dims(replace, of_tensors)
    given = {old: _in_front(old, new, batch) for old, new in replace.items()}
    several = isinstance(outputs, Sequence)
    found: dict[Any, Any] = dict(given)
    roots = list(outputs) if several else [outputs]
    for node in toposort(roots, found):
        inputs = [found.get(v, v) for v in node.inputs]
        if any([a is not b for a, b in zip(inputs, node.inputs, strict=True)]):
            found.update(zip(node.outputs, _batched(node, inputs, batch), strict=True))
    lengths = _batch_lengths(given.items(), batch)
    results = [_whole(v, found.get(v, v), batch, lengths) for v in roots]
    return results if several else results[0]


def _with_names(old: Any, new: Any, of_tensors: tuple[str, ...]) -> Any:
    """Return the replacement of a variable; a tensor that replaces an array with names gets names.
    Raise `ForeignObjectError`, `NDimError`.
    """
    if not isinstance(old, Variable) or not isinstance(new, Variable):
        raise ForeignObjectError(
            located("vectorize_graph: each variable must be replaced by a variable")
        )
    if is_named(new) or not isinstance(new.type, TensorType):
        return new
    count = new.type.ndim - old.type.ndim
    if not 0 <= count <= len(of_tensors):
        what = f"has {count} new dimensions, but new_tensor_dims names {len(of_tensors)}"
        raise NDimError(located(what, inputs=[old, new]))
    first = of_tensors[len(of_tensors) - count :]
    return xtensor_from_tensor(new, (*first, *old.type.dims)) if is_named(old) else new


def _batch_dims(replace: Mapping[Any, Any], of_tensors: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the batch, in order."""
    new: dict[str, None] = {}
    for old, x in replace.items():
        if is_named(old):
            refuse_missing(x, old.type.dims)
            new |= dict.fromkeys([d for d in x.type.dims if d not in old.type.dims])
    return (*[d for d in new if d not in of_tensors], *of_tensors)


def _in_front(old: Any, new: Any, batch: tuple[str, ...]) -> Any:
    """Return the replacement of a variable with all batch dimensions first, of length 1 if it lacks
    them.
    """
    if is_named(old):
        for d in batch:
            if d in old.type.dims:
                raise DimsError(located(f"the graph already has a dimension {d!r}", inputs=[old]))
        dims = (*batch, *old.type.dims)
        return xtensor_from_tensor(in_order(new, dims), dims)
    if not isinstance(new.type, TensorType):
        return new
    missing = len(batch) - (new.type.ndim - old.type.ndim)
    return new.dimshuffle(["x"] * missing + list(range(new.type.ndim))) if missing else new


def _batched(node: Apply, inputs: Sequence[Any], batch: tuple[str, ...]) -> Sequence[Any]:
    """Return the outputs of a node for inputs with the batch first, or unchanged inputs."""
    of_names: Any = getattr(node.op, "vectorize_named", None)
    if of_names is not None:
        return of_names(inputs, batch)  # type: ignore[no-any-return]
    known = dict(zip(node.inputs, inputs, strict=True))
    return along_batch(node.outputs, {v: new for v, new in known.items() if v is not new})


def _batch_lengths(given: Any, batch: tuple[str, ...]) -> dict[str, Any]:
    """Return the lengths of the batch dimensions."""
    found: dict[str, Any] = dict.fromkeys(batch, 1)
    for old, new in given:
        if is_named(old):
            own = lengths_of([new], batch)
        elif isinstance(new.type, TensorType):
            first = zip(batch, new.type.shape, strict=False)
            own = {d: new.shape[k] if n is None else n for k, (d, n) in enumerate(first)}
        else:
            continue
        found |= {d: n for d, n in own.items() if isinstance(n, Variable) or n != 1}
    return found


def _whole(old: Any, new: Any, batch: tuple[str, ...], lengths: dict[str, Any]) -> Any:
    """Return a result broadcast to the whole batch."""
    if not is_named(old) and not isinstance(old.type, TensorType):
        return new
    rank = old.type.ndim
    own = old.type.dims if is_named(old) else [f"dimension {k}" for k in range(rank)]
    dims = (*batch, *own)
    x = new if is_named(new) else xtensor_from_tensor(new, dims if new.type.ndim > rank else own)
    wide = stretched(in_order(x, dims), dims, lengths | lengths_of([x], own))
    return xtensor_from_tensor(wide, dims) if is_named(old) else wide
