"""Other libraries' names are here for one test each."""

import sys
from collections.abc import Iterator

import pytest

from rewrite_engine.compat import PeerFinder, install
from rewrite_engine.compat.table import VERSIONS
from rewrite_engine.config import config
from rewrite_engine.tensor.numpy_calls import AS_OBJECTS

collect_ignore = ["programs", "pymc"]  # they are run, not imported


@pytest.fixture
def peers() -> Iterator[None]:
    """The names of all three."""
    forget()
    install()
    yield
    forget()


def forget() -> None:
    """As if nobody had asked for them."""
    AS_OBJECTS.clear()
    config.sparse_values, config.sparse_methods = "array", "raise"
    config.random_parameters = "as given"
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, PeerFinder)]
    asking = {f"rewrite_engine.compat.{library}" for library in VERSIONS}
    for name in [n for n in sys.modules if n.partition(".")[0] in VERSIONS or n in asking]:
        del sys.modules[name]
