"""Products of vectors and matrices: `dots.py` has the ops, `products.py` functions built from them
(`einsum`, `kron`, …).

Solving and decomposing are in `tensor/linalg/`.
"""
