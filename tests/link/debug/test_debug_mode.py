"""The mode itself: settings, names, copies, what a record holds, what a call keeps."""

from __future__ import annotations

import pickle
from typing import Any, ClassVar

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile import DebugMode
from rewrite_engine.config import config
from rewrite_engine.errors import BadOptimization, InvalidValueError, OptionError
from rewrite_engine.graph.op import Op
from rewrite_engine.language import node_rewriter
from rewrite_engine.link.debug.linker import has_own_gradient
from rewrite_engine.link.debug.record import RECORDS, RewriteStep, Said
from rewrite_engine.link.debug.storage import KINDS, copy_of, preallocated
from rewrite_engine.link.linker import get_linker
from rewrite_engine.rewrite.trace import Trace
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise

x = pt.dvector("x")


def test_settings_are_those_of_the_call_then_of_config() -> None:
    assert DebugMode().check_isfinite is True
    assert DebugMode().check_preallocated_output == list(KINDS)
    with config.change_flags(DebugMode__check_finite=False, DebugMode__patience=1):
        mode = DebugMode(check_preallocated_output="strided:previous")
        f = rw.function([x], pt.log(x), mode="DebugMode")
    assert (mode.check_isfinite, mode.stability_patience) == (False, 1)
    assert mode.check_preallocated_output == ["previous", "strided"]
    assert f([0.0])[0] == -np.inf  # as it was when the function was made
    with config.change_flags(mode="DebugMode"), pytest.raises(InvalidValueError):
        rw.function([x], pt.log(x))([0.0])


@pytest.mark.parametrize(
    "options",
    [
        {"linker": "py"},
        {"check_preallocated_output": "stride"},
        {"check_py_code": False, "check_c_code": False},
        {"db": object()},
    ],
)
def test_what_cannot_be_asked_for(options: Any) -> None:
    with pytest.raises(OptionError):
        DebugMode(**options)
    with pytest.raises(ValueError, match="DebugMode__check_strides must be one of 0, 1, 2"):
        config.DebugMode__check_strides = 3
    with pytest.raises(ValueError, match="must be of type bool"):
        config.DebugMode__check_py = 1  # type: ignore[assignment]


def test_it_is_a_mode() -> None:
    mode = rw.Mode("DebugMode").excluding("inplace")
    assert mode == rw.Mode("debug_mode").excluding("inplace")
    assert repr(mode) == "Mode(linker='debugmode').excluding('inplace')"
    own = DebugMode(check_isfinite=False)
    assert own == DebugMode(check_isfinite=False) != DebugMode()
    assert pickle.loads(pickle.dumps(own)) == own
    assert "check_isfinite=False" in repr(own)


def test_copies_and_pickles_run() -> None:
    total = rw.shared(0.0)
    f = rw.function([x], pt.exp(x), updates={total: total + x.sum()}, mode="DebugMode")
    f([1.0, 2.0])
    copy, again = f.copy(), pickle.loads(pickle.dumps(f))
    np.testing.assert_allclose(copy([0.0]), [1.0])
    np.testing.assert_allclose(again([0.0]), [1.0])
    assert total.get_value() == 3.0


def test_results_are_new_and_arguments_are_not_written() -> None:
    value = np.array([3.0, 1.0])
    f = rw.function([rw.In(x, mutable=True)], [pt.sort(x), x.T], mode="DebugMode")
    first, second = f(value)
    np.testing.assert_array_equal(value, [3.0, 1.0])
    np.testing.assert_array_equal(first, [1.0, 3.0])
    assert not np.shares_memory(second, value)


def test_the_record_of_a_rewriting() -> None:
    y = pt.dvector("y")
    trace = Trace(terms=True)
    f = rw.function([x, y], pt.log(pt.exp(x) * pt.exp(y)).sum(), mode="DebugMode", trace=trace)
    record = RECORDS[f.fgraph]
    steps = [e for e in record.events if isinstance(e, RewriteStep) and e.number]
    assert [s.rule_name for s in steps] == [firing.rule_name for firing in trace]
    assert str(rw.pp(record.written[0])) == "Sum(log(exp(x) * exp(y)))"
    assert [e for e in record.events if isinstance(e, Said)]
    assert len({id(v) for v in record.inputs}) == 2


