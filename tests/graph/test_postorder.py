"""`postorder`."""

from __future__ import annotations

from rewrite_engine.graph.postorder import postorder, same

BELOW = {"a": ["b", "c"], "b": ["d"], "c": ["d", "b"], "d": []}


def test_what_is_below_comes_first_and_once() -> None:
    asked: list[str] = []

    def below(x: str) -> list[str]:
        asked.append(x)
        return BELOW[x]

    assert list(postorder(["a"], below, key=same)) == ["d", "b", "c", "a"]
    assert sorted(asked) == ["a", "b", "c", "d"]
    assert list(postorder(["c", "a", "c"], BELOW.__getitem__, key=same)) == ["d", "b", "c", "a"]
    assert list(postorder([], BELOW.__getitem__, key=same)) == []


def test_objects_are_told_by_identity_unless_there_is_a_key() -> None:
    one, two = [1], [1]
    assert [x is one for x in postorder([one, two, one], lambda _: ())] == [True, False]
    assert list(postorder([one, two], lambda _: (), key=str)) == [[1]]


def test_any_depth_and_what_is_made_on_the_way() -> None:
    n = 100_000
    assert list(postorder([n], lambda i: [i - 1] if i else [], key=same)) == list(range(n + 1))
    made = list(postorder([(4,)], lambda t: [(t[0] - 1,)] if t[0] else []))  # new objects each time
    assert made == [(0,), (1,), (2,), (3,), (4,)]


def test_a_circle_ends() -> None:
    assert list(postorder([0], lambda i: [(i + 1) % 3], key=same)) == [2, 1, 0]
