"""States of random number generators as values of variables."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import random as r
from rewrite_engine.errors import DTypeError
from rewrite_engine.graph.type import NoneConst
from rewrite_engine.random import RandomGeneratorType, random_generator_type
from rewrite_engine.random.type import copied


def test_one_type_for_all_generators() -> None:
    assert RandomGeneratorType() is random_generator_type
    assert pickle.loads(pickle.dumps(random_generator_type)) is random_generator_type
    assert str(random_generator_type("rng")) == "rng"


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_values(kind: type) -> None:
    rng, same = np.random.Generator(kind(3)), np.random.Generator(kind(3))
    assert random_generator_type.filter(rng, strict=True) is rng
    assert random_generator_type.values_eq(rng, same)
    assert not random_generator_type.may_share_memory(rng, same)
    assert random_generator_type.may_share_memory(rng, rng)
    assert not random_generator_type.may_share_memory(rng, None)
    rng.random()
    assert not random_generator_type.values_eq(rng, same)
    assert not random_generator_type.values_eq(same, np.random.default_rng(np.random.SFC64(3)))


@pytest.mark.parametrize("value", [1, None, np.random.RandomState(1), np.ones(2)])
def test_what_is_none(value: object) -> None:
    with pytest.raises(DTypeError, match="expected a numpy.random.Generator"):
        random_generator_type.filter(value)
    assert not random_generator_type.is_valid_value(value)


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_copies(kind: str) -> None:
    rng = np.random.Generator(getattr(np.random, kind)(3))
    rng.integers(5, dtype="int32")  # (half of a word is kept)
    copy = copied(rng)
    assert random_generator_type.values_eq(rng, copy)
    want = deepcopy(rng).normal(size=700)
    for one in (copy, rng):
        np.testing.assert_array_equal(one.normal(size=700), want)
    assert copy.spawn(1)[0].normal() == np.random.Generator(type(rng.bit_generator)(
        np.random.SeedSequence(3).spawn(1)[0])).normal()  # fmt: skip


def test_copies_of_others() -> None:
    class Other:
        bit_generator = [1]

    assert copied(Other()).bit_generator == [1]


def test_shared() -> None:
    given = np.random.default_rng(1)
    state = rw.shared(given, "state")
    assert state.type is random_generator_type
    assert state.get_value(borrow=True) is not given
    assert state.get_value().random() == np.random.default_rng(1).random()
    assert rw.shared(given, borrow=True).get_value(borrow=True) is given
    assert rw.shared({"a": 1}).type is not random_generator_type


def test_lengths_as_others_ask_for_them() -> None:
    p, n = pt.dvector("p"), pt.lscalar("n")
    op = r.multinomial
    (rows, kinds) = op._infer_shape(pt.stack([n]), [pt.lscalar(), p])
    assert [int(rows.eval({n: 4})), int(kinds.eval({p: [0.5] * 3}))] == [4, 3]
    assert len(r.normal._infer_shape(NoneConst, [p, 1.0])) == 1
