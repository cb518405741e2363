"""Random loops: steps that reduce, normalise, sort, index and multiply what they carry, with taps,
several states, conditions, loops inside and gradients; native code and the VM against the graph as
it was built.

    python -m fuzz loops --loops 1000
    python -m fuzz loops --replay loops:0:12

A loop is a text of Python, so that a finding is a program. Values may differ by what a change of
the inputs by `NUDGE` makes of the results as they are built.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from time import monotonic
from typing import Any

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from fuzz.deviation import Deviation
from fuzz.limit import TooLong, limit
from fuzz.processes import outcomes
from fuzz.report import Report
from rewrite_engine.compile.mode import Mode
from rewrite_engine.config import config
from rewrite_engine.loops import until

SECONDS = 60.0  # of the processor for one loop
NUDGE = 1e-12  # of inputs, relative
NUDGE_FACTOR = 1e4  # how many times the effect of the nudge is allowed
RTOL, ATOL = 1e-9, 1e-11  # the second one of the largest number
CHUNK = 50  # loops that a process does at a time
LENGTH = 3  # of vectors; matrices are square
AS_BUILT = Mode(linker="py", optimizer=None)
MODES = {"native": Mode(linker="native"), "vm": Mode(linker="vm")}

#: expressions by the rank of their value: of {s} numbers, {v} vectors, {m} matrices, {i} integers
EXPRESSIONS = {
    0: (
        "{v}.sum()", "{v}.mean()", "{v}.max()", "{v}.min()", "{v}.std()", "{v}.var()",
        "pt.prod({v} * 0.5 + 1)", "{m}.sum()", "{m}.mean()", "pt.max({m})", "{v}[{i}]", "{v}[0]",
        "{v}[-1]", "{m}[{i}, {i}]", "{m}[1, 2]", "pt.dot({v}, {v})", "pt.trace({m})",
        "pt.tanh({s})", "{s} * {s}", "{s} + {s}", "{s} / (1 + abs({s}))", "pt.logsumexp({v})",
        "pt.sqrt(({v} ** 2).sum() + 1)", "pt.switch({s} > {s}, {s}, {v}.sum())",
        "pt.exp(-{s} ** 2)", "pt.argmax({v}).astype({d})", "pt.any({v} > {s}).astype({d})",
        "({v} > 0).sum().astype({d})", "ifelse({s} > 0, {v}.max(), {s})",
    ),
    1: (
        "{v} + {v}", "{v} * {v}", "{v} - {s}", "{v} * {s}", "pt.tanh({v})", "pt.exp(-abs({v}))",
        "{v} / (abs({v}).sum() + 0.1)", "{v} - {v}.mean()",
        "({v} - {v}.mean()) / ({v}.std() + 0.1)", "pt.special.softmax({v})",
        "pt.special.log_softmax({v})", "pt.sort({v})", "{v}[pt.argsort({v})]", "{v}[::-1]",
        "pt.cumsum({v})", "pt.cumprod({v} * 0.5)", "{v}[[2, 0, 1]]", "{v}[[0, 0, 1]]",
        "pt.roll({v}, 1)", "pt.dot({m}, {v})", "pt.dot({v}, {m})", "{m}.sum(axis=0)",
        "{m}.max(axis=1)", "{m}.mean(axis=1)", "{m}.std(axis=0)", "{m}[{i}]", "{m}[:, {i}]",
        "{m}[1]", "pt.diag({m})", "pt.switch({v} > {v}, {v}, {v} * 0.5)",
        "pt.switch({v} > {s}, {s}, {v})", "pt.maximum({v}, {s})",
        "pt.concatenate([{v}[1:], {v}[:1]])", "pt.stack([{s}, {s}, {v}.sum()])",
        "pt.set_subtensor({v}[{i}], {s})", "pt.set_subtensor({v}[1:], {v}[:-1])",
        "pt.inc_subtensor({v}[:2], {s})", "pt.inc_subtensor({v}[[0, 0, 2]], {v})",
        "pt.set_subtensor({v}[{v} > 0], 0.5)", "pt.full(({n},), {s})", "pt.clip({v}, -1.0, {s})",
        "pt.linalg.solve({m} / (1 + abs({m}).max()) + 4 * pt.eye({n}, dtype={d}), {v})",
        ("pt.linalg.solve_triangular(pt.tril({m}) / (1 + abs({m}).max()) + 3 * "
        "pt.eye({n}, dtype={d}), {v}, lower=True)"),
        "rw.scan(lambda e, h: pt.tanh(h + e * {s}), sequences=[{v}], outputs_info=[{v}])[0][-1]",
        ("rw.scan(lambda h, w: h / (abs(h).sum() + 1) + w.max(), outputs_info=[{v}], "
        "non_sequences=[{v}], n_steps=2)[0][-1]"),
        ("rw.scan(lambda h: pt.sort(h)[::-1] * 0.5 + h.sum(), outputs_info=[{v}], "
        "n_steps=2)[0].mean(axis=0)"),
    ),
    2: (
        "pt.outer({v}, {v})", "pt.dot({m}, {m})", "{m}.T", "{m} * {v}", "{m} + {v}[:, None]",
        "{m} / (abs({m}).sum(axis=1, keepdims=True) + 0.1)", "{m} - {m}.mean(axis=0)",
        "{m} * {s}", "pt.special.softmax({m}, axis=1)", "{m}[::-1]", "{m}[[2, 0, 1]]",
        "pt.sort({m}, axis=0)", "pt.set_subtensor({m}[{i}], {v})",
        "pt.set_subtensor({m}[:, 0], {v})", "pt.tanh({m})", "pt.inc_subtensor({m}[1:, :2], {s})",
        "pt.set_subtensor({m}[{i}, {i}], {s})", "pt.stack([{v}, {v}, {v}])",
        "pt.cumsum({m}, axis=1)", "pt.tril({m})",
        "pt.linalg.cholesky(pt.dot({m}, {m}.T) * 0.1 + pt.eye({n}, dtype={d}))",
        "{m} / (pt.sqrt(({m} ** 2).sum()) + 0.1)",
    ),
}  # fmt: skip
#: what keeps a state from growing
TAMED = ("pt.tanh({0})", "{0} / (1 + abs({0}).max())", "{0} / (0.5 + abs({0}).sum())", "{0} * 0.5",
         "pt.sin({0})", "{0}")  # fmt: skip
NAMES = {0: "s", 1: "v", 2: "m"}
CONSTANTS = ("pt.constant(0.5)", f"pt.ones({LENGTH})", f"pt.eye({LENGTH})")

Names = dict[int, list[str]]  # rank → variables, the newest last


@dataclass(frozen=True)
class Loop:
    """A program with a loop.

    inputs: (name, constructor, value). lines: of the step: (name, rank, expression). head: the
    arguments of the step. left: the expressions that the step returns. options: of `scan`.
    outputs: expressions.
    """

    name: str
    inputs: tuple[tuple[str, str, Any], ...]
    head: str
    lines: tuple[tuple[str, int, str], ...]
    left: str
    options: str
    outputs: tuple[str, ...]

    @property
    def text(self) -> str:
        """The program; it sets `inputs` and `outputs`."""
        step = [f"    {name} = {value}" for name, _, value in self.lines]
        return "\n".join([
            *[f"{name} = {made}" for name, made, _ in self.inputs],
            f"def step({self.head}):", *step, f"    return {self.left}",
            f"found = rw.scan(step, {self.options}, return_list=True)[0]",
            f"inputs = [{', '.join([name for name, _, _ in self.inputs])}]",
            *[f"out{k} = {value}" for k, value in enumerate(self.outputs)],
            f"outputs = [{', '.join([f'out{k}' for k in range(len(self.outputs))])}]", "",
        ])  # fmt: skip

    @property
    def values(self) -> list[Any]:
        """Return the values of the inputs."""
        return [value for _, _, value in self.inputs]

    def graph(self) -> tuple[list[Any], list[Any]]:
        """The inputs and outputs."""
        known: dict[str, Any] = {"rw": rw, "pt": pt, "until": until, "ifelse": rw.ifelse}
        exec(compile(self.text, f"<{self.name}>", "exec"), known)
        return known["inputs"], known["outputs"]

    def program(self, head: str) -> str:
        """The program as a person runs it."""
        given = ", ".join([f"np.array({v.tolist()!r}, {v.dtype.name!r})" for v in self.values])
        comment = "\n".join([f"# {line}" for line in head.splitlines()])
        return (
            f"{comment}\nimport numpy as np\nimport rewrite_engine as rw\n"
            "import rewrite_engine.tensor as pt\nfrom rewrite_engine import ifelse\n"
            f"from rewrite_engine.loops import until\n\n{self.text}"
            "for mode in ('native', 'vm', rw.Mode(linker='py', optimizer=None)):\n"
            f"    print(rw.function(inputs, outputs, mode=mode)({given}))\n"
        )


# --- growing ----------------------------------------------------------------------------------


class Writer:
    """Writes one loop."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.dtype = rng.choices(("float64", "float32"), (0.9, 0.1))[0]
        self.static = rng.random() < 0.5
        self.numbers = np.random.default_rng(rng.getrandbits(32))
        self.inputs: list[tuple[str, str, Any]] = []
        self.names: Names = {0: [], 1: [], 2: []}
        self.integers: list[str] = []
        self.lines: list[tuple[str, int, str]] = []

    def input(self, name: str, shape: tuple[int, ...]) -> str:
        """A new input of floats."""
        length = shape if self.static else (None,) * len(shape)
        made = f"pt.tensor({name!r}, dtype={self.dtype!r}, shape={length})"
        self.inputs.append((name, made, self.numbers.normal(size=shape).astype(self.dtype)))
        return name

    def filled(self, form: str) -> str:
        """An expression with variables in its places; constants where there are none."""
        found = form.replace("{n}", str(LENGTH)).replace("{d}", repr(self.dtype))
        for rank, mark in enumerate(("{s}", "{v}", "{m}")):
            while mark in found:
                found = found.replace(mark, self.some(rank), 1)
        while "{i}" in found:
            found = found.replace("{i}", self.index(), 1)
        return found

    def some(self, rank: int) -> str:
        """A variable of a rank, or a constant where there is none."""
        if self.names[rank]:
            return self.rng.choice(self.names[rank])
        return f"{CONSTANTS[rank]}.astype({self.dtype!r})"

    def index(self) -> str:
        """An index, or one that a step computes."""
        choices = ["j", "(j + 1) % 3", "0", "-1", "2", *self.integers]
        choices += [f"pt.argmax({v})" for v in self.names[1][-1:]]
        return self.rng.choice(choices)

    def line(self, rank: int, value: str) -> str:
        """A new line of the step."""
        name = f"{NAMES[rank]}{len(self.lines)}"
        self.lines.append((name, rank, value))
        self.names[rank].append(name)
        return name

    def expression(self, rank: int) -> str:
        """An expression of variables that there are."""
        return self.filled(self.rng.choice(EXPRESSIONS[rank]))


