"""The backend `egglog`: the package of that name explores, this package chooses and explains.

Terms go over as text, one constructor for each op and kinds of operands (a kind is a type of which
only what never changes between equal terms is kept: dtype, rank, dimensions of length 1). Each
equation goes over once for every way in which the kinds fit, with its sorts and guards asked of
variables of these kinds; what needs more than kinds to hold is left out, as are equations with
numbers in them. Sums and products of many operands are matched before they go over: there is a
rewrite for every choice of the operands that an equation speaks of, and none that reorders. egglog
does not say how it came to what it found: where steps are needed, the equations are matched again,
only at the classes on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from time import perf_counter
from typing import Any, NamedTuple

from rewrite_engine.errors import MissingExtraError
from rewrite_engine.match.ac import EXTRA, Plan, is_ac, keeps_dtype, plan
from rewrite_engine.match.build import ask
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, subpatterns
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.cost import CostModel
from rewrite_engine.rewrite.egraph import TOLD, EGraph
from rewrite_engine.rewrite.ematch import Bound, bind_parameters
from rewrite_engine.rewrite.explore import Explorer, Limits
from rewrite_engine.rewrite.extract import Choice, Extractor
from rewrite_engine.rewrite.result import StopReason

CHUNK = 20  # commands sent at a time: the parser takes quadratic time
PROBLEMS = (TypeError, ValueError)


WIDEST = 12  # operands of a sum up to which a part of it is looked for: n² rewrites for n operands


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
        Explorer(egraph, rules, limits).flatten()
        session = Session(bindings.EGraph(), egraph, rules, limits)
        stopped = session.explore()
        session.take_back()
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
        self.rules = [rule for rule in rules if not _has_numbers(rule)]
        self.limits = limits
        self.signatures: dict[Any, Signature] = {}
        self.program = ["(sort T)", "(constructor term (i64) T)"]
        self.known: set[str] = set()
        self.cut = False  # whether something was not sent over because it is too wide

    def run(self, text: str) -> Any:
        """Run a program in egglog."""
        return self.engine.run_program(*self.engine.parse_program(text))

    # --- there -----------------------------------------------------------------------------------

    def explore(self) -> StopReason:
        """Send terms and rules over, and saturate."""
        egraph = self.egraph
        terms = []
        for t, op in enumerate(egraph.op):
            if op is None:
                continue
            kinds = tuple([kind_of(egraph.var[k]) for k in egraph.kids[t]])
            name = self.signature(op, kinds, kind_of(egraph.var[t])).name
            operands = " ".join([f"(term {k})" for k in egraph.kids[t]])
            terms.append(f"(union (term {t}) ({name} {operands}))")
        before = -1
        while before != len(self.signatures) < 1_000:  # right sides bring new kinds
            before = len(self.signatures)
            for rule in self.rules:
                self.program += self.instances(rule)
        commands = self.program + terms
        for i in range(0, len(commands), CHUNK):
            self.run("\n".join(commands[i : i + CHUNK]))
        while perf_counter() < self.limits.until:
            if not self.run("(run 1)")[0].report.updated:
                return StopReason.BUDGET if self.cut else StopReason.SATURATED
            if sum(len(f.rows) for f in self.engine.freeze().functions.values()) > (
                self.limits.terms
            ):
                return StopReason.BUDGET
        return StopReason.BUDGET

    def signature(self, op: Any, kinds: tuple[Any, ...], out: Any) -> Signature:
        """The constructor of an op on kinds."""
        found = self.signatures.get((op, kinds))
        if found is None:
            found = Signature(f"f{len(self.signatures)}", op, kinds, out)
            self.signatures[op, kinds] = found
            self.program.append(f"(constructor {found.name} ({' '.join('T' for _ in kinds)}) T)")
        return found

    def instances(self, rule: DataRule) -> Iterator[str]:
        """An equation's rewrites for all kinds that fit, those that are not known yet."""
        plans = {p: plan(p, rule.left) for p, _ in subpatterns(rule.left) if is_ac(p)}
        for left, out, bound in self.left(rule.left, None, {}, plans, rule.left):
            samples = {n: v.sample() if isinstance(v, Bit) else v for n, v in bound.items()}
            try:
                if not all(ask(guard, samples) for guard in rule.guards):
                    continue
                right = self.right(rule.right, bound)
                if EXTRA in bound:
                    right = self.term(rule.left.op, [right, *bound[EXTRA]])
            except PROBLEMS:
                continue
            text = f"(rewrite {left} {right.text})"
            if right.kind is out and text not in self.known:
                self.known.add(text)
                yield text

    def left(
        self, p: Any, want: Any, bound: Bound, plans: dict[OpNode, Plan], root: OpNode | None = None
    ) -> Iterator[tuple[str, Any, Bound]]:
        """The ways to give kinds to a pattern of which the whole has the kind `want` (None: any):
        its text, its kind, and what its variables stand for. root: the pattern, if it is the whole
        left side."""
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
            if inner is None:
                continue
            ways = self.in_order(p, s, inner, plans)
            if p in plans:
                ways = self.in_any_order(p, s, inner, plans, root)
            for texts, found in ways:
                yield f"({s.name} {' '.join(texts)})", s.out, found

    def in_order(
        self, p: OpNode, s: Signature, bound: Bound, plans: dict[OpNode, Plan]
    ) -> Iterator[tuple[list[str], Bound]]:
        """The ways to give kinds to the operands of an op, each at its place."""
        if len(s.kinds) != len(p.args):
            return
        for args in (p.args, p.args[::-1]) if p.swaps else (p.args,):
            yield from self.operands(args, s.kinds, bound, plans)

    def in_any_order(
        self,
        p: OpNode,
        s: Signature,
        bound: Bound,
        plans: dict[OpNode, Plan],
        root: OpNode | None,
    ) -> Iterator[tuple[list[str], Bound]]:
        """The same for the operands of an AC op, of which there may be more than the pattern has
        (see `match/ac.py`)."""
        taking, n = plans[p], len(s.kinds)
        wanted = len(taking.fixed) + (taking.collector is not None)
        if n != wanted and (n < wanted or not (taking.collector or p is root)):
            return
        if n > WIDEST:
            self.cut = True
            return
        for taken in permutations(range(n), len(taking.fixed)):
            kinds = [s.kinds[i] for i in taken]
            for texts, found in self.operands(taking.fixed, kinds, bound, plans):
                left = [i for i in range(n) if i not in taken]
                others = {i: Bit(f"o{len(found)}_{i}", s.kinds[i]) for i in left}
                parts = [s.kinds[i]() for i in taken], [bit.sample() for bit in others.values()]
                if not keeps_dtype(s.out(), parts[0], parts[1][: None if taking.collector else 1]):
                    continue
                inner = self.with_others(p, taking.collector, list(others.values()), found)
                if inner is not None:
                    at = dict(zip(taken, texts, strict=True))
                    yield [at[i] if i in at else others[i].text for i in range(n)], inner

    def with_others(
        self, p: OpNode, collector: Hole | None, others: list[Bit], bound: Bound
    ) -> Bound | None:
        """Bind the operands that no pattern took."""
        if collector is None:
            return bound | {EXTRA: tuple(others)} if others else bound
        try:
            whole = others[0] if len(others) == 1 else self.term(p.op, others)
        except PROBLEMS:
            return None
        return bound | {collector.name: whole} if collector.sort(whole.sample()) else None

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

    def take_back(self) -> None:
        """Add all terms that egglog has to the e-graph, with its classes."""
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
        explorer = Explorer(self.egraph, self.rules, self.limits)
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
                made = explorer.made(s.op, [term[v] for v in inputs])
            except PROBLEMS:
                continue  # the static shapes do not fit
            if made is not None:
                self._same(term, out, made)
                todo += waiting.pop(out, [])
        self.egraph.rebuild()
        self.egraph.links_of = explorer.links_of

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


def _has_numbers(rule: DataRule) -> bool:
    sides = (rule.left, rule.right)
    return any(isinstance(p, Literal) for side in sides for p, _ in subpatterns(side))
