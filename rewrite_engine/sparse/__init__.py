"""Sparse matrices: `import rewrite_engine.sparse as sparse`. Values are those of `scipy.sparse`, in
the formats csr and csc.

`type.py` the type · `variable.py` variables and their operators · `constant.py` conversion of
values · `op.py` the base class of ops · `parts.py` the arrays of a matrix, sums, conversion to and
from dense · `tidy.py` storage order · `convert.py` formats, transposes, dtypes · `elementwise.py` ·
`product.py` · `index.py` · `join.py` · `linalg.py` (solving, determinants). A program that does not
use sparse matrices loads neither this package nor SciPy's.
"""

import sys

from rewrite_engine.scalar.dtype import complex_dtypes as complex_dtypes
from rewrite_engine.scalar.dtype import continuous_dtypes as continuous_dtypes
from rewrite_engine.scalar.dtype import discrete_dtypes as discrete_dtypes
from rewrite_engine.scalar.dtype import float_dtypes as float_dtypes
from rewrite_engine.scalar.dtype import int_dtypes as int_dtypes
from rewrite_engine.scalar.dtype import integer_dtypes as integer_dtypes
from rewrite_engine.scalar.dtype import uint_dtypes as uint_dtypes
from rewrite_engine.sparse import linalg as linalg
from rewrite_engine.sparse import variable as variable
from rewrite_engine.sparse.constant import *
from rewrite_engine.sparse.convert import *
from rewrite_engine.sparse.elementwise import *
from rewrite_engine.sparse.index import *
from rewrite_engine.sparse.join import *
from rewrite_engine.sparse.linalg import slogdet as slogdet
from rewrite_engine.sparse.linalg import splu as splu
from rewrite_engine.sparse.linalg import spsolve as spsolve
from rewrite_engine.sparse.parts import *
from rewrite_engine.sparse.product import *
from rewrite_engine.sparse.tidy import *
from rewrite_engine.sparse.type import SparseTensorType as SparseTensorType
from rewrite_engine.sparse.type import all_dtypes as all_dtypes
from rewrite_engine.sparse.variable import SparseConstant as SparseConstant
from rewrite_engine.sparse.variable import SparseVariable as SparseVariable

variable.sp = sys.modules[__name__]  # methods call the functions of this module
