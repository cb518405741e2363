"""Tests of native code: left out where llvmlite is not installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("llvmlite") else ["test_*.py"]
