"""Records of traces and reports. Each class is a kind of JSON line, or a part of one: the fields
are its keys, and the annotations give their types and descriptions.

`schema` writes the JSON Schema from the annotations, `to_json` a record as a line, and
`from_json` reads a line. `lines.py` builds records of traces, `explain/lines.py` those of reports.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

VERSION: Literal[1] = 1


class AtLeast(NamedTuple):
    """Lower bound of a number."""

    minimum: int


Natural = Annotated[int, AtLeast(0)]
Positive = Annotated[int, AtLeast(1)]
Seconds = Annotated[float, AtLeast(0)]
Shape = list[int | None] | None
Where = tuple[str, int] | None


Verdict = Literal["identical", "agree", "repaired", "unknown", "disagree"]


@dataclass(slots=True, kw_only=True)
class Line:
    """Fields that all lines begin with."""

    version: Annotated[Literal[1], "of this schema; a field that is added does not change it"] = (
        VERSION
    )
    kind: str
    function: Annotated[
        str | None, "the compiled function it belongs to, in a report on functions"
    ] = None
    function_index: Annotated[int | None, "its number in the report, from 1 on"] = None


@dataclass(slots=True, kw_only=True)
class RuleFields(Line):
    """Fields about the rule of a firing or an attempt."""

    rule: Annotated[str, "the name, as queries know it"]
    rule_text: Annotated[str | None, "left -> right, or what kind of function it is"]
    claim: Annotated[
        str | None, "its promise: exact, refines, approx(...), backward(...), assumes(...)"
    ]
    assumes: Annotated[str | None, "an assumption that the user granted"]
    rule_file: Annotated[str | None, "where the rule is written"]
    rule_line: Annotated[int | None, "where the rule is written"]


@dataclass(frozen=True, slots=True)
class Saving:
    """Saving of one or several firings per call; negative numbers are costs"""

    nodes: Annotated[int, "also inside ops"] = 0
    flops: Annotated[int, "floating-point operations"] = 0
    bytes: Annotated[int, "bytes that ops read and write"] = 0

    def __add__(self, other: Saving) -> Saving:
        return Saving(self.nodes + other.nodes, self.flops + other.flops, self.bytes + other.bytes)


@dataclass(slots=True, kw_only=True)
class FiringLine(RuleFields):
    """Application of a rule."""

    kind: Literal["firing"] = "firing"
    graph: Annotated[Natural, "which of the graphs that the trace saw, from 1 on"]
    number: Annotated[
        Positive, "of the firing in its trace, from 1 on; those that were taken back do not count"
    ]
    phase: Annotated[str, "the driver that was running"]
    strategy: Annotated[str | None, "the strategy that applied the rule, if one did"]
    evidence: Annotated[list[str], "what facts said of the guards that hold"]
    place: Annotated[
        tuple[
            Annotated[Natural, "0: the graph as it was; else the firing that made the node"],
            Annotated[Natural, "its position there, operands first"],
        ]
        | None,
        "the node at which the rule was applied; used by a replay to find the place",
    ]
    since: Annotated[
        Positive | None,
        "of a trace that kept only its last firings: the first one that a replay can begin with, "
        "on the graph as it was then (0, in places)",
    ]
    before: Annotated[str | None, "the term that was replaced"]
    after: Annotated[str | None, "what took its place"]
    depth: Annotated[
        int | None,
        "how many levels deep both are written; null: as a report writes them, with letters",
    ]
    letters: Annotated[dict[str, str], "what capital letters in the terms stand for"]
    made: Annotated[int | None, "how many nodes came into the graph"]
    user_file: Annotated[str | None, "where the user built the node"]
    user_line: Annotated[int | None, "where the user built the node"]
    seconds: Annotated[Seconds, "seconds since the trace began"]
    forward_file: Annotated[
        str | None, "of a node of a gradient: where the user built what it differentiates"
    ] = None
    forward_line: Annotated[int | None, "where the user built what it differentiates"] = None
    tags: Annotated[tuple[str, ...], "more names by which queries know the rule"] = ()
    promise: Annotated[
        str | None, "what the rule promises of values, if its assumption is true"
    ] = None
    conditions: Annotated[tuple[str, ...], "guards that are plain predicates"] = ()
    of_graph: Annotated[
        str, "what became of an op that holds a graph, such as a loop; empty for other terms"
    ] = ""
    same_node: Annotated[
        bool, "it replaces another output of the node that the firing before it replaced"
    ] = False
    saved: Annotated[
        Saving | None, "what it saves in the first call; negative numbers are costs"
    ] = None


@dataclass(slots=True, kw_only=True)
class AttemptLine(RuleFields):
    """Try of a rule at a node."""

    kind: Literal["attempt"] = "attempt"
    graph: Annotated[Natural, "which of the graphs that the trace saw, from 1 on"]
    number: Annotated[Positive, "of the attempt in its trace, from 1 on"]
    phase: Annotated[str, "the driver that was running"]
    strategy: Annotated[str | None, "the strategy that tried the rule, if one did"]
    term: Annotated[str, "the node's term"]
    verdict: Annotated[
        Literal["fired", "taken back", "failed", "refused", "error"],
        "fired; taken back: it applied, and a strategy or driver undid it; failed: it does not "
        "match; refused: the type or a feature of the graph is against it; error: it raised",
    ]
    part: Annotated[
        str,
        "what failed: a sub-pattern or guard, root, right side, type, function, the feature that "
        "refused, or the strategy or driver that took it back; empty if it fired",
    ]
    reason: Annotated[str, "why, in words; empty if it fired"]
    bindings: Annotated[dict[str, str], "what the rule's variables stood for when that was found"]
    evidence: Annotated[list[str], "what facts said of the guards that hold"]
    firing: Annotated[int | None, "the number of the firing, if it fired and was not taken back"]
    ruled_out: Annotated[bool, "the index of the rules knew: the rule was not called"]
    took: Annotated[Seconds, "seconds of the try itself"]
    seconds: Annotated[Seconds, "seconds since the trace began"]


@dataclass(slots=True, kw_only=True)
class RuleCounts:
    """Counts of a rule in a run."""

    calls: Annotated[Natural, "nodes at which it was tried"]
    matches: Annotated[Natural, "how often it proposed something"]
    firings: Annotated[Natural, "how often the graph took it"]
    taken_back: Annotated[Natural, "how often it did, and was put back later"]
    refused: Annotated[Natural, "how often it did not"]
    errors: Annotated[Natural, "how often the rule raised"]
    created: Annotated[Natural, "nodes that came into the graph"]
    dropped: Annotated[Natural, "nodes that left it"]
    loading: Annotated[Seconds, "seconds of tries that loaded modules"]
    seconds: Annotated[Seconds, "seconds spent in it"]


@dataclass(slots=True, kw_only=True)
class PhaseLine(Line):
    """Run of a driver."""

    kind: Literal["phase"] = "phase"
    phase: Annotated[str, "the driver"]
    stopped: Annotated[Literal["SATURATED", "PASSED", "BUDGET", "FAILED", "LOOP"], "why it stopped"]
    note: Annotated[str, "more on that"]
    firings: Annotated[Natural, "how many rules fired"]
    taken_back: Annotated[Natural, "how many more fired, before the graph was put back"]
    taken_back_by: Annotated[str | None, "the driver that put the graph back, if one did"]
    visits: Annotated[Natural, "how many nodes were visited"]
    merged: Annotated[Natural, "how many nodes were equal to others"]
    nodes_before: Annotated[Natural, "nodes of the graph"]
    nodes_after: Annotated[Natural, "nodes of the graph"]
    rules: Annotated[dict[str, RuleCounts], "what each rule did, by its name"]
    refusals: Annotated[dict[str, int], "how often a feature of the graph refused a firing"]
    seconds: Annotated[Seconds, "seconds that it took"]


@dataclass(slots=True, kw_only=True)
class OutputVerdict:
    """Comparison of the values of an output."""

    name: Annotated[str, "of the output"]
    verdict: Verdict
    ulps: Annotated[float | None, "the largest distance, in units in the last place"]
    text: Annotated[str, "the verdict in words"]
    special: Annotated[bool, "nan or inf before and after"] = False


@dataclass(slots=True, kw_only=True)
class InputFields:
    """Argument of a function, or a state."""

    name: str
    type: str
    shape: Annotated[Shape, "in the first call, as far as it is known"]
    state: Annotated[bool, "a shared variable, not an argument"]
    dtype: Annotated[str | None, "of an array"] = None


@dataclass(slots=True, kw_only=True)
class Assumption:
    """Assumption that firings rest on."""

    name: str
    granted: Annotated[bool, "by the mode; else facts proved it"]
    declared: Annotated[bool, "by the user, of a term"]
    firings: list[Positive]


@dataclass(slots=True, kw_only=True)
class UntrueClaim:
    """Statement that values contradict."""

    kind: Annotated[
        Literal["declaration", "claim", "fact", "op"],
        "what was said: with assume, by a rule, by a fact, by an op of its results",
    ]
    text: str
    basis: Annotated[str, "the values on which it is not true"]
    rule: str | None
    firing: Positive | None


@dataclass(slots=True, kw_only=True)
class ForgivenDifference:
    """differences by more than rounding that an excuse forgives"""

    rule: str
    excuse: Annotated[str, "its name (docs/reference/verdicts.md)"]
    reason: str
    firings: Annotated[list[Positive], "their numbers"]


@dataclass(slots=True, kw_only=True)
class ClaimCounts:
    """Outcome of checking claims on values."""

    firings: Annotated[Natural, "how many there were"]
    judged: Annotated[Natural, "how many of them had terms with values"]
    not_judged: Annotated[str | None, "why not all"]
    calls: Annotated[Natural, "in how many calls"]
    special: Annotated[Natural, "how often on special values"]
    not_special: Annotated[str | None, "why on none"]
    problem: Annotated[str | None, "why nothing was judged"]
    untrue: list[UntrueClaim]
    forgiven: tuple[ForgivenDifference, ...] = ()


@dataclass(slots=True, kw_only=True)
class FunctionLine(Line):
    """Compiled function, in a report."""

    kind: Literal["function"] = "function"
    file: Annotated[str | None, "where it was compiled"]
    line: Annotated[int | None, "where it was compiled"]
    firings: Annotated[Natural, "how many rules fired"]
    merged: Annotated[
        dict[str, int], "equal nodes that became one, by phase; `build`: before any rule"
    ]
    nodes_before: Annotated[Natural, "of the graph as built"]
    nodes_after: Annotated[Natural, "of the graph rewritten"]
    flops_before: Annotated[float | None, "estimated cost of the first call"]
    flops_after: Annotated[float | None, "estimated cost of the first call"]
    bytes_before: Annotated[float | None, "estimated cost of the first call"]
    bytes_after: Annotated[float | None, "estimated cost of the first call"]
    peak_before: Annotated[Natural, "estimated bytes that the first call holds at once, at most"]
    peak_after: Annotated[Natural, "estimated bytes that the first call holds at once, at most"]
    peak_at: Annotated[
        str, "the op after which the rewritten graph holds the most, with its line"
    ] = ""
    unsized: Annotated[Natural, "nodes of unknown shape, which costs do not count"] = 0
    uncounted: Annotated[tuple[str, ...], "ops whose floating-point operations are not known"] = ()
    call_error: Annotated[str | None, "what the first call raised"] = None
    seconds: Annotated[dict[str, float | None], "by stage and phase"]
    compared_on: Annotated[str, "the inputs on which values were compared"]
    verdict: Annotated[Verdict, "of all outputs together"]
    outputs: list[OutputVerdict]
    problem: Annotated[str | None, "why values were not compared"]
    blame: Annotated[str | None, "who is wrong where values disagree"]
    strange: Annotated[str | None, "the first sources of nan or inf"] = None
    mode: Annotated[str, "with which rules it was compiled"]
    runs: Annotated[str, "what is machine code, and what is not and why; empty: all runs one way"]
    inputs: Annotated[list[InputFields], "arguments and state, in the order of the graph's inputs"]
    assumptions: Annotated[list[Assumption], "what firings rest on"]
    claims: Annotated[
        ClaimCounts, "whether firings keep what their rules claim, and what was declared is true"
    ]
    formulas_before: Annotated[
        list[str],
        "the graph as it was built, complete: what is used several times, then the outputs",
    ]
    formulas_after: Annotated[
        list[str],
        "the graph as rewritten, complete: what is used several times, then the outputs",
    ]
    loops_before: Annotated[
        tuple[list[str], ...],
        "lines of each graph inside an op, as a function with types; as many as formulas_before "
        "begins with",
    ] = ()
    loops_after: Annotated[
        tuple[list[str], ...], "lines of each graph inside an op, as rewritten"
    ] = ()


@dataclass(slots=True, kw_only=True)
class VariableRow:
    """Variable of a graph."""

    text: Annotated[str, "of a root its name or value; of one of several outputs which one"]
    name: str | None
    kind: Literal["input", "constant", "computed"]
    type: str
    shape: Annotated[Shape, "in the call that values were compared on, if it is known"]
    node: Annotated[int | None, "the number of the node that computes it"]


@dataclass(slots=True, kw_only=True)
class NodeRow:
    """Node of a graph."""

    op: str
    class_: str
    inputs: Annotated[list[Natural], "numbers of variables, when the node came into the graph"]
    outputs: Annotated[list[Natural], "numbers of variables"]
    flops: Annotated[int, "estimated, 0 where not known"]
    bytes: Annotated[int, "estimated, 0 where not known"]
    line: Annotated[Where, "file and line where the user built it"]
    forward: Annotated[
        Where, "of a node of a gradient: file and line of the term that it differentiates"
    ]
    commutative: Annotated[bool, "whether the order of its inputs is all one"]


@dataclass(slots=True, kw_only=True)
class ChangedNode:
    """Node after a change."""

    inputs: Annotated[list[Natural], "numbers of variables"]
    op: str


@dataclass(slots=True, kw_only=True)
class GraphChange:
    """Change by a firing."""

    firing: Annotated[Positive, "its number"]
    nodes: Annotated[dict[str, ChangedNode], "numbers of nodes and what they are after it"]
    outputs: Annotated[list[Natural] | None, "of the graph after it; null: as before"]
    old: Annotated[
        Natural,
        "number of the variable that was replaced; its term is the graph before the change, from "
        "there on",
    ]
    new: Annotated[Natural, "number of the variable that took its place"]
    letters: Annotated[
        dict[str, Natural],
        "numbers of the variables that capital letters of the firing stand for, as far as these "
        "are in the graph",
    ]


@dataclass(slots=True, kw_only=True)
class SourceLine:
    """Line of the user's code."""

    file: str
    line: int
    text: Annotated[str, "empty if the file is gone"]


