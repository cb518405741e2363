"""Let Python processes that a program starts find this library, too (workers of `multiprocessing`,
joblib, …): `python -m rewrite_engine.compat` puts this folder first on their path. Python runs a
module of this name when it starts; the next one on the path is run as well.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


class Later(MetaPathFinder):
    """Finder that installs the names of the libraries when the first of them is imported."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Install the names, and let their finder look for the module."""
        if fullname.partition(".")[0] not in ("pytensor", "aesara", "theano"):
            return None
        sys.meta_path.remove(self)
        from rewrite_engine.compat import install

        install()
        return find_spec(fullname)


def run_next() -> None:
    """Run the next `sitecustomize` on the path."""
    rest = [p for p in sys.path if Path(p or ".").resolve() != FOLDER]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


if find_spec("rewrite_engine") is None:
    sys.path.append(str(FOLDER.parents[2]))
sys.meta_path.insert(0, Later())
run_next()
