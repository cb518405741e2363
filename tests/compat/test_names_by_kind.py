"""Names of PyTensor whose meaning differs a little from ours: what programs rely on."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
from rewrite_engine.errors import NotConstantError, SpecifiedShapeError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op

pytestmark = pytest.mark.usefixtures("peers")


def value_of(*variables: Any) -> Any:
    return rw.function([], list(variables))()


@pytest.mark.parametrize("name", ["scalars", "dvectors", "imatrices", "tensor3s"])
def test_the_plural_of_one_is_a_variable(name: str) -> None:
    import pytensor.tensor as pt

    plural = getattr(pt, name)
    assert plural("x").name == "x"
    assert plural(1).type == plural(None).type == plural("x").type
    assert [v.name for v in plural("xy")] == [v.name for v in plural("x", "y")] == ["x", "y"]
    assert len(getattr(rw.tensor, name)("x")) == 1  # ours is a list


@pytest.mark.parametrize(("dtype", "values"), [("bool", [1, 1, 0]), ("int8", [100, 100, 0])])
def test_a_reduction_keeps_the_dtype(dtype: str, values: list[int]) -> None:
    import pytensor.scalar as ps
    import pytensor.tensor as pt
    from pytensor.tensor.elemwise import CAReduce

    x = np.array(values, dtype=dtype)
    found = CAReduce(ps.add)(pt.constant(x))
    assert found.type.dtype == dtype
    assert str(found.owner.op) == "CAReduce{add}"
    np.testing.assert_array_equal(value_of(found)[0], np.add.reduce(x, dtype=dtype))
    assert isinstance(pt.sum(pt.vector()).owner.op, CAReduce)
    assert CAReduce(ps.add, dtype="int64")(pt.constant(x)).type.dtype == "int64"


def test_the_inverse_of_unique_is_a_vector() -> None:
    import pytensor.tensor as pt
    from pytensor.npy_2_compat import old_np_unique

    x = np.array([[2, 1], [3, 2], [2, 1]])
    for options in ({}, {"return_index": True}, {"return_counts": True}):
        found = value_of(*pt.unique(pt.constant(x), return_inverse=True, **options))
        for one, wanted in zip(found, old_np_unique(x, return_inverse=True, **options)):
            np.testing.assert_array_equal(one, wanted)


def test_a_negative_number_is_an_assertion_error_if_required() -> None:
    import pytensor.tensor as pt

    x = pt.lvector("x")
    f = rw.function([x], pt.bincount(x, assert_nonneg=True))
    np.testing.assert_array_equal(f([1, 1]), [0, 2])
    with pytest.raises(AssertionError, match="below 0"):
        f([-1, 1])


def test_indexed_shapes_are_known_without_values() -> None:
    import pytensor.tensor as pt
    from pytensor.tensor.subtensor import indexed_result_shape

    x = np.zeros((5, 6, 7))
    rows = np.array([1, 3, 2])
    for index in ((slice(1, 3),), (2, slice(None), None), (slice(None), rows), (rows, 0, rows)):
        symbolic = [pt.as_tensor(i) if isinstance(i, np.ndarray) else i for i in index]
        shapes = [i.shape if isinstance(i, np.ndarray) else i for i in index]
        for entries, options in ((symbolic, {}), (shapes, {"indices_are_shapes": True})):
            found = indexed_result_shape(pt.as_tensor(x).shape, entries, **options)
            assert tuple(v.eval() for v in found) == x[index].shape


@pytest.mark.parametrize("step", [-3, -1, 1, 2])
def test_slices_have_their_ends_in_order(step: int) -> None:
    import pytensor.tensor as pt
    from pytensor.tensor.subtensor import get_canonical_form_slice

    start, stop, by, n = pt.lscalars("start", "stop", "by", "n")
    for ends in ((start, stop), (None, stop), (start, None), (None, None)):
        made, direction = get_canonical_form_slice(slice(*ends, by), n)
        parts = [made.start, made.stop, made.step, direction]
        f = rw.function([start, stop, by, n], parts, on_unused_input="ignore")
        for a, b in [(0, 3), (-2, 9), (5, -9), (3, 0), (7, -1)]:
            given = [None if end is None else v for end, v in zip(ends, (a, b))]
            first, last, stride, sign = map(int, f(a, b, step, 6))
            assert min(first, stride) >= 0
            assert sign == np.sign(step)
            x = np.arange(6)
            np.testing.assert_array_equal(x[first:last:stride][::sign], x[slice(*given, step)])


def test_what_is_no_slice_is_refused() -> None:
    import pytensor.tensor as pt
    from pytensor.tensor.subtensor import _is_provably_positive, get_canonical_form_slice

    for wrong in (None, pt.NoneConst, pt.vector()):
        with pytest.raises(ValueError, match="not a supported slice"):
            get_canonical_form_slice(wrong, 5)
    assert _is_provably_positive(pt.constant([1.0, 2.0]))
    assert not _is_provably_positive(pt.vector().shape[0])
    assert _is_provably_positive(pt.vector().shape[0], strict=False)


def test_ops_by_their_own_arguments() -> None:
    import pytensor.tensor as pt
    from pytensor.tensor.basic import Eye, PermuteRowElements, Split
    from pytensor.tensor.math import ProdWithoutZeros

    x = pt.constant(np.arange(6.0))
    first, second = Split(2, 0)(x, [1, 5])
    np.testing.assert_array_equal(value_of(second)[0], np.arange(1.0, 6.0))
    assert first.owner.op.len_splits == 2
    assert isinstance(first.owner.op, Split)
    np.testing.assert_array_equal(value_of(Eye("int8")(2, 3, 1))[0], np.eye(2, 3, 1))
    turned = PermuteRowElements(inverse=True)(pt.constant([5.0, 7.0, 9.0]), [1, 2, 0])
    np.testing.assert_array_equal(value_of(turned)[0], [9.0, 5.0, 7.0])
    assert value_of(ProdWithoutZeros()(pt.constant([2.0, 0.0, 3.0])))[0] == 6.0


class AddOne(Op):
    """Defines its node itself."""

    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        by = 1 if node.inputs[0].type.dtype.startswith("f") else -1
        output_storage[0][0] = np.asarray(inputs[0] + by)


def test_ops_that_define_make_node_run_along_a_batch() -> None:
    import pytensor.tensor as pt
    from pytensor.tensor.blockwise import Blockwise
    from pytensor.tensor.linalg import Cholesky

    op = Blockwise(core_op=AddOne(), signature="(m)->(m)")
    for dtype, by in (("float32", 1), ("int32", -1)):
        x = np.zeros((2, 3), dtype)
        found = op(pt.constant(x))
        assert (found.type.dtype, found.type.shape) == (dtype, (2, 3))
        np.testing.assert_array_equal(value_of(found)[0], x + by)
    a = np.stack([np.eye(2), 4 * np.eye(2)])
    lower = Blockwise(Cholesky(lower=True))(pt.constant(a))
    np.testing.assert_array_equal(value_of(lower)[0], np.linalg.cholesky(a))


def test_numbers_of_indices_say_how_long_a_shape_is() -> None:
    import pytensor.tensor as pt

    i, j, shape = pt.lscalar("i"), pt.lscalar("j"), pt.lvector("shape")
    f = rw.function([i, j, shape], pt.ravel_multi_index((i, j), shape))
    assert f(1, 2, [3, 4]) == 6
    with pytest.raises(SpecifiedShapeError):
        f(1, 2, [3, 4, 5])


def test_small_questions() -> None:
    import pytensor.tensor as pt
    from pytensor.graph.basic import equal_computations
    from pytensor.printing import char_from_number
    from pytensor.tensor.basic import get_underlying_scalar_constant_value
    from pytensor.tensor.random.utils import custom_rng_deepcopy, supp_shape_from_ref_param_shape

    with pytest.raises(ValueError, match="1 graphs to compare with 2"):
        equal_computations([pt.constant(1)], [pt.constant(1)] * 2)
    assert equal_computations([np.array([1, 2])], [pt.constant([1, 2])])
    assert not equal_computations([pt.constant([1, 2])], [np.array([1, 3])])
    assert [char_from_number(n) for n in (0, 25, 26, 27, 2080)] == ["A", "Z", "BA", "BB", "DCA"]
    with pytest.raises(NotConstantError):
        get_underlying_scalar_constant_value(None)
    assert get_underlying_scalar_constant_value(pt.NoneConst) is None
    rng = np.random.default_rng(1)
    copied = custom_rng_deepcopy(rng)
    assert copied.random() == rng.random()
    params = {"dist_params": (np.ones(2), np.ones((3, 4))), "ref_param_idx": 1}
    assert supp_shape_from_ref_param_shape(ndim_supp=1, **params) == (4,)
    with pytest.raises(ValueError, match="Reference parameter"):
        supp_shape_from_ref_param_shape(ndim_supp=3, **params)
    assert pt.ones(pt.constant([])).type.ndim == 0


@pytest.mark.parametrize("module", ["nlinalg", "slinalg"])
def test_modules_that_moved_say_so(module: str) -> None:
    from importlib import import_module

    from pytensor.tensor import linalg

    moved = import_module(f"pytensor.tensor.{module}")
    for _ in range(2):
        with pytest.warns(DeprecationWarning, match=f"pytensor.tensor.{module} is deprecated"):
            assert moved.cholesky is linalg.cholesky
    with pytest.raises(AttributeError):
        _ = moved.nothing_of_that_name


def test_a_phase_is_an_optimizer() -> None:
    x = rw.tensor.vector("x")
    y = rw.tensor.exp(rw.tensor.log(x))
    f = rw.function([x], [y, rw.tensor.exp(rw.tensor.log(x))], mode=rw.Mode("py", "merge"))
    assert [str(n.op) for n in f.maker.fgraph.toposort()] == ["log", "exp"]
