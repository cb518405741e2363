"""The errors of PyTensor, by their names and modules there, are raised where they are there."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.features import ReplaceValidate
from rewrite_engine.graph.fgraph import FunctionGraph
from tests.toy import exp, num, sin

x, y, s = pt.dvector("x"), pt.dvector("y"), pt.dscalar("s")


def undefined(gradient: bool = False) -> Any:
    """An op that says its types only; gradient: the cost goes through it."""

    class Bare(rw.Op):
        __props__ = ()
        itypes = otypes = (pt.dscalar,)

        def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
            return [rw.gradient.grad_undefined(self, 0, inputs[0])]

    return rw.grad(Bare()(s), s) if gradient else Bare().perform(None, [], [])


def not_removed() -> None:
    a = num("a")
    fgraph = FunctionGraph([a], [exp(sin(a))], clone=False)
    kept = fgraph.outputs[0].owner.inputs[0]
    fgraph.replace_all_validate_remove([(fgraph.outputs[0], exp(exp(kept)))], [kept])


def twice() -> None:
    fgraph = FunctionGraph([(a := num("a"))], [exp(a)])
    fgraph.attach_feature(ReplaceValidate())
    ReplaceValidate().on_attach(fgraph)


UNUSED = lambda: rw.function([x, y], x)
OVERWRITTEN = lambda: rw.function([x], pt.inc_subtensor(x[:1], 1.0, inplace=True))
UNKNOWN = lambda: pt.get_scalar_constant_value(s)
RAISED: list[tuple[str, str, Callable[[], Any]]] = [
    ("pytensor.compile", "UnusedInputError", UNUSED),
    ("pytensor.compile.rebuild", "UnusedInputError", UNUSED),
    ("pytensor.compile.function.types", "UnusedInputError", UNUSED),
    ("theano.compile.function_module", "UnusedInputError", UNUSED),
    ("pytensor.gradient", "DisconnectedInputError", lambda: rw.grad(s, x)),
    ("pytensor.gradient", "NullTypeGradError", lambda: undefined(gradient=True)),
    ("pytensor.gradient", "GradientError", lambda: rw.grad(s, x)),
    ("pytensor.graph", "InconsistencyError", OVERWRITTEN),
    ("pytensor.graph.fg", "InconsistencyError", OVERWRITTEN),
    ("pytensor.graph.utils", "InconsistencyError", OVERWRITTEN),
    ("pytensor.graph.utils", "MissingInputError", lambda: rw.function([x], x + y)),
    ("pytensor.graph.fg", "MissingInputError", lambda: FunctionGraph([x], [x + y])),
    ("theano.gof.fg", "MissingInputError", lambda: FunctionGraph([x], [x + y])),
    ("pytensor.graph.utils", "MethodNotDefined", undefined),
    ("pytensor.graph.features", "AlreadyThere", twice),
    ("pytensor.graph.features", "ReplacementDidNotRemoveError", not_removed),
    ("pytensor.tensor.exceptions", "NotScalarConstantError", UNKNOWN),
    ("pytensor.tensor.basic", "NotScalarConstantError", UNKNOWN),
    ("theano.tensor", "NotScalarConstantError", UNKNOWN),
    ("pytensor.tensor.exceptions", "ShapeError", lambda: pt.specify_shape(pt.zeros(2), (3,))),
]


@pytest.mark.usefixtures("peers")
@pytest.mark.parametrize(("module", "name", "mistake"), RAISED)
def test_is_raised(module: str, name: str, mistake: Callable[[], Any]) -> None:
    with pytest.raises(getattr(import_module(module), name)):
        mistake()
