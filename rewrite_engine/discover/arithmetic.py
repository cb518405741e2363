"""Terms as rational functions of their parts: `1 - (exp(x) - y)` is a sum of `exp(x)` and `y`,
whatever these are. Sums and products in other spellings are one term here, so that a rule is not
found again in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any
from zlib import crc32

import numpy as np

from rewrite_engine.discover.grow import PlainRunner, rounded
from rewrite_engine.discover.space import Space
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.replace import rebuilt
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.values import NoValue, TermValues

#: ops of rational functions, by the names of their scalar ops
ARITHMETIC = frozenset({"add", "sub", "mul", "true_div", "neg", "reciprocal", "sqr"})
BITS = 24  # of values by which parts are told apart
RTOL = 1e-9


class Arithmetic:
    """Values of terms where each part that is no sum, product or quotient has random elements: the
    same for parts of the same function of the same operands.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.given = space.draw(0, space.variables)

    def value(self, term: Variable) -> Any:
        """Return the value of a term of floats; None for others, and if a part has none."""
        if getattr(term.type, "kind", "") != "f":
            return None
        true = TermValues(PlainRunner(), dict(self.given))
        found: dict[Variable, Any] = {}
        try:
            for node in toposort([term]):
                given = [self.operand(v, found, true) for v in node.inputs]
                if str(getattr(node.op, "scalar_op", "")) in ARITHMETIC:
                    found[node.outputs[0]] = PlainRunner().run(node, given)[0]
                    continue
                key = b"".join([repr(node.op).encode(), *[_bytes(a) for a in given]])
                for i, v in enumerate(node.outputs):
                    found[v] = random_like(true.value(v), key + bytes([i]))
            return self.operand(term, found, true)
        except NoValue:
            return None

    def operand(self, v: Variable, found: dict[Variable, Any], true: TermValues) -> Any:
        """Return the value of an operand: of a variable, random elements by its name."""
        if isinstance(v, Constant):
            return v.data
        return found[v] if v in found else random_like(true.value(v), str(v.name).encode())

    def renamed(self, term: Variable) -> Iterator[Variable]:
        """Yield a term with its variables renamed in all ways that keep their kinds."""
        kinds = self.space.kinds()
        for orders in product(*map(permutations, kinds)):
            pairs = {
                old: new
                for same, order in zip(kinds, orders, strict=True)
                for old, new in zip(same, order, strict=True)
                if old is not new
            }
            yield rebuilt([term], pairs, True)[0] if pairs else term


def random_like(value: Any, key: bytes) -> Any:
    """Return random numbers in the shape of a value, by a key; values that are no floats stay."""
    a = np.asarray(value)
    return np.random.default_rng(crc32(key)).uniform(1, 2, a.shape) if a.dtype.kind == "f" else a


def _bytes(a: Any) -> bytes:
    a = np.asarray(a)
    return b"".join(rounded(a, BITS)) if a.dtype.kind == "f" else a.tobytes()


def agree(a: Any, b: Any) -> bool:
    """Whether two values are one."""
    if a is None or b is None or np.shape(a) != np.shape(b):
        return False
    return bool(np.allclose(a, b, rtol=RTOL, equal_nan=True))
