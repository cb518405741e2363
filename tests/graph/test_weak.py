"""Weak references with callbacks in C; no other kind of finalizer in the package."""

from __future__ import annotations

import ast
import gc
import sys
from pathlib import Path
from typing import Any

import pytest

import rewrite_engine
from rewrite_engine.graph.weak import WeakKeys, WeakValues, on_death

#: names of what Python calls when things die, or from C, and whose exceptions it drops
CALLBACKS = {
    "__del__", "finalize", "WeakKeyDictionary", "WeakSet", "WeakValueDictionary", "WeakMethod",
    "KeyedRef", "CFUNCTYPE", "PYFUNCTYPE", "WINFUNCTYPE",
}  # fmt: skip


class Thing:
    """Something to refer to, equal to others with the same name."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def names_in(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        for field in ("id", "attr", "name"):
            found.add(getattr(node, field, None))
    return found


def test_no_python_code_runs_where_exceptions_are_dropped() -> None:
    folder = Path(rewrite_engine.__file__).parent
    files = [*folder.rglob("*.py")]
    assert len(files) > 400
    found = {f.name: names_in(ast.parse(f.read_text())) & CALLBACKS for f in files}
    found["timing.py"].discard("CFUNCTYPE")  # (calls machine code, and passes it no function)
    assert {name: names for name, names in found.items() if names} == {}


def test_an_action_when_a_thing_dies() -> None:
    done: list[int] = []
    thing = Thing()
    kept = on_death(thing, done.append, 3)
    assert kept() is thing
    del thing
    assert done == [3]
    assert kept() is None


def test_an_action_is_forgotten_with_its_reference() -> None:
    done: list[int] = []
    thing = Thing()
    kept = on_death(thing, done.append, 3)
    del kept, thing
    assert done == []


def test_an_action_runs_once_in_garbage() -> None:
    done: list[int] = []
    thing: Any = Thing()
    thing.itself = thing
    kept = on_death(thing, done.append, 3)
    del thing
    gc.collect()
    assert done == [3]
    assert kept() is None


def test_values_die() -> None:
    known: WeakValues[str, Thing] = WeakValues()
    a, b = Thing("a"), Thing("b")
    known["a"] = a
    assert known.setdefault("a", b) is a
    assert known.setdefault("b", b) is b
    assert len(known) == 2
    del a
    assert known.get("a") is None
    assert len(known) == 1
    assert known.setdefault("a", b) is b


def test_a_value_that_comes_as_another_dies() -> None:
    """The callback of the dead one does not remove the new one."""
    known: WeakValues[str, Thing] = WeakValues()
    old = Thing()
    known["a"] = old
    dead = known.refs["a"]
    new = Thing()
    known["a"] = new
    del old
    assert dead() is None
    assert known.get("a") is new


def test_keys_die() -> None:
    known: WeakKeys[Thing, int] = WeakKeys()
    a, b = Thing("a"), Thing("b")
    known[a] = 1
    known[Thing("a")] = 2  # equal: the entry is that of `a`
    assert known.setdefault(b, 3) == 3
    assert known.setdefault(b, 4) == 3
    assert dict(known.items()) == {Thing("a"): 2, Thing("b"): 3}
    assert Thing("c") not in known
    assert known.pop(b) == 3
    del a
    assert len(known) == 0
    with pytest.raises(KeyError):
        known[b]


def test_keys_that_die_while_one_looks_through() -> None:
    known: WeakKeys[Thing, int] = WeakKeys()
    things = [Thing(str(i)) for i in range(5)]
    for i, thing in enumerate(things):
        known[thing] = i
    seen = []
    del thing
    for key in known:
        seen.append(key.name)
        things.clear()
        del key
    assert seen == ["0"]


def test_callbacks_are_not_python(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    done: list[int] = []
    thing, values, keys = Thing(), WeakValues[int, Thing](), WeakKeys[Thing, int]()
    values[0], keys[thing], kept = thing, 1, on_death(thing, done.append, 3)
    sys.setprofile(lambda frame, event, arg: called.append(event))
    try:
        del thing
    finally:
        sys.setprofile(None)
    assert "call" not in called
    assert (done, len(values), len(keys), kept()) == ([3], 0, 0, None)