@dataclass(slots=True, kw_only=True)
class GraphLine(Line):
    """Graph of a function: all that was ever in it, its first state, and what each firing
    changed.
    """

    kind: Literal["graph"] = "graph"
    graph: Annotated[
        Natural | None,
        "which of the graphs that the trace saw; null: as it is in the end, nothing fired in it or "
        "that is on another line",
    ]
    inside: Annotated[str | None, "the op whose graph it is; null: the function's own"]
    inputs: Annotated[list[Natural], "numbers of variables"]
    outputs: Annotated[list[Natural], "numbers of variables, as they were at first"]
    output_names: Annotated[tuple[str, ...], "what the outputs are called"]
    variables: Annotated[
        list[VariableRow], "all variables; they are referred to by their position, from 0 on"
    ]
    nodes: Annotated[
        list[NodeRow],
        "all nodes; they are referred to by their position, from 0 on. A node is in the graph "
        "while outputs can be computed from it",
    ]
    changes: Annotated[
        list[GraphChange],
        "what firings changed, in their order; what is merged counts with the firing before",
    ]
    code: Annotated[
        tuple[str, ...], "a graph inside an op as the lines of a function with types"
    ] = ()
    sources: Annotated[
        tuple[SourceLine, ...], "lines of code that nodes come from, by file and line"
    ] = ()


