"""`pytest --linker native` runs the tests with another linker than the VM, which they use
otherwise, also where llvmlite is installed.
"""

from __future__ import annotations

import os
from typing import Any


def pytest_addoption(parser: Any) -> None:
    parser.addoption(
        "--linker", default="vm", choices=("vm", "native"), help="of modes that name none"
    )


def pytest_configure(config: Any) -> None:
    """Set the linker in this process and in those that tests start, and have regions checked."""
    from rewrite_engine.config import config as settings

    name = config.getoption("--linker")
    flags = [flag for flag in os.environ.get("REWRITE_ENGINE_FLAGS", "").split(",") if flag]
    others = [flag for flag in flags if not flag.strip().startswith("linker")]
    own = [f"linker={name}", "check_regions=True"]
    os.environ["REWRITE_ENGINE_FLAGS"] = ",".join([*others, *own])
    settings.linker, settings.check_regions = name, True
