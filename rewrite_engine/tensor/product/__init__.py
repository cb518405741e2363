"""Products of vectors and matrices: `dots.py` is the ops, `products.py` what is made of them
(`einsum`, `kron`, …).

Solving and decomposing is in `tensor/linalg/`.
"""
