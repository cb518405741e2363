"""The types of gradients that do not exist."""

from __future__ import annotations

import pytest

from rewrite_engine.graph.null import (
    DisconnectedType,
    NullType,
    disconnected,
    grad_not_implemented,
    grad_undefined,
    is_disconnected,
    is_null,
)
from tests.toy import num


def test_null_type_has_no_values():
    type_ = NullType("no reason")
    with pytest.raises(TypeError, match="no reason"):
        type_.filter(1)
    assert not type_.is_valid_value(1)
    with pytest.raises(TypeError, match="cannot be compared"):
        type_.values_eq(1, 1)
    assert type_ is NullType("no reason")
    assert type_.is_super(NullType("another"))
    assert str(type_) == "NullType"


def test_disconnected_type_has_no_values():
    type_ = DisconnectedType()
    with pytest.raises(TypeError, match="does not depend on"):
        type_.filter(1)
    with pytest.raises(TypeError, match="cannot be compared"):
        type_.values_eq(1, 1)
    assert type_ is DisconnectedType()
    assert not type_.is_super(num)
    assert str(type_) == "DisconnectedType"


def test_gradients_that_do_not_exist_say_why():
    x = num("x")
    undefined = grad_undefined("argmax", 1, x, "an axis is an integer")
    missing = grad_not_implemented("argmax", 1, x)
    assert is_null(undefined)
    assert is_null(missing)
    assert undefined.type.why_null.endswith("(x of type Num) is undefined: an axis is an integer")
    assert missing.type.why_null.endswith("is not implemented")
    assert is_disconnected(disconnected())
    assert not is_null(disconnected())
