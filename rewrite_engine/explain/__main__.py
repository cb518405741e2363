"""The command `python -m rewrite_engine.explain [options] SCRIPT [arguments of the script]`.

It runs a script (or a module, lines of code, a term: `source.py`), then reports what the rules did
to every function that the script compiled.

Exit status: 0; 1 with --strict if values disagree or were not compared, a claim or declaration is
untrue, or a function failed; 2 for a wrong argument; 3 if the script fails.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, redirect_stdout
from functools import partial
from io import StringIO
from itertools import chain
from os.path import abspath
from pathlib import Path
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.errors import (
    InputError,
    PackError,
    RewriteEngineError,
    RuleError,
    UnknownNameError,
)
from rewrite_engine.explain.accuracy.command import print_digits
from rewrite_engine.explain.answer import Answers
from rewrite_engine.explain.blocks import Block, Heading, Paragraph
from rewrite_engine.explain.diagnosis import find_rule
from rewrite_engine.explain.difference import compared, differences
from rewrite_engine.explain.layout import TextLayout, console_for
from rewrite_engine.explain.lines import json_lines
from rewrite_engine.explain.record import Recorder, recording
from rewrite_engine.explain.report import Report, is_about, is_saved
from rewrite_engine.explain.show import ReportOptions, check_names, report_blocks
from rewrite_engine.explain.source import Runnable, number, source_of
from rewrite_engine.explain.states import graph_after, graph_until
from rewrite_engine.explain.suggest import SECONDS, print_suggestions
from rewrite_engine.match.ruleset import RuleSet, parts_of
from rewrite_engine.rewrite.trace.attempts import Attempt

JSON = "firings, phases, graphs, functions (schema: rewrite/trace/records.py); - is the output"
STRICT = "if values disagree or were not compared, a claim is untrue, or a function failed"
WHY = "only print which firings led to a node of a rewritten graph, and to its operands"
ATTEMPTS = "only list every try of a rule and why it failed; WHAT: a rule or pack, or an op"
STEP = "only print firings from N on, each with what the graph computes after it"
DIFF = (
    "only print the differences without these rules or phases, in another mode, or from a report "
    "that --json wrote before (SCRIPT may be such a report, too)"
)
DIGITS = (
    "only print how many digits of the results are right, and which steps lose the others "
    "(--json and --html write this)"
)
SUGGEST = (
    "only print cheaper or safer terms for small subterms of the functions; nothing is applied "
    "(--json and --html write this)"
)
KERNEL = (
    "only print kernels of machine code: their loops and ops, the rules that lowered these, "
    "operations and bytes; N: a number, or all"
)
QUESTIONS = {
    "why": ("NODE", WHY),
    "became": ("NODE", "only print what became of a node of a graph as built"),
    "why-not": ("RULE", "only print why a rule did not fire, node by node"),
    "attempts": ("WHAT", ATTEMPTS),
    "graph-after": ("PHASE", "only print the graphs after a phase"),
    "until": ("N", "only print the graphs after firing N (0: as built)"),
    "step": ("N", STEP),
    "diff": ("NAMES", DIFF),
    "bisect": (None, "only print which firing made values disagree"),
    "digits": (None, DIGITS),
    "suggest": (None, SUGGEST),
    "kernel": ("N", KERNEL),
}
DISAGREE, WRONG_ARGUMENT, SCRIPT_FAILED = 1, 2, 3


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    p = argparse.ArgumentParser(
        prog="python -m rewrite_engine.explain",
        description="Run a script; then report what the rules did to every function that it "
        "compiled, and whether the values are still right.",
        epilog="Put options before SCRIPT; everything after it is passed to the script. "
        "How to read the report: docs/reading_a_trace.md.",
        allow_abbrev=False,
    )
    p.add_argument(
        "script",
        metavar="SCRIPT",
        nargs="?",
        help="a Python file; runs as __main__; or a report that --json wrote (FILE.json)",
    )
    p.add_argument("args", nargs=argparse.REMAINDER, metavar="…", help="its arguments")
    _add_sources(p)
    _add_rule_options(p)
    _add_shown(p)
    _add_questions(p)
    result = p.add_argument_group("for programs")
    result.add_argument("--json", metavar="FILE", help="write JSON lines: " + JSON)
    result.add_argument("-o", "--output", metavar="FILE", help="write the report to a file")
    result.add_argument("--html", metavar="FILE", help="write a page for the browser")
    result.add_argument("--dot", metavar="FILE", help="write the rewritten graphs for Graphviz")
    result.add_argument("--mermaid", metavar="FILE", help="write the rewritten graphs for Mermaid")
    result.add_argument("--svg", metavar="FILE", help="write pictures of the rewritten graphs")
    result.add_argument("--strict", action="store_true", help="exit with 1 " + STRICT)
    return p


def _add_sources(p: argparse.ArgumentParser) -> None:
    source = p.add_argument_group("what to run instead of a script")
    source.add_argument("-m", dest="module", metavar="MODULE", help="a module, as python -m would")
    source.add_argument("-c", dest="code", metavar="CODE", help="lines of Python")
    source.add_argument("--expr", metavar="TERM", help="one term, such as 'log(1 + exp(x))'")
    source.add_argument(
        "--var", metavar="NAME: TYPE", action="append", default=[],
        help="a variable of the term: 'x: float64[3, ?]'; float64 vectors need no declaration",
    )  # fmt: skip
    source.add_argument(
        "--compat", action="store_true", help="run programs written for PyTensor, Aesara or PyMC"
    )


def _add_shown(p: argparse.ArgumentParser) -> None:
    shown = p.add_argument_group("what to show")
    shown.add_argument("--function", metavar="NAME", help="only this function (its name or number)")
    shown.add_argument("--phase", metavar="NAME", help="only the firings of this phase")
    shown.add_argument("--rule", metavar="NAME", help="only the firings of this rule, pack or tag")
    shown.add_argument("--no-graphs", action="store_true", help="do not print the graphs")
    shown.add_argument("--tree", action="store_true", help="print graphs as trees, not as formulas")
    shown.add_argument("--firings", action="store_true", help="list all firings one by one")
    shown.add_argument("--asm", action="store_true", help="with --kernel: also the machine code")
    shown.add_argument("--full", action="store_true", help="shorten nothing")


def _add_questions(p: argparse.ArgumentParser) -> None:
    asked = p.add_argument_group("questions")
    for option, (metavar, what) in QUESTIONS.items():
        if metavar is None:
            asked.add_argument(f"--{option}", action="store_const", const=True, help=what)
        else:
            asked.add_argument(f"--{option}", metavar=metavar, help=what)
    asked.add_argument(
        "--seconds", metavar="N", type=float, default=SECONDS,
        help=f"with --suggest: time limit of the search, {SECONDS:g} if not given",
    )  # fmt: skip


def _add_rule_options(p: argparse.ArgumentParser) -> None:
    rules = p.add_argument_group(
        "rules", "for functions that the script compiles in the default mode"
    )
    rules.add_argument(
        "--rules", metavar="FILE", action="append", default=[],
        help="add the rules in a Python file (repeat for several files)",
    )  # fmt: skip
    rules.add_argument(
        "--exclude", metavar="NAMES", default="",
        help="leave out rules, packs, phases, tags or claims (separated by commas)",
    )  # fmt: skip
    rules.add_argument(
        "--include", metavar="NAMES", default="", help="grant assumptions, such as fastmath"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    options = parser().parse_args(argv)
    try:
        if is_saved(options.script or "") and not _has_source(options):
            return _tell_saved(options)
        run = source_of(options)
        _warn_of_late_options(options.args)
        _set_mode(options)
        recorder, failure = _run(run, options.attempts is not None, _output_of(options))
        report = Report(recorder.records, recorder.failed)
        report = report.select(options.function if recorder.records else None)
        _tell(report, options, run.title)
    except BrokenPipeError:
        raise
    except (UnknownNameError, RuleError, PackError, InputError, OSError) as error:
        return _complain(str(error))
    if failure:
        return SCRIPT_FAILED
    return DISAGREE if options.strict and not is_strictly_right(report) else 0


def _has_source(options: argparse.Namespace) -> bool:
    return any(one is not None for one in (options.module, options.code, options.expr))


def _tell_saved(options: argparse.Namespace) -> int:
    """Report on a saved report, or on how it differs from another saved one."""
    report = Report.read(options.script).select(options.function)
    if options.diff is None:
        _tell(report, options, options.script)
        return DISAGREE if options.strict and not is_strictly_right(report) else 0
    found = compared(Report.read(options.diff), report)
    layout = _layout_of(options)
    answer = Answers(options.full, layout.width).differences(found)
    _print([Heading(f"{options.diff} → {options.script}"), *answer], options, layout)
    return 0


def _layout_of(options: argparse.Namespace) -> TextLayout:
    out = None if options.output is None else StringIO()
    return TextLayout(console_for(out), options.full)


def _print(blocks: Iterable[Block], options: argparse.Namespace, layout: TextLayout) -> None:
    """Print blocks, or write them to the output file."""
    layout.print(blocks)
    if options.output is not None:
        Path(options.output).write_text(layout.text([]), encoding="utf-8")


def is_strictly_right(report: Report) -> bool:
    """Return whether everything was compiled, compared, and agrees."""
    verdicts = {f.about.verdict for f in report.functions}
    return report.ok and "unknown" not in verdicts and not report.failed


def _complain(text: str) -> int:
    print(f"explain: {text}", file=sys.stderr)
    return WRONG_ARGUMENT


def _warn_of_late_options(args: Sequence[str]) -> None:
    """Warn of options after the script: they go to the script, but may have been meant for us."""
    ours = {option for action in parser()._actions for option in action.option_strings}
    late = [a for a in args if a.partition("=")[0] in ours]
    if late:
        print(
            f"explain: {', '.join(late)} comes after the script, so it is passed to it",
            file=sys.stderr,
        )


def _set_mode(options: argparse.Namespace) -> None:
    """Change the default mode; load the rule files. Raises `UnknownNameError` before the script
    runs.
    """
    exclude, include = _names(options.exclude), _names(options.include)
    if not (exclude or include or options.rules):
        return
    from rewrite_engine.compile import get_mode
    from rewrite_engine.pipeline.packs import load_rules

    options.rules = RuleSet().adding(*map(load_rules, options.rules))
    mode = get_mode(config.mode).excluding(*exclude).including(*include)
    if options.rules:
        mode = mode.adding(options.rules)
    assert mode.optimizer is not None  # looks the names up
    config.mode = mode  # type: ignore[assignment]


def _output_of(options: argparse.Namespace) -> Any:
    """Redirect what the script prints if the output is for JSON lines."""
    return redirect_stdout(sys.stderr) if options.json == "-" else nullcontext()


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _run(source: Runnable, attempts: bool, output: Any) -> tuple[Recorder, bool]:
    """Run the script as `python SCRIPT` would; return what was recorded, and whether it failed."""
    with recording(attempts) as recorder, output:
        try:
            source.run()
        except SystemExit as stop:
            return recorder, _exit_failed(stop)
        except KeyboardInterrupt:
            print("explain: the script was interrupted", file=sys.stderr)
            return recorder, True
        except BrokenPipeError:  # whoever read the output has gone
            raise
        except BaseException as error:
            _print_failure(error, source.file)
            return recorder, True
    return recorder, False


def _exit_failed(stop: SystemExit) -> bool:
    if stop.code in (None, 0):
        return False
    print(f"explain: the script ended with exit status {stop.code}", file=sys.stderr)
    return True


def _print_failure(error: BaseException, script: str) -> None:
    """Print the script's own traceback, without the frames that run it."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename not in (script, abspath(script)):
        tb = tb.tb_next
    traceback.print_exception(type(error), error, tb, file=sys.stderr)
    print("explain: the script failed; this is what it compiled until then", file=sys.stderr)


