"""Matrix factorisations and linear equations, by LAPACK's routines, called by address.

A matrix lies in rows, while LAPACK uses columns: LAPACK sees the transpose, with the triangles
exchanged. If a routine fails, the kernel refuses and the VM reports the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import RegionPlan
from rewrite_engine.link.native.text import literal
from rewrite_engine.link.native.units import ROUTINE_PREFIX
from rewrite_engine.link.native.values import (
    ONE,
    Length,
    NativeValue,
    View,
    in_order,
    times,
    view_of,
)
from rewrite_engine.link.native.walk import in_memory, write_loop, write_loops
from rewrite_engine.tensor.blockwise import Blockwise
from rewrite_engine.tensor.linalg.decomposition import (
    Cholesky,
    CholeskyGradient,
    CovarianceGradient,
)
from rewrite_engine.tensor.linalg.factor import NO_PIVOT, Factor, FactorSolve
from rewrite_engine.tensor.linalg.op import FEW
from rewrite_engine.tensor.linalg.solvers import Solve
from rewrite_engine.tensor.linalg.triangular import SolveTriangular

FACTOR_OPS = (
    Cholesky, CholeskyGradient, CovarianceGradient, Factor, FactorSolve, Solve, SolveTriangular,
)  # fmt: skip
#: ops with the pivots of a `Factor`
OF_PIVOTS = (Factor, FactorSolve)
NAN = float("nan")


class Matrix:
    """Matrices along a batch, stored in rows. step: from row to row; apart: along the batch."""

    def __init__(self, view: View, rank: int, step: Length) -> None:
        self.view, self.rank, self.step = view, rank, step
        self.apart = view.steps[: len(view.steps) - rank]


def matrix(plan: RegionPlan, v: Any, rank: int) -> Matrix:
    """Return a variable in memory whose rows are contiguous, copied if necessary."""
    x, shape = in_memory(plan, v), plan.shape(v)
    if rank and x.steps[-1] not in (ONE, None):
        x = plan.copy(x, shape, "d")
    row = x.steps[-2] if rank == 2 else ONE
    stretched = rank and shape[-1] != ONE and x.steps[-1] is None
    if stretched or (rank == 2 and row is None and shape[-2] != ONE):
        x = plan.copy(x, shape, "d")
        row = x.steps[-2] if rank == 2 else ONE
    return Matrix(x, rank, row or (shape[-1] if rank == 2 else ONE))


@native.register(Blockwise)
def _(op: Blockwise, node: Apply) -> str | None:
    core = op.core_op
    if not isinstance(core, FACTOR_OPS) or op.signature != core.signature:
        return "it has no native code"
    return native(core, node)


for _kind in FACTOR_OPS:

    @native.register(_kind)
    def _(op: Any, node: Apply) -> str | None:
        pivots = node.outputs[1:] if isinstance(op, Factor) else node.inputs[1:2]
        others = [*pivots] if isinstance(op, OF_PIVOTS) else []
        dtypes = {v.type.dtype for v in (*node.inputs, *node.outputs) if v not in others}
        if any([v.type.dtype != "int32" for v in others]):
            return "pivots of other dtypes than int32"
        return None if dtypes == {"float64"} else "dtypes other than float64"


@lower.register(Blockwise)
def _(op: Blockwise, node: Apply, plan: RegionPlan) -> None:
    lower.dispatch(type(op.core_op))(op.core_op, node, plan)


def _each(
    op: Any, node: Apply, plan: RegionPlan, write: Callable[[Any, list[str], list[str]], None],
    reads: Sequence[Matrix], shape: Sequence[Length] | None = None,
    changes: Sequence[Matrix] = (),
) -> View:  # fmt: skip
    """Build a value of which `write(text, addresses, steps)` writes one matrix; the last address
    and step are those of the result. shape: if it is not that of the output. changes: overwritten
    values.
    """
    shape = plan.shape(node.outputs[0]) if shape is None else shape
    batch = shape[:-2]

    def all_(t: Any, value: NativeValue) -> None:
        views = [*[m.view for m in reads], view_of(value, shape)]
        apart = [(*[None] * (len(batch) - len(m.apart)), *m.apart) for m in reads]
        apart.append(view_of(value, shape).steps[:-2])
        pointers = [t.address(v.value, v.offset) for v in views]
        steps = [t.length(m.step) for m in reads] + [t.length(shape[-1])]
        write_loops(t, batch, views, apart, pointers, lambda at: write(t, at, steps))

    found = plan.call(shape, "d", [m.view for m in reads], all_,
                      changes=[m.view.value for m in changes])  # fmt: skip
    if not op.only_lengths:  # it may find nothing, also where only lengths are needed
        plan.always(found.value)
    return found


def call(t: Any, name: str, *arguments: Any) -> None:
    """Write a call of a routine. Operands: letters as texts, numbers as ("i", name), floats as
    ("d", name or number), addresses unchanged.
    """
    given = list[str]()
    letters = 0
    for x in arguments:
        if isinstance(x, tuple):
            kind, value = x
            place = t.room("i32" if kind == "i" else "double")
            if kind == "i":
                t.do(f"store i32 {t.new(f'trunc i64 {value} to i32')}, ptr {place}")
            else:
                number = value if isinstance(value, str) else literal(value, "d")
                t.do(f"store double {number}, ptr {place}")
        elif len(x) == 1:
            letters += 1
            place = t.room("i8")
            t.do(f"store i8 {ord(x)}, ptr {place}")
        else:
            place = x
        given.append(place)
    full = ROUTINE_PREFIX + name
    types = ", ".join(["ptr"] * len(given) + ["i64"] * letters)
    t.declare(f"void @{full}({types})")
    t.units[full] = None
    values = ", ".join([f"ptr {x}" for x in given] + ["i64 1"] * letters)
    t.do(f"call void @{full}({values})")


def branch_on_info(t: Any, info: str, otherwise: Callable[[], None] | None = None) -> None:
    """Continue if LAPACK's INFO is 0; otherwise run `otherwise`, or fall back to the VM."""
    good, bad = t.label(), t.label()
    fine = t.new(f"icmp eq i32 {t.new(f'load i32, ptr {info}')}, 0")
    t.do(f"br i1 {fine}, label %{good}, label %{bad}")
    t.start(bad)
    if otherwise is None:
        t.do("ret i64 1")
    else:
        otherwise()
        t.do(f"br label %{good}")
    t.start(good)


