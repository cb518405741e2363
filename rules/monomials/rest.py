"""What a probability lacks to 1, as a function that keeps its digits."""

from rewrite_engine.rules.language import *
from rewrite_engine.tensor import erf, erfc, sigmoid, tanh


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


@rule(phase="stabilize")
def half_plus_half_tanh(x: Real):
    """The sigmoid, written with tanh.

    >>> rewritten(0.5 + 0.5 * tanh(vector("x")))
    sigmoid(2.0 * x)
    """
    return 0.5 + 0.5 * tanh(x) >> sigmoid(2 * x)
