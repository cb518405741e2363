"""Functions and graphs that are sent to processes: forked ones, and ones that start anew."""

import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytensor
import pytensor.tensor as pt


def at(f, value):
    """What a compiled function gives in a process, and with which library."""
    x = pt.dscalar("x")
    again = pytensor.function([x], pt.exp(x))(value)
    return float(f(value)), float(again), pytensor.__version__


if __name__ == "__main__":
    x = pt.dscalar("x")
    f = pytensor.function([x], pt.exp(x))
    found = []
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            found.append(pool.apply(at, (f, 1.0)))
    here = np.e, np.e, pytensor.__version__
    print([np.allclose(one[:2], here[:2]) and one[2] == here[2] for one in found])
    print(pickle.loads(pickle.dumps(pt)) is pt)
    code = (
        "import pytensor, sys; print(pytensor.__version__, 'rewrite_engine.compat' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    print(done.stdout.split() == [pytensor.__version__, "True"])
