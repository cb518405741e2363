"""Loops whose steps draw, as PyTensor's clients take them apart and put them together."""

import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.loop_parts import ScanArgs, ScanInfo, mappings
from rewrite_engine.compat.loops import Begun, PeerScan, scan
from rewrite_engine.errors import InputCountError, OptionError
from rewrite_engine.loops import until

x, first, scale = pt.dvector("x"), pt.dscalar("first"), pt.dscalar("scale")


def walk(seed: int = 3, taps: Any = None, **how: Any) -> tuple[Any, Any, Any]:
    """A walk whose steps are drawn; with the state, and what becomes of it."""
    rng = rw.shared(np.random.default_rng(seed))

    def step(*given: Any) -> Any:
        *_, last, s = given
        after, drawn = rng_of[0].normal(last, s)
        return [drawn, 2 * drawn], {rng: after}

    rng_of = [rng]
    info = first if taps is None else {"initial": x, "taps": taps}
    found, updates = scan(step, None, [info, None], scale, n_steps=4, **how)
    return found, updates, rng


def drawn(start: float, scale: float, seed: int = 3) -> Any:
    """What such a walk is."""
    state, values = np.random.default_rng(seed), [start]
    for _ in range(4):
        values.append(state.normal(values[-1], scale))
    return np.array(values)


def node_of(v: Any) -> Any:
    """The loop's node, of an output that has initial values."""
    return v.owner.inputs[0].owner


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile", rw.Mode("py", optimizer=None)])
def test_what_is_drawn(mode: Any) -> None:
    (path, twice), updates, _ = walk()
    f = rw.function([first, scale], [path, twice], updates=updates, mode=mode)
    want = drawn(0.5, 2.0)[1:]
    for got, wanted in zip(f(0.5, 2.0), (want, 2 * want), strict=True):
        np.testing.assert_allclose(got, wanted)
    assert not np.allclose(f(0.5, 2.0)[0], want)
    assert isinstance(node_of(path).op, PeerScan)
    if mode == "fast_run":
        assert not any(type(n.op) in (PeerScan, Begun) for n in f.fgraph.toposort())


def test_parts_by_their_kinds() -> None:
    (path, twice), updates, rng = walk()
    node = node_of(path)
    assert node.op.info == ScanInfo(0, (), (), (), ((-1,),), 1, 1, 1, False)
    args = ScanArgs.from_node(node)
    assert args.outer_in_sit_sot == [node.inputs[1]]
    assert args.outer_in_shared == [rng]
    assert args.outer_in_non_seqs == [scale]
    assert args.outer_out_nit_sot == [twice]
    assert args.outer_out_shared == [*updates.values()]
    assert args.outer_inputs == list(node.inputs)
    assert args.inner_outputs == node.op.inner_outputs
    assert args.info == node.op.info
    (drawn_inside,) = args.inner_out_sit_sot
    assert args.get_alt_field(node.outputs[0], "inner_out") is drawn_inside
    assert args.find_among_fields(twice)[:2] == ("outer_out_nit_sot", 0)
    args.remove_from_fields(twice, rm_dependents=False)
    assert args.outer_out_nit_sot == []
    with pytest.raises(ValueError, match="is not a variable of this loop"):
        args.get_alt_field(twice, "inner_out")


def test_which_belong_together() -> None:
    info = ScanInfo(1, (), (), ((-3, -1),), ((-1,),), 1, 1, 2, False)
    found = mappings(info)
    assert found["outer_out_from_outer_inp"] == {1: -1, 2: 0, 3: 1, 4: 3, 5: 2, 6: -1, 7: -1}
    assert found["inner_inp_from_outer_inp"][2] == [1, 2]
    assert found["inner_out_from_outer_out"] == {0: [0], 1: [1], 2: [2], 3: [3]}
    assert found["outer_inp_from_inner_inp"] == {0: 1, 1: 2, 2: 2, 3: 3, 4: 4, 5: 6, 6: 7}
    assert (info.n_inner_inputs, info.n_outer_outputs, info.n_inner_outputs) == (7, 4, 4)