def random_loop(seed: int, number: int) -> Loop:
    """A loop by its number."""
    rng = Random(f"loops:{seed}:{number}")
    w = Writer(rng)
    steps = rng.randint(1, 4)
    sequences, head = ["j_"], ["j"]
    w.inputs.append(("j_", "pt.lvector('j_')", w.numbers.integers(0, LENGTH, size=5)))
    for k in range(rng.randint(0, 2)):
        rank = rng.randint(0, 2)
        sequences.append(w.input(f"q{k}", (5, *(LENGTH,) * rank)))
        head.append(f"e{k}")
        w.names[rank].append(f"e{k}")
    infos, ranks = [], [rng.choices((0, 1, 2), (2, 5, 3))[0] for _ in range(rng.randint(1, 3))]
    for k, rank in enumerate(ranks):
        taps = rng.choices(([-1], [-2, -1], [-2], [-3, -1]), (7, 2, 1, 1))[0]
        lead = () if taps == [-1] else (-min(taps),)
        name = w.input(f"a{k}", (*lead, *(LENGTH,) * rank))
        infos.append(name if taps == [-1] else f"dict(initial={name}, taps={taps})")
        own = [f"a{k}_{-tap}" for tap in taps]
        head += own
        w.names[rank] += own
    if rng.random() < 0.3:  # an index that is carried on
        w.inputs.append(("k_", "pt.lscalar('k_')", np.array(1)))
        w.integers.append("k")
    if rng.random() < 0.5:
        rank = rng.randint(0, 2)
        w.names[rank].append(w.input("c", (LENGTH,) * rank))
    for _ in range(rng.randint(1, 6)):
        rank = rng.choice((0, 0, 1, 1, 1, 2, 2))
        w.line(rank, w.expression(rank))
    return _ended(rng, w, ranks, infos, sequences, head, steps, f"loops:{seed}:{number}")


