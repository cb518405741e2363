"""Docstrings of scalar ops, and of the elementwise functions made from them, as `help(pt.exp)`
prints.

They are written at their first use, from the declarations in the table of ops; no other module
needs this one. The table below has a sentence for each op of the library. The docstring of its
`compute` describes an op of a user.
"""

from __future__ import annotations

import inspect
from textwrap import fill
from types import SimpleNamespace
from typing import Any

import numpy as np

from rewrite_engine.errors import DTypeError
from rewrite_engine.scalar.bounds import Interval
from rewrite_engine.scalar.op import ScalarOp

#: what each op returns; {name: sentence}
SUMMARIES = {
    # bits and divisors of integers
    "and_": "Return the bitwise AND of integers, or the logical AND of booleans.",
    "or_": "Return the bitwise OR of integers, or the logical OR of booleans.",
    "xor": "Return the bitwise exclusive OR of integers, or that of booleans.",
    "invert": "Return the bitwise complement of an integer, or the negation of a boolean.",
    "left_shift": "Return x with its bits shifted y places to the left: x * 2**y.",
    "right_shift": "Return x with its bits shifted y places to the right: x // 2**y.",
    "bitwise_count": "Return the number of bits of |x| that are 1.",
    "gcd": "Return the greatest common divisor of two integers.",
    "lcm": "Return the least common multiple of two integers.",
    # parts of floats
    "isnan": "Return whether x is NaN.",
    "isinf": "Return whether x is infinite, with either sign.",
    "isfinite": "Return whether x is neither infinite nor NaN.",
    "signbit": "Return whether the sign bit of x is set; it is for -0.0.",
    "copysign": "Return |x| with the sign of y.",
    "nextafter": "Return the next representable number after x in the direction of y.",
    "heaviside": "Return 0 where x < 0, 1 where x > 0, and y where x is 0.",
    "ldexp": "Return x * 2**i for a float x and an integer i.",
    "frexp_mantissa": "Return m of x = m * 2**e with 0.5 <= |m| < 1, or 0 for 0.",
    "frexp_exponent": "Return the integer e of x = m * 2**e with 0.5 <= |m| < 1, or 0 for 0.",
    # complex numbers
    "real": "Return the real part.",
    "imag": "Return the imaginary part.",
    "conj": "Return the complex conjugate; a real number unchanged.",
    "angle": "Return the argument of a complex number, in radians.",
    "complex": "Return x + 1j * y.",
    "complex_from_polar": "Return r * exp(1j * theta).",
    # error functions
    "erf": "Return the error function 2 / sqrt(pi) * integral of exp(-t**2) from 0 to x.",
    "erfc": "Return the complementary error function 1 - erf(x), accurate for large x.",
    "erfcx": "Return the scaled complementary error function exp(x**2) * erfc(x).",
    "logerfc": "Return log(erfc(x)) without underflow for large x.",
    "erfinv": "Return the inverse of the error function: the y with erf(y) = x.",
    "erfcinv": "Return the inverse of erfc: the y with erfc(y) = x.",
    "log_odds": "Return log(x / (1 - x)), which keeps its digits near 1/2.",
    "log_ndtr": "Return the logarithm of the standard normal distribution function at x.",
    "ndtri_exp": "Return the quantile of the standard normal distribution at exp(x).",
    "owens_t": "Return Owen's T function of h and a.",
    # gamma and beta functions
    "gamma": "Return the gamma function; gamma(n + 1) is n! for a whole number n >= 0.",
    "gammaln": "Return log(|gamma(x)|) without overflow.",
    "i0e": "Return exp(-|x|) * i0(x), which does not overflow.",
    "i1e": "Return exp(-|x|) * i1(x), which does not overflow.",
    "psi_difference": "Return psi(x + k) - psi(x), which keeps its digits for a large x.",
    "gammasgn": "Return the sign of gamma(x).",
    "psi": "Return the digamma function, the derivative of log(gamma(x)).",
    "polygamma": "Return the n-th derivative of the digamma function at x.",
    "tri_gamma": "Return the trigamma function, the derivative of the digamma function.",
    "beta": "Return the beta function gamma(a) * gamma(b) / gamma(a + b).",
    "betaln": "Return the logarithm of the beta function without overflow.",
    "poch": "Return the Pochhammer symbol gamma(x + k) / gamma(x).",
    "xlogy": "Return x * log(y), and 0 where x is 0.",
    "xlog1py": "Return x * log(1 + y), and 0 where x is 0.",
    "gamma_density": "Return the gamma density x**(k - 1) * exp(-x) / gamma(k).",
    "gammainc_dk": "Return the derivative of gammainc with respect to k.",
    "gammainc": "Return the regularized lower incomplete gamma function P(k, x).",
    "gammaincc": "Return the regularized upper incomplete gamma function Q(k, x) = 1 - P(k, x).",
    "gammaincinv": "Return the inverse of gammainc in x: the x with P(k, x) = p.",
    "gammainccinv": "Return the inverse of gammaincc in x: the x with Q(k, x) = p.",
    "beta_density": "Return the beta density x**(a - 1) * (1 - x)**(b - 1) / beta(a, b).",
    "betainc_da": "Return the derivative of betainc with respect to a.",
    "betainc_db": "Return the derivative of betainc with respect to b.",
    "betainc": "Return the regularized incomplete beta function I(a, b, x).",
    "betaincinv": "Return the inverse of betainc in x: the x with I(a, b, x) = p.",
    # Bessel functions and the hypergeometric function
    "j0": "Return the Bessel function of the first kind of order 0.",
    "j1": "Return the Bessel function of the first kind of order 1.",
    "i0": "Return the modified Bessel function of the first kind of order 0.",
    "i1": "Return the modified Bessel function of the first kind of order 1.",
    "jv": "Return the Bessel function of the first kind of real order v.",
    "iv": "Return the modified Bessel function of the first kind of real order v.",
    "ive": "Return iv(v, x) * exp(-|x|), which does not overflow.",
    "kv": "Return the modified Bessel function of the second kind of real order v.",
    "kve": "Return kv(v, x) * exp(x), which does not underflow.",
    "hyp2f1_da": "Return the derivative of hyp2f1 with respect to a.",
    "hyp2f1_dc": "Return the derivative of hyp2f1 with respect to c.",
    "hyp2f1": "Return the Gauss hypergeometric function 2F1(a, b; c; z).",
    # arithmetic
    "add": "Return the sum of all operands.",
    "mul": "Return the product of all operands.",
    "sub": "Return the difference x - y.",
    "true_div": "Return the quotient x / y as a float.",
    "floor_div": "Return the quotient x / y, rounded down.",
    "mod": "Return the remainder of x / y rounded down, which has the sign of y.",
    "fmod": "Return the remainder of x / y rounded towards 0, which has the sign of x.",
    "neg": "Return the negative of x.",
    "abs": "Return the absolute value; of a complex number, its modulus.",
    "sign": "Return -1, 0 or 1 by the sign of x; of a complex number, x / |x|.",
    "sqr": "Return the square x * x.",
    "sqrt": "Return the square root; NaN below 0 for real numbers.",
    "cbrt": "Return the real cube root.",
    "reciprocal": "Return 1 / x as a float.",
    "pow": "Return x to the power y.",
    # exponentials and logarithms
    "exp": "Return e to the power x.",
    "exp2": "Return 2 to the power x.",
    "expm1": "Return exp(x) - 1, accurate near 0.",
    "log": "Return the natural logarithm; -inf at 0, NaN below for real numbers.",
    "log2": "Return the logarithm to base 2; -inf at 0, NaN below.",
    "log10": "Return the logarithm to base 10; -inf at 0, NaN below.",
    "log1p": "Return log(1 + x), accurate near 0.",
    "logaddexp": "Return the logarithm of the sum of the exponentials, without overflow.",
    "logaddexp2": "Return log2(2**x + 2**y) without overflow.",
    "logdiffexp": "Return log(exp(x) - exp(y)) for x >= y without overflow; NaN for x < y.",
    "log1mexp": "Return log(1 - exp(x)) for x < 0, with all digits.",
    "softplus": "Return log(1 + exp(x)) without overflow.",
    "sigmoid": "Return the logistic function 1 / (1 + exp(-x)).",
    # trigonometry
    "sin": "Return the sine of an angle in radians.",
    "cos": "Return the cosine of an angle in radians.",
    "tan": "Return the tangent of an angle in radians.",
    "arcsin": "Return the inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1] for real numbers.",
    "arccos": "Return the inverse cosine, in [0, pi]; NaN outside [-1, 1] for real numbers.",
    "arctan": "Return the inverse tangent, in [-pi/2, pi/2].",
    "hypot": "Return sqrt(x**2 + y**2) without overflow.",
    "arctan2": "Return the angle of the point (x, y) from the positive x axis; y comes first.",
    "sinh": "Return the hyperbolic sine.",
    "cosh": "Return the hyperbolic cosine.",
    "tanh": "Return the hyperbolic tangent.",
    "sech2": "Return 1 - tanh(x)**2, the slope of tanh, which does not underflow early.",
    "logcosh": "Return log(cosh(x)) without overflow.",
    "arcsinh": "Return the inverse hyperbolic sine.",
    "arccosh": "Return the inverse hyperbolic cosine; NaN below 1 for real numbers.",
    "arctanh": "Return the inverse hyperbolic tangent; NaN outside [-1, 1] for real numbers.",
    # order and choice
    "maximum": "Return the largest operand; NaN if one of them is NaN.",
    "minimum": "Return the smallest operand; NaN if one of them is NaN.",
    "fmax": "Return the larger operand; if one of them is NaN, the other.",
    "fmin": "Return the smaller operand; if one of them is NaN, the other.",
    "clip": "Return x, or the bound that it is beyond; `high` where low > high.",
    "switch": "Return x where the condition is not 0, else y.",
    "second": "Return y in the shape that x and y broadcast to.",
    "identity": "Return a copy of x.",
    "eq": "Return whether x equals y.",
    "neq": "Return whether x differs from y.",
    "lt": "Return whether x < y.",
    "le": "Return whether x <= y.",
    "gt": "Return whether x > y.",
    "ge": "Return whether x >= y.",
    # rounding
    "floor": "Return the largest whole number that is not above x.",
    "ceil": "Return the smallest whole number that is not below x.",
    "trunc": "Return x rounded to a whole number towards 0.",
    "round": "Return x rounded to the nearest whole number, ties to the even one.",
    "round_half_away_from_zero": "Return x rounded to the nearest whole number, ties away from 0.",
}

