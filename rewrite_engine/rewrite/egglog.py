"""The backend `egglog`: the package of that name explores, this package chooses and explains.

Terms go over as text, one constructor for each op and kinds of operands (a kind is a type of which
only what never changes between equal terms is kept: dtype, rank, dimensions of length 1). Each
equation goes over once for every way in which the kinds fit, with its sorts and guards asked of
variables of these kinds. The two engines take turns until neither finds anything. What egglog
cannot match is matched here, and what comes of it goes over: sums and products of more operands
than a pattern names (a rewrite for every choice of them would make n² of n operands), equations
with rests, defaults or numbers, and guards that need more than kinds to hold. egglog does not say
how it came to what it found: where steps are needed, the equations are matched again, only at the
classes on the way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import permutations
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

from rewrite_engine.errors import MissingExtraError
from rewrite_engine.match.ac import Plan, is_ac, plan
from rewrite_engine.match.build import ask
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, subpatterns
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.cost import CostModel
from rewrite_engine.rewrite.egraph import TOLD, EGraph
from rewrite_engine.rewrite.ematch import Bound, bind_parameters
from rewrite_engine.rewrite.explore import Explorer, Full, Limits
from rewrite_engine.rewrite.extract import Choice, Extractor
from rewrite_engine.rewrite.result import StopReason

CHUNK = 20  # commands sent at a time: the parser takes quadratic time
PROBLEMS = (TypeError, ValueError)


class Bit(NamedTuple):
    """A part of a rewrite: its text, and the kind of term it stands for."""

    text: str
    kind: Any

    def sample(self) -> Any:
        """A variable of that kind."""
        return self.kind()


class Signature(NamedTuple):
    """An op on operands of some kinds: a constructor."""

    name: str
    op: Any
    kinds: tuple[Any, ...]
    out: Any


def load() -> Any:
    """The backend. Raises `MissingExtraError` if the package is not installed."""
    try:
        from egglog import bindings
    except ImportError as error:
        raise MissingExtraError(
            "the backend egglog needs the package egglog: pip install 'rewrite-engine[egraph]'"
            ' (or use the backend "native", which needs nothing)'
        ) from error

    def explore(
        egraph: EGraph,
        rules: Sequence[DataRule],
        limits: Limits,
        cost: CostModel,
        roots: Sequence[int],
        original: int,
    ) -> tuple[StopReason, Choice | None]:
        stopped = Session(bindings.EGraph(), egraph, rules, limits).explore()
        if not egraph.links and len(egraph) == original:
            return stopped, None
        wanted = [egraph.find(t) for t in roots]
        return stopped, Extractor(egraph, cost).choose(wanted, original, limits.until)

    return explore


class Session:
    """One region in egglog."""

    def __init__(
        self, engine: Any, egraph: EGraph, rules: Sequence[DataRule], limits: Limits
    ) -> None:
        self.engine = engine
        self.egraph = egraph
        self.rules = rules
        self.limits = limits
        self.explorer = Explorer(egraph, rules, limits)
        self.signatures: dict[Any, Signature] = {}
        self.program = ["(sort T)", "(constructor term (i64) T)"]
        self.known: set[str] = set()
        self.sent = self.told = 0  # how many terms and links went over
        self.widest: dict[Any, int] = {}  # op -> the most operands that a term of it has
        self._widen()
        #: rules that do not go over at all: they are matched here, which notes the reasons
        self.alone = {n for n, rule in enumerate(rules) if not _goes_over(rule) or self._wide(n)}
        self.undecided: set[int] = set()  # those with guards that need more than kinds
        self.explorer.active = set(self.alone)

    def run(self, text: str) -> Any:
        """Run a program in egglog."""
        return self.engine.run_program(*self.engine.parse_program(text))

    # --- there -----------------------------------------------------------------------------------

    def explore(self) -> StopReason:
        """Saturate, in turns."""
        egraph, explorer = self.egraph, self.explorer
        if len(self.alone) == len(self.rules):
            return explorer.run()
        stopped = StopReason.BUDGET
        egraph.rebuild()
        while True:
            self._send()
            there = self._saturate()
            if not self._take_back() or not there:
                break
            self._share()
            before = len(egraph), len(egraph.links)
            if not explorer.round():
                break
            if before == (len(egraph), len(egraph.links)) and not egraph.touched:
                stopped = explorer.verdict
                break
        self._explain()
        return stopped

    def _explain(self) -> None:
        """Let reasons be looked for where egglog told us of unions."""
        explorer = Explorer(self.egraph, self.rules, Limits(sys.maxsize, inf))
        explorer.active -= self.alone
        self.egraph.links_of = explorer.links_of

    def _widen(self) -> None:
        """Note how many operands the ops have, those of nests together."""
        egraph = self.egraph
        width: list[int] = []
        for t, op in enumerate(egraph.op):
            inner = [width[k] if egraph.op[k] is op else 1 for k in egraph.kids[t]]
            width.append(sum(inner))
            if width[t] > self.widest.get(op, 0):
                self.widest[op] = width[t]

    def _wide(self, n: int) -> bool:
        """Whether there are sums of more operands than a rule names."""
        sums = self.explorer.sides[n].sums
        return any(self.widest.get(p.op, 0) > len(p.args) for p in sums)

    def _send(self) -> None:
        """Send what is new over: terms, what is equal, and rewrites for new kinds."""
        egraph = self.egraph
        terms = []
        for t in range(self.sent, len(egraph)):
            op, kids = egraph.op[t], egraph.kids[t]
            if op is None:
                continue
            self.widest[op] = max(len(kids), self.widest.get(op, 0))
            kinds = tuple([kind_of(egraph.var[k]) for k in kids])
            name = self.signature(op, kinds, kind_of(egraph.var[t])).name
            operands = " ".join([f"(term {k})" for k in kids])
            terms.append(f"(union (term {t}) ({name} {operands}))")
        terms += [f"(union (term {s}) (term {t}))" for s, t, _ in egraph.links[self.told :]]
        self.sent, self.told = len(egraph), len(egraph.links)
        before = -1
        while before != len(self.signatures) < 1_000:  # right sides bring new kinds
            before = len(self.signatures)
            for n, rule in enumerate(self.rules):
                if n not in self.alone:
                    self.program += self.instances(n, rule)
        commands, self.program = self.program + terms, []
        for i in range(0, len(commands), CHUNK):
            self.run("\n".join(commands[i : i + CHUNK]))

    def _saturate(self) -> bool:
        """Let egglog run; False if a limit was reached."""
        while perf_counter() < self.limits.until:
            if not self.run("(run 1)")[0].report.updated:
                return True
            functions = self.engine.freeze().functions
            if sum(len(f.rows) for n, f in functions.items() if n != "term") > self.limits.terms:
                return False
        return False

    def _share(self) -> None:
        """Say which rules are matched here in the next round: those that do not go over, and those
        for which there are wider terms than their patterns are. A rule that is new among them looks
        at everything."""
        wide = {n for n in range(len(self.rules)) if self._wide(n)}
        active = self.alone | self.undecided | wide
        if active - self.explorer.active:
            self.egraph.touched = dict.fromkeys(self.egraph.classes())
        self.explorer.active = active

    def signature(self, op: Any, kinds: tuple[Any, ...], out: Any) -> Signature:
        """The constructor of an op on kinds."""
        found = self.signatures.get((op, kinds))
        if found is None:
            found = Signature(f"op{len(self.signatures)}", op, kinds, out)  # (f64 is a sort)
            self.signatures[op, kinds] = found
            self.program.append(f"(constructor {found.name} ({' '.join('T' for _ in kinds)}) T)")
        return found

    def instances(self, n: int, rule: DataRule) -> Iterator[str]:
        """An equation's rewrites for all kinds that fit, those that are not known yet."""
        plans = {p: plan(p, rule.left) for p, _ in subpatterns(rule.left) if is_ac(p)}
        for left, out, bound in self.left(rule.left, None, {}, plans):
            if not self.holds(rule, bound):
                self.undecided.add(n)
                continue
            try:
                right = self.right(rule.right, bound)
            except PROBLEMS:
                continue
            text = f"(rewrite {left} {right.text})"
            if right.kind is out and text not in self.known:
                self.known.add(text)
                yield text

    def holds(self, rule: DataRule, bound: Bound) -> bool:
        """Whether the guards of a rule hold for all terms of some kinds."""
        samples = {n: v.sample() if isinstance(v, Bit) else v for n, v in bound.items()}
        try:
            return all(ask(guard, samples) for guard in rule.guards)
        except Exception:  # of something that kinds do not have: where there are terms, it is told
            return False

    def left(
        self, p: Any, want: Any, bound: Bound, plans: dict[OpNode, Plan]
    ) -> Iterator[tuple[str, Any, Bound]]:
        """The ways to give kinds to a pattern of which the whole has the kind `want` (None: any):
        its text, its kind, and what its variables stand for."""
        if isinstance(p, Hole):
            if p.name in bound:
                fits = bound[p.name].kind is want
            else:
                fits = bool(p.sort(want()))
            if fits:
                yield f"v_{p.name}", want, bound | {p.name: Bit(f"v_{p.name}", want)}
            return
        for s in list(self.signatures.values()):
            if not p.fits(s.op) or want not in (None, s.out):
                continue
            inner = bind_parameters(p, s.op, bound)
            if inner is None or len(s.kinds) != len(p.args):
                continue
            order = self.in_any_order if p in plans else self.in_order
            for texts, found in order(p, s, inner, plans):
                yield f"({s.name} {' '.join(texts)})", s.out, found

    def in_order(
        self, p: OpNode, s: Signature, bound: Bound, plans: dict[OpNode, Plan]
    ) -> Iterator[tuple[list[str], Bound]]:
        """The ways to give kinds to the operands of an op, each at its place."""
        for args in (p.args, p.args[::-1]) if p.swaps else (p.args,):
            yield from self.operands(args, s.kinds, bound, plans)

    def in_any_order(
        self, p: OpNode, s: Signature, bound: Bound, plans: dict[OpNode, Plan]
    ) -> Iterator[tuple[list[str], Bound]]:
        """The same for the operands of an AC op, in all their orders."""
        taking = plans[p]
        args = (*taking.fixed, *([taking.collector] if taking.collector else []))
        for places in permutations(range(len(args))):
            kinds = [s.kinds[i] for i in places]
            for texts, found in self.operands(args, kinds, bound, plans):
                at = dict(zip(places, texts, strict=True))
                yield [at[i] for i in range(len(args))], found

    def operands(
        self,
        patterns: Sequence[Any],
        kinds: Sequence[Any],
        bound: Bound,
        plans: dict[OpNode, Plan],
    ) -> Iterator[tuple[list[str], Bound]]:
        """The ways to give kinds to patterns, one each."""
        if not patterns:
            yield [], bound
            return
        for text, _, found in self.left(patterns[0], kinds[0], bound, plans):
            for texts, all_found in self.operands(patterns[1:], kinds[1:], found, plans):
                yield [text, *texts], all_found

    def right(self, p: Any, bound: Bound) -> Bit:
        """The text and the kind of a right side. Raises `TypeError` or `ValueError` if there is
        no such term."""
        if isinstance(p, Hole):
            found: Bit = bound[p.name]
            return found
        op = p.op
        if isinstance(op, OpClass):
            op = op.cls(**{n: bound[v.name] if isinstance(v, Hole) else v for n, v in op.props})
        return self.term(op, [self.right(a, bound) for a in p.args])

    def term(self, op: Any, parts: Sequence[Bit]) -> Bit:
        """An op on terms. Raises `TypeError` or `ValueError` if there is no such term."""
        samples = [part.sample() for part in parts]
        node = op.make_node(*samples)
        if len(node.outputs) != 1 or list(node.inputs) != samples:
            raise TypeError(f"{op} converts its operands")
        kinds = tuple([part.kind for part in parts])
        found = self.signature(node.op, kinds, kind_of(node.outputs[0]))
        return Bit(f"({found.name} {' '.join(part.text for part in parts)})", found.out)

    # --- and back --------------------------------------------------------------------------------

    def _take_back(self) -> bool:
        """Add the terms that egglog has to the e-graph, with its classes; False if there are too
        many."""
        functions = self.engine.freeze().functions
        term: dict[Any, int] = {}  # class in egglog -> one of our terms
        for row in functions["term"].rows:
            self._same(term, row.output, self.engine.value_to_i64(row.inputs[0]))
        rows = [
            (s, row.inputs, row.output)
            for s in self.signatures.values()
            if s.name in functions
            for row in functions[s.name].rows
        ]
        waiting: dict[Any, list[int]] = {}
        todo = list(reversed(range(len(rows))))
        while todo:
            i = todo.pop()
            s, inputs, out = rows[i]
            missing = next((v for v in inputs if v not in term), None)
            if missing is not None:
                waiting.setdefault(missing, []).append(i)
                continue
            try:
                made = self.explorer.made(s.op, [term[v] for v in inputs])
            except PROBLEMS:
                continue  # the static shapes do not fit
            except Full:
                self.egraph.rebuild()
                return False
            if made is not None:
                self._same(term, out, made)
                todo += waiting.pop(out, [])
        self.egraph.rebuild()
        return True

    def _same(self, term: dict[Any, int], value: Any, t: int) -> None:
        known = term.setdefault(value, t)
        egraph = self.egraph
        old, new = egraph.speaker(known).type, egraph.speaker(t).type
        if known != t and (old is new or old.yields_to(new) or new.yields_to(old)):
            egraph.union(known, t, TOLD)


def kind_of(v: Any) -> Any:
    """What is the same for all equal terms: the type, without the lengths of dimensions."""
    shape = getattr(v.type, "shape", None)
    if shape is None:
        return v.type
    return v.type.clone(shape=tuple([1 if n == 1 else None for n in shape]))


def _goes_over(rule: DataRule) -> bool:
    """Whether a rule can be said to egglog: without numbers, rests, operands that may be missing,
    and sorts that may ask for more than kinds (those of constants, and users' predicates)."""
    parts = [p for side in (rule.left, rule.right) for p, _ in subpatterns(side)]
    return not any(isinstance(p, Literal) or (isinstance(p, Hole) and _is_open(p)) for p in parts)


def _is_open(hole: Hole) -> bool:
    sort = hole.sort
    by_kind = sort.inline is not None and "shape[" not in sort.inline and not sort.constant
    return hole.rest or hole.has_default or not by_kind
