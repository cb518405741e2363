"""Tests of native code: left out where llvmlite is not installed."""

from __future__ import annotations

from rewrite_engine.link.linker import has_llvmlite

collect_ignore_glob = [] if has_llvmlite() else ["test_*.py"]
