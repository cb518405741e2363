"""Notebook views of variables, graphs and functions, as formulas and as pictures. A hook calls the
code that writes them (`rewrite_engine/printing/`).
"""

from __future__ import annotations

from rewrite_engine import hooks


class Displayed:
    """Base class of objects that notebooks show with their graph."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return formulas, with a picture of the graph folded below."""
        return hooks.as_html(self)  # type: ignore[no-any-return]

    def _repr_latex_(self) -> str:
        """Return formulas in mathematical notation."""
        return f"${hooks.as_latex(self)}$"

    def _repr_svg_(self) -> str | None:
        """Return a picture of the graph."""
        return hooks.as_svg(self)  # type: ignore[no-any-return]
