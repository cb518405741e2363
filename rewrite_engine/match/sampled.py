"""Patterns of functions that look at types, such as `pt.linalg.inv(a)`: a rule's variables have no
types, so the expression is evaluated on samples of all dtypes, of unknown and of static lengths.

What `canonicalize` leaves of these terms is generalised: where they differ, a *part* stands for any
term, and a guard builds the expression on the operands that were found, and compares the parts. So
`pt.diag(u)` is the pattern `SetDiagonal(part, u)`, whose part is a constant matrix of zeros if the
length of `u` is static, and otherwise zeros of a computed shape. Terms that have nothing in common
but their variables are several forms of one pattern.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from rewrite_engine import hooks
from rewrite_engine.errors import PatternError
from rewrite_engine.graph.node import CONSTANT, Variable
from rewrite_engine.graph.number import roundings
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.build import build
from rewrite_engine.match.interpret import match_root
from rewrite_engine.match.lower import Condition, lower_pattern
from rewrite_engine.match.pattern import Anything, OpNode, Sort, holes
from rewrite_engine.match.sample import choose_sample
from rewrite_engine.terms.logic import LogicVariable, Term, nth

LENGTHS = (None, 3, 5)  # of samples: None is an unknown one
MAX_FORMS = 6  # of one expression
MAX_CONE_NODES = 500  # below operands, in which a part is compared
SHIPPED = "rewrite_engine.rules."  # modules whose rules make the normal form
PART = "part"  # with numbers: the names of parts

Path = tuple[int, ...]


class SampledLeaf(NamedTuple):
    """A variable of the rule, by its name."""

    name: str


class SampledNumber(NamedTuple):
    """A constant that is one number."""

    value: Any


class SampledPart(NamedTuple):
    """A place where the terms of samples differ. path: of inputs, from the root."""

    path: Path


class SampledNode(NamedTuple):
    """An output of an op on others. place: of one of several outputs; None for the op's result."""

    op: Any
    place: int | None
    args: tuple[Any, ...]


Tree = SampledLeaf | SampledNumber | SampledPart | SampledNode


def tree_of(v: Any, leaves: Mapping[Any, str], path: Path = ()) -> Tree:
    """Return the tree of a term; an array of constants is a part. leaves: names of variables."""
    if v in leaves:
        return SampledLeaf(leaves[v])
    if v.head is CONSTANT and v.number is not None:
        return SampledNumber(v.number)
    if v.owner is None:
        return SampledPart(path)
    args = [tree_of(u, leaves, (*path, i)) for i, u in enumerate(v.owner.inputs)]
    return SampledNode(v.owner.op, None if v.head is v.owner.op else v.index, tuple(args))


def general(a: Tree, b: Tree, path: Path = ()) -> Tree:
    """Return the tree with a part wherever two trees differ."""
    if isinstance(a, SampledNumber) and isinstance(b, SampledNumber) and repr(a) != repr(b):
        return a if b.value in roundings(a.value) else SampledPart(path)  # of another dtype
    if not isinstance(a, SampledNode) or not isinstance(b, SampledNode):
        same = type(a) is type(b) and repr(a) == repr(b)  # (as text, a NaN is equal to itself)
        return a if same else SampledPart(path)
    if (a.op, a.place, len(a.args)) != (b.op, b.place, len(b.args)):
        return SampledPart(path)
    pairs = zip(a.args, b.args, strict=True)
    args = [general(x, y, (*path, i)) for i, (x, y) in enumerate(pairs)]
    return SampledNode(a.op, a.place, tuple(args))


def nodes_of(tree: Tree) -> Iterator[Tree]:
    """Yield a tree and all trees in it."""
    stack = [tree]
    while stack:
        one = stack.pop()
        yield one
        stack += reversed(one.args) if isinstance(one, SampledNode) else ()


def names_in(tree: Tree) -> frozenset[str]:
    """Return the names of the variables in a tree."""
    return frozenset([one.name for one in nodes_of(tree) if isinstance(one, SampledLeaf)])


class SampledForm(NamedTuple):
    """A pattern for an expression, with conditions on its parts, and the variables of these."""

    value: Any
    guards: tuple[Condition, ...] = ()
    parts: tuple[LogicVariable, ...] = ()


def forms_of(
    code: ast.expr,
    names: Mapping[str, Any],
    lvars: Mapping[str, LogicVariable],
    module: str,
    number: int,
) -> list[SampledForm]:
    """Return the patterns of an expression in a rule function of a module, the most common one
    first. Raises `PatternError`, and what the expression raises on samples.
    """
    return Expression(code, names, lvars, not module.startswith(SHIPPED), number).forms()


