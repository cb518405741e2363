"""Functions on matrices as PyTensor has them: several results are a list, and `dot` takes sparse
matrices, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from rewrite_engine import tensor
from rewrite_engine.tensor import linalg

__all__ = ["dot", "eig", "eigh", "lu", "lu_factor", "qr", "qz", "schur", "slogdet", "svd"]


def dot(l: Any, r: Any) -> Any:
    """Return the product of two tensors, or of sparse matrices (structured gradient)."""
    if any([hasattr(getattr(x, "type", None), "format") for x in (l, r)]):
        from rewrite_engine import sparse

        return sparse.structured_dot(l, r)
    return tensor.dot(l, r)


def _listed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with several results as a list."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        return list(found) if isinstance(found, tuple) else found

    return call


eig, eigh, svd = _listed(linalg.eig), _listed(linalg.eigh), _listed(linalg.svd)
lu, lu_factor, qr = _listed(linalg.lu), _listed(linalg.lu_factor), _listed(linalg.qr)
qz, schur, slogdet = _listed(linalg.qz), _listed(linalg.schur), _listed(linalg.slogdet)