def where_some(t: Any, n: str, body: Callable[[], None]) -> None:
    """Write code that runs only if a number is not 0."""
    some, behind = t.label(), t.label()
    t.do(f"br i1 {t.new(f'icmp sgt i64 {n}, 0')}, label %{some}, label %{behind}")
    t.start(some)
    body()
    t.do(f"br label %{behind}")
    t.start(behind)


def either(t: Any, condition: str, body: Callable[[], None], other: Callable[[], None]) -> None:
    """Write code that runs if a condition holds, and code that runs otherwise."""
    one, two, behind = t.label(), t.label(), t.label()
    t.do(f"br i1 {condition}, label %{one}, label %{two}")
    for label, write in ((one, body), (two, other)):
        t.start(label)
        write()
        t.do(f"br label %{behind}")
    t.start(behind)


def may_be_definite(t: Any, n: Length, a: str, size: str, few: int = FEW) -> str:
    """Write a test of a square matrix without gaps: whether it has more than `few` rows, is
    symmetric, and has a positive diagonal. Looks at the first row first.
    """
    flag = t.room("i8")

    def compare(i: str, j: str) -> None:
        x = t.load_one(step_to(t, (a, size), i, j), "d")
        y = t.load_one(step_to(t, (a, size), j, i), "d")
        same = t.new(f"fcmp oeq double {x}, {y}")
        known = t.new(f"and i8 {t.new(f'load i8, ptr {flag}')}, {t.new(f'zext i1 {same} to i8')}")
        t.do(f"store i8 {known}, ptr {flag}")

    def positive(i: str) -> None:
        x = t.load_one(step_to(t, (a, size), i, i), "d")
        good = t.new(f"fcmp ogt double {x}, {literal(0.0, 'd')}")
        known = t.new(f"and i8 {t.new(f'load i8, ptr {flag}')}, {t.new(f'zext i1 {good} to i8')}")
        t.do(f"store i8 {known}, ptr {flag}")

    def holds() -> str:
        return str(t.new(f"icmp ne i8 {t.new(f'load i8, ptr {flag}')}, 0"))

    def first() -> None:
        write_loop(t, n, lambda j: compare("0", j))
        either(t, holds(), rest, lambda: None)

    def rest() -> None:
        write_loop(t, n, positive)
        write_loop(t, n, lambda i: write_loop(t, n, lambda j: compare(i, j)))

    large = t.new(f"icmp sgt i64 {size}, {few}")
    t.do(f"store i8 {t.new(f'zext i1 {large} to i8')}, ptr {flag}")
    either(t, large, first, lambda: None)
    return holds()


