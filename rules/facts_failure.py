"""What may raise an error when it is computed, and whether that is still raised when a rule drops
it. Import the facts from `rules/facts.py`.

An error is lost with a term that nothing needs any more. It is kept if the term cannot fail, if it
is computed anyway, for what stays, or if what may fail in it is (`errors_stay`). Where a term is
dropped beside others, it must also be known to fit them. `@rule` asks this of all rules that drop
anything (`keeps_errors`), a node rewriter says `keeps=operands_kept`.
"""

from collections import Counter, deque
from heapq import heappop, heappush
from itertools import islice
from math import inf

from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import graph_inputs
from rewrite_engine.match.fact import because, every, fact, unknown
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.pattern import OpNode, Prop, holes, subpatterns
from rewrite_engine.rewrite.step import is_used
from rewrite_engine.rules.facts_arrays import length, length_read
from rewrite_engine.rules.facts_numbers import FACTS
from rewrite_engine.tensor.shape import CheckedLength

__all__ = ["cannot_fail", "fits", "operands_kept"]

SMALL = 50  # how many terms of what a rule makes are looked into
FEW = 4  # how many terms are looked at before it is asked what is known of all below
MOST = 200  # how many terms are looked at to find whether one stays


# --- facts --------------------------------------------------------------------------------------


@fact
def fits(x):
    """What computes x does not fail, once its operands are computed."""
    node = x.owner
    if node is None:
        return because("it is not computed")
    groups = node.op.equal_lengths(node)
    if groups is None:
        said = node.op.implied.get("fits")
        refused = unknown(f"{node.op} may raise an error", blame=x)
        return said(FACTS, *node.inputs) if said else refused
    found = []
    for group in groups:
        first = None
        for member in group:
            value = member
            if isinstance(member, tuple):
                found.append(length(node.inputs[member[0]], member[1]))
                value = found[-1].value
            if first is not None and value != first:
                why = f"{node.op} may raise an error: lengths are not known to be equal"
                return unknown(why, blame=x)
            first = value
    return because("the lengths are equal", *found) if found else because("it always can")


@fact
def cannot_fail(x):
    """No error is raised when x is computed, whatever the inputs are."""
    if x.owner is None:
        return because("it is not computed")
    here = x.owner.op.equal_lengths(x.owner) == [] or fits(x)
    if not here:
        return here
    return every(
        "its op cannot fail", cannot_fail, [v for v in x.owner.inputs if v.owner is not None]
    )


# --- what stays ---------------------------------------------------------------------------------


def errors_stay(fgraph, node, dropped, kept, new=None):
    """Evidence that every error of a term is still raised when a node needs it no more.

    kept: what takes the place of the node is computed from these. new: what takes its place, which
    compares lengths, too. fgraph, node: None where the rule is applied outside of a graph.
    """
    todo, seen = [dropped], set()
    level = {} if fgraph is None or node is None else fgraph.order.level
    is_below = below(level, kept)
    while todo:
        v = todo.pop()
        if v.owner is None or v in seen or v in kept:
            continue
        seen.add(v)
        if _has_other_uses(fgraph, node, v, level):
            continue
        if len(seen) > FEW and cannot_fail.ask(fgraph, v):
            continue
        if is_below(v.owner):
            continue
        here = fits.at(fgraph, node, v)
        if not here and (new is None or not _are_compared(v.owner, new.owner)):
            return here
        if len(seen) > MOST:
            return unknown("what is dropped may raise an error", blame=v)
        todo += v.owner.inputs
    return because("no error is lost")


def compared(node):
    """The groups of lengths, as `length` gives them, that a node compares; None for one that may
    fail in other ways.
    """
    if isinstance(node.op, CheckedLength):
        return [{length_read(node.inputs[i]) for i in pair} for pair in node.op.pairs()]
    groups = node.op.equal_lengths(node)
    if groups is None:
        return None
    return [
        {length(node.inputs[m[0]], m[1]).value if isinstance(m, tuple) else m for m in group}
        for group in groups
    ]


def _are_compared(node, new):
    """Whether another node compares all the lengths that a node does, which fails for no more."""
    groups, equal = compared(node), compared(new)
    return groups is not None and all(
        None not in group and (len(group) < 2 or any(group <= known for known in equal or ()))
        for group in groups
    )