#: arguments of examples, where those that the domain suggests show little
EXAMPLES = {
    "ldexp": "[0.5, 3.0], [1, 4]",
    "frexp_mantissa": "[0.75, 12.0]",
    "frexp_exponent": "[0.75, 12.0]",
    "complex": "[1.0, 0.0], [2.0, -1.0]",
    "complex_from_polar": "[1.0, 2.0], [0.0, 0.5]",
    "real": "[1.0 + 2.0j, 3.0]",
    "imag": "[1.0 + 2.0j, 3.0]",
    "conj": "[1.0 + 2.0j, 3.0]",
    "angle": "[1.0j, -1.0]",
    "isnan": "[1.0, pt.nan]",
    "isinf": "[1.0, -pt.inf]",
    "isfinite": "[1.0, pt.nan]",
    "heaviside": "[-2.0, 0.0, 3.0], 0.5",
    "polygamma": "1, [0.5, 2.0]",
    "logdiffexp": "[2.0, 1000.0], [1.0, 999.0]",
    "logaddexp": "[0.0, 1000.0], [1.0, 1000.0]",
    "fmax": "[1.0, pt.nan], [2.0, 3.0]",
    "fmin": "[1.0, pt.nan], [2.0, 3.0]",
    "clip": "[-1.5, 0.5, 3.0], 0.0, 1.0",
    "switch": "[True, False], [1.0, 2.0], 0.0",
    "second": "[1.0, 2.0], 3.0",
    "round": "[0.5, 1.5, 2.4]",
    "round_half_away_from_zero": "[0.5, 1.5, 2.4]",
    "eq": "[1.0, 2.0], [1.0, 3.0]",
    "neq": "[1.0, 2.0], [1.0, 3.0]",
    "softplus": "[0.0, 1000.0]",
    "arccosh": "[1.0, 2.0]",
    "left_shift": "[1, 6], [3, 2]",
    "right_shift": "[8, 6], [3, 1]",
    "gcd": "[6, 12], [4, 18]",
    "lcm": "[6, 12], [4, 18]",
}

