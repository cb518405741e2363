"""Modules are kept in a folder of the test run; without a compiler these tests are left out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rewrite_engine.config import config
from rewrite_engine.link.c.compiler import has_compiler


@pytest.fixture(autouse=True)
def _kept_for_the_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    if not has_compiler() and "without_compiler" not in request.keywords:
        pytest.skip("there is no C++ compiler")
    shared = tmp_path_factory.getbasetemp().parent / "c_modules"  # of all processes of the run
    with config.change_flags(compiledir=shared):
        yield
