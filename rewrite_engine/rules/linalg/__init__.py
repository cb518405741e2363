"""Rules of linear algebra, loaded with `rewrite_engine.tensor.linalg`: `solves.py`,
`determinants.py`, `structure.py` (blocks, Kronecker products, low ranks), `factors.py` (one
factorisation per matrix), `gradients.py`.
"""
