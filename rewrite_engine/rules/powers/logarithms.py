"""The rules for logarithms of terms that overflow or vanish; `logs.py` reads them."""

import math

from rewrite_engine.language import *
from rewrite_engine.rules.powers.differences import log_of_half_erfc, log_of_rest
from rewrite_engine.rules.powers.forms import combined, squared
from rewrite_engine.rules.powers.known_logs import KNOWN, Log
from rewrite_engine.rules.powers.logs import (
    log_of,
    log_of_other,
    log_of_power,
    log_of_scaled_sum,
    log_of_sum,
    moved,
    moves,
)
from rewrite_engine.rules.powers.power import TABLE
from rewrite_engine.rules.powers.products import COMBINED_CLAIM
from rewrite_engine.rules.powers.read import PRODUCTS, SCALED, SUMS, is_itself, power, summands
from rewrite_engine.tensor import (
    Sum,
    abs,
    erf,
    erfcx,
    exp,
    log,
    log1mexp,
    log1p,
    log2,
    log10,
    lt,
    maximum,
    minimum,
    neg,
    pow,
    sub,
    switch,
)

READABLE_OPS = frozenset({*TABLE, *PRODUCTS, *SUMS, *SCALED, abs, erf, switch, pow})


def may_be_made(op, seen, distinct):
    """Return whether the operand may consist of terms with a better logarithm."""
    head = seen[0][0] if seen[0].__class__ is tuple else seen[0]
    return head in READABLE_OPS or head in KNOWN or isinstance(head, Sum) or moves(head)


def fitting(out, found):
    """Return the term, if it has the required type or differs only by a narrower dtype."""
    if found is None or not found.better:
        return None
    new = found.term(out.type.dtype)
    return new if out.type.yields_to(new.type) else None


#: the natural logarithms of bases
BASES = {log: 1.0, log2: math.log(2.0), log10: math.log(10.0)}


@node_rewriter(
    [log, log2, log10], phase="stabilize", claim=COMBINED_CLAIM, depth=8, when=may_be_made
)
def log_of_factors(fgraph, node):
    """Avoid overflow and underflow in logarithms of products, quotients, powers, sums and
    differences of exponentials, sigmoids and similar functions.

    Not data: they may be nested in any way. (exp(x) alone has its own rule.)

    >>> x, y = vectors("x y")
    >>> rewritten(log(exp(x) + exp(y)), log(2 * exp(x) / sigmoid(y)))
    [logaddexp(x, y), 0.6931471805599453 + x + softplus(-y)]
    >>> rewritten(log(erfc(x)), log(exp(x) - exp(y)), log(1 - sigmoid(x) * sigmoid(y)))
    [logerfc(x), logdiffexp(x, y), log1mexp(-softplus(-x) - softplus(-y))]
    """
    (x,), (out,) = node.inputs, node.outputs
    if x.type.kind != "f" or (x.head is exp and node.op is log):
        return None
    found = in_base(read_logarithm(x), BASES[node.op])
    return fitting(out, found)


def in_base(found, scale):
    """Return a logarithm in a base with this natural logarithm."""
    if found is None or scale == 1:
        return found
    make = found.make
    return found._replace(make=lambda: make() * (1 / scale))


def read_logarithm(x):
    """Return the `Log` of a term that is better than as written; None if there is none."""
    p = power(x)
    if (u := half_erfc(p)) is not None:
        return Log(lambda: log_of_half_erfc(u, x.type.dtype), True)
    if not is_itself(p, x):
        return log_of_power(p, x.type.dtype, alone=True)
    found = log_of_other(x)
    if found is None and isinstance(x.head, Sum):
        found = log_of_scaled_sum(x)
    if found is None and moves(x.head) and len(parts := x.owner.inputs[x.head.elements]) == 1:
        if (inner := log_of_part(*parts)) is not None:
            found = Log(lambda: moved(x)(inner.term(x.type.dtype)), True)
    return found


def half_erfc(p):
    """Return the argument u of a power that is erfc(u) / 2, the normal distribution function; None
    for others.
    """
    if p.number != 0.5 or p.others or [(f.kind, q) for f, q in p.factors.items()] != [(erfcx, 1)]:
        return None
    (f,) = p.factors
    u = dict(f.ray)
    return u if not combined(p.form, squared(u)) else None


def log_of_part(v):
    """Return the logarithm of a product whose elements are selected; a factor may have any sign."""
    return log_of_power(power(v), v.type.dtype, alone=True) if v.type.kind == "f" else None


@node_rewriter([log1p], phase="stabilize", claim=COMBINED_CLAIM, depth=8, when=may_be_made)
def log1p_of_factors(fgraph, node):
    """Avoid overflow and underflow in logarithms of 1 + x.

    Not data: see `log_of_factors`.

    >>> x, y = vectors("x y")
    >>> rewritten(log1p(exp(x) + exp(y)), log1p(-sigmoid(x)))
    [logaddexp(0.0, x, y), -softplus(x)]
    """
    (x,), (out,) = node.inputs, node.outputs
    if x.type.kind != "f":
        return None
    whole = sub(1.0, x.owner.inputs[0]) if x.head is neg else 1.0 + x
    p = power(whole)
    if not is_itself(p, whole):
        found = log_of_power(p, x.type.dtype, alone=True)
        if p.number == 0.5 and [f.kind for f in p.factors] == [
            erfcx
        ]:  # where x is small it has digits
            t = x.owner.inputs[0] if x.head is neg else -x
            found = Log(
                lambda: log_of_rest(t, log_of(x, -1).term(x.type.dtype), x.type.dtype), True
            )
        return fitting(out, found)
    return fitting(out, log_of_sum([(1, 1.0), *summands(x)], x.type.dtype))


@node_rewriter([log1mexp], phase="stabilize", claim=COMBINED_CLAIM, depth=8, when=may_be_made)
def log1mexp_of_small(fgraph, node):
    """log(1 - exp(-z)) is log(z) - z / 2 for a small z >= 0, so log(1 - exp(-exp(x))) stays finite
    when exp(x) underflows.

    Not data: z is read as in `log_of_factors`.

    >>> rewritten(log(1 - exp(-exp(vector("x")))))
    switch(x < -16.0, x - 0.5 * exp(x), log1mexp(-minimum(maximum(exp(x), 6e-08), 800.0)))
    """
    (x,) = node.inputs
    if x.type.kind != "f":
        return None
    z = x.owner.inputs[0] if x.head is neg else -x
    found = None if z.head in (maximum, minimum) else log_of(x, -1)  # (as in the second form below)
    if found is None or not (found.better and found.vanishes and found.certain and found.strict):
        return None
    term = found.term(x.type.dtype)
    small = switch(lt(term, -16.0), term - 0.5 * z, log1mexp(-minimum(maximum(z, 6e-8), 800.0)))
    return fitting(node.outputs[0], Log(lambda: small, True))