def at_least_one(t: Any, n: str) -> str:
    """Return a step that LAPACK accepts: at least 1."""
    t.declare("i64 @llvm.smax.i64(i64, i64)")
    return str(t.new(f"call i64 @llvm.smax.i64(i64 {n}, i64 1)"))


def over(t: Any, n: Length, m: Length, at: str, row: str, do: Callable[..., None]) -> None:
    """Write a loop that calls `do(i, j, address)` for the elements of a matrix."""

    def line(i: str) -> None:
        start = t.at(at, t.new(f"mul i64 {i}, {row}") if i != "0" else "0", "d")
        write_loop(t, m, lambda j: do(i, j, t.at(start, j, "d")))

    write_loop(t, n, line)


def triangle(
    t: Any, n: Length, source: tuple[str, str], target: tuple[str, str], low: bool
) -> None:
    """Copy one triangle of a matrix, with zeros in the other. Both matrices are given as (address,
    step).
    """

    def one(i: str, j: str, place: str) -> None:
        x = t.load_one(step_to(t, source, i, j), "d")
        inside = t.new(f"icmp {'sle' if low else 'sge'} i64 {j}, {i}")
        t.store_one(t.select(inside, x, literal(0.0, "d")), place, "d")

    over(t, n, n, *target, one)


def step_to(t: Any, where: tuple[str, str], i: str, j: str) -> str:
    """Return the address of an element of a matrix in rows."""
    return str(t.at(where[0], t.new(f"add i64 {t.new(f'mul i64 {i}, {where[1]}')}, {j}"), "d"))


# --- the ops ----------------------------------------------------------------------------------


@lower.register(Cholesky)
def _(op: Cholesky, node: Apply, plan: RegionPlan) -> None:
    n = plan.shape(node.outputs[0])[-1]

    def write(t: Any, at: list[str], steps: list[str]) -> None:
        (a, out), size = at, t.length(n)
        triangle(t, n, (a, steps[0]), (out, size), op.lower)

        def nothing() -> None:
            if op.on_error == "raise":
                t.do("ret i64 1")
                t.start(t.label())
            over(t, n, n, out, size, lambda i, j, p: t.store_one(literal(NAN, "d"), p, "d"))

        def factor() -> None:
            info = t.room("i32")
            call(t, "dpotrf", "U" if op.lower else "L", ("i", size), out, ("i", size), info)
            branch_on_info(t, info, nothing)

        where_some(t, size, factor)

    plan.of[node.outputs[0]] = _each(op, node, plan, write, [matrix(plan, node.inputs[0], 2)])


@lower.register(SolveTriangular)
def _(op: SolveTriangular, node: Apply, plan: RegionPlan) -> None:
    """Solve the transposed equations, with the matrix on the right."""
    shape, reads = plan.shape(node.outputs[0]), [matrix(plan, v, 2) for v in node.inputs]
    n, m = shape[-2:]
    if m == ONE and not any(reads[0].apart) and len(shape) > 2:
        plan.of[node.outputs[0]] = _columns_of_a_batch(op, plan, reads, shape)
        return

    def write(t: Any, at: list[str], steps: list[str]) -> None:
        (a, b, out), size, columns = at, t.length(n), t.length(m)

        def copy_one(i: str, j: str, place: str) -> None:
            t.store_one(t.load_one(step_to(t, (b, steps[1]), i, j), "d"), place, "d")

        def solve() -> None:
            _check_diagonal(op, t, n, (a, steps[0]))
            over(t, n, m, out, columns, copy_one)
            call(t, "dtrsm", "R", "U" if op.lower else "L", "T" if op.transpose else "N",
                 "U" if op.unit_diagonal else "N", ("i", columns), ("i", size), ("d", 1.0),
                 a, ("i", at_least_one(t, steps[0])), out, ("i", columns))  # fmt: skip

        where_some(t, t.new(f"mul i64 {size}, {columns}"), solve)

    plan.of[node.outputs[0]] = _each(op, node, plan, write, reads)


