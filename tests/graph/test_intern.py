"""Interning: equal values are one object, through copies, pickles and threads."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewrite_engine.errors import PropsError
from rewrite_engine.graph import intern as interning
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.intern import Interned, Record, intern, prop_key
from rewrite_engine.graph.op import Op
from rewrite_engine.rewrite.driver import MergeOptimizer
from tests.toy import Num, Scale, ToyOp, add, join, num, pos, rough, sin

pytestmark = pytest.mark.usefixtures("few_objects")


class Pair(Record):
    __props__ = ("a", "b")

    def __init__(self, a: Any, b: Any = None) -> None:
        self.a, self.b = a, b
        self._cache = [a]


class Plain(Record):
    def __init__(self, a: Any) -> None:
        self.a = a
        self._cache = [a]


class ByHand(Record):
    """Compares itself by value and says nothing about hashing."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.a == other.a  # type: ignore[attr-defined]


def test_equal_props_are_one_object() -> None:
    assert Pair(1, "x") is Pair(1, "x")
    assert Pair(1, "x") is not Pair(2, "x")
    assert Num() is num
    assert Num(True) is pos
    assert Scale(2.0) == Scale(2.0)
    assert hash(Scale(2.0)) == hash(Scale(2.0))


@pytest.mark.parametrize("value", [1, -1, 2.5, "a", None, True, (1, None, "b"), int, num, [1]])
def test_the_hash_is_that_of_the_class_and_its_props(value: Any) -> None:
    """Also where the first of two equal instances is gone before there is the second."""
    hashes, memory = set(), []
    for _ in range(20):
        hashes.add(hash(Pair(value)))
        memory.append(object())  # where the last one was
        gc.collect()
    assert len(hashes) == 1 or value == [1]  # (equal to itself alone, as lists have no hash)
    if value != [1]:
        assert hash(Pair(value)) not in (hash(Pair(value, 2)), hash(Pair(3)))
    plain = Plain(value)
    assert hash(plain) == object.__hash__(plain)


def test_numbers_with_equal_hashes_make_different_ones() -> None:
    assert hash(-1) == hash(-2)
    assert len({hash(Pair(k)) for k in range(-50, 50)}) == 100


PRINT_HASHES = """
from tests.graph.test_intern import Pair
from rewrite_engine.tensor import dvector, exp
print([hash(Pair(*v)) for v in ([1], [-1, 2.5], [None, (int, None)], [Pair(3)])])
print(hash(dvector), hash(exp), hash(Pair("text")))
"""


def test_the_hash_is_the_same_in_every_process_where_those_of_the_props_are() -> None:
    """Numbers have one hash in all processes; texts in those with one `PYTHONHASHSEED`."""
    found = [
        subprocess.run(
            [sys.executable, "-c", PRINT_HASHES],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for seed in ("0", "0", "1")
    ]
    assert found[0] == found[1]
    assert found[0][0] == found[2][0]
    assert found[0][1] != found[2][1]


@pytest.mark.parametrize("wrong", [["a"], "a", {"a"}, (1,), ("a", None)])
def test_props_are_a_tuple_of_names(wrong: Any) -> None:
    with pytest.raises(PropsError, match=r"Bad: its __props__ must be a tuple of names, not"):
        type("Bad", (Record,), {"__props__": wrong})
    Good = type("Good", (Record,), {"__props__": ("a",)})
    with pytest.raises(TypeError, match="tuple of names"):
        Good.__props__ = wrong  # type: ignore[attr-defined]
    assert Good.__props__ == ("a",)  # type: ignore[attr-defined]


def test_a_subclass_is_another_value() -> None:
    class Sub(Pair):
        pass

    assert Sub(1) is not Pair(1)
    assert Sub(1) is Sub(1)


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, 1.0), (1, True), (0.0, -0.0), ((1, 2), (1.0, 2)), (0j, complex(0.0, -0.0)), ("1", 1)],
)
def test_values_that_only_look_equal_stay_apart(a: Any, b: Any) -> None:
    assert Pair(a) is not Pair(b)
    assert prop_key(a) != prop_key(b)


@given(st.floats() | st.integers() | st.text() | st.tuples(st.floats(), st.booleans()))
def test_a_key_equals_itself(value: Any) -> None:
    assert prop_key(value) == prop_key(copy.deepcopy(value))
    assert Pair(value) is Pair(copy.deepcopy(value))


def test_nan_is_one_value() -> None:
    assert Pair(float("nan")) is Pair(float("nan"))


class Named(Record):
    __props__ = ("name",)

    def __init__(self, name: str, by: Any = None) -> None:
        self.name, self.by = name, by


class Inheriting(Named):
    """A class of a program, with more than the props of its base."""


@pytest.mark.parametrize(
    ("a", "b"), [(2.0, 3.0), (1, True), ([1], [2]), (np.ones(2), np.zeros(2)), (print, len)]
)
def test_other_attributes_are_not_lost(a: Any, b: Any) -> None:
    first, second = Inheriting("s", a), Inheriting("s", b)
    assert (first.by is a, second.by is b) == (True, True)
    assert first != second
    assert Inheriting("s", copy.copy(a)) is first
    kept = Named("s", a)
    assert Named("s", copy.copy(a)) is kept
    with pytest.raises(PropsError, match=r"__props__ \('name',\) leave out 'by'"):
        Named("s", b)  # it says that its name is all
    assert pickle.loads(pickle.dumps(second)).by is not a


def test_nested_records_are_compared_by_identity() -> None:
    assert Pair(Pair(1), (num, pos)) is Pair(Pair(1), (num, pos))


def test_what_cannot_be_hashed_stands_for_itself() -> None:
    assert Pair([1]) is not Pair([1])
    assert Pair([1]) != Pair([1])