@dataclass(slots=True, kw_only=True)
class FailedFunction:
    """Function that did not compile."""

    name: str
    file: str | None
    line: int | None
    error: str


@dataclass(slots=True, kw_only=True)
class ReportLine(Line):
    """First line of a report."""

    kind: Literal["report"] = "report"
    versions: Annotated[dict[str, str], "of the library, of Python and of NumPy"]
    failed: Annotated[list[FailedFunction], "functions that failed to compile"]


LINES = (FiringLine, AttemptLine, PhaseLine, FunctionLine, GraphLine, ReportLine)
_KINDS: dict[str, Any] = {get_args(get_type_hints(one)["kind"])[0]: one for one in LINES}


def filled(kind: type[Any], thing: Any, **given: Any) -> Any:
    """Build a record of a kind. Fields that are not given are the attributes of a thing with the
    same name.
    """
    names = [f.name for f in fields(kind) if f.name not in given and hasattr(thing, f.name)]
    return kind(**given, **{name: getattr(thing, name) for name in names})


# --- as JSON ----------------------------------------------------------------------------------


def to_json(record: Line) -> str:
    """Return a record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, default=_fields_of)


def _fields_of(record: Any) -> dict[str, Any]:
    kind: Any = type(record)
    return {key: getattr(record, name) for name, key in _keys(kind)}


@cache
def _keys(kind: Any) -> tuple[tuple[str, str], ...]:
    """Return the fields of a record with their keys: a `_` at the end avoids a word of Python."""
    return tuple([(f.name, f.name.rstrip("_")) for f in fields(kind)])


def from_json(text: str) -> Line:
    """Build a record from a line of JSON. Raises `ValueError`, `TypeError` or `KeyError` for other
    text; unknown keys are ignored, since versions with more fields have them.
    """
    found = json.loads(text)
    if found["version"] != VERSION:
        raise ValueError(f"it is of version {found['version']}, not {VERSION}")
    line: Line = _reader(_KINDS[found["kind"]])(found)
    return line


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


@cache
def _reader(type_: Any) -> Callable[[Any], Any]:
    """Return the function that builds a value of a type from what `json.loads` returns."""
    type_, _ = _plain(type_)
    if isinstance(type_, type) and is_dataclass(type_):
        return _record_reader(type_)
    origin, args = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        inner: Any = _reader(next(one for one in args if one is not NoneType))
        return lambda value: None if value is None else inner(value)
    if origin is list and (inner := _reader(args[0])) is not _same:
        return lambda value: [inner(one) for one in value]
    if origin is dict and (inner := _reader(args[1])) is not _same:
        return lambda value: {key: inner(one) for key, one in value.items()}
    if origin is tuple and args[-1] is Ellipsis:
        one_reader = _reader(args[0])
        return lambda value: tuple([one_reader(one) for one in value])
    return tuple if origin is tuple else _same


def _record_reader(kind: Any) -> Callable[[Any], Any]:
    readers = [(name, key, _reader(_hints(kind)[name])) for name, key in _keys(kind)]
    default = {f.name for f in fields(kind) if f.default is not MISSING}

    def read(value: Any) -> Any:
        given = [one for one in readers if one[1] in value or one[0] not in default]
        return kind(**{name: inner(value[key]) for name, key, inner in given})

    return read


def _same(value: Any) -> Any:
    return value


# --- the schema -------------------------------------------------------------------------------

Schema = dict[str, Any]
_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of a line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of a trace of rewrite_engine",
        "oneOf": [_object(kind) for kind in LINES],
    }


def _object(kind: Any) -> Schema:
    properties = {key: _schema_of(_hints(kind)[name]) for name, key in _keys(kind)}
    text = " ".join((kind.__doc__ or "").split()).rstrip(".")
    return {
        "type": "object", "description": text, "properties": properties,
        "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _plain(type_: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without its notes, and the notes."""
    if get_origin(type_) is Annotated:
        return type_.__origin__, type_.__metadata__
    return type_, ()


def _schema_of(type_: Any) -> Schema:
    """Return the schema of a field's type."""
    type_, notes = _plain(type_)
    found = _object(type_) if is_dataclass(type_) else _schema_of_value(type_)
    for note in notes:
        found |= note._asdict() if isinstance(note, AtLeast) else {"description": note}
    return found


def _schema_of_value(type_: Any) -> Schema:
    origin, args = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        found = _schema_of(next(one for one in args if one is not NoneType))
        return found | {"type": [found["type"], "null"]}
    if origin is Literal:
        return {"const": args[0]} if len(args) == 1 else {"enum": list(args)}
    if origin is list:
        return {"type": "array", "items": _schema_of(args[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(args[1])}
    if origin is tuple and args[-1] is Ellipsis:
        return {"type": "array", "items": _schema_of(args[0])}
    if origin is tuple:
        n = len(args)
        first = [_schema_of(one) for one in args]
        return {"type": "array", "prefixItems": first, "minItems": n, "maxItems": n, "items": False}
    return {"type": _NAMES[type_]}
