"""Identifiers of nodes in printed graphs: `A`, `B`, …, `Z`, `BA`, … in the order of printing."""

from __future__ import annotations

from typing import Any

KINDS = ("CHAR", "int", "id", "auto", "")


def letters(n: int) -> str:
    """Convert a number to capital letters: A … Z, AA, AB, …"""
    out = ""
    n += 1
    while n:
        n, digit = divmod(n - 1, 26)
        out = chr(ord("A") + digit) + out
    return out


class Identifiers:
    """Identifiers of nodes and root variables; each keeps its identifier.

    kind: "CHAR" (letters), "int", "id" (Python's), "auto" (`Variable.auto_name`; for a node, the
    name of its first output) or "" (none). known: earlier identifiers; new ones are added, so
    several printouts can share it. Raises `ValueError` for another kind.
    """

    def __init__(self, kind: str, known: dict[Any, str] | None = None) -> None:
        if kind not in KINDS:
            raise ValueError(
                f"there are no identifiers {kind!r}; use one of {', '.join(map(repr, KINDS))}"
            )
        self.kind = kind
        self.known = {} if known is None else known

    def of(self, node: Any) -> str:
        """Return ` [id A]`, or an empty text."""
        if node not in self.known:
            self.known[node] = self.make(node, len(self.known))
        return self.known[node]

    def make(self, node: Any, n: int) -> str:
        """Return the identifier of the n-th node as text."""
        if self.kind == "":
            return ""
        if self.kind == "CHAR":
            return f" [id {letters(n)}]"
        if self.kind == "int":
            return f" [id {n}]"
        if self.kind == "id":
            return f" [id {id(node)}]"
        outputs = getattr(node, "outputs", None)
        return f" [id {(outputs[0] if outputs else node).auto_name}]"
