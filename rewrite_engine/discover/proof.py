"""Terms that let `equal` prove more laws: on numbers instead of arrays, and larger ones to go
through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.graph.node import CONSTANT, Apply, Constant, Variable
from rewrite_engine.graph.replace import rebuilt
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.match.build import build
from rewrite_engine.match.pattern import OpNode, holes
from rewrite_engine.tensor import DimShuffle

DETOURS = 500  # terms, at most


def detours(terms: Sequence[Variable], rules: Sequence[Any]) -> Iterator[Variable]:
    """Yield left sides of rules that lose an op and all variables but one, or all, on parts of
    terms: a proof may have to go there and back.
    """
    parts = [v for v in ancestors(terms) if v.type == terms[0].type]
    found = 0
    for rule in rules:
        names = holes(rule.left)
        if isinstance(rule.right, OpNode) or rule.right is None:
            continue
        for values in product(parts, repeat=len(names)):
            if (found := found + 1) > DETOURS:
                return
            with suppress(TypeError, ValueError):
                made = build(rule.left, dict(zip(names, values, strict=True)))
                if isinstance(made, Variable):
                    yield made


def on_numbers(terms: Sequence[Variable], numbers: Mapping[Variable, Variable]) -> list[Variable]:
    """Return elementwise terms on numbers instead of arrays."""
    pairs = dict(numbers)
    for v in ancestors(terms):
        if isinstance(v, Constant) and v.type.ndim and v.data.size == 1:
            pairs[v] = pt.constant(v.data.reshape(()))
        elif v.owner is not None and v.owner.inputs[0].head is CONSTANT and _only_moves(v.owner):
            pairs[v] = v.owner.inputs[0]
    return rebuilt(terms, pairs, strict=False)


def _only_moves(node: Apply) -> bool:
    """Whether a node only gives its operand other dimensions."""
    return isinstance(node.op, DimShuffle) and node.inputs[0].type.ndim == 0
