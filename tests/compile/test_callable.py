"""`Function`: what it tells, copying, pickling, and what happens to states when a call fails."""

from __future__ import annotations

import copy
import pickle
import signal
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.compile import Function, In, Mode, function, shared
from rewrite_engine.errors import BroadcastError, InputError, UpdateTypeError

pytestmark = pytest.mark.usefixtures("linker")

PLAIN = Mode(optimizer=None)
PLAIN_VM = Mode("vm", optimizer=None)
x, y = pt.vector("x"), pt.vector("y")


def counter(mode: Mode = PLAIN) -> tuple[Any, Any]:
    w = shared(np.zeros(2), "w")
    return function([x], w * 2, updates={w: w + x}, mode=mode, name="count"), w


def test_what_it_tells() -> None:
    f, w = counter(PLAIN_VM)
    assert type(f) is Function
    assert callable(f)
    assert (f.name, repr(f)) == ("count", "<Function count(x), 2 nodes: w * 2.0, w + x>")
    assert f.source.startswith("def count(x=MISSING):")
    assert [a.name for a in f.inputs] == ["x"]
    assert [str(v.owner.op) for v in f.outputs] == ["mul"]
    assert [str(n.op) for n in f.nodes] == ["mul", "add"]
    assert f.maker.fgraph is f.fgraph
    assert f.get_shared() == [w]
    assert f.fgraph.updates == {1: 1}


def test_copies_share_states() -> None:
    f, w = counter()
    for g in (f.copy(), copy.copy(f)):
        before = w.get_value()
        g([1.0, 1.0])
        assert w.get_value().tolist() == (before + 1).tolist()
    assert f.copy(name="other").name == "other"


def test_swap_and_delete_updates() -> None:
    f, w = counter()
    other = shared(np.full(2, 10.0), "other")
    g = f.copy(swap={w: other})
    assert g([1.0, 1.0]).tolist() == [20, 20]
    assert other.get_value().tolist() == [11, 11]
    assert w.get_value().tolist() == [0, 0]
    h = f.copy(delete_updates=True)
    h(np.ones(2)) if h.inputs else h()
    assert w.get_value().tolist() == [0, 0]
    assert not h.program.updates
    with pytest.raises(UpdateTypeError):
        f.copy(swap={w: shared(np.zeros((2, 2)))})
    with pytest.raises(InputError, match="not a shared variable"):
        f.copy(swap={other: w})
    for swap in {pt.dvector("v"): other}, {w: pt.dvector("v")}:
        with pytest.raises(InputError, match="v is not a shared variable"):
            f.copy(swap=swap)


def test_pickling() -> None:
    f, w = counter()
    f([1.0, 2.0])
    g, v = pickle.loads(pickle.dumps((f, w)))
    assert g([1.0, 1.0]).tolist() == [2, 4]
    assert v.get_value().tolist() == [2, 3]
    assert w.get_value().tolist() == [1, 2]
    assert g.source == f.source
    d = copy.deepcopy(f)
    d([1.0, 1.0])
    assert w.get_value().tolist() == [1, 2]


def test_functions_pickled_together_keep_sharing() -> None:
    w = shared(np.zeros(1), "w")
    step = function([], [], updates={w: w + 1}, mode=PLAIN)
    look = function([], w, mode=PLAIN)
    step2, look2 = pickle.loads(pickle.dumps([step, look]))
    step2()
    assert look2() == 1
    assert look() == 0


def test_pickling_after_rewriting_and_of_deep_graphs() -> None:
    out = x
    for i in range(20_000):
        out = pt.sin(out) if i % 2 else out + 1.5
    f = function([x], [out, pt.log(pt.exp(x))], mode=PLAIN)
    g = pickle.loads(pickle.dumps(f))
    for a, b in zip(f([0.5]), g([0.5]), strict=True):
        np.testing.assert_array_equal(a, b)
    h = function([x], pt.exp(x * 2) + 1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(h))([1.0]), h([1.0]))


def test_trust_input() -> None:
    f, _ = counter()
    assert not f.trust_input
    f.trust_input = True
    assert f.trust_input
    assert "ndim" not in f.source
    assert f(np.ones(2)).tolist() == [0, 0]
    assert f.name == "count"
    f.trust_input = False
    assert "ndim" in f.source
    assert f([1.0, 1.0]).tolist() == [2, 2]


