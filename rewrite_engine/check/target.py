"""Targets of a check: the rules, facts and ops of a pack, a rule file, a distribution or a module,
or single ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from rewrite_engine import facts, tensor
from rewrite_engine.errors import PackError, UnknownNameError, did_you_mean
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.op import Op
from rewrite_engine.match.fact import Fact
from rewrite_engine.match.mistakes import collecting_errors
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.packs import installed, load_file
from rewrite_engine.pipeline.phases import (
    EQUATIONS,
    LOWERING,
    ON_DEMAND,
    PACKS,
    PHASES,
    STATIC,
    known_rules,
)
from rewrite_engine.scalar import ops
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.op import TensorOp

Names = dict[str, Any]
_EVERY = (*PACKS, *EQUATIONS, *STATIC, *LOWERING, *ON_DEMAND)
SHIPPED = {pack.rpartition(".")[2]: pack for pack in _EVERY}


def usable(rules: Iterable[Rule], including: Iterable[Any] = ()) -> RuleSet:
    """Return the rules that the pipeline uses when a query includes some names."""
    asked = [p.name for p in PHASES if p.on_request and p.name not in {*including}]
    return RuleSet([r for r in rules if r.phase not in asked])


@dataclass(frozen=True)
class Target:
    """Rules, facts and ops that are checked together. spaces: the names of the modules where they
    are from; whole: they are all that there is in these.
    """

    name: str
    rules: tuple[Rule, ...] = ()
    facts: tuple[Fact, ...] = ()
    ops: tuple[Any, ...] = ()
    spaces: tuple[Names, ...] = ()
    whole: bool = False

    @cached_property
    def added(self) -> RuleSet:
        """Return the rules with a phase that the default pipeline does not have."""
        known = known_rules(Query().including(*[p.name for p in PHASES if p.on_request]))
        return RuleSet([r for r in self.rules if r.phase is not None and r not in known])

    @property
    def subjects(self) -> int:
        """Return the number of rules, facts and ops."""
        return len(self.rules) + len(self.facts) + len(self.ops)


def target_of(what: Any = None) -> Target:
    """Return the target for a name, a path, a module, a rule, a fact, an op, or several of these;
    None: all shipped packs. Raises `UnknownNameError`, and what loading raises.
    """
    if what is None:
        return _joined("all packs", [_of_module(import_module(p)) for p in SHIPPED.values()])
    if isinstance(what, Target):
        return what
    if isinstance(what, ModuleType):
        return _of_module(what)
    if isinstance(what, str | Path):
        return _named(str(what))
    if isinstance(what, Rule):
        return Target(what.name, (what,))
    if isinstance(what, Fact):
        return Target(what.name, facts=(what,))
    if isinstance(what, Op) or (isinstance(what, type) and issubclass(what, Op)):
        return Target(str(getattr(what, "__name__", what)), ops=(what,))
    if isinstance(what, RuleSet):
        return _of_rules(repr(what), what)
    if isinstance(what, Iterable):
        return _joined("several", [target_of(one) for one in what])
    raise TypeError(f"rules, facts, ops, a file, a pack or a distribution, not {what!r}")


def _joined(name: str, parts: Sequence[Target]) -> Target:
    def once(field: str) -> tuple[Any, ...]:
        return tuple(dict.fromkeys([x for part in parts for x in getattr(part, field)]))

    whole = all([part.whole for part in parts])
    spaces = tuple([names for part in parts for names in part.spaces])
    return Target(name, once("rules"), once("facts"), once("ops"), spaces, whole)


def _named(name: str) -> Target:
    if name.endswith(".py"):
        return _of_file(name)
    if name == "ops":
        return Target("ops", ops=shipped_ops())
    if name in SHIPPED or name in SHIPPED.values():
        return _of_module(import_module(SHIPPED.get(name, name)))
    packs = [pack for pack in installed() if name in pack.names]
    if packs:
        return _joined(name, [_of_rules(p.name, p.load(), beside=True) for p in packs])
    try:
        there = find_spec(name) is not None
    except (ImportError, ValueError):
        there = False
    if there:
        with collecting_errors():
            module = import_module(name)
        return _of_module(module)
    known = [*SHIPPED, *(n for pack in installed() for n in pack.names)]
    hint = did_you_mean(name, known)
    raise UnknownNameError(f"no pack, file, distribution or module is called {name!r}{hint}")


def shipped_ops() -> tuple[Any, ...]:
    """Return the library's elementwise functions, and its classes of ops on arrays with samples."""
    for home in (tensor, tensor.linalg):  # families are loaded by their names
        for name in dir(home):
            getattr(home, name)
    scalar = [op for op in vars(ops).values() if isinstance(op, ScalarOp)]
    below, todo = [TensorOp], [TensorOp]
    while todo:
        new = todo.pop().__subclasses__()
        below += new
        todo += new
    ours = [c for c in dict.fromkeys(below) if c.__module__.startswith("rewrite_engine.tensor.")]
    ours = [c for c in ours if c.samples and c.__name__[0] != "_"]
    return (*scalar, *[c for c in ours if c.perform is not Op.perform])


