"""Terms outside of a `FunctionGraph`: with some of their variables replaced; equal ones made one
(`Shared`), as a graph does at all times; compared. The originals are never changed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

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

Pairs = Mapping[Variable, Any] | Iterable[tuple[Variable, Any]]


def clone_replace(
    output: Any,
    replace: Pairs | None = None,
    *,
    rebuild_strict: bool = True,
    copy_inputs_over: bool = True,
) -> Any:
    """Copy the graph of `output` (a variable, or a list or dict of them) with subgraphs replaced.

    All nodes are copied, so what is returned can be renamed; inputs and constants are shared.
    replace: {variable: what to put in its place}. The new variables are converted to the type of
    the old ones (`TypeMismatchError` if that cannot be); rebuild_strict=False takes them as they
    are and types the nodes above anew, with a warning where static lengths differ: those that were
    read of the old variable are constants, and stay. All replacements happen at once: what is put
    in is not searched again. copy_inputs_over: False puts copies in the place of all inputs that
    are then there (of a shared variable, one with the same value).
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
    """Return outputs with variables replaced; only nodes above these are copied (anew: all).

    strict: replacements are converted to the types of what they replace.
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


def graph_replace(
    outputs: Variable | Sequence[Variable], replace: Pairs | None = None, *, strict: bool = True
) -> Any:
    """Return `outputs` with variables replaced; only nodes above a replaced variable are copied.

    strict: raise `InputError` if a variable to be replaced is not in the graph. Raises
    `TypeMismatchError` where types do not fit.
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
    """The roots with variables replaced, as of `copy_nodes`."""
    memo: dict[Any, Any] = dict(pairs)
    copy_nodes(roots, memo, strict, anew)
    return [memo.get(v, v) for v in roots]


def first_of_equal(
    nodes: Iterable[Apply],
    known: Mapping[Variable, Variable] | None = None,
    apart: Collection[Variable] = (),
) -> dict[Variable, Variable]:
    """For what is computed as something before it is, the first; nothing is made. known: what is
    equal from the start. apart: variables that are equal to none but themselves.
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
    """A table of terms: equal ones among those it was asked about get the same variable.

    Linear in what it has not seen yet. A term in which nothing is equal to anything else is itself;
    otherwise nodes above are copied. `first` maps copies to the first variable that stood there.
    key_of: what two nodes have in common iff they are equal, given their inputs.
    """

    def __init__(self, key_of: Callable[[Any, tuple[Any, ...]], Any] = key_of) -> None:
        self.key_of = key_of
        self.nodes: dict[Any, Apply] = {}
        self.constants: dict[Any, Variable] = {}
        self.of: dict[Variable, Variable] = {}
        self.first: dict[Variable, Variable] = {}

    def __call__(self, v: Variable) -> Variable:
        """The one variable for all terms that are equal to this one."""
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
        """The variable for one that is known, or is no result of a node."""
        found = self.of.get(v)
        if found is None:
            found = v
            if isinstance(v, Constant):
                found = self.constants.setdefault(self.content(v), v)
            self.of[v] = found
        return found

    def content(self, constant: Constant) -> Any:
        """What two constants have in common iff they are equal."""
        return constant.signature()


class SharedNumbers(Shared):
    """`Shared`, where constants are equal whose numbers are, whatever their dtypes."""

    def content(self, constant: Constant) -> Any:
        data = constant.data
        if not isinstance(data, np.ndarray | np.generic) or data.dtype.kind not in "biufc":
            return constant.signature()
        return data.shape, data.astype("complex128").tobytes()


def put(shared: Shared, term: Variable, old: Variable, new: Variable) -> Variable | None:
    """The term with another part, as the one variable for it; None if the types do not fit."""
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
    """Whether two lists of graphs compute the same: equal ops on equal inputs, down to the roots.

    in_xs and in_ys are matched with each other by position; any other root must be the very same
    variable, or an equal constant (strict_dtype=False: of any dtype). What is no variable is
    compared by its repr. Linear in the graphs' sizes.
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
    """Whether two variables are computed in the same way, as of `equal_computations`.

    givens: {variable: what stands for it}, in both, or pairs.
    """
    if pairs := dict(givens or ()):
        var1, var2 = substituted([var1, var2], pairs, strict=False)
    return equal_computations([var1], [var2])


def substitute(inputs: tuple[Variable, ...], pending: Pending) -> tuple[Variable, ...]:
    """Apply replacements, in the order in which they were made."""
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
