"""`pytest --linker native` runs the tests with another linker than the VM, which they use
otherwise, also where llvmlite is installed. `pytest --check-graphs` checks the invariants of every
graph after every change (`config.check_graphs`).
"""

from __future__ import annotations

import os
from typing import Any


def pytest_addoption(parser: Any) -> None:
    parser.addoption(
        "--linker", default="vm", choices=("vm", "native", "jax"), help="of modes that name none"
    )
    parser.addoption(
        "--check-graphs", action="store_true", help="check all graphs after every change (slow)"
    )


def pytest_configure(config: Any) -> None:
    """Set the linker in this process and in those that tests start, and have regions checked."""
    from rewrite_engine.config import config as settings

    name = config.getoption("--linker")
    flags = [flag for flag in os.environ.get("REWRITE_ENGINE_FLAGS", "").split(",") if flag]
    others = [flag for flag in flags if not flag.strip().startswith("linker")]
    own = [f"linker={name}", "check_regions=True"]
    settings.linker, settings.check_regions = name, True
    if config.getoption("--check-graphs"):
        own.append("check_graphs=True")
        settings.check_graphs = True
    os.environ["REWRITE_ENGINE_FLAGS"] = ",".join([*others, *own])
