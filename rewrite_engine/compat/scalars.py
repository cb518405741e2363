"""Classes of PyTensor's scalar ops (`Exp`, `Mul`, …), for `isinstance` checks; and `ScalarOp`,
`UnaryScalarOp`, `BinaryScalarOp`, for writing new ones.

Ops here are rows of a table, all of one class; once this is imported, each has a class of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np

from rewrite_engine.compat.scalar_outputs import AS_FLOATS
from rewrite_engine.compat.scalar_types import all_types
from rewrite_engine.errors import ForeignObjectError, OptionError, describe, message
from rewrite_engine.graph.intern import Interned, intern, prop_key
from rewrite_engine.graph.node import Constant, Variable
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


class _OfScalars(Interned):
    """Metaclass that counts this library's ops as instances; a class of one of them returns that op
    if the arguments agree with it.
    """

    def __instancecheck__(self, instance: Any) -> bool:
        if type.__instancecheck__(self, instance):
            return True
        wanted = vars(self).get("counts")  # (not of what inherits from it)
        return wanted is not None and isinstance(instance, ScalarOp) and instance.nin in wanted

    def __subclasscheck__(self, subclass: type) -> bool:
        return type.__subclasscheck__(ScalarOp if vars(self).get("of_all") else self, subclass)

    def __call__(self, *args: Any, **options: Any) -> Any:
        made = super().__call__(*args, **options)
        like = vars(self).get("like")
        return like if like is not None and made.is_like(like) else made


class ScalarOpOfOthers(ScalarOp, metaclass=_OfScalars):
    """Scalar op in PyTensor's form. A subclass has `impl(self, *numbers)`, `nin`, and
    `grad(self, inputs, output_gradients)` of scalars if it has a gradient. nfunc_spec: the name of
    a ufunc of NumPy or SciPy that computes arrays. output_types_preference: a function of the types
    of the inputs (`scalar_outputs.py`); by default the ufunc's types, or the promoted type. It may
    also be an attribute of the class, or a method `output_types(self, types)`.
    """

    counts: Any = (None, *range(100))
    of_all = True
    nfunc_spec: Any = None
    nin: Any = -1
    output_types_preference: Any = None

    def __init__(self, output_types_preference: Any = None, name: str | None = None) -> None:
        preference = output_types_preference or self.output_types_preference
        if preference is not None and not callable(preference):
            what = (
                f"output_types_preference must be a function of types, not {describe(preference)}"
            )
            raise ForeignObjectError(message(what, op=type(self).__name__))
        spec, nin = self.nfunc_spec, type(self).nin
        by_ufunc = bool(spec) and (preference is None or preference in AS_FLOATS)
        inner = promote if preference is None else float_dtype if by_ufunc else None
        super().__init__(
            name or self.usual_name(),
            None if nin is None or nin < 0 else nin,
            spec[0] if by_ufunc else None,
            self.usual_gradient(),
            inner=inner,
            compute=None if by_ufunc else self._compute,
        )
        if output_types_preference is not None:
            self.output_types_preference = output_types_preference

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._says_all = True  # (`__key__` names what the class keeps)
        if "impl" in vars(cls):  # (ours is given a place for the result, too)
            cls.numbers = vars(cls)["impl"]  # type: ignore[attr-defined]
            cls.impl = ScalarOp.impl  # type: ignore[method-assign]
        own = vars(cls).get("output_types_preference")
        if isinstance(own, FunctionType) and own.__code__.co_varnames[:1] != ("self",):
            cls.output_types_preference = staticmethod(own)  # (not a method)
        if "output_types" in vars(cls):  # (ours remembers what it has found)
            cls.typed_by = vars(cls)["output_types"]  # type: ignore[method-assign]
            cls.output_types = ScalarOp.output_types  # type: ignore[method-assign]

    def __key__(self) -> tuple[Any, ...]:
        """Return the key of equal ops of a class: the name, the function that types outputs, and
        the attributes that the class itself stores.
        """
        if self.__props__ is not ScalarOp.__props__:
            return self.output_types_preference, *super().__key__()
        own = [(k, v) for k, v in vars(self).items() if k[:1] != "_" and k not in DESCRIBED]
        return self.name, prop_key(tuple(own))

    def __reduce__(self) -> Any:
        if self.listed:
            return super().__reduce__()
        own = {k: v for k, v in self.__state__().items() if k not in DESCRIBED}
        return made_again, (type(self), self.name, own)

    def usual_name(self) -> str:
        """Return the default name of an op."""
        return type(self).__name__.lower()

    def usual_gradient(self) -> Any:
        """Return the gradient in the form of `ScalarOp`; None if the class defines none."""
        own = type(self)
        defined = own.grad is not ScalarOp.grad or own.L_op is not ScalarOp.L_op
        return self._slopes if defined else None

    def typed_by(self, types: Sequence[Any]) -> Any:
        """Return the types of the outputs for these types of the inputs; None: the default
        types.
        """
        preference = self.output_types_preference
        return None if preference is None else preference(*types)

    def _resolve(self, dtypes: tuple[str, ...]) -> str:
        types = [ScalarType(d) for d in dtypes]
        found = self.typed_by(types)
        if found is None:
            return super()._resolve(dtypes)
        if not isinstance(found, list | tuple) or [type(t) for t in found] != [ScalarType]:
            what = f"its output types for {types} must be a list of one scalar type, not {found}"
            raise OptionError(message(what, op=self))
        return found[0].dtype  # type: ignore[no-any-return]

    def _compute(self, *arrays: Any, out: Any = None) -> Any:
        """Compute arrays by `impl`, as SciPy's functions take them; if that fails, one number after
        the other. Results have the dtype of the output.
        """
        dtypes = tuple([x.dtype.name for x in arrays])
        wanted = np.dtype(self._resolve(dtypes))
        if wanted.kind in "fc" and promote(*dtypes, wanted.name) == wanted.name:
            arrays = tuple([x.astype(wanted, copy=False) for x in arrays])
        found = np.asarray(self._by_impl(arrays)).astype(wanted, copy=False)
        if out is None:
            return found
        out[...] = found
        return out

    def _by_impl(self, arrays: Sequence[Any]) -> Any:
        numbers: Any = self.numbers  # type: ignore[attr-defined]
        try:
            return numbers(*arrays)
        except (TypeError, ValueError):  # it asks whether a number is so, or calls `math`
            return np.frompyfunc(numbers, len(arrays), 1)(*arrays)

    def _slopes(self, m: Any, g: Any, z: Any, *xs: Any) -> Any:
        """Compute the gradients from the scalar terms that `grad` returns."""
        given = [*xs, z, g]
        scalars = [ScalarType(v.type.dtype)() for v in given]
        *ins, out, slope = scalars
        own = type(self).grad is not ScalarOp.grad
        found = self.grad(ins, [slope]) if own else self.L_op(ins, [out], [slope])
        return of_arrays(found, dict(zip(scalars, given)))

    def is_like(self, other: ScalarOp) -> bool:
        """Return whether the op equals an op of the library: the same name and output dtypes."""
        if self.output_types_preference is None and self.name == other.name:
            return True
        n = 2 if other.nin is None else other.nin
        if self.name != other.name or n > 2:
            return False
        pairs = product([t.dtype for t in all_types], repeat=n)
        return all([_or_none(self, pair) == _or_none(other, pair) for pair in pairs])


DESCRIBED = frozenset(vars(ops.exp)) - {"output_types_preference"}


def made_again(cls: Any, name: str, own: dict[str, Any]) -> Any:
    """Unpickle an op; equal ones are one object again."""
    op = object.__new__(cls)
    op.__dict__.update(own)
    ScalarOpOfOthers.__init__(op, own.get("output_types_preference"), name)
    return intern(op)


def _or_none(op: ScalarOp, dtypes: tuple[str, ...]) -> Any:
    try:
        return op.result_dtypes(dtypes)
    except TypeError:
        return None


def of_arrays(outputs: Sequence[Any], known: dict[Any, Any]) -> list[Any]:
    """Return scalar terms with arrays in place of scalars."""

    def array(v: Any) -> Any:
        return v.data if isinstance(v, Constant) else known[v]

    for node in toposort([v for v in outputs if isinstance(v, Variable)]):
        known[node.outputs[0]] = Elemwise(node.op)(*map(array, node.inputs))
    return [array(v) if isinstance(v, Variable) else v for v in outputs]


class UnaryScalarOp(ScalarOpOfOthers):
    """Base class of scalar ops of one number."""

    counts = (1,)
    nin = 1


class BinaryScalarOp(ScalarOpOfOthers):
    """Base class of scalar ops of two numbers."""

    counts = (2,)
    nin = 2


class LibraryScalarOp(ScalarOpOfOthers):
    """Op of the library with outputs of other types: `Add(upgrade_to_float, name="add")`. like: the
    op; each has a class of its own.
    """

    counts = None
    like: Any

    def usual_name(self) -> str:
        return self.like.name  # type: ignore[no-any-return]

    def usual_gradient(self) -> Any:
        return self.like.gradient

    def numbers(self, *arrays: Any) -> Any:
        """Return the results of the op."""
        return self.like.impl(*map(np.asarray, arrays))


def _class(name: str) -> Any:
    """Return a class for an op, which becomes its only class; None if there is no such op."""
    ours = OTHERWISE.get(name, name.lower())
    op = next((getattr(m, ours) for m in (ops, parts, special) if hasattr(m, ours)), None)
    if op is not None and type(op) is ScalarOp:
        about = {"__module__": __name__, "like": op, "nin": -1 if op.nin is None else op.nin}
        op.__class__ = _OfScalars(name, (LibraryScalarOp,), about)
    return None if op is None else type(op)


_made = {name: made for name in (*OTHERWISE, *ALIKE) if (made := _class(name)) is not None}
globals().update(_made)
__all__ = [
    "BinaryScalarOp",
    "UnaryScalarOp",
    *_made,
]