def _columns_of_a_batch(
    op: SolveTriangular, plan: RegionPlan, reads: Sequence[Matrix], shape: Sequence[Length]
) -> View:
    """Solve equations with one matrix for all vectors of a batch: these are columns of another."""
    n, count = shape[-2], times(*shape[:-2])
    a, b = reads
    steps = [(*[None] * (len(shape) - len(b.view.steps)), *b.view.steps)]

    def write(t: Any, value: NativeValue) -> None:
        low, out = [t.address(v.value, v.offset) for v in (a.view, View(value, ()))]
        size, columns, row = t.length(n), t.length(count), t.length(a.step)

        def solve() -> None:
            _check_diagonal(op, t, n, (low, row))
            target = view_of(value, shape)
            write_loops(t, shape, [b.view, target], [*steps, target.steps],
                   [t.address(b.view.value, b.view.offset), out],
                   lambda p: t.store_one(t.load_one(p[0], "d"), p[1], "d"))  # fmt: skip
            call(t, "dtrsm", "L", "U" if op.lower else "L", "N" if op.transpose else "T",
                 "U" if op.unit_diagonal else "N", ("i", size), ("i", columns), ("d", 1.0),
                 low, ("i", at_least_one(t, row)), out, ("i", size))  # fmt: skip

        where_some(t, t.new(f"mul i64 {size}, {columns}"), solve)

    found = plan.call(shape, "d", [a.view, b.view], write)
    plan.always(found.value)
    return found


def _check_diagonal(op: SolveTriangular, t: Any, n: Length, a: tuple[str, str]) -> None:
    """Refuse the call if there is a 0 on the diagonal."""
    if not op.unit_diagonal:
        write_loop(t, n, lambda i: _not_zero(t, step_to(t, a, i, i)))


def _not_zero(t: Any, place: str) -> None:
    """Refuse the call if a number is 0."""
    good, bad = t.label(), t.label()
    zero = t.compare("oeq", t.load_one(place, "d"), literal(0.0, "d"))
    t.do(f"br i1 {zero}, label %{bad}, label %{good}")
    t.start(bad)
    t.do("ret i64 1")
    t.start(good)


@lower.register(CholeskyGradient)
def _(op: CholeskyGradient, node: Apply, plan: RegionPlan) -> None:
    """Murray's formula: the transposed factor times the gradient, of which the lower triangle is
    mirrored; solved from both sides; the lower triangle of that, with half of the diagonal.
    """
    n = plan.shape(node.outputs[0])[-1]

    def write(t: Any, at: list[str], steps: list[str]) -> None:
        (low, g, out), size = at, t.length(n)
        whole = (out, size)
        triangle(t, n, (g, steps[1]), whole, True)

        def all_() -> None:
            far = ("i", at_least_one(t, steps[0]))
            n_ = ("i", size)
            tail = (n_, n_, ("d", 1.0), low, far, out, n_)
            call(t, "dtrmm", "R", "U", "T", "N", *tail)
            over(t, n, n, out, size, lambda i, j, p: _mirror(t, whole, i, j, p))
            call(t, "dtrsm", "L", "U", "N", "N", *tail)
            call(t, "dtrsm", "R", "U", "T", "N", *tail)
            over(t, n, n, out, size, lambda i, j, p: _apply_phi(t, i, j, p))

        where_some(t, size, all_)

    reads = [matrix(plan, v, 2) for v in node.inputs]
    plan.of[node.outputs[0]] = _each(op, node, plan, write, reads)


def _mirror(t: Any, whole: tuple[str, str], i: str, j: str, place: str) -> None:
    """Copy the elements below the diagonal to those above it. (Those above are written after they
    were read.)
    """
    above = t.new(f"icmp sgt i64 {j}, {i}")
    other = t.load_one(step_to(t, whole, j, i), "d")
    t.store_one(t.select(above, other, t.load_one(place, "d")), place, "d")


def _apply_phi(t: Any, i: str, j: str, place: str) -> None:
    """Apply Φ: zeros above the diagonal, and half of the diagonal."""
    x = t.load_one(place, "d")
    half = t.select(t.new(f"icmp eq i64 {i}, {j}"), t.bin("fmul", x, literal(0.5, "d")), x)
    above = t.new(f"icmp sgt i64 {j}, {i}")
    t.store_one(t.select(above, literal(0.0, "d"), half), place, "d")