def test_a_density_of_what_a_loop_draws() -> None:
    """The output becomes a sequence; what the step gives is the density of each draw."""
    (path, _), _, _ = walk()
    args = ScanArgs.from_node(node_of(path), clone=True)
    (last,), (drawn_inside,) = args.inner_in_sit_sot, args.inner_out_sit_sot
    begun = args.outer_in_sit_sot[0].owner
    assert (begun.op.idx_list[0].start, str(begun.inputs[0].owner.op)) == (
        None,
        "AllocEmpty{dtype='float64'}",
    )
    values = pt.join(0, begun.inputs[1], x)
    now, (mean, sigma) = drawn_inside.type(), drawn_inside.owner.inputs[2:]
    logp = -0.5 * ((now - mean) / sigma) ** 2 - pt.log(sigma) - 0.5 * np.log(2 * np.pi)
    info = ScanInfo(2, (), (), (), (), 1, 0, 1, False)
    op = PeerScan([last, now, *args.inner_in_non_seqs], [logp], info)
    n = x.shape[0]
    (each,) = op.make_node(n, values[:-1], values[1:], n, scale).outputs
    f = rw.function([x, first, scale], [each.sum(), *rw.grad(each.sum(), [x, scale])])
    at, start, sd = np.array([0.3, 0.1, 0.7]), 0.2, 1.5
    steps = np.diff(at, prepend=start)
    want = (-0.5 * (steps / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)).sum()
    slopes = -steps / sd**2 + np.append(steps[1:], 0) / sd**2
    found = f(at, start, sd)
    np.testing.assert_allclose(found[0], want)
    np.testing.assert_allclose(found[1], slopes)
    np.testing.assert_allclose(found[2], (steps**2).sum() / sd**3 - 3 / sd)
    wide = pt.vectorize_graph(each, {scale: pt.constant([1.5, 3.0])}).eval({x: at, first: start})
    np.testing.assert_allclose(wide[0].sum(), want)


def test_several_earlier_values() -> None:
    (path, _), updates, _ = walk(taps=[-2, -1])
    node = node_of(path)
    assert node.op.info.mit_sot_in_slices == ((-2, -1),)
    whole = node.outputs[0]
    got, behind = rw.function([x, scale], [whole, path], updates=updates)([9.0, 0.5], 2.0)
    np.testing.assert_allclose(got, [9.0, *drawn(0.5, 2.0)])
    np.testing.assert_allclose(behind, got[2:])
    assert pt.Shape()(whole).eval({x: [9.0, 0.5], scale: 1.0}).tolist() == [6]


def test_a_state_that_no_step_changes() -> None:
    """It is the same in all steps, and found among those inputs."""
    rng = rw.shared(np.random.default_rng(3))
    again = scan(lambda _, state: state.normal()[1], x, None, rng, return_updates=False)
    args = ScanArgs.from_node(again.owner)
    assert (args.outer_in_shared, args.outer_in_non_seqs) == ([], [rng])
    (at,) = [place for place in again.owner.op.info.places() if place.kind == "non_seqs"]
    assert mappings(again.owner.op.info)["outer_out_from_outer_inp"][at.outside] == -1
    drawn_once = np.random.default_rng(3).normal()
    np.testing.assert_allclose(again.eval({x: [1.0, 2.0]}), [drawn_once, drawn_once])


def test_loops_here_tell_their_parts() -> None:
    total = pt.dscalar("total")
    sums = rw.scan(
        lambda v, t, s: (t + s * v, s * v), x, [total, None], scale, return_updates=False
    )
    node = sums[0].owner
    assert isinstance(node.op, PeerScan)
    assert not isinstance(pt.exp, PeerScan)
    info = ScanInfo(1, (), (), (), (), len(node.op.results), node.op.carried, 1, False)
    assert node.op.info == info
    args = ScanArgs.from_node(node)
    assert args.outer_in_seqs == [x]
    assert args.outer_in_shared == [total]
    assert args.outer_in_nit_sot == [node.inputs[0]] * 2
    assert args.outer_in_non_seqs == [scale]
    assert args.outer_out_nit_sot == sums
    assert args.inner_out_shared == node.op.inner_outputs[:1]
    assert args.outer_out_shared == list(node.outputs[:1])
    ended = rw.scan(lambda v: (v, until(v > scale)), x, return_updates=False).owner
    assert ended.op.info.as_while
    assert ScanArgs.from_node(ended).cond == [ended.op.inner_outputs[-1]]


def test_they_are_pickled() -> None:
    (path, _), _, _ = walk()
    op = node_of(path).op
    op._here
    assert pickle.loads(pickle.dumps(op)) is op
    f = pickle.loads(pickle.dumps(rw.function([first, scale], path)))
    np.testing.assert_allclose(f(0.5, 2.0), drawn(0.5, 2.0)[1:])


def test_what_does_not_fit() -> None:
    (path, _), _, _ = walk()
    op = node_of(path).op
    with pytest.raises(InputCountError, match="takes 5 inputs, not 1"):
        op.make_node(3)
    with pytest.raises(OptionError, match="gradients are separate loops"):
        PeerScan([first], [first], ScanInfo(0, ((0,),), ((1,),), (), (), 0, 0, 0, False))
