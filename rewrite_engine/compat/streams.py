"""Theano's `RandomStreams` and `MRG_RandomStreams`: sizes come first, parameters have older names,
and integers may be drawn as floats.

The distributions are Theano's; the numbers come from NumPy's present generators.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.random import functions
from rewrite_engine.random.stream import RandomStream
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.index.selection import permute_row_elements
from rewrite_engine.tensor.shape import specify_shape

__all__ = ["RandomStreams"]


class RandomStreams(RandomStream):
    """Random stream with Theano's methods.

    Arguments of all methods: size, the shape of all draws, by default the shape of the parameters;
    ndim, how many lengths a size has whose type does not specify it; dtype, of the draws. nstreams
    has no effect. The state that a draw `x` is made with is `x.rng`.

    >>> RandomStreams(3).binomial((2,), p=0.5, dtype="float64").type
    TensorType(float64, (2,))
    """

    def __init__(self, seed: Any = None, **_: Any) -> None:
        super().__init__(seed)

    def _drawn(
        self, op: Any, *params: Any, size: Any, ndim: Any, dtype: Any, **options: Any
    ) -> Any:
        if ndim is not None and size is not None:
            size = specify_shape(as_tensor_variable(size), (ndim,))
        draw = self.gen(op, *params, size=size, **options)
        draw = draw if dtype is None else draw.astype(dtype)
        draw.update = self.state_updates[-1]
        draw.rng = draw.update[0]
        return draw

    def uniform(self, size: Any = None, low: Any = 0.0, high: Any = 1.0, ndim: Any = None,
                dtype: Any = None, nstreams: Any = None) -> Any:  # fmt: skip
        """Draw numbers from `low` to `high`."""
        return self._drawn(functions.uniform, low, high, size=size, ndim=ndim, dtype=dtype)

    def normal(self, size: Any = None, avg: Any = 0.0, std: Any = 1.0, ndim: Any = None,
               dtype: Any = None, nstreams: Any = None) -> Any:  # fmt: skip
        """Draw normal numbers with the mean `avg` and the standard deviation `std`."""
        return self._drawn(functions.normal, avg, std, size=size, ndim=ndim, dtype=dtype)

    def binomial(self, size: Any = None, n: Any = 1, p: Any = 0.5, ndim: Any = None,
                 dtype: Any = "int64", nstreams: Any = None) -> Any:  # fmt: skip
        """Draw how many of `n` trials succeed."""
        return self._drawn(functions.binomial, n, p, size=size, ndim=ndim, dtype=dtype)

    def multinomial(self, size: Any = None, n: Any = 1, pvals: Any = (0.5, 0.5), ndim: Any = None,
                    dtype: Any = "int64", nstreams: Any = None) -> Any:  # fmt: skip
        """Draw how many of `n` items are of each kind."""
        return self._drawn(functions.multinomial, n, pvals, size=size, ndim=ndim, dtype=dtype)

    def poisson(self, size: Any = None, lam: Any = 1.0, ndim: Any = None,
                dtype: Any = "int64") -> Any:  # fmt: skip
        """Draw how many events happen if `lam` are expected."""
        return self._drawn(functions.poisson, lam, size=size, ndim=ndim, dtype=dtype)

    def random_integers(self, size: Any = None, low: Any = 0, high: Any = 1, ndim: Any = None,
                        dtype: Any = "int64") -> Any:  # fmt: skip
        """Draw integers from `low` to `high`, both included."""
        above = as_tensor_variable(high) + 1
        return self._drawn(functions.integers, low, above, size=size, ndim=ndim, dtype=dtype)

    def choice(self, size: Any = None, a: Any = 2, replace: bool = True, p: Any = None,
               ndim: Any = None, dtype: Any = None, nstreams: Any = None) -> Any:  # fmt: skip
        """Draw elements of `a`, or integers below it."""
        given = {"size": size, "ndim": ndim, "dtype": dtype}
        return self._drawn(functions.choice, a, replace=replace, p=p, **given)

    def permutation(self, size: Any = None, n: Any = 1, ndim: Any = None,
                    dtype: Any = "int64") -> Any:  # fmt: skip
        """Draw a random order of the integers below `n`."""
        return self._drawn(functions.permutation, n, size=size, ndim=ndim, dtype=dtype)

    def shuffle_row_elements(self, input: Any) -> Any:
        """Return an array with the elements of each row in random order."""
        x = as_tensor_variable(input)
        batch, n = [x.shape[i] for i in range(x.type.ndim - 1)], x.shape[-1]
        return permute_row_elements(x, self.permutation(batch or None, n))
