"""Errors and NaNs of dropped terms: whether they still occur when a rule drops a term.

A term may raise an error, and it may be NaN. The error is kept if the term cannot fail, if it is
computed anyway, or if its failing parts are; a term dropped from an op must also be known to fit
the other operands. A NaN is kept if the remaining terms are computed from it by ops that propagate
it. `Dropping` decides about errors, for all rules that drop anything: `@rule` queries it about
terms missing from its right side (`Dropping.keeping`), `@node_rewriter` about its result
(`Dropping.operands_kept`). `shown_through` finds NaNs. Facts about ops and terms are in
`facts/`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import islice
from math import inf
from typing import Any

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.match.fact import Fact, because, unknown
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.pattern import Graph, OpNode, Prop, holes, subpatterns
from rewrite_engine.rewrite.step import is_used

SMALL = 50  # how many terms of what a rule makes, or of what it drops, are looked into
LARGE = 1000  # of what a function makes
FEW = 4  # how many terms are looked at before it is asked what is known of all below
MOST = 200  # how many terms are looked at to find whether one stays


class Dropping:
    """Decision whether errors are lost with dropped terms, by facts.

    fits: nothing fails where a term is computed from its operands. cannot_fail: nor in computing
    the operands. length: the length of a variable's dimension. compared(node): the groups of
    lengths that a node compares; None for a node that may fail in other ways.
    """

    def __init__(
        self,
        fits: Fact,
        cannot_fail: Fact,
        length: Fact,
        compared: Callable[[Apply], Sequence[Collection[Any]] | None],
    ) -> None:
        self.fits, self.cannot_fail, self.length = fits, cannot_fail, length
        self.compared = compared

    # --- one term -------------------------------------------------------------------------------

    def errors_stay(
        self,
        fgraph: Graph,
        node: Apply | None,
        dropped: Variable,
        kept: Collection[Variable],
        new: Variable | None = None,
    ) -> Any:
        """Return evidence that every error of a term is still raised after a node no longer needs
        it.

        kept: the variables that the replacement of the node is computed from. new: the replacement,
        which compares lengths, too. fgraph, node: None if the rule is applied outside a graph.
        """
        todo: list[Variable] = [dropped]
        seen: set[Variable] = set()
        level = {} if fgraph is None or node is None else fgraph.order.level
        is_below = below(level, kept, always_read)
        made = [] if new is None or new.owner is None else [new.owner]
        while todo:
            v = todo.pop()
            if v.owner is None or v in seen or v in kept:
                continue
            seen.add(v)
            if _has_other_uses(fgraph, node, v, level):
                continue
            if len(seen) > FEW:
                if self.cannot_fail.ask(fgraph, v):
                    continue
            elif v.owner.op.equal_lengths(v.owner) == []:  # it compares nothing
                todo += v.owner.inputs
                continue
            if is_below(v.owner):
                continue
            here = self.fits.at(fgraph, node, v)  # type: ignore[arg-type]
            if not here and not self.are_compared(v.owner, made):
                return here
            if len(seen) > MOST:
                return unknown("the dropped term may raise an error", blame=v)
            todo += v.owner.inputs
        return because("no error is lost")

    def are_compared(self, node: Apply, new: Iterable[Apply]) -> bool:
        """Return whether new nodes compare all lengths that a node does, one or several together,
        without new failures.
        """
        groups = self.compared(node)
        if groups is None:
            return False
        classes: list[set[Any]] = []
        for group in [set(g) for one in new for g in self.compared(one) or ()]:
            for other in [c for c in classes if c & group]:
                classes.remove(other)
                group |= other
            classes.append(group)
        return all(
            None not in group and (len(group) < 2 or any(set(group) <= c for c in classes))
            for group in groups
        )

    def all_stay(
        self, fgraph: Graph, node: Apply, terms: Iterable[Variable], new: Sequence[Variable]
    ) -> Any:
        """Return whether errors of terms are still raised after new ones replace a node."""
        kept = set().union(*[parts(one, known(fgraph)) for one in new])
        for v in terms:
            answer = v in kept or self.errors_stay(fgraph, node, v, kept)
            if not answer:
                return answer
        return True

    # --- rules ----------------------------------------------------------------------------------

    def operands_kept(self, fgraph: Graph, node: Apply, new: Any) -> Any:
        """Return, for node rewriters, whether errors of operands missing from the replacement of a
        node are still raised, and whether these fit the others.

        An operand that is taken apart and partly kept does not count as missing; its parts are
        checked instead.
        """
        made = replacements(new)
        there = known(fgraph)
        if not made:
            return True
        made_by = made[0].owner if len(made) == 1 else None
        if made_by is not None and made_by not in there:
            if all([v in made_by.inputs for v in node.inputs]):  # by far the most
                return True
        kept = set().union(*[parts(one, there, LARGE) for one in made])
        if all([v in kept or _is_apart(v, kept) for v in node.inputs]):
            return True
        matched, dropped = taken_apart(node, kept)
        makers = {v.owner for v in kept if v.owner is not None}
        fresh = [one for one in makers if one not in there]
        again = {type(one.op) for one in fresh}  # what may fail in other ways, as before
        for one in matched[1:]:
            groups = None if one in makers else one.op.equal_lengths(one)
            if one in makers or groups == [] or (groups is None and type(one.op) in again):
                continue
            answer = self.are_compared(one, fresh) or self.fits.at(fgraph, node, one.outputs[0])
            if not answer:
                return answer
        for v in dropped:
            answer = self.errors_stay(fgraph, node, v, kept)
            if not answer:
                return answer
        return not dropped or self._all_fit(fgraph, matched, dropped, kept)

    def call_errors_kept(self, fgraph: Graph, node: Apply, new: Any) -> Any:
        """Return, for an op replaced by its graph, whether the errors of unneeded outputs and
        operands are still raised.
        """

        def alike(member: Any) -> Any:
            if not isinstance(member, tuple):
                return member
            return self.length.ask(fgraph, node.inputs[member[0]], member[1]).value

        op, numbers = node.op, range(len(node.outputs))
        used = [j for j in numbers if fgraph is None or is_used(fgraph, node.outputs[j])]
        if len(op.needed_outputs(used, alike)) > len(used):
            return unknown("an unused output may raise an error", blame=node.outputs[0])
        kept = {node.inputs[i] for i in op.needed_inputs(used)}
        stay = (self.errors_stay(fgraph, node, x, kept) for x in node.inputs if x not in kept)
        return next((answer for answer in stay if not answer), True)

    def lengths_kept(self, fgraph: Graph, node: Apply, new: Any) -> Any:
        """Return whether no error of a term is lost when its shape is replaced. An op that defines
        its shape, but not when it fails, is trusted.
        """
        (x,) = node.inputs
        cls = Op if x.owner is None else type(x.owner.op)
        silent = cls.infer_shape is not Op.infer_shape and not self._says_when_it_fails(cls)
        terms = x.owner.inputs if silent else node.inputs
        return self.all_stay(fgraph, node, terms, replacements(new))

    def _says_when_it_fails(self, cls: type[Op]) -> bool:
        """Return whether a class of ops declares when it fails."""
        declared = cls.equal_lengths is not Op.equal_lengths or "fits" in cls.implied
        return declared or cls in self.fits.cases

    def keeping(self, rule: Any) -> Keeping | None:
        """Return the check for a `@rule` that no error is lost where it fires; None for a rule that
        cannot lose any.

        Operands missing from the right side must not fail, and must fit the other operands. Ops
        inside the left side that may fail for other reasons than shapes must not fail either, if
        the right side has fewer of them. All other checks of ops are the responsibility of the
        author, who named them.
        """
        right = rule.right
        names = set(right.names if isinstance(right, Compute) else holes(right))
        lost = [h for h in holes(rule.left).values() if h.name not in names and h.sort is not Prop]
        may_fail = [] if isinstance(right, Compute) else _may_fail(rule.left)
        if may_fail:
            may_fail = [*Counter(may_fail) - Counter(_may_fail(right))]
        return Keeping(self, rule, tuple(may_fail)) if lost or may_fail else None

    def _all_fit(
        self,
        fgraph: Graph,
        matched: Sequence[Apply],
        dropped: Collection[Variable],
        kept: Iterable[Variable],
    ) -> Any:
        """Return whether dropped terms have the lengths of kept ones where they must be equal."""
        ask = self.length.ask
        lengths = {ask(fgraph, v, i).value for v in kept for i in range(v.type.ndim or 0)}
        computed = {out for one in matched for out in one.outputs}
        for one in matched:
            for group in one.op.equal_lengths(one) or ():
                settled, asked = set(), {}
                for member in group:
                    if not isinstance(member, tuple):
                        settled.add(member)
                        continue
                    v = one.inputs[member[0]]
                    n = ask(fgraph, v, member[1]).value
                    if v in dropped or (v in computed and n not in lengths):
                        asked[n] = v
                    else:
                        settled.add(n)
                if not (asked.keys() <= settled if settled else len(asked) < 2):
                    (v, *_) = [v for n, v in asked.items() if n not in settled]
                    return unknown("the dropped term may not fit the kept ones", blame=v)
        return because("the dropped term fits")


class Keeping:
    """Check that a data rule loses no error by its replacement of a node: a function of the graph,
    the node and the replacement.

    It inspects the nodes that the left side matched, down to the operands of the right side.
    """

    def __init__(self, dropping: Dropping, rule: Any, may_fail: tuple[type[Op], ...]) -> None:
        inner = [p for p, depth in subpatterns(rule.left) if depth and isinstance(p, OpNode)]
        self.dropping = dropping
        self.heads = {p.head for p in inner}
        self.depth = rule.depth
        self.right = rule.right
        self.may_fail = may_fail

    def __call__(self, fgraph: Graph, node: Apply, new: Any) -> Any:
        made = replacements(new)
        rights = self.right if isinstance(self.right, tuple) else [self.right] * len(made)
        there = set().union(
            *[_operands(p, v, known(fgraph)) for p, v in zip(rights, made, strict=False)]
        )
        matched, dropped = self.matched(node, there)
        kept = [v for one in matched for v in one.inputs if v in there]
        for v in dropped:
            answer = self.dropping.errors_stay(fgraph, node, v, (*made, *kept))
            if not answer:
                return answer
        for one in matched[1:]:
            if isinstance(one.op, self.may_fail):
                answer = self.dropping.fits.at(fgraph, node, one.outputs[0])
                if not answer:
                    return answer
        return not dropped or self.dropping._all_fit(fgraph, matched, dropped, kept)

    def matched(
        self, node: Apply, there: Collection[Variable]
    ) -> tuple[list[Apply], dict[Variable, None]]:
        """Return the nodes that the left side matched, and their dropped operands. (A branch that a
        rule for choices drops is one that is not taken.)
        """
        matched, dropped, level = [node], dict[Variable, None](), [node]
        for depth in range(self.depth + 1):
            inner = []
            for v in [v for one in level for v in always_read(one) if v not in there]:
                inside = v.head in self.heads or type(v.head) in self.heads
                if inside and depth < self.depth and v.owner is not None:
                    inner.append(v.owner)
                else:
                    dropped[v] = None
            level = list(dict.fromkeys(inner))
            matched += level
        return matched, dropped


def _may_fail(pattern: Any) -> list[type]:
    """Return the classes of the ops of a pattern that may fail for other reasons than shapes."""
    found = [p.operator for p, _ in subpatterns(pattern) if p.__class__ is OpNode]
    classes = [op if isinstance(op, type) else type(op) for op in found]
    return [cls for cls in classes if getattr(cls, "may_fail", False)]


def _operands(pattern: Any, term: Variable, there: Collection[Apply]) -> set[Variable]:
    """Return the operands of a right side in the term that it made."""
    if isinstance(pattern, Compute):
        return parts(term, there)
    found, todo = set(), [(pattern, term)]
    while todo:
        p, v = todo.pop()
        if not isinstance(p, OpNode):
            found.add(v)
        elif v.owner is not None:
            inner = [a for a in p.args if isinstance(a, OpNode)]
            same = p.fits(v.owner.op) and len(p.args) == len(v.owner.inputs) and not p.rests
            if same:
                todo += zip(p.args, v.owner.inputs, strict=True)
                continue
            for w in v.owner.inputs:  # others are beside them
                todo += [(a, w) for a in (p, *inner) if a.fits(w.head)] or [(None, w)]
    return found


# --- what terms are made of ---------------------------------------------------------------------


def replacements(new: Any) -> list[Variable]:
    """Return the variables in a rule's result: one, or some in a sequence or a mapping."""
    if isinstance(new, Variable):
        return [new]
    found = new.values() if isinstance(new, Mapping) else new
    return [v for v in found if isinstance(v, Variable)]