def _ended(
    rng: Random, w: Writer, ranks: list[int], infos: list[str], sequences: list[str],
    head: list[str], steps: int, name: str,
) -> Loop:  # fmt: skip
    """Write the results of a step, and the outputs of the loop."""
    left = []
    for rank in ranks:
        tamed = rng.choice(TAMED).replace("{0}", w.line(rank, w.expression(rank)))
        left.append(f"pt.cast({tamed}, {w.dtype!r})")
    if w.integers:
        infos.append("k_")
        head.append("k")
        forms = ("(k + j + 1) % 3", "pt.argmax({v})", "(2 * k + 1) % 3", "({v} > {s}).sum() % 3")
        left.append(w.filled(rng.choice(forms)))
    for _ in range(rng.choice((0, 0, 1, 2))):
        left.append(w.some(rng.randint(0, 2)))
        infos.append("None")
    text = f"[{', '.join(left)}]"
    if rng.random() < 0.2:
        text += f", until({w.filled('{s} > {s} + 0.5')})"
    outputs = []
    for k in range(len(left)):
        out = f"found[{k}]"
        outputs.append(rng.choice((out, f"{out}[-1]", f"{out}.sum(axis=0)", f"{out}[::-1] * 2")))
    if rng.random() < 0.5:
        cost = " + ".join([f"(found[{k}][-1] ** 2).sum()" for k in range(len(ranks))])
        wrt = rng.choice([n for n, _, value in w.inputs if value.dtype.kind == "f"])
        outputs.append(f"rw.grad({cost}, {wrt}, disconnected_inputs='ignore')")
    options = f"sequences=[{', '.join(sequences)}], outputs_info=[{', '.join(infos)}], "
    if rng.random() < 0.3:
        w.inputs.append(("n", "pt.lscalar('n')", np.array(steps)))
        options += "n_steps=n"
    else:
        options += f"n_steps={steps}"
    if rng.random() < 0.15:
        options += ", go_backwards=True"
    return Loop(name, tuple(w.inputs), ", ".join(head), tuple(w.lines), text, options,
                tuple(outputs))  # fmt: skip


