"""What rules promise about values: each shipped rule alone, on terms that it fires on.

The terms of rules that are data are built from their left sides (`instances.py`), those of
functions stand in a table, or are random nests (`claims/terms.py`). Operands have all dtypes,
alone and mixed; values and memory layouts are those of `claims/values.py`; the verdicts those of
`rewrite_engine/judge/verdict.py`.

The wrong values listed in issue 9 are found by
1, 2: `test_operands_of_three_dtypes_are_converted_first`
3: `as_computed`, which looks at the inputs afterwards
4: `sum_of_sum` (large numbers)
5: `exponentials_are_scaled` and its relatives (large and small numbers in one row)
6: `like_terms`, `mul_by_what_divides` (NaN, infinities), `log_of_reciprocal` (-0.0)
7: `join_rounded_constants` (constants of each dtype)
8: `switch_*`, `reshape_of_reshape`, `second_of_same_shape`, `*_by_inference` (lengths)
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.check.claim import is_ordinary, sides, taken
from rewrite_engine.check.draw import draws, pool
from rewrite_engine.check.lengths import small_lengths
from rewrite_engine.check.sample import has_constants
from rewrite_engine.compile.function import function
from rewrite_engine.compile.mode import Mode
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.traverse import ancestors, explicit_graph_inputs
from rewrite_engine.judge.difference import BothSides, both_sides, same_bits
from rewrite_engine.judge.values import compute_all
from rewrite_engine.judge.verdict import KEPT, case_text, judge_terms
from rewrite_engine.match.rule import DataRule
from rewrite_engine.pipeline.phases import all_rules
from tests.rules.claims.terms import TABLE, terms
from tests.rules.instances import DATA, DTYPES, GIVEN, MIXTURES, SHAPES, TRUSTING, built

#: rules about several nodes, which `test_softmax.py` and `linalg/test_solves.py` check
OF_SEVERAL_NODES = {"exponentials_once", "transposes_of_declared", "vector_times_declared"}
#: (those for loops are held against theirs by `tests/loops/test_rules.py`)
FUNCTIONS = [
    r
    for r in all_rules()
    if not isinstance(r, DataRule) and r.phase != "loops" and r.short_name not in OF_SEVERAL_NODES
]
CAREFUL = [*DATA, *TRUSTING, *FUNCTIONS]
#: the same as they are where the user grants that shapes fit, so that they apply to more terms
CARELESS = [r.unchecked for r in CAREFUL if r.keeps and r.needs_grant != "fastmath"]
FEW = [SHAPES[i] for i in (1, 2, 7)]
MOST = 250  # computations for one rule
RUN = 60  # one among so many is run by the machine, too

by_rule = pytest.mark.parametrize("rule", [*CAREFUL, *CARELESS], ids=lambda r: r.name)


def tried(rule: Any) -> Iterator[tuple[Any, list[Any], list[Any]]]:
    """Terms for a rule, their inputs, and what stands for operands of which a guard asks."""
    if not isinstance(rule, DataRule) or rule.short_name in TABLE:
        yield from [(term, inputs, []) for term, inputs in terms(rule)]
    if not isinstance(rule, DataRule):
        return
    each = [[dtype] for dtype in DTYPES]
    ways = range(max([2, *map(len, GIVEN.get(rule.short_name, {}).values())]))
    plans: list[Any] = [(each, FEW, ways), ([["float64"], ["float32"]], SHAPES, range(2))]
    plans.append((MIXTURES, FEW[:2], range(2, 8)))
    if has_constants(rule):
        plans.append(([*each[:3], *MIXTURES], [SHAPES[1]], range(8, 40)))
    for plan in plans:
        for builder, term in built(rule, *plan):
            yield term, list(dict.fromkeys(explicit_graph_inputs([term]))), builder.stand_ins


def promised(rule: Any, term: Any) -> BothSides | None:
    """Both sides, and what is promised of them."""
    if rule.needs_grant == "fastmath" and not all(map(is_ordinary, ancestors([term]))):
        return None
    graph = None if isinstance(rule, DataRule) else FunctionGraph(None, [term], clone=False)
    new = sides(rule, term, graph)
    if new is None:
        return None
    granted = "shape_unsafe" if rule in CARELESS else rule.needs_grant
    return both_sides(rule, term, new, granted)


def cases(rule: Any) -> Iterator[tuple[BothSides, dict[Any, Any]]]:
    """Both sides of a rule on terms, and values for the inputs."""
    for seed, (term, inputs, stand_ins) in enumerate(tried(rule)):
        two = promised(rule, term)
        if two is None:
            continue
        tame = two.granted == "fastmath"
        for given in draws(inputs, seed, tame):
            given = small_lengths(given, [two.term, two.new])
            yield two, given | taken(stand_ins, given)


@pytest.mark.on_vm
@by_rule
def test_the_claim(rule: Any) -> None:
    with np.errstate(all="ignore"):
        for n, (two, given) in enumerate(some(rule)):
            verdict = judge_terms(two, given)
            assert not verdict.broken, f"{two.name}: {verdict.why}\n{case_text(two, verdict)}"
            if n % RUN == 0:
                for term in (two.term, two.new):
                    as_computed(term, {v: a for v, a in given.items() if v.owner is None})


def some(rule: Any) -> Iterator[tuple[BothSides, dict[Any, Any]]]:
    """Cases of all kinds, but not all cases."""
    found = sorted(cases(rule), key=lambda case: crc32(case_text(case[0], KEPT).encode()))
    assert len(found) > 2 or (rule in CAREFUL and rule.keeps)
    yield from found[:: max(1, len(found) // MOST)]


# --- the machine ---------------------------------------------------------------------------------


def as_computed(term: Any, given: dict[Any, Any]) -> None:
    """Compare with generated code for the term as it is: numbers without dimensions are NumPy
    scalars there. Nothing may write to what the caller owns.
    """
    expected = compute_all(term, given)
    copies = [np.array(a) for a in given.values()]
    machine = function(list(given), term, mode=Mode(optimizer=None), on_unused_input="ignore")
    if isinstance(expected, Exception):
        with pytest.raises(type(expected)):
            machine(*given.values())
        return
    found = np.asarray(machine(*given.values()))
    told = f"{term}\n{given}\n{expected[term]}\n{found}"
    assert found.dtype == expected[term].dtype, told
    assert found.shape == expected[term].shape, told
    same = same_bits(found, expected[term])
    if found.dtype.kind in "fc":  # NumPy's powers depend on how arrays lie
        same |= np.isclose(found, expected[term], rtol=4 * np.finfo(found.dtype).eps, atol=0)
    assert same.all(), told
    for before, after in zip(copies, given.values(), strict=True):
        assert same_bits(before, np.asarray(after)).all(), told


THREE = [pt.add, pt.mul, pt.maximum, pt.minimum, pt.clip, pt.switch, lambda a, b, c: a + b + c]
THREE += [pt.logaddexp, lambda a, b, c: a * b - c, lambda a, b, c: (a + c) + b]


@pytest.mark.parametrize("shape", [(), (3,)], ids=["numbers", "vectors"])
@pytest.mark.parametrize("op", THREE)
def test_operands_of_three_dtypes_are_converted_first(op: Any, shape: Any) -> None:
    """The dtype is the one that the type says, and no step is computed in a narrower one."""
    choose, rng = random.Random(1), np.random.default_rng(1)
    dtypes = [d for d in DTYPES if d[0] != "c"]
    for _ in range(25):
        vs = [pt.tensor(n, dtype=choose.choice(dtypes), shape=(None,) * len(shape)) for n in "abc"]
        try:
            term = op(*vs)
        except (RewriteEngineError, TypeError):
            continue  # such operands have no common dtype
        given = {v: rng.choice(pool(v.type.dtype), shape) for v in vs}
        with np.errstate(all="ignore"):
            assert isinstance(compute_all(term, given), dict), compute_all(term, given)
            as_computed(term, given)
