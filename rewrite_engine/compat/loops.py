"""PyTensor's loops: `scan`, in which the values of an output with initial ones are part of an array
that begins with these; and the op `Scan`, with its inputs and outputs in PyTensor's order
(`loop_parts.py`). Rewriting replaces it by this library's loop (`loops/op.py`).

Loops whose steps draw use it; others are loops of `rewrite_engine.scan`.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.compat.loop_parts import ScanInfo, mappings
from rewrite_engine.compile.from_graph import OpFromGraph
from rewrite_engine.compile.function import function
from rewrite_engine.errors import InputCountError, message, refuse_options, refuse_unknown
from rewrite_engine.fork import cached_property
from rewrite_engine.gradient import Lop
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.intern import Interned
from rewrite_engine.graph.node import Apply, Variable, build_node
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import user_origin
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.graph.traverse import graph_inputs
from rewrite_engine.loops import arguments, step
from rewrite_engine.loops import op as loops
from rewrite_engine.random.type import RandomGeneratorType
from rewrite_engine.tensor.blockwise import whole_batch
from rewrite_engine.tensor.shape import shape_tuple
from rewrite_engine.tensor.shaping.joins import join
from rewrite_engine.tensor.type import TensorType

__all__ = ["PeerScan", "scan"]

ARGUMENTS = inspect.signature(step.scan)


def scan(*args: Any, **kwargs: Any) -> Any:
    """Call `rewrite_engine.scan`, and return outputs in PyTensor's form: for an output `v` with
    initial values, `v.owner.inputs[0]` is an array of these followed by `v`. (Rewriting leaves only
    the output.)
    """
    bound = ARGUMENTS.bind(*args, **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    refuse_unknown("scan", given.pop("unknown"), ARGUMENTS.parameters)
    return_list = given.pop("return_list")
    loop = step.loop_of(**given)
    if draws(loop):
        found, updates = in_their_form(loop)
    else:
        found, updates = loop.built()
        found = [behind(v, info) for v, info in zip(found, loop.infos, strict=True)]
    return loop.returned(found, updates, return_list, given["return_updates"])


def behind(v: Variable, info: arguments.Taps) -> Any:
    """Return an output as the part of an array after its initial values."""
    if info.start is None or not isinstance(v.type, TensorType):
        return v
    whole = join(0, first_rows(info), v)
    inputs = [whole.type(), v.type()]
    return OpFromGraph(inputs, inputs[1:], inline=True, name="behind the first")(whole, v)


def first_rows(info: arguments.Taps) -> Any:
    """Return the initial values of an output, one after the other."""
    return info.start[None] if info.taps == [-1] else info.start[: info.reach]


scan.__signature__ = ARGUMENTS  # type: ignore[attr-defined]


# --- the op ---------------------------------------------------------------------------------------


class _OfLoops(Interned):
    """Metaclass that also counts this library's loops as instances, with an `info`."""

    def __instancecheck__(self, instance: Any) -> bool:
        return type.__instancecheck__(self, instance) or (
            self is PeerScan and isinstance(instance, loops.Scan)
        )


