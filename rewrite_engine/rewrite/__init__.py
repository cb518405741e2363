"""Drivers: they apply rules to a graph in some order until a condition is met. Knows no tensors.

`driver.py`: the base of all drivers. `run.py`: the common loop; `step.py`: one firing.
`equilibrium.py`: rewriting to a fixed point, or once. `strategies/`: combinations of drivers and
rules. `budget.py`: limits; `loop.py`: detection of loops. `result.py`: outcomes; `trace/`: single
firings. `ac.py`, `fold.py`: rules for any op. `inner.py`: graphs inside ops. `inplace.py`: in-place
ops, chosen with `reachability.py`. `saturate.py`: equations, solved with `egraph/` and `cost.py`.
`expand.py`: rules run backwards. Start with `equilibrium.py`.
"""
