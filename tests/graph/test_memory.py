"""What ops say about memory: read, contradicted, followed, and held against what happens."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.errors import InconsistencyError
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.memory import check_memory, makers_of_destroyed, view_roots
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.type import Type
from tests.cells import Cell, either, same
from tests.toy import add, exp, num, overwrite, sin, view


class Maps(Op):
    """An op that declares whatever is asked for; nin inputs, nout outputs."""

    def __init__(
        self, destroy: Any = None, views: Any = None, must: Any = None, nout: int = 1
    ) -> None:
        self.destroy_map, self.view_map = destroy or {}, views or {}
        self.must_view_map, self.nout = must or {}, nout

    def infer_types(self, types: tuple[Any, ...]) -> list[Type]:
        return [num] * self.nout


def test_an_op_without_maps_makes_its_own_memory() -> None:
    assert sin.destroys == frozenset()
    assert sin.may_show() == ()
    assert sin.must_show() is None


def test_a_view_may_show_its_input_and_must_if_it_says_so() -> None:
    op = Maps(views={0: [0, 1]})
    assert (op.may_show(), op.must_show(), op.destroys) == ((0, 1), None, frozenset())
    op = Maps(views={0: [1], 1: [0]}, must={1: 0}, nout=2)
    assert [op.may_show(o) for o in (0, 1)] == [(1,), (0,)]
    assert [op.must_show(o) for o in (0, 1)] == [None, 0]


def test_what_is_overwritten_is_one_fact_and_where_the_output_is_another() -> None:
    there = Maps(destroy={0: [1]})
    assert (there.destroys, there.may_show(), there.must_show()) == ({1}, (1,), 1)
    elsewhere = Maps(destroy={None: [1]})
    assert (elsewhere.destroys, elsewhere.may_show(), elsewhere.must_show()) == ({1}, (), None)
    perhaps = Maps(destroy={None: [1]}, views={0: [1]})
    assert (perhaps.destroys, perhaps.may_show(), perhaps.must_show()) == ({1}, (1,), None)
    both = Maps(destroy={0: [0]}, views={0: [1]})
    assert (both.destroys, both.may_show(), both.must_show()) == ({0}, (0, 1), 0)


@pytest.mark.parametrize(
    ("maps", "match"),
    [
        ({"destroy": {0: [0], 1: [0]}}, "input 0 is overwritten twice"),
        ({"destroy": {0: [0]}, "views": {1: [0]}}, "output 1 views input 0 .* output 0 overwrites"),
        ({"views": {0: [1]}, "must": {0: 0}}, "output 0 must view input 0 .* lacks it"),
    ],
)
def test_declarations_that_contradict_each_other(maps: Any, match: str) -> None:
    op = Maps(**maps, nout=2)
    with pytest.raises(InconsistencyError, match=f"Maps: {match}"):
        op.may_show()


def test_a_map_that_names_what_the_node_has_not() -> None:
    x = num("x")
    wrong = Maps(destroy={0: [2]})(sin(x))
    with pytest.raises(InconsistencyError, match=r"names input 2(?s:.*)test_memory\.py"):
        FunctionGraph([x], [wrong])
    fgraph = FunctionGraph([x], [sin(x)], [DestroyHandler()])
    with pytest.raises(InconsistencyError, match="names input 2"):
        fgraph.replace(fgraph.outputs[0], Maps(destroy={0: [2]})(fgraph.outputs[0]))
    assert len(fgraph) == 1
    fgraph.check_integrity()
    with pytest.raises(InconsistencyError, match="names output 3"):
        check_memory(Maps(views={3: [0]}).make_node(x), [1.0])


def test_roots_of_views() -> None:
    x, y = sin(num("x")), exp(num("y"))
    assert view_roots(x) == (x,)
    assert view_roots(same(view(x))) == (x,)
    assert view_roots(either(same(x), view(y))) == (x, y)
    assert view_roots(either(x, either(y, view(x)))) == (x, y)
    fresh = overwrite(view(x))
    assert view_roots(fresh) == (fresh,)
    perhaps = Maps(destroy={None: [0]}, views={0: [0]})(x)
    assert view_roots(perhaps) == (perhaps,)


def test_a_hundred_thousand_views_of_views() -> None:
    x = v = num("x")
    for _ in range(100_000):
        v = view(v)
    memo: dict[Any, Any] = {}
    assert view_roots(v, memo) == (x,)
    assert len(memo) == 100_000
    assert view_roots(v, memo) == (x,)


def test_makers_of_what_is_overwritten() -> None:
    x, y = sin(num("x")), exp(num("y"))
    shown = either(view(x), y)
    makers = makers_of_destroyed([overwrite(shown).owner, add(x, y).owner])
    assert makers == {v.owner for v in (shown, shown.owner.inputs[0], x, y)}


class Lists(Type):
    """Lists, which can be overwritten."""

    __props__ = ()

    def filter(self, value: Any, strict: bool = False, allow_downcast: Any = None) -> Any:
        return list(value)


class Work(Maps):
    """Calls a function on its inputs."""

    def __init__(self, fn: Any, nout: int = 1, **maps: Any) -> None:
        super().__init__(**maps, nout=nout)
        self.fn = fn

    def infer_types(self, types: tuple[Any, ...]) -> list[Type]:
        return [Lists()] * self.nout

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        result = self.fn(*inputs)
        for cell, value in zip(output_storage, [result] if self.nout == 1 else result, strict=True):
            cell[0] = value


def grow(a: list[int], b: list[int]) -> list[int]:
    a.extend(b)
    return a


@pytest.mark.parametrize(
    ("op", "match"),
    [
        (Work(grow), "overwrites input 0, but destroy_map does not declare it"),
        (Work(lambda a, b: b), "output 0 views input 1, but view_map does not declare it"),
        (
            Work(lambda a, b: list(a), views={0: [0]}, must={0: 0}),
            "does not view input 0, as must_view_map declares",
        ),
        (Work(lambda a, b: [a + b] * 2, nout=2), "outputs 0 and 1 share memory"),
    ],
)
def test_what_happens_is_held_against_what_is_declared(op: Any, match: str) -> None:
    node = op.make_node(Lists()("a"), Lists()("b"))
    values = [[1, 2], [3]]
    with pytest.raises(InconsistencyError, match=match):
        check_memory(node, values)
    assert values == [[1, 2], [3]]


@pytest.mark.parametrize(
    "op",
    [
        Work(grow, destroy={0: [0]}),
        Work(lambda a, b: a or b, views={0: [0, 1]}),
        Work(lambda a, b: list(a), views={0: [0]}),
        Work(lambda a, b: (a, a), views={0: [0], 1: [0]}, nout=2),
    ],
)
def test_true_declarations_pass(op: Any) -> None:
    check_memory(op.make_node(Lists()("a"), Lists()("b")), [[1, 2], [3]])


def test_facts_survive_copying() -> None:
    import copy
    import pickle

    op = Cell(True, 1)
    assert op.destroys == {1}
    assert pickle.loads(pickle.dumps(op)) is op
    assert copy.copy(op).destroys == {1}
