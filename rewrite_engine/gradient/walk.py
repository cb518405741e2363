"""The walk of reverse-mode differentiation, from outputs back to inputs.

Each node that lies between the outputs and the wanted variables is visited once. What arrives at
a variable from its users is collected, and added up by one variadic `add` when the variable's own
node is reached. What was written twice is one here: the derivatives along both ways are added up
before they go on. A gradient known to be zero is carried as a mark, not as a graph, and one that is
zero in places as a value and a mask (`gradient/masked.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.errors import (
    DTypeError,
    GradientTermsError,
    MethodNotDefined,
    NDimError,
    NoGradientError,
    ShapeError,
    message,
)
from rewrite_engine.gradient.gates import (
    Gate,
    Gated,
    behind,
    closed,
    common_gate,
    gate_of,
    is_choice,
    opened,
    read_gates,
    together,
)
from rewrite_engine.gradient.masked import (
    Masked,
    both,
    condition,
    full,
    is_scattered,
    is_written,
    is_zero,
    links_of,
    pull_elementwise,
    reach,
    read,
    selects,
    takes_all,
    takes_masks,
    total,
    written_out,
)
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import NullType, disconnected, is_disconnected, is_null
from rewrite_engine.graph.replace import first_of_equal
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.creation import ones_like, zeros_like
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.elemwise_grad import quotient
from rewrite_engine.tensor.math import add, cast, mul, neg, second, sub
from rewrite_engine.tensor.numbers import scalar_from_tensor
from rewrite_engine.tensor.reduce import CAReduce
from rewrite_engine.tensor.shape import specify_shape
from rewrite_engine.tensor.type import TensorType


def is_smooth(node: Apply) -> bool:
    """Whether the slopes of a node are numbers, or a single one for all elements: zeros beside what
    is scattered stay zeros.
    """
    if node.op is mul:
        return sum([not all(v.type.broadcastable) for v in node.inputs]) <= 1
    return node.op is add or node.op is sub or node.op is neg


def factors_apart(node: Apply, g: Variable, inputs: list[int]) -> list[int]:
    """The numbers that a smooth node multiplies an array by, if its gradient `g` does not take all
    elements: theirs are sums of what is taken, since what is not may be infinite.
    """
    if node.op is not mul or takes_all(g):
        return []
    return [i for i in inputs if all(node.inputs[i].type.broadcastable)]


def gradient_dtype(v: Variable) -> str:
    """The dtype of a gradient for `v`: its own if that is continuous, else `config.floatX`."""
    return v.type.dtype if v.type.kind in "fc" else config.floatX


def is_discrete(v: Variable) -> bool:
    """Whether the values are integers or booleans, so that nothing has a gradient through them
    but zero.
    """
    return isinstance(v.type, TensorType) and v.type.kind not in "fc"


def float_zeros(v: Variable) -> Variable:
    """Zeros with the shape of `v` and the dtype of its gradient."""
    return zeros_like(v, dtype=gradient_dtype(v))


def connection_pattern(node: Apply) -> list[list[bool]] | None:
    """Which inputs affect which outputs; None: each affects all."""
    pattern = node.op.connection_pattern
    return None if pattern is None else pattern(node)


class Reverse:
    """Gradients of `seeds` [(variable, gradient, perhaps `Masked`)] for the `wanted` variables.

    fixed: {variable: gradient} that are taken as they are. stops: variables through which nothing
    flows. kept: wanted variables whose masks matter to whoever asks.
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
        self.ground = Gate()
        nodes = toposort([v for v, _ in seeds] + list(fixed), stops)
        self.live, self.reach = _live(nodes, wanted, stops)
        #: what is wanted, held or given is none but itself
        self.first = first_of_equal(nodes, apart={*wanted, *stops, *fixed})
        self.reach.update(dict.fromkeys(kept, 2))
        for v, g in seeds:
            self._receive(v, g, None)
        for node in reversed(nodes):
            self._visit(node)

    # --- results -----------------------------------------------------------------------------

    def result(self, v: Variable) -> Variable:
        """The gradient for `v`; of `NullType` or `DisconnectedType` where there is none."""
        return full(self.masked(v))  # type: ignore[no-any-return]

    def masked(self, v: Variable) -> Any:
        """The same, with its mask if that is kept."""
        known = v in self.live or v in self.settled
        g = self._settle(v) if known else disconnected()
        return closed(g, v)

    def why_null(self, v: Variable, g: Any) -> str:
        """The message for a gradient that is null: the op that has none, and the line that built
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

    def _settle(self, v: Variable) -> Any:
        """Add up what has arrived at `v`. Called when all its users have been visited.

        A `Variable`, or a `Masked` or `Gated` where that matters.
        """
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
            g = _fit(v, terms[0] if len(terms) == 1 else self._total(v, terms))
        self.settled[v] = g
        return g

    def _total(self, v: Variable, terms: list[Any]) -> Any:
        """The sum of terms: behind the gate that all of them are behind."""
        keep = self.reach.get(v, 0) == 2
        gate = self.ground
        if any([isinstance(t, Gated) for t in terms]):
            terms, gate = together(terms, v, gate, lambda some: _fit(v, total(some, _add_up, keep)))
        return behind(gate, terms[0] if len(terms) == 1 else total(terms, _add_up, keep))

    def _receive(self, v: Variable, term: Any, node: Apply | None) -> None:
        """Note one term for `v`. Once a variable is null it stays so."""
        v = self.first.get(v, v)
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
        term, gate = read_gates(opened(term), gate_of(term, self.ground))
        if reach:
            term = read(term)
        if is_zero(term.value if isinstance(term, Masked) else term):
            return
        if isinstance(term, Masked) and reach < (1 if term.is_whole() else 2):
            term = full(term)
        known.append(behind(gate, term))

    def _by_first(self, v: Variable, term: Any) -> Any:
        """A term that is divided by what is equal to v, divided by v."""
        if isinstance(term, Masked | Gated):
            return term
        n, below = quotient(term)
        return n / v if below is not v and self.first.get(below) is v else term

    # --- one node ----------------------------------------------------------------------------

    def _visit(self, node: Apply) -> None:
        live, terms, settled = self.live, self.terms, self.settled
        inputs = [i for i, v in enumerate(node.inputs) if v in live]
        if not inputs or not any(v in live and (v in terms or v in settled) for v in node.outputs):
            return
        grads = [self._settle(v) if v in live else disconnected() for v in node.outputs]
        pattern = connection_pattern(node)
        if any(map(is_null, grads)):
            inputs = self._spread_null(node, grads, inputs, pattern)
        if not inputs or all(map(is_disconnected, grads)):
            return
        self._pull(node, grads, inputs, pattern)

    def _pull(
        self,
        node: Apply,
        grads: list[Any],
        inputs: list[int],
        pattern: list[list[bool]] | None,
    ) -> None:
        """Ask the op for the gradients of its inputs, and hand them on."""
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
        for i, term in self._ask(node, grads, inputs, flat).items():
            if flat and not is_null(term) and not is_disconnected(term):
                v = node.inputs[i]
                self.terms.setdefault(self.first.get(v, v), [])
                continue
            self._receive(node.inputs[i], term, node)

    def _ask(self, node: Apply, grads: list[Any], inputs: list[int], flat: bool) -> dict[int, Any]:
        """The gradients of some inputs, each behind the gate of those of the outputs, or behind one
        of its own in it.
        """
        gate = self.ground
        if any([isinstance(g, Gated) for g in grads]):
            gate = common_gate(grads, gate)
            grads = [closed(g, v, gate) for g, v in zip(grads, node.outputs, strict=True)]
        if is_choice(node):
            terms = _call(node, [full(g) for g in grads], inputs, flat)
            return {i: _of_branch(gate, grads[0], t) for i, t in terms.items()}
        terms = self._ask_there(node, grads, inputs, flat)
        return terms if gate is self.ground else {i: _within(gate, t) for i, t in terms.items()}

    def _ask_there(
        self, node: Apply, grads: list[Any], inputs: list[int], flat: bool
    ) -> dict[int, Any]:
        """The gradients of some inputs. Masks go along where they matter: through elementwise ops,
        through ops that only move gradients, and through any op if all of the gradient is masked.
        """
        op, masked = node.op, any([isinstance(g, Masked) for g in grads])
        if isinstance(op, Elemwise) and len(grads) == 1 and not flat:
            (out,), (g,) = node.outputs, grads
            scattered = not masked and is_scattered(g)
            if scattered and is_smooth(node):
                apart = factors_apart(node, g, inputs)
                terms = _call(node, grads, [i for i in inputs if i not in apart], flat)
                return terms | pull_elementwise(op, node.inputs, out, g, apart, self.reach)
            if masked or scattered or selects(op):
                return pull_elementwise(op, node.inputs, out, g, inputs, self.reach)
        if takes_masks(op):
            kept = [i for i in inputs if self.reach.get(node.inputs[i])]
            return _call(node, list(map(written_out, grads)), inputs, flat, kept)
        if op.moves_only and any([self.reach.get(node.inputs[i]) for i in inputs]):
            grads = list(map(written_out, grads))
            masked = any([isinstance(g, Masked) for g in grads])
        if not masked:
            return _call(node, grads, inputs, flat)
        first = grads[0]
        if len(grads) == 1 and first.is_whole():
            return _behind(first, _call(node, [first.value], inputs, flat), op.moves_only)
        terms = _call(node, [full(g) for g in grads], inputs, flat)
        if not op.moves_only or not any([self.reach.get(node.inputs[i]) for i in inputs]):
            return terms
        if isinstance(op, CAReduce):  # what all elements share need not be spread out
            masks = dict.fromkeys(terms, op.spread(node.inputs[0], condition(first)))
            covers = first.covers if op.keepdims else None
        else:
            masks = _call(node, [_as_gradient(g) for g in grads], inputs, flat)
            covers = None
        return {
            i: t if is_null(t) or is_disconnected(t) else Masked(t, masks[i], True, True, covers)
            for i, t in terms.items()
        }

    def _spread_null(
        self,
        node: Apply,
        grads: list[Variable],
        inputs: list[int],
        pattern: list[list[bool]] | None,
    ) -> list[int]:
        """Inputs that affect an output with a null gradient have one too; return the other
        inputs.
        """
        nulls = {j: g for j, g in enumerate(grads) if is_null(g)}
        rest = []
        for i in inputs:
            hit = [g for j, g in nulls.items() if pattern is None or pattern[i][j]]
            if hit:
                self._receive(node.inputs[i], hit[0], node)
            else:
                rest.append(i)
        for j in nulls:
            grads[j] = disconnected()
        return rest


def _within(gate: Gate, term: Any) -> Any:
    """A term behind a gate, if it is one."""
    return term if is_null(term) or is_disconnected(term) else behind(gate, term)


def _of_branch(gate: Gate, g: Any, term: Any) -> Any:
    """A term of a choice with the gradient `g`, perhaps `Masked`, that is behind a gate."""
    inner = read_gates(term, gate)[1]
    return _within(gate, term) if inner is gate else Gated(g, inner)


def _behind(mask: Masked, terms: dict[int, Any], moved: bool) -> dict[int, Any]:
    """The terms with a mask for all of each. moved: zeros have stayed zeros."""
    where = mask.where if mask.where.type.ndim == 0 else mask.where.dimshuffle()
    clean = mask.clean and moved
    return {
        i: t
        if is_null(t) or is_disconnected(t)
        else _masked(replace(mask, value=t, where=where, clean=clean))
        for i, t in terms.items()
    }


def _masked(g: Masked) -> Masked:
    """The same with the mask that the op has put on itself."""
    inner = read(g.value)
    return g if inner is g.value or g.clean else both(g, inner)


def _as_gradient(g: Any) -> Any:
    """A gradient that is 1 where this one may be other than zero."""
    if not isinstance(g, Masked):
        return g if is_disconnected(g) else ones_like(g)
    where = cast(condition(g), g.type.dtype)
    alike = where.type.broadcastable == g.type.broadcastable
    return where if alike else second(g.value, where)  # elements may share what a sum has masked


def _live(
    nodes: Iterable[Apply], wanted: Iterable[Variable], stops: frozenset[Variable]
) -> tuple[set[Variable], dict[Variable, int]]:
    """The variables whose elements depend on those of a wanted one (which are among them), and how
    far masks of their gradients matter (see `reach`).
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


