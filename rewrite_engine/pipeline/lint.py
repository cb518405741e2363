"""Remarks about rules that are probably mistakes, found without running them. They are raised as
warnings when a mode first uses the rules (`pipeline.with_phases`), and printed by `python -m
rewrite_engine.check`.

Checks that need samples or values are in `rewrite_engine/check/`.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from rewrite_engine.errors import did_you_mean
from rewrite_engine.match.query import ALWAYS
from rewrite_engine.match.rule import PAIRWISE, Rule
from rewrite_engine.match.ruleset import parts_of
from rewrite_engine.rewrite.step import RuleWarning

DECORATORS = ("rule", "equation", "node_rewriter", "relation")
ASSUMPTIONS = ("fastmath", "shape_unsafe")
#: tag of a rule that `check` tries without values, as a term does not show the valid ones
APART = "held_apart"
#: tags by which `gradient/stable.py` chooses rules
OF_GRADIENTS = ("before_gradients", "mends_gradients", "values_only")
TAGS = (APART, PAIRWISE, "reorder", *OF_GRADIENTS, *ASSUMPTIONS)


class Remark(NamedTuple):
    """A probable mistake in a rule. name: its kind. dead: whether the rule never fires."""

    subject: str
    where: tuple[str, int]
    name: str
    why: str
    fix: str = ""
    dead: bool = False


Tries = Mapping[str, tuple[type, ...]]


def warn_of(found: Iterable[Remark]) -> None:
    """Warn of remarks at the lines of their rules, each once."""
    for one in found:
        text = f"rule {one.subject}: {one.why}" + (f"; {one.fix}" if one.fix else "")
        warnings.warn_explicit(text, RuleWarning, *one.where)


def remarks(rules: Iterable[Rule], tries: Tries) -> Iterator[Remark]:
    """Yield the remarks on each rule. tries: the kinds of rules that each phase tries."""
    for rule in rules:
        yield from phase_remarks(rule, tries)
        yield from name_remarks(rule)


def phase_remarks(rule: Rule, tries: Tries) -> Iterator[Remark]:
    """Yield a remark if the rule's phase does not try such rules."""
    phase = rule.phase
    if phase is not None and phase in tries and not isinstance(rule, tries[phase]):
        why = f"the engine runs the phase {phase!r} itself, and tries no rules of packs"
        fix = 'use phase="canonicalize", "stabilize" or "specialize"'
        yield Remark(rule.name, rule.where, "phase", why, fix, dead=True)


def name_remarks(rule: Rule) -> Iterator[Remark]:
    """Yield a remark for an assumption, or a tag, that resembles a known one."""
    condition = rule.claim.condition
    if condition is not None and condition not in ASSUMPTIONS:
        hint = did_you_mean(condition, ASSUMPTIONS)
        if hint:
            why = f"no mode grants the assumption {condition!r}{hint}"
            yield Remark(rule.name, rule.where, "assumption", why, dead=False)
    for tag in sorted(rule.tags - ALWAYS - {rule.phase, condition}):
        hint = "" if tag in TAGS else did_you_mean(tag, TAGS)
        if hint:
            yield Remark(rule.name, rule.where, "tag", f"the tag {tag!r} is unknown{hint}")


def unreached(rules: Iterable[Rule]) -> Iterator[Remark]:
    """Yield a remark for each rule in the files of these rules that no rule set contains: rules in
    a list or class next to rules at top level, or made in a loop. (Files that define `RULES` choose
    their rules themselves.)
    """
    rules = list(rules)
    known = {r.where for r in [*rules, *parts_of(rules)]}
    for file in dict.fromkeys([r.where[0] for r in rules if "RULES" not in r.fn.__globals__]):
        pack = next(r.pack for r in rules if r.where[0] == file)
        for line, name, how in _find_definitions(file):
            where = (file, line)
            count = sum(r.where == where for r in rules)
            if where not in known and how != "in a loop":
                why = f"it is defined {how}, so that packs do not find it"
                fix = "define it at the top level, or list all rules in RULES"
            elif how == "in a loop" and count < 2:
                why = "it is defined in a loop under one name, so that at most the last one remains"
                fix = "use table(...), or a list RULES of rules with different names"
            else:
                continue
            yield Remark(f"{pack}/{name}", where, "unreached", why, fix, dead=True)


@lru_cache(maxsize=256)
def _parse(file: str, changed: int) -> ast.Module | None:
    try:
        with open(file, encoding="utf-8") as text:
            return ast.parse(text.read())
    except (OSError, SyntaxError):
        return None


def _find_definitions(file: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, name and place of the rules that a file defines."""
    try:
        tree = _parse(file, os.stat(file).st_mtime_ns)
    except OSError:  # of a console
        return
    todo: list[tuple[ast.AST, str]] = [] if tree is None else [(tree, "")]
    while todo:
        node, how = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef) and any(map(_makes_rule, child.decorator_list)):
                again = how or "under a name that is used again"
                yield child.decorator_list[0].lineno, child.name, again
            elif isinstance(child, ast.ClassDef):
                todo.append((child, "in a class"))
            elif isinstance(child, ast.For | ast.While):
                todo.append((child, "in a loop"))
            elif isinstance(child, ast.If | ast.With | ast.Try):
                todo.append((child, how))


def _makes_rule(decorator: ast.expr) -> bool:
    """Return whether a decorator makes a rule."""
    fn = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = fn.attr if isinstance(fn, ast.Attribute) else getattr(fn, "id", "")
    return name in DECORATORS
