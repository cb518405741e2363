"""The pack `rules/sparse.py`: what is rewritten has the values of what was written; what facts say
of where a term may be other than 0. (`tests/rules/test_examples.py` runs the examples.)
"""

from __future__ import annotations

import subprocess
import sys
from math import inf
from typing import Any

import numpy as np
import pytest
from scipy import sparse as ss

import rewrite_engine as rw
import rewrite_engine.sparse as sparse
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.facts import band, one_for_each, same_pattern, stored_once
from rewrite_engine.facts.zeros import pattern
from rewrite_engine.language import rewritten
from rewrite_engine.pipeline import phases
from rewrite_engine.rewrite.trace import Trace
from tests.sparse.cases import STORED, as_dense, masked, stored

PACK = "rewrite_engine.rules.sparse"
RULES = list(phases.on_demand((PACK,)))
x, y, D, v = sparse.csr_matrix("x"), sparse.csr_matrix("y"), pt.matrix("D"), pt.vector("v")
A, B = masked((4, 4)), masked((4, 4), seed=3)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_rules_belong_to_phases_of_every_linker(rule: Any) -> None:
    assert rule.phase in ("canonicalize", "specialize")


def test_the_pack_is_known_once_the_package_is_loaded() -> None:
    assert phases.wanted_packs() == tuple(phases.ON_DEMAND)  # (`sparse` loads the other packages)
    program = "import rewrite_engine.tensor, rewrite_engine.pipeline.phases as phases\n"
    program += "print(phases.wanted_packs())\nimport rewrite_engine.sparse\n"
    program += f"print({PACK!r} in phases.wanted_packs())"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.split() == ["()", "True"], run.stderr
    assert "sparse/transpose_of_transpose" in phases.known_rules()
    assert "sparse/transpose_of_transpose" not in phases.all_rules()
    mode = rw.Mode("fast_run").excluding("sparse")
    assert len(rw.function([x], x.T.T, mode=mode).nodes) == 2
    assert rw.function([x], x.T.T).nodes == []


TERMS = {
    "there and back": sparse.dense_from_sparse(sparse.csc_from_dense(D)) + 1,
    "sums": x.toarray().sum() + x.toarray().sum(0)[1] + x.toarray().sum(axis=1).sum(),
    "parts": sparse.CSR(sparse.csm_data(x) * 2, *sparse.csm_properties(x)[1:]),
    "own data": sparse.with_data(x, sparse.csm_data(x)),
    "twice": sparse.structured_exp(sparse.sin(x) * 2),
    "of a pattern": x * 2 + sparse.sqr(x) * x,
    "elements of dense": x * y.toarray(),
    "elements of sparse": x * sparse.csr_from_dense(D).toarray(),
    "turned": (sparse.sin(x.T).T + x).T.T,
    "formats": (x.tocsc().tocsr() + x).tocsc().tocsc(),
    "diagonals": sparse.diag(sparse.square_diagonal(v)) + v,
    "rows": sparse.true_dot(sparse.square_diagonal(v), x),
    "columns": sparse.true_dot(x, sparse.square_diagonal(v, "csr")),
    "rows of dense": sparse.dot(sparse.square_diagonal(v), D) + 1,
    "elements of a vector": sparse.dot(sparse.square_diagonal(v), v) + 1,
    "columns of dense": sparse.dot(D, sparse.square_diagonal(v)) + 1,
    "identity": sparse.true_dot(sparse.eye(4), x),
    "gradient of a sum": rw.grad(sparse.sp_sum(sparse.sqr(x), sparse_grad=True), x),
    "gradient of all": rw.grad(x.toarray().sum(), x),
    "products": x @ v + sparse.dot(x, v) + sparse.structured_dot(x, v),
}


@pytest.mark.parametrize("how", STORED)
@pytest.mark.parametrize("name", TERMS)
def test_values(name: str, how: str) -> None:
    term = TERMS[name]
    given = [stored(A, "csr", how), stored(B, "csr", how), A + 1.0, np.arange(4.0)]
    found = []
    for mode in (None, rw.Mode("fast_run").excluding("sparse")):
        f = rw.function([x, y, D, v], term, mode=mode, on_unused_input="ignore")
        found.append(f(*given))
    np.testing.assert_allclose(*map(as_dense, found), rtol=1e-13, atol=1e-13)


def ops(term: Any) -> set[str]:
    f = rw.function([x, y, D, v], term, on_unused_input="ignore")
    return {str(node.op) for node in f.nodes}


def test_what_is_left() -> None:
    assert "dense_from_sparse" not in ops(TERMS["sums"]) | ops(TERMS["elements of dense"])
    assert not {"true_dot", "CSC", "CSR"} & ops(TERMS["rows"])
    square = sparse.csr_matrix(shape=(4, 4))
    f = rw.function([square], sparse.true_dot(sparse.eye(4), square))
    assert [str(node.op) for node in f.nodes] == ["canonical"]
    assert "sparse_add" not in ops(x * 2 + sparse.sin(x))
    assert len([n for n in rw.function([x, v], TERMS["products"]).nodes if "dot" in str(n.op)]) == 1


