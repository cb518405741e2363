"""Better spellings for products and sums of exponentials and related functions. A better spelling
overflows or underflows less often or has fewer functions, and adds no function that may be larger
than the present ones.
"""

from rewrite_engine.graph.node import Variable
from rewrite_engine.language import *
from rewrite_engine.rewrite.dropped import shown_through
from rewrite_engine.rules.powers.forms import (
    MAX_FORM_TERMS,
    ONE,
    Monomial,
    Square,
    along,
    combined,
    linear,
    number_of,
    product_of,
    times,
    written,
)
from rewrite_engine.rules.powers.power import TABLE
from rewrite_engine.rules.powers.read import (
    PRODUCTS,
    REMAINDERS,
    SCALED,
    SUMS,
    exponent,
    is_function,
    is_itself,
    power,
)
from rewrite_engine.rules.powers.spell import Atom, Spelling, is_below_zero, passes
from rewrite_engine.tensor import (
    add,
    cast,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    isnan,
    mul,
    neg,
    pow,
    reciprocal,
    sigmoid,
    sinh,
    sqr,
    sub,
    switch,
    tanh,
    true_div,
)  # fmt: skip

#: exp(x + y) is off by up to |x + y| / 2 units
COMBINED_CLAIM = approx(ulps=1 << 10)
MAX_OTHER_TERMS = 3  # factors of any size next to which a factor may be dropped
CHANGE_SIGN = frozenset({tanh, expm1, sinh, erf})


class AsWritten:
    """A product or sum as written: its functions, and how many may leave the range."""

    def __init__(self, v):
        self.nodes, self.functions, self.atoms, self.risks = [], {}, [], set()
        self.exponents = []
        self.changes, self.is_natural = False, True
        todo = [(v, 1, False)]
        for u, side, summed in todo:
            if len(self.nodes) > 8 * MAX_FORM_TERMS:
                break
            self.take(u, side, summed, todo, u is v)

    def take(self, u, side, summed, todo, first):
        """Record a node, and queue its operands."""
        head = u.head
        if is_function(u) and not is_itself(power(u), u):
            self.functions[u] = None
            self.changes = self.changes or head in CHANGE_SIGN
            x = u.owner.inputs[-1]
            if x.type.dtype == u.type.dtype:
                form = exponent(u)
                atom = Atom(head, linear(x), side) if form is None else Atom(exp, form, side)
                self.atoms.append(atom)
                if head is exp and not summed:
                    self.exponents.append((x, side))
                self.is_natural = self.is_natural and (form is None or head is exp)
                for one in (atom, atom._replace(power=abs(side))) if summed else (atom,):
                    self.risks |= {one.direction} if one.risk else set()
            return
        if not (head in PRODUCTS or head in SUMS) or not (first or reads_on(u)):
            return
        self.nodes.append(u)
        self.changes = self.changes or ((summed or head in SUMS) and head in (sub, neg))
        inputs = u.owner.inputs[:1] if head is pow else u.owner.inputs
        below = head is reciprocal or (head is pow and is_negative(u.owner.inputs[1]))
        for i, w in enumerate(inputs):
            turned = below or (i and head is true_div)
            todo.append((w, -side if turned else side, summed or head in SUMS))

    @property
    def risk(self):
        """Return how many of its functions may overflow or underflow; those that do so together
        count as one.
        """
        return len(self.risks)

    def whole_arguments(self, new):
        """Return the exponent of a spelling as a sum of the present arguments, if nothing in them
        cancels; None otherwise. Next to terms of others, the remainder of large ones would be lost.
        """
        if len(self.exponents) < 2 or not self.is_natural:
            return None
        forms = [linear(x) for x, _ in self.exponents]
        if len(new.form) < sum(map(len, forms)):
            return None
        total = {}
        for form, (_, side) in zip(forms, self.exponents, strict=True):
            total = combined(total, form, side)
        if combined(total, new.form, -1.0):
            return None
        return {x: float(side) for x, side in self.exponents}

    @property
    def passes(self):
        """Return the number of operations in addition to the functions."""
        inside = sum([max(1, len(u.owner.inputs) - 1) for u in self.nodes])
        return inside + sum([passes(a.form) for a in self.atoms])

    def own_functions(self, fgraph):
        """Return the functions in it that have no other use."""
        inside = {u.owner for u in self.nodes}
        return [v for v in self.functions if is_used_by(fgraph, v, inside)]


