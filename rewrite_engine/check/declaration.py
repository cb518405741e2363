"""Facts against values, and ops against what they say of themselves.

An op is run on its samples by what DebugMode holds it to (`link/debug/contract.py`): memory, shape
rule, range, implied facts, all of its forms. What follows from its algebra (`identity`,
`commutative`, `idempotent`) and its gradient are held against values here.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.check.draw import draws
from rewrite_engine.check.finding import Finding, Kind
from rewrite_engine.check.node import ELEMENTWISE, applied, as_op, sampled
from rewrite_engine.check.oracle import computed
from rewrite_engine.check.target import Names, is_of
from rewrite_engine.errors import (
    BadDestroyMap,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    GradientError,
    InvalidValueError,
    RewriteEngineError,
)
from rewrite_engine.gradient import verify_grad
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.link.debug.contract import Contract, DebugOptions
from rewrite_engine.link.debug.evidence import holds
from rewrite_engine.link.linker import get_linker
from rewrite_engine.match.fact import Fact
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.op import TensorOp
from rewrite_engine.tensor.type import TensorType

NAMES = {
    BadDestroyMap: "destroy_map",
    BadViewMap: "view_map",
    InvalidValueError: "declaration",
    BadThunkOutput: "forms",
}
REPEATS = 12  # nodes of one op that are run
SLOPES = 4  # numbers at which a gradient is looked at


# --- facts ----------------------------------------------------------------------------------------


def check_fact(fact: Fact, spaces: Sequence[Names] = ()) -> Iterator[Finding]:
    """Yield what a fact says that is not true of values. spaces: the names of modules whose cases
    are looked at, of a fact that is not of one of them; none: all.
    """
    if not fact.unary:
        return
    own = not spaces or is_of(fact.fn, spaces)
    for op, cases in fact.cases.items():
        for case in cases:
            if not own and not is_of(case, spaces):
                continue
            yield from _fact_at(fact, _results(op), case)
    if own:
        found = [term for op in ELEMENTWISE for term in applied(op, ("float64", "int64"))]
        yield from _fact_at(fact, found, fact.fn)


def _results(op: Any) -> list[Any]:
    if isinstance(op, type):
        if not issubclass(op, TensorOp) or op is Elemwise:
            return []
        return [made.make_node(*own).outputs[0] for made, own, _ in sampled(op)]
    return list(applied(op))


def _fact_at(fact: Fact, terms: Sequence[Any], fn: Any) -> Iterator[Finding]:
    code = inspect.unwrap(fn).__code__
    where = code.co_filename, code.co_firstlineno
    subject = fact.name if fn is fact.fn else f"{fact.name}.case {fn.__name__}"
    for seed, term in enumerate(terms):
        try:
            answer = fact(term)
        except Exception as error:
            why = f"it raises {type(error).__name__}: {error}"
            yield Finding(Kind.WRONG, "facts", "fact", subject, where, why, brief(term, 9))
            return
        wrong = _untrue(fact, term, answer, seed) if answer else None
        if wrong is not None:
            lines = f"{brief(term, 9)}: {answer}\n{wrong}"
            why = "what it says is not true of values"
            yield Finding(Kind.WRONG, "facts", "fact", subject, where, why, lines)
            return


def _untrue(fact: Fact, term: Any, answer: Any, seed: int) -> str | None:
    """Values of which the answer is not true."""
    inputs = list(dict.fromkeys(explicit_graph_inputs([term])))
    for given in draws(inputs, seed):
        found = computed(term, given)
        if isinstance(found, Exception):
            continue
        wrong = _false_of(fact, term, answer, found[term])
        if wrong is not None:
            one = {str(v): np.asarray(a).ravel()[:4].tolist() for v, a in given.items()}
            return f"its value: {wrong}" if wrong.size == 1 else f"of {one}: {wrong}"
    return None


def _false_of(fact: Fact, term: Any, answer: Any, value: Any) -> Any:
    """The part of a value of which the answer is not true, one element if that is enough."""

    def is_false(part: Any) -> bool:
        return holds(fact, [term], answer, lambda v: part) is False

    if not is_false(value):
        return None
    each = [value[i : i + 1] for i in range(value.size)] if value.ndim == 1 else []
    return next((part for part in each if is_false(part)), value)


# --- ops ------------------------------------------------------------------------------------------


def check_op(what: Any) -> Iterator[Finding]:
    """Yield what an op, or a class of ops that has `samples`, says of itself and is not true."""
    what = as_op(what)
    where = _where(what)
    name = str(getattr(what, "__name__", what))
    found = False
    for node, values in _nodes(what):
        found = True
        wrong = _broken_contract(node, values) or _broken_gradient(node, values)
        if wrong is not None:
            yield Finding(Kind.WRONG, "ops", wrong[0], name, where, wrong[1], wrong[2])
            return
    if not found:
        why = "it says no samples, and its types tell none"
        fix = "samples = (({}, (2, 3)), …): parameters, and of each input a shape or a value"
        yield Finding(Kind.UNPROVED, "ops", "no samples", name, where, why, fix=fix)
    if isinstance(what, Elemwise):
        yield from _algebra(what, name, where)


def _where(what: Any) -> tuple[str, int] | None:
    """Where an op is defined."""
    cls = what if isinstance(what, type) else type(what)
    compute = getattr(getattr(what, "scalar_op", None), "compute", None)
    try:
        code = getattr(compute, "__code__", None)
        if code is not None:
            return code.co_filename, code.co_firstlineno
        return inspect.getsourcefile(cls) or "", inspect.getsourcelines(cls)[1]
    except (OSError, TypeError):
        return None


def _nodes(what: Any) -> Iterator[tuple[Apply, list[Any]]]:
    """Yield nodes with values for their inputs."""
    cls = what if isinstance(what, type) else type(what)
    if isinstance(what, Elemwise):
        for seed, term in enumerate(applied(what, ("float64", "float32", "int64"))):
            node = term.owner
            if seed % 5 == 0 and all(v.owner is None for v in node.inputs):
                own = [v for v in dict.fromkeys(node.inputs) if not hasattr(v, "data")]
                for given in list(draws(own, seed))[:3]:
                    values = [getattr(v, "data", given.get(v)) for v in node.inputs]
                    yield node, [_normal(v) for v in values]
    elif getattr(cls, "samples", ()):
        for op, own, values in sampled(cls):
            if isinstance(what, type) or op == what:
                yield op.make_node(*own), values
    elif not isinstance(what, type) and all(isinstance(t, TensorType) for t in what.itypes or [0]):
        own = [t() for t in what.itypes]
        yield from [(what.make_node(*own), list(g.values())) for g in draws(own, 0)][:REPEATS]


def _normal(value: Any) -> Any:
    """A value without subnormal numbers: what SciPy makes of these is nobody's promise."""
    a = np.asarray(value)
    if a.dtype.kind != "f":
        return a
    with np.errstate(all="ignore"):
        return np.where(np.abs(a) < np.finfo(a.dtype).tiny, a.dtype.type(0), a)