def test_trust_input_from_the_start() -> None:
    f = function([x], x * 2, trust_input=True, mode=PLAIN)
    assert f.trust_input
    assert "ndim" not in f.source
    assert f(np.ones(2)).tolist() == [2, 2]


def test_what_libraries_look_at(capsys: pytest.CaptureFixture[str]) -> None:
    w = shared(np.zeros(2), "w")
    f = function([x, In(y, value=[1.0])], x * w + y, mode=PLAIN)
    assert f.profile is None
    assert [c.name for c in f.input_storage] == ["x", "y", "w"]
    assert f.input_storage[1].value.tolist() == [1]
    assert f.input_storage[2] is w.container
    assert [c.value for c in f.output_storage] == [None]
    assert (f.unpack_single, f.return_none) == (True, False)
    assert [node.op for node in f.vm.nodes] == [node.op for node in f.nodes]
    kept = {v.name: values for v, values in f.storage_map.items()}
    assert [kept.keys(), kept["y"][0].tolist()] == [{"y", "w"}, [1]]
    assert "w [id D] [array([0., 0.])]" in f.dprint(print_storage=True, file="str")
    f.dprint()
    printed = capsys.readouterr().out
    assert printed.startswith("add [id A]")
    assert f.dprint(file="str") == printed.rstrip("\n") or f.dprint(file="str") == printed


def test_what_libraries_look_at_of_updates() -> None:
    w = shared(np.zeros(2), "w")
    f = function([x], [], updates={w: w + x}, mode=PLAIN_VM)
    g = function([x], None, updates={w: w + x}, mode=PLAIN_VM)
    h = function([x], {"a": x + 1}, mode=PLAIN_VM)
    assert [(k.unpack_single, k.return_none) for k in (f, g, h)] == [
        (False, False), (False, True), (False, False),
    ]  # fmt: skip
    (cell,) = g.output_storage
    g([1.0, 2.0])
    assert cell.data.tolist() == [1, 2]
    assert g.maker.fgraph is g.fgraph
    assert [i.name for i in g.maker.inputs] == ["x", "w"]
    assert g.maker.inputs[1].variable is w
    assert g.maker.mode == PLAIN_VM
    assert g.maker.linker.name == "vm"


def test_get_shared_returns_the_users_variables() -> None:
    w, other = shared(np.zeros(2), "w"), shared(np.ones(2), "other")
    f = function([x], x * w, mode=PLAIN)
    assert f.get_shared() == [w]
    assert f.copy(swap={w: other}).get_shared() == [other]
    assert f.copy(share_memory=True).get_shared() == [w]
    assert pickle.loads(pickle.dumps(f)).get_shared()[0].name == "w"
    assert function([], [], updates={w: w + 1}, mode=PLAIN).get_shared() == [w]


def test_errors_of_calls_are_type_errors() -> None:
    f = function([pt.tensor("m", shape=(2,))], [], mode=PLAIN, on_unused_input="ignore")
    for call in (
        f,
        lambda: f([1.0, 2.0, 3.0]),
        lambda: f([[1.0]]),
        lambda: f([1j, 1]),
        lambda: f(n=1),
    ):
        with pytest.raises(TypeError):
            call()


def test_free() -> None:
    f = function([x], (pt.exp(x) * 2).sum(), mode=PLAIN)
    f(np.zeros(100_000))
    f.free()
    assert f(np.zeros(100_000)) == 200_000


# --- states ---------------------------------------------------------------------------------------


def test_a_failed_call_changes_no_state() -> None:
    a, b = shared(np.zeros(2), "a"), shared(np.zeros(2), "b")
    f = function([x, y], x + y, updates={a: a + 1, b: b + x}, mode=PLAIN)
    before = a.get_value(borrow=True), b.get_value(borrow=True)
    with pytest.raises(BroadcastError):
        f([1.0, 2.0], [1.0])
    assert (a.get_value(borrow=True), b.get_value(borrow=True)) == before or (
        a.get_value(borrow=True) is before[0] and b.get_value(borrow=True) is before[1]
    )
    f([1.0, 2.0], [1.0, 1.0])
    assert a.get_value().tolist() == [1, 1]


