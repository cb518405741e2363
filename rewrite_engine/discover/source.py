"""Found rules as source."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from tempfile import NamedTemporaryFile
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine import hooks
from rewrite_engine.discover.choose import FoundRule
from rewrite_engine.discover.gain import LEAST_TIMES, Gain, times_text
from rewrite_engine.discover.grow import EnumeratedTerm
from rewrite_engine.discover.propose import Proposal
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.node import CONSTANT, Variable
from rewrite_engine.graph.traverse import explicit_graph_inputs, toposort
from rewrite_engine.match.claim import Claim
from rewrite_engine.match.pattern import holes
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.suggest import SourceWriter
from rewrite_engine.pipeline.packs import load_rules

LIBRARY = __name__.partition(".")[0]
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


def text_of(term: EnumeratedTerm) -> str:
    """Return an enumerated term as a person writes it; its ops, if that is unknown."""
    return term.text or term_source(term.variable)


def conditions_of(one: FoundRule) -> list[str]:
    """Return guards as they are written."""
    found = [f"{fact.name}({v})" for v, facts in one.guards.items() for fact in facts]
    names = ", ".join([str(v.name) for v in one.proposal.left.leaves])
    return [*found, f"same_dtype({names})"] if one.one_dtype else found


def facts_of(one: FoundRule) -> list[str]:
    """Return the names of the facts in the guards."""
    found = {fact.name for facts in one.guards.values() for fact in facts}
    return sorted(found | {"same_dtype"} if one.one_dtype else found)


def rule_source(one: FoundRule, gain: Gain) -> str:
    """Return the source of a rule, as a person writes it, or by its ops; a comment, if a part of it
    has none.
    """
    proposal = one.proposal
    if proposal.left.text and proposal.right.text and proposal.right.leaves:
        source = source_with(one, gain, proposal.left.text, proposal.right.text)
        if is_valid(source):
            return source
    try:
        return source_with(one, gain, written(proposal.left.variable), right_source(proposal))
    except ValueError as error:
        return f"# {one.rule.text}: no source, as {' '.join(str(error).split())}\n"


def is_valid(source: str) -> bool:
    """Whether a source is that of a rule, with all shipped facts."""
    with NamedTemporaryFile("w", suffix=".py") as file, suppress(RewriteEngineError):
        file.write(HEAD + "from rewrite_engine.facts import *\n" + source)
        file.flush()
        return len(load_rules(file.name)) == 1
    return False


def source_with(one: FoundRule, gain: Gain, left: str, right: str) -> str:
    """Return the source of a rule from that of its sides."""
    proposal, rule = one.proposal, one.rule
    sorts = ", ".join([f"{v.name}: {sort_name(rule, v)}" for v in proposal.left.leaves])
    conditions = conditions_of(one)
    given = f", given({', '.join(conditions)})" if conditions else ""
    claim = claim_source(rule.claim)
    head = f'@rule(phase="{rule.phase}", claim={claim})'
    sides = f"{left} >> {right}"
    if one.is_equation:
        head, sides = f"@equation(claim={claim})", f"{left}, {right}"
    return f'''{head}
def {rule.short_name}({sorts}):
    """{reason(gain)}"""
    return {sides}{given}
'''


def reason(gain: Gain) -> str:
    """Return what a rule gains as the docstring of its source."""
    found = list[str]()
    if gain.digits is not None:
        found.append(f"At {gain.example}.")
    if gain.times > LEAST_TIMES:
        found.append(f"It takes {times_text(gain.times)} times less work.")
    least = "It has fewer ops." if gain.price[1] < gain.price[0] else "Both sides are as good."
    return "\n    ".join(found) or least


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


def imports_of(proposal: Proposal) -> list[str]:
    """Return the lines that import the classes of an author's ops."""
    classes = {type(node.op) for node in toposort(proposal.sides)}
    own = [c for c in classes if c.__module__.partition(".")[0] != LIBRARY]
    return sorted([f"from {c.__module__} import {c.__name__}" for c in own])


def pack_source(sources: Iterable[str], facts: Iterable[str], imports: Iterable[str] = ()) -> str:
    """Return the source of a pack. facts: names that it imports. imports: other lines that do."""
    names = sorted({*facts})
    lines = [f"from rewrite_engine.facts import {', '.join(names)}\n"] if names else []
    lines += [f"{line}\n" for line in sorted({*imports})]
    return "\n\n".join([HEAD + "".join(lines), *sources])