def _tell(report: Report, options: argparse.Namespace, title: str) -> None:
    """Print the report or the answers, and write files."""
    shown = ReportOptions(
        full=options.full, firings=options.firings, tree=options.tree,
        graphs=not options.no_graphs, phase=options.phase, rule=options.rule,
    )  # fmt: skip
    check_names(report, shown)
    if options.digits:
        print_digits(report.functions, options)
        return
    if options.suggest:
        print_suggestions(report.functions, options)
        return
    layout = _layout_of(options)
    answers = list(_answers(report, options, layout, shown))  # names are checked before printing
    if options.json != "-" or options.output is not None:
        notes = [Paragraph(note, "yellow", hang=6) for note in _without_effect(report, options)]
        start: list[Block] = [Heading(f"what the rules did to {title}"), *notes]
        _print(chain(start, *answers), options, layout)
    for name, write in WRITERS.items():
        if getattr(options, name) is not None:
            write(options, report, shown)


def _without_effect(report: Report, options: argparse.Namespace) -> Iterator[str]:
    """Yield which options had no effect on functions that have a mode of their own."""
    include, exclude = map(set, (_names(options.include), _names(options.exclude)))
    useless: dict[str, list[str]] = {}
    for f in [f for f in report.functions if not f.is_saved]:
        mode = f.record.mode
        effect = {
            "--rules": all(rule in mode.rules.rules for rule in options.rules),
            "--exclude": exclude - include <= mode.query.exclude,
            "--include": include <= mode.query.include,
        }
        if missing := " and ".join(option for option, there in effect.items() if not there):
            useless.setdefault(missing, []).append(f.name)
    for option, names in useless.items():
        have = "has a mode of its own" if len(names) == 1 else "have modes of their own"
        yield f"note: {option} without effect on {', '.join(names)}, which {have}"


