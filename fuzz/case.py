"""A case: a graph, and values to run it on. It can be compiled, copied in parts, and written as
Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import rewrite_engine as rw
from fuzz.arrays import same_layout
from rewrite_engine.compile.mode import Mode
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.replace import clone_replace
from rewrite_engine.graph.traverse import ancestors, toposort

AS_BUILT = Mode(optimizer=None)


@dataclass(frozen=True)
class Case:
    """inputs: those that outputs need, with their values in `given`. shared: the inputs that are
    shared variables in the function; updates: their new values. wrong: whether the graph was built
    to fail when it runs. mutable: inputs that the function may overwrite. stands_in: inputs that
    are givens for other variables of the graph.
    """

    inputs: list[Any]
    outputs: list[Any]
    given: dict[Any, np.ndarray]
    shared: tuple[Any, ...] = ()
    updates: dict[Any, Any] = field(default_factory=dict)
    wrong: bool = False
    mutable: tuple[Any, ...] = ()
    stands_in: tuple[Any, ...] = ()

    @classmethod
    def of(cls, outputs: Sequence[Any], given: dict[Any, Any], **more: Any) -> Case:
        """A case with the inputs that the outputs need."""
        case = cls([], list(outputs), {}, **more)
        used = set(ancestors([*outputs, *case.updates.values()]))
        inputs = [v for v in given if v in used]
        shared = tuple([v for v in case.shared if v in used])
        updates = {v: new for v, new in case.updates.items() if v in shared}
        mine = {v: given[v] for v in inputs}
        mutable = tuple([v for v in case.mutable if v in used])
        return replace(
            case, inputs=inputs, given=mine, shared=shared, updates=updates, mutable=mutable
        )

    @property
    def results(self) -> list[Any]:
        """The outputs, and the updates."""
        return [*self.outputs, *self.updates.values()]

    @property
    def nodes(self) -> list[Apply]:
        """The nodes, inputs first."""
        return list(toposort(self.results, self.inputs))

    def compile(self, mode: Any = None, **options: Any) -> Compiled:
        """A function of it, with what it needs to run."""
        shared = {
            v: rw.shared(self.given[v].copy(), name=v.name, shape=v.type.shape) for v in self.shared
        }
        outputs = clone_replace(self.results, shared) if shared else self.results
        others = {v: v.type() for v in self.stands_in if v in self.inputs and v not in shared}
        outputs = clone_replace(outputs, others) if others else outputs
        givens = {other: v for v, other in others.items()}
        count = len(self.outputs)
        updates = {shared[v]: new for v, new in zip(self.updates, outputs[count:], strict=True)}
        free = [v for v in self.inputs if v not in shared]
        options |= {"mode": mode, "updates": updates, "givens": givens}
        options["on_unused_input"] = "ignore"
        inputs = [rw.In(v, mutable=True) if v in self.mutable else v for v in free]
        f = rw.function(inputs, outputs[:count], **options)
        return Compiled(self, f, free, shared)


@dataclass
class Compiled:
    """A function of a case."""

    case: Case
    function: Any
    inputs: list[Any]
    shared: dict[Any, Any]

    def arguments(self) -> list[np.ndarray]:
        """Its arguments, as they lie in memory."""
        given, mutable = self.case.given, self.case.mutable
        return [same_layout(given[v]) if v in mutable else given[v] for v in self.inputs]

    def __call__(self) -> list[Any]:
        """The outputs, then the new values of shared variables."""
        with np.errstate(all="ignore"):
            results = list(self.function(*self.arguments()))
        return results + [self.shared[v].get_value(borrow=True) for v in self.case.updates]

    def reset(self) -> None:
        """Shared variables have the values that they had."""
        for v, s in self.shared.items():
            s.set_value(self.case.given[v].copy())


# --- as Python ------------------------------------------------------------------------------------


def snippet(case: Case, comment: str = "", mode: str = "") -> str:
    """A program that shows the case."""
    names: dict[Any, str] = {}
    lines = [
        "import numpy as np",
        "import rewrite_engine as rw",
        "import rewrite_engine.tensor as pt",
    ]
    lines += [f"# {line}" for line in comment.splitlines()]
    more: list[str] = []
    for i, v in enumerate(case.inputs):
        names[v] = f"x{i}"
        more.append(
            f"x{i} = pt.tensor('x{i}', dtype={v.type.dtype!r}, shape={v.type.shape})"
            + ("  # a shared variable" if v in case.shared else "")
            + ("  # mutable" if v in case.mutable else "")
        )
    for node in case.nodes:
        more += _node_lines(node, names)
    body = "\n".join(more)
    if "Slice(" in body:
        lines.append("from rewrite_engine.tensor.index.template import Slice")
    outputs = ", ".join(_name(v, names) for v in case.results)
    values = ", ".join(_array(case.given[v]) for v in case.inputs)
    lines += more
    lines += [
        f"f = rw.function([{', '.join(names[v] for v in case.inputs)}], [{outputs}]{mode})",
        "g = rw.function(" + f"[{', '.join(names[v] for v in case.inputs)}], [{outputs}], "
        "mode=rw.Mode(optimizer=None))",
        f"given = [{values}]",
        "print(f(*given), g(*given))",
    ]
    return "\n".join(lines)


def _name(v: Variable, names: dict[Any, str]) -> str:
    if v in names:
        return names[v]
    assert isinstance(v, Constant)
    return f"pt.constant({_array(np.asarray(v.data))})"


def _array(a: np.ndarray) -> str:
    values = repr(a.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    if not a.size:
        return f"np.empty({a.shape}, {a.dtype.name!r})"
    return f"np.array({values}, {a.dtype.name!r})"


def _node_lines(node: Apply, names: dict[Any, str]) -> list[str]:
    operands = [_name(v, names) for v in node.inputs]
    call = f"{called(node.op)}({', '.join(operands)})"
    start = len(names)
    for k, out in enumerate(node.outputs):
        names[out] = f"v{start + k}"
    if len(node.outputs) == 1:
        return [f"v{start} = {call}  # {node.outputs[0].type}"]
    return [f"{', '.join(names[v] for v in node.outputs)} = {call}"]


def called(op: Any) -> str:
    """An op as Python."""
    kind = type(op).__name__
    if kind == "Elemwise" and not op.inplace_pattern:
        name = str(op.scalar_op)
        if name.startswith("Cast{"):
            return f"(lambda x: pt.cast(x, {name[5:-1]!r}))"
        return f"pt.{name}"
    if kind == "Dot":
        return "pt.dot"
    if kind == "Assume":
        facts = ", ".join([f"{f.name}={True if v is None else v!r}" for f, v in op.declared])
        return f"(lambda x: rw.assume(x, {facts}))"
    props = ", ".join([f"{p}={getattr(op, p)!r}" for p in op.__props__ or ()])
    home = "pt" if hasattr(rw.tensor, kind) else type(op).__module__
    return f"{home}.{kind}({props})"