def known(fgraph: Graph) -> Collection[Apply]:
    """Return the nodes that are in a graph."""
    return () if fgraph is None else fgraph.order.level


def parts(term: Variable, there: Collection[Apply], most: int = SMALL) -> set[Variable]:
    """Return parts of a term, as many as matter, down to nodes that already exist."""
    found, todo = {term}, deque([term])
    while todo and len(found) < most:
        owner = todo.popleft().owner
        if owner is not None and owner not in there:
            todo += [v for v in owner.inputs if v not in found]
            found.update(owner.inputs)
    return found


def _is_apart(v: Variable, kept: Collection[Variable]) -> bool:
    """Return whether a term is only an op on kept variables and numbers, as far as that is quickly
    seen.
    """
    one, some = v.owner, False
    if one is None:
        return _is_number(v)
    for u in one.inputs:
        if u in kept:
            some = True
        elif u.owner is not None or not _is_number(u):
            return False
    return some and one.op.equal_lengths(one) == []


def taken_apart(
    node: Apply, kept: Collection[Variable]
) -> tuple[list[Apply], dict[Variable, None]]:
    """Return the nodes between a node and the kept parts of its operands, and the dropped operands
    of these nodes: nothing of them is kept, as far as `SMALL` terms show.
    """
    order, seen = [node], {node}
    for one in order:
        for v in always_read(one):
            if v not in kept and v.owner is not None and v.owner not in seen and len(seen) < SMALL:
                seen.add(v.owner)
                order.append(v.owner)
    reaching, before = {node}, 0
    while before < len(reaching):  # (what several share may stand before what is made of it)
        before = len(reaching)
        for one in reversed(order):
            if any([v in kept or v.owner in reaching for v in one.inputs]):
                reaching.add(one)
    matched = [one for one in order if one in reaching]
    operands = [v for one in matched for v in always_read(one)]
    lost = [v for v in operands if v not in kept and v.owner not in reaching]
    return matched, dict.fromkeys([v for v in lost if v.owner is not None or not _is_number(v)])


