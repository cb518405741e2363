"""Linear algebra: `pt.linalg`, loaded at its first use.

All functions take arrays of matrices, in the last two dimensions. `op.py` has the base class of the
ops. The families are `triangular.py`, `tridiagonal.py`, `decomposition.py`, `elimination.py`,
`factor.py`, `solvers.py`, `squares.py` (least squares, pseudo-inverses), `control.py`,
`spectral.py`, `pencils.py` (pairs of matrices), `summary.py` and `products.py`.
"""

from rewrite_engine.tensor.linalg.control import *
from rewrite_engine.tensor.linalg.decomposition import *
from rewrite_engine.tensor.linalg.elimination import *
from rewrite_engine.tensor.linalg.factor import *
from rewrite_engine.tensor.linalg.op import *
from rewrite_engine.tensor.linalg.pencils import *
from rewrite_engine.tensor.linalg.products import *
from rewrite_engine.tensor.linalg.solvers import *
from rewrite_engine.tensor.linalg.spectral import *
from rewrite_engine.tensor.linalg.squares import *
from rewrite_engine.tensor.linalg.summary import *
from rewrite_engine.tensor.linalg.triangular import *
from rewrite_engine.tensor.linalg.tridiagonal import *
