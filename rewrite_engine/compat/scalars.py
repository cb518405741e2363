"""The classes of PyTensor's scalar ops (`Exp`, `Mul`, …), to ask which op something is; and
`UnaryScalarOp`, `BinaryScalarOp`, to write one's own.

Ops here are rows of a table, all of one class; once this is imported, each is of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.graph.intern import Interned
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.scalar import ops, parts, special
from rewrite_engine.scalar.dtype import float_dtype, promote
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.elemwise import Elemwise

#: {class there: op here}, where the class is not called as the op, with other letters
OTHERWISE = {
    "EQ": "eq", "GE": "ge", "GT": "gt", "LE": "le", "LT": "lt", "NEQ": "neq", "AND": "and_",
    "OR": "or_", "XOR": "xor", "IntDiv": "floor_div", "RoundHalfToEven": "round",
    "Reciprocal": "reciprocal", "TrueDiv": "true_div", "RoundHalfAwayFromZero":
    "round_half_away_from_zero", "TriGamma": "tri_gamma", "PolyGamma": "polygamma",
    "ScalarMaximum": "maximum", "ScalarMinimum": "minimum",
}  # fmt: skip
#: and where it is
ALIKE = """
Abs Add Angle ArcCos ArcCosh ArcSin ArcSinh ArcTan ArcTan2 ArcTanh BetaInc Ceil Clip Conj Cos
Cosh Deg2Rad Erf Erfc Erfcinv Erfcx Erfinv Exp Exp2 Expm1 Floor Gamma GammaInc GammaIncC
GammaIncInv GammaLn Hyp2F1 I0 I1 Identity Imag Invert IsInf IsNan Iv Ive J0 J1 Jv Kv Kve Log
Log10 Log1mexp Log1p Log2 Maximum Minimum Mod Mul Neg Pow Psi Real Second Sigmoid Sign Sin
Sinh Softplus Sqr Sqrt Sub Switch Tan Tanh Trunc
""".split()  # noqa: SIM905


def _class(name: str) -> Any:
    """A class for an op, which becomes the only one of it; None where there is no such op."""
    ours = OTHERWISE.get(name, name.lower())
    op = next((getattr(m, ours) for m in (ops, parts, special) if hasattr(m, ours)), None)
    if op is not None and type(op) is ScalarOp:
        op.__class__ = Interned(name, (ScalarOp,), {"__module__": __name__})
    return None if op is None else type(op)


class ScalarOpOfOthers(ScalarOp):
    """A scalar op as PyTensor has it written: a subclass has `impl(self, *numbers)`, and
    `grad(self, inputs, output_gradients)` of scalars if it has a gradient. nfunc_spec: the name of
    a ufunc of NumPy or SciPy that computes arrays. output_types_preference: how dtypes of results
    follow: `upgrade_to_float_no_complex`, `upgrade_to_float`, or by default what the ufunc says.
    """

    nfunc_spec: Any = None
    arity: int = 1

    def __init__(self, output_types_preference: Any = None, name: str | None = None) -> None:
        spec = self.nfunc_spec
        inner = promote if output_types_preference is None else output_types_preference
        super().__init__(
            name or type(self).__name__.lower(),
            self.arity,
            spec[0] if spec else None,
            self._slopes if type(self).grad is not ScalarOp.grad else None,
            inner=inner,
            compute=None if spec else self._compute,
        )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "impl" in vars(cls):  # (ours is given a place for the result, too)
            cls.numbers = vars(cls)["impl"]  # type: ignore[attr-defined]
            cls.impl = ScalarOp.impl  # type: ignore[method-assign]

    def _compute(self, *arrays: Any, out: Any = None) -> Any:
        """By `impl`, of arrays, as SciPy's functions take them."""
        found = self.numbers(*arrays)  # type: ignore[attr-defined]
        if out is None:
            return found
        out[...] = found
        return out

    def _slopes(self, m: Any, g: Any, z: Any, *xs: Any) -> Any:
        """What `grad` makes of scalars, of these."""
        given = [*xs, g]
        scalars = [ScalarType(v.type.dtype)() for v in given]
        found = self.grad(scalars[:-1], scalars[-1:])
        return of_arrays(found, dict(zip(scalars, given)))


def of_arrays(outputs: Sequence[Any], known: dict[Any, Any]) -> list[Any]:
    """Scalar terms with arrays in the place of scalars."""
    for node in toposort(outputs):
        ins = [v.data if isinstance(v, Constant) else known[v] for v in node.inputs]
        known[node.outputs[0]] = Elemwise(node.op)(*ins)
    return [known[v] for v in outputs]


class UnaryScalarOp(ScalarOpOfOthers):
    """Of one number."""


class BinaryScalarOp(ScalarOpOfOthers):
    """Of two."""

    arity = 2


upgrade_to_float = upgrade_to_float_no_complex = float_dtype

_made = {name: made for name in (*OTHERWISE, *ALIKE) if (made := _class(name)) is not None}
globals().update(_made)
__all__ = [
    "BinaryScalarOp",
    "UnaryScalarOp",
    "upgrade_to_float",
    "upgrade_to_float_no_complex",
    *_made,
]
