"""Operations on terms outside of a `FunctionGraph`: replace variables, make equal terms one
(`Shared`), compare. The originals are never changed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from rewrite_engine.errors import InputError, RewriteEngineError
from rewrite_engine.graph.intern import key_of
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.graph.traverse import ancestors, copy_nodes, explicit_graph_inputs, toposort

#: what building a term of the wrong types raises; ops of others raise plain errors
ILL_TYPED = (RewriteEngineError, TypeError, ValueError)

#: replacements of a node's inputs still to be made, oldest first; (None, None) replaces nothing
Pending = list[tuple[Variable | None, Variable | None]]

#: {variable: what to put in its place}, or pairs (`Mapping` wants the very type of its keys)
Pairs = Mapping[Any, Any] | Iterable[tuple[Any, Any]]
V = TypeVar("V", bound=Variable)


@overload
def clone_replace(
    output: V,
    replace: Pairs | None = None,
    *,
    rebuild_strict: bool = True,
    copy_inputs_over: bool = True,
) -> V: ...
@overload
def clone_replace(
    output: Any,
    replace: Pairs | None = None,
    *,
    rebuild_strict: bool = True,
    copy_inputs_over: bool = True,
) -> Any: ...
def clone_replace(
    output: Any,
    replace: Pairs | None = None,
    *,
    rebuild_strict: bool = True,
    copy_inputs_over: bool = True,
) -> Any:
    """Copy the graph of `output` (a variable, or a list or dict of them) with subgraphs replaced.

    All nodes are copied, so the result can be renamed; inputs and constants are shared. replace:
    {variable: its replacement}. The new variables are converted to the types of the old ones
    (`TypeMismatchError` if that is impossible). rebuild_strict=False accepts other types and types
    the nodes above anew, with a warning if static lengths differ: lengths that were read from the
    old variable are constants and stay. All replacements happen at once: replacements are not
    searched again. copy_inputs_over: False also copies all remaining inputs (a shared variable gets
    one with the same value).
    """
    pairs = dict(replace or ())
    if not rebuild_strict:
        _warn_of_lengths(pairs)
    single = isinstance(output, Variable)
    given = output.values() if isinstance(output, Mapping) else [output] if single else output
    found = substituted(list(given), pairs, rebuild_strict, anew=True)
    if not copy_inputs_over:
        found = rebuilt(found, {v: v.clone() for v in explicit_graph_inputs(found)}, True)
    if isinstance(output, Mapping):
        return dict(zip(output, found, strict=True))
    return found[0] if single else found


def substituted(
    outputs: Sequence[Variable], replace: Pairs | None, strict: bool = True, anew: bool = False
) -> list[Variable]:
    """Return outputs with variables replaced; only nodes above these are copied (anew: all nodes).

    strict: replacements are converted to the types of the variables they replace.
    """
    pairs = dict(replace or ())
    if strict:
        pairs = {old: old.type.filter_variable(new) for old, new in pairs.items()}
    return rebuilt(outputs, pairs, strict, anew)


def _warn_of_lengths(pairs: Mapping[Variable, Any]) -> None:
    for old, new in pairs.items():
        known, other = [getattr(getattr(v, "type", None), "shape", None) for v in (old, new)]
        both = zip(known, other) if isinstance(known, tuple) and isinstance(other, tuple) else ()
        if any([a != b and a is not None and b is not None for a, b in both]):
            what = f"the lengths {known} of {old!r} are {other} in its place: those that were read "
            text = located(f"{what}of it when the graph was built stay what they are", inputs=[old])
            warnings.warn(text, stacklevel=3)


@overload
def graph_replace(outputs: V, replace: Pairs | None = None, *, strict: bool = True) -> V: ...
@overload
def graph_replace(
    outputs: Sequence[V], replace: Pairs | None = None, *, strict: bool = True
) -> list[V]: ...
def graph_replace(
    outputs: Variable | Sequence[Variable], replace: Pairs | None = None, *, strict: bool = True
) -> Any:
    """Return `outputs` with variables replaced; only nodes above a replaced variable are copied.

    strict: raise `InputError` if a variable to be replaced is not in the graph. Raises
    `TypeMismatchError` if types do not fit.
    """
    pairs = dict(replace or ())
    given = [outputs] if isinstance(outputs, Variable) else list(outputs)
    if strict:
        found = set(ancestors(given))
        missing = [v for v in pairs if v not in found]
        if missing:
            raise InputError(f"{missing[0]!r} is not in the graph, so it cannot be replaced")
    new = substituted(given, pairs)
    return new[0] if isinstance(outputs, Variable) else new


def rebuilt(
    roots: Sequence[Variable],
    pairs: Mapping[Variable, Variable],
    strict: bool,
    anew: bool = False,
) -> list[Variable]:
    """Return the roots with variables replaced, as in `copy_nodes`."""
    memo: dict[Any, Any] = dict(pairs)
    copy_nodes(roots, memo, strict, anew)
    return [memo.get(v, v) for v in roots]


def first_of_equal(
    nodes: Iterable[Apply],
    known: Mapping[Variable, Variable] | None = None,
    apart: Collection[Variable] = (),
) -> dict[Variable, Variable]:
    """Map each duplicate variable to the first equal one; nothing is built. known: equalities to
    start from. apart: variables that equal only themselves.
    """
    first: dict[Variable, Variable] = dict(known or {})
    made: dict[Any, Apply] = {}
    for node in nodes:
        if apart and any([v in apart for v in node.outputs]):
            continue
        inputs = tuple([first.get(v, v) for v in node.inputs]) if first else node.inputs
        own = made.setdefault(key_of(node, inputs), node)
        if own is not node:
            first.update(zip(node.outputs, own.outputs, strict=True))
    return first


class Shared:
    """Table of terms: calling it with equal terms returns the same variable.

    Takes time linear in the new nodes. A term without equal parts is returned itself; otherwise
    nodes above are copied. `first` maps copies to the first variable in their place. key_of:
    returns a key that two nodes share iff they are equal, given their inputs.
    """

    def __init__(self, key_of: Callable[[Any, tuple[Any, ...]], Any] = key_of) -> None:
        self.key_of = key_of
        self.nodes: dict[Any, Apply] = {}
        self.constants: dict[Any, Variable] = {}
        self.of: dict[Variable, Variable] = {}
        self.first: dict[Variable, Variable] = {}

    def __call__(self, v: Variable) -> Variable:
        """Return the one variable for all terms equal to this one."""
        of, nodes, first, key_of = self.of, self.nodes, self.first, self.key_of
        for node in toposort([v], of):
            inputs = tuple([of[i] if i in of else self.leaf(i) for i in node.inputs])
            key = key_of(node, inputs)
            own = nodes.get(key)
            if own is None:
                same = all([a is b for a, b in zip(inputs, node.inputs, strict=True)])
                own = nodes[key] = node if same else node.clone_with_new_inputs(inputs)
                for out, given in zip(own.outputs, node.outputs, strict=True):
                    first[out], of[out] = given, out
            if own is not node:
                of.update(zip(node.outputs, own.outputs, strict=True))
        return self.leaf(v)

    def leaf(self, v: Variable) -> Variable:
        """Return the variable for a known term, or for one that no node computes."""
        found = self.of.get(v)
        if found is None:
            found = v
            if isinstance(v, Constant):
                found = self.constants.setdefault(self.content(v), v)
            self.of[v] = found
        return found

    def content(self, constant: Constant) -> Any:
        """Return a key that two constants share iff they are equal."""
        return constant.signature()


class SharedNumbers(Shared):
    """Table of terms, like `Shared`, that also identifies constants with equal numbers of any
    dtypes.
    """

    def content(self, constant: Constant) -> Any:
        data = constant.data
        if not isinstance(data, np.ndarray | np.generic) or data.dtype.kind not in "biufc":
            return constant.signature()
        return data.shape, data.astype("complex128").tobytes()


def put(shared: Shared, term: Variable, old: Variable, new: Variable) -> Variable | None:
    """Return the term with another part, as its one variable; None if the types do not fit."""
    if term is old:
        return new
    try:
        return shared(substituted([term], {old: new}, strict=False)[0])
    except ILL_TYPED:
        return None


def equal_computations(
    xs: Sequence[Any],
    ys: Sequence[Any],
    in_xs: Sequence[Variable] = (),
    in_ys: Sequence[Variable] = (),
    strict_dtype: bool = True,
) -> bool:
    """Return whether two lists of graphs compute the same: equal ops on equal inputs, down to the
    roots.

    in_xs and in_ys are matched with each other by position; any other root must be the very same
    variable, or an equal constant (strict_dtype=False: of any dtype). Other objects are compared by
    their repr. Takes time linear in the graphs' sizes.
    """
    if len(xs) != len(ys) or len(in_xs) != len(in_ys):
        return False
    if any(a.type != b.type for a, b in zip(in_xs, in_ys, strict=True)):
        return False
    fresh = [v.type.make_variable() for v in in_xs]
    shared = (Shared if strict_dtype else SharedNumbers)(lambda node, inputs: (node.op, inputs))

    def side(graphs: Sequence[Any], inputs: Sequence[Variable]) -> list[Any]:
        pairs = dict(zip(inputs, fresh, strict=True))
        return [
            shared(substituted([x], pairs, strict=False)[0]) if isinstance(x, Variable) else repr(x)
            for x in graphs
        ]

    return side(xs, in_xs) == side(ys, in_ys)


def is_same_graph(var1: Variable, var2: Variable, givens: Any = None) -> bool:
    """Return whether two variables are computed in the same way, as in `equal_computations`.

    givens: {variable: its replacement} in both graphs, or pairs.
    """
    if pairs := dict(givens or ()):
        var1, var2 = substituted([var1, var2], pairs, strict=False)
    return equal_computations([var1], [var2])


def substitute(inputs: tuple[Variable, ...], pending: Pending) -> tuple[Variable, ...]:
    """Apply replacements in the order in which they were made."""
    if len(pending) == 1:
        old, new = pending[0]
        if old is None:
            return inputs
        if len(inputs) == 1:
            return (new,) if inputs[0] is old else inputs  # type: ignore[return-value]
        return tuple([new if v is old else v for v in inputs])  # type: ignore[misc]
    mapping: dict[Variable, Variable] = {}
    for old, new in reversed(pending):  # the last one first: what `old` becomes is then final
        if old is not None and new is not None:
            mapping[old] = mapping.get(new, new)
    return tuple([mapping.get(v, v) for v in inputs])