def _broken_contract(node: Apply, values: Sequence[Any]) -> tuple[str, str, str] | None:
    options = DebugOptions.of_config()._replace(warn_input_not_reused=False)
    contract = Contract(get_linker("py"), options)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            contract.run(node, [np.array(v) for v in values])
    except DebugModeError as error:
        name = next((n for cls, n in NAMES.items() if isinstance(error, cls)), "contract")
        if "shape" in str(error).partition("\n")[0]:
            name = "shape"
        first, _, rest = str(error).partition("\n")
        return name, first, rest
    except Exception:  # such values are refused
        return None
    return None


def _broken_gradient(node: Apply, values: Sequence[Any]) -> tuple[str, str, str] | None:
    """What is wrong with a gradient, at ordinary numbers within the domain. (At one point alone
    differences may be wrong, as where a matrix is nearly singular.)
    """
    op = node.op
    floats = all(v.type.dtype == "float64" for v in [*node.inputs, *node.outputs[:1]])
    if not floats or (isinstance(op, Elemwise) and op.scalar_op.gradient is None):
        return None
    found = None
    for seed in (1, 2):
        elementwise = isinstance(op, Elemwise)
        point = _inside(op, len(values), seed) if elementwise else _moved(values, seed)
        if not all(p.size and np.isfinite(p).all() for p in point):
            return None
        found = _broken_slope(op, point)
        if found is None:
            return None
    return found