def is_used_by(fgraph, v, nodes):
    """Return whether only these nodes use a variable."""
    return v not in fgraph.out_uses and nodes.issuperset(fgraph.users.get(v, ()))


def is_negative(v):
    """Return whether a power is a number below 0."""
    return v.head is CONSTANT and getattr(v, "number", None) is not None and v.number < 0


def reads_on(u):
    """Return whether a term is read further, and is not a factor by itself."""
    p = power(u)
    return not is_itself(p, u)


def better(fgraph, out):
    """Return the replacement for a product or a sum; None if no spelling is better."""
    if out.type.kind != "f" or not may_be_better(out.owner):
        return None
    p = power(out)
    if is_itself(p, out) or not (p.is_known or p.functions or p.lost):
        return None
    if out.head not in SUMS and p.functions < 2:
        return None
    old, new = AsWritten(out), Spelling(p)
    if not is_better(fgraph, out, old, new) or not is_in_range(old, new):
        return None
    value = new.term(out.type.dtype, old.whole_arguments(new))
    if p.lost:
        value = with_nans(value, p.lost, shown_by(new))
    value = cast(value, out.type.dtype)
    return value if out.type.yields_to(value.type) else None


#: {f: numbers c for which f + c is a function of its own, as exp(x) - 1 is expm1(x)}
COMPLEMENTS = {
    sigmoid: (-1, -0.5), erf: (-1, 1), erfc: (-2, -1), exp: (-1,), expm1: (1,), tanh: (-1, 1),
    exp2: (-1,), pow: (-1,),
}  # fmt: skip


EXPONENTIALS = frozenset({exp, exp2, pow})


def may_be_better(node):
    """Return whether a product or a sum is worth reading: it has two functions of a common
    variable, two exponentials, or one function and its complement to a number.
    """
    functions, shared = functions_in(node)
    if not functions:
        return False
    if len(functions) > 1 and (have_exponents(functions) or share_a_root(functions)):
        return True
    if node.op not in SUMS or shared:
        return node.op in SUMS
    numbers = [v for v in node.inputs if v.head is CONSTANT]
    others = [v for v in node.inputs if v.head is not CONSTANT]
    if len(others) != 1 or len(numbers) != 1 or not has_complement(others[0]):
        return False
    v, c = others[0], number_of(numbers[0])
    if v.head in SUMS or c is None:
        return False
    multiple, f = multiple_of(v)
    if multiple is None:
        multiple, powers = product_of(v)
        if len(powers) != 1 or not multiple:
            return True
        (f,) = powers
    sign = -1 if node.op is sub else 1
    return sign * c / multiple in COMPLEMENTS.get(f.head, ())


def multiple_of(v):
    """Return the number and the other factor of a multiple of a function; (None, None) for other
    products, and for arrays of numbers.
    """
    if v.head is not mul:
        return (1.0, v) if v.head in COMPLEMENTS else (None, None)
    if len(v.owner.inputs) != 2:
        return None, None
    a, b = v.owner.inputs
    number, f = (a, b) if a.head is CONSTANT else (b, a)
    c = number_of(number) if number.head is CONSTANT else None
    return (c, f) if c and f.head in COMPLEMENTS else (None, None)


def has_complement(v):
    """Return whether a term is a function of `COMPLEMENTS`, or a product with one."""
    if v.type.kind != "f":
        return False
    inside = v.owner.inputs if v.head in PRODUCTS or v.head in SUMS else ()
    return v.head in COMPLEMENTS or any(
        [u.head in COMPLEMENTS or u.head in PRODUCTS for u in inside]
    )