class Expression:
    """An expression in a rule function. names: values of the names in it, of which some are
    patterns; lvars: the variables of the rule; is_normal: whether its terms are brought into normal
    form; number: it is the one with that number.
    """

    def __init__(
        self,
        code: ast.expr,
        names: Mapping[str, Any],
        lvars: Mapping[str, LogicVariable],
        is_normal: bool,
        number: int,
    ) -> None:
        self.names, self.lvars, self.is_normal, self.number = names, lvars, is_normal, number
        self.text = ast.unparse(code)
        self.compiled = compile(self.text, "<expression of a rule>", "eval")
        used = {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}
        self.terms = {n: v for n, v in names.items() if n in used and isinstance(v, Term)}
        patterns = {n: lower_pattern(v) for n, v in self.terms.items()}
        self.holes = {n: h for p in patterns.values() for n, h in holes(p).items()}
        self.patterns = patterns
        self.variable = type(next(iter(lvars.values())))
        self.built: list[Any] = []  # terms of unknown lengths

    def forms(self) -> list[SampledForm]:
        """Return the patterns of the expression, the most common one first. Raises `PatternError`,
        and what the expression raises on the first sample.
        """
        trees: list[Tree] = []
        for count, samples in enumerate(self.samples()):
            try:
                term = self.on(samples)
            except Exception:  # there is no such term of these dtypes
                if not count:
                    raise
                continue
            if not isinstance(term, Variable):
                return [SampledForm(self.outputs(term, samples))]
            self.built += [] if any(map(_has_lengths, samples.values())) else [term]
            self.add(trees, term, {v: name for name, v in samples.items()})
        if len(trees) > MAX_FORMS:
            raise PatternError(f"`{self.text}` builds {len(trees)} different terms")
        return [self.form(tree) for tree in trees]

    def add(self, trees: list[Tree], term: Any, leaves: Mapping[Any, str]) -> None:
        """Add the tree of a term to those that it does not have in common with others."""
        own = tree_of(term, leaves)
        for i, known in enumerate(trees):
            joined = general(known, own)
            if isinstance(joined, SampledNode) and names_in(joined) == names_in(known) == names_in(
                own
            ):
                trees[i] = joined
                return
        if not isinstance(own, SampledNode):
            raise PatternError(f"`{self.text}` is not an op: it would match everything")
        known_patterns = [lower_pattern(self.pattern(tree)) for tree in trees]
        if not any([matches(p, term) for p in known_patterns]):  # (of an operand that is cast)
            trees.append(own)

    def samples(self) -> Iterator[dict[str, Any]]:
        """Yield variables of a graph for the variables of the rule: of one dtype, with unknown and
        with static lengths.
        """
        seen = set[Any]()
        for i, world in enumerate(self.variable.worlds()):
            chosen = {n: choose_sample(h, i, world, ()) for n, h in self.holes.items()}
            if None in chosen.values():
                continue
            for n in LENGTHS[: 3 if not seen else 2]:
                found = {name: _of_length(v, n, name) for name, v in chosen.items()}
                key = tuple([v.type for v in found.values()])
                if key not in seen:
                    seen.add(key)
                    yield found

    def on(self, operands: Mapping[str, Any]) -> Any:
        """Return the value of the expression on operands, in normal form."""
        built = {name: build(p, dict(operands)) for name, p in self.patterns.items()}
        value = eval(self.compiled, {**self.names, **built})
        if not isinstance(value, Variable) or not self.is_normal:
            return value
        return value if _is_flat(value, operands) else hooks.rewrite_graph(value)

    def outputs(self, value: Any, samples: Mapping[str, Any]) -> Any:
        """Return the patterns of several terms, such as all outputs of an op."""
        if not isinstance(value, list | tuple) or not all(isinstance(v, Variable) for v in value):
            raise PatternError(f"`{self.text}` builds no term")
        leaves = {v: name for name, v in samples.items()}
        trees = [tree_of(v, leaves) for v in value]
        owners = {v.owner for v in value}
        if any([isinstance(one, SampledPart) for tree in trees for one in nodes_of(tree)]):
            raise PatternError(f"`{self.text}` builds terms that lengths or dtypes decide")
        if len(owners) == 1 and list(value) == list(value[0].owner.outputs):
            return self.applied(trees[0])
        return tuple([self.pattern(tree) for tree in trees])

    # --- patterns ---------------------------------------------------------------------------------

    def form(self, tree: Tree) -> SampledForm:
        """Return the pattern of a tree, with a guard if it has parts."""
        paths = [
            *dict.fromkeys([one.path for one in nodes_of(tree) if isinstance(one, SampledPart)])
        ]
        if not paths:
            return SampledForm(self.pattern(tree))
        parts = [self.part(path) for path in paths]
        names = dict(zip([p.name for p in parts], paths, strict=True))
        same = SameParts(self, tree, [*self.holes], names)
        args = (*[self.lvars[name] for name in self.holes], *parts)
        text = f"{self.text} builds {', '.join(same.paths)}"
        return SampledForm(self.pattern(tree), (Condition(same, args, text),), tuple(parts))

    def part(self, path: Path) -> LogicVariable:
        """Return the variable of a part."""
        key = "_".join(map(str, (PART, self.number, *path)))
        return self.variable(key, sort=self.sort(path))

    def sort(self, path: Path) -> Sort:
        """Return the sort of a part: terms of the rank that it has in samples."""
        known = []
        for term in self.built:
            with suppress(AttributeError, IndexError):
                known.append(at(term, path).type)
        ranks = {getattr(t, "ndim", None) for t in known}
        if len(ranks) != 1 or None in ranks:
            return Anything
        (ndim,) = ranks
        return Sort(
            f"rank {ndim}",
            lambda v: v.type.ndim == ndim,
            f"{{v}}.type.ndim == {ndim}",
            samples=lambda: [t() for t in known],
        )

    def pattern(self, tree: Tree) -> Any:
        """Return the pattern of a tree as an author writes it."""
        if isinstance(tree, SampledLeaf):
            return self.lvars[tree.name]
        if isinstance(tree, SampledNumber):
            return tree.value
        if isinstance(tree, SampledPart):
            return self.part(tree.path)
        whole = self.applied(tree)
        return whole if tree.place is None else self.variable.pattern_type((nth, tree.place, whole))

    def applied(self, tree: Any) -> Any:
        """Return the pattern of an op on its operands."""
        return self.variable.applied(tree.op, (tree.op, *[self.pattern(a) for a in tree.args]))


