"""How rules are put to use: the phases, in order (`phases.py`), the packs of other distributions
and rule files (`packs.py`), remarks about rules that are probably mistakes (`lint.py`), and what
users declare of terms (`assumptions.py`).

The rules are in `rules/`; the drivers that run them are in `rewrite/`.
"""
