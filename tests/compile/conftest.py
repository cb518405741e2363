"""What a function is to its caller does not depend on the linker."""

from __future__ import annotations

import pytest

from rewrite_engine.config import config


@pytest.fixture(params=["vm", "py"])
def linker(request: pytest.FixtureRequest) -> str:
    """The name of a linker, which functions have by default."""
    config.mode = request.param
    return config.mode
