"""Explain what the rules did, why, and whether it was right.

The command is `python -m rewrite_engine.explain SCRIPT`. In a program, `recording()` watches
functions while they are compiled, `explain(variable)` reports on one graph, and
`why_not(rule, variable)` says why a rule does not apply. The names are looked up when they are
first used. How to read a report: `docs/reading_a_trace.md`.

`record.py` watches compilations · `capture.py` copies the inputs of calls · `term.py` writes one
change · `evaluate.py` runs a graph op by op · `compare.py` compares values · `claims.py` checks
each firing against its rule's claim · `suspect.py` finds the firing to blame · `cost.py`
estimates costs. `model.py` has a function's records, which are the JSON lines: `lines.py` and
`snapshot.py` build them, `story.py` groups firings, `final.py` and `difference.py` compare two
reports. `states.py` returns the graph at any time · `why.py` derives nodes · `became.py` follows
a node · `diagnosis.py` says why a rule does not apply · `report.py` asks these questions.
`show.py` and `answer.py` write blocks (`blocks.py`) in the words of `phrase.py` and `place.py`;
`layout.py` prints blocks as text, `notebook.py` as HTML. `page.py` writes the page of `web/` ·
`replaying.py` repeats the firings of JSON lines · `accuracy/` measures digits · `suggest.py` has
better terms · `source.py` runs scripts, `__main__.py` is the command.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rewrite_engine.lazy import lookup

if TYPE_CHECKING:  # the same names as in `_HOMES`
    from rewrite_engine.explain.diagnosis import WhyNot as WhyNot
    from rewrite_engine.explain.diagnosis import why_not as why_not
    from rewrite_engine.explain.record import Recorder as Recorder
    from rewrite_engine.explain.record import recording as recording
    from rewrite_engine.explain.replaying import replay as replay
    from rewrite_engine.explain.report import Report as Report
    from rewrite_engine.explain.report import explain as explain

_HOMES = {
    "Recorder": "record",
    "recording": "record",
    "Report": "report",
    "explain": "report",
    "WhyNot": "diagnosis",
    "why_not": "diagnosis",
    "replay": "replaying",
}

__all__ = list(_HOMES)

if not TYPE_CHECKING:
    __getattr__ = lookup(__name__, _HOMES)


class ExplainModule(ModuleType):
    """Class of this package, so that `rw.explain(f)` is `rw.explain.explain(f)`."""

    def __call__(self, *args: Any, **options: Any) -> Report:
        """Compile a graph under observation and report on it (`report.explain`)."""
        return self.explain(*args, **options)  # type: ignore[no-any-return]


sys.modules[__name__].__class__ = ExplainModule


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted(__all__)
