"""A fuzzer: random graphs of all ops, dtypes, layouts and special values, rewritten and run,
against what they mean; gradients against derivatives of many digits; facts against values.

    scripts/fuzz --minutes 10                  all three, on every core
    scripts/fuzz --graphs 1000 --seed 7        only graphs, from another seed
    scripts/fuzz --replay graphs:0:123         one case again
    scripts/fuzz ordinary --formulas 10000     small formulas at ordinary inputs (`ordinary.py`)
    scripts/fuzz unrolled --recurrences 100    loops written out, how long they take (`unrolled.py`)
    scripts/fuzz loops --loops 1000            loops in native code and on the VM (`loops.py`)

`pool.py` is what graphs are grown in, by `elementwise.py`, `steps.py` and `motifs.py`; `idioms.py`
has what is promised to be stable, with its gradient. `judge.py` says what is wrong (`reference.py`:
node by node, and with noise; `exact.py` and `differences.py`: with many digits; `partly.py`: as if
some steps were mended). A finding is shrunk (`shrink.py`), the guilty step is found (`blame.py`),
and told once (`report.py`).

`ordinary.py` needs no judge: `formulas.py` grows trees of its own, `bounds.py` says what they mean,
and how far off floating point may be. `unrolled.py` compiles the loops of `recurrences.py`, within
limits of time (`limit.py`).
"""
