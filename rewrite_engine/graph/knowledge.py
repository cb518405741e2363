"""Cached answers of facts about one graph, each kept until something it depends on changes.

A fact that queries other facts depends on their answers. The dependencies are recorded while it is
computed, and an answer is dropped together with all conclusions from it, each once. Facts are
defined in `match/fact.py`; guards (`match/emit.py`) and users query them. Declarations by users
(`pipeline/assumptions.py`) are stored here too, and carry over to the replacements of a term.

Facts work on graphs of any depth. A query that is nested too deep is deferred (`Deferred`): the
evaluation answers it first, and then repeats the outer queries.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from rewrite_engine.errors import FactError
from rewrite_engine.graph.intern import prop_key
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.weak import WeakKeys

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph
    from rewrite_engine.graph.frozen import FrozenGraph

DEEP = 24  # how many facts may be inside of each other before one is put off
DEFERRALS = 2  # how often a fact is put off before all of its node's operands are asked at once

Key = tuple[Any, ...]  # a fact and its arguments
Question = tuple[Key, tuple[Any, ...]]  # a key, and the arguments as they were given

MISSING = object()


class Knowledge:
    """Answers about one graph (None: about terms outside any graph, for one query only)."""

    def __init__(self, fgraph: FrozenGraph | None = None) -> None:
        self.fgraph: Any = fgraph
        self.answers: dict[Key, Any] = {}
        #: per answer: the answers it was concluded from, and the variables that were looked at
        self.grounds: dict[Key, tuple[dict[Key, None], dict[Variable, None]]] = {}
        self.users: dict[Key, dict[Key, None]] = {}
        self.about: dict[Variable, dict[Key, None]] = {}
        #: per answer that was no: the nodes at which a rule asked; and the other way round
        self.waiting: dict[Key, dict[Apply, None]] = {}
        self.waits: dict[Apply, dict[Key, None]] = {}
        #: per variable: facts, and what the user says of them. (Weak: a history may hold variables
        #: that left, and come back with what was declared of them.)
        self.declared: WeakKeys[Variable, dict[Any, Any]] = WeakKeys()
        #: who is told of each answer that is computed: (fact, arguments, answer)
        self.told: Callable[[Any, tuple[Any, ...], Any], None] | None = None

    # --- what changes in the graph ---------------------------------------------------------------

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        """Drop answers about a variable whose type became more precise, and about its clients."""
        self.forget([var, *[out for node in fgraph.users[var] for out in node.outputs]])

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Drop answers about a node that left, and about constants that only it used."""
        if node in self.waits:
            for key in self.waits.pop(node):
                _unlink(self.waiting, key, node)
        known, gone = self.about.keys(), node.outputs
        if not (known.isdisjoint(gone) and known.isdisjoint(node.inputs)):
            clients = fgraph.users
            alone = [v for v in node.inputs if isinstance(v, Constant) and not clients.get(v)]
            self.forget([*gone, *alone])

    def forget(self, variables: Iterable[Variable]) -> None:
        """Drop the answers that depend on these variables, and all conclusions from them."""
        about = self.about
        dropped = [key for v in variables if v in about for key in about[v]]
        while dropped:
            key = dropped.pop()
            answer = self.answers.pop(key, MISSING)
            if answer is MISSING:
                continue
            dropped += self.users.pop(key, ())
            uses, seen = self.grounds.pop(key)
            for used in uses:
                _unlink(self.users, used, key)
            for v in seen:
                _unlink(about, v, key)
            for node in self.waiting.pop(key, ()):
                _unlink(self.waits, node, key)
                if node in self.fgraph.order.level:  # (a strategy may ask at what it only tries)
                    self.fgraph.schedule(node)

    def clear(self) -> None:
        """Drop all cached answers about the graph."""
        for kept in vars(self).values():
            if isinstance(kept, dict):
                kept.clear()

    def wait(self, key: Key, node: Apply) -> None:
        """Record that an answer refused a rule at a node; the node is visited again if the answer
        is dropped.
        """
        if key in self.answers:
            self.waiting.setdefault(key, {})[node] = None
            self.waits.setdefault(node, {})[key] = None

    # --- what is declared ------------------------------------------------------------------------

    def declare(self, v: Variable, said: Mapping[Any, Any]) -> None:
        """Store the user's declarations about a variable: {fact: answer}. (A constant
        needs none.)
        """
        if isinstance(v, Constant):
            return
        if not self.declared and self.fgraph is not None:
            self.fgraph.on_redirect.append(self.on_redirect)
        known = self.declared.setdefault(v, {})
        new = {fact: answer for fact, answer in said.items() if fact not in known}
        if new:
            known.update(new)
            self.forget([v])

    def on_redirect(
        self, fgraph: FunctionGraph, old: Any, new: Any, clients: Any, reason: Any
    ) -> None:
        """Transfer declarations between two terms that a rule states are equal. (A replacement by a
        user without a reason need not be equal.)
        """
        said = self.declared.get(old)
        if said is not None and reason is not None:
            self.declare(new, said)

    def declared_by(self, names: Mapping[Variable, Any]) -> dict[Any, dict[Any, Any]]:
        """Return the declarations about variables under other names."""
        return {names[v]: said for v, said in self.declared.items() if v in names}

    # --- answers ---------------------------------------------------------------------------------

    def covers(self, args: Iterable[Any]) -> bool:
        """Return whether all variables belong to the graph, which therefore announces their
        changes.
        """
        if self.fgraph is None:
            return True
        clients = self.fgraph.users
        return all(v in clients for v in variables_in(args))

    def keep(self, key: Key, answer: Any, uses: dict[Key, None], about: dict[Any, None]) -> None:
        """Cache an answer with its dependencies."""
        self.answers[key] = answer
        self.grounds[key] = uses, about
        for used in uses:
            self.users.setdefault(used, {})[key] = None
        for v in about:
            self.about.setdefault(v, {})[key] = None


