"""Run the programs of this folder, all or some, and print one line of JSON for each.

    python run.py                            with PyTensor
    python -m rewrite_engine.compat run.py   with rewrite_engine
    … run.py --list                          only their names
    … run.py series regressions.radon        those of a module, and one

A line has `name`, `ok`, `seconds`; of one that failed `error` and `message`, and with `--trace`
the traceback goes to stderr. Exit status: how many failed.
"""

import json
import logging
import os
import sys
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path

os.environ.setdefault(
    "PYTENSOR_FLAGS", "mode=FAST_COMPILE,linker=py"
)  # (no compiler is waited for)
MODULES = sorted(
    p.stem for p in Path(__file__).parent.glob("*.py") if p.stem not in ("run", "checks")
)


def programs(wanted: list[str]) -> dict[str, object]:
    """{name: function} of the modules, or functions, that are named; of all for none."""
    found = {}
    for module in MODULES:
        chosen = [w for w in wanted if w.partition(".")[0] == module]
        if wanted and not chosen:
            continue
        for name, value in vars(import_module(module)).items():
            own = callable(value) and getattr(value, "__module__", None) == module
            if own and not name.startswith("_") and not isinstance(value, type):
                full = f"{module}.{name}"
                if not wanted or module in chosen or full in chosen:
                    found[full] = value
    return found


def outcome(name: str, program: object, trace: bool) -> dict[str, object]:
    """What is said of one."""
    start = time.perf_counter()
    line: dict[str, object] = {"name": name, "ok": True}
    try:
        program()
    except Exception as error:
        if trace:
            traceback.print_exc()
        line |= {"ok": False, "error": type(error).__name__, "message": str(error)[:2000]}
    return line | {"seconds": round(time.perf_counter() - start, 2)}


def main(arguments: list[str]) -> int:
    """Run them; how many failed."""
    warnings.simplefilter("ignore")
    logging.getLogger("pymc").setLevel(logging.ERROR)
    wanted = [a for a in arguments if not a.startswith("--")]
    found, failed = programs(wanted), 0
    for name, program in found.items():
        if "--list" in arguments:
            print(name)
            continue
        line = outcome(name, program, "--trace" in arguments)
        failed += not line["ok"]
        print(json.dumps(line), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
