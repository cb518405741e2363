"""`NanGuardMode` and `MonitorMode`: modes that look at every value."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import ifelse
from rewrite_engine.compile import MonitorMode, NanGuardMode
from rewrite_engine.compile.watching import detect_nan
from rewrite_engine.errors import BadValueError

x, c = pt.dvector("x"), pt.lscalar("c")
ALL = {"nan_is_error": False, "inf_is_error": False, "big_is_error": False}


@pytest.mark.parametrize(
    ("option", "at", "what"),
    [("nan_is_error", np.nan, "NaN"), ("inf_is_error", -np.inf, "an infinity"),
     ("big_is_error", -1e11, "a number beyond 1e\\+10")],
)  # fmt: skip
def test_each_is_refused_where_it_is_asked_for(option: str, at: float, what: str) -> None:
    f = rw.function([x], x * 1.5 + 1, mode=NanGuardMode(**ALL | {option: True}))
    assert f([2.0]).tolist() == [4.0]
    with pytest.raises(BadValueError, match=f"{what} in x of type"):
        f([0.0, at])
    others = rw.function([x], x * 1.5 + 1, mode=NanGuardMode(**{o: o != option for o in ALL}))
    assert others([0.0, at]).shape == (2,)


def test_the_error_tells_variable_op_and_line() -> None:
    f = rw.function([x], pt.log(x).sum(), mode=NanGuardMode(big_is_error=False))
    with pytest.raises(AssertionError) as error:
        f([1.0, -1.0])
    text = "\n".join([str(error.value), *error.value.__notes__])
    assert text.startswith("NaN in log(x) of type TensorType(float64, (None,))")
    assert "\nlog\n    input 0: x of type" in text
    assert "test_watching.py" in text
    assert "pt.log(x).sum()" in text
    with pytest.raises(BadValueError, match="an infinity in log"):
        f([0.0])


def test_by_its_name_and_with_other_types() -> None:
    f = rw.function([x, c], [x / 2, c * 10**12], mode="NanGuardMode")
    assert f([1.0], 1)[1] == 10**12
    with pytest.raises(BadValueError):
        f([np.inf], 1)
    state = rw.shared(np.random.default_rng(1))
    assert rw.function([], pt.random.normal(rng=state), mode=NanGuardMode())().shape == ()
    f = pickle.loads(pickle.dumps(rw.function([x], x + 1, mode=NanGuardMode(nan_is_error=False))))
    assert np.isnan(f([np.nan])[0])
    with pytest.raises(BadValueError):
        f([np.inf])


def test_inside_of_loops_and_not_in_branches_not_taken() -> None:
    out = rw.scan(lambda t: pt.sqrt(t) - 1, outputs_info=pt.constant(4.0), n_steps=c,
                  return_updates=False)  # fmt: skip
    f = rw.function([c], out, mode=NanGuardMode())
    assert f(2).tolist() == [1.0, 0.0]
    with pytest.raises(BadValueError, match="NaN in sqrt"):
        f(4)
    f = rw.function([c, x], ifelse(c, pt.log(x), x), mode=NanGuardMode())
    assert f(0, [-1.0]).tolist() == [-1.0]


def test_monitored_nodes() -> None:
    seen: list[Any] = []

    def before(fgraph: Any, i: int, node: Any, fn: Any) -> None:
        assert node in fgraph.apply_nodes
        seen.append((i, str(node.op), [v[0].tolist() for v in fn.inputs], fn.outputs))

    def after(fgraph: Any, i: int, node: Any, fn: Any) -> None:
        seen.append((i, [np.asarray(v[0]).tolist() for v in fn.outputs]))

    f = rw.function([x], pt.exp(x).sum(), mode=MonitorMode(before, after))
    assert f([0.0, 0.0]) == 2
    assert seen == [
        (0, "exp", [[0.0, 0.0]], [[None]]), (0, [[1.0, 1.0]]),
        (1, "Sum", [[1.0, 1.0]], [[None]]), (1, [2.0]),
    ]  # fmt: skip


def test_monitors_look_into_loops_and_see_several_outputs() -> None:
    names: list[str] = []
    mode = MonitorMode(post_func=lambda fgraph, i, node, fn: names.append(f"{i} {node.op}"))
    out = rw.scan(lambda v, t: pt.cos(t) + v, x, pt.constant(1.0), return_updates=False)
    parts = pt.linalg.svd(pt.outer(out, out))
    f = rw.function([x], parts[1].sum() + pt.exp(out).sum(), mode=mode)
    f([0.5, 1.0, 1.5])
    assert sum(name.endswith(" cos") for name in names) == 3
    assert any(name.endswith("Scan") for name in names)


def test_detect_nan(capsys: Any) -> None:
    f = rw.function([x], pt.log(x) * 2, mode=MonitorMode(post_func=detect_nan))
    f([1.0])
    assert capsys.readouterr().out == ""
    f([-1.0])
    assert "*** NaN in node 0: log(x)" in capsys.readouterr().out


def test_optimizers() -> None:
    y = pt.log(pt.exp(x))
    for make in (NanGuardMode, MonitorMode):
        plain = rw.function([x], y, mode=make(optimizer=None))
        assert [str(n.op) for n in plain.fgraph.toposort()] == ["exp", "log"]
        assert rw.function([x], y, mode=make()).fgraph.toposort() == []