def _of_file(name: str) -> Target:
    """The rules, facts and ops of a rule file. Raises `PackError` where there are none."""
    module, rules = load_file(name)
    twins = {_place(rule): rule for rule in _of_packs()}
    own = [twins.get(_place(rule), rule) for rule in rules]
    target = _of_rules(name, own, beside=True, spaces=[vars(module)])
    if not target.subjects:
        what = f"the rule file {name} defines no rules, facts or ops"
        raise PackError(f"{what} (imported rules do not count)")
    return target


def _of_packs() -> Iterator[Rule]:
    """Yield the rules of installed packs: of a file that is one of them, the pipeline has those."""
    for pack in installed():
        try:
            yield from pack.load()
        except PackError:  # raised when the pack is used
            continue


def _place(rule: Rule) -> tuple[str, int, str]:
    file, line = rule.where
    return os.path.realpath(file), line, rule.short_name


def _of_module(module: ModuleType) -> Target:
    rules = tuple(RuleSet.of(module))
    if "RULES" in vars(module):
        rules = tuple(dict.fromkeys([*rules, *RuleSet(vars(module)["RULES"])]))
    names = vars(module)
    return Target(module.__name__, rules, *_beside(names), (names,), True)


def _of_rules(
    name: str, rules: Iterable[Rule], beside: bool = False, spaces: Iterable[Names] = ()
) -> Target:
    """Rules; beside: with the facts and ops of their modules. spaces: more modules."""
    rules = tuple(rules)
    every = [*spaces, *[r.fn.__globals__ for r in rules if beside]]
    known = {id(names): names for names in every}
    found = [_beside(names) for names in known.values()]
    more = [tuple(dict.fromkeys([x for pair in found for x in pair[i]])) for i in (0, 1)]
    return Target(name, rules, more[0], more[1], tuple(known.values()), beside)


def _beside(names: Names) -> tuple[tuple[Fact, ...], tuple[Any, ...]]:
    """The facts of a module, shipped ones to which it adds cases among them, and its ops."""
    own = [x for x in names.values() if isinstance(x, Fact) and is_of(x.fn, [names])]
    extended = [f for f in vars(facts).values() if isinstance(f, Fact) and _has_case(names, f)]
    return tuple(dict.fromkeys([*own, *extended])), tuple(dict.fromkeys(_ops_of(names)))


def _has_case(names: Names, fact: Fact) -> bool:
    return any(is_of(case, [names]) for cases in fact.cases.values() for case in cases)


def is_of(fn: Any, spaces: Iterable[Names]) -> bool:
    """Whether a function is written in one of some modules."""
    return any(getattr(fn, "__globals__", None) is names for names in spaces)


def _ops_of(names: Names) -> Iterator[Any]:
    """The ops, and classes of ops, that a module defines."""
    module = names.get("__name__")
    for value in names.values():
        if isinstance(value, type) and issubclass(value, Op):
            if value.__module__ == module and value.perform is not Op.perform:
                yield value
        elif isinstance(value, Op):
            compute = getattr(getattr(value, "scalar_op", None), "compute", None)
            if type(value).__module__ == module or is_of(compute, [names]):
                yield value
