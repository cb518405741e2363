"""Random generators in programs: `shared_rng`, `default_rng`, `rng`, and `RandomStream`, which has
one for each draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine import hooks
from rewrite_engine.errors import DTypeError, OptionError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import located
from rewrite_engine.graph.type import NoneConst
from rewrite_engine.random.type import random_generator_type
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.compile.shared import RandomGeneratorSharedVariable
    from rewrite_engine.random.type import RandomGeneratorVariable

__all__ = ["DefaultGenerator", "RandomStream", "default_rng", "rng", "shared_rng"]


NOT_GIVEN: Any = object()


def rng(name: str | None = None) -> RandomGeneratorVariable:
    """Return a new variable whose values are generators."""
    return random_generator_type(name)


def shared_rng(
    value: Any = None, *, seed: Any = NOT_GIVEN, name: str | None = None, borrow: bool = False
) -> RandomGeneratorSharedVariable:
    """Return a shared variable with a generator: `value`, or one made from a seed (None: any
    state).

    borrow: store `value` itself, not a copy. A function draws the same numbers at every call,
    unless it updates the variable. Raises `DTypeError`; `OptionError` unless exactly one of value
    and seed is passed.

    >>> import rewrite_engine as rw
    >>> state = shared_rng(seed=1)
    >>> after, x = state.normal(0, 1, size=(2,))
    >>> f = rw.function([], x, updates={state: after})
    >>> f(), f()
    (array([0.34558419, 0.82161814]), array([ 0.33043708, -1.30315723]))
    """
    if (value is None) == (seed is NOT_GIVEN):
        raise OptionError(located("shared_rng: pass either a generator or seed=…"))
    if value is None:
        return hooks.shared(np.random.default_rng(seed), name, borrow=True)
    return hooks.shared(random_generator_type.filter(value), name, borrow=borrow)


class DefaultGenerator(Op):
    """Generator made from a seed (`numpy.random.default_rng`): an integer, or a vector of them.

    entropy: for an op that takes the constant None, a number that no other op has; its generator
    has another state each time.
    """

    __props__ = ("entropy",)
    determined = False  # without a seed it is another one in each run

    def __init__(self, entropy: Any = None) -> None:
        self.entropy = entropy

    def __str__(self) -> str:
        return "default_rng"

    def convert_input(self, x: Any) -> Any:
        """Convert the seed to a tensor."""
        return NoneConst if x is None else as_tensor_variable(x)

    def infer_types(self, types: Sequence[Any]) -> list[Any]:
        """Return the type of a state. Raise `DTypeError`."""
        (seed,) = types
        whole = isinstance(seed, TensorType) and seed.kind in "iu" and seed.ndim < 2
        if not whole and seed is not NoneConst.type:
            raise DTypeError(f"a seed must be an integer or a vector of integers, not type {seed}")
        return [random_generator_type]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        """Create the generator from the seed."""
        (seed,) = inputs
        output_storage[0][0] = np.random.default_rng(None if seed is None else seed.tolist())

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """Return False: generators are not constants."""
        return False

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect no input to the output."""
        return [[False]]

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        """Return a disconnected gradient for each input."""
        return [disconnected()]


def default_rng(seed: Any = None) -> Any:
    """Return a variable with a generator, created from a seed at run time.

    Without a seed its state differs at each call.

    >>> default_rng(1).normal(0, 1, size=(2,))[1].eval()
    array([0.34558419, 0.82161814])
    """
    entropy = np.random.SeedSequence().entropy if seed is None else None
    return DefaultGenerator(entropy)(seed)


class RandomStream:
    """Draws that continue from call to call: each has its own shared generator, updated by every
    function that uses it (`default_update`).

    seed: seed from which all generators are spawned. The methods are the functions of
    `rewrite_engine.random`, or of a module `namespace`. rng_ctor: creates a generator from a
    `numpy.random.SeedSequence`.

    >>> import rewrite_engine as rw
    >>> f = rw.function([], RandomStream(3).normal(0, 1, size=(2,)))
    >>> f(), f()
    (array([0.5239389 , 0.04904952]), array([-0.38763153,  1.50343228]))
    """

    def __init__(
        self,
        seed: Any = None,
        namespace: ModuleType | None = None,
        rng_ctor: Callable[[np.random.SeedSequence], Any] = np.random.default_rng,
    ) -> None:
        self.namespace = namespace
        self.default_instance_seed = seed
        self.rng_ctor = rng_ctor
        self.gen_seedgen = np.random.SeedSequence(seed)
        #: the shared generators, and their updates
        self.state_updates: list[tuple[Any, Any]] = []

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and "namespace" in self.__dict__:
            from rewrite_engine.random import functions

            module = self.namespace or functions
            found = getattr(module, name, None)
            if callable(found) and name in getattr(module, "__all__", (name,)):
                return partial(self.gen, found)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def gen(self, op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return the draws of a function or a `RandomVariable` with a new generator of this stream.

        Raises `OptionError` for another `rng`.
        """
        if "rng" in kwargs:
            raise OptionError(located("a RandomStream uses its own generators: omit rng"))
        (seed,) = self.gen_seedgen.spawn(1)
        state = shared_rng(self.rng_ctor(seed), borrow=True)
        both = kwargs.pop("return_next_rng", False)
        next_rng, draw = op(*args, **kwargs, rng=state, return_next_rng=True)
        state.default_update = next_rng
        self.state_updates.append((state, next_rng))
        return (next_rng, draw) if both else draw

    def updates(self) -> list[tuple[Any, Any]]:
        """Return the shared generators, and their next states."""
        return list(self.state_updates)

    def seed(self, seed: Any = None) -> None:
        """Restart all generators, existing and future ones; by default with the stream's own
        seed.
        """
        self.gen_seedgen = np.random.SeedSequence(
            self.default_instance_seed if seed is None else seed
        )
        spawned = self.gen_seedgen.spawn(len(self.state_updates))
        for (state, _), own in zip(self.state_updates, spawned, strict=True):
            state.set_value(self.rng_ctor(own), borrow=True)