def test_without_props_every_instance_is_its_own() -> None:
    assert Plain(1) != Plain(1)
    assert intern(p := Plain(1)) is p


def test_an_eq_of_ones_own_is_respected_and_hashable() -> None:
    a, b = ByHand(1), ByHand(1)
    assert a is not b
    assert a == b
    assert a != ByHand(2)
    assert hash(a) == hash(b)
    assert {a: "found"}[b] == "found"


def test_instances_that_nobody_needs_die() -> None:
    from rewrite_engine.graph.intern import _interned

    before = len(_interned)
    kept = [Pair("mortal", i) for i in range(100)]
    assert len(_interned) >= before + 100
    del kept
    gc.collect()
    assert len(_interned) <= before


@pytest.mark.parametrize("x", [num, pos, sin, Scale(3.0), Pair((1, "a"))])
def test_copies_and_pickles_are_the_same_object(x: Any) -> None:
    assert copy.copy(x) is x
    assert copy.deepcopy(x) is x
    assert pickle.loads(pickle.dumps(x)) is x
    assert copy.deepcopy([x, x]) == [x, x]


def test_an_unpickled_instance_has_its_attributes() -> None:
    text = pickle.dumps(Pair("gone", 7))
    gc.collect()
    assert pickle.loads(text).b == 7
    other = pickle.loads(pickle.dumps(Plain(3)))
    assert other.a == 3
    assert not hasattr(other, "_cache")  # caches are not worth keeping


def test_printing_shows_the_props() -> None:
    assert str(Pair(1, "x")) == repr(Pair(1, "x")) == "Pair{a=1, b='x'}"
    assert str(Plain(1)) == "Plain"
    assert str(ToyOp("gamma", 1)) == "gamma"


def test_one_that_comes_as_another_dies() -> None:
    """Its key may still be there: in a cycle, or where a callback takes its time."""
    key = (Scale, Scale(7.5).__key__())
    for _ in range(50):
        first = Scale(7.5)
        first.itself = first
        assert Scale(7.5) is first
        interned = interning._interned.refs
        dead = interned[key]
        del first
        gc.collect()
        interned.setdefault(key, dead)  # as if nobody had been told
        again = Scale(7.5)
        _remove_dead_weakref(interned, key)  # it is told late
        assert Scale(7.5) is again


def test_threads_agree() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda i: Pair("thread", i % 7), range(2_000)))
    assert len(set(map(id, made))) == 7


# --- keys of nodes ---------------------------------------------------------------------------


def test_more_operands_are_merged_in_any_order_where_that_is_exact() -> None:
    x, y, z = num("x"), num("y"), num("z")
    outputs = [add(x, y, z), add(y, x, z), add(x, x, y), add(x, y, y), add(y, x, x), join(x, y, z)]
    fgraph = FunctionGraph([x, y, z], [*outputs, join(z, y, x)])
    a, b, c, d, e, *joins = fgraph.outputs
    assert a is b
    assert a.owner.inputs == tuple(fgraph.inputs)  # the first to arrive
    assert c is e
    assert len({a, c, d, *joins}) == 5
    fgraph.check_integrity()
    fgraph.replace(fgraph.inputs[1], fgraph.inputs[2])
    fgraph.check_integrity()


def rough_sums() -> tuple[list[Any], list[Any]]:
    x, y, z = rough("x"), rough("y"), rough("z")
    return [x, y, z], [add(x, y, z), sin(add(y, z, x)), add(z, y), add(y, z)]


def test_sums_that_depend_on_their_order_are_kept_apart_unless_allowed() -> None:
    fgraph = FunctionGraph(*rough_sums())
    assert not fgraph.reorders
    assert len(fgraph) == 4  # two operands always commute
    fgraph.reorders = True
    assert len(fgraph) == 4  # nothing happens by itself
    MergeOptimizer(reorders=True).rewrite(fgraph)
    assert len(fgraph) == 3
    assert fgraph.outputs[1].owner.inputs[0] is fgraph.outputs[0]
    assert fgraph.outputs[0].owner.inputs == tuple(fgraph.inputs)
    fgraph.check_integrity()
    x, y, z = fgraph.inputs
    fgraph.add_output(add(z, y, x))
    assert fgraph.outputs[-1] is fgraph.outputs[0]
    for twin in (fgraph.clone_get_equiv()[0], pickle.loads(pickle.dumps(fgraph))):
        assert twin.reorders
        twin.check_integrity()
    MergeOptimizer().rewrite(fgraph)
    assert not fgraph.reorders
    fgraph.check_integrity()
    fgraph.add_output(add(y, z, x))
    assert fgraph.outputs[-1] is not fgraph.outputs[0]


@pytest.mark.parametrize("reorders", [False, True])
def test_nodes_that_become_equal_up_to_order_are_merged(reorders: bool) -> None:
    w, x, y, z = (rough(n) for n in "wxyz")
    fgraph = FunctionGraph([w, x, y, z], [add(x, y, z), sin(add(y, w, z)), add(w, y, z)])
    fgraph.reorders = reorders
    w, x, _, _ = fgraph.inputs
    fgraph.replace(w, x)
    fgraph.check_integrity()
    assert len(fgraph) == (2 if reorders else 3)


def test_registered_classes_count_as_subclasses() -> None:
    class Above(Op):
        """Of which both are."""

    class Family(Above):
        """What others are registered for."""

    class Alone(Op):
        """Inherits from neither."""

    class Other(Op):
        """Is not registered."""

    assert not isinstance(Alone(), Family)
    Family.register(Alone)
    assert isinstance(Alone(), Family)
    assert isinstance(Alone(), Above)
    assert isinstance(Family(), Above)
    assert not isinstance(Other(), Above)
    assert type(Op) is Interned