def _moved(values: Sequence[Any], seed: int) -> list[Any]:
    """Values; other ones nearby for another seed."""
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(v) for v in values]
    return arrays if seed == 1 else [a * rng.uniform(0.5, 1.5, a.shape) for a in arrays]


def _broken_slope(op: Any, point: Sequence[Any]) -> tuple[str, str, str] | None:
    def value(*xs: Any) -> Any:
        low = getattr(op, "triangular", ())
        return op.make_node(*[pt.tril(x) if i in low else x for i, x in enumerate(xs)]).outputs[0]

    try:
        verify_grad(value, point, n_tests=1)
    except GradientError as error:
        if "is wrong at" not in str(error):  # nobody has written it
            return None
        return "gradient", "its gradient is not that of its values", str(error)
    except NotImplementedError:
        return None
    except Exception as error:
        return "gradient", "its gradient raises an error", f"{type(error).__name__}: {error}"
    return None


def _inside(op: Elemwise, nin: int, seed: int) -> list[Any]:
    """A few ordinary numbers for each operand, within its domain, at which a function is finite."""
    rng, domains = np.random.default_rng(seed), op.scalar_op.domain
    point = []
    for i in range(nin):
        domain = domains[min(i, len(domains) - 1)]
        low, high = max(domain[0], -3.0), min(domain[1], 3.0)
        point.append(rng.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low), 60))
    xs = [TensorType("float64", (None,))() for _ in point]
    value = computed(op(*xs), dict(zip(xs, point, strict=True)))
    if isinstance(value, Exception):
        return point
    found = np.isfinite(next(reversed(value.values())))
    return [p[found][:SLOPES] for p in point]


#: three operands of which no two are equal anywhere
OPERANDS = ([1, -2, 3, 7, 2], [4, 2, -5, 7.5, 0], [2, 5, 9, -1, 6])


def _algebra(op: Elemwise, name: str, where: Any) -> Iterator[Finding]:
    """Yield what does not hold of identity, order and repetition, up to rounding."""
    for dtype in ("float64", "int64"):
        x, y, z = [TensorType(dtype, (None,))(n) for n in "xyz"]
        given = {v: np.array(a).astype(dtype) for v, a in zip((x, y, z), OPERANDS, strict=True)}
        try:
            laws = list(_laws(op, x, y, z))
        except RewriteEngineError:  # not of these dtypes
            continue
        for law, left, right in laws:
            a, b = [computed(v, given) for v in (left, right)]
            if isinstance(a, Exception) or isinstance(b, Exception):
                continue
            found, wanted = np.broadcast_arrays(a[left], b[right])
            if not np.allclose(found, wanted, equal_nan=True):
                said = f"{law}={getattr(op, law)!r}: {brief(left, 9)} is not {brief(right, 9)}"
                text = ", ".join([f"{v} = {n.tolist()}" for v, n in given.items()])
                text += f": {found.tolist()}, not {wanted.tolist()}"
                yield Finding(Kind.WRONG, "ops", law, name, where, said, text)
                return


def _laws(op: Elemwise, x: Any, y: Any, z: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield what an op declares, as two terms that are to be equal."""
    if op.nin == 1:
        if op.idempotent:
            yield "idempotent", op(op(x)), op(x)
        return
    if op.nin not in (2, None):
        return
    for law in ("identity", "absorbing"):
        e = getattr(op, law)
        if e is not None and (np.isfinite(e) or x.type.kind == "f"):  # no integer is infinite
            number = np.asarray(e).astype(x.type.dtype)
            yield law, op(x, number), x if law == "identity" else pt.constant(number)
    if op.commutative:
        yield "commutative", op(x, y), op(y, x)
    if op.associative:
        yield "associative", op(op(x, y), z), op(x, op(y, z))
    if op.idempotent:
        yield "idempotent", op(x, x), x