def _answers(
    report: Report, options: argparse.Namespace, layout: TextLayout, shown: ReportOptions
) -> Iterator[Iterable[Block]]:
    """Yield the answers to all questions. Raises `UnknownNameError`."""
    write = Answers(options.full, layout.width)
    if options.why is not None:
        yield write.derivations(report.why(options.why))
    if options.became is not None:
        yield write.fates(report.became(options.became))
    if options.graph_after is not None:
        after = [(f, graph_after(f.record, options.graph_after)) for f in report.functions]
        yield write.states((f"after {options.graph_after}", after))
    if options.until is not None:
        n = number(options.until)
        there = [(f, graph_until(f.record, n)) for f in report.functions]
        yield write.states((f"after firing #{n}", there))
    if options.step is not None:
        yield write.walked((number(options.step), report.functions))
    if options.diff is not None:
        yield write.differences(differences(report, options.diff))
    if options.bisect is not None:
        yield write.suspects(report.suspects())
    if options.why_not is not None:
        known = {rule.name: rule for rule in (*parts_of(options.rules), *options.rules)}
        rules = RuleSet((known | report.rules.by_name).values())
        yield write.not_fired(report.why_not(find_rule(options.why_not, rules)))
    if options.attempts is not None:
        yield write.attempts(report.attempts(options.attempts))
    if options.kernel is not None:
        yield write.kernels(report.kernels(options.kernel), options.asm)
    if all(getattr(options, name.replace("-", "_")) is None for name in QUESTIONS):
        yield report_blocks(report, shown, layout)


