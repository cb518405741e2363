"""Accuracy of a compiled function: how many digits of its results are right, and where others are
lost.

`measure.py` takes a function and its arguments; `study.py` evaluates its graphs and makes the
report (`report.py`; as text and HTML: `show.py`, `page.py`). `computed.py` evaluates a graph in
floats, `lockstep.py` also exactly; `sample.py` says which elements, and which nodes in 80-bit
floats, where arrays are large. `error.py` counts digits, `loss.py` finds the steps that lose them,
`cause.py` which of these matter and which rules restored them, `advice.py` and `patterns.py` what
to write instead. `command.py` is `explain --digits`.
"""
