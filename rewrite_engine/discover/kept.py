"""A folder with finished spaces: the record of each, as JSON, and its rules, as a pack."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rewrite_engine.discover.report import SpaceRecord, as_json, from_json, pack_of
from rewrite_engine.discover.space import Space
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.pipeline.packs import load_rules


class KeptSpaces:
    """Spaces that are kept in a folder. limits: options of the search, as data for JSON. What was
    found with others, or in another space of the name, is searched again.
    """

    def __init__(self, folder: Path, limits: Mapping[str, Any]) -> None:
        self.folder, self.limits = folder, dict(limits)
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, space: Space) -> Path:
        """Return the path of the record of a space."""
        facts = sorted({f.name for some in space.variables.values() for f in some})
        return self.folder / (re.sub(r"\W+", "_", "-".join([space.name, *facts])) + ".json")

    def limits_of(self, space: Space) -> dict[str, Any]:
        """Return the options of a search in a space, with what its terms are made of."""
        functions, numbers = [one.name for one in space.makers], [*map(str, space.numbers)]
        names = [*map(str, space.variables)]
        own = {"functions": functions, "numbers": numbers, "variables": names}
        return self.limits | own | {"ops": space.size, "about": list(space.about)}

    def write(self, space: Space, record: SpaceRecord) -> None:
        """Store the record and the rules of a space."""
        path = self.path(space)
        path.with_suffix(".py").write_text(pack_of(record.rules))
        data = json.loads(as_json([record])) | {"limits": self.limits_of(space)}
        path.write_text(json.dumps(data, indent=1))

    def read(self, space: Space) -> tuple[SpaceRecord, list[Any]] | None:
        """Return a space with its rules; None if it is not there, or was searched within other
        limits, or its rules cannot be read.
        """
        path = self.path(space)
        try:
            text = path.read_text()
            if json.loads(text)["limits"] != self.limits_of(space):
                return None
            (record,) = from_json(text)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if all([one.source.startswith("#") for one in record.rules]):
            return record, []
        try:
            return record, [*load_rules(path.with_suffix(".py"))]
        except (RewriteEngineError, OSError):
            return None
