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


def message_of(function: Any, *values: Any) -> list[str]:
    """The lines of the error that a guarded call raises, notes last."""
    with pytest.raises(BadValueError) as error:
        function(*values)
    notes = getattr(error.value, "__notes__", [])
    return "\n".join([str(error.value), *notes]).splitlines()


def test_the_error_lists_values_and_indices() -> None:
    m = pt.dmatrix("m")
    f = rw.function([m], pt.log(m).sum(), mode=NanGuardMode(big_is_error=False))
    assert message_of(f, [[1.0, -1.0], [2.0, -3.0]])[:2] == [
        "NaN in log(m) of type TensorType(float64, (None, None))",
        "    2 of 4 elements, at [0, 1]: nan, [1, 1]: nan",
    ]
    many = rw.function([x], pt.log(x), mode="NanGuardMode")
    assert message_of(many, -np.ones(10))[1] == (
        "    10 of 10 elements, at [0]: nan, [1]: nan, [2]: nan, …"
    )


def test_each_kind_of_value_has_a_line() -> None:
    f = rw.function([x], x + 1, mode=NanGuardMode())
    assert message_of(f, [-1e11, np.inf, 3.0, -np.inf, np.nan]) == [
        "NaN and an infinity and a number beyond 1e+10 in x of type TensorType(float64, (None,))",
        "    1 of 5 elements, at [4]: nan",
        "    2 of 5 elements, at [1]: inf, [3]: -inf",
        "    1 of 5 elements, at [0]: -100000000000.0",
    ]


def test_numbers_shared_variables_and_complex_values() -> None:
    s, z = pt.dscalar("s"), pt.zvector("z")
    f = rw.function([s], s * 2, mode=NanGuardMode())
    assert message_of(f, np.nan)[1] == "    value: nan"
    state = rw.shared(np.array([[1.0, np.nan]]), name="state")
    lines = message_of(rw.function([], state.sum(), mode=NanGuardMode()))
    assert lines[0].startswith("NaN in state of type")
    assert lines[1] == "    1 of 2 elements, at [0, 1]: nan"
    f = rw.function([z], z * 2, mode=NanGuardMode())
    assert message_of(f, [1j, complex(0, np.inf)])[1] == "    1 of 2 elements, at [1]: infj"
    single = pt.fvector("single")
    f = rw.function([single], pt.exp(single), mode=NanGuardMode())
    assert message_of(f, np.float32([0, 100]))[1] == "    1 of 2 elements, at [1]: inf"


def test_stored_elements_of_sparse_matrices() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    from rewrite_engine import sparse as rs

    m = rs.csr_matrix("m")
    f = rw.function([m], rs.dense_from_sparse(m).sum(), mode=NanGuardMode())
    assert f(sparse.csr_matrix(np.eye(2))) == 2.0
    lines = message_of(f, sparse.csr_matrix([[0.0, 1.0], [np.nan, 0.0]]))
    assert lines[0].startswith("NaN in m of type Sparse")
    assert lines[1] == "    1 of 2 elements, at [1, 0]: nan"


def steps_in(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("in step")]


def test_the_step_of_a_loop_that_is_vectorised_elsewhere() -> None:
    out = rw.scan(lambda v: pt.log(v), x, return_updates=False)
    ordinary = rw.function([x], out)
    assert [str(n.op) for n in ordinary.fgraph.toposort()] == ["log"]
    for mode in (NanGuardMode(), "NanGuardMode"):
        f = rw.function([x], out, mode=mode)
        assert f([1.0, 2.0]).shape == (2,)
        lines = message_of(f, [1.0, 2.0, -1.0])
        assert lines[:2] == ["NaN in log(x[t]) of type TensorType(float64, ())", "    value: nan"]
        assert steps_in(lines) == ["in step t=2 of Scan"]


def test_the_steps_of_nested_loops_and_of_loops_with_their_own_mode() -> None:
    m = pt.dmatrix("m")

    def row(v: Any) -> Any:
        return rw.scan(lambda a, h: pt.log(a) + h, v, pt.constant(0.0), return_updates=False)

    f = rw.function([m], rw.scan(row, m, return_updates=False), mode=NanGuardMode())
    lines = message_of(f, [[1.0, 1.0, 1.0], [1.0, 1.0, -1.0]])
    assert [line.split(" of ")[0] for line in steps_in(lines)] == ["in step t=2", "in step t=1"]
    own = rw.scan(lambda v: pt.log(v), x, mode=NanGuardMode(), return_updates=False)
    for mode in ("vm", None):
        lines = message_of(rw.function([x], own, mode=mode), [1.0, -1.0])
        assert steps_in(lines) == ["in step t=1 of Scan"]


def test_the_step_of_a_gradient() -> None:
    out = rw.scan(lambda a, h: pt.sqrt(h) - a, x, pt.constant(1.0), return_updates=False)
    f = rw.function([x], rw.grad(out[-1], x), mode=NanGuardMode())
    lines = message_of(f, [1.0, 0.0])
    assert lines[0].startswith("an infinity in")
    assert steps_in(lines) == ["in step t=0 of gradient of Scan"]


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