def _unlink(links: dict[Any, dict[Any, None]], here: Any, key: Any) -> None:
    there = links.get(here)
    if there is not None:
        there.pop(key, None)
        if not there:
            del links[here]


def knowledge_of(fgraph: FrozenGraph) -> Knowledge:
    """Return the cached answers of a graph; the cache is created at the first query."""
    if fgraph.facts is None:
        known = Knowledge(fgraph)
        changes, prunes = fgraph.on_change_type, fgraph.on_prune
        changes, prunes = [*changes, known.on_change_type], [*prunes, known.on_prune]
        # all or nothing, also if Ctrl-C comes in between: no statement below calls anything
        fgraph.on_change_type, fgraph.on_prune, fgraph.facts = changes, prunes, known
    return fgraph.facts  # type: ignore[no-any-return]


def variables_in(args: Iterable[Any]) -> Iterator[Variable]:
    """Yield the variables among the arguments of a fact, including those inside a rest."""
    for a in args:
        if isinstance(a, Variable):
            yield a
        elif isinstance(a, tuple):
            yield from [v for v in a if isinstance(v, Variable)]


def looked_at(args: Iterable[Any], depth: int) -> dict[Variable, None]:
    """Return the variables that a fact inspects: its arguments, and those some levels below."""
    found = dict.fromkeys(variables_in(args))
    level: Sequence[Variable] = list(found)
    for _ in range(depth - 1):
        below = [w for v in level if v.owner is not None for w in v.owner.inputs]
        level = [v for v in dict.fromkeys(below) if v not in found]
        found.update(dict.fromkeys(level))
    return found


def key_for(fact: Any, args: tuple[Any, ...]) -> Key:
    """Return the key of an answer, which distinguishes numbers that Python finds equal."""
    if len(args) == 1 and isinstance(args[0], Variable):
        return fact, args[0]
    key = (fact, *[a if isinstance(a, Variable) else prop_key(a) for a in args])
    try:
        hash(key)
    except TypeError:
        return (fact, object())  # never the same question again
    return key


