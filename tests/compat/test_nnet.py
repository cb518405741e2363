"""`theano.tensor.nnet.conv2d` against loops, and its gradient."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.nnet import conv2d
from rewrite_engine.errors import NDimError, OptionError, ShapeError
from rewrite_engine.gradient import verify_grad

RNG = np.random.default_rng(1)
X, W = RNG.normal(size=(2, 3, 6, 5)), RNG.normal(size=(4, 3, 3, 2))
BORDERS = {"valid": [(0, 0), (0, 0)], "full": [(2, 2), (1, 1)], "half": [(1, 1), (1, 1)],
           1: [(1, 1), (1, 1)], (2, 0): [(2, 2), (0, 0)]}  # fmt: skip


def reference(x: Any, w: Any, border: Any, step: Any, flip: bool, far: Any) -> Any:
    """Sums, element by element."""
    rows, columns = [far[i] * (w.shape[2 + i] - 1) + 1 for i in range(2)]
    wide = np.zeros((*w.shape[:2], rows, columns))
    wide[:, :, :: far[0], :: far[1]] = w
    w = wide[:, :, ::-1, ::-1] if flip else wide
    x = np.pad(x, [(0, 0), (0, 0), *border])
    high, broad = x.shape[2] - rows + 1, x.shape[3] - columns + 1
    found = np.zeros((len(x), len(w), high, broad))
    for i in range(high):
        for j in range(broad):
            found[:, :, i, j] = np.einsum(
                "bcij,ocij->bo", x[:, :, i : i + rows, j : j + columns], w
            )
    return found[:, :, :: step[0], :: step[1]]


@pytest.mark.parametrize("mode", list(BORDERS))
@pytest.mark.parametrize(
    ("step", "flip", "far"),
    [((1, 1), True, (1, 1)), ((2, 3), True, (1, 1)), ((1, 1), False, (1, 1))],
)
def test_values(mode: Any, step: Any, flip: bool, far: Any) -> None:
    x, w = pt.dtensor4("x"), pt.dtensor4("w")
    y = conv2d(x, w, border_mode=mode, subsample=step, filter_flip=flip, filter_dilation=far)
    wanted = reference(X, W, BORDERS[mode], step, flip, far)
    np.testing.assert_allclose(rw.function([x, w], y)(X, W), wanted)


def test_filters_with_gaps() -> None:
    x, w = pt.dtensor4("x"), pt.dtensor4("w")
    y = conv2d(x, w, filter_dilation=(2, 3))
    wanted = reference(X, W, BORDERS["valid"], (1, 1), True, (2, 3))
    np.testing.assert_allclose(rw.function([x, w], y)(X, W), wanted)


def test_shapes_and_gradient() -> None:
    y = conv2d(pt.dtensor4(), pt.dtensor4(), input_shape=(2, 3, 6, 5), filter_shape=(4, 3, 3, 2))
    assert y.type.shape == (2, 4, 4, 4)
    small = [X[:1, :2, :4, :4], W[:2, :2]]
    verify_grad(lambda x, w: conv2d(x, w, border_mode="half", subsample=(2, 1)), small)


def test_errors() -> None:
    x, w = pt.dtensor4("x"), pt.dtensor4("w")
    with pytest.raises(NDimError, match="4 dimensions"):
        conv2d(pt.matrix(), w)
    with pytest.raises(ValueError, match="border_mode"):
        conv2d(x, w, border_mode="most")
    with pytest.raises(OptionError, match="each group"):
        conv2d(x, w, num_groups=2)
    with pytest.raises(ShapeError):
        rw.function([x, w], conv2d(x, w))(X, W[:, :2])
