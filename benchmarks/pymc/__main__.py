"""One library in a process of its own: `python -m benchmarks.pymc NAME PART` prints a line of JSON
per model. NAME: rewrite_engine or pytensor. PART: density or sample.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from benchmarks.measure import medians
from benchmarks.peers.work import TooLong, at_most_seconds

LIMIT = 400.0  # seconds for one model
DRAWS = 300  # and as many to tune
LEFT_OUT = "Lotka-Volterra, as a potential"


def made(build: Callable[[], None]) -> Any:
    """The model."""
    import pymc as pm

    with pm.Model() as model:
        build()
    return model


def density(build: Callable[[], None]) -> dict[str, float]:
    """Seconds until the density with its gradient has been called, microseconds of a call."""
    from pymc.blocking import DictToArrayBijection

    model = made(build)
    point = DictToArrayBijection.map(model.initial_point(0))
    step = 0.1 * np.random.default_rng(6).normal(size=len(point.data))
    start = process_time()
    f = model.logp_dlogp_function(ravel_inputs=True)
    f.set_extra_values({})
    point = point._replace(data=point.data + step)
    value, _ = f(point)
    seconds = process_time() - start
    call = medians({"call": lambda: f(point)}, turns=11)["call"]
    return {"ready": seconds, "call": call * 1e6, "value": float(value)}


def sample(build: Callable[[], None]) -> dict[str, float]:
    """Seconds from the model to its draws."""
    import pymc as pm

    start = process_time()
    with made(build):
        pm.sample(
            DRAWS,
            tune=DRAWS,
            chains=1,
            cores=1,
            random_seed=1,
            nuts_sampler="pymc",
            progressbar=False,
            compute_convergence_checks=False,
        )
    return {"sampled": process_time() - start}


PARTS = {"density": density, "sample": sample}


def main(name: str, part: str) -> int:
    """Some figures of one library; where PyMC is missing, none."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    if name == "rewrite_engine":
        from rewrite_engine.compat import install

        install()  # before PyMC
    try:
        from benchmarks.pymc_models import models
    except ImportError:
        return 0
    for title, build in models.MODELS.items():
        if title == LEFT_OUT:
            continue
        facts: dict[str, Any] = {"model": title}
        try:
            with at_most_seconds(LIMIT):
                facts |= PARTS[part](build)
        except TooLong:
            facts["failed"] = f"> {LIMIT:.0f} s"
        except Exception as error:
            facts["failed"] = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps(facts), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
