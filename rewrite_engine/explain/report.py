"""`Report`: all that is known of some compiled functions (each in `model.py`), and its answers to
questions; `explain` makes a report on a graph.

>>> import rewrite_engine.tensor as pt
>>> x = pt.vector("x")
>>> report = explain(pt.log(1 + pt.exp(x)), name="f")
>>> [step.rule_name for step in report.functions[0].steps]
['exp_log/log_of_one_plus', 'exp_log/log1p_of_exp']
>>> report.ok
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewrite_engine.compile import Function, function
from rewrite_engine.compile.mode import get_mode
from rewrite_engine.errors import InputError, UnknownNameError, refuse_unknown
from rewrite_engine.explain.became import Fate, Fates
from rewrite_engine.explain.capture import copied
from rewrite_engine.explain.diagnosis import find_rule
from rewrite_engine.explain.lines import json_lines, report_line
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.record import FunctionRecord, record_of, recording
from rewrite_engine.explain.suggest import SECONDS, suggestions_for
from rewrite_engine.explain.suspect import Suspect, suspect
from rewrite_engine.explain.why import Derivation, NotFired, derivation, find_nodes, not_fired
from rewrite_engine.graph.origin import origin_line
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.match.equation import Equation
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import all_rules, known_rules
from rewrite_engine.rewrite.trace.attempts import Attempt
from rewrite_engine.rewrite.trace.records import FailedFunction, Line, from_json

WIDTH = 100  # columns of a report as text
MAX_NAMED_FUNCTIONS = 8  # in an error
AS_IT_IS = "as it is"  # title of a report that was not read from a file

if TYPE_CHECKING:
    from rewrite_engine.discover.suggestion import Suggestions
    from rewrite_engine.link.native.listing import KernelListing


class Report:
    """Report on some functions. `str` gives the text at 100 columns; `text` takes options.

    functions: one `FunctionReport` each, in the order in which they were compiled. failed: those
    that were not compiled, since there was an error. title: its name in a comparison.
    """

    def __init__(
        self,
        records: Sequence[FunctionRecord],
        failed: Sequence[FailedFunction] = (),
        title: str = AS_IT_IS,
    ) -> None:
        self.functions = [FunctionReport(record) for record in records]
        self.failed = list(failed)
        self.title = title
        self.about = report_line(self.failed)

    @classmethod
    def of(cls, functions: Sequence[FunctionReport]) -> Report:
        """Make a report on some functions of another report, with all that it has computed."""
        report = cls([])
        report.functions = list(functions)
        return report

    @classmethod
    def read(cls, path: str) -> Report:
        """Read the report that `--json` wrote to a file. Raises `InputError` and `OSError`."""
        text = Path(path).read_text(encoding="utf-8")
        return cls.of_lines(text.splitlines(), Path(path).name)

    @classmethod
    def of_lines(cls, lines: Iterable[str], title: str) -> Report:
        """Make a report from its JSON lines. It has no recorded compilations, and can be printed
        and compared, but not asked. Raises `InputError` for other text.
        """
        found: dict[tuple[Any, Any], list[Any]] = {}
        for line in _records(lines, title):
            found.setdefault((line.kind, line.function_index), []).append(line)
        numbers = [number for kind, number in found if kind == "function"]
        graphs = [number for kind, number in found if kind == "graph"]
        if ("report", None) not in found or numbers != graphs:
            raise InputError(f"{title} is no complete report: write it with --json, without --rule")
        report = cls([], title=title)
        report.about = found["report", None][0]
        report.failed = report.about.failed
        for n in numbers:
            kinds = [found.get((kind, n), []) for kind in ("firing", "phase", "graph")]
            report.functions.append(FunctionReport.of_lines(found["function", n][0], *kinds))
        return report

    @property
    def ok(self) -> bool:
        """Whether no values disagree, and all claims and declarations are true."""
        return all(f.is_right for f in self.functions)

    def select(self, name: str | None) -> Report:
        """Return a report on the functions of a name, or the one with a number. Raises
        `UnknownNameError`.
        """
        if name is None:
            return self
        chosen = [f for f in self.functions if name in (f.own_name, str(f.index))]
        if not chosen:
            names = ", ".join(f"{f.index} {f.name}" for f in self.functions) or "none"
            raise UnknownNameError(f"no function {name!r} was compiled; there are: {names}")
        return Report.of(chosen)

    def text(self, width: int = WIDTH, **options: Any) -> str:
        """Return the report as plain text. options: the fields of `show.ReportOptions`."""
        from rewrite_engine.explain.layout import TextLayout
        from rewrite_engine.explain.show import ReportOptions, report_blocks

        shown = ReportOptions(**options)
        layout = TextLayout.plain(width, shown.full)
        return layout.text(report_blocks(self, shown, layout))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Report on {', '.join(f.name for f in self.functions) or 'no functions'}>"

    def html(self, file: Any = None) -> str:
        """Return the page that replays firings, as `--html` does. file: a path to write it to."""
        from rewrite_engine.explain.page import page

        text = page(json_lines(self, tries=lambda attempt: False))
        if file is not None:
            Path(file).write_text(text, encoding="utf-8")
        return text

    def _repr_html_(self) -> str:
        from rewrite_engine.explain.notebook import report_as_html

        return report_as_html(self)

    # --- questions -------------------------------------------------------------------------------

    def why(self, what: str) -> list[tuple[FunctionReport, Derivation]]:
        """Return how nodes of the rewritten graphs came about. what: see `why.find_nodes`. Raises
        `UnknownNameError` if no function has such a node.
        """
        return self._asked(what, False, lambda record: partial(derivation, record))

    def became(self, what: str) -> list[tuple[FunctionReport, Fate]]:
        """Return what became of nodes of the graphs as built. Raises `UnknownNameError`."""
        return self._asked(what, True, lambda record: Fates(record).of)

    def _asked(self, what: str, before: bool, answerer: Callable[..., Any]) -> list[Any]:
        """Ask all nodes of a name, in the graphs as built or as rewritten."""
        found, errors = [], []
        for f in self.functions:
            try:
                nodes = find_nodes(f.record, what, before)
            except UnknownNameError as unknown:
                errors.append(unknown)
                continue
            answer = answerer(f.record)
            found += [(f, answer(node)) for node in nodes]
        if errors and not found:
            names = list(dict.fromkeys(f.name for f in self.functions))
            others = (
                f" (nor in {', '.join(names[1:MAX_NAMED_FUNCTIONS])})" if len(names) > 1 else ""
            )
            raise UnknownNameError(f"{errors[0]}{others}")
        return found

    def suspects(self) -> list[tuple[FunctionReport, Suspect]]:
        """Find the firing that made values disagree, for each function whose values do (or all)."""
        wrong = [f for f in self.functions if f.about.verdict == "disagree"]
        return [(f, suspect(f)) for f in wrong or self.functions]

    def why_not(self, rule: Rule | str) -> list[tuple[FunctionReport, NotFired]]:
        """Return why a rule did not fire, for each function. Raises `UnknownNameError`."""
        rule = find_rule(rule, self.rules)
        return [(f, not_fired(f.record, rule)) for f in self.functions]

    def attempts(self, what: str) -> list[tuple[FunctionReport, list[Attempt]]]:
        """Return every try of a rule at an op, for each function, if tries were recorded. what: an
        op such as log, or a rule, pack or tag. Raises `UnknownNameError` if no try has that name.
        """
        found = [
            (f, [a for a in f.record.trace.tries if is_about(a, what)]) for f in self.functions
        ]
        if not any(tries for _, tries in found):
            raise UnknownNameError(self._untried(what))
        return found

    def suggestions(self, seconds: float = SECONDS) -> list[tuple[FunctionReport, Suggestions]]:
        """Return cheaper or safer terms for small subterms, for each function. Nothing is applied.
        seconds: time limit, of all functions. Raises `InputError`; `MissingPackageError` if mpmath
        is not installed.
        """
        return suggestions_for(self.functions, seconds)

    def kernels(self, which: str) -> list[tuple[FunctionReport, list[KernelListing]]]:
        """Return the kernels of machine code, for each function. which: a number, or "all". Raises
        `UnknownNameError` if no function has such a kernel.
        """
        from rewrite_engine.link.native.listing import kernels_of  # few reports show kernels

        live = [f for f in self.functions if not f.is_saved and f.record.regions]
        every = [(f, kernels_of(f.record.regions)) for f in live]
        found = [(f, [k for k in own if which in ("all", str(k.number))]) for f, own in every]
        found = [(f, own) for f, own in found if own]
        if not found:
            most = max([len(own) for _, own in every], default=0)
            have = f"the last has the number {most}" if most else "no function is machine code"
            raise UnknownNameError(f"no kernel {which!r}: {have}")
        return found

    def _untried(self, what: str) -> str:
        """Return the error for a name that no attempt has."""
        equations = [r for r in self.rules if isinstance(r, Equation) and what in r.names]
        if not equations:
            return f"no rule was tried that is called {what!r}, or at such an op"
        return (
            f"nothing was done with {what!r}: saturation matches equations at all places at once, "
            "and records only what it used (--rule shows that; --why-not asks node by node)"
        )

    @property
    def rules(self) -> RuleSet:
        """All known rules: those that fired, those of the functions' modes, the shipped ones."""
        live = [f for f in self.functions if not f.is_saved]
        fired = [s.rule for f in live for s in f.steps if isinstance(s.rule, Rule)]
        modes = dict.fromkeys(f.record.mode for f in live)
        found: dict[str, Rule] = {}
        equations = known_rules(Query().including("saturate"))
        for rules in (fired, *(mode.rules for mode in modes), all_rules(), equations):
            for rule in rules:
                found.setdefault(rule.name, rule)
        return RuleSet(found.values())

    def rule_names(self) -> frozenset[str]:
        """Return all names that firings can be selected by."""
        live = [f for f in self.functions if not f.is_saved]
        fired = {step.rule_name for f in live for step in f.steps}
        saved = [firing for f in self.functions if f.is_saved for firing in f.firings]
        fired |= {name for firing in saved for name in (firing.rule, *firing.tags)}
        return self.rules.names | fired | {name.rpartition("/")[2] for name in fired}


