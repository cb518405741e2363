"""Drivers: what applies rules to a graph, in which order, and until when. Knows no tensors.

`driver.py` what all drivers share · `run.py` the one loop, `step.py` one firing · orders:
`equilibrium.py` to a fixed point, and once · `strategies/` drivers and rules combined ·
`budget.py` how long, `loop.py` what goes on for ever · `result.py` what was done, `trace/` one by
one · `ac.py`, `fold.py` rules for any op · `inner.py` graphs inside of ops · `inplace.py` who
overwrites what, by `reachability.py` · `saturate.py` equations, by `egraph/` and `cost.py` ·
`expand.py` backwards. Start with `equilibrium.py`.
"""
