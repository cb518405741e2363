"""Random numbers: `pt.random`, with `import rewrite_engine.tensor as pt`.

`type.py` states of `numpy.random.Generator` · `op.py` `RandomVariable`, an op that draws ·
`distributions.py` the table of distributions · `functions.py` their functions · `stream.py`
generators in programs. All but the type are loaded at the first use of a name.
"""

from typing import Any

from rewrite_engine.lazy import lookup
from rewrite_engine.random.type import (
    RandomGeneratorType,
    RandomGeneratorVariable,
    random_generator_type,
)

_HOMES = {
    name: home
    for home, names in {
        "op": "ParameterError RNGConsumerOp RandomVariable ScipyRandomVariable",
        "stream": "DefaultGenerator RandomStream default_rng rng shared_rng",
        "functions": (
            "Draws bernoulli beta betabinom binomial categorical cauchy chisquare choice dirichlet "
            "exponential gamma gengamma geometric gumbel halfcauchy halfnormal hypergeometric "
            "integers invgamma laplace logistic lognormal multinomial multivariate_normal nbinom "
            "negative_binomial normal pareto permutation poisson rayleigh standard_normal t "
            "triangular truncexpon uniform vonmises wald weibull"
        ),
    }.items()
    for name in names.split()
}

__all__ = ["RandomGeneratorType", "RandomGeneratorVariable", "random_generator_type", *_HOMES]
__getattr__ = lookup(__name__, _HOMES)


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted(__all__)