def _has_other_uses(fgraph, node, v, level):
    """Whether a term is computed without a node's use of it, as far as that is quickly seen."""
    here = level.get(node)
    if here is None or v.owner not in level:
        return False
    for out in v.owner.outputs:
        if out in fgraph.out_uses:
            return True
        # what is not below the node cannot be there for it alone
        for client in islice(fgraph.users[out], MOST):
            if client is not node and level[client] >= here and _needs(fgraph, client, out):
                return True
    return False


def _needs(fgraph, node, v):
    """Whether a node needs an operand, and is computed, whatever branches are taken; as far as that
    is quickly seen.
    """
    if not fgraph.lazy:
        return True
    todo, seen = deque([node] if v in _always_read(node) else []), {node}
    while todo and len(seen) < MOST:
        for out in todo.popleft().outputs:
            if out in fgraph.out_uses:
                return True
            clients = islice(fgraph.users[out], MOST)
            more = [c for c in clients if c not in seen and out in _always_read(c)]
            todo += more
            seen.update(more)
    return False


def below(level, terms):
    """A function of a node: whether one of these terms is computed from what it makes, as far as
    that is quickly seen. Nodes that no graph has yet have no level.
    """
    seen, heap = set(), []

    def look(terms):
        for v in terms:
            if v.owner is not None and v.owner not in seen:
                seen.add(v.owner)
                heappush(heap, (-level.get(v.owner, inf), len(seen), v.owner))

    def is_below(maker):
        lowest = level.get(maker, -1)
        while heap and -heap[0][0] > lowest and len(seen) < 2 * MOST:
            look(_always_read(heappop(heap)[2]))
        return maker in seen

    look(terms)
    return is_below


# --- what rules lose ----------------------------------------------------------------------------


def operands_kept(fgraph, node, new):
    """For `@node_rewriter(..., keeps=operands_kept)`: whether operands that are not in what takes
    the place of a node fit the others, and their errors are still raised.
    """
    direct = (new,) if new in node.inputs or new.owner is None else new.owner.inputs
    if all(v in direct for v in node.inputs):
        return True
    silent = not _says_when_it_fails(type(node.op))
    here = silent or fits.at(fgraph, node, node.outputs[0])
    return here and _all_kept(fgraph, node, node.inputs, new)


def operand_errors_kept(fgraph, node, new):
    """Whether errors of operands are still raised where new terms take the place of a node."""
    return _all_kept(fgraph, node, node.inputs, *new)


def call_errors_kept(fgraph, node, new):
    """For an op that gives way to its graph: whether the errors of outputs, and of operands, that
    nobody needs are still raised.
    """

    def alike(member):
        if not isinstance(member, tuple):
            return member
        return length.ask(fgraph, node.inputs[member[0]], member[1]).value

    op, numbers = node.op, range(len(node.outputs))
    used = [j for j in numbers if fgraph is None or is_used(fgraph, node.outputs[j])]
    if len(op.needed_outputs(used, alike)) > len(used):
        return unknown("an output that nobody needs may raise an error", blame=node.outputs[0])
    needed = {*graph_inputs([op.inner_outputs[j] for j in used])}
    kept = {x for x, v in zip(node.inputs, op.inner_inputs, strict=True) if v in needed}
    stay = (errors_stay(fgraph, node, x, kept) for x in node.inputs if x not in kept)
    return next((answer for answer in stay if not answer), True)


def lengths_kept(fgraph, node, new):
    """The same for what takes the place of a shape. An op that says how its shape follows, and
    nothing of when it fails, is taken at its word.
    """
    (x,) = node.inputs
    cls = Op if x.owner is None else type(x.owner.op)
    silent = cls.infer_shape is not Op.infer_shape and not _says_when_it_fails(cls)
    return _all_kept(fgraph, node, x.owner.inputs if silent else node.inputs, new)


def _all_kept(fgraph, node, terms, *new):
    kept = set().union(*[_parts(one, _known(fgraph)) for one in new])
    for v in terms:
        answer = v in kept or errors_stay(fgraph, node, v, kept)
        if not answer:
            return answer
    return True


def _says_when_it_fails(cls):
    """Whether anything is declared of when a class of ops fails."""
    return cls.equal_lengths is not Op.equal_lengths or "fits" in cls.implied or cls in fits.cases