#: columns of a docstring
WIDTH = 88

#: dtypes of operands that a docstring speaks of
DTYPES = ("bool", "int64", "float32", "float64", "complex128")


def summary(op: ScalarOp) -> str:
    """Return one sentence that describes the result of an op."""
    if op.listed and op.name in SUMMARIES:
        return SUMMARIES[op.name]
    own = inspect.getdoc(op.compute) if inspect.isfunction(op.compute) else None
    return (own or f"Return `{op.name}` of numbers.").partition("\n\n")[0]


def parameters(op: ScalarOp) -> list[str]:
    """Return the names of the inputs: the parameters of its gradient, or x, y, z, w."""
    grads = op.gradient if isinstance(op.gradient, tuple) else (op.gradient,)
    for grad in grads:
        found = inspect.signature(grad).parameters.values() if inspect.isfunction(grad) else ()
        names = [one.name for one in found if one.kind is not one.VAR_POSITIONAL]
        if op.nin and len(names) == op.nin + 3:
            return names[3:]
    return ["*operands"] if op.nin is None else ["x", "y", "z", "w"][: op.nin]


def signature(op: ScalarOp) -> inspect.Signature:
    """Return the signature of the function on arrays: inputs by position, then options."""
    kinds = inspect.Parameter
    positional = [
        kinds(name.lstrip("*"), kinds.VAR_POSITIONAL if "*" in name else kinds.POSITIONAL_ONLY)
        for name in parameters(op)
    ]
    options = {"name": None, "return_list": False}
    named = [kinds(name, kinds.KEYWORD_ONLY, default=value) for name, value in options.items()]
    return inspect.Signature([*positional, *named])


