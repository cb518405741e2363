"""PyTensor's databases of rules, in which PyMC stores its own: `SequenceDB`, `EquilibriumDB`,
`LocalGroupDB`, `TopoDB`. Also the decorators that register a rule in the pipeline, and PyTensor's
drivers and features that have another form here.

A missing name may be registered as a rule: the database leaves it out and lists it in `missing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from rewrite_engine.compat import is_missing
from rewrite_engine.compat.rewriters import EquilibriumGraphRewriter
from rewrite_engine.compat.rewriting import POSITIONS, in2out, optdb, out2in, read_query
from rewrite_engine.config import config
from rewrite_engine.errors import UnknownNameError, refuse_options
from rewrite_engine.graph.feature import AlreadyThere, Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import rewrite_graph
from rewrite_engine.rewrite.driver import Fixpoint, GraphRewriter, SequentialOptimizer
from rewrite_engine.rewrite.fold import constant_folding
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.shape import shape_i
from rewrite_engine.tensor.type import TensorType

__all__ = [
    "OPT_FAST_COMPILE",
    "OPT_FAST_RUN",
    "OPT_NONE",
    "EquilibriumDB",
    "LocalGroupDB",
    "RewriteDatabase",
    "SequenceDB",
    "ShapeFeature",
    "ShapeOptimizer",
    "TopoDB",
    "elemwise_of",
    "infer_shape_db",
    "predefined_optimizers",
    "register_canonicalize",
    "register_specialize",
    "register_stabilize",
    "topo_unconditional_constant_folding",
]


class RewriteDatabaseQuery(Query):
    """Query with PyTensor's order of arguments. A None among the included names selects no phase.
    position_cutoff (also set later): leaves out phases after this position of PyTensor's; it has no
    effect in other databases. Unnamed rewriters have no effect.
    """

    def __init__(
        self,
        include: Iterable[Any] = (),
        require: Iterable[Any] | None = None,
        exclude: Iterable[Any] | None = None,
        subquery: None = None,
        position_cutoff: float | None = None,
        extra_rewrites: Iterable[Any] | None = None,
    ) -> None:
        why = "a query consists of names"
        refuse_options("Query", why, subquery=subquery or None, extra=extra_rewrites or None)
        names = [include] if isinstance(include, str) else include or ()
        wanted = ["merge" if name is None else name for name in names]
        super().__init__(wanted, exclude or (), require or ())  # type: ignore[arg-type]
        if position_cutoff is not None:
            self.position_cutoff = position_cutoff

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "position_cutoff":
            raise AttributeError(f"a query cannot be changed: {name!r} cannot be set")
        later = [phase for phase, place in POSITIONS.items() if place > value]
        object.__setattr__(self, "exclude", self.exclude | frozenset(later))


OPT_NONE, OPT_FAST_RUN = RewriteDatabaseQuery([None]), RewriteDatabaseQuery(["fast_run"])
OPT_FAST_COMPILE = RewriteDatabaseQuery(["canonicalize"])
#: {the name of an optimizer: what it asks}
predefined_optimizers = {
    None: OPT_NONE, "None": OPT_NONE, "fast_run": OPT_FAST_RUN, "FAST_RUN": OPT_FAST_RUN,
    "fast_compile": OPT_FAST_COMPILE, "FAST_COMPILE": OPT_FAST_COMPILE,
}  # fmt: skip


class RewriteDatabase:
    """Database of rules, drivers and databases by name, with tags; `query` makes a driver of the
    selected ones.

    A subclass defines `driver(found)`, for pairs of a position and an entry.
    """

    def __init__(self) -> None:
        self.name: str | None = None
        self.entries: dict[str, tuple[Any, frozenset[str], float]] = {}
        #: the names of rules that are not in rewrite_engine
        self.missing: list[str] = []

    def register(
        self,
        name: str,
        rewriter: Any,
        *tags: str,
        position: float = 0,
        use_db_name_as_tag: bool = True,
        **unknown: Any,
    ) -> None:
        """Store a rule, a driver or a database under a name. Raises `ValueError` for a name that is
        taken, `OptionError`.
        """
        refuse_options("register", "a database has names, tags and positions", **unknown)
        if name in self.entries:
            raise ValueError(f"the database already has a rule called {name!r}")
        if is_missing(rewriter):
            self.missing.append(name)
            return
        own = {self.name} if use_db_name_as_tag and self.name else set()
        self.entries[name] = rewriter, frozenset({name, *tags, *own}), position

    def query(self, *tags: Any, **how: Any) -> Any:
        """Return the driver for the entries that have one of the included tags, all required ones,
        and none of the excluded. Takes the arguments of `optdb.query`.
        """
        query = read_query(*tags, **how)
        found = []
        for rewriter, names, position in self.entries.values():
            if query.include & names and query.selects(names):
                part = rewriter.query(query) if hasattr(rewriter, "query") else rewriter
                found.append((position, part))
        return self.driver(found)

    @property
    def default_query(self) -> Any:
        """Return the driver for all entries."""
        every = Query(frozenset(self.entries) | {"basic"})
        return self.query(every)

    def driver(self, found: Iterable[tuple[float, Any]]) -> Any:
        """Return a driver that runs the entries."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> Any:
        if name not in self.entries:
            raise UnknownNameError(f"the database has no rule called {name!r}")
        return self.entries[name][0]

    def __contains__(self, name: str) -> bool:
        return name in self.entries