class PeerScan(HasInnerGraph, Op, metaclass=_OfLoops):
    """PyTensor's loop op. Inputs: the number of steps, sequences, arrays that begin with initial
    values (for outputs with earlier values), states, lengths (for other outputs), and values that
    are the same in all steps. Outputs: these arrays, filled; the other outputs; the last states.

    inputs, outputs: the graph of a step. info: the counts of each kind. Raises `OptionError` for
    outputs with several values of each step.
    """

    __props__ = ("structure", "info", "mode", "truncate_gradient", "name")
    inline = True
    nout: int
    profile, allow_gc = False, True

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        info: ScanInfo,
        mode: Any = None,
        profile: Any = None,
        truncate_gradient: int = -1,
        name: str | None = None,
        allow_gc: bool = True,
        strict: bool = True,
        as_while: bool = False,
    ) -> None:
        if info.mit_mot_in_slices:
            refuse_options("Scan", "gradients are separate loops", mit_mot=info.mit_mot_in_slices)
        self.info, self.truncate_gradient, self.name = info, truncate_gradient, name
        self.mode = arguments.mode_of(mode)
        self.nout = info.n_outer_outputs
        self.hold(inputs, outputs)

    def __str__(self) -> str:
        return self.name or "Scan"

    def get_oinp_iinp_iout_oout_mappings(self) -> dict[str, dict[int, Any]]:
        """Return which inputs and outputs, inside and outside, belong together: `mappings`."""
        return mappings(self.info)

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op. Raises `InputCountError`, and the errors of types for unsuitable values."""
        places = [*self.info.places()]
        if len(inputs) != len(places) + 1:
            what = f"takes {len(places) + 1} inputs, not {len(inputs)}"
            raise InputCountError(message(what, op=self))
        variables = [loops.STEPS.filter_variable(pt.as_tensor_variable(inputs[0], dtype="int64"))]
        types: dict[int, Any] = {}
        for kind, _, outside, inside, output in places:
            x = arguments.variable_of(inputs[outside])
            if kind == "nit_sot":
                wanted, x = loops.STEPS, x.astype("int64")
            else:
                wanted = self.inner_inputs[inside[0]].type
                wanted = wanted if kind in ("shared", "non_seqs") else loops.longer(wanted)
            variables.append(wanted.filter_variable(x))
            if output is not None:
                own = self.inner_outputs[output].type
                types[output] = own if kind == "shared" else loops.longer(own)
        ordered = tuple([types[j] for j in range(self.nout)])
        return build_node(self, tuple(variables), ordered, user_origin())

    @cached_property
    def _here(self) -> Any:
        """Op of this library's loop. (A cache, which is not pickled.)"""
        states: list[Any] = []
        new: list[Any] = []
        ins, outs = self.inner_inputs, self.inner_outputs
        parts: dict[str, list[Any]] = {}
        for kind, k, _, inside, output in self.info.places():
            if kind == "nit_sot":
                continue
            own = [ins[i] for i in inside]
            if kind == "mit_sot":
                taps = self.info.mit_sot_in_slices[k]
                given = dict(zip(taps, own, strict=True))
                own = [given[t] if t in given else own[0].type() for t in range(min(given), 0)]
            parts.setdefault(kind, []).extend(own)
            if output is not None:
                states += own
                new += [*own[1:], outs[output]]
        kept = len(outs) - self.info.as_while - self.info.n_untraced_sit_sot
        rows = [*outs[:kept], *outs[len(outs) - self.info.as_while :]]
        sequences, others = parts.get("seqs", []), parts.get("non_seqs", [])
        return loops.Scan(
            [*sequences, *states, *others], [*new, *rows], len(sequences), len(states),
            self.info.as_while, self.truncate_gradient, self.name, self.mode,
        )  # fmt: skip

    def written_out(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the outputs, computed by this library's loop."""
        sequences, starts, others = list[Any](), list[Any](), list[Any]()
        firsts: dict[int, Any] = {}
        for kind, k, outside, _, output in self.info.places():
            x = inputs[outside]
            if kind == "mit_sot":
                reach = -min(self.info.mit_sot_in_slices[k])
                firsts[output] = rows = initial(x, reach)  # type: ignore[index]
                starts += [rows[i] for i in range(reach)]
            elif kind == "sit_sot":
                firsts[output] = rows = initial(x, 1)  # type: ignore[index]
                starts.append(rows[0])
            elif kind == "shared":
                starts.append(x)
            else:
                {"seqs": sequences, "non_seqs": others}.get(kind, []).append(x)
        own = self._here.inner_inputs[len(sequences) :]
        starts = [v.type.filter_variable(x) for v, x in zip(own, starts)]
        made = self._here(inputs[0], *sequences, *starts, *others, return_list=True)
        shared = self.info.n_untraced_sit_sot
        last = made[len(starts) - shared : len(starts)]
        rows = made[len(starts) :][: self.nout - shared]
        traces = [join(0, firsts[j], v) if j in firsts else v for j, v in enumerate(rows)]
        return [*traces, *last]

    def needed_outputs(self, used: Sequence[int], alike: Any = None) -> Sequence[int]:
        """Return all outputs: this library's loop has all of them."""
        return used

    def needed_inputs(self, used: Sequence[int]) -> Sequence[int]:
        """Return all inputs except for the lengths, which are not read."""
        places = [*self.info.places()]
        return [0, *[place.outside for place in places if place.kind != "nit_sot"]]

    def apart(self, node: Apply) -> tuple[list[Any], list[Any]]:
        """Return separate inputs, and the outputs computed from them."""
        own = [v.type() for v in node.inputs]
        return own, self.written_out(own)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        for cell, value in zip(output_storage, self._run(*inputs), strict=True):
            cell[0] = value

    @cached_property
    def _run(self) -> Any:
        """Function of this library's loop, for graphs that are run without rewriting."""
        own = [loops.STEPS()]
        for kind, _, _, inside, _ in self.info.places():
            t = self.inner_inputs[inside[0]].type if inside else loops.STEPS
            traced = kind in ("seqs", "mit_sot", "sit_sot")
            own.append((loops.longer(t) if traced else t)())
        return function(own, self.written_out(own), on_unused_input="ignore")

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        """Return the lengths of the loop, without its steps: they need no draws."""
        from rewrite_engine.compat.databases import shape_rules
        from rewrite_engine.pipeline.phases import rewrite_graph

        made = self.written_out(node.inputs)
        lengths = [shape_tuple(v) if isinstance(v.type, TensorType) else () for v in made]
        flat = [n for own in lengths for n in own]
        found = iter(rewrite_graph(flat, include=(), custom_rewrite=shape_rules("shape_unsafe")))
        return [
            tuple([next(found) for _ in own]) if isinstance(v.type, TensorType) else None
            for v, own in zip(made, lengths, strict=True)
        ]

    def equal_lengths(self, node: Apply) -> None:
        """Return None: steps may fail in any way, also if only the lengths of results are
        needed.
        """

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Return the connections; the numbers of steps and of lengths affect no output."""
        kinds = ["n_steps", *[place.kind for place in self.info.places()]]
        return [[kind not in ("n_steps", "nit_sot")] * self.nout for kind in kinds]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Build this library's loop with a batch dimension."""
        own, made = self.apart(node)
        return whole_batch(made, dict(zip(own, inputs, strict=True)))

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradients of this library's loop."""
        own, made = self.apart(outputs[0].owner)
        known = [
            (v, g) for v, g in zip(made, output_gradients, strict=True)
            if isinstance(v.type, TensorType) and isinstance(g.type, TensorType)
        ]  # fmt: skip
        wanted = [v for v in own if isinstance(v.type, TensorType)]
        found = iter(Lop(
            [v for v, _ in known], wanted, [g for _, g in known],
            disconnected_inputs="ignore", return_disconnected="disconnected",
        ))  # fmt: skip
        slopes = [next(found) if v in wanted else disconnected() for v in own]
        return graph_replace(slopes, dict(zip(own, inputs)), strict=False)


class Begun(OpFromGraph):
    """Op that makes an array with initial rows: `begun(empty, first, their number)`. (The loop that
    takes it reads only these rows.)
    """

    set_instead_of_inc = False  # (of an `IncSubtensor` alone would True be told; PyMC asks)

    @property
    def idx_list(self) -> list[slice]:
        """Index of the part that is written."""
        return [slice(None, self.inner_inputs[2])]


def begun(first: Any, n: Any) -> Any:
    """Return an array that begins with the rows of `first`, with space for `n` more."""
    reach, *shape = shape_tuple(first)
    whole = pt.empty((pt.as_tensor_variable(n) + reach, *shape), first.type.dtype)
    inputs = [whole.type(), first.type(), loops.STEPS("number")]
    written = pt.set_subtensor(inputs[0][: inputs[2]], inputs[1])
    given = whole, first, pt.as_tensor_variable(reach, dtype="int64")
    return Begun(inputs, [whole.type.filter_variable(written)])(*given)


def initial(x: Any, n: int) -> Any:
    """Return the first `n` rows of an array."""
    made = x.owner is not None and isinstance(x.owner.op, Begun)
    return x.owner.inputs[1] if made else x[:n]


# --- a loop in this form --------------------------------------------------------------------------


def draws(loop: step.LoopRequest) -> bool:
    """Return whether a step uses the state of a generator."""
    used = [*loop.step.updates, *graph_inputs(loop.step.outputs)]
    return any([isinstance(v.type, RandomGeneratorType) for v in used])


def in_their_form(loop: step.LoopRequest) -> tuple[list[Any], dict[Any, Any]]:
    """Return the outputs of a loop in PyTensor's form, and its updates."""
    loop.carried()  # (finds what does not fit)
    outputs, shared = loop.step.outputs, [*loop.step.updates]
    inside = {v: v.type(v.name) for v in shared}
    order: dict[str, list[int]] = {"mit_sot": [], "sit_sot": [], "nit_sot": [], "shared": []}
    for k, info in enumerate(loop.infos):
        kind = "nit_sot" if info.start is None else "sit_sot" if info.taps == [-1] else "mit_sot"
        order[kind if isinstance(outputs[k].type, TensorType) else "shared"].append(k)
    traced = [*order["mit_sot"], *order["sit_sot"], *order["nit_sot"]]
    given = [v for kind in ("mit_sot", "sit_sot", "shared") for k in order[kind]
             for v in arguments.given_of(loop.infos[k], loop.past[k])]  # fmt: skip
    inner = [*loop.slices, *given, *inside.values()]
    new = [*[outputs[k] for k in (*traced, *order["shared"])], *[loop.updated(v) for v in shared]]
    new += [] if loop.step.condition is None else [loop.step.condition]
    new = graph_replace(new, inside, strict=False) if inside else new
    outer = loop.outer(inner, new)
    memo = {v: v.type(v.name) for v in outer}
    new = graph_replace(new, memo, strict=False) if memo else new
    parts = ScanInfo(
        len(loop.slices), (), (), tuple([tuple(loop.infos[k].taps) for k in order["mit_sot"]]),
        ((-1,),) * len(order["sit_sot"]), len(order["nit_sot"]),
        len(order["shared"]) + len(shared), len(outer), loop.step.condition is not None,
    )  # fmt: skip
    op = PeerScan([*inner, *memo.values()], new, parts, loop.mode, None, loop.truncate, loop.name)
    n = loop.steps
    arrays = [begun(first_rows(loop.infos[k]), n) for k in (*order["mit_sot"], *order["sit_sot"])]
    states = [*[loop.infos[k].start for k in order["shared"]], *shared]
    lengths = [n] * len(order["nit_sot"])
    made = op(n, *loop.sequences, *arrays, *states, *lengths, *outer, return_list=True)
    place = {k: j for j, k in enumerate([*traced, *order["shared"]])}
    found = [made[place[k]] for k in range(len(outputs))]
    behind_first = [
        v[loop.infos[k].reach :] if k in (*order["mit_sot"], *order["sit_sot"]) else v
        for k, v in enumerate(found)
    ]
    return behind_first, dict(zip(shared, made[len(place) :], strict=True))