def docstring(op: ScalarOp) -> str:
    """Return the docstring of the function on arrays: its arguments, what it computes, domain and
    range, dtypes, shapes, other names, and an example.
    """
    shape = "operands broadcast" if op.nin != 1 else "the shape is that of the operand"
    parts = [
        f"{op.name}{signature(op)}",
        summary(op),
        f"Works element by element; {shape}.",
        "\n".join(map(_wrapped, [_domain(op), _range(op), _dtypes(op), *_names(op)])),
        *_example(op),
    ]
    return "\n\n".join(parts)


def _wrapped(line: str) -> str:
    return fill(line, WIDTH, subsequent_indent="    ")


def _domain(op: ScalarOp) -> str:
    names = [name.lstrip("*") for name in parameters(op)]
    limited = [f"{x} in {d}" for x, d in zip(names, op.domain) if str(d) != "(-inf, inf)"]
    everything = "integers" if _results(op)["float64"] is None else "all real numbers"
    return f"Domain (as tested): {', '.join(limited) or everything}."


def _range(op: ScalarOp) -> str:
    if op.range is not None:
        return f"Range: {op.range}."
    results = {found for found in _results(op).values() if found}
    return "Range: True or False." if results == {"bool"} else "Range: no bounds are declared."


def _results(op: ScalarOp) -> dict[str, str | None]:
    """Return the result dtype for operands of each dtype; None if the op refuses the dtype."""
    found: dict[str, str | None] = {}
    for dtype in DTYPES:
        given = tuple(["int64" if i in op.free and i else dtype for i in range(op.nin or 2)])
        try:
            found[dtype] = op.result_dtypes(given)[0]
        except DTypeError:
            found[dtype] = None
    return found


def _dtypes(op: ScalarOp) -> str:
    kept, changed, refused = [], [], []
    for given, result in _results(op).items():
        if result is None:
            refused.append(given)
        elif result == given:
            kept.append(given)
        else:
            changed.append(f"{given} to {result}")
    groups = [
        f"keeps {', '.join(kept)}" if kept else "",
        f"converts {', '.join(changed)}" if changed else "",
        f"refuses {', '.join(refused)} (DTypeError)" if refused else "",
    ]
    return f"Dtypes: {'; '.join(filter(None, groups))}."


def _names(op: ScalarOp) -> list[str]:
    return [f"Other names: {', '.join(op.aliases)}."] if op.aliases else []


def _example(op: ScalarOp) -> list[str]:
    """Return a call with its value; nothing for an op that is not in the library."""
    if not op.listed:
        return []
    text = EXAMPLES.get(op.name) or _arguments(op)
    names = SimpleNamespace(nan=np.nan, inf=np.inf)
    arrays = [np.asarray(x) for x in eval(f"[{text}]", {"pt": names})]
    with np.errstate(all="ignore"):
        (value,) = op.impl_all(*arrays)
    value = np.asarray(value, op.result_dtypes(tuple([x.dtype.name for x in arrays]))[0])
    call = f">>> pt.{op.name}({text}).eval()"
    return [f">>> import rewrite_engine.tensor as pt\n{call}\n{value!r}"]


def _arguments(op: ScalarOp) -> str:
    """Return arguments inside the domain; integers if the op refuses floats."""
    if _results(op)["float64"] is None:
        points: list[list[Any]] = [[6, 12], [3, 10]]
    else:
        points = [_inside(d, k) for k, d in enumerate(op.domain * (2 if op.nin is None else 1))]
    return ", ".join(map(str, points[: op.nin or 2]))


def _inside(domain: Interval, k: int) -> list[float]:
    """Return two numbers of an interval, different ones for each k-th operand."""
    low, high = domain.low, domain.high
    if np.isinf(low) and np.isinf(high):
        return [[-1.5, 0.5], [2.0, 1.5]][k % 2]
    if np.isinf(low):
        return [high - 2.0, high - 0.5]
    step = 2.0 if np.isinf(high) else high - low
    return [low + step * part for part in ([0.25, 0.75], [0.5, 0.625])[k % 2]]