@lower.register(CovarianceGradient)
def _(op: CovarianceGradient, node: Apply, plan: RegionPlan) -> None:
    n, columns = plan.shape(node.outputs[0])[-1], plan.shape(node.inputs[1])[-1]

    def write(t: Any, at: list[str], steps: list[str]) -> None:
        (low, v, a, b, out), size = at, t.length(n)

        def copy_one(i: str, j: str, place: str) -> None:
            t.store_one(t.load_one(step_to(t, (low, steps[0]), i, j), "d"), place, "d")

        over(t, n, n, out, size, copy_one)

        def all_() -> None:
            info, n_ = t.room("i32"), ("i", size)
            call(t, "dpotri", "U", n_, out, n_, info)
            branch_on_info(t, info)
            call(t, "dsyrk", "U", "T", n_, ("i", t.length(columns)), a, v,
                 ("i", at_least_one(t, steps[1])), b, out, n_)  # fmt: skip
            write_loop(t, n, lambda i: _halve(t, step_to(t, (out, size), i, i)))

        where_some(t, size, all_)

    reads = [matrix(plan, v, rank) for v, rank in zip(node.inputs, (2, 2, 0, 0), strict=True)]
    plan.of[node.outputs[0]] = _each(op, node, plan, write, reads)


def _halve(t: Any, place: str) -> None:
    t.store_one(t.bin("fmul", t.load_one(place, "d"), literal(0.5, "d")), place, "d")


@lower.register(Solve)
def _(op: Solve, node: Apply, plan: RegionPlan) -> None:
    """By `gesv` of a copy of the matrix, in columns; so is what it finds. A larger matrix that may
    be positive definite is tried with `posv`; if it is not, the VM computes the call.
    """
    a, b = node.inputs
    shape = plan.shape(node.outputs[0])
    n, m = shape[-2:]
    columns = _copy(plan, _swap(in_memory(plan, a)), (*shape[:-2], n, n))
    pivots = plan.call((n,), "i", (), lambda t, value: None)
    right, order = matrix(plan, b, 2), Matrix(pivots, 1, ONE)
    order.apart = ()

    def write(t: Any, at: list[str], steps: list[str]) -> None:
        (a_, b_, places, out), size = at, t.length(n)

        def copy_one(j: str, i: str, place: str) -> None:
            t.store_one(t.load_one(step_to(t, (b_, steps[1]), i, j), "d"), place, "d")

        def solve() -> None:
            info, n_, m_ = t.room("i32"), ("i", size), ("i", t.length(m))
            over(t, m, n, out, size, copy_one)
            either(
                t,
                may_be_definite(t, n, a_, size),
                lambda: call(t, "dposv", "L", n_, m_, a_, n_, out, n_, info),
                lambda: call(t, "dgesv", n_, m_, a_, n_, places, out, n_, info),
            )
            branch_on_info(t, info)

        where_some(t, size, solve)

    made = _each(op, node, plan, write, [columns, right, order], (*shape[:-2], m, n),
                 [columns, order])  # fmt: skip
    plan.of[node.outputs[0]] = _swap(made)


@lower.register(Factor)
def _(op: Factor, node: Apply, plan: RegionPlan) -> None:
    """By `potrf` of a matrix that may be positive definite, otherwise by `getrf`, of the transpose,
    as LAPACK sees rows. A matrix that turns out not to be positive definite is copied again.
    """
    (a,), (shape, order_shape) = node.inputs, [plan.shape(v) for v in node.outputs]
    n = shape[-1]
    pivots = plan.call(order_shape, "i32", (), lambda t, value: None)
    order = Matrix(pivots, 1, ONE)

    def write(t: Any, at: list[str], steps: list[str]) -> None:
        (a_, places, out), size = at, t.length(n)
        done = t.room("i32")

        def copy_one(i: str, j: str, place: str) -> None:
            t.store_one(t.load_one(step_to(t, (a_, steps[0]), i, j), "d"), place, "d")

        def cholesky() -> None:
            n_ = ("i", size)
            call(t, "dpotrf", "L", n_, out, n_, done)

            def fill() -> None:
                write_loop(
                    t, n, lambda i: t.do(f"store i32 {NO_PIVOT}, ptr {t.at(places, i, 'i32')}")
                )

            fine = t.new(f"icmp eq i32 {t.new(f'load i32, ptr {done}')}, 0")
            either(t, fine, fill, lambda: over(t, n, n, out, size, copy_one))

        def factor() -> None:
            over(t, n, n, out, size, copy_one)
            t.do(f"store i32 1, ptr {done}")
            either(t, may_be_definite(t, n, out, size, 0), cholesky, lambda: None)
            left = t.new(f"icmp ne i32 {t.new(f'load i32, ptr {done}')}, 0")
            either(t, left, eliminate, lambda: None)

        def eliminate() -> None:
            n_ = ("i", size)
            call(t, "dgetrf", n_, n_, out, n_, places, done)
            write_loop(t, n, lambda i: _add_to_pivot(t, t.at(places, i, "i32"), -1))

        where_some(t, size, factor)

    made = _each(op, node, plan, write, [matrix(plan, a, 2), order], shape, [order])
    plan.of[node.outputs[0]], plan.of[node.outputs[1]] = _swap(made), pivots
    plan.always(made.value)


