"""Derivatives of loops, which are loops.

The gradient runs backwards over the same sequences and the traces of carried values. It carries the
gradients of those values, and the sums of the gradients of inputs that all steps share. Forward
derivatives carry tangents in addition to values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import rewrite_engine.tensor as pt
from rewrite_engine.gradient import pullback, pushforward
from rewrite_engine.gradient.partial import is_zero
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.graph.traverse import clone_get_equiv, graph_inputs, toposort
from rewrite_engine.tensor.elemwise_grad import in_dtype_of, zero_gradient
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.loops.op import Scan

WRITES = pt.IncSubtensor, pt.AdvancedIncSubtensor
EMPTY: Mapping[Any, Any] = {}


def has_gradient(v: Any) -> bool:
    """Return whether a variable has a gradient."""
    return isinstance(v.type, TensorType) and v.type.kind in "fc"


def continuous(variables: Sequence[Any]) -> list[Any]:
    return [v for v in variables if has_gradient(v)]


def copied(op: Scan) -> tuple[list[Any], list[Any]]:
    """Return new inputs and outputs of the graph of a step."""
    own = op.inner_inputs
    memo: dict[Any, Any] = {v: v.type(v.name) for v in own}
    memo = clone_get_equiv(own, op.inner_outputs, memo=memo)
    return [memo[v] for v in own], [memo[v] for v in op.inner_outputs]


def drawn(outputs: Sequence[Any]) -> list[Any]:
    """Return the values that a step computes from states that are not tensors, which have no
    traces.
    """
    nodes = toposort(outputs)
    tensors = [v for node in nodes for v in node.outputs if isinstance(v.type, TensorType)]
    return [v for v in tensors if any(is_state(x) for x in v.owner.inputs)]


def is_state(v: Any) -> bool:
    return v.type.ndim is NO_RANK and not isinstance(v, Constant)


def written_onto(total: Any, g: Any) -> Any:
    """Return total + g; a g written into zeros at an index is written into the total, at the cost
    of that part.
    """
    writes, base = [], g
    while base.owner is not None and isinstance(base.owner.op, WRITES):
        if base.owner.op.set_instead_of_inc:
            return total + g
        writes.append(base.owner)
        base = base.owner.inputs[0]
    if not writes or not is_zero(base):
        return total + g
    for node in reversed(writes):
        total = node.op(total, *node.inputs[1:])
    return total


def padded(v: Any, n: Any, most: Any) -> Any:
    """Return an array of n elements, padded with zeros to `most`."""
    return pt.join(0, v, pt.zeros((most - n, *pt.shape_tuple(v)[1:]), dtype=v.type.dtype))


def handed_on(own: Sequence[Any], new: Sequence[Any]) -> dict[int, int]:
    """Return {carried value: the value of the step before to which it equals}, except those that no
    step has computed.
    """
    number = {v: k for k, v in enumerate(own)}
    handed = {i: number[v] for i, v in zip(range(len(own)), new, strict=False) if v in number}
    users: dict[int, list[int]] = {}
    for i, k in handed.items():
        users.setdefault(k, []).append(i)
    todo = [k for k in users if k not in handed]
    made = set(todo)
    while todo:
        for i in users.get(todo.pop(), ()):
            made.add(i)
            todo.append(i)
    return {i: k for i, k in handed.items() if i in made}


class Backwards:
    """Gradient of a call of a loop. steps: the number of steps that ran."""

    def __init__(
        self, op: Scan, inputs: Sequence[Any], outputs: Sequence[Any], gradients: Sequence[Any]
    ) -> None:
        self.op, self.inputs, self.outputs = op, inputs, outputs
        self.gradients_of = [
            in_dtype_of(v, g) if isinstance(g.type, TensorType) else g
            for v, g in zip(outputs, gradients, strict=True)
        ]
        self.steps = outputs[-1] if op.until else inputs[0]
        self.sequences, self.first, self.others = op.parts(inputs[1:])
        #: the results through which gradients come
        used = [j for j in op.results if not is_disconnected(gradients[j])]
        self.used = [j for j in used if has_gradient(outputs[j])]

    def gradients(self) -> list[Any]:
        """Return the gradients of the inputs."""
        n = self.steps if self.op.truncate < 0 else pt.minimum(self.steps, self.op.truncate)
        loop, traced = self.loop()
        sequences = [x if self.is_whole(x) else x[: self.steps] for x in self.sequences]
        read = [*sequences, *traced, *[self.gradients_of[j] for j in self.used]]
        found = loop(
            n,
            *[x[::-1] for x in read],
            *self.ends(),
            *[pt.zeros_like(x) for x in continuous(self.others)],
            *self.others,
            return_list=True,
        )
        a = len(continuous(self.first))
        b = a + len(continuous(self.others))
        starts = found[:a] if self.op.truncate < 0 else self.reached(found[:a])
        each = iter(starts), iter(found[a:b]), iter(found[b:])
        return [
            disconnected(),
            *[self.spread(x, each[2]) for x in self.sequences],
            *[_next(x, each[0]) for x in self.first],
            *[_next(x, each[1]) for x in self.others],
        ]

    def loop(self) -> tuple[Scan, list[Any]]:
        """Return the op, and the traces that it reads."""
        op = self.op
        given, made = copied(op)
        slices, kept, same = op.parts(given)
        carry = [i for i, v in enumerate(kept) if has_gradient(v)]
        arriving = [kept[i].type() for i in carry]
        results = [made[j].type() for j in self.used]
        wrt = continuous(slices), continuous(kept), continuous(same)
        found = pullback(
            [made[i] for i in (*carry, *self.used)],
            [v for group in wrt for v in group],
            [*arriving, *results],
            disconnected_inputs="ignore",
        )
        draws = drawn(found) if any(map(is_state, given)) else []
        shown, more = self.shown(given, made, draws) if draws else ({}, [])
        found = graph_replace(found, shown, strict=False) if shown else found
        a, b = len(wrt[0]), len(wrt[0]) + len(wrt[1])
        sums = [v.type() for v in wrt[2]]
        added = [written_onto(s, g) for s, g in zip(sums, found[b:], strict=True)]
        roots = {v for v in graph_inputs(found) if not is_state(v)}
        before = self.before({i for i, v in enumerate(kept) if v in roots})
        pairs = [(v, x) for v, x in zip(kept, before, strict=True) if x is not None]
        pairs += more
        read = [*slices, *[v for v, _ in pairs], *results]
        loop = type(op)(
            [*read, *arriving, *sums, *same],
            [*found[a:b], *added, *found[:a]],
            len(read),
            len(arriving) + len(sums),
            name=f"gradient of {op}",
            mode=op.mode,
            derived=True,
        )
        return loop, [x for _, x in pairs]

    def ends(self) -> list[Any]:
        """Return the gradients of the values carried by the last step."""
        pairs = zip(self.first, self.gradients_of, strict=False)
        return [pt.zeros_like(x) if is_disconnected(g) else g for x, g in pairs if has_gradient(x)]

    def reached(self, found: Sequence[Any]) -> list[Any]:
        """Return the gradients of the first values.

        found: gradients of the values passed to the first of the last steps. They belong to the
        first values if all steps are included, or if the carried value holds values of several
        earlier steps (taps); other first values have the gradient 0.
        """
        own, last = self.op.parts(self.op.inner_inputs)[1], self.op.truncate
        carry = [i for i, v in enumerate(own) if has_gradient(v)]
        zeros = {i: pt.zeros_like(self.first[i]) for i in carry}
        if isinstance(self.steps, Constant):
            before: Any = max(int(self.steps.data) - last, 0)
            where = lambda test, x, y: x if test else y
        else:
            before = pt.maximum(self.steps - last, 0)
            where = pt.switch
        now = dict(zip(carry, found, strict=True))
        handed, size = handed_on(own, self.op.inner_outputs), 1
        while handed:  # so many steps back, in powers of 2
            terms: dict[int, list[Any]] = {i: [] for i in carry}
            for i, k in handed.items():
                if i in now:
                    terms[k].append(now[i])
            moved = {i: pt.add(*terms[i]) if terms[i] else zeros[i] for i in carry}
            now = {i: where(before // size % 2, moved[i], now[i]) for i in carry}
            handed = {i: handed[k] for i, k in handed.items() if k in handed}
            size *= 2
        return [where(before < size, now[i], zeros[i]) for i in carry]

    def before(self, needed: set[int]) -> list[Any]:
        """Return the carried values passed to each step; None if unknown and not needed."""
        op, own = self.op, self.op.parts(self.op.inner_inputs)[1]
        new, results = op.inner_outputs[: op.carried], op.inner_outputs[op.carried :]
        found: list[Any] = [None] * op.carried
        for _ in own:
            for i, v in enumerate(new):
                after = None
                if v in results:
                    after = self.outputs[op.carried + results.index(v)]
                elif v in own:
                    after = found[own.index(v)]
                if found[i] is None and after is not None:
                    found[i] = pt.join(0, self.first[i][None], after)[: self.steps]
        missing = [i for i, x in enumerate(found) if x is None and i in needed]
        if missing:
            states = [own[i] for i in missing]
            for i, x in zip(missing, self.traces(op.inner_inputs, op.inner_outputs, states)):
                found[i] = x
        return found

    def shown(
        self, given: list[Any], made: list[Any], draws: Sequence[Any]
    ) -> tuple[dict[Any, Any], list[tuple[Any, Any]]]:
        """Return {drawn value: variable that reads it}, and pairs (slice, trace).

        Traces of draws of inner loops are padded to the longest.
        """
        varying = {v: n for v in draws if (n := self.varying_steps(v, given)) is not None}
        lengths = list(dict.fromkeys(varying.values()))
        counts = self.traces(given, made, lengths) if lengths else []
        most = {n.type(): pt.max(pt.join(0, [0], x)) for n, x in zip(lengths, counts, strict=True)}
        longest = dict(zip(lengths, most, strict=True))
        whole = [padded(v, varying[v], longest[varying[v]]) if v in varying else v for v in draws]
        slices, count = [v.type() for v in whole], {n: n.type() for n in lengths}
        read = {
            v: v.type.filter_variable(x[: count[varying[v]]]) if v in varying else x
            for v, x in zip(draws, slices, strict=True)
        }
        traces = self.traces(given, made, whole, most)
        pairs = zip([*slices, *count.values()], [*traces, *counts], strict=True)
        return read, list(pairs)

    def varying_steps(self, v: Any, given: list[Any]) -> Any:
        """Return the number of steps of an inner loop that drew v, if it differs between steps;
        else None.
        """
        node, changing = v.owner, given[: self.op.sequences + self.op.carried]
        if not isinstance(node.op, type(self.op)) or v.index not in node.op.results:
            return None
        if node.op.until:
            return node.outputs[-1]
        n = node.inputs[0]
        return None if set(changing).isdisjoint(graph_inputs([n])) else n

    def traces(
        self,
        given: list[Any],
        made: list[Any],
        wanted: list[Any],
        more: Mapping[Any, Any] = EMPTY,
    ) -> list[Any]:
        """Return values of all steps that no result contains, computed by another loop.

        given, made: inputs and values of a step; more: further inputs, with their values.
        """
        op = self.op
        end = op.nout - op.until
        outputs = [*made[:end], *wanted, *made[end:]]
        loop = type(op)([*given, *more], outputs, op.sequences, op.carried, op.until, op.truncate,
                        mode=op.mode)  # fmt: skip
        found = loop(*self.inputs, *more.values(), return_list=True)
        return list(found[end : end + len(wanted)])

    def is_whole(self, x: Any) -> bool:
        """Return whether a sequence is known to have exactly as many elements as there are
        steps.
        """
        length = pt.shape_tuple(x)[0]
        if isinstance(length, Constant):
            return isinstance(self.steps, Constant) and self.steps.data == length.data
        own, other = length.owner, self.steps.owner
        if own is None or other is None:
            return False
        return bool((own.op, own.inputs) == (other.op, other.inputs))

    def spread(self, x: Any, found: Iterator[Any]) -> Any:
        """Return the gradient of a sequence, from those of some steps in reverse order; zeros
        elsewhere.
        """
        if not has_gradient(x):
            return _next(x, found)
        g = next(found)[::-1]
        if x.type.ndim > 1:  # of no steps, other lengths than the first may be 0
            g = g.reshape((g.shape[0], *pt.shape_tuple(x)[1:]))
        if self.op.truncate >= 0:
            return pt.set_subtensor(pt.zeros_like(x)[self.steps - g.shape[0] : self.steps], g)
        return g if self.is_whole(x) else pt.set_subtensor(pt.zeros_like(x)[: self.steps], g)


def _next(x: Any, found: Iterator[Any]) -> Any:
    """Return the next gradient, if an input has one."""
    if has_gradient(x):
        return next(found)
    return zero_gradient(x) if isinstance(x.type, TensorType) else disconnected()


def changes(op: Scan, inputs: Sequence[Any], points: Sequence[Any]) -> list[Any]:
    """Return Jacobian-vector products for each output; None if no tangent reaches it."""
    sequences, first, others = op.parts(inputs[1:])
    pairs = zip(inputs[1:], points[1:], strict=True)
    moves = op.parts(
        [None if t is None or not has_gradient(x) else in_dtype_of(x, t) for x, t in pairs]
    )
    given, made = copied(op)
    slices, kept, same = op.parts(given)
    carry = [i for i, v in enumerate(kept) if has_gradient(v)]
    starts = [pt.zeros_like(first[i]) if moves[1][i] is None else moves[1][i] for i in carry]
    read = [(v, v.type(), t) for v, t in zip(slices, moves[0], strict=True) if t is not None]
    fixed = [(v, v.type(), t) for v, t in zip(same, moves[2], strict=True) if t is not None]
    moving = [(kept[i], kept[i].type(), t) for i, t in zip(carry, starts, strict=True)]
    shown = [j for j in op.results if has_gradient(made[j])]
    found = pushforward(
        [made[i] for i in (*carry, *shown)],
        [v for v, _, _ in (*read, *moving, *fixed)],
        [d for _, d, _ in (*read, *moving, *fixed)],
        disconnected_outputs="ignore",
    )
    end, n = op.nout - op.until, len(carry)
    loop = type(op)(
        [*slices, *[d for _, d, _ in read], *kept, *[d for _, d, _ in moving], *same,
         *[d for _, d, _ in fixed]],
        [*made[: op.carried], *found[:n], *made[op.carried : end], *found[n:], *made[end:]],
        len(slices) + len(read), op.carried + n, op.until, op.truncate, f"change of {op}", op.mode,
    )  # fmt: skip
    out = loop(
        inputs[0], *sequences, *[t for _, _, t in read], *first, *starts, *others,
        *[t for _, _, t in fixed], return_list=True,
    )  # fmt: skip
    places = [*[op.carried + k for k in range(n)], *[n + end + k for k in range(len(shown))]]
    result: list[Any] = [None] * op.nout
    for j, place in zip([*carry, *shown], places, strict=True):
        result[j] = out[place]
    return result