def test_where_rules_do_not_fire() -> None:
    assert "sparse_add" in ops(x + y)  # other patterns
    assert "sparse_add" in ops(x + x)  # places may be stored several times
    assert "to_csc" in ops(x.tocsc())
    wide, off = sparse.constant(ss.csr_array(np.eye(2, 3))), ss.csr_array(np.eye(3, k=1))
    for factor, other in ((wide, x), (sparse.constant(off), x), (x, x)):
        assert "true_dot" in ops(sparse.true_dot(factor, other))
    data = pt.vector("data")
    f = rw.function([x, data], sparse.csm_data(sparse.with_data(x, data)))
    with pytest.raises(rw.errors.ShapeError, match="2 elements where 3 are stored"):
        f(ss.csr_array(np.eye(3)), [1.0, 2.0])  # the error is not lost
    assert "dense_from_sparse" in ops(pt.dot(x.toarray(), D))  # 0 times infinity


def test_traces_tell_it() -> None:
    trace = Trace()
    rw.function([x], x.T.T + 0 * x, trace=trace)
    assert "sparse/transpose_of_transpose" in {r.rule_name for r in trace}


# --- facts --------------------------------------------------------------------------------------

UPPER = sparse.csr_from_dense(pt.triu(D, 1))
BANDS = {
    pt.eye(3): (0, 0),
    pt.eye(3, 4, 1): (1, 1),
    pt.tril(D): (-inf, 0),
    pt.triu(D, 1): (1, inf),
    pt.tril(D, -2).T: (2, inf),
    pt.diag(v): (0, 0),
    pt.diag(v, -1) + pt.diag(v, 1): (-1, 1),
    pt.tril(D) * pt.cast(pt.tri(3), "float64"): (-inf, 0),
    -pt.triu(D): (0, inf),
    pt.constant(np.diag([1.0, 2.0], 1)): (1, 1),
    pt.switch(pt.tri(3, dtype="bool"), pt.triu(D), 0.0): (0, 0),
    sparse.square_diagonal(v): (0, 0),
    sparse.square_diagonal(v) * 2 + sparse.square_diagonal(v): (0, 0),
    sparse.csr_from_dense(pt.tril(D)): (-inf, 0),
    sparse.csr_from_dense(pt.tril(D)).T.toarray(): (0, inf),
    sparse.true_dot(UPPER, UPPER): (2, inf),
    sparse.csr_from_dense(pt.tril(D)) * x: (-inf, 0),
    sparse.constant(ss.csr_array(np.diag([1.0, 2.0], -1))): (-1, -1),
}  # fmt: skip


@pytest.mark.parametrize("term", BANDS, ids=str)
def test_bands(term: Any) -> None:
    answer = band(term)
    assert answer, str(answer)
    assert answer.value == BANDS[term]
    f = rw.function([D, v, x], term, on_unused_input="ignore")
    value = as_dense(f(np.arange(1.0, 10).reshape(3, 3), np.ones(3), ss.csr_array(np.ones((3, 3)))))
    rows, columns = np.nonzero(value)
    off = columns - rows
    assert not len(off) or (answer.value[0] <= off.min() and off.max() <= answer.value[1])


def test_bands_that_are_not_known() -> None:
    k = pt.lscalar("k")
    for term in (D, D + pt.eye(3), pt.exp(pt.tril(D)), pt.tril(D) * pt.log(D), pt.tril(D, k), x,
                 pt.eye(3, k=k), v):  # fmt: skip
        answer = band(term)
        assert not answer or answer.value in ((-inf, 0), (-inf, inf))
    assert not band(pt.exp(pt.tril(D)))
    assert not band(pt.triu(D) * (1 / D)) or band(pt.triu(D) * (1 / D)).value[0] == -inf


def test_masks_are_dropped_where_nothing_is_behind_them() -> None:
    for term, inner in (
        (pt.tril(pt.tril(D, -1)), pt.tril(D, -1)),
        (pt.triu(pt.triu(D, 1)), pt.triu(D, 1)),
        (pt.triu(pt.diag(v)), pt.diag(v)),
    ):
        f, g = [rw.function([D, v], t, on_unused_input="ignore") for t in (term, inner)]
        given = np.arange(9.0).reshape(3, 3), np.ones(3)
        np.testing.assert_array_equal(f(*given), g(*given))
        assert len(f.nodes) == len(g.nodes)
    kept = rw.function([D], pt.tril(pt.tril(D), -1))
    assert np.array_equal(kept(np.ones((3, 3))), np.tril(np.ones((3, 3)), -1))


def test_patterns() -> None:
    z = sparse.canonical(x)
    assert same_pattern(z * 2, sparse.sin(z))
    assert not same_pattern(x, z)
    assert not same_pattern(x, y)
    assert not same_pattern(x, x.T)
    assert pattern(sparse.sin(z).T) == (z, True)
    assert one_for_each(sparse.csm_data(x) * 2 + sparse.entries_at(D, x), x)
    assert not one_for_each(v, x)
    assert stored_once(z * 2)
    assert not stored_once(x)
    assert rewritten(x.T.T).variable.name == "x"


@pytest.mark.parametrize(
    "make",
    [lambda one: sparse.dot(sparse.square_diagonal(v), one),
     lambda one: sparse.dot(one, sparse.square_diagonal(v)),
     lambda one: sparse.entries_at(sparse.csr_from_dense(one), x)],
    ids=["diagonal times", "times diagonal", "entries"],
)  # fmt: skip
def test_a_static_length_of_1_is_not_stretched(make: Any) -> None:
    """An error of lengths that do not fit is kept."""
    one = pt.matrix("one", shape=(1, 1))
    f = rw.function([one, v, x], make(one), on_unused_input="ignore")
    with pytest.raises((ShapeError, IndexError)):
        f(np.ones((1, 1)), np.ones(4), A)
