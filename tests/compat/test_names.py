"""Other libraries' module paths and names lead to what is here."""

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat import (
    KNOWN,
    PeerModule,
    canonical,
    homes_of,
    install,
    not_here,
    older,
    rewriters,
    value_of,
)
from rewrite_engine.compat.missing import missing
from rewrite_engine.compat.table import HOMES, MODULES, RENAMED, VERSIONS
from rewrite_engine.errors import NotHereError, OptionError
from rewrite_engine.match import decorate
from rewrite_engine.match.rule import NodeRewriter

SAME = [
    ("pytensor", "function", rw.function),
    ("pytensor", "grad", rw.grad),
    ("pytensor", "config", rw.config),
    ("pytensor.tensor", "exp", pt.exp),
    ("pytensor.tensor", "TensorVariable", pt.TensorVariable),
    ("pytensor.tensor.basic", "switch", pt.switch),
    ("pytensor.tensor.elemwise", "Elemwise", pt.Elemwise),
    ("pytensor.tensor.type", "TensorType", pt.TensorType),
    ("pytensor.tensor.type", "dmatrix", pt.dmatrix),
    ("pytensor.tensor.variable", "TensorConstant", pt.TensorConstant),
    ("pytensor.tensor.slinalg", "cholesky", pt.linalg.cholesky),
    ("pytensor.tensor.nlinalg", "inv", pt.linalg.inv),
    ("pytensor.tensor.subtensor", "set_subtensor", pt.set_subtensor),
    ("pytensor.graph.basic", "Apply", rw.Apply),
    ("pytensor.graph.op", "Op", rw.Op),
    ("pytensor.graph.rewriting.utils", "rewrite_graph", rw.rewrite_graph),
    ("pytensor.compile.mode", "Mode", rw.Mode),
    ("pytensor.compile.builders", "OpFromGraph", rw.OpFromGraph),
    ("aesara.tensor.math", "sum", pt.sum),
    ("aesara.graph.rewriting.basic", "node_rewriter", rewriters.node_rewriter),
    ("aesara.graph.opt", "local_optimizer", older.local_optimizer),
    ("pytensor.compile.function", "function", rw.function),
    ("pytensor.compile", "function", rw.function),
    ("pytensor.tensor.reshape", "reshape", pt.reshape),
    ("pytensor.tensor", "reshape", pt.reshape),
    ("theano.tensor", "dmatrix", pt.dmatrix),
    ("theano.tensor", "addbroadcast", pt.specify_broadcastable),
    ("pytensor", "Rop", rw.Rop),
    ("pytensor", "pullback", rw.pullback),
    ("pytensor.gradient", "pushforward_through_pullback", rw.gradient.pushforward),
    ("pytensor.gradient", "pushforward", rw.pushforward),
    ("theano", "Lop", rw.gradient.Lop),
    ("theano.tensor", "Rop", rw.gradient.Rop),
    ("theano", "clone", rw.clone_replace),
    ("theano", "dot", pt.dot),
    ("theano.tensor.nnet", "sigmoid", pt.sigmoid),
    ("theano.gof.graph", "Variable", rw.Variable),
]


@pytest.mark.usefixtures("peers")
@pytest.mark.parametrize(("module", "name", "ours"), SAME)
def test_names_lead_here(module: str, name: str, ours: object) -> None:
    import_module(module)
    assert getattr(import_module(module), name) is ours
    space: dict[str, object] = {}
    exec(f"from {module} import {name} as found", space)
    assert space["found"] is ours


@pytest.mark.usefixtures("peers")
@pytest.mark.parametrize("path", sorted(KNOWN))
def test_every_module_of_the_table_can_be_imported(path: str) -> None:
    module = import_module(f"pytensor.{path}")
    assert isinstance(module, PeerModule)
    assert not any(isinstance(getattr(module, name), ModuleType) for name in dir(module))


@pytest.mark.parametrize("name", RENAMED)
def test_what_has_another_name_is_there(name: str) -> None:
    assert value_of(RENAMED[name]) is not None


def test_the_table_leads_somewhere() -> None:
    for home in {home for homes in HOMES.values() for home in homes}:
        import_module(home)
    assert all(isinstance(homes_of(canonical(path)), tuple) for path in MODULES)


