"""Sparse matrices: `import rewrite_engine.sparse as sparse`. Values are those of `scipy.sparse`, in
the formats csr and csc.

`type.py` the type · `variable.py` variables and their operators · `constant.py` making them ·
`op.py` the base of ops · `parts.py` what matrices consist of, sums, dense and back · `tidy.py` how
they are stored · `convert.py` formats, transposes, dtypes · `elementwise.py` · `product.py` ·
`index.py` · `join.py` · `linalg.py` (solving, determinants). A program that needs none of it does
not load it, nor SciPy's.
"""

import sys

from rewrite_engine.scalar.dtype import (
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    float_dtypes,
    int_dtypes,
    integer_dtypes,
    uint_dtypes,
)
from rewrite_engine.sparse import linalg, variable
from rewrite_engine.sparse.constant import *
from rewrite_engine.sparse.convert import *
from rewrite_engine.sparse.elementwise import *
from rewrite_engine.sparse.index import *
from rewrite_engine.sparse.join import *
from rewrite_engine.sparse.linalg import slogdet, splu, spsolve
from rewrite_engine.sparse.parts import *
from rewrite_engine.sparse.product import *
from rewrite_engine.sparse.tidy import *
from rewrite_engine.sparse.type import SparseTensorType, all_dtypes
from rewrite_engine.sparse.variable import SparseConstant, SparseVariable

variable.sp = sys.modules[__name__]  # methods call the functions of this module
