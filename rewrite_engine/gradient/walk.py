"""Traversal of reverse-mode differentiation, from outputs back to inputs.

`propagate` is the whole algorithm. The class `Reverse` says what its steps do: the terms that
arrive at a variable are added by one variadic `add` (`gradient/sums.py`); equal variables are one,
so their terms are added before they are propagated; a gradient known to be zero is carried as a
mark, not as a graph, and one that is zero in places as a value and a condition
(`gradient/partial.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rewrite_engine.errors import (
    DTypeError,
    GradientTermsError,
    MethodNotDefined,
    NDimError,
    NoGradientError,
    ShapeError,
    dimensions,
    message,
)
from rewrite_engine.gradient.elementwise import inputs_to_pull, pull_elementwise
from rewrite_engine.gradient.partial import (
    Branch,
    Partial,
    are_in_branches,
    common_branch,
    condition,
    full,
    in_branch,
    is_choice,
    is_zero,
    read,
)
from rewrite_engine.gradient.scattered import written_out
from rewrite_engine.gradient.sums import inside, total
from rewrite_engine.gradient.type import fit, float_zeros, is_discrete
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import NullType, disconnected, is_disconnected, is_null
from rewrite_engine.graph.origin import Derivatives
from rewrite_engine.graph.replace import first_of_equal
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.tensor.creation import ones_like
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.elemwise_grad import quotient
from rewrite_engine.tensor.math import cast, second
from rewrite_engine.tensor.reduce import CAReduce
from rewrite_engine.tensor.type import TensorType

#: a term that is known to be zero
ZERO = object()


def propagate(gradients: Reverse, nodes: Sequence[Apply]) -> None:
    """Run reverse mode on nodes in topological order.

    The gradient of a variable is the sum of the terms that arrive from the nodes that use it. The
    nodes are visited from the last to the first, so all terms for a node's outputs have arrived
    when the node is visited. Its op then computes terms for the inputs from the gradients of the
    outputs (`Op.L_op`).
    """
    for node in reversed(nodes):
        inputs = gradients.inputs_reached(node)
        if inputs:
            output_gradients = [gradients.sum_terms(v) for v in node.outputs]
            for i, term in gradients.pull(node, output_gradients, inputs).items():
                gradients.receive(node.inputs[i], term, node)


def connection_pattern(node: Apply) -> list[list[bool]] | None:
    """Return which inputs affect which outputs; None: each affects all.

    Raises `GradientTermsError` if it is not a list, for each input, of one answer per output.
    """
    if node.op.connection_pattern is None:
        return None
    pattern = node.op.connection_pattern(node)
    rows = [len(row) if hasattr(row, "__len__") else None for row in pattern or ()]
    if rows == [len(node.outputs)] * len(node.inputs):
        return pattern
    wanted = f"{len(node.inputs)} lists (one per input) of {len(node.outputs)} (one per output)"
    what = f"its connection_pattern must return {wanted}, not {pattern!r}"
    raise GradientTermsError(message(what, op=node.op, inputs=node.inputs, where=node.where()))


class Reverse:
    """Gradients of `seeds` [(variable, gradient, perhaps `Partial`)] for the `wanted` variables.

    fixed: {variable: gradient} that replace computed gradients. stops: variables at which the
    traversal stops. kept: wanted variables whose gradients keep their conditions.
    """

    def __init__(
        self,
        seeds: Sequence[tuple[Variable, Any]],
        fixed: Mapping[Variable, Variable],
        wanted: Iterable[Variable],
        stops: frozenset[Variable],
        kept: Iterable[Variable] = (),
    ) -> None:
        self.settled: dict[Variable, Any] = dict(fixed)
        self.terms: dict[Variable, list[Any]] = {}
        self.zeros: set[Variable] = set()
        self.nulls: dict[Variable, Apply] = {}
        self.whole = Branch()
        nodes = toposort([v for v, _ in seeds] + list(fixed), stops)
        self.live, self.reach = _live(nodes, wanted, stops)
        #: {variable: the first equal one}; wanted, constant and given variables stay apart
        self.first = first_of_equal(nodes, apart={*wanted, *stops, *fixed})
        self.reach.update(dict.fromkeys(kept, 2))
        for v, g in seeds:
            self.receive(v, g, None)
        with Derivatives() as self.derivatives:
            propagate(self, nodes)

    # --- results -----------------------------------------------------------------------------

    def result(self, v: Variable) -> Variable:
        """Return the gradient for `v`; a variable of `NullType` or `DisconnectedType` if there is
        none.
        """
        return full(self.partial(v))  # type: ignore[no-any-return]

    def partial(self, v: Variable) -> Any:
        """Return the gradient for `v`, with its condition for elements if that is kept."""
        g = self.settled[v] if v in self.settled else self.sum_terms(v)
        return inside(v, [g], self.whole)[0]

    def why_null(self, v: Variable, g: Any) -> str:
        """Return the message for a null gradient: the op without gradient, and the line that built
        it.
        """
        what = f"the gradient for {v!r} of type {v.type} cannot be built"
        node = self.nulls.get(v)
        if node is None:
            return message(what, hint=g.type.why_null)
        return message(
            what, op=node.op, inputs=node.inputs, where=node.where(), hint=g.type.why_null
        )

    # --- one variable ------------------------------------------------------------------------

    def sum_terms(self, v: Variable) -> Any:
        """Return the sum of the terms that arrived at `v`: a `Variable`, or a `Partial` if that
        matters. Called after all users of `v` have been visited.
        """
        if v not in self.live:
            return disconnected()
        found = self.settled.get(v)
        if found is not None:
            return found
        terms = self.terms.pop(v, None)
        if terms is None:
            g = disconnected()
        elif not terms:
            self.zeros.add(v)
            g = float_zeros(v)
        else:
            g = fit(v, total(v, terms, self.whole, keep=self.reach.get(v, 0) == 2))
        self.settled[v] = g
        return g

    def receive(self, v: Variable, term: Any, node: Apply | None) -> None:
        """Record one term for `v`. A null gradient stays null."""
        v = self.first.get(v, v)
        if term is ZERO:
            self.terms.setdefault(v, [])
            return
        if v in self.settled or is_disconnected(term):
            return
        if is_null(term):
            self.settled[v] = term
            if node is not None:
                guilty = [self.nulls[o] for o in node.outputs if o in self.nulls]
                self.nulls[v] = guilty[0] if guilty else node
            return
        known = self.terms.setdefault(v, [])
        term = self._by_first(v, term)
        reach = self.reach.get(v, 0)
        if reach:
            term = read(term)
        if is_zero(term.value if isinstance(term, Partial) else term):
            return
        if isinstance(term, Partial) and reach < (1 if term.is_whole() else 2):
            term = full(term)
        known.append(term)

    def _by_first(self, v: Variable, term: Any) -> Any:
        """Return a term divided by a variable equal to v as a term divided by v."""
        if isinstance(term, Partial):
            return term
        n, below = quotient(term)
        return n / v if below is not v and self.first.get(below) is v else term

    # --- one node ----------------------------------------------------------------------------

    def inputs_reached(self, node: Apply) -> list[int]:
        """Return which inputs depend on wanted variables, if a gradient has arrived at an
        output.
        """
        live, terms, settled = self.live, self.terms, self.settled
        inputs = [i for i, v in enumerate(node.inputs) if v in live]
        if not inputs or not any(v in live and (v in terms or v in settled) for v in node.outputs):
            return []
        self.derivatives.of(node.origin)
        return inputs

    def pull(self, node: Apply, grads: list[Any], inputs: list[int]) -> dict[int, Any]:
        """Return the terms for inputs of a node, given the gradients of its outputs. Null gradients
        are passed on.
        """
        pattern = connection_pattern(node)
        nulls: dict[int, Any] = {}
        if any(map(is_null, grads)):
            nulls = _spread_nulls(grads, inputs, pattern)
            grads = [disconnected() if is_null(g) else g for g in grads]
            inputs = [i for i in inputs if i not in nulls]
        if not inputs or all(map(is_disconnected, grads)):
            return nulls
        return nulls | self._pull_connected(node, grads, inputs, pattern)

    def _pull_connected(
        self,
        node: Apply,
        grads: list[Any],
        inputs: list[int],
        pattern: list[list[bool]] | None,
    ) -> dict[int, Any]:
        """Return the terms for inputs of a node, some of whose outputs have gradients."""
        flat = True  # nothing but zeros can come out
        for j, v in enumerate(node.outputs):
            if is_disconnected(grads[j]) or v in self.zeros:
                continue
            if is_discrete(v):
                grads[j] = float_zeros(v)
                continue
            flat = False
        if pattern is not None:
            reached = [j for j, g in enumerate(grads) if not is_disconnected(g)]
            inputs = [i for i in inputs if any([pattern[i][j] for j in reached])]
        found = self._ask(node, grads, inputs, flat)
        if not flat:
            return found
        return {i: t if is_null(t) or is_disconnected(t) else ZERO for i, t in found.items()}

    def _ask(self, node: Apply, grads: list[Any], inputs: list[int], flat: bool) -> dict[int, Any]:
        """Return the gradients of some inputs, in the branch of the output gradients."""
        branch = self.whole
        if are_in_branches(grads):
            branch = common_branch(grads, branch)
            pairs = zip(node.outputs, grads, strict=True)
            grads = [inside(v, [g], branch)[0] for v, g in pairs]
        if node.op.read_if is not None and is_choice(node):
            return _of_choice(node, grads[0], inputs, branch)
        terms = self._ask_there(node, grads, inputs, flat)
        if branch is self.whole:
            return terms
        return {i: in_branch(branch, t) for i, t in terms.items()}

    def _ask_there(
        self, node: Apply, grads: list[Any], inputs: list[int], flat: bool
    ) -> dict[int, Any]:
        """Return the gradients of some inputs.

        Conditions for elements are passed on if they matter: through elementwise ops, through ops
        that accept them, through ops that only move gradients, and through any op if all elements
        have one.
        """
        op = node.op
        if isinstance(op, Elemwise) and len(grads) == 1 and not flat:
            some = inputs_to_pull(node, grads[0], inputs)
            if some is not None:
                rest = [i for i in inputs if i not in some]
                terms = _call(node, grads, rest, flat) if rest else {}
                (out,) = node.outputs
                return terms | pull_elementwise(op, node.inputs, out, grads[0], some, self.reach)
        kept = [i for i in inputs if self.reach.get(node.inputs[i])]
        if takes_partial(op) or (op.moves_only and kept):
            grads = list(map(written_out, grads))
        if takes_partial(op):
            return _call(node, grads, inputs, flat, kept)
        if not any([isinstance(g, Partial) for g in grads]):
            return _call(node, grads, inputs, flat)
        if len(grads) == 1 and grads[0].is_whole():
            return _of_whole(node, grads[0], inputs, flat)
        terms = _call(node, list(map(full, grads)), inputs, flat)
        return _of_moved(node, grads, terms) if op.moves_only and kept else terms


def _spread_nulls(
    grads: list[Any], inputs: list[int], pattern: list[list[bool]] | None
) -> dict[int, Any]:
    """Return {input: null gradient} for the inputs that affect an output with a null gradient."""
    nulls = {j: g for j, g in enumerate(grads) if is_null(g)}
    found: dict[int, Any] = {}
    for i in inputs:
        hit = [g for j, g in nulls.items() if pattern is None or pattern[i][j]]
        found |= {i: hit[0]} if hit else {}
    return found


def _of_choice(node: Apply, g: Any, inputs: list[int], branch: Branch) -> dict[int, Any]:
    """Return the gradients of a choice and its condition: the output gradient in the branch of each
    side, and zeros.
    """
    test, *_ = node.inputs
    taken = {i: branch.within(node.op, test, i == 1) for i in inputs if i}
    flat = {0: float_zeros(test)} if 0 in inputs else {}
    return flat | {i: in_branch(b, g) for i, b in taken.items()}


def _of_whole(node: Apply, g: Partial, inputs: list[int], flat: bool) -> dict[int, Any]:
    """Return the gradients of an op under one condition for all elements."""
    where = g.where if g.where.type.ndim == 0 else g.where.dimshuffle()
    g = replace(g, where=where, clean=g.clean and node.op.moves_only)
    return {
        i: t if is_null(t) or is_disconnected(t) else read(replace(g, value=t))
        for i, t in _call(node, [g.value], inputs, flat).items()
    }


def _of_moved(node: Apply, grads: list[Any], terms: dict[int, Any]) -> dict[int, Any]:
    """Return the gradients of an op that moves elements; it moves their conditions as well."""
    if isinstance(node.op, CAReduce):  # what all elements share need not be spread out
        wheres = dict.fromkeys(terms, node.op.spread(node.inputs[0], condition(grads[0])))
    else:
        wheres = _call(node, [_as_gradient(g) for g in grads], list(terms), False)
    return {
        i: t if is_null(t) or is_disconnected(t) else Partial(t, wheres[i], clean=True)
        for i, t in terms.items()
    }


def _as_gradient(g: Any) -> Any:
    """Return a gradient that is 1 where this one may be nonzero."""
    if not isinstance(g, Partial):
        return g if is_disconnected(g) else ones_like(g)
    where = cast(condition(g), g.type.dtype)
    alike = where.type.broadcastable == g.type.broadcastable
    return where if alike else second(g.value, where)  # elements may share what a sum leaves out


def takes_partial(op: Any) -> bool:
    """Return whether an op's `input_gradients(inputs, outputs, gradients, wanted, kept)` accepts
    `Partial` gradients.

    The condition of a returned gradient is recognized by its form; only gradients of the inputs
    `kept` need one.
    """
    return getattr(op, "takes_partial", False)


def reach(op: Any, inputs: Sequence[int]) -> int:
    """Return how far conditions matter for the elements of a variable that `op` computes: 0
    nowhere, 1 for one condition for all, 2 always.

    They matter where the gradient is multiplied, by this op or (if it only passes gradients on) by
    the ops of its inputs. inputs: the reach of each input.
    """
    if op.moves_only:
        return max(inputs)
    return 2 if isinstance(op, Elemwise) or takes_partial(op) else 1


def _live(
    nodes: Iterable[Apply], wanted: Iterable[Variable], stops: frozenset[Variable]
) -> tuple[set[Variable], dict[Variable, int]]:
    """Return the variables whose elements depend on those of a wanted one (including itself), and
    how far conditions of their gradients matter (see `reach`).
    """
    live = set(wanted)
    matter: dict[Variable, int] = {}
    for node in nodes:
        touched = [i for i, v in enumerate(node.inputs) if v in live]
        if not touched:
            continue
        pattern = connection_pattern(node)
        far = reach(node.op, [matter.get(node.inputs[i], 0) for i in touched])
        for j, out in enumerate(node.outputs):
            if out in stops:
                continue
            if pattern is None or any(pattern[i][j] for i in touched):
                live.add(out)
                if far and not is_discrete(out):
                    matter[out] = far
    return live, matter


def _call(
    node: Apply, grads: list[Variable], inputs: list[int], flat: bool, *kept: list[int]
) -> dict[int, Variable]:
    """Return the gradients of some inputs, as the op of a node computes them.

    kept: inputs for which conditions matter, if the op accepts `Partial` gradients. flat: the
    output gradients are zero, so an op with discrete outputs need not define a gradient.
    """
    op = node.op
    try:
        if hasattr(op, "input_gradients"):
            some = op.input_gradients(node.inputs, node.outputs, grads, inputs, *kept)
            return {i: _checked(node, i, g) for i, g in zip(inputs, some, strict=True)}
        results = op.L_op(node.inputs, node.outputs, grads)
    except MethodNotDefined as error:
        if flat and all(map(is_discrete, node.outputs)):
            return {i: float_zeros(node.inputs[i]) for i in inputs}
        hint = "define grad or L_op for the op"
        text = message("has no gradient", op=op, inputs=node.inputs, where=node.where(), hint=hint)
        raise NoGradientError(text) from error
    except Exception as error:
        error.add_note(
            message("raised while building the gradient of this op", op=op, where=node.where())
        )
        raise
    if not isinstance(results, list | tuple) or len(results) != len(node.inputs):
        got = len(results) if isinstance(results, list | tuple) else repr(results)
        what = f"its grad must return {len(node.inputs)} gradients, one per input, not {got}"
        raise GradientTermsError(message(what, op=op, inputs=node.inputs, where=node.where()))
    return {i: _checked(node, i, results[i]) for i in inputs}


def _checked(node: Apply, i: int, term: Any) -> Variable:
    """Return the term if it is a valid gradient of input `i`; else raise an error that names the
    op.
    """
    x = node.inputs[i]

    def text(what: str) -> str:
        return message(f"its grad for input {i} {what}", op=node.op, inputs=[x], where=node.where())

    if not isinstance(term, Variable):
        hint = (
            ""
            if term is not None
            else " (return a DisconnectedType variable if there is no gradient)"
        )
        raise GradientTermsError(text(f"must be a variable, not {term!r}{hint}"))
    if (
        isinstance(term.type, NullType)
        or is_disconnected(term)
        or not isinstance(x.type, TensorType)
    ):
        return term
    if not isinstance(term.type, TensorType):
        raise GradientTermsError(text(f"is of type {term.type}"))
    if term.type.kind not in "fc":
        raise DTypeError(
            text(f"has dtype {term.type.dtype}, but gradients must be floats or complex numbers")
        )
    if term.type.ndim != x.type.ndim:
        raise NDimError(text(f"has {dimensions(term.type.ndim)}, but the input has {x.type.ndim}"))
    for s, t in zip(x.type.shape, term.type.shape, strict=True):
        if s is not None and t is not None and s != t:
            raise ShapeError(text(f"has shape {term.type.shape}, but the input has {x.type.shape}"))
    return term