# --- judging ----------------------------------------------------------------------------------


class NotOrdinary(Exception):
    """The results are no numbers that can be compared."""


def _results(loop: Loop, mode: Any, values: Sequence[Any]) -> list[Any]:
    f = rw.function(*loop.graph(), mode=mode, on_unused_input="ignore")
    return [np.asarray(v) for v in f(*values)]


def wanted_of(loop: Loop) -> tuple[list[Any], list[Any]] | Exception:
    """The results of the graph as it was built, and those allowed beside them; or its error.
    Raises `NotOrdinary`.
    """
    single = any([v.dtype == np.float32 for v in loop.values])
    nudge = 1e-7 if single else NUDGE
    noise = np.random.default_rng(1)
    near = [v * (1 + nudge * noise.uniform(-1, 1, v.shape)).astype(v.dtype)
            if v.dtype.kind == "f" else v for v in loop.values]  # fmt: skip
    f = rw.function(*loop.graph(), mode=AS_BUILT, on_unused_input="ignore")
    try:
        wanted = [np.asarray(v) for v in f(*loop.values)]
        nudged = [np.asarray(v) for v in f(*near)]
    except rw.errors.RewriteEngineError as error:
        return error
    if not all([np.isfinite(v).all() for v in (*wanted, *nudged)]):
        raise NotOrdinary
    if [v.shape for v in wanted] != [v.shape for v in nudged]:
        raise NotOrdinary
    rtol, atol = (2e-4, 2e-5) if single else (RTOL, ATOL)
    size = max([float(np.abs(v).max(initial=0)) for v in wanted])
    return wanted, [rtol * np.abs(w) + NUDGE_FACTOR * np.abs(n - w) + atol * size
                    for w, n in zip(wanted, nudged, strict=True)]  # fmt: skip


def check(loop: Loop) -> Deviation | None:
    """Find what is wrong with a loop in any mode. Raises `NotOrdinary`."""
    wanted = wanted_of(loop)
    for name, mode in MODES.items():
        try:
            found = _results(loop, mode, loop.values)
        except Exception as error:
            if not isinstance(wanted, Exception) or not isinstance(error, type(wanted)):
                text = f"{error}, as it was built {wanted}"
                return Deviation(f"{name} raises {type(error).__name__}", text)
            continue
        if isinstance(wanted, Exception):
            return Deviation(f"{name} loses {type(wanted).__name__}", str(wanted))
        for k, (f, w, off) in enumerate(zip(found, *wanted, strict=True)):
            if f.shape != w.shape or f.dtype != w.dtype:
                return Deviation(
                    f"{name}: another type", f"{k}: {f.dtype}{f.shape} for {w.dtype}{w.shape}"
                )
            if not (np.abs(f - w) <= off).all():
                return Deviation(
                    f"{name}: another value", f"{k}: {f.tolist()}, as it was built {w.tolist()}"
                )
    return None


