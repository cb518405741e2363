"""`ScalarOp`: description of one elementwise operation. `scalar/ops.py` has the table of
operations.

A `ScalarOp` describes the ufunc that computes it, its dtypes, its algebra and its gradient. It
knows nothing of shapes; `tensor/elemwise.py` applies it to arrays, and `scalar/composite.py`
combines several into one.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial, reduce
from inspect import signature
from typing import Any

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.errors import (
    DTypeError,
    ForeignObjectError,
    MethodNotDefined,
    OptionError,
    describe,
    message,
    refuse_unknown,
)
from rewrite_engine.graph.intern import prop_key
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import is_disconnected, is_null
from rewrite_engine.graph.op import Op
from rewrite_engine.scalar.bounds import Interval, as_result, converted, monotone
from rewrite_engine.scalar.dtype import (
    DISCRETE,
    dtype_name,
    float_dtype,
    is_number,
    promote,
    quotient_dtype,
    weak_dtype,
)
from rewrite_engine.scalar.fold import fold
from rewrite_engine.scalar.own_code import check_own_code
from rewrite_engine.scalar.type import ScalarType

#: one input's gradient, or all inputs' at once (see `ScalarOp.pullback`)
Gradient = Callable[..., Any] | tuple[Callable[..., Any], ...]

_named: dict[str, ScalarOp] = {}


def named(name: str) -> ScalarOp:
    """Return the scalar op with this name (used to unpickle ops)."""
    from rewrite_engine.scalar import ops as _  # noqa: F401  (fills the table)

    return _named[name]


class ScalarOp(Op):
    """Operation on single numbers, described by data.

    name: printed name. aliases: other names, separated by spaces. nin: number of inputs; None for
    any number >= 1 (the ufunc is then folded over them). function: name of a NumPy ufunc, or
    "scipy.special.erf"; imported at its first use. grad: see `pullback`; None if there is none.
    dtypes: function from input dtypes to the result dtype, if it differs from the ufunc's. inner:
    see `inner_dtype`. compute: `compute(*arrays, out=None)`, if no ufunc computes the op; `out` may
    be one of the arrays. free: inputs whose dtype does not influence the result dtype. shape_only:
    inputs whose values do not matter. holomorphic: whether a gradient of complex numbers is a
    product with the derivative. degree: `degree(*inputs)` returns the exponents of the inputs if
    the result is a product of their powers: [1, -1] for a quotient (None for an input that is no
    factor). associative, commutative, idempotent, identity, absorbing: algebra over exact numbers
    (0 absorbs in a product only if the other factors are finite; users of this attribute must check
    that).

    How native code computes it: formula: `formula(m, *inputs)`, the result as an expression of
    other ops (m: see `pullback`). c_source: {dtype: C text that defines a function called `name`}.

    Facts about its values: domain: real numbers for which it is defined, "(0, inf)", for all inputs
    or for each; tests sample it. range: "(0, inf)", the set of all real results other than NaN (see
    `Interval`). increasing: whether it increases on its domain. correctly_rounded: whether the
    result is the float nearest to the true value. bounds: function from the bounds of the operands
    to those of the result (`scalar/bounds.py`), if they do not follow from range and increasing.
    keeps: names of facts that hold for the result if they hold for all operands: "finite nonneg".
    implied: see `Op.implied`. elements: see `Op.elements`.
    """

    __props__: tuple[str, ...] = ("name",)
    nout: int = 1
    free: tuple[int, ...] = ()
    shape_only: tuple[int, ...] = ()
    cost = 1
    increasing = correctly_rounded = False
    holomorphic = True
    degree: Callable[..., Sequence[Any]] | None = None
    formula: Callable[..., Any] | None = None  # type: ignore[assignment]  # (of numbers: with m)
    c_source: Mapping[str, str] | None = None

    def __init__(
        self,
        name: str,
        nin: int | None,
        function: str | None = None,
        grad: Gradient | None = None,
        *,
        dtypes: Callable[..., str] | None = None,
        inner: Callable[..., str] | None = None,
        compute: Callable[..., Any] | None = None,
        aliases: str = "",
        domain: str | Sequence[str] = "(-inf, inf)",
        range: str | None = None,
        bounds: Callable[..., Any] | None = None,
        keeps: str = "",
        implied: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> None:
        self.name = name
        self.nin = nin
        self.function = function
        self.gradient = grad
        self._check(others)
        self.dtypes = dtypes
        folds = nin is None and function is not None and dtypes is None
        self.inner = promote if folds and inner is None else inner
        self.compute = compute
        self.aliases = tuple(aliases.split())
        each = [domain] * (nin or 1) if isinstance(domain, str) else domain
        self.domain = tuple([Interval.parse(text) for text in each])
        self.range = Interval.parse(range) if range else None
        self.limits = self.range[:2] if self.range and self.range.limited else None
        self.ends = bounds
        self.implied = {fact: fact for fact in keeps.split()} | _in_range(self.range)
        self.implied |= implied or {}
        for key, value in others.items():
            setattr(self, key, value)

    def _check(self, others: Mapping[str, Any]) -> None:
        """Refuse unknown options, a function that is not a name, and gradients that do not match
        the inputs.
        """
        unknown = [key for key in others if not hasattr(type(self), key)]
        if unknown:
            known = (*signature(ScalarOp.__init__).parameters, *dir(type(self)))
            refuse_unknown(f"ScalarOp({self.name!r}, …)", unknown, known)
        if not isinstance(self.function, str | None):
            what = f"function must be the name of a ufunc, not {describe(self.function)}"
            raise OptionError(message(what, op=self, hint="pass any other function as compute=…"))
        check_own_code(self, others.get("formula"), others.get("c_source"))
        grad, nin = self.gradient, self.nin
        if isinstance(grad, tuple) and not (len(grad) == nin and all(map(callable, grad))):
            what = f"grad must be a function for each of {nin} inputs, or one for all, not {grad!r}"
            hint = "for a gradient of 0 pass a function that returns None"
            raise OptionError(message(what, op=self, hint=hint))

    @classmethod
    def define(cls, name: str, *args: Any, **kwargs: Any) -> ScalarOp:
        """Define an op of the library, found by its name."""
        op: ScalarOp = type.__call__(cls, name, *args, **kwargs)
        return _named.setdefault(name, op)

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        if self.listed:
            return named, (self.name,)
        return super().__reduce__()

    def __key__(self) -> tuple[Any, ...]:
        """Return all declarations: two ops are equal if these are, as an op of a user may have the
        name of another op.
        """
        if self.__props__ is not ScalarOp.__props__:  # ops of a subclass are told by their props
            return super().__key__()
        said = {k: v for k, v in vars(self).items() if not k.startswith("_")}
        values = [tuple(v.items()) if isinstance(v, dict) else v for v in said.values()]
        return tuple(said), prop_key(tuple(values))

    @property
    def listed(self) -> bool:
        """Whether it is an op of the library, found by its name."""
        return _named.get(self.name) is self

    # --- dtypes -----------------------------------------------------------------------------

    @property
    def ufunc(self) -> np.ufunc | None:
        """The ufunc that computes this op, or None if no single one does."""
        try:
            return self._ufunc
        except AttributeError:
            pass
        module, _, name = (self.function or "").rpartition(".")
        home = importlib.import_module(module or "numpy")
        self._ufunc = getattr(home, name) if name else None
        return self._ufunc

    _ufunc: np.ufunc | None

    def is_total(self, inputs: Sequence[Any]) -> bool:
        """Return whether the op has a result for all values of these inputs: in the library all but
        powers of integers with negative exponents.
        """
        if not self.listed:
            return False
        if self.name != "pow" or any(v.type.kind not in "iub" for v in inputs):
            return True
        exponent = inputs[1]
        number = getattr(exponent, "number", None)
        return exponent.type.kind in "ub" or (number is not None and number >= 0)

    def check_arity(self, count: int) -> None:
        """Raise `TypeError` if the op does not take `count` inputs."""
        if count == 0 or (self.nin is not None and count != self.nin):
            wanted = (
                "at least 1 input"
                if self.nin is None
                else f"{self.nin} input" + "s" * (self.nin != 1)
            )
            raise TypeError(message(f"takes {wanted}, not {count}", op=self))

    def result_dtypes(self, dtypes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the output dtypes for these input dtypes. Raise `DTypeError` if the op refuses
        them.
        """
        self.check_arity(len(dtypes))
        try:
            return (self._resolve(dtypes),)
        except OptionError:  # the op is wrong, and not the dtypes
            raise
        except TypeError as error:
            what = f"is not defined for dtype{'s' * (len(dtypes) > 1)} {', '.join(dtypes)}"
            raise DTypeError(message(what, op=self)) from error

    def _resolve(self, dtypes: tuple[str, ...]) -> str:
        if self.dtypes is not None:
            return self.dtypes(*dtypes)
        ufunc, inner = self.ufunc, self.inner_dtype(dtypes)
        if ufunc is None:
            if self.inner is None:
                raise TypeError("no dtypes")
            return inner or dtypes[0]
        if self.nin is None and len(dtypes) == 1:
            return inner or dtypes[0]
        if inner is not None or len(dtypes) != ufunc.nin:
            dtypes = (inner or dtypes[0],) * ufunc.nin
        wanted = tuple([np.dtype(d) for d in dtypes])
        return ufunc.resolve_dtypes((*wanted, None))[-1].name

    def inner_dtype(self, dtypes: Iterable[str]) -> str | None:
        """Return the dtype to which inputs are converted before the computation.

        None: they stay unconverted, or the ufunc's own loop converts them. Ops declare it as
        `inner(*dtypes)`: `promote` for sums and products of any number, `float_dtype` for functions
        with float values. It is also the dtype of the result.
        """
        if self.inner is None:
            return None
        kinds = set(dtypes)
        if len(kinds) == 1 and (self.inner is promote or not kinds <= DISCRETE):
            return None
        found = self.inner(*kinds)
        return None if kinds == {found} else found

    def follows_floatX(self, dtypes: Iterable[Any]) -> bool:
        """Return whether the result dtype depends on floatX, as for a quotient of integers."""
        return self.inner is quotient_dtype and DISCRETE.issuperset(dtypes)

    def _inner(self, arrays: Sequence[Any]) -> Any:
        """Return the cached `inner_dtype` for the dtypes of these arrays."""
        if self.inner is None:
            return None
        known = self.__dict__.setdefault("_inners", {})  # (an unpickled op has none)
        key = config.floatX, frozenset([x.dtype for x in arrays])
        if key not in known:
            name = self.inner_dtype([d.name for d in key[1]])
            known[key] = None if name is None else np.dtype(name)
        return known[key]

    def weak_dtypes(self, dtypes: Sequence[str | None], values: Sequence[Any]) -> list[str]:
        """Complete a list of dtypes. A None stands for a Python number, which takes its dtype from
        the other operands.
        """
        strong = [d for i, d in enumerate(dtypes) if d is not None and i not in self.free]
        common = promote(*strong) if strong else self._alone(values)
        result = []
        for i, dtype in enumerate(dtypes):
            if dtype is None:
                beside = None if i in self.free else common
                dtype = self._weak(values[i], beside)
            result.append(dtype)
        return result

    def _alone(self, values: Sequence[Any]) -> str | None:
        """Return the common dtype of Python numbers alone (None: each has its own): floatX if the
        result is a float and floatX is not float64.
        """
        if config.floatX == "float64" or complex in map(type, values):
            return None
        wide = self.inner is float_dtype or float in map(type, values)
        return config.floatX if wide else None

    def _weak(self, value: Any, beside: str | None) -> str:
        try:
            return weak_dtype(value, beside)
        except DTypeError:
            if beside is not None and self.result_dtypes((beside,) * (self.nin or 2)) == ("bool",):
                return "int64"  # a comparison has an answer
            raise

    # --- scalar graphs ----------------------------------------------------------------------

    def convert_inputs(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Convert Python numbers into scalar constants. Raise `ForeignObjectError` for other
        objects.
        """
        for x in inputs:
            if not (is_number(x) or isinstance(x, np.generic | Variable)):
                raise ForeignObjectError(
                    message(f"takes numbers and scalar variables, not {describe(x)}", op=self)
                )
        known = [None if is_number(x) else getattr(x, "type", x).dtype for x in inputs]
        names = self.weak_dtypes([d if d is None else str(d) for d in known], inputs)
        return tuple(
            [
                x if isinstance(x, Variable) else ScalarType(name).make_constant(x)
                for x, name in zip(inputs, names, strict=True)
            ]
        )

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        """Return the scalar types of the outputs."""
        for t in types:
            if not isinstance(t, ScalarType):
                raise ForeignObjectError(
                    message(
                        f"takes scalar variables, not type {t}; apply the op of the same name in "
                        "`tensor`",
                        op=self,
                    )
                )
        return [ScalarType(d) for d in self.result_dtypes(tuple([t.dtype for t in types]))]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute on NumPy scalars."""
        result = self.impl(*inputs)
        output_storage[0][0] = node.outputs[0].type.numpy_dtype.type(result)

    # --- values -----------------------------------------------------------------------------

    def impl(self, *arrays: Any, out: Any = None) -> Any:
        """Compute on arrays that broadcast, into `out` if it is not None (it may be one of
        them).
        """
        dtype = self._inner(arrays)
        if self.compute is not None:
            if dtype is not None:
                arrays = tuple([x.astype(dtype, copy=False) for x in arrays])
            return self.compute(*arrays, out=out)
        ufunc = self.ufunc
        if ufunc is None:
            raise NotImplementedError(
                f"{self} has neither a ufunc nor a compute function: define it with one of them"
            )
        if self.nin is None:
            return fold(ufunc, arrays, dtype, out)
        if out is not None and ufunc is np.negative:
            factor = minus_one(arrays[0].dtype)
            if factor is not None:
                return np.multiply(arrays[0], factor, out=out)
        return ufunc(*arrays, out=out) if dtype is None else ufunc(*arrays, out=out, dtype=dtype)

    def impl_all(self, *arrays: Any, outs: Sequence[Any] = (None,)) -> tuple[Any, ...]:
        """Compute all outputs on arrays, as `impl` does for a single one."""
        return (self.impl(*arrays, out=outs[0]),)

    @property
    def has_bounds(self) -> bool:
        """Whether bounds of the result follow from bounds of the operands."""
        return self.ends is not None or self.increasing or self.limits is not None

    def bounds_from(self, dtype: np.dtype[Any], of: Callable[[Any], Any], xs: Any) -> Any:
        """Return bounds of results of a dtype as a pair, or None; `of(x)` returns the bounds of an
        operand x likewise. The caller rounds them.
        """
        if not self.has_bounds:
            return None
        ends = []
        for x in xs:
            found = of(x)
            if found is None:
                return None
            ends.append(as_result(found, dtype))
        if self.ends is not None:
            return self.ends(dtype, *ends)
        return monotone(self, dtype, ends[0]) if self.increasing else self.limits

    # --- gradient ---------------------------------------------------------------------------

    @property
    def multiplies(self) -> bool:
        """Return whether the gradient's formulas are this library's own: they only multiply an
        output gradient, or divide it, so that a Python number may take its place.
        """
        rules = self.gradient if isinstance(self.gradient, tuple) else (self.gradient,)
        own = all([getattr(rule, "__module__", "").startswith(f"{__package__}.") for rule in rules])
        return own and type(self).pullback is ScalarOp.pullback

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradients of single numbers, as scalar ops."""
        return self._of_numbers(inputs, outputs, output_gradients, range(len(inputs)))

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the sum of products with partial derivatives, for a single real output."""
        outputs = self.make_node(*inputs).outputs
        if len(outputs) > 1 or outputs[0].type.kind == "c":
            raise MethodNotDefined(f"{self} defines no R_op for several or complex outputs")
        moved = [i for i, t in enumerate(eval_points) if t is not None]
        terms = [self._of_numbers(inputs, outputs, [eval_points[i]], [i])[0] for i in moved]
        return [reduce(operator.add, terms)]

    def _of_numbers(
        self, inputs: Sequence[Any], outputs: Sequence[Any], gs: Sequence[Any], wanted: Any
    ) -> list[Any]:
        from rewrite_engine.scalar import ops

        live = [None if is_disconnected(g) or is_null(g) else g for g in gs]
        if any(z.type.kind not in "fc" for z in outputs) or all(g is None for g in live):
            parts = [None for _ in wanted]
        else:
            parts = self.pullback(ops, live, outputs, inputs, list(wanted))
        results = []
        for i, part in zip(wanted, parts, strict=True):
            x = inputs[i]
            dtype = config.floatX if x.type.dtype in DISCRETE else x.type.dtype
            if part is None:
                part = ScalarType(dtype).make_constant(0.0)
            results.append(part if part.type.dtype == dtype else Cast(dtype)(part))
        return results

    def pullback(  # type: ignore[override]
        self, m: Any, gs: Sequence[Any], zs: Sequence[Any], xs: Sequence[Any], wanted: Sequence[int]
    ) -> list[Any]:
        """Return d cost / d xs[i] for each wanted i, elementwise; None stands for zero.

        m: namespace of the functions to build with (`tensor.math` or `scalar.ops`), so that one
        definition works for scalars and tensors. gs, zs: gradients and values of the outputs. A
        gradient is declared as a function `(m, g, z, *xs)` per input, or as one function that
        returns them all. Raises `NotImplementedError` if none is declared. For complex numbers the
        gradient is the derivative by the real part, plus i times the derivative by the imaginary
        part: the product with the conjugate of a holomorphic function's derivative.
        """
        if zs[0].type.kind == "c":
            return self._of_complex(m, gs, zs, xs, wanted)
        return self.products(m, gs, zs, xs, wanted)

    def _of_complex(
        self, m: Any, gs: Sequence[Any], zs: Sequence[Any], xs: Sequence[Any], wanted: Sequence[int]
    ) -> list[Any]:
        """Return products with conjugate derivatives; their real part for real inputs."""
        if self.gradient is _step:
            raise NotImplementedError("a step function has no gradient for complex numbers")
        turned = self.holomorphic and not self.moves_only
        found = self.products(m, [m.conj(g) if turned else g for g in gs], zs, xs, wanted)
        for k, i in enumerate(wanted):
            if found[k] is not None and found[k].type.kind == "c":
                if xs[i].type.kind != "c":
                    found[k] = m.real(found[k])
                elif turned:
                    found[k] = m.conj(found[k])
        return found

    def products(
        self, m: Any, gs: Sequence[Any], zs: Sequence[Any], xs: Sequence[Any], wanted: Sequence[int]
    ) -> list[Any]:
        """Return the declared gradients: products with partial derivatives."""
        rule = self.gradient
        if rule is None:
            raise NotImplementedError("the op declares no gradient: pass grad=…")
        if isinstance(rule, tuple):
            return [rule[i](m, gs[0], zs[0], *xs) for i in wanted]
        result = rule(m, gs[0], zs[0], *xs)
        if result is None:
            return [None] * len(wanted)
        return [result[i] for i in wanted]


def _in_range(range: Interval | None) -> dict[str, Any]:
    """Return the facts that follow from a range."""
    if range is None:
        return {}
    found: dict[str, Any] = {"finite": "finite"} if range.limited else {}
    if range.low > 0 or (range.low == 0 and range.open_low):
        found["positive"] = True
    elif range.low == 0:
        found["nonneg"] = True
    if not range.low <= 0 <= range.high:
        found["nonzero"] = True
    return found


@cache
def minus_one(dtype: np.dtype[Any]) -> Any:
    """Return -1 of a dtype if NumPy cannot reliably negate such numbers in place, else None. NumPy
    up to 2.4 treats numbers of 8 bytes at a stride of 64 bytes, and of 4 bytes at a stride of 16
    bytes, as neighbours. A product with -1 has the same value.
    """
    if dtype.kind not in "iuf":
        return None
    for step in (4, 8):
        numbers = np.arange(50).astype(dtype)
        some = numbers[::step]
        wanted = np.negative(some.copy())
        if not np.array_equal(np.negative(some, some), wanted):
            return np.asarray(-1).astype(dtype)[()]
    return None


# --- how the table is written -------------------------------------------------------------------


def _step(m: Any, g: Any, z: Any, *xs: Any) -> None:
    """Return None, the gradient of a step function: it is zero."""


def _unary(name: str, function: str, grad: Any, **options: Any) -> ScalarOp:
    return ScalarOp.define(name, 1, function, grad if grad is _step else (grad,), **options)


#: of functions whose values are floats, whatever they are given
_float = partial(_unary, inner=float_dtype)


def goes_by_int64(own: Any, dtype: Any) -> bool:
    """Return whether a conversion from dtype `own` to `dtype` goes through int64: from floats to
    uint32, as NumPy's result for numbers outside of uint32 depends on their position in the array.
    """
    return np.dtype(dtype) == np.uint32 and np.dtype(own).kind == "f"


class Cast(ScalarOp):
    """Conversion to another dtype: `Cast("float32")`, or to a scalar type. Raises `DTypeError` for
    complex numbers and a real dtype.
    """

    __props__ = ("dtype",)

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype_name(dtype)
        grad = (_passed_on,)
        super().__init__(
            f"Cast{{{self.dtype}}}",
            1,
            grad=grad,
            compute=self._convert,
            moves_only=True,
            bounds=converted,
            keeps="whole positive nonneg",
            implied={"finite": self._finite},
        )

    def _finite(self, f: Any, x: Any) -> Any:
        """Prove that the result is finite: a wider dtype contains all numbers of a narrower one."""
        if np.can_cast(x.type.dtype, self.dtype, "safe"):
            return f.every("converted from", f.finite, [x])
        return f.unknown("it may be infinite, or NaN", blame=x)

    def _convert(self, x: Any, out: Any = None) -> Any:
        x = np.asarray(x)
        if goes_by_int64(x.dtype, self.dtype):
            x = x.astype(np.int64)
        if out is None:
            return x.astype(self.dtype)
        np.copyto(out, x, casting="unsafe")
        return out

    def is_total(self, inputs: Sequence[Any]) -> bool:
        """Return True: every number can be converted."""
        return True

    def _resolve(self, dtypes: tuple[str, ...]) -> str:
        if dtypes[0].startswith("complex") and not self.dtype.startswith("complex"):
            raise TypeError("a complex number has no real value: use `real`, `imag` or `abs`")
        return self.dtype

    def __reduce__(self) -> Any:
        return Cast, (self.dtype,)


def _passed_on(m: Any, g: Any, z: Any, x: Any) -> Any:
    return g
