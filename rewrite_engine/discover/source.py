"""Found rules as the source of a pack."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from tempfile import NamedTemporaryFile
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine import hooks
from rewrite_engine.discover.choose import AT_ALL, FoundRule, Proposal
from rewrite_engine.discover.grow import EnumeratedTerm
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.match.claim import Claim
from rewrite_engine.match.pattern import holes
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.suggest import SourceWriter
from rewrite_engine.pipeline.packs import load_rules

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


def text_of(term: EnumeratedTerm) -> str:
    """Return an enumerated term as a person writes it; its ops, if that is unknown."""
    return term.text or term_source(term.variable)


def written(term: Variable) -> str:
    """Return the source of a term. Raises `ValueError` for a part without a name."""
    leaves = {v: str(v.name) for v in explicit_graph_inputs([term])}
    return SourceWriter({"pt": pt}, leaves).source(term)


def rule_source(one: FoundRule) -> str:
    """Return the source of a rule, as a person writes it, or by its ops; a comment, if a part of it
    has none.
    """
    sides = one.proposal.left, one.proposal.right
    if all([t.text for t in sides]):
        source = source_with(one, *[t.text for t in sides])
        if is_valid(source):
            return source
    try:
        return source_with(one, *[written(t.variable) for t in sides])
    except ValueError as error:
        return f"\n# {one.rule.text}: no source, as {' '.join(str(error).split())}\n"


def is_valid(source: str) -> bool:
    """Whether the source of a rule, with guards about all shipped facts, is that of a rule."""
    with NamedTemporaryFile("w", suffix=".py") as file, suppress(RewriteEngineError):
        file.write(HEAD + "from rewrite_engine.facts import *\n" + source)
        file.flush()
        return len(load_rules(file.name)) == 1
    return False


def source_with(one: FoundRule, left: str, right: str) -> str:
    """Return the source of a rule from that of its sides."""
    proposal, rule = one.proposal, one.rule
    sorts = ", ".join([f"{v.name}: {sort_name(rule, v)}" for v in proposal.left.leaves])
    given = f", given({', '.join(one.conditions)})" if one.conditions else ""
    gain = gain_of(proposal)
    return f'''
@rule(phase="{rule.phase}", claim={claim_source(rule.claim)})
def {rule.short_name}({sorts}):
    """It is {gain}."""
    return {left} >> {right}{given}
'''


def gain_of(proposal: Proposal) -> str:
    """Return what the right side of a proposal is better in."""
    if proposal.mended:
        return f"right at {proposal.mended} more of the far points"
    if proposal.saving > AT_ALL:
        return f"{proposal.saving:.3g} times cheaper"
    return "as cheap, with fewer ops"


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
