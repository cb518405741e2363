"""Parts of PyTensor's loops by their kinds: `ScanInfo` counts them, and `ScanArgs` holds the
variables. (The op is in `loops.py`.)

Each kind has its inputs outside and inside, and its outputs inside and outside: sequences; outputs
with several earlier values ("mit_sot": taps), with one ("sit_sot"), with none ("nit_sot"); states
of which only the last is returned ("shared"); and values that are the same in all steps. Outputs
with several values of each step ("mit_mot", which PyTensor uses for gradients) do not exist here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["FieldInfo", "ScanArgs", "ScanInfo", "mappings"]

Taps = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ScanInfo:
    """Counts of the parts of each kind in a loop, and the taps of its outputs."""

    n_seqs: int
    mit_mot_in_slices: Taps
    mit_mot_out_slices: Taps
    mit_sot_in_slices: Taps
    sit_sot_in_slices: Taps
    n_nit_sot: int
    n_untraced_sit_sot: int
    n_non_seqs: int
    as_while: bool

    @property
    def n_mit_mot(self) -> int:
        """Number of outputs with several values of each step."""
        return len(self.mit_mot_in_slices)

    @property
    def n_mit_sot(self) -> int:
        """Number of outputs with several earlier values."""
        return len(self.mit_sot_in_slices)

    @property
    def n_sit_sot(self) -> int:
        """Number of outputs with one earlier value."""
        return len(self.sit_sot_in_slices)

    @property
    def n_shared_outs(self) -> int:
        """Number of states without a trace."""
        return self.n_untraced_sit_sot

    @property
    def n_outer_inputs(self) -> int:
        """Number of inputs of the loop: the number of steps, and one for each part with values
        from outside.
        """
        states = self.n_mit_sot + self.n_sit_sot + self.n_untraced_sit_sot
        return 1 + self.n_seqs + states + self.n_non_seqs

    def places(self) -> Iterator[PartOfLoop]:
        """Yield the parts, in the order of the inputs outside; outputs are numbered in their own
        order.
        """
        outside, inside = 1, 0
        kinds = {
            "seqs": [1] * self.n_seqs,
            "mit_sot": [len(taps) for taps in self.mit_sot_in_slices],
            "sit_sot": [1] * self.n_sit_sot,
            "shared": [1] * self.n_untraced_sit_sot,
            "nit_sot": [0] * self.n_nit_sot,
            "non_seqs": [1] * self.n_non_seqs,
        }
        firsts, n = dict[str, int](), 0
        for kind in ("mit_sot", "sit_sot", "nit_sot", "shared"):
            firsts[kind], n = n, n + len(kinds[kind])
        for kind, sizes in kinds.items():
            for k, size in enumerate(sizes):
                out = firsts[kind] + k if kind in firsts else None
                yield PartOfLoop(kind, k, outside, tuple(range(inside, inside + size)), out)
                outside, inside = outside + 1, inside + size

    @property
    def n_inner_inputs(self) -> int:
        """Number of inputs of a step."""
        return sum(len(place.inside) for place in self.places())

    @property
    def n_outer_outputs(self) -> int:
        """Number of outputs of the loop."""
        return sum(place.output is not None for place in self.places())

    @property
    def n_inner_outputs(self) -> int:
        """Number of outputs of a step."""
        return self.n_outer_outputs + self.as_while


class PartOfLoop(NamedTuple):
    """Part of a loop: its kind, its index among that kind, the index of its input outside, of those
    inside, and of its output (the same inside and outside), if it has one.
    """

    kind: str
    number: int
    outside: int
    inside: tuple[int, ...]
    output: int | None


def mappings(info: ScanInfo) -> dict[str, dict[int, Any]]:
    """Return {"outer_out_from_outer_inp": {index of an output: index of its input, or -1}, …}, with
    lists for inputs inside.
    """
    found: dict[str, dict[int, Any]] = {}
    for place in info.places():
        outs = [] if place.output is None else [place.output]
        ends = {"outer_inp": [place.outside], "inner_inp": [*place.inside]}
        ends |= {"inner_out": outs, "outer_out": outs}
        for to, theirs in ends.items():
            value = theirs if to.startswith("inner") else theirs[0] if theirs else -1
            for of in [name for name in ends if name != to]:
                found.setdefault(f"{to}_from_{of}", {}).update(dict.fromkeys(ends[of], value))
    return found


def info_of(op: Any) -> ScanInfo:
    """Return the counts for a loop of this library: its recurrent values are states of which only
    the last is returned, and its other outputs have no earlier values.
    """
    others = len(op.inner_inputs) - op.sequences - op.carried
    return ScanInfo(
        op.sequences, (), (), (), (), len(op.results), op.carried, others, bool(op.until)
    )


def in_their_order(op: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """Return the inputs and outputs of a node of such a loop, in PyTensor's order."""
    first, n = 1 + op.sequences + op.carried, len(op.results)
    known = [*inputs[:first], *list(inputs[:1]) * n, *inputs[first:]]
    return known, [*outputs[op.carried : op.carried + n], *outputs[: op.carried]]


