"""Whether values keep a claim: one answer for `check`, DebugMode, `explain` and the fuzzer.

`verdict.py` says it (`judge`), of the values of both sides of a rewriting step; `whole_excuses.py`
of the results of a whole graph. They read what is known of a difference: `difference.py` and
`whole.py`, by values of terms (`values.py`), noise (`noise.py`), and many digits (`exact.py`,
`limits.py`, `partly.py`), which need mpmath. Each way in which a difference is forgiven is a row of
a table: `excuses.py`, `digits.py`. `facts.py` says whether facts hold; `compare.py` says how far
outputs are apart.

`truth.py` gives the exact results of one node for `rw.accuracy`: with the functions of
`function.py`, linear algebra (`matrix.py`, by the numbers of `binary.py`), or in 80-bit floats
(`wide.py`).

A package above `tensor` and the rules and below the linkers: it imports no linker, `check` or
`explain`.
"""
