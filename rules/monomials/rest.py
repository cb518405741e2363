"""What a probability lacks to 1, as a function that keeps its digits."""

from rewrite_engine.rules.facts import used_once
from rewrite_engine.rules.language import *
from rewrite_engine.tensor import cosh, erf, erfc, reciprocal, sigmoid, sqr, tanh


@rule(phase="stabilize")
def one_plus_erf(x: Real):
    """1 + erf(x) loses every digit for negative x.

    >>> rewritten(1 + erf(vector("x")))
    erfc(-x)
    """
    return 1 + erf(x) >> erfc(-x)


@rule(phase="stabilize")
def one_minus_erf(x: Real):
    """1 - erf(x) loses every digit for positive x.

    >>> rewritten(1 - erf(vector("x")))
    erfc(x)
    """
    return 1 - erf(x) >> erfc(x)


@rule(phase="stabilize")
def half_plus_half_erf(x: Real):
    """The same for the normal distribution function, as it is written, too.

    >>> rewritten(0.5 + 0.5 * erf(vector("x")))
    0.5 * erfc(-x)
    """
    return 0.5 + 0.5 * erf(x) >> 0.5 * erfc(-x)


@rule(phase="stabilize")
def one_minus_half_erfc(x: Real):
    """What is missing of a probability.

    >>> rewritten(1 - 0.5 * erfc(vector("x")))
    0.5 * erfc(-x)
    """
    return 1 - 0.5 * erfc(x) >> 0.5 * erfc(-x)


@rule(phase="stabilize")
def one_and_minus_half_erfc(x: Real):
    """The same, with the sign in the number.

    >>> rewritten(-0.5 * erfc(vector("x")) + 1)
    0.5 * erfc(-x)
    """
    return 1 + -0.5 * erfc(x) >> 0.5 * erfc(-x)


@rule(phase="stabilize")
def two_minus_erfc(x: Real):
    """2 - erfc(x) loses every digit for negative x.

    >>> rewritten(2 - erfc(vector("x")))
    erfc(-x)
    """
    return 2 - erfc(x) >> erfc(-x)


@rule(phase="stabilize")
def one_plus_tanh(x: Real):
    """1 + tanh(x) loses every digit for negative x.

    >>> rewritten(1 + tanh(vector("x")))
    2.0 * sigmoid(2.0 * x)
    """
    return 1 + tanh(x) >> 2 * sigmoid(2 * x)


@rule(phase="stabilize")
def one_minus_tanh(x: Real):
    """1 - tanh(x) loses every digit for positive x.

    >>> rewritten(1 - tanh(vector("x")))
    2.0 * sigmoid(-2.0 * x)
    """
    return 1 - tanh(x) >> 2 * sigmoid(-2 * x)


def is_tanh(t):
    """Whether a term is a tanh."""
    return t.head is tanh


@rule(phase="specialize")
def one_minus_square_of_tanh(t: Real):
    """The derivative of tanh loses every digit where tanh is near 1. Not where that is needed
    anyway: as in a network, where another function would cost as much as the whole layer. Last:
    rules know that form.

    >>> rewritten(1 - tanh(vector("x")) ** 2)
    sqr(reciprocal(cosh(x)))
    """
    right = compute(lambda t: sqr(reciprocal(cosh(t.owner.inputs[0]))))
    return 1 - sqr(t) >> right, given(is_tanh, used_once(t))


@rule(phase="stabilize")
def half_plus_half_tanh(x: Real):
    """The sigmoid, written with tanh.

    >>> rewritten(0.5 + 0.5 * tanh(vector("x")))
    sigmoid(2.0 * x)
    """
    return 0.5 + 0.5 * tanh(x) >> sigmoid(2 * x)