def _add_up(terms: list[Any]) -> Any:
    """The sum: one `add`, on top of which scattered terms are written one after the other.

    A term that is zero but for `zeros[index] += y` costs as much as the whole array if it is added,
    and as much as `y` if it is written. Terms that are divided by the same are one quotient.
    """
    scattered: list[Any] = []
    dense: list[Any] = []
    for t in terms:
        (scattered if is_written(t) else dense).append(t)
    full = _over_one_bar(dense)
    if full:
        total = full[0] if len(full) == 1 else add(*full)
    else:
        total = scattered.pop(0)
    for t in scattered:
        if t.type.dtype != total.type.dtype:
            total = add(total, t)
            continue
        for op, value, places in links_of(t):
            total = op(total, value, *places)
    return total


def _over_one_bar(terms: list[Any]) -> list[Any]:
    """The terms of a sum, a / v and b / v as (a + b) / v."""
    below: dict[Any, list[Any]] = {}
    for t in terms:
        below.setdefault(quotient(t)[1], []).append(t)
    found = below.pop(None, [])
    for v, some in below.items():
        above = [quotient(t)[0] for t in some]
        found.append(some[0] if len(some) == 1 else add(*above) / v)
    return found


def _fit(v: Variable, g: Any) -> Any:
    """Give a gradient the dtype of its variable, and the static 1s of its shape."""
    if not isinstance(v.type, TensorType):
        added = isinstance(v.type, ScalarType) and isinstance(g.type, TensorType)
        return scalar_from_tensor(g) if added else g
    if isinstance(g, Masked | Gated):
        value = _fit(v, g.value)
        if value is g.value:
            return g
        if isinstance(g, Gated):
            return Gated(value, g.gate)
        return Masked(value, g.where, g.taken, g.clean)
    dtype = gradient_dtype(v)
    if g.type.dtype != dtype and not (g.type.kind == "c" and v.type.kind != "c"):
        g = cast(g, dtype)
    if any(s == 1 and t is None for s, t in zip(v.type.shape, g.type.shape, strict=True)):
        g = specify_shape(g, tuple([s if s == 1 else None for s in v.type.shape]))
    return g


