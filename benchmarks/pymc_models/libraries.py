"""What differs between the libraries: how a graph is compiled, and how it is run with an eye on its
operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Any

import numpy as np

from benchmarks.pymc_models.counts import nodes, operations

#: the rule of PyMC by which parameters that are not allowed make the density -inf
CHECKED = "local_check_parameter_to_ninf_switch"


class Ours:
    """This library; PyMC then runs on it. modes: what is compiled and timed."""

    def __init__(self) -> None:
        import rewrite_engine as rw
        import rewrite_engine.tensor as pt
        from rewrite_engine.compat import install

        install()  # before PyMC
        self.lib, self.pt = rw, pt
        fast = rw.Mode("fast_run")
        self.modes = {"default": fast, "plain": fast.excluding("stabilize")}
        self.as_built = rw.Mode(optimizer=None)

    def function(self, inputs: list[Any], outputs: list[Any], mode: Any) -> Any:
        return self.lib.function(inputs, outputs, mode=mode, on_unused_input="ignore")

    def sizes(self, inputs: list[Any], outputs: list[Any], values: list[Any], mode: Any) -> Any:
        """Nodes, operations of one call, and its results: the graph is run node by node."""
        f, eye = self.function(inputs, outputs, mode), counting()
        with np.errstate(all="ignore"):
            results = eye.compile(f.fgraph)(*[np.array(v) for v in values])
        return nodes(f.fgraph), eye.total, results


def counting() -> Any:
    """A linker of this library that adds up the operations of what it runs."""
    from rewrite_engine.link.py import PyLinker

    class Counting(PyLinker):
        total = 0

        def runner(self, node: Any) -> Callable[..., Any]:
            run, single = super().runner(node), len(node.outputs) == 1

            def counted(*given: Any) -> Any:
                found = run(*given)
                made = [found] if single else found
                self.total += operations(node.op, shapes(given), shapes(made))
                return found

            return counted

    return Counting()


def shapes(values: Any) -> list[tuple[int, ...]]:
    return [getattr(value, "shape", ()) for value in values]


class Theirs:
    """PyTensor, with its Python linker: nothing is compiled to machine code."""

    as_built = None  # ours are counted

    def __init__(self) -> None:
        import pytensor
        import pytensor.tensor as pt
        from pytensor.compile.mode import Mode

        self.lib, self.pt = pytensor, pt
        self.modes = {"default": Mode(linker="py", optimizer="fast_run")}
        allow_many_operands()

    def function(self, inputs: list[Any], outputs: list[Any], mode: Any) -> Any:
        return self.lib.function(inputs, outputs, mode=mode, on_unused_input="ignore")

    def sizes(self, inputs: list[Any], outputs: list[Any], values: list[Any], mode: Any) -> Any:
        """Nodes without fusion, operations of one call, and its results: the virtual machine tells
        of each node that it ran, and that of loops does.
        """
        from pytensor.link.vm import VMLinker

        total = 0

        def ran(node: Any, storage_map: Any, **_: Any) -> None:
            nonlocal total
            given, made = [
                shapes([storage_map[v][0] for v in side]) for side in (node.inputs, node.outputs)
            ]
            total += operations(node.op, given, made)

        linker = VMLinker(use_cloop=False, c_thunks=False, allow_gc=False, callback=ran)
        with loops_run_by(linker), np.errstate(all="ignore"):
            query = mode.excluding("fusion").provided_optimizer
            f = self.function(inputs, outputs, type(mode)(linker, query))
            results = f(*values)
        return nodes(f.maker.fgraph), total, results


def allow_many_operands() -> None:
    """Let PyTensor's Python code add or multiply more than 32 arrays, which it refuses."""
    from pytensor.tensor.elemwise import Elemwise

    before = Elemwise.perform

    def perform(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
        if len(inputs) < 32:
            before(self, node, inputs, output_storage)
        else:
            of_two = getattr(np, self.scalar_op.nfunc_spec[0])
            output_storage[0][0] = np.asarray(reduce(of_two, inputs))

    Elemwise.perform = perform


@contextmanager
def loops_run_by(linker: Any) -> Iterator[None]:
    """Have the graphs inside PyTensor's loops run by a linker."""
    from pytensor.compile.inner_function import link_only_mode
    from pytensor.scan.op import Scan

    before = Scan.link_mode
    Scan.link_mode = lambda self, impl: link_only_mode(linker.clone())
    try:
        yield
    finally:
        Scan.link_mode = before