def test_rewritten_updates_do_not_overwrite_states_in_place() -> None:
    w = shared(np.zeros(2), "w")
    f = function([x], [], updates={w: pt.exp(w) + x})
    old = w.get_value(borrow=True)
    f([1.0, 1.0])
    assert old.tolist() == [0, 0]
    assert w.get_value().tolist() == [2, 2]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_an_interrupt_leaves_all_states_or_none() -> None:
    count = 8
    states = [shared(np.zeros(50), f"s{i}") for i in range(count)]
    f = function([], [s.sum() for s in states], updates={s: s + 1 for s in states}, mode=PLAIN)
    interrupts, armed = 0, [False]

    def interrupt(signum: int, frame: Any) -> None:
        if armed[0]:
            armed[0] = False
            raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    quiet = np.geterr()  # an interrupt between two instructions may leave NumPy's warnings off
    try:
        for k in range(400):
            try:
                armed[0] = True
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (20 + 7 * k % 100))
                for _ in range(50):
                    f()
                armed[0] = False
            except KeyboardInterrupt:
                interrupts += 1
            values = {s.get_value(borrow=True)[0] for s in states}
            assert len(values) == 1, values
    finally:
        armed[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        np.seterr(**quiet)
    assert interrupts > 50


def test_threads_see_states_of_one_moment() -> None:
    a, b = shared(np.zeros(20), "a"), shared(np.zeros(20), "b")
    step = function([], [], updates={a: a + 1, b: b + 1}, mode=PLAIN)
    difference = function([], pt.abs(a - b).sum(), mode=PLAIN)
    stop = threading.Event()
    wrong = []

    def look() -> None:
        while not stop.is_set():
            if difference() != 0:
                wrong.append(1)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=look) for _ in range(2)]
    for t in threads:
        t.start()
    for _ in range(3000):
        step()
    stop.set()
    for t in threads:
        t.join()
    sys.setswitchinterval(interval)
    assert not wrong
    assert a.get_value()[0] == 3000


def test_a_new_process_can_unpickle() -> None:
    f = function([x], pt.exp(x) + 1)
    code = "import pickle, sys; f = pickle.load(sys.stdin.buffer); print(f([0.0]).tolist())"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(f), capture_output=True)
    assert done.stdout.decode().strip() == "[2.0]", done.stderr.decode()


def test_values_that_inputs_keep_between_calls() -> None:
    """Read and set by variable or name: defaults, states and shared variables."""
    x, y, z = pt.dvectors("xyz")
    s = shared(np.array([10.0]), "s")
    f = function([In(x, value=[1.0]), y, In(z, value=[0.0], update=z + 1)], x + y + z + s)
    for g in (f, f.copy()):
        assert [g[v].tolist() for v in (x, "x", z, s, "s")] == [[1], [1], [0], [10], [10]]
    f["x"] = [2]
    f[s] = np.array([20.0])
    assert f(y=[0.0]).tolist() == [22]
    assert f[z].tolist() == f["z"].tolist() == [1]
    assert s.get_value().tolist() == [20]
    given = np.array([5.0])
    f[x] = given
    given[0] = 7
    assert f[x].tolist() == [5]
    with pytest.raises(TypeError):
        f[x] = "a"
    for item, text in ((y, "keeps? no value|no value between"), ("w", "there is no input 'w'")):
        with pytest.raises(KeyError, match=text):
            f[item]
    with pytest.raises(KeyError, match="no value between calls"):
        f["y"] = [1.0]
    again = pickle.loads(pickle.dumps(f))
    assert again["x"].tolist() == [5]
    with pytest.raises(KeyError, match="no input"):
        again[pt.dvector()]


def test_values_of_inputs_that_are_swapped_or_called_alike() -> None:
    s, t = shared(np.array([1.0]), "s"), shared(np.array([2.0]), "t")
    f = function([], s * 2)
    g = f.copy(swap={s: t})
    assert [f[s].tolist(), g[t].tolist()] == [[1], [2]]
    with pytest.raises(KeyError, match="no input s"):
        g[s]
    a, b = pt.dscalar("a"), pt.dscalar("a")
    h = function([In(a, value=1.0), In(b, value=2.0)], a + b)
    assert [float(h[a]), float(h[b])] == [1, 2]
    with pytest.raises(KeyError, match="several inputs are called 'a'"):
        h["a"]