def shrunk(loop: Loop, finding: Deviation) -> Loop:
    """A smaller loop with a finding of this kind."""

    def like(other: Loop) -> bool:
        try:
            found = check(other)
        except Exception:
            return False
        return found is not None and found.kind == finding.kind

    for out in loop.outputs:
        if len(loop.outputs) > 1 and like(one := replace(loop, outputs=(out,))):
            loop = one
            break
    for k in range(len(loop.lines) - 1, -1, -1):
        if k < len(loop.lines) and like(
            one := replace(loop, lines=loop.lines[:k] + loop.lines[k + 1 :])
        ):
            loop = one
    for k, (name, rank, _) in enumerate(loop.lines):
        for other in (*[n for n, r, _ in loop.lines[:k] if r == rank], CONSTANTS[rank]):
            line = (name, rank, other)
            if like(one := replace(loop, lines=(*loop.lines[:k], line, *loop.lines[k + 1 :]))):
                loop = one
                break
    return loop


# --- many of them -----------------------------------------------------------------------------


@dataclass
class Outcome:
    """Outcome of trying loops: how many, how many were not compared, findings."""

    count: int
    skipped: int
    reports: list[Report]


def try_one(loop: Loop) -> Report | None:
    """Try one loop; return a finding, if any. Raises `NotOrdinary`."""
    try:
        loop.graph()
        with limit(SECONDS), np.errstate(all="ignore"):
            finding = check(loop)
    except TooLong:
        return Report(loop.name, ("too long",), loop.program(f"too long ({loop.name})"))
    except rw.errors.RewriteEngineError as error:
        head = f"cannot be built ({loop.name})\n{error}"
        return Report(loop.name, ("cannot be built", type(error).__name__), loop.program(head))
    if finding is None:
        return None
    small = loop
    with limit(4 * SECONDS), np.errstate(all="ignore"):
        small = shrunk(loop, finding)
        found = check(small) or finding
    key = (found.kind, found.text.splitlines()[0][:60] if "raises" in found.kind else "")
    return Report(loop.name, key, small.program(f"{found.kind} ({loop.name})\n{found.text}"))


def chunk(seed: int, start: int, count: int) -> Outcome:
    """Try some loops, one after the other."""
    warnings.simplefilter("ignore")
    config.check_phases = config.check_regions = True
    outcome = Outcome(count, 0, [])
    for number in range(start, start + count):
        loop = random_loop(seed, number)
        try:
            found = try_one(loop)
        except NotOrdinary:
            outcome.skipped += 1
            continue
        if found is not None:
            outcome.reports.append(found)
    return outcome


def arguments(given: list[str] | None) -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(prog="fuzz loops", description=__doc__)
    parser.add_argument("--loops", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replay", metavar="loops:SEED:NUMBER", help="one loop again")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = arguments(given)
    if options.replay:
        _, seed, number = options.replay.split(":")
        print(random_loop(int(seed), int(number)).program(options.replay))
        found = chunk(int(seed), int(number), 1).reports
        print(*[one.text for one in found] or ["no finding"], sep="\n")
        return 1 if found else 0
    started, seen, skipped = monotonic(), Counter[Any](), 0
    end = options.start + options.loops
    wanted = [(options.seed, k, min(CHUNK, end - k)) for k in range(options.start, end, CHUNK)]
    for outcome in outcomes(chunk, wanted, options.processes):
        skipped += outcome.skipped
        for one in outcome.reports:
            if not seen[one.key]:
                print("=" * 100, one.text, sep="\n", flush=True)
            seen[one.key] += 1
    for key, n in seen.most_common():
        print(f"{n} times: {' · '.join(key)}")
    many = f"{seen.total()} findings" if seen else "no finding"
    print(f"{options.loops:,} loops ({skipped:,} without finite results) in "
          f"{monotonic() - started:.0f} s: {many}")  # fmt: skip
    return 1 if seen else 0