def is_saved(name: str) -> bool:
    """Return whether a name is that of a saved report."""
    return name.endswith((".json", ".jsonl"))


def _records(lines: Iterable[str], title: str) -> Iterator[Line]:
    """Read the lines of a report. Raises `InputError` for a line that is none."""
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            yield from_json(text)
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"{title}, line {number} is no line of a report: {error!r}") from None


def is_about(attempt: Attempt, what: str) -> bool:
    """Return whether a try was of a rule of that name, pack or tag, or at that op."""
    op = str(attempt.node.op)
    names = getattr(attempt.rule, "names", frozenset([attempt.rule_name]))
    return what in names or what in (op, op.partition("{")[0])


def explain(
    target: Any,
    inputs: Sequence[Any] | None = None,
    values: Sequence[Any] | None = None,
    attempts: bool = False,
    **options: Any,
) -> Report:
    """Compile a graph under observation and report on it.

    target: a variable, a list or dict of variables, or a compiled function, which is compiled again
    from the graph as written unless it was recorded. inputs: of the function (default: all roots
    of the graph except constants and shared variables). values: arguments to call it with
    (shared variables keep their values); without them values are compared on random inputs.
    attempts: record every try of a rule as well (slow; see `Report.attempts`). options: those of
    `function` (`mode`, `updates`, …); of a compiled function only `mode`. Raises `InputError` for a
    function that was unpickled, which does not know its graph as written, `OptionError`.
    """
    if isinstance(target, Function):
        if inputs is not None:
            options["inputs"] = inputs
        refuse_unknown("explain of a function", options.keys() - {"mode"}, ("mode", "values"))
        record = record_of(target)
        if record is not None and not options and values is None and not attempts:
            return Report([record])
        return _explain_function(target, values, attempts, **options)
    with recording(attempts) as recorder:
        compiled = function(
            _inputs(target, options) if inputs is None else inputs, target, **options
        )
    _call(compiled, values)
    return Report(recorder.records[-1:])