def _write_json(options: argparse.Namespace, report: Report, shown: ReportOptions) -> None:
    def tries(attempt: Attempt) -> bool:
        return options.attempts is not None and is_about(attempt, options.attempts)

    lines = [line + "\n" for line in json_lines(report, shown.wants, tries)]
    if options.json == "-":
        sys.stdout.writelines(lines)
        return
    Path(options.json).write_text("".join(lines), encoding="utf-8")


def _write_page(options: argparse.Namespace, report: Report, shown: ReportOptions) -> None:
    from rewrite_engine.explain.page import page

    lines = json_lines(report, shown.wants, lambda attempt: False)
    Path(options.html).write_text(page(lines), encoding="utf-8")


def _write_picture(language: str, options: argparse.Namespace, report: Report, _: Any) -> None:
    from rewrite_engine.printing.picture import DRAWN

    texts = [DRAWN[language](f.record.after, f.name) for f in report.functions]
    Path(getattr(options, language)).write_text("\n".join(texts), encoding="utf-8")


WRITERS: dict[str, Callable[[argparse.Namespace, Report, ReportOptions], None]] = {
    "json": _write_json,
    "html": _write_page,
    "dot": partial(_write_picture, "dot"),
    "mermaid": partial(_write_picture, "mermaid"),
    "svg": partial(_write_picture, "svg"),
}


def run_quietly() -> Any:
    """Run `main`; handle a pipe that closes early, and our own errors."""
    try:
        return main()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except RewriteEngineError as error:
        return _complain(str(error))


if __name__ == "__main__":
    sys.exit(run_quietly())
