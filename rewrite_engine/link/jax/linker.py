"""`JaxLinker`: the linker for JAX, which is imported when it compiles a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from rewrite_engine.errors import MissingPackageError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.code import Code
from rewrite_engine.link.linker import Linker
from rewrite_engine.link.program import Linked, Program


@contextmanager
def needing_jax() -> Iterator[None]:
    """Raise `MissingPackageError` if an import inside finds no JAX."""
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("jax", "jaxlib"):
            raise
        what = 'linker="jax" needs JAX: pip install "rewrite-engine[jax]"'
        raise MissingPackageError(what) from error


def _compiled() -> Any:
    """Return the module with the functions that JAX compiles. Raises `MissingPackageError`."""
    with needing_jax():
        return import_module("rewrite_engine.link.jax.compiled")


class JaxLinker(Linker):
    """Linker that compiles with `jax.jit`.

    draws: "numpy" for the numbers of the other linkers, by a call of the host; "jax" for those of
    `jax.random`, on the device. Raises `UntraceableError` for graphs whose lengths depend on
    values.
    """

    name = "jax"
    #: without "factorize" (XLA has no factors that several ops share), and nothing in place
    phases = ("merge", "inner", "canonicalize", "loops", "stabilize", "specialize")
    includes = ("static",)

    def __init__(self, draws: str = "numpy") -> None:
        if draws not in ("numpy", "jax"):
            raise ValueError(f'draws must be "numpy" or "jax", not {draws!r}')
        self.draws = draws

    def refuses(self, node: Apply) -> str | None:
        """Refuse ops whose results have lengths that depend on values."""
        return _compiled().refusal(node)  # type: ignore[no-any-return]

    def compile(self, fgraph: FunctionGraph) -> Callable[..., Sequence[Any]]:
        return _compiled().JaxFunction(fgraph, self.draws == "jax")

    def code_of(self, program: Program) -> Code:
        code: Any = super().code_of(program)
        code.run.keep(program)
        code.state = "held"
        return code  # type: ignore[no-any-return]

    def link(self, program: Program, *, trust: bool = False) -> Linked:
        linked = JaxLinked(*super().link(program, trust=trust))
        linked.fgraph = program.fgraph
        return linked


class JaxLinked(Linked):
    """Linked function of a graph, which can be given to JAX without its shell."""

    fgraph: FunctionGraph

    @property
    def jit_fn(self) -> Any:
        """Compiled function of JAX arrays, from values of all inputs (arguments, then shared
        values) to a tuple of those of all outputs. Made at its first use.
        """
        if "_jit_fn" not in vars(self):
            self._jit_fn = _compiled().jitted(self.fgraph)
        return self._jit_fn


LINKER = JaxLinker()