class SameParts:
    """Guard of parts: whether an expression builds them on the operands that were found.

    tree: of the expression; names: of the operands; paths: of each part, in the order of the
    guard's arguments.
    """

    def __init__(
        self, expression: Expression, tree: Tree, names: Sequence[str], paths: Mapping[str, Path]
    ) -> None:
        self.expression, self.tree, self.names, self.paths = expression, tree, names, paths

    def __call__(self, *values: Any) -> bool:
        """Return whether the parts are those that are built on other variables of the operands'
        types, or, for lengths that are computed otherwise, on the operands themselves.
        """
        operands, parts = dict(zip(self.names, values, strict=False)), values[len(self.names) :]
        free = {name: v.type(name) for name, v in operands.items()}
        try:
            own = [*self.built(free).values()]
            if equal_computations(own, list(parts), [*free.values()], [*operands.values()]):
                return True
            if sum(1 for _ in toposort([*operands.values(), *parts])) > MAX_CONE_NODES:
                return False
            term = self.expression.on(operands)
            own = [at(term, path) for path in self.paths.values()]
            both = hooks.rewrite_graph([*own, *parts])
        except Exception:  # on these there is no such term
            return False
        return equal_computations(both[: len(own)], both[len(own) :])

    def built(self, operands: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts that the expression builds on variables of a graph. Raises its errors,
        and `PatternError` if it builds another term.
        """
        term = self.expression.on(operands)
        if general(self.tree, tree_of(term, {v: n for n, v in operands.items()})) != self.tree:
            raise PatternError(f"`{self.expression.text}` builds another term")
        return {name: at(term, path) for name, path in self.paths.items()}


def at(term: Any, path: Path) -> Any:
    """Return the operand at a path. Raises `AttributeError`, `IndexError` if there is none."""
    for i in path:
        term = term.owner.inputs[i]
    return term


def matches(pattern: Any, term: Any) -> bool:
    """Whether a pattern matches a term, guards aside."""
    if not isinstance(pattern, OpNode) or term.owner is None:
        return False
    return next(match_root(pattern, term.owner), None) is not None


def _of_length(v: Any, n: int | None, name: str) -> Any:
    """Return a variable of the type of a sample, with static lengths instead of unknown ones."""
    if v.head is CONSTANT or n is None or None not in getattr(v.type, "shape", ()):
        return v if v.head is CONSTANT else v.type(name)
    return v.type.clone(shape=tuple([n if m is None else m for m in v.type.shape]))(name)


def _has_lengths(v: Any) -> bool:
    """Whether a sample has static lengths that its sort does not ask for."""
    shape = getattr(v.type, "shape", ())
    return bool(shape) and None not in shape and set(shape) <= {*LENGTHS}


def _is_flat(term: Any, operands: Mapping[str, Any]) -> bool:
    """Whether a term is one op on operands and numbers, which is its normal form."""
    leaves = set(operands.values())
    node = term.owner
    return node is None or all([v in leaves or v.head is CONSTANT for v in node.inputs])