def _is_number(v: Variable) -> bool:
    """Return whether a variable fits everything because all of its dimensions broadcast."""
    return all(getattr(v.type, "broadcastable", (False,)))


def always_read(node: Apply) -> Sequence[Variable]:
    """Return the operands of a node, except for the branches of a choice."""
    if node.op.read_if is None:
        return node.inputs
    return [v for v, asked in zip(node.inputs, node.op.read_if(node), strict=True) if asked is None]


# --- what stays ---------------------------------------------------------------------------------


def below(
    level: Mapping[Apply, int],
    terms: Iterable[Variable],
    operands: Callable[[Apply], Iterable[Variable]],
) -> Callable[[Apply], bool]:
    """Return a predicate of nodes: whether one of these terms is computed from the node's outputs,
    through the given operands, as far as that is quickly seen. Nodes outside a graph have no level.
    """
    seen: set[Apply] = set()
    heap: list[tuple[float, int, Apply]] = []
    first = [terms]

    def look(terms: Iterable[Variable]) -> None:
        for v in terms:
            if v.owner is not None and v.owner not in seen:
                seen.add(v.owner)
                heappush(heap, (-level.get(v.owner, inf), len(seen), v.owner))

    def is_below(maker: Apply) -> bool:
        lowest = level.get(maker, -1)
        if first:
            look(first.pop())
        while heap and -heap[0][0] > lowest and len(seen) < 2 * MOST:
            look(operands(heappop(heap)[2]))
        return maker in seen

    return is_below


