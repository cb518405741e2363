"""Without a compiler these tests are left out."""

from __future__ import annotations

import pytest

from rewrite_engine.link.c.compiler import has_compiler


@pytest.fixture(autouse=True)
def _with_a_compiler(request: pytest.FixtureRequest) -> None:
    if not has_compiler() and "without_compiler" not in request.keywords:
        pytest.skip("there is no C++ compiler")