def test_what_is_wrong_first_is_told() -> None:
    @node_rewriter([pt.sinh], phase="canonicalize")
    def wrong_first(fgraph: Any, node: Any) -> Any:
        """Near 0 it is."""
        return pt.arctan(node.inputs[0])

    @node_rewriter([pt.cosh], phase="specialize")
    def wrong_then(fgraph: Any, node: Any) -> Any:
        """Near 0 it is, too."""
        return 1 + pt.arctan(node.inputs[0])

    mode = DebugMode() + wrong_first + wrong_then
    with pytest.raises(BadOptimization, match="wrong_first"):
        rw.function([x], pt.sinh(x) + pt.cosh(x), mode=mode)([1.0])
    with pytest.raises(BadOptimization, match="wrong_then"):
        rw.function([x], pt.cosh(x), mode=mode)([1.0])


def test_steps_in_many_runs_of_a_loop_are_few() -> None:
    class Counted(Op):
        """Counts how often it runs."""

        __props__ = ()
        itypes = otypes = [pt.dscalar]
        runs = 0

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            type(self).runs += 1
            output_storage[0][0] = np.asarray(inputs[0] / 2)

    op, s = Counted(), pt.dscalar("s")
    states, _ = rw.scan(lambda a: op(a), outputs_info=s, n_steps=200)
    f = rw.function([s], states[-1], mode="DebugMode")
    f(1.0)
    assert Counted.runs < 200 * 12


def test_old_storage_of_all_kinds() -> None:
    found = dict(preallocated([np.ones((2, 3))], [(None, 3)], KINDS, 2))
    assert {name.partition("(")[0] for name in found} == {
        "previous", "c_contiguous", "f_contiguous", "strided", "wrong_size",
    }  # fmt: skip
    assert all(np.isnan(a).all() for (a,) in found.values())
    assert {a.shape for (a,) in found.values()} == {(2, 3), (1, 3), (3, 3)}  # as its type says
    assert {a.strides for (a,) in found.values()} > {(24, 8), (8, 16), (96, 16), (-24, -8)}


@pytest.mark.parametrize(
    "value",
    [np.arange(24.0).reshape(4, 6)[::-2, ::3], np.arange(6)[::-1], np.float32(2) * np.ones(())],
)
def test_copies_keep_strides(value: Any) -> None:
    copy = copy_of(value)
    np.testing.assert_array_equal(copy, value)
    assert copy.strides == value.strides
    assert not np.shares_memory(copy, value)


# --- what is said of it ---------------------------------------------------------------------------


class Halved(Op):
    """Half of a vector, with a gradient that is wrong."""

    __props__ = ()
    itypes: ClassVar[list[Any]] = [pt.dvector]
    otypes: ClassVar[list[Any]] = [pt.dvector]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] / 2

    def L_op(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [cotangents[0]]


class Kept(Op):
    """A vector as it is; it has no gradient."""

    __props__ = ()
    itypes: ClassVar[list[Any]] = [pt.dvector]
    otypes: ClassVar[list[Any]] = [pt.dvector]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0].copy()


def test_what_is_not_looked_at_is_said() -> None:
    v = pt.dvector("v")
    f = rw.function([v], Kept()(Halved()(v)) + pt.exp(v), mode="DebugMode")
    assert f([2.0]).tolist() == [1.0 + np.exp(2.0)]  # its gradient is wrong, and not looked at
    told = get_linker(f.mode.linker).told(f.nodes)
    assert "each step of rewriting" in told
    assert "not checked: " in told
    assert "gradients of Halved (verify_grad checks them)" in told
    plain = rw.function([v], pt.exp(v), mode=DebugMode(check_isfinite=False))
    assert "finite" not in get_linker(plain.mode.linker).told(plain.nodes)
    assert "gradients" not in get_linker(plain.mode.linker).told(plain.nodes)
    mine = ScalarOp("mine", 1, function="numpy.tanh", grad=lambda x, out, g: [g])
    assert has_own_gradient(Elemwise(mine))
    assert not has_own_gradient(Elemwise(ScalarOp("mine_too", 1, function="numpy.tanh")))
    assert not has_own_gradient(pt.exp)
