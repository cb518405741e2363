"""Records of lines: the schema is generated from them, and a line that is read is the record."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain import Report, recording
from rewrite_engine.explain.lines import json_lines
from rewrite_engine.rewrite.trace.records import (
    LINES,
    ChangedNode,
    FiringLine,
    GraphLine,
    NodeRow,
    Saving,
    SourceLine,
    from_json,
    schema,
    to_json,
)
from tests.rewrite.schema import problems


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """The lines of a report on a loop, its gradient and a failure, with attempts."""
    ys, w = pt.vector("ys"), pt.scalar("w")
    h, _ = rw.scan(
        lambda y, h, w: pt.log(1 + pt.exp(w * y + h)),
        sequences=[ys], outputs_info=[pt.constant(0.0)], non_sequences=[w],
    )  # fmt: skip
    with recording(attempts=True) as recorder:
        rw.function([ys, w], [h, rw.grad(h.sum(), w)], name="f")([1.0, 2.0], 3.0)
        with pytest.raises(rw.errors.RewriteEngineError):
            rw.function([ys, ys], ys, name="bad")
    return list(json_lines(Report(recorder.records, recorder.failed)))


def test_each_kind_of_line_is_as_the_generated_schema_says(lines: list[str]) -> None:
    records = [json.loads(line) for line in lines]
    kinds = {get["properties"]["kind"]["const"] for get in schema()["oneOf"]}
    assert {record["kind"] for record in records} == kinds
    assert [p for record in records for p in problems(record, schema())] == []


def test_the_schema_refuses_a_missing_an_unknown_and_a_wrong_field(lines: list[str]) -> None:
    firing = next(r for r in map(json.loads, lines) if r["kind"] == "firing")
    for wrong in (
        {key: value for key, value in firing.items() if key != "rule"},
        firing | {"unknown": 1},
        firing | {"number": 0},
        firing | {"saved": {"nodes": 1.5, "flops": 0, "bytes": 0}},
        firing | {"place": [0]},
    ):
        assert list(problems(wrong, schema()))


def test_a_line_that_is_read_and_written_is_the_line(lines: list[str]) -> None:
    assert [to_json(from_json(line)) for line in lines] == lines
    assert {type(from_json(line)) for line in lines} == set(LINES)


def test_lines_of_other_versions_may_have_fewer_or_more_fields(lines: list[str]) -> None:
    firing = next(r for r in map(json.loads, lines) if r["kind"] == "firing")
    newer = from_json(json.dumps(firing | {"unknown": 1}))
    assert isinstance(newer, FiringLine)
    older = from_json(json.dumps({k: v for k, v in firing.items() if k not in ("tags", "saved")}))
    assert isinstance(older, FiringLine)
    assert (older.tags, older.saved) == ((), None)
    with pytest.raises(KeyError):
        from_json(json.dumps({k: v for k, v in firing.items() if k != "rule"}))


def test_records_in_records_are_records(lines: list[str]) -> None:
    graph = next(one for one in map(from_json, lines) if isinstance(one, GraphLine))
    assert {type(one) for one in graph.sources} == {SourceLine}
    assert {type(one) for one in graph.nodes} == {NodeRow}
    assert {type(one) for change in graph.changes for one in change.nodes.values()} == {ChangedNode}
    found = [one for one in map(from_json, lines) if isinstance(one, FiringLine)]
    assert Saving in {type(one.saved) for one in found}


def test_every_field_has_a_type_that_the_schema_knows() -> None:
    described = {part["properties"]["kind"]["const"]: part for part in schema()["oneOf"]}
    for kind in LINES:
        name = next(f.default for f in fields(kind) if f.name == "kind")
        own = described[str(name)]
        assert set(own["required"]) == set(own["properties"]) == {f.name for f in fields(kind)}
        assert own["description"]