def keeps_errors(rule):
    """For `@rule`: what tells whether no error is lost where the rule fires; None for a rule that
    cannot lose any by what it drops.

    Operands that the right side does not have must not fail, and must fit those beside them; so
    must ops inside of the left side that may fail for other reasons than shapes, if they are there
    once more than on the right. Whatever else ops check is the author's affair, who named them.
    """
    right = rule.right
    names = set(right.names if isinstance(right, Compute) else holes(right))
    lost = [h for h in holes(rule.left).values() if h.name not in names and h.sort is not Prop]
    may_fail = [] if isinstance(right, Compute) else _may_fail(rule.left)
    if may_fail:
        may_fail = [*Counter(may_fail) - Counter(_may_fail(right))]
    return Keeping(rule, tuple(may_fail)) if lost or may_fail else None


def _may_fail(pattern):
    """The classes of the ops of a pattern that may fail for other reasons than shapes."""
    found = [p.operator for p, _ in subpatterns(pattern) if p.__class__ is OpNode]
    classes = [op if isinstance(op, type) else type(op) for op in found]
    return [cls for cls in classes if getattr(cls, "may_fail", False)]


class Keeping:
    """Whether a data rule loses no error by what takes the place of a node: a function of the
    graph, the node and that.

    Looked at are the nodes that the left side matched, down to the operands of the right side.
    """

    def __init__(self, rule, may_fail):
        inner = [p for p, depth in subpatterns(rule.left) if depth and isinstance(p, OpNode)]
        self.heads = {p.head for p in inner}
        self.depth = rule.depth
        self.right = rule.right
        self.may_fail = may_fail

    def __call__(self, fgraph, node, new):
        new = [v for v in new if v is not None] if isinstance(new, tuple) else [new]
        rights = self.right if isinstance(self.right, tuple) else [self.right] * len(new)
        known = _known(fgraph)
        there = set().union(*[_operands(p, v, known) for p, v in zip(rights, new)])
        matched, dropped = self.matched(node, there)
        kept = [v for one in matched for v in one.inputs if v in there]
        for v in dropped:
            answer = errors_stay(fgraph, node, v, (*new, *kept))
            if not answer:
                return answer
        for one in matched[1:]:
            if isinstance(one.op, self.may_fail):
                answer = fits.at(fgraph, node, one.outputs[0])
                if not answer:
                    return answer
        return not dropped or _all_fit(fgraph, matched, dropped, kept)

    def matched(self, node, there):
        """The nodes that the left side matched, and the operands of these that are dropped. (A
        branch that a rule of choices drops is one that is not taken.)
        """
        matched, dropped, level = [node], {}, [node]
        for depth in range(self.depth + 1):
            below = []
            for v in [v for one in level for v in _always_read(one) if v not in there]:
                inside = v.head in self.heads or type(v.head) in self.heads
                if inside and depth < self.depth:
                    below.append(v.owner)
                else:
                    dropped[v] = None
            level = list(dict.fromkeys(below))
            matched += level
        return matched, dropped


def _always_read(node):
    """The operands of a node but the branches of a choice."""
    if node.op.read_if is None:
        return node.inputs
    return [v for v, asked in zip(node.inputs, node.op.read_if(node)) if asked is None]


def _operands(pattern, term, known):
    """What a right side got for its variables, in the term that it made."""
    if isinstance(pattern, Compute):
        return _parts(term, known)
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


def _known(fgraph):
    """The nodes that are in a graph."""
    return () if fgraph is None else fgraph.order.level


def _parts(term, there):
    """Terms that a term is made of, as many as matter, down to nodes that are there already."""
    found, todo = {term}, deque([term])
    while todo and len(found) < SMALL:
        owner = todo.popleft().owner
        if owner is not None and owner not in there:
            todo += [v for v in owner.inputs if v not in found]
            found.update(owner.inputs)
    return found


def _all_fit(fgraph, matched, dropped, kept):
    """Whether what is dropped has the lengths of what is kept, wherever they have to be equal."""
    lengths = {length.ask(fgraph, v, i).value for v in kept for i in range(v.type.ndim or 0)}
    computed = {out for one in matched for out in one.outputs}
    for one in matched:
        for group in one.op.equal_lengths(one) or ():
            known, asked = set(), {}
            for member in group:
                if not isinstance(member, tuple):
                    known.add(member)
                    continue
                v = one.inputs[member[0]]
                n = length.ask(fgraph, v, member[1]).value
                if v in dropped or (v in computed and n not in lengths):
                    asked[n] = v
                else:
                    known.add(n)
            if not (asked.keys() <= known if known else len(asked) < 2):
                (v, *_) = [v for n, v in asked.items() if n not in known]
                return unknown("what is dropped may not fit what is kept", blame=v)
    return because("what is dropped fits")
