"""Functions on matrices as PyTensor has them: several results are a list."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from rewrite_engine.tensor import linalg

__all__ = ["eig", "eigh", "lu", "lu_factor", "qr", "qz", "schur", "slogdet", "svd"]


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
