"""Statistics of arrays: `moments.py` (means, variances, positions of extrema), `descriptive.py`
(quantiles, norms, correlations), `without_nan.py` (statistics that ignore NaN).

Sums and other reductions are in `tensor/reduce.py`, running ones in `tensor/running.py`.
"""
