"""Explanations: the rules that lead from one e-node of an `EGraph` to an equal one.

The path between the two in the proof forest has the rules and the congruences; a congruence stands
for the steps between the children, done inside the term. A path never changes, and the parts of a
congruence existed before it, so the search always ends. Detours in a path are removed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rewrite_engine.graph.postorder import postorder, same
from rewrite_engine.rewrite.egraph import EGraph, Justification, output_of

LIMIT = 2_000  # steps for one term; more are of use to nobody


class ProofStep(NamedTuple):
    """Step of a proof: a rule led from e-node `left` to e-node `right`, which turned the whole term
    into `whole`.
    """

    whole: int
    rule: Any
    left: int
    right: int


Edge = tuple[int, int, Justification]
Pair = tuple[int, int]


def explained(egraph: EGraph, start: int, goal: int) -> list[ProofStep] | None:
    """Return the steps from an e-node to an equal one; None if there are more than `LIMIT`."""
    paths: dict[Pair, list[Edge]] = {}
    done: dict[Pair, list[ProofStep]] = {}

    def below(pair: Pair) -> list[Pair]:
        paths[pair] = _path(egraph, *pair)
        inner = [egraph.child_pairs(*edge) for edge in paths[pair] if edge[2].rule is None]
        return [(x, y) for pairs in inner for x, y in pairs if x != y]

    for pair in postorder([(start, goal)], below, key=same):
        steps = _steps(egraph, pair[0], paths[pair], done)
        if steps is None:
            return None
        done[pair] = steps
    return done[start, goal]


def _path(egraph: EGraph, a: int, b: int) -> list[Edge]:
    """Return the edges between two e-nodes of one tree of the proof forest."""
    up, down = _to_root(egraph, a), _to_root(egraph, b)
    roots = {edges[-1][1] if edges else n for n, edges in ((a, up), (b, down))}
    assert len(roots) == 1, "the e-nodes are not equal"
    while up and down and up[-1][0] == down[-1][0]:  # from where they are the same
        up.pop()
        down.pop()
    return up + [(above, at, why) for at, above, why in reversed(down)]


def _to_root(egraph: EGraph, n: int) -> list[Edge]:
    """Return the edges from an e-node to the root of its tree."""
    edges: list[Edge] = []
    while (above := egraph.proof[n]) is not None:
        edges.append((n, *above))
        n = above[0]
    return edges


def _steps(
    egraph: EGraph, start: int, path: list[Edge], done: dict[Pair, list[ProofStep]]
) -> list[ProofStep] | None:
    """Return the steps along a path, including those between children."""
    out: list[ProofStep] = []
    reached = {start: 0}  # an e-node -> after how many steps
    for m, n, why in path:
        if why.rule is not None:
            rule = why.rule if why.left == m else opposite(why.rule)
            _add(out, reached, ProofStep(n, rule, m, n))
            continue
        kids = list(egraph.children[m])
        for i, (x, y) in enumerate(egraph.child_pairs(m, n, why)):
            for step in done[x, y] if x != y else ():
                kids[i] = step.whole
                _add(out, reached, step._replace(whole=within(egraph, m, kids)))
        if len(out) > LIMIT:
            return None
    return out


def _add(out: list[ProofStep], reached: dict[int, int], step: ProofStep) -> None:
    """Add a step; if it leads back to an earlier term, remove the detour."""
    back = reached.get(step.whole)
    if back is None:
        out.append(step)
        reached[step.whole] = len(out)
        return
    for dropped in out[back:]:
        reached.pop(dropped.whole, None)
    del out[back:]


def within(egraph: EGraph, n: int, kids: list[int]) -> int:
    """Return the e-node `n` with other (equal) children."""
    head = egraph.head[n]
    known = egraph.known(head, tuple(kids))
    if known is not None:
        return known
    return egraph.add(tuple(kids), output_of(head, [egraph.var[k] for k in kids]))


def opposite(rule: Any) -> Any:
    """Return the other direction of an equation's rule. A rule of no equation is used backwards:
    its statement about two terms holds both ways. The attribute `turned` is the rule that another
    one was made of so.
    """
    equation, turned = [getattr(rule, name, None) for name in ("equation", "turned")]
    if turned is not None:
        return turned
    if equation is None:  # (what lost no error puts it back)
        return rule.copied(name=f"{rule.name} (backwards)", keeps=None)
    return equation.backward if rule is equation.forward else equation.forward
