"""Write the skeleton of a distribution with a rule pack: `python -m rewrite_engine.new_pack NAME`.

The skeleton has one rule, its tests, an entry point, and a workflow that checks it. The tutorial
`docs/tutorials/first_rule.md` continues from there.
"""

from __future__ import annotations

import argparse
import keyword
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

PYPROJECT = """\
[build-system]
requires = ["hatchling>=1.24"]
build-backend = "hatchling.build"

[project]
name = "{distribution}"
version = "0.1"
description = "Rewrite rules for ..."
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["rewrite-engine"]

[project.optional-dependencies]
test = ["pytest", "rewrite-engine[check]"]

# With this entry point, the rules are used wherever the distribution is installed.
[project.entry-points."rewrite_engine.rules"]
{module} = "{module}"

[tool.pytest.ini_options]
addopts = "--rewrite-rules={module}"
"""

PACK = '''\
"""Rules for ...: used wherever this distribution is installed."""

import rewrite_engine.tensor as pt
from rewrite_engine.language import *


@rule(phase="canonicalize", claim=approx(ulps=4))
def tan_of_quotient(x: Float):
    """One function call instead of two and a division.

    >>> x = vector("x")
    >>> rewritten(pt.sin(x) / pt.cos(x))
    tan(x)
    """
    return pt.sin(x) / pt.cos(x) >> pt.tan(x)
'''

TESTS = '''\
"""Where the rules fire, and where they must not; the pytest plugin checks their claims."""

import {module}
from hypothesis import given, settings

import rewrite_engine.tensor as pt
from rewrite_engine.check import assert_keeps_claim, rule_strategies

x, y = pt.vectors("x y")


def test_where_it_fires(assert_rewrites):
    assert_rewrites(pt.sin(x) / pt.cos(x), "tan(x)", only=[{module}.tan_of_quotient])


def test_where_it_must_not_fire(assert_rewrites):
    assert_rewrites(pt.sin(x) / pt.cos(y), None, only=[{module}.tan_of_quotient])


def test_values(assert_same_values):
    assert_same_values(pt.sin(x) / pt.cos(x), pt.tan(x), {{x: [0.0, 1e-300, 1.5]}})


@settings(max_examples=25, deadline=None)
@given(rule_strategies({module}.tan_of_quotient))
def test_the_claim(case):
    assert_keeps_claim(*case)
'''

README = """\
# {distribution}

A rule pack for [rewrite_engine](https://github.com/rewrite-engine/rewrite-engine).

    pip install -e ".[test]"
    python -m rewrite_engine.check {module}     checks rules, claims and examples
    pytest                                      runs the tests, and each check as a test

`{module}.py` has the rules. Every program that compiles with `rewrite_engine` uses them once this
distribution is installed. `rw.Mode().excluding("{module}")` leaves them out.
"""

WORKFLOW = """\
name: test
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install .[test]
      - run: python -m rewrite_engine.check {module}
      - run: pytest
"""

#: file of the skeleton: its text
FILES = {
    "pyproject.toml": PYPROJECT,
    "{module}.py": PACK,
    "tests/test_{module}.py": TESTS,
    "README.md": README,
    ".github/workflows/test.yml": WORKFLOW,
}


def names_of(name: str) -> tuple[str, str]:
    """Return the names of the distribution and of its module. Raise `ValueError` for an invalid
    name, or one that Python or an installed module already uses.
    """
    module = name.lower().replace("-", "_")
    if not module.isidentifier() or keyword.iskeyword(module):
        raise ValueError(f"{name!r} is not a valid module name: use letters, digits, - and _")
    if module == "rules" or module in sys.stdlib_module_names or _is_importable(module):
        raise ValueError(f"a module named {module!r} already exists: choose another name")
    return module.replace("_", "-"), module


def _is_importable(module: str) -> bool:
    """Return whether a module of this name is installed; a folder without code is none."""
    if module in sys.modules:
        return True
    spec = find_spec(module)
    return spec is not None and spec.origin is not None


def write_pack(name: str, parent: Path) -> Path:
    """Write the skeleton to a new folder in `parent` and return the folder.

    Raise `ValueError` for an invalid name, `FileExistsError` if the folder exists.
    """
    distribution, module = names_of(name)
    folder = parent / distribution
    folder.mkdir(parents=True)
    for file, text in FILES.items():
        path = folder / file.format(module=module)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(distribution=distribution, module=module), encoding="utf-8")
    return folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m rewrite_engine.new_pack",
        description="Write the skeleton of a distribution with a rule pack.",
    )
    parser.add_argument("name", metavar="NAME", help="name of the distribution, such as my-rules")
    parser.add_argument(
        "--into",
        metavar="FOLDER",
        default=".",
        help="folder to write to (default: the present one)",
    )
    options = parser.parse_args(arguments)
    try:
        folder = write_pack(options.name, Path(options.into))
    except (ValueError, OSError) as error:
        print(f"new_pack: {error}", file=sys.stderr)
        return 2
    module = names_of(options.name)[1]
    print(f"wrote {folder}")
    print(
        f'next: cd {folder} && pip install -e ".[test]" && python -m rewrite_engine.check {module}'
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