def _call(
    node: Apply, grads: list[Variable], inputs: list[int], flat: bool, *kept: list[int]
) -> dict[int, Variable]:
    """Ask the node's op for the gradients of some inputs.

    kept: the inputs for which masks matter, if the op takes gradients with theirs. flat: the
    gradients of the outputs are zero, so that an op with discrete outputs need not define any.
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
        hint = "an op that can be differentiated defines grad or L_op"
        text = message("has no gradient", op=op, inputs=node.inputs, where=node.where(), hint=hint)
        raise NoGradientError(text) from error
    except Exception as error:
        error.add_note(message("raised while its gradient was built", op=op, where=node.where()))
        raise
    if not isinstance(results, list | tuple) or len(results) != len(node.inputs):
        got = len(results) if isinstance(results, list | tuple) else repr(results)
        what = f"its grad must return {len(node.inputs)} gradients, one per input, not {got}"
        raise GradientTermsError(message(what, op=op, inputs=node.inputs, where=node.where()))
    return {i: _checked(node, i, results[i]) for i in inputs}


def _checked(node: Apply, i: int, term: Any) -> Variable:
    """Return the term if it can be a gradient of input `i`; raise an error that names the op if
    not.
    """
    x = node.inputs[i]

    def text(what: str) -> str:
        return message(f"its grad for input {i} {what}", op=node.op, inputs=[x], where=node.where())

    if not isinstance(term, Variable):
        hint = (
            "" if term is not None else " (return a DisconnectedType variable where there is none)"
        )
        raise GradientTermsError(text(f"is not a variable but {term!r}{hint}"))
    if (
        isinstance(term.type, NullType)
        or is_disconnected(term)
        or not isinstance(x.type, TensorType)
    ):
        return term
    if not isinstance(term.type, TensorType):
        raise GradientTermsError(text(f"is of type {term.type}"))
    if term.type.kind not in "fc":
        raise DTypeError(text(f"has dtype {term.type.dtype}; gradients are never discrete"))
    if term.type.ndim != x.type.ndim:
        raise NDimError(text(f"has {term.type.ndim} dimensions, the input has {x.type.ndim}"))
    for s, t in zip(x.type.shape, term.type.shape, strict=True):
        if s is not None and t is not None and s != t:
            raise ShapeError(text(f"has shape {term.type.shape}, the input has {x.type.shape}"))
    return term
