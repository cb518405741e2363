"""Small algebras, as spaces of an author's ops that no shipped rule knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.discover import Space, TermMaker, maker
from rewrite_engine.graph.op import Op
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.type import TensorType

COUNT = 64  # elements of a sample


def elementwise(name: str, compute: Callable[..., Any], nin: int) -> Any:
    """Return an op on elements, of which only its values are known."""

    def run(*arrays: Any, out: Any = None) -> Any:
        return compute(*map(np.asarray, arrays))

    def first(*dtypes: Any) -> Any:
        return dtypes[0]

    return Elemwise(ScalarOp(name, nin=nin, compute=run, dtypes=first))


def algebra(
    name: str,
    ops: Sequence[Any],
    draw: Callable[[np.random.Generator], Any],
    kind: Any,
    variables: str = "xyz",
    numbers: Sequence[Any] = (),
    elements: bool = True,
) -> Space:
    """Return a space of ops on variables of one type, whose values `draw` makes. elements: the ops
    work on elements.
    """
    leaves = [kind(v) for v in variables]

    def sample(seed: int, facts: Any) -> Any:
        rng = np.random.default_rng(seed)
        return {v: draw(rng) for v in leaves}

    makers = [op if isinstance(op, TermMaker) else maker(op, str(op)) for op in ops]
    return Space(name, makers, dict.fromkeys(leaves, ()), sample, numbers, pointwise=elements)


# --- permutations of five: a group --------------------------------------------------------------

PERMUTATIONS = np.array([*permutations(range(5))])
_code = {tuple(p): i for i, p in enumerate(PERMUTATIONS)}
PRODUCT = np.array([[_code[tuple(p[q])] for q in PERMUTATIONS] for p in PERMUTATIONS])
INVERSE = np.array([_code[tuple(np.argsort(p))] for p in PERMUTATIONS])

times = elementwise("times", lambda a, b: PRODUCT[a, b], 2)
inverse = elementwise("inverse", lambda a: INVERSE[a], 1)
GROUP = algebra(
    "group",
    [times, inverse],
    lambda rng: rng.integers(0, len(PERMUTATIONS), COUNT),
    pt.lvector,
    numbers=[pt.constant(0)],
)

# --- booleans -----------------------------------------------------------------------------------

both = elementwise("both", np.logical_and, 2)
either = elementwise("either", np.logical_or, 2)
opposite = elementwise("opposite", np.logical_not, 1)
BOOLEANS = algebra(
    "booleans",
    [both, either, opposite],
    lambda rng: rng.integers(0, 2, COUNT).astype(bool),
    TensorType("bool", (None,)),
    numbers=[pt.constant(False), pt.constant(True)],
)

# --- numbers by divisibility: a distributive lattice --------------------------------------------

meet = elementwise("meet", np.gcd, 2)
join = elementwise("join", np.lcm, 2)
LATTICE = algebra(
    "lattice",
    [meet, join],
    lambda rng: 2 ** rng.integers(0, 4, COUNT) * 3 ** rng.integers(0, 4, COUNT),
    pt.lvector,
)

# --- strings, as vectors of characters ----------------------------------------------------------


class Joined(Op):
    """Two strings, one after the other."""

    __props__ = ()
    itypes = (pt.lvector, pt.lvector)
    otypes = (pt.lvector,)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.concatenate(inputs)

    def __str__(self) -> str:
        return "joined"


class Backwards(Op):
    """A string from its end."""

    __props__ = ()
    itypes = otypes = (pt.lvector,)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0][::-1].copy()

    def __str__(self) -> str:
        return "backwards"


class Length(Op):
    """The number of characters."""

    __props__ = ()
    itypes = (pt.lvector,)
    otypes = (pt.lscalar,)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.array(len(inputs[0]))

    def __str__(self) -> str:
        return "length"


def sum_of_numbers(a: Any, b: Any) -> Any:
    if a.type.ndim or b.type.ndim:
        raise TypeError("no number")
    return a + b


joined, backwards, length = Joined(), Backwards(), Length()
STRINGS = algebra(
    "strings",
    [joined, backwards, length, TermMaker("plus", sum_of_numbers, 2, commutative=True)],
    lambda rng: rng.integers(97, 123, rng.integers(1, 9)),
    pt.lvector,
    elements=False,
)
