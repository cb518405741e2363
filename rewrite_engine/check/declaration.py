"""Checks of ops against their declarations.

An op is run on its samples, and what is near them (`trial.py`), by what DebugMode holds it to
(`link/debug/contract.py`): memory, shape rule, range, implied facts, all of its forms. That a run
repeated gives the same bits, what follows from its algebra (`identity`, `commutative`,
`idempotent`) and its gradient (`slope.py`) are held against values here.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.check.finding import Finding, Kind
from rewrite_engine.check.node import as_op
from rewrite_engine.check.remedy import wrong
from rewrite_engine.check.slope import Slopes, has_gradient
from rewrite_engine.check.trial import is_declared, trials
from rewrite_engine.errors import (
    BadDestroyMap,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    InvalidValueError,
    RewriteEngineError,
)
from rewrite_engine.graph.node import Apply
from rewrite_engine.judge.difference import same_bits
from rewrite_engine.judge.values import compute_all
from rewrite_engine.link.debug.contract import Contract, DebugOptions
from rewrite_engine.link.linker import get_linker
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.type import TensorType

NAMES = {
    BadDestroyMap: "destroy_map",
    BadViewMap: "view_map",
    InvalidValueError: "declaration",
    BadThunkOutput: "forms",
}
Told = tuple[str, str, str]  # name, why, example


def check_op(what: Any) -> Iterator[Finding]:
    """Yield the declarations of an op, or a class of ops, that are not true."""
    what = as_op(what)
    where = _where(what)
    name = str(getattr(what, "__name__", what))
    trial = OpTrial()
    for one in trials(what):
        found = trial.broken(one.node, one.values, one.own)
        if found is not None:
            yield wrong("ops", found[0], name, where, found[1], found[2])
            return
    for unknown, why, fix in trial.unproved(what):
        yield Finding(Kind.UNPROVED, "ops", unknown, name, where, why, fix=fix)
    if isinstance(what, Elemwise):
        yield from _algebra(what, name, where)


class OpTrial:
    """Progress of the trials of one op. made: a node could be built. ran: a node had a value.
    has_slope: a node has operands with respect to which there may be a gradient.
    """

    def __init__(self) -> None:
        self.slopes = Slopes()
        self.made = self.ran = self.has_slope = False

    def broken(self, node: Apply, values: Sequence[Any], own: bool) -> Told | None:
        """Return the declaration that is not true at one node; None if all are."""
        self.made = True
        contract = Contract(
            get_linker("py"), DebugOptions.of_config()._replace(warn_input_not_reused=False)
        )
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                given = [np.array(v) for v in values]
                repeated = _unlike_again(contract, node, given)
                if repeated is not None:
                    return repeated
                contract.run(node, given)
                self.ran = True
        except DebugModeError as error:
            return _told(error)
        except Exception:  # such values are refused
            return None
        self.has_slope |= has_gradient(node)
        return self.slopes.broken(node, values, own)

    def unproved(self, what: Any) -> Iterator[tuple[str, str, str]]:
        """Yield the declarations that could not be tried: a name, why, and the remedy."""
        fix = "samples = (({}, (2, 3)), …): parameters, and of each input a shape or a value"
        if not self.made:
            yield "no samples", "it declares no samples, and no sample operand fits it", fix
        elif not self.ran:
            yield "no value", "`perform` fails on all of its samples", fix
        elif self.has_slope and not self.slopes.known and is_declared(what, "L_op"):
            yield "gradient", "its gradient could not be compared with differences anywhere", ""


def _told(error: DebugModeError) -> Told:
    name = next((n for cls, n in NAMES.items() if isinstance(error, cls)), "contract")
    first, _, rest = str(error).partition("\n")
    shaped = "has shape" in first or "expected shape" in first or "infer_shape" in first
    return "shape" if shaped else name, first, rest


def _unlike_again(contract: Contract, node: Apply, given: Sequence[Any]) -> Told | None:
    """How a second run of the same differs, bit for bit."""
    if not node.op.determined:
        return None
    one, two = contract.plain(node, given), contract.plain(node, given)
    for o, (a, b) in enumerate(zip(one, two, strict=True)):
        arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
        if not arrays or a.dtype.kind not in "biufc" or contract.is_hidden(node.outputs[o]):
            continue
        if a.shape == b.shape and same_bits(a, b).all():
            continue
        why = f"output {o} is not the same when it is run again"
        return "repeat", why, f"{a.ravel()[:4].tolist()}, then {b.ravel()[:4].tolist()}"
    return None


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
            a, b = [compute_all(v, given) for v in (left, right)]
            if isinstance(a, Exception) or isinstance(b, Exception):
                continue
            found, wanted = np.broadcast_arrays(a[left], b[right])
            if not np.allclose(found, wanted, equal_nan=True):
                said = f"{law}={getattr(op, law)!r}: {brief(left, 9)} is not {brief(right, 9)}"
                text = ", ".join([f"{v} = {n.tolist()}" for v, n in given.items()])
                text += f": {found.tolist()}, not {wanted.tolist()}"
                yield wrong("ops", law, name, where, said, text)
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
