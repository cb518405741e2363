"""Ops without code of their own (`perform`, `make_thunk`), and giving them some."""

from __future__ import annotations

from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.graph.op import Op
from rewrite_engine.link.vm import Context, lower
from tests.link.reference import link
from tests.threads import in_threads
from tests.toy import add, divmod_, num, sin, sub


def test_toy_ops_run_by_perform() -> None:
    a, b = num("a"), num("b")
    quotient, rest = divmod_(a, b)
    linked = link([a, b], [quotient, sub(rest, sin(a)), add(a, b, a)])
    assert linked.call(7.0, 2.0)[0] == 3.0
    np.testing.assert_allclose(linked.call(7.0, 2.0)[1:], [1 - np.sin(7.0), 16.0])


class Doubled(Op):
    """Counts the preparations; its thunk doubles."""

    __props__ = ()
    prepared = 0

    def infer_types(self, types: tuple[Any, ...]) -> Any:
        return [types[0]]

    def prepare_node(self, node: Any, storage_map: Any, compute_map: Any, impl: Any) -> None:
        Doubled.prepared += 1

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] * 2


class Thunked(Op):
    """An op that makes its own thunk and has no perform."""

    __props__ = ()

    def infer_types(self, types: tuple[Any, ...]) -> Any:
        return [types[0], types[0]]

    def make_thunk(
        self,
        node: Any,
        storage_map: Any,
        compute_map: Any,
        no_recycling: Any = (),
        impl: Any = None,
    ) -> Any:
        ins = [storage_map[v] for v in node.inputs]
        outs = [storage_map[v] for v in node.outputs]

        def thunk() -> None:
            outs[0][0] = ins[0][0] + 1
            outs[1][0] = ins[0][0] + 2
            for v in node.outputs:
                compute_map[v][0] = True

        return thunk


def test_prepare_node_is_called_once() -> None:
    x = pt.vector("x")
    before = Doubled.prepared
    linked = link([x], Doubled()(x))
    for _ in range(3):
        assert linked.call(np.ones(2)).tolist() == [2, 2]
    assert Doubled.prepared == before + 1


def test_make_thunk_is_used_where_an_op_defines_it() -> None:
    x = pt.vector("x")
    a, b = Thunked()(x)
    linked = link([x], [a, b, pt.exp(a) * b])
    one, two, product = linked.call(np.zeros(2))
    assert (one.tolist(), two.tolist()) == ([1, 1], [2, 2])
    np.testing.assert_allclose(product, 2 * np.exp([1.0, 1.0]))


def test_thunks_in_several_threads() -> None:
    x = pt.vector("x")
    linked = link([x], Thunked()(x)[1])
    wrong = []

    def work(k: int) -> None:
        value = np.full(100, float(k))
        for _ in range(300):
            if not (linked.call(value) == k + 2).all():
                wrong.append(k)

    in_threads(work)
    assert not wrong


class Cumulative(Op):
    """An op that gets its code below."""

    __props__ = ()

    def infer_types(self, types: tuple[Any, ...]) -> Any:
        return [types[0]]


@lower.register
def _(op: Cumulative, node: Any, ctx: Context) -> str:
    return f"{ctx.name(np.cumsum, 'cumsum')}({ctx.array(0)})"


def test_an_op_can_be_given_code() -> None:
    x = pt.vector("x")
    linked = link([x], Cumulative()(x) + 1)
    assert "cumsum(x)" in linked.source
    assert linked.call(np.ones(3)).tolist() == [2, 3, 4]


def test_perform_gets_arrays_where_the_vm_has_scalars() -> None:
    class Ndim(Op):
        __props__ = ()

        def infer_types(self, types: tuple[Any, ...]) -> Any:
            return [types[0]]

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            assert type(inputs[0]) is np.ndarray
            output_storage[0][0] = inputs[0] + 1

    x = pt.vector("x")
    assert link([x], Ndim()(x.sum() * 2) + 1).call(np.ones(3)) == 8
