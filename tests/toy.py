"""Toy types and ops: the layers `graph`, `terms`, `match` and `rewrite` are tested on these,
without tensors.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.type import Type


class Num(Type):
    """Python floats; `positive=True` is a subtype of `positive=False`."""

    __props__ = ("positive",)

    def __init__(self, positive: bool = False) -> None:
        self.positive = positive

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> float:
        if strict and not isinstance(value, float):
            raise TypeError(f"expected a float, not {value!r}")
        value = float(value)
        if self.positive and not value > 0:
            raise TypeError(f"{value!r} is not positive")
        return value

    def is_super(self, otype: Type) -> bool | None:
        if not isinstance(otype, Num):
            return None
        return not self.positive or otype.positive

    def in_same_class(self, otype: Type) -> bool | None:
        return isinstance(otype, Num)

    def values_eq_approx(self, a: Any, b: Any) -> bool:
        return math.isclose(a, b, rel_tol=1e-9) or (math.isnan(a) and math.isnan(b))

    def __str__(self) -> str:
        return "Pos" if self.positive else "Num"


class Rough(Num):
    """Numbers whose sums depend on how they are grouped, as those of floats do."""

    __props__ = ()
    regroups_exactly = False

    def is_super(self, otype: Type) -> bool | None:
        return isinstance(otype, Rough)

    def __str__(self) -> str:
        return "Rough"


num, pos, rough = Num(), Num(positive=True), Rough()


def const(value: float) -> Constant:
    """A constant number."""
    return pos.make_constant(value) if value > 0 else num.make_constant(value)


class ToyOp(Op):
    """An op on numbers, known by its name: `ToyOp("sin", 1)`."""

    __props__ = ("name", "nin", "associative", "commutative")
    nout = 1

    def __init__(
        self,
        name: str,
        nin: int | None,
        fn: Any = None,
        *,
        associative: bool = False,
        commutative: bool = False,
    ) -> None:
        self.name = name
        self.nin = nin
        self.fn = fn
        self.associative = associative
        self.commutative = commutative

    def convert_input(self, x: Any) -> Variable:
        if isinstance(x, Variable):
            return x
        return const(x)

    def infer_types(self, types: tuple[Any, ...]) -> tuple[Type]:
        if self.nin is not None and len(types) != self.nin:
            raise TypeError(f"{self} takes {self.nin} inputs, not {len(types)}")
        if types and all(t is rough for t in types):
            return (rough,)
        keeps = self.name in ("add", "mul") and all(t is pos for t in types)
        return (pos if keeps or self.name == "exp" else num,)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = self.fn(*inputs)

    def __str__(self) -> str:
        return self.name


def _add(*xs: float) -> float:
    return math.fsum(xs)


def _join(*xs: float) -> float:
    return max(xs)


def _mul(*xs: float) -> float:
    return math.prod(xs)


sin = ToyOp("sin", 1, math.sin)
log = ToyOp("log", 1, math.log)
exp = ToyOp("exp", 1, math.exp)
neg = ToyOp("neg", 1, operator.neg)
sub = ToyOp("sub", 2, operator.sub)
add = ToyOp("add", None, _add, associative=True, commutative=True)
mul = ToyOp("mul", None, _mul, associative=True, commutative=True)
join = ToyOp("join", None, _join)


class Scale(Op):
    """A parameterised op: `Scale(by=2.0)(x)`."""

    __props__ = ("by",)
    itypes = (num,)
    otypes = (num,)

    def __init__(self, by: float) -> None:
        self.by = by

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = self.by * inputs[0]


class DivMod(Op):
    """Two outputs."""

    __props__ = ()
    itypes = (num, num)
    otypes = (num, num)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0], output_storage[1][0] = divmod(*inputs)


class Overwrite(Op):
    """Overwrites its first input."""

    __props__ = ()
    destroy_map = {0: [0]}

    def infer_types(self, types: tuple[Any, ...]) -> tuple[Type]:
        return (num,)


class View(Op):
    """Returns its input itself."""

    __props__ = ()
    view_map = {0: [0]}
    itypes = (num,)
    otypes = (num,)


divmod_, overwrite, view = DivMod(), Overwrite(), View()
