"""Findings of a check, each about one rule, fact or op, and the report of all of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from rewrite_engine.errors import source_line


class Kind(StrEnum):
    """Kind of a finding, the worst first.

    WRONG: what is claimed, declared or shown is not true. LOOPS: rules do not come to an end. DEAD:
    a rule never fires. OVERLAP: two rules lead one term to two ends. LINT: it may not be meant so.
    UNPROVED: nobody knows; a check had nothing to go by. EXPLAINED: it is known, and a rule says
    why it is so.
    """

    WRONG = "WRONG"
    LOOPS = "LOOPS"
    DEAD = "DEAD"
    OVERLAP = "OVERLAP"
    LINT = "LINT"
    UNPROVED = "UNPROVED"
    EXPLAINED = "EXPLAINED"


FAILING = (Kind.WRONG, Kind.LOOPS, Kind.DEAD)
ORDER = {kind: i for i, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a rule, a fact or an op. check: which check found it. name: what it is, in a
    word or two, such as "claim", "shadowed". subject: the rule's name. where: file and line.
    example: the smallest one that shows it. fix: what to write, where that is known.
    """

    kind: Kind
    check: str
    name: str
    subject: str
    where: tuple[str, int] | None
    why: str
    example: str = ""
    fix: str = ""

    @property
    def place(self) -> str:
        """Return the file and the line as text."""
        return "" if self.where is None else source_line(*self.where)

    def __str__(self) -> str:
        lines = [f"{self.kind} {self.name}: {self.subject}"]
        lines += [self.place] if self.place else []
        lines += [self.why, *self.example.splitlines()]
        lines += [f"fix: {self.fix}"] if self.fix else []
        return "\n    ".join(lines)


@dataclass(slots=True)
class CheckReport:
    """All findings; apart from them, those that are explained. subjects: how many rules, facts and
    ops were looked at. seconds: what each check took. left_out: checks that could not run, and why.
    """

    findings: list[Finding] = field(default_factory=list)
    explained: list[Finding] = field(default_factory=list)
    subjects: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @property
    def failed(self) -> bool:
        """Whether something is wrong, loops, or is dead, or a check could not run."""
        return bool(self.left_out) or any(f.kind in FAILING for f in self.findings)

    @property
    def unproved(self) -> bool:
        """Whether something could not be tried, or a check could not run."""
        return any(f.kind is Kind.UNPROVED for f in self.findings)

    def add(self, found: Iterable[Finding]) -> None:
        """Add findings; the report sorts them, the worst first, and keeps each once."""
        known = dict.fromkeys([*self.findings, *self.explained, *found])
        every = sorted(known, key=lambda f: ORDER[f.kind])
        self.findings = [f for f in every if f.kind is not Kind.EXPLAINED]
        self.explained = [f for f in every if f.kind is Kind.EXPLAINED]

    @property
    def summary(self) -> str:
        """Return the counts and times of the checks in one line."""
        counts = {kind: sum(f.kind is kind for f in self.findings) for kind in Kind}
        told = ", ".join([f"{n} {kind}" for kind, n in counts.items() if n]) or "no finding"
        told += f", {len(self.explained)} explained" if self.explained else ""
        times = ", ".join([f"{name} {s:.1f} s" for name, s in self.seconds.items()])
        several = "rule, fact or op" if self.subjects == 1 else "rules, facts and ops"
        return f"{self.subjects} {several}: {told} ({times})"

    def __str__(self) -> str:
        return "\n".join([*map(str, self.findings), self.summary])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from rewrite_engine.check.notebook import check_as_html

        return check_as_html(self)

    def json(self) -> str:
        """Return the report as JSON, for programs."""
        rows = [asdict(f) | {"kind": str(f.kind)} for f in self.findings]
        whole = {"findings": rows, "explained": len(self.explained)}
        whole |= {"subjects": self.subjects, "seconds": self.seconds}
        whole |= {"failed": self.failed, "unproved": self.unproved}
        return json.dumps(whole | {"left_out": self.left_out}, indent=2)