def functions_in(node):
    """Return the functions in a product, or a sum, and whether its terms share a factor."""
    todo, seen, functions, shared = list(node.inputs), set(), [], False
    for v in todo:
        if is_function(v):
            functions.append(v)
        elif v not in seen and (v.head in PRODUCTS or v.head in SUMS):
            seen.add(v)
            if len(todo) < 2 * MAX_FORM_TERMS:
                todo += v.owner.inputs
        elif v.head is not CONSTANT:
            shared = shared or v in seen
            seen.add(v)
    return functions, shared


def have_exponents(functions):
    """Return whether two of some functions are exponentials."""
    return sum([v.head in EXPONENTIALS or v.head in SCALED for v in functions]) > 1


def share_a_root(functions):
    """Return whether two functions are computed from a common variable nearby, or are the same."""
    inside = set()
    for v in functions:
        found = {v, *roots(v.owner.inputs[-1])}
        if not inside.isdisjoint(found):
            return True
        inside |= found
    return False


def roots(v):
    """Return the nearest terms from which arithmetic computes a function's argument."""
    found, todo = set(), [v]
    for u in todo:
        if (u.head in PRODUCTS or u.head in SUMS) and len(todo) < MAX_FORM_TERMS:
            todo += u.owner.inputs
        elif u.head is not CONSTANT:
            found.add(u)
    return found


def is_better(fgraph, out, old, new):
    """Return whether a spelling overflows or underflows less often, is NaN less often, has fewer
    functions to compute, or keeps the digits of a difference.
    """
    count = len(old.functions)
    if new.risk > old.risk or new.functions > count:
        return False
    if out.head in SUMS:
        return new.functions < count or (old.changes and new.passes <= old.passes + 1)
    if new.risk < old.risk or (clash(old.atoms) and not clash(new.atoms)):
        return True
    return new.functions < len(old.own_functions(fgraph))


def clash(atoms):
    """Return whether one function may overflow while another one underflows, so that the product of
    both is NaN: as in exp(-x**2) / erfc(x). Functions without a common variable do not count.
    """
    for a in atoms:
        if a.risk and any(b is not a and b.vanishes and has_common(a, b) for b in atoms):
            return True
    return False


def has_common(a, b):
    """Return whether the arguments of two functions have a variable in common."""
    return not variables_of(a.form).isdisjoint(variables_of(b.form))


def is_in_range(old, new):
    """Return whether no part of a spelling can be infinite, or 0, while all written parts are
    finite: a function at risk is alone, or a part of a present one.
    """
    others = sum([abs(q) for v, q in new.others.items() if v.head not in REMAINDERS])
    if others > MAX_OTHER_TERMS:
        return False
    if others + len(new.atoms) <= 1:
        return True
    return all(is_part(a, old.atoms) for a in new.atoms if a.risk)


def is_part(atom, atoms):
    """Return whether the argument of a function is a part of that of a present one, or an
    exponential is never above a present one.
    """
    for a in atoms:
        if a.function is atom.function is exp:
            more = combined(times(atom.form, atom.power), a.form, -a.power)
            if is_below_zero(more):
                return True
        n = along(atom.form, a.form)
        if 0 < abs(n) <= 1 + 1e-12 and not combined(atom.form, a.form, -n):
            return True
    return False


# --- NaNs -----------------------------------------------------------------------------------------


def with_nans(value, lost, shown):
    """Return a term that also shows the NaNs of cancelled terms. shown: variables whose NaNs it
    shows already.
    """
    for key in lost:
        wanted = variables_of([key])
        if not wanted <= shown:
            v = key if isinstance(key, Variable) else written({key: 1.0}, value.type.dtype)
            value = switch(isnan(v), cast(v, value.type.dtype), value)
            shown = shown | wanted
    return value