# --- variables ------------------------------------------------------------------------------------


class FieldInfo(NamedTuple):
    """Position of a variable: the field, and its index there (inner_index: in a nested list)."""

    name: str
    index: int  # type: ignore[assignment]  # (as clients call it: no method of tuples)
    inner_index: int | None = None


class ScanArgs:
    """Variables of a loop by their kinds, in lists that may be changed: `inner_in_seqs`,
    `outer_out_sit_sot`, …; and the arguments from which `Scan` makes the changed loop:
    `inner_inputs`, `inner_outputs`, `info`, `outer_inputs`.
    """

    nested_list_fields = ("inner_in_mit_mot", "inner_in_mit_sot", "inner_out_mit_mot")

    def __init__(
        self,
        outer_inputs: Sequence[Any],
        outer_outputs: Sequence[Any],
        inner_inputs: Sequence[Any],
        inner_outputs: Sequence[Any],
        info: ScanInfo,
    ) -> None:
        self.n_steps, self.as_while = outer_inputs[0], info.as_while
        self.cond = [inner_outputs[-1]] if info.as_while else []
        self.mit_mot_in_slices, self.mit_mot_out_slices = (), ()
        self.mit_sot_in_slices = info.mit_sot_in_slices
        self.sit_sot_in_slices = info.sit_sot_in_slices
        for side in ("outer_in", "inner_in", "inner_out", "outer_out"):
            kinds = ["mit_mot", "mit_sot", "sit_sot", "nit_sot", "shared"]
            for kind in [*kinds, *["seqs", "non_seqs"] * side.endswith("in")]:
                if (side, kind) != ("inner_in", "nit_sot"):
                    setattr(self, f"{side}_{kind}", [])
        for kind, _, outside, inside, output in info.places():
            getattr(self, f"outer_in_{kind}").append(outer_inputs[outside])
            own = [inner_inputs[i] for i in inside]
            if kind != "nit_sot":
                getattr(self, f"inner_in_{kind}").extend([own] if kind == "mit_sot" else own)
            if output is not None:
                getattr(self, f"inner_out_{kind}").append(inner_outputs[output])
                getattr(self, f"outer_out_{kind}").append(outer_outputs[output])

    @staticmethod
    def from_node(node: Any, clone: bool = False) -> ScanArgs:
        """Return the variables of a node. clone: with a copy of the graph of a step, which can be
        changed.
        """
        op, inputs, outputs = node.op, node.inputs, node.outputs
        graph = op.fgraph.unfreeze() if clone else op.fgraph
        inner = [*graph.outputs]
        if hasattr(op, "carried"):
            inputs, outputs = in_their_order(op, inputs, outputs)
            inner = [*in_their_order(op, (), inner)[1], *inner[len(inner) - op.until :]]
        return ScanArgs(inputs, outputs, [*graph.inputs], inner, op.info)

    def _joined(self, side: str, *kinds: str) -> list[Any]:
        found: list[Any] = []
        for kind in kinds:
            field = f"{side}_{kind}"
            own = getattr(self, field)
            found += [v for row in own for v in row] if field in self.nested_list_fields else own
        return found

    @property
    def inner_inputs(self) -> list[Any]:
        """Inputs of a step."""
        return self._joined(
            "inner_in", "seqs", "mit_mot", "mit_sot", "sit_sot", "shared", "non_seqs"
        )

    @property
    def outer_inputs(self) -> list[Any]:
        """Inputs of the loop."""
        kinds = "seqs", "mit_mot", "mit_sot", "sit_sot", "shared", "nit_sot", "non_seqs"
        return [self.n_steps, *self._joined("outer_in", *kinds)]

    @property
    def inner_outputs(self) -> list[Any]:
        """Outputs of a step."""
        own = self._joined("inner_out", "mit_mot", "mit_sot", "sit_sot", "nit_sot", "shared")
        return own + self.cond

    @property
    def outer_outputs(self) -> list[Any]:
        """Outputs of the loop."""
        return self._joined("outer_out", "mit_mot", "mit_sot", "sit_sot", "nit_sot", "shared")

    @property
    def info(self) -> ScanInfo:
        """Present counts of the parts."""
        own: Any = self
        return ScanInfo(
            n_seqs=len(own.outer_in_seqs),
            mit_mot_in_slices=(),
            mit_mot_out_slices=(),
            mit_sot_in_slices=tuple([tuple(taps) for taps in self.mit_sot_in_slices]),
            sit_sot_in_slices=((-1,),) * len(own.inner_in_sit_sot),
            n_nit_sot=len(own.outer_in_nit_sot),
            n_untraced_sit_sot=len(own.outer_in_shared),
            n_non_seqs=len(own.inner_in_non_seqs),
            as_while=self.as_while,
        )

    @property
    def field_names(self) -> list[str]:
        """Names of the lists of variables."""
        sides = ("inner_in_", "inner_out_", "outer_in_", "outer_out_")
        return [name for name in vars(self) if name.startswith(sides)]

    def find_among_fields(
        self, i: Any, field_filter: Callable[[str], bool] = lambda name: True
    ) -> FieldInfo | None:
        """Return the first position of a variable among the fields whose names pass a filter."""
        for name in filter(field_filter, self.field_names):
            for k, own in enumerate(getattr(self, name)):
                row = own if isinstance(own, list | tuple) else [own]
                inner = next((j for j, v in enumerate(row) if v is i), None)
                if inner is not None:
                    return FieldInfo(name, k, inner if row is own else None)
        return None

    def get_alt_field(self, var_info: Any, alt_prefix: str) -> Any:
        """Return the counterpart of a variable, or of a `FieldInfo`, on another side ("inner_out",
        …). Raises `ValueError` for a variable that is not in the loop.
        """
        found = var_info if isinstance(var_info, FieldInfo) else self.find_among_fields(var_info)
        if found is None:
            raise ValueError(f"{var_info} is not a variable of this loop")
        kind = found.name.split("_", 2)[2]
        return getattr(self, f"{alt_prefix}_{kind}")[found.index]

    def remove_from_fields(self, i: Any, rm_dependents: bool = True) -> None:
        """Remove a variable from its field. Raises `ValueError` if rm_dependents is set: remove
        dependent variables separately.
        """
        if rm_dependents:
            raise ValueError("remove dependent variables separately, with rm_dependents=False")
        found = self.find_among_fields(i)
        if found is None:
            return
        field = getattr(self, found.name)
        row = field if found.inner_index is None else field[found.index]
        del row[found.index if found.inner_index is None else found.inner_index]
