"""Programs that measure the figures the project holds itself to; `scripts/bench` runs them.

Each program has a `main()` that yields rows (see `measure.Row`). They are programs, not tests: a
number depends on the machine, so nothing here fails; a row says whether it met its target.
"""