class Deferred(BaseException):
    """Signal that a query is nested too deep, with the query that led to it. (It is no `Exception`,
    so that facts let it pass.)
    """

    def questions(self, siblings: bool) -> list[Question]:
        """Return the queries to answer first. siblings: also the queries about the other operands
        of the querying node.
        """
        question, asker = self.args
        (fact, *_), args = question
        operands: Sequence[Variable] = ()
        if siblings and len(args) == 1:
            operands = [w for v in variables_in(asker[1]) if v.owner for w in v.owner.inputs]
        return [*[(key_for(fact, (v,)), (v,)) for v in reversed(operands)], question]


class Frame:
    """Fact that is being computed, with its queries so far."""

    __slots__ = ("question", "uses", "passing")

    def __init__(self, question: Question) -> None:
        self.question = question
        self.uses: dict[Key, None] = {}
        self.passing = False  # whether it rests on what nobody tells changes of


class Evaluation:
    """Evaluation of one query with all queries it leads to."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.frames: list[Frame] = []
        self.open: set[Key] = set()
        #: answers that hold now, and may not be kept
        self.passing: dict[Key, Any] = {}

    def first(self, key: Key, args: tuple[Any, ...]) -> Any:
        """Answer a query, after deferred queries that it needs."""
        before, current.evaluation = current.evaluation, self
        waiting: list[Question] = [(key, args)]
        put_off: dict[Key, int] = {}
        answer: Any = None
        try:
            while waiting:
                key, args = waiting[-1]
                answer = self.known(key)
                if answer is MISSING:
                    try:
                        answer = self.compute(key, args)
                    except Deferred as deeper:
                        self.open.add(key)
                        put_off[key] = put_off.get(key, 0) + 1
                        waiting += deeper.questions(put_off[key] > DEFERRALS)
                        continue
                self.open.discard(key)
                waiting.pop()
        finally:
            current.evaluation = before
        return answer

    def nested(self, key: Key, args: tuple[Any, ...]) -> Any:
        """Answer a query of the fact that is being computed."""
        asker = self.frames[-1]
        answer = self.known(key)
        if answer is MISSING:
            if key in self.open:
                raise FactError(self._circle(key))
            if len(self.frames) >= DEEP:
                raise Deferred((key, args), asker.question)
            answer = self.compute(key, args)
        if key in self.passing:
            asker.passing = True
        else:
            asker.uses[key] = None
        return answer

    def known(self, key: Key) -> Any:
        """Return a cached answer, or MISSING."""
        answer = self.knowledge.answers.get(key, MISSING)
        return self.passing.get(key, MISSING) if answer is MISSING else answer

    def compute(self, key: Key, args: tuple[Any, ...]) -> Any:
        """Compute a fact and cache its answer."""
        fact, frame, knowledge = key[0], Frame((key, args)), self.knowledge
        self.frames.append(frame)
        self.open.add(key)
        try:
            answer = fact.look(knowledge, args)
        finally:
            self.frames.pop()
            self.open.discard(key)
        if knowledge.told is not None:
            knowledge.told(fact, args, answer)
        if frame.passing or fact.wants_graph or not knowledge.covers(args):
            self.passing[key] = answer
        elif knowledge.fgraph is None:
            knowledge.answers[key] = answer
        else:
            knowledge.keep(key, answer, frame.uses, looked_at(args, fact.depth))
        return answer

    def _circle(self, key: Key) -> str:
        asked = [frame.question[0][0].name for frame in self.frames]
        name = key[0].name
        asked = asked[asked.index(name) :] if name in asked else asked
        return (
            f"facts ask each other in a circle: {' asks '.join([*asked, name])}, of the same term"
        )


class CurrentEvaluation(threading.local):
    """Evaluation of this thread while facts are computed, and the graph being rewritten, whose
    answers are cached. (Only the call that makes an evaluation holds it, so it ends with the call,
    also if that is interrupted.)
    """

    held: Callable[[], Evaluation | None] | None = None
    fgraph: FunctionGraph | None = None

    @property
    def evaluation(self) -> Evaluation | None:
        """Evaluation in progress, or None."""
        return None if self.held is None else self.held()

    @evaluation.setter
    def evaluation(self, value: Evaluation | None) -> None:
        self.held = None if value is None else ref(value)


current = CurrentEvaluation()