@lower.register(FactorSolve)
def _(op: FactorSolve, node: Apply, plan: RegionPlan) -> None:
    """By `potrs` or `getrs`, of the right side in columns; so is what they find."""
    factor, pivots, b = node.inputs
    shape = plan.shape(node.outputs[0])
    n, m = shape[-2:]
    both, right = in_columns(plan, factor), matrix(plan, b, 2)
    view = in_memory(plan, pivots)
    view = view if view.steps[-1] == ONE else plan.copy(view, plan.shape(pivots), "i32")
    scratch = plan.call((n,), "i32", (), lambda t, value: None)
    counted = Matrix(scratch, 1, ONE)
    counted.apart = ()

    def write(t: Any, at: list[str], steps: list[str]) -> None:
        (a_, places, b_, swaps, out), size = at, t.length(n)

        def copy_one(j: str, i: str, place: str) -> None:
            t.store_one(t.load_one(step_to(t, (b_, steps[2]), i, j), "d"), place, "d")

        def count_one(i: str) -> None:
            row = t.new(f"load i32, ptr {t.at(places, i, 'i32')}")
            t.do(f"store i32 {t.new(f'add i32 {row}, 1')}, ptr {t.at(swaps, i, 'i32')}")

        def solve() -> None:
            info, n_, m_ = t.room("i32"), ("i", size), ("i", t.length(m))
            far = ("i", at_least_one(t, steps[0]))
            over(t, m, n, out, size, copy_one)
            tail = (out, n_, info)

            def by_elimination() -> None:
                write_loop(t, n, lambda i: _not_zero(t, step_to(t, (a_, steps[0]), i, i)))
                write_loop(t, n, count_one)
                call(t, "dgetrs", "N" if op.transposed else "T", n_, m_, a_, far, swaps, *tail)

            first = t.new(f"load i32, ptr {places}")
            either(
                t,
                t.new(f"icmp eq i32 {first}, {NO_PIVOT}"),
                lambda: call(t, "dpotrs", "L", n_, m_, a_, far, *tail),
                by_elimination,
            )

        where_some(t, t.new(f"mul i64 {size}, {t.length(m)}"), solve)

    reads = [both, Matrix(view, 1, ONE), right, counted]
    made = _each(op, node, plan, write, reads, (*shape[:-2], m, n), [counted])
    plan.of[node.outputs[0]] = _swap(made)


def in_columns(plan: RegionPlan, v: Any) -> Matrix:
    """Return a square matrix whose columns are contiguous, copied if necessary."""
    x, shape = _swap(in_memory(plan, v)), plan.shape(v)
    if x.steps[-1] != ONE or x.steps[-2] is None:
        return _copy(plan, x, tuple(shape))
    return Matrix(x, 2, x.steps[-2])


def _add_to_pivot(t: Any, place: str, number: int) -> None:
    """Add a number to a pivot: those of LAPACK count from 1."""
    old = t.new(f"load i32, ptr {place}")
    t.do(f"store i32 {t.new(f'add i32 {old}, {number}')}, ptr {place}")


def _copy(plan: RegionPlan, x: View, shape: tuple[Length, ...]) -> Matrix:
    """Return matrices in memory of their own, which may be overwritten."""
    return Matrix(plan.copy(x, shape, "d"), 2, in_order((times(shape[-2]), shape[-1]))[0])


def _swap(x: View) -> View:
    """Return the transposes."""
    return View(x.value, (*x.steps[:-2], x.steps[-1], x.steps[-2]), x.offset)
