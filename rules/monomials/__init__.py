"""Products as powers of positive functions, and the rules that need them so.

A product, with quotients, signs, squares and powers in it, is a tree with *slots* at its leaves. A
slot holds *factors*: `exp`, `sigmoid`, `erfc`, `cosh`, `sinh` of a linear form, a sum, or any other
term. `step.py` has the identities between factors that overflow or underflow one by one where their
product does not; each takes away factors, or the part of an exponential that another factor has.
What is left is written back where it stood, so that all else is multiplied in the order in which
the user wrote it. The rules are in `saturation.py` and `logarithm.py`.
"""