@pytest.mark.usefixtures("peers")
def test_submodules_are_attributes() -> None:
    import theano  # type: ignore[import-not-found]

    assert theano.tensor.subtensor.inc_subtensor is pt.inc_subtensor
    assert theano.tensor.nnet.relu is import_module("rewrite_engine.compat.nnet").relu
    assert theano.__version__ == VERSIONS["theano"]


@pytest.mark.usefixtures("peers")
def test_all_names_at_once() -> None:
    space: dict[str, object] = {}
    exec("from theano.tensor import *", space)
    assert space["dot"] is pt.dot
    assert "annotations" not in space
    assert "np" not in space


@pytest.mark.usefixtures("peers")
def test_a_missing_name_is_an_attribute_error() -> None:
    module = import_module("pytensor.tensor")
    assert not hasattr(module, "no_such")
    with pytest.raises(
        AttributeError, match=r"pytensor\.tensor\.exq is not in rewrite_engine; did"
    ):
        _ = module.exq
    with pytest.raises(ModuleNotFoundError, match=r"pytensor\.no_such is not in rewrite_engine"):
        import_module("pytensor.no_such")


@pytest.mark.usefixtures("peers")
def test_the_names_of_the_jax_backend_load_jax_when_they_need_it() -> None:
    code = """
import sys
import rewrite_engine.compat.pytensor
from pytensor.link.jax.linker import JAXLinker
assert "jax" not in sys.modules
sys.modules["jax"] = None
try:
    from pytensor.link.jax.dispatch import jax_funcify
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "rewrite-engine[jax]"' in done.stdout


@pytest.mark.usefixtures("peers")
def test_what_is_imported_by_name_raises_where_it_is_used() -> None:
    from pytensor.tensor import NoSuchOp, no_such  # type: ignore[import-not-found]

    assert not isinstance(pt.vector(), NoSuchOp)
    with pytest.raises(NotHereError, match=r"pytensor\.tensor\.no_such is not in rewrite_engine"):
        no_such(1)
    with pytest.raises(NotHereError, match=r"NoSuchOp"):
        _ = NoSuchOp.perform

    class Mine(NoSuchOp):
        """Inheriting is no use of it; making one is."""

    class Other(NoSuchOp[int], rw.graph.Op, option=1):
        """So is inheriting from other classes, and arguments."""

        __props__ = ("a",)

    for one in (Mine, Other):
        with pytest.raises(NotHereError, match="NoSuchOp"):
            one()


@pytest.mark.usefixtures("peers")
def test_a_driver_of_a_missing_rule_raises_where_it_runs() -> None:
    from pytensor.graph.rewriting.basic import in2out, out2in
    from pytensor.tensor.rewriting.math import local_no_such  # type: ignore[import-not-found]

    for walk in (in2out, out2in):
        driver = walk(local_no_such)
        with pytest.raises(NotHereError, match="local_no_such"):
            driver.rewrite(None)


def test_what_stands_for_a_missing_name_can_be_looked_at() -> None:
    assert not hasattr(not_here("gone"), "__wrapped__")


def test_the_library_itself_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aesara", ModuleType("aesara"))
    with pytest.raises(OptionError, match=r"import rewrite_engine\.compat\.aesara first"):
        install(["aesara"])


PROGRAM = """\
import numpy as np, theano, theano.tensor.nnet as nn
import pytensor.tensor as pt
from pytensor.tensor import exp, nope as no
from pytensor import tensor as again, gone
from theano.cuda import x
T = theano.tensor
T.never(T.exp(x), a=[nn.relu(x), nn.nothing])
def f(): return again.linalg.unknown + pt.exp + np.nothing + theano.config.floatX
"""


@pytest.mark.usefixtures("peers")
def test_missing_names_are_found_without_running() -> None:
    assert list(missing(PROGRAM)) == [
        (3, "pytensor.tensor.nope"),
        (4, "pytensor.gone"),
        (5, "theano.cuda"),
        (7, "theano.tensor.never"),
        (7, "theano.tensor.nnet.nothing"),
        (8, "pytensor.tensor.linalg.unknown"),
    ]


@pytest.mark.usefixtures("peers")
def test_small_functions() -> None:
    from pytensor.graph.rewriting.basic import copy_stack_trace  # type: ignore[import-not-found]
    from theano.tensor.extra_ops import to_one_hot  # type: ignore[import-not-found]

    x, y = pt.vectors("x", "y")
    assert copy_stack_trace(x, y) is y
    n = pt.lvector("n")
    rows = to_one_hot(n, 3, dtype="int8")
    assert rows.dtype == "int8"
    assert rows.eval({n: [2, 0]}).tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.raises(IndexError):
        to_one_hot(n, 3).eval({n: [3]})


@pytest.mark.usefixtures("peers")
@pytest.mark.parametrize("as_a_list", [False, True])
def test_drivers_one_after_the_other(as_a_list: bool) -> None:
    from pytensor.graph.fg import FunctionGraph  # type: ignore[import-not-found]
    from pytensor.graph.rewriting.basic import (
        PatternNodeRewriter,
        SequentialGraphRewriter,
        in2out,
        out2in,
    )

    x = pt.vector("x")
    drivers = (
        in2out(PatternNodeRewriter((pt.exp, "a"), (pt.log, "a"))),
        out2in(PatternNodeRewriter((pt.log, "a"), (pt.sin, "a"))),
    )
    fgraph = FunctionGraph([x], [pt.exp(x)], clone=False)
    SequentialGraphRewriter(*([drivers] if as_a_list else drivers)).rewrite(fgraph)
    assert fgraph.outputs[0].owner.op == pt.sin


def test_a_class_with_transform_is_told_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"Mine: .* write @node_rewriter\(\[op, ...\]\)"):

        class Mine(NodeRewriter):
            def transform(self, fgraph: object, node: object) -> None:
                return None


def test_a_rewriter_made_in_a_namespace_without_a_name() -> None:
    names = {"pt": pt, "node_rewriter": decorate.node_rewriter}
    text = "@node_rewriter([pt.exp])\ndef change(fgraph, node):\n    return [pt.log(*node.inputs)]"
    exec(compile(text, "somewhere", "exec"), names)
    assert str(names["change"]).startswith("__main__/change")


@pytest.mark.usefixtures("peers")
def test_one_op_in_the_place_of_another() -> None:
    from pytensor.graph.fg import FunctionGraph
    from pytensor.graph.rewriting.basic import SubstitutionNodeRewriter, in2out
    from theano.gof.opt import OpSub  # type: ignore[import-not-found]

    assert OpSub is SubstitutionNodeRewriter
    x = pt.vector("x")
    fgraph = FunctionGraph([x], [pt.exp(x + 1)], clone=False)
    in2out(SubstitutionNodeRewriter(pt.exp, pt.log)).rewrite(fgraph)
    assert fgraph.outputs[0].owner.op == pt.log


@pytest.mark.usefixtures("peers")
def test_scalar_types_and_generic() -> None:
    import pytensor.scalar as ps  # type: ignore[import-not-found]
    from pytensor.link.c.type import Generic, generic  # type: ignore[import-not-found]

    assert (Generic() == generic) is True
    box = generic("box")
    assert rw.function([box], box)({"a": 1}) == {"a": 1}
    assert ps.get_scalar_type("int32") == ps.int32
    assert ps.bool.dtype == "bool"
    assert ps.float64 in ps.float_types
    assert {t.dtype for t in ps.all_types} >= {"bool", "uint8", "float16", "complex128"}
    assert len(ps.discrete_types) + len(ps.continuous_types) == len(ps.all_types) == 14
    assert (ps.upcast("int32", "float32"), ps.upcast("uint8", "int8")) == ("float64", "int16")
    a = ps.float64("a")
    assert (a.ndim, a.shape) == (0, ())
    assert ps.as_scalar(a) is a
    assert (ps.as_scalar(3).type, ps.as_scalar(np.float32(2)).type) == (ps.int64, ps.float32)
    s = pt.dscalar("s")
    assert rw.function([s], ps.as_scalar(s) * 2)(1.5) == 3
    for wrong in (pt.dvector(), box):
        with pytest.raises(TypeError, match="as_scalar: takes numbers"):
            ps.as_scalar(wrong)


def test_etuples_know_graphs_where_pytensor_teaches_them() -> None:
    program = """
import rewrite_engine.compat.pytensor
import pytensor.tensor as pt
from pytensor.graph.rewriting.kanren import KanrenRelationSub
from etuples import etuplize
x = pt.dvector("x")
assert etuplize(x + x).evaled_obj.owner.op == pt.add
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_pictures_by_their_names(peers: None) -> None:
    from pytensor.d3viz import d3viz
    from pytensor.printing import pydotprint

    from rewrite_engine.printing import picture

    assert (d3viz, pydotprint) == (picture.d3viz, picture.pydotprint)