def _explain_function(f: Function, values: Any, attempts: bool, mode: Any = None) -> Report:
    """Compile a function again under observation, and report on it."""
    written = f.written
    if written is None:
        raise InputError(
            f"{f!r} was unpickled, and pickles hold the rewritten graph alone: explain it where it "
            "was compiled, or explain its variables"
        )
    with recording(attempts) as recorder:
        compiled = written.compile(f.mode if mode is None else get_mode(mode))
    record = recorder.records[-1]
    record.called.problem = "its calls were not recorded; explain(f, values=…) compares on yours"
    _call(compiled, values)
    return Report([replace(record, place=origin_line(written.origin))])


def _call(f: Function, values: Sequence[Any] | None) -> None:
    """Call a function, and put the states back as they were."""
    if values is None:
        return
    before = [(cell, copied(cell.value)) for _, cell in f.program.updates]
    try:
        f(*values)
    finally:
        for cell, value in before:
            cell.value = value


def _inputs(target: Any, options: dict[str, Any]) -> list[Any]:
    """Return the roots that have no value of their own."""
    outputs = list(target.values()) if isinstance(target, dict) else target
    outputs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    updates = options.get("updates") or {}
    pairs = updates.items() if hasattr(updates, "items") else updates
    outputs = [getattr(v, "variable", v) for v in outputs if v is not None] + [
        new for _, new in pairs
    ]
    given = options.get("givens") or {}
    roots = explicit_graph_inputs([v for v in outputs if hasattr(v, "owner")])
    return [v for v in roots if not hasattr(v, "container") and v not in dict(given)]
