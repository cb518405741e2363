"""What all tests share: Hypothesis profiles, and settings put back after each test."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, settings

from rewrite_engine.config import DEFAULTS, config
from rewrite_engine.link import LINKERS, Linker, register_linker
from tests.installing import install  # noqa: F401

# A slow machine is no bug, and a failure in CI must be the same one the next time.
settings.register_profile(
    "default", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2_000)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default")
)

config.keep_matchers = False  # what a test run leaves behind, no other finds


#: set by fixtures of whole modules that run programs of PyTensor
SET_BY_COMPAT = ("random_parameters", "sparse_methods", "sparse_values")


def pytest_collection_finish() -> None:
    """What the many parameters of the tests are made of stays: collections need not look at it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def few_objects() -> None:
    """Collections of the tests of a module need not look at what other tests have left."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _settings_are_put_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test may change `config`; the next one does not see it. Some are tests of the VM."""
    flags = os.environ.get("REWRITE_ENGINE_FLAGS", "")
    own = {name: getattr(config, name) for name in DEFAULTS}
    with config.change_flags(**own | {name: DEFAULTS[name] for name in SET_BY_COMPAT}):
        if request.node.get_closest_marker("on_vm"):
            config.linker = "vm"
            os.environ["REWRITE_ENGINE_FLAGS"] = flags.replace("linker=native", "linker=vm")
        yield
    os.environ["REWRITE_ENGINE_FLAGS"] = flags


@pytest.fixture
def checked_graphs(_settings_are_put_back: None) -> None:
    """The invariants of graphs are checked after every change (`pytest --check-graphs`: always)."""
    config.check_graphs = True


@pytest.fixture(autouse=True, scope="session")
def _c_modules_are_kept_for_the_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    """In a folder that all processes of a test run share."""
    base = tmp_path_factory.getbasetemp()
    config.compiledir = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "c_modules"


@pytest.fixture
def registered() -> Iterator[Callable[[Linker], Linker]]:
    """Registers linkers for one test."""
    before = dict(LINKERS)
    yield register_linker
    LINKERS.clear()
    LINKERS.update(before)