def _has_other_uses(
    fgraph: Graph, node: Apply | None, v: Variable, level: Mapping[Apply, int]
) -> bool:
    """Return whether a term is computed without a node's use of it, as far as that is quickly
    seen.
    """
    here = None if node is None else level.get(node)
    if fgraph is None or here is None or v.owner is None or v.owner not in level:
        return False
    for out in v.owner.outputs:
        if out in fgraph.out_uses:
            return True
        # what is not below the node cannot be there for it alone
        for client in islice(fgraph.users[out], MOST):
            if client is not node and level[client] >= here and _needs(fgraph, client, out):
                return True
    return False


def _needs(fgraph: Any, node: Apply, v: Variable) -> bool:
    """Return whether a node needs an operand, and is computed, whatever branches are taken; as far
    as that is quickly seen.
    """
    if not fgraph.lazy:
        return True
    todo, seen = deque([node] if v in always_read(node) else []), {node}
    while todo and len(seen) < MOST:
        for out in todo.popleft().outputs:
            if out in fgraph.out_uses:
                return True
            clients = islice(fgraph.users[out], MOST)
            more = [c for c in clients if c not in seen and out in always_read(c)]
            todo += more
            seen.update(more)
    return False


# --- NaNs ---------------------------------------------------------------------------------------


def shown_through(terms: Iterable[Variable], shows: Callable[[Apply], bool]) -> Iterator[Variable]:
    """Yield variables whose NaN makes one of these terms NaN, the nearest `SMALL`: the terms are
    computed from them by ops that propagate the NaN of each operand.
    """
    todo = list(dict.fromkeys(terms))
    seen = set(todo)
    for v in todo:
        yield v
        if v.owner is not None and len(todo) < SMALL and shows(v.owner):
            more = [w for w in v.owner.inputs if w not in seen]
            todo += more
            seen.update(more)
