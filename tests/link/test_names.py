"""Names in generated code: the user's own where they can be used, unique, in linear time."""

from __future__ import annotations

from rewrite_engine.link.names import Names, parameter_names, unique


class Counting(set[str]):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        self.asked += 1
        return super().__contains__(name)


def test_parameters_keep_their_names_and_are_unique() -> None:
    assert parameter_names(["x", "x", "x_2", None, "class", "x"], avoid=["y"]) == [
        "x", "x_2", "x_2_2", "arg3", "class_", "x_3",
    ]  # fmt: skip
    assert parameter_names(["y"], avoid=["y", "y_2"]) == ["y_3"]


def test_each_object_has_one_name() -> None:
    names = Names(["a"], "module")
    first, second = object(), object()
    assert names.add(first, "a") == names.add(first, "b") == "a_2"
    assert names.add(second, "a") == "a_3"
    assert names.local("a") == "a_4"
    assert names.local("len") == "len_"
    assert names.globals["a_2"] is first


def test_many_names_alike_are_each_found_at_once() -> None:
    n = 2_000
    taken, numbers = Counting(), dict[str, int]()
    found = [unique("x", taken, numbers) for _ in range(n)]
    assert len(set(found)) == n
    assert taken.asked <= 3 * n
