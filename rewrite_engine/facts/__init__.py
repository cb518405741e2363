"""Facts that rules require: each returns evidence, or the reason why it is unknown.

    numbers   bounded finite whole positive nonneg nonzero                 facts/numbers.py
              distinct increasing unique_indices
    arrays    same_dtype same_rank static_shape used_once                  facts/arrays.py
              length same_length same_shape
    matrices  square symmetric diagonal lower_triangular upper_triangular  facts/matrices.py
              unit_diagonal positive_semidefinite positive_definite
              orthogonal invertible
    places    band same_pattern one_for_each stored_once                   facts/zeros.py
    errors    fits cannot_fail                                             facts/failure.py

Ops declare properties of their values themselves (`range=`, `keeps=`, `Op.implied`, `Op.bounds`).
The set is open: write your own facts with `@fact`, and extend these to other ops:

    @nonneg.case(TheirOp)
    def their_op_is_nonneg(x):
        return because("a result of TheirOp")

`facts/samples.py` makes matrices that have them, for checks of rules.
"""

from rewrite_engine.facts import arrays, failure, matrices, numbers, zeros
from rewrite_engine.facts.arrays import *
from rewrite_engine.facts.failure import *
from rewrite_engine.facts.matrices import *
from rewrite_engine.facts.numbers import *
from rewrite_engine.facts.zeros import *

__all__ = []
__all__ += arrays.__all__
__all__ += failure.__all__
__all__ += matrices.__all__
__all__ += numbers.__all__
__all__ += zeros.__all__
