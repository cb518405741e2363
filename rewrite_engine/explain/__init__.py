"""What was rewritten, why, and whether it was right: `python -m rewrite_engine.explain SCRIPT`.

`recording()` watches functions being compiled, `explain(variable)` reports on one graph,
`why_not(rule, variable)` says why a rule does not apply. The names are looked up when they are
first used; how to read what is printed: `docs/reading_a_trace.md`.

`record.py` watches · `capture.py` keeps the inputs of a first call · `term.py` writes one change ·
`evaluate.py` runs a graph op by op · `compare.py` compares values · `cost.py` estimates ·
`model.py` is all that is known of a function · `why.py` derivations · `diagnosis.py` why a rule
does not apply · `report.py` answers questions · `phrase.py`, `show.py` print it · `lines.py` writes
JSON · `replaying.py` repeats what JSON lines say · `__main__.py` is the command.
"""

from __future__ import annotations

from rewrite_engine.lazy import lookup

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

__getattr__ = lookup(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