class SequenceDB(RewriteDatabase):
    """Database that runs its entries one after the other, by `position`; rules once at each
    node.
    """

    def driver(self, found: Iterable[tuple[float, Any]]) -> GraphRewriter:
        parts = [part for _, part in sorted(found, key=lambda pair: pair[0])]
        drivers = [in2out(part) if isinstance(part, Rule) else part for part in parts]
        return SequentialOptimizer(drivers, self.name or "sequence")


class EquilibriumDB(RewriteDatabase):
    """Database that applies rules until none applies; with drivers, all of them until nothing
    changes.
    """

    def driver(self, found: Iterable[tuple[float, Any]]) -> GraphRewriter:
        parts = [part for _, part in found]
        drivers = [part for part in parts if isinstance(part, GraphRewriter)]
        rules = EquilibriumGraphRewriter([p for p in parts if p not in drivers], name=self.name)
        return Fixpoint(SequentialOptimizer([rules, *drivers])) if drivers else rules


class LocalGroupDB(RewriteDatabase):
    """Database of rules that applies the first matching one at each node."""

    def driver(self, found: Iterable[tuple[float, Any]]) -> RuleSet:
        return RuleSet([part for _, part in found])


class TopoDB(RewriteDatabase):
    """Database that applies the rules of another one at each node in an order. ignore_newtrees:
    skip the nodes that rules made.
    """

    def __init__(
        self,
        db: RewriteDatabase,
        order: str = "in_to_out",
        ignore_newtrees: bool = False,
        failure_callback: None = None,
    ) -> None:
        super().__init__()
        refuse_options("TopoDB", "a rule that fails is an error", failure_callback=failure_callback)
        self.db, self.order, self.ignore_newtrees = db, order, ignore_newtrees

    def query(self, *tags: Any, **how: Any) -> GraphRewriter:
        """Return the driver for the selected rules of the other database."""
        walk = in2out if self.order == "in_to_out" else out2in
        rules = self.db.query(*tags, **how)
        return walk(rules, name=self.db.name, ignore_newtrees=self.ignore_newtrees)


# --- rules of the pipeline -----------------------------------------------------------------------


def _registering(phase: str) -> Callable[..., Any]:
    def register(rule: Any, *tags: str, **options: Any) -> Any:
        if isinstance(rule, str):  # tags alone: a decorator
            return lambda fn: register(fn, rule, *tags, **options)
        optdb[phase].register(options.pop("name", rule.short_name), rule, phase, *tags, **options)
        return rule

    register.__doc__ = f"Let the phase {phase!r} use a rule from now on; usable as a decorator."
    return register