def shown_by(new):
    """Return the variables whose NaNs a spelling shows."""
    return showing(new.others).union(*[variables_of(a.form) for a in new.atoms])


def variables_of(keys):
    """Return the variables in the terms of linear forms."""
    found = set()
    for key in keys:
        if isinstance(key, Square):
            found |= variables_of(key.root)
        elif isinstance(key, Monomial):
            found.add(key.term)
        elif key is not ONE:
            found.add(key)
    return found


def showing(others):
    """Return the nearest variables whose NaN other terms show."""
    return set(shown_through(others, shows))


def shows(node):
    """Return whether a NaN in any operand is known to be a NaN in the result of a node."""
    head = node.outputs[0].head
    return head in PRODUCTS or head in SUMS or head in TABLE or head in REMAINDERS


# --- rules ----------------------------------------------------------------------------------------


def may_combine(op, seen, distinct):
    """Return whether there may be two functions, a function and a number, or a sum of them. (Of
    more than two operands it is known which functions there are, but not how often.)
    """
    heads = [s[0] if s.__class__ is tuple else s for s in seen]
    if any([h in PRODUCTS or h in SUMS for h in heads]):
        return True
    functions = sum([h in TABLE or h in SCALED for h in heads])
    number = op in SUMS and CONSTANT in heads
    return functions + number > 1 or (functions == 1 and len(heads) > 2)


@node_rewriter(
    [mul, true_div, reciprocal], phase="stabilize", claim=COMBINED_CLAIM, depth=8, when=may_combine
)
def combine_factors(fgraph, node):
    """Combine factors that overflow or underflow when their product does not: exp(x) exp(y),
    exp(-x) sigmoid(x), exp(x) / (exp(x) + exp(y)), exp(-x**2) / erfc(x).

    Not data: they may be anywhere in numerators and denominators, in any number.

    >>> x, y, a = vectors("x y a")
    >>> rewritten(sigmoid(x) * exp(-x), exp(x) / (1 + exp(x)))
    [sigmoid(-x), sigmoid(x)]
    >>> rewritten(exp(x) / (exp(x) + exp(y)), exp(-sqr(x)) / erfc(x))
    [sigmoid(x - y), reciprocal(erfcx(x))]
    """
    return better(fgraph, node.outputs[0])


@node_rewriter([add, sub], phase="stabilize", claim=COMBINED_CLAIM, depth=8, when=may_combine)
def combine_terms(fgraph, node):
    """Replace a - a * sigmoid(x) by a * sigmoid(-x), which keeps its digits; other functions have
    such complements, too.

    Not data: the quotient of two terms has to be computed.

    >>> x, a = vectors("x a")
    >>> rewritten(a - a * sigmoid(x), a * exp(x) - sigmoid(x) * a)
    [a * sigmoid(-x), a * sigmoid(x) * exp(x)]
    >>> rewritten(x + x * (x - 1), x * (x + 1) - x)
    [sqr(x), sqr(x)]
    >>> rewritten(1 - erf(x), 3 * a * erfc(x) - 6 * a)
    [erfc(x), -3.0 * a * erfc(-x)]
    """
    found = square_of_sum(node)
    return better(fgraph, node.outputs[0]) if found is None else found


def square_of_sum(node):
    """Return x**2 for x + x (x - 1) and x (x + 1) - x, whose terms cancel; None for others."""
    pairs = [node.inputs, node.inputs[::-1]] if node.op is add else [node.inputs[::-1]]
    for v, product in pairs if len(node.inputs) == 2 else ():
        if product.head is not mul or len(product.owner.inputs) != 2 or v.type.kind != "f":
            continue
        wanted = {v: 1.0, ONE: 1.0 if node.op is sub else -1.0}
        a, b = product.owner.inputs
        rest = b if a is v else a if b is v else None
        if rest is not None and rest.head in SUMS and linear(rest) == wanted:
            return sqr(v) if v.type is node.outputs[0].type else None
    return None
