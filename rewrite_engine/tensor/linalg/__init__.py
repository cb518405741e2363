"""Linear algebra: `pt.linalg`, loaded when it is first used.

All functions take arrays of matrices, the last two dimensions. `op.py` is what their ops share;
`triangular.py`, `tridiagonal.py`, `decomposition.py`, `elimination.py`, `solvers.py`, `squares.py`
(least squares), `control.py`, `spectral.py`, `pencils.py` (of two matrices), `summary.py` and
`products.py` are the families.
"""

from rewrite_engine.tensor.linalg.control import *
from rewrite_engine.tensor.linalg.decomposition import *
from rewrite_engine.tensor.linalg.elimination import *
from rewrite_engine.tensor.linalg.op import *
from rewrite_engine.tensor.linalg.pencils import *
from rewrite_engine.tensor.linalg.products import *
from rewrite_engine.tensor.linalg.solvers import *
from rewrite_engine.tensor.linalg.spectral import *
from rewrite_engine.tensor.linalg.squares import *
from rewrite_engine.tensor.linalg.summary import *
from rewrite_engine.tensor.linalg.triangular import *
from rewrite_engine.tensor.linalg.tridiagonal import *
