"""How notebooks show variables, graphs and functions: as formulas and as pictures. Who writes them
is asked by a hook (`rewrite_engine/printing/`).
"""

from __future__ import annotations

from rewrite_engine import hooks


class Displayed:
    """Something that has a graph to show."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Formulas, with a picture of the graph folded below."""
        return hooks.as_html(self)  # type: ignore[no-any-return]

    def _repr_latex_(self) -> str:
        """Formulas in the notation of mathematics."""
        return f"${hooks.as_latex(self)}$"

    def _repr_svg_(self) -> str | None:
        """A picture of the graph."""
        return hooks.as_svg(self)  # type: ignore[no-any-return]
