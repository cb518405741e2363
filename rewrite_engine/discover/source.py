"""Found rules as the source of a pack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine import hooks
from rewrite_engine.discover.choose import FoundRule, Proposal
from rewrite_engine.graph.node import CONSTANT, Variable
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.match.claim import Claim
from rewrite_engine.match.pattern import holes
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.suggest import SourceWriter

HEAD = '''"""Rules that were found: true at samples. A person has to say why each is wanted."""

import rewrite_engine.tensor as pt
from rewrite_engine.language import *
'''


def term_source(term: Variable) -> str:
    """Return the source of a term, in terms of its variables; a formula, if a part has none."""
    try:
        return written(term)
    except ValueError:
        return hooks.short(term)  # type: ignore[no-any-return]


def written(term: Variable) -> str:
    """Return the source of a term. Raises `ValueError` for a part without a name."""
    leaves = {v: str(v.name) for v in explicit_graph_inputs([term])}
    return SourceWriter({"pt": pt}, leaves).source(term)


def rule_source(one: FoundRule) -> str:
    """Return the source of a rule; a comment, if a part of it has none."""
    proposal, rule = one.proposal, one.rule
    try:
        left, right = written(proposal.left.variable), right_source(proposal)
    except ValueError as error:
        return f"\n# {rule.text}: no source, as {' '.join(str(error).split())}\n"
    sorts = ", ".join([f"{v.name}: {sort_name(rule, v)}" for v in proposal.left.leaves])
    given = f", given({', '.join(one.conditions)})" if one.conditions else ""
    gain = (
        f"It is right at {proposal.mended} more of the far points."
        if proposal.mended
        else f"It takes {proposal.saving:.3g} times less work."
    )
    return f'''
@rule(phase="{rule.phase}", claim={claim_source(rule.claim)})
def {rule.short_name}({sorts}):
    """{gain}"""
    return {left} >> {right}{given}
'''


def right_source(proposal: Proposal) -> str:
    """Return the right side as it is written: a number in the shape of a variable."""
    right = proposal.sides[1]
    if proposal.right.variable.head is CONSTANT and right.owner is not None:
        shape, number = right.owner.inputs
        return f"pt.second({shape.name}, {number.data.item()!r})"  # type: ignore[attr-defined]
    return written(right)


def claim_source(claim: Claim) -> str:
    """Return a claim as it is written."""
    if claim.condition is not None:
        then = "" if claim.then is None else f", then={claim_source(claim.then)}"
        return f'assumes("{claim.condition}"{then})'
    return str(claim)


def sort_name(rule: DataRule, v: Any) -> str:
    """Return the sort of a variable of a rule as it is written."""
    name = str(holes(rule.left)[str(v.name)].sort)
    if name.isidentifier():
        return name
    if name.startswith("TensorType"):  # an op takes no other dtype
        return f'pt.TensorType("{v.type.dtype}", {v.type.shape})'
    return {0: "Scalar", 1: "Vector", 2: "Matrix"}[v.type.ndim]


def pack_source(found: Sequence[FoundRule]) -> str:
    """Return the source of a pack with these rules."""
    facts = sorted({f.name for one in found for some in one.guards.values() for f in some})
    imported = f"from rewrite_engine.facts import {', '.join(facts)}\n" if facts else ""
    return "\n".join([HEAD + imported, *[rule_source(one) for one in found]])
