"""Derivatives of ops that hold a graph, built as ops that hold a graph themselves.

Each derivative is built once for each set of relevant inputs and outputs, cached by the op, and
then applied like any op. The derivative of a graph needs the derivatives of the ops inside. They
are not built by recursion: where one is missing, a stand-in of its type takes its place, the
current derivative is abandoned, and it is built again after the missing ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from rewrite_engine.errors import GradientTermsError, InputError, describe, message
from rewrite_engine.gradient.forward import pushed
from rewrite_engine.gradient.partial import Partial, condition, full, is_zero
from rewrite_engine.gradient.scattered import written_out
from rewrite_engine.gradient.stable import stable
from rewrite_engine.gradient.type import float_zeros, gradient_dtype
from rewrite_engine.gradient.walk import Reverse
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.null import disconnected, is_disconnected, is_null
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.tensor.math import switch
from rewrite_engine.tensor.type import TensorType

Key = tuple[Any, ...]  # the kind, and all that it depends on
DEFAULT = (None, "default")


class Derivative(NamedTuple):
    """Recipe that computes derivatives from known values. takes: the indices of the values that
    `op` is applied to. results: tuples of one entry, or of a condition and a value that applies
    where it holds (`gradient/partial.py`). An entry is the index of a value or (numbered after the
    values) of an output of `op`; a constant; a null or disconnected variable; or None for zeros.
    """

    op: Any
    takes: tuple[int, ...]
    results: list[tuple[Any, ...]]

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        given = [values[k] for k in self.takes]
        made = () if self.op is None else self.op(*given, return_list=True)
        return self.chosen([*values, *made])

    def chosen(self, found: Sequence[Any]) -> list[Any]:
        """Return the results, given the values followed by the outputs of the op."""
        several = [[found[r] if isinstance(r, int) else r for r in rs] for rs in self.results]
        return [r[0] if len(r) == 1 else switch(r[0], r[1], 0.0) for r in several]


#: what is missing for the derivative that is being built; None: none is
_missing: ContextVar[list[Any] | None] = ContextVar("missing", default=None)


def derivative(op: Any, key: Key) -> Derivative | None:
    """Return a derivative of an op; None while another derivative that needs it is being built."""
    found = op.derivatives.get(key)
    if found is not None:
        return found  # type: ignore[no-any-return]
    waiting = _missing.get()
    if waiting is not None:
        waiting.append((op, key))
        return None
    stack = [(op, key)]
    while stack:
        one, its = stack[-1]
        if its not in one.derivatives:
            missing: list[Any] = []
            before = _missing.set(missing)
            try:
                one.derivatives[its] = one.build_derivative(its)
            except Exception:
                if not missing:
                    raise
            finally:
                _missing.reset(before)
            if missing:
                one.derivatives.pop(its, None)
                stack += dict.fromkeys(missing)
                continue
        stack.pop()
    return op.derivatives[key]  # type: ignore[no-any-return]


def slope_of(v: Variable, dtype: str | None = None, name: str | None = None) -> Any:
    """Return a root variable of the type of derivatives of `v`."""
    if isinstance(v.type, TensorType):
        return v.type.clone(dtype=dtype or gradient_dtype(v)).make_variable(name)
    return v.type.make_variable(name)


def is_partial(g: Any) -> bool:
    """Return whether a gradient has a condition and is not zero."""
    return isinstance(g, Partial) and not is_zero(g.value)


def slopes_of(variables: Sequence[Variable], dtypes: Sequence[Any]) -> dict[int, Any]:
    """Return root variables for the derivatives with a dtype, by index."""
    known = enumerate(zip(variables, dtypes, strict=True))
    return {i: slope_of(v, dtype, f"d{i}") for i, (v, dtype) in known if dtype is not None}


def dtypes_of(slopes: Sequence[Any]) -> tuple[str | None, ...]:
    """Return the dtypes of derivatives; None for a missing one."""
    there = [g is not None and not is_disconnected(g) for g in slopes]
    return tuple([getattr(g.type, "dtype", "") if t else None for g, t in zip(slopes, there)])


class Differentiable(HasInnerGraph):
    """Op that differentiates its graph, or uses given overrides instead."""

    takes_partial = True
    lop_overrides: Any = None
    rop_overrides: Any = None

    def op_of(self, inputs: Sequence[Variable], outputs: Sequence[Variable], name: str) -> Any:
        """Return the op that represents a derivative."""
        raise NotImplementedError

    @property
    def derivatives(self) -> dict[Key, Derivative]:
        """Derivatives built so far."""
        return self.__dict__.setdefault("_derivatives", {})  # type: ignore[no-any-return]

    def build_derivative(self, key: Key) -> Derivative:
        """Differentiate the graph: forwards ("push") or backwards ("pull")."""
        kind, given, *more = key
        ins, outs = self.inner_inputs, self.inner_outputs
        if kind == "push":
            slopes = slopes_of(ins, given)
            found = pushed(outs, {ins[i]: t for i, t in slopes.items()})
            return self._as_op(kind, [*ins, *[slopes.get(i) for i in range(len(ins))]], found)
        masks, wanted, kept = more
        slopes, numbers = slopes_of(outs, given), range(len(outs))
        wheres = {j: m.make_variable(f"m{j}") for j, m in enumerate(masks) if m is not None}
        forms = stable([outs[j] for j in slopes], ins)
        seeds = [
            (v, Partial(g, wheres[j]) if j in wheres else g)
            for v, (j, g) in zip(forms, slopes.items(), strict=True)
        ]
        walk = Reverse(seeds, {}, [ins[i] for i in wanted], frozenset(), [ins[i] for i in kept])
        values = [*ins, *outs, *map(slopes.get, numbers), *map(wheres.get, numbers)]
        found = [walk.partial(ins[i]) for i in wanted]
        found = [written_out(g) if i in kept else full(g) for i, g in zip(wanted, found)]
        return self._as_op(kind, values, found)

    def _as_op(self, kind: str, values: Sequence[Any], found: Sequence[Any]) -> Derivative:
        """Build one op that computes the results that are not among the values. It computes outputs
        anew: taken as values, they would be infinite where a derivative with all of their terms is
        finite.
        """
        number: dict[Any, int] = {}
        for k, v in enumerate(values):
            if v is not None and not isinstance(v, Constant):
                number.setdefault(v, k)
        place: dict[Any, Any] = dict(number)
        computed: list[Any] = []
        parts = [(condition(g), g.value) if is_partial(g) else (full(g),) for g in found]
        for g in [g for several in parts for g in several]:
            if g is None or isinstance(g, Constant) or is_null(g) or is_disconnected(g):
                place[g] = g
            elif is_zero(g):
                place[g] = None
            elif g not in place:
                place[g] = len(values) + len(computed)
                computed.append(g)
        own = set(self.inner_outputs) - set(self.inner_inputs)
        given = {v: k for v, k in number.items() if v not in own}
        used = set(ancestors(computed, given))
        takes = tuple([k for v, k in given.items() if v in used])
        op = None
        if computed:
            op = self.op_of([values[k] for k in takes], computed, f"{kind}_{self}")
        return Derivative(op, takes, [tuple([place[g] for g in several]) for several in parts])

    # --- backwards -------------------------------------------------------------------------------

    def input_gradients(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        grads: Sequence[Any],
        wanted: Sequence[int],
        kept: Sequence[int] = (),
    ) -> list[Any]:
        """Return the gradients of some inputs. kept: the inputs whose conditions matter."""
        override = self.lop_overrides
        if override is None:
            return self._pull(inputs, outputs, grads, wanted, kept)
        grads = list(map(full, grads))
        if isinstance(override, tuple):
            own = [i for i in wanted if i < len(override) and override[i] is not None]
            found = {i: _one(override[i], inputs, outputs, grads) for i in own}
        else:
            hidden = len(getattr(self, "shared_inputs", ()))
            made = _called(override, (inputs, outputs), outputs, grads)
            found = dict(enumerate(self._several(made, "pullback", len(inputs), hidden)))
        rest = [i for i in wanted if i not in found]
        if rest:
            found.update(zip(rest, self._pull(inputs, outputs, grads, rest, ())))
        return [found[i] for i in wanted]

    def _pull(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        grads: Sequence[Any],
        wanted: Sequence[int],
        kept: Sequence[int],
    ) -> list[Any]:
        wheres = [condition(g) if isinstance(g, Partial) else None for g in grads]
        masks = tuple([None if m is None else m.type for m in wheres])
        key = "pull", dtypes_of(grads), masks, tuple(wanted), tuple(kept)
        made = derivative(self, key)
        if made is None:
            return [slope_of(inputs[i]) for i in wanted]
        values = [g.value if isinstance(g, Partial) else g for g in grads]
        found = made([*inputs, *outputs, *values, *wheres])
        return [float_zeros(inputs[i]) if g is None else g for i, g in zip(wanted, found)]

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> Sequence[Any]:
        """Return the gradients of all inputs."""
        return self.input_gradients(inputs, outputs, output_gradients, range(len(inputs)))

    # --- forwards --------------------------------------------------------------------------------

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> Sequence[Any]:
        """Return the derivatives of all outputs; a zero derivative is disconnected."""
        found = self._moved(inputs, eval_points)
        return [disconnected() if t is None else t for t in found]

    def _moved(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> Sequence[Any]:
        override, n = self.rop_overrides, len(self.inner_outputs)
        if override is None:
            return self._push(inputs, eval_points)
        if isinstance(override, tuple):
            rest = [] if None not in override else self._push(inputs, eval_points)
            return [
                rest[j] if own is None else _one(own, inputs, eval_points)
                for j, own in enumerate(override)
            ]
        made = _called(override, (inputs,), inputs, eval_points)
        return self._several(made, "pushforward", n)

    def _push(self, inputs: Sequence[Variable], points: Sequence[Any]) -> list[Any]:
        outs = self.inner_outputs
        made = derivative(self, ("push", dtypes_of(points)))
        if made is None:
            return [slope_of(v) for v in outs]
        found = made([*inputs, *points])
        return [None if g is None or is_disconnected(g) else g for g in found]

    def _several(self, found: Any, what: str, n: int, hidden: int = 0) -> list[Any]:
        """Return the result of an override as a list. hidden: how many entries may be missing at
        the end.
        """
        many = list(found) if isinstance(found, list | tuple) else [found]
        if n - hidden <= len(many) <= n:
            return many
        why = f"{what} must return {n - hidden} variables, not {len(many)}"
        raise GradientTermsError(message(why, op=self))


def _called(
    override: Any, values: Sequence[Sequence[Any]], of: Sequence[Variable], slopes: Sequence[Any]
) -> Any:
    """Call an override. An override that is an op receives zeros for missing derivatives."""
    if not isinstance(override, HasInnerGraph):
        return override(*map(list, values), list(slopes))
    full = [g for values_ in values for g in values_]
    for v, g in zip(of, slopes, strict=True):
        full.append(float_zeros(v) if g is None or is_disconnected(g) else g)
    op: Any = override
    return op(*full, return_list=True)


def _one(override: Any, *args: Sequence[Any]) -> Any:
    """Evaluate an entry of a list of overrides: a variable, or a function that makes one."""
    return override if isinstance(override, Variable) else override(*map(list, args))


def checked_overrides(op: Any, lop: Any, rop: Any) -> tuple[Any, Any]:
    """Check and normalize the overrides of derivatives. Raises `InputError`."""
    ins, outs = op.inner_inputs, op.inner_outputs
    backwards = [*ins, *outs, *map(slope_of, outs)], list(map(slope_of, ins))
    forwards = [*ins, *map(slope_of, ins)], list(map(slope_of, outs))
    hidden = len(op.shared_inputs)
    return (
        _checked(op, "pullback", lop, *backwards, hidden),
        _checked(op, "pushforward", rop, *forwards, 0),
    )


def _checked(op: Any, what: str, given: Any, takes: Any, makes: Any, hidden: int) -> Any:
    def refuse(why: str) -> InputError:
        return InputError(message(f"{what}: {why}", op=op))

    if isinstance(given, str | None) and given in DEFAULT:
        return None
    if isinstance(given, HasInnerGraph):
        shared = getattr(given, "shared_inputs", ())
        own = given.inner_inputs[: len(given.inner_inputs) - len(shared)]
        for kind, has, wanted in ("inputs", own, takes), ("outputs", given.inner_outputs, makes):
            if len(has) != len(wanted):
                raise refuse(f"{given} must have {len(wanted)} {kind}, not {len(has)}")
            for i, (a, b) in enumerate(zip(has, wanted, strict=True)):
                ranks = {v.type.ndim for v in (a, b)}
                if not a.type.same_kind(b.type) or len(ranks) > 1:
                    raise refuse(f"{kind} {i} of {given} is a {a.type}, not a {b.type}")
        return given
    if isinstance(given, list | tuple):
        if not len(makes) - hidden <= len(given) <= len(makes):
            raise refuse(f"a list must have {len(makes) - hidden} entries, not {len(given)}")
        entries = [None if isinstance(g, str) and g in DEFAULT else g for g in given]
        for i, one in enumerate(entries):
            null = isinstance(one, Variable) and (is_null(one) or is_disconnected(one))
            if not (one is None or null or (callable(one) and not isinstance(one, Variable))):
                raise refuse(f"entry {i} is neither a function nor None: {describe(one)}")
        return tuple(entries)
    if not callable(given) or isinstance(given, Variable):
        raise refuse(f"a function, an OpFromGraph or a list is needed, not {describe(given)}")
    return given
