"""Stable forms of terms, from which gradients are computed."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.gradient.stable as stable_module
import rewrite_engine.tensor as pt


def test_many_gradients_of_one_term_share_its_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made once."""
    made: list[Any] = []
    build = stable_module.made_stable

    def counted(given: Any, *more: Any) -> Any:
        made.append(given)
        return build(given, *more)

    monkeypatch.setattr(stable_module, "made_stable", counted)
    xs = [pt.dscalar(f"x{k}") for k in range(5)]
    cost = sum((pt.log(pt.sigmoid(x * 3)) for x in xs), xs[0])
    each = [rw.grad(cost, x) for x in xs]
    assert len(made) == 1
    together = rw.grad(cost, xs)
    assert len(made) == 1
    at = [-900.0, -1.0, 0.0, 2.0, 900.0]
    found = [float(v) for v in rw.function(xs, [*each, *together])(*at)]
    assert found[:5] == found[5:]
    np.testing.assert_allclose(found[:3], [4.0, 3 / (1 + np.exp(-3.0)), 1.5])
    rw.grad(cost, [xs[0], cost.owner.inputs[-1]])  # a computed variable is held
    assert len(made) == 2


def test_forms_go_with_their_terms() -> None:
    gc.collect()
    before = len(stable_module._known_forms)
    for k in range(30):
        x = pt.dscalar("x")
        rw.grad(pt.log(pt.sigmoid(x * (k + 2.0))) + x, x)
    gc.collect()
    assert len(stable_module._known_forms) < before + 10  # (the last ones may be in use elsewhere)
