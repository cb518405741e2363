"""Theano's page on types: its samples, and what it says that no other test does.

What it says of `CLinkerType` is C code of types: `tests/link/c/`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("peers")


def test_a_constant_is_no_argument() -> None:
    """The sample on variables. `f(2.5)` is a list, as `[c]` is one; `tensor.value`, which Theano
    itself has no more, is an input with a default.
    """
    import theano
    from theano import tensor

    a = tensor.constant(1.5)
    b = tensor.fscalar()
    c = a + b
    f = theano.function([b], [c])
    assert f(2.5) == [4.0]
    with pytest.raises(ValueError, match="a constant cannot be an input"):
        theano.function([a], [c])
    with pytest.raises(ValueError, match="has no value: make it an input"):
        theano.function([], [c])
    with pytest.raises(ValueError, match="a constant cannot be an input"):
        theano.function([a, b], [c])
    assert not hasattr(tensor, "value")
    d = tensor.dscalar()
    e = d + b
    g = theano.function([theano.In(d, value=1.5), b], [e])
    assert g(1.0, 2.5) == [3.5]


def test_the_classes_of_variables() -> None:
    import theano
    from theano import tensor
    from theano.gof import Constant
    from theano.tensor.sharedvar import TensorSharedVariable

    a, b = tensor.constant(1.5), tensor.fscalar()
    assert all(isinstance(v, theano.Variable) for v in (a, b, a + b))
    assert [isinstance(v, Constant) for v in (a, b, a + b)] == [True, False, False]
    assert isinstance(a + b, tensor.TensorVariable)
    assert isinstance(theano.shared(np.ones(2)), TensorSharedVariable)


def test_variables_of_one_type() -> None:
    """The sample on `fvector`."""
    from theano import tensor

    b = tensor.fvector()
    c = tensor.fvector()
    assert b.type is c.type is tensor.fvector
    assert (b.type.ndim, b.type.dtype) == (1, "float32")
    assert b is not c


def test_names_of_the_page() -> None:
    from theano.gof import Generic, generic
    from theano.gof.type import PureType, SingletonType, Type

    assert PureType is Type
    assert issubclass(Generic, SingletonType)
    assert generic.filter(print, strict=True) is print
    assert Generic() is generic


def test_who_uses_a_variable_is_known_in_a_graph() -> None:
    """Not before: a variable has no `clients` of its own."""
    from theano import tensor
    from theano.gof import FunctionGraph

    x = tensor.dvector("x")
    y = tensor.exp(x)
    z = y * x
    assert not hasattr(y, "clients")
    assert z.owner.inputs[0].owner.inputs == (x,)
    fgraph = FunctionGraph([x], [z], clone=False)
    assert [(node.op, i) for node, i in fgraph.clients[y]] == [(tensor.mul, 0)]
    assert len(fgraph.clients[x]) == 2


def test_copies_of_variables_and_constants() -> None:
    """Tags and names come along, the node does not, and the data of a constant is shared."""
    from theano import tensor

    y = tensor.exp(tensor.dvector())
    y.name, y.tag.note = "y", "kept"
    copy = y.clone()
    assert (copy.type, copy.name, copy.tag.note) == (y.type, "y", "kept")
    assert (copy.owner, copy.index) == (None, None)
    c = tensor.constant(np.ones(3))
    assert c.clone().data is c.data
    assert c.value is c.data
    with pytest.raises(AttributeError):
        c.value = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        c.value[0] = 2


def test_which_methods_of_types_in_c_are_optional() -> None:
    """What a subclass does not implement is `MethodNotDefined`, as the page says of each; the rest
    has its default.
    """
    from theano.gof.type import CLinkerType
    from theano.gof.utils import MethodNotDefined

    side = CLinkerType()
    for name in ("c_declare", "c_init", "c_extract", "c_sync", "c_cleanup"):
        with pytest.raises(MethodNotDefined, match=name):
            getattr(side, name)("v", {})
    with pytest.raises(MethodNotDefined, match="c_literal"):
        side.c_literal(1)
    assert (side.c_is_simple(), side.c_code_cache_version()) == (False, ())


def test_classes_that_a_type_keeps() -> None:
    """`PureType.Variable` and `PureType.Constant`, as the page writes and makes them."""
    from theano import tensor
    from theano.gof import Constant, Variable
    from theano.gof.type import PureType

    assert (PureType.Variable, PureType.Constant) == (Variable, Constant)
    assert isinstance(tensor.dvector(), tensor.dvector.Variable)
    assert isinstance(tensor.constant(1.5), tensor.dvector.Constant)
    v = PureType.Variable(tensor.dvector, None, None, name="v")
    assert (v.type, v.owner, v.name) == (tensor.dvector, None, "v")
    values = [1.0, 2.0]
    for made in (PureType.Constant, tensor.dvector.Constant):
        c = made(type=tensor.dvector, data=values, name="c")
        assert c.equals(tensor.constant(values))
        assert c.name == "c"
        with pytest.raises(ValueError, match="read-only"):
            c.value[0] = 3
    array = np.ones(2)
    kept = PureType.Constant(tensor.dvector, array)
    array[0] = 7  # (is not the constant's)
    assert kept.data.tolist() == [1, 1]

    class MyVariable(Variable):
        pass

    class MyType(PureType):
        Variable = MyVariable

        def filter(self, data: Any, strict: bool = False, allow_downcast: Any = None) -> Any:
            return data

    assert isinstance(MyType()("x"), MyVariable)
    assert isinstance(MyType().make_variable(), MyType.Variable)
