"""A check of values against the part of JSON Schema that `trace/schema.json` uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
    "integer": int, "number": (int, float),
}  # fmt: skip
KNOWN = {
    "$schema", "title", "description", "type", "const", "enum", "minimum", "minItems", "maxItems",
    "properties", "required", "additionalProperties", "items", "prefixItems", "oneOf",
}  # fmt: skip


def problems(value: Any, schema: Any, at: str = "line") -> Iterator[str]:
    """Yield what is wrong with a value."""
    unknown = schema.keys() - KNOWN
    assert not unknown, f"this check does not know {unknown}"
    if "oneOf" in schema:
        found = [list(problems(value, one, at)) for one in schema["oneOf"]]
        if sum(not f for f in found) != 1:
            yield f"{at} is none of them: {min(found, key=len)}"
    if "type" in schema and not _is(value, schema["type"]):
        yield f"{at} is {value!r}, not {schema['type']}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{at} is {value!r}, not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at} is {value!r}, not one of {schema['enum']}"
    if isinstance(value, int | float) and value < schema.get("minimum", value):
        yield f"{at} is {value!r}, less than {schema['minimum']}"
    if isinstance(value, dict):
        yield from _object(value, schema, at)
    elif isinstance(value, list):
        yield from _array(value, schema, at)


def _is(value: Any, types: str | list[str]) -> bool:
    names = [types] if isinstance(types, str) else types
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, TYPES[name]) for name in names)


def _object(value: dict[str, Any], schema: Any, at: str) -> Iterator[str]:
    properties, more = schema.get("properties", {}), schema.get("additionalProperties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at} has no {name}"
    for name, one in value.items():
        if name in properties:
            yield from problems(one, properties[name], f"{at}.{name}")
        elif more is False:
            yield f"{at} has {name}, which the schema does not know"
        else:
            yield from problems(one, more, f"{at}.{name}")


def _array(value: list[Any], schema: Any, at: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{at} has {len(value)} items"
    first = schema.get("prefixItems", [])
    for i, one in enumerate(value):
        if i < len(first):
            yield from problems(one, first[i], f"{at}[{i}]")
        elif schema.get("items") is not False:
            yield from problems(one, schema.get("items", {}), f"{at}[{i}]")
        else:
            yield f"{at} has more items than {len(first)}"