register_canonicalize = _registering("canonicalize")
register_stabilize = _registering("stabilize")
register_specialize = _registering("specialize")


def elemwise_of(kind: Any) -> Callable[[Any], bool]:
    """Return a tracker for elementwise ops whose scalar op is of a class."""

    def elemwise(op: Any) -> bool:
        return isinstance(op, Elemwise) and isinstance(op.scalar_op, kind)

    return elemwise


# --- shapes and constants ------------------------------------------------------------------------


class ShapeFeature(Feature):
    """Feature that computes shapes from operands, whether or not these fit, as in PyTensor: PyMC
    relies on it to replace the shape of a draw. It stores nothing, and is `shape_feature` of the
    graph.
    """

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if any(isinstance(feature, ShapeFeature) for feature in fgraph.features):
            raise AlreadyThere
        infer_shape_db.default_query.rewrite(fgraph)
        fgraph.shape_feature = self  # type: ignore[attr-defined]

    def get_shape(self, var: Any, idx: int) -> Any:
        """Return the length of a dimension, computed without the variable if possible."""
        driver = infer_shape_db.default_query
        return rewrite_graph(shape_i(var, idx), include=(), custom_rewrite=driver)

    def shape_tuple(self, var: Any) -> tuple[Any, ...] | None:
        """The lengths of a variable; None for what is no tensor."""
        return self.shape_of[var]  # type: ignore[no-any-return]

    @property
    def shape_of(self) -> ShapeOf:
        """Mapping {variable: its lengths}."""
        return ShapeOf(self)

    def same_shape(
        self, x: Any, y: Any, dim_x: int | None = None, dim_y: int | None = None
    ) -> bool:
        """Return whether two variables, or one dimension of each, are known to have equal lengths.
        Raises `AxisError`.
        """
        if dim_x is None and dim_y is None and x.type.ndim != y.type.ndim:
            return False
        own = range(x.type.ndim) if dim_x is None else [dim_x]
        other = range(y.type.ndim) if dim_y is None else [dim_y]
        pairs = zip([shape_i(x, i) for i in own], [shape_i(y, i) for i in other], strict=True)
        lengths = [n for pair in pairs for n in pair]
        found = rewrite_graph(lengths, include=(), custom_rewrite=shape_rules())
        return bool(equal_computations(found[::2], found[1::2]))


class ShapeOf(Mapping[Any, Any]):
    """Mapping {variable: its lengths, as a `ShapeFeature` computes them}; None for variables that
    are not tensors.
    """

    def __init__(self, feature: ShapeFeature) -> None:
        self.feature = feature

    def __getitem__(self, var: Any) -> Any:
        if not isinstance(var.type, TensorType):
            return None
        return tuple([self.feature.get_shape(var, i) for i in range(var.type.ndim)])

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0


class ShapeOptimizer(GraphRewriter):
    """Driver that attaches a `ShapeFeature`."""

    def apply(self, fgraph: FunctionGraph) -> None:  # type: ignore[override]
        fgraph.attach_feature(ShapeFeature())


class _ShapeRules(RewriteDatabase):
    """Database of rules that compute shapes from operands, whether or not these fit."""

    @property
    def default_query(self) -> Any:
        return shape_rules("shape_unsafe")


def shape_rules(*grants: str) -> EquilibriumGraphRewriter:
    """Return the driver of the rules for shapes, and of those that need these grants."""
    rules = RuleSet.of(import_module("rewrite_engine.rules.shape")).including(*grants)
    return EquilibriumGraphRewriter(rules + constant_folding, name="infer_shape")


infer_shape_db = _ShapeRules()


class UnconditionalFolding(GraphRewriter):
    """Driver that computes every node whose inputs are constants, however large the result is."""

    def apply(self, fgraph: FunctionGraph) -> None:  # type: ignore[override]
        with config.change_flags(fold_limit=1 << 62):
            in2out(constant_folding).rewrite(fgraph)


topo_unconditional_constant_folding = UnconditionalFolding()
