"""What describes arrays: `moments.py` (means, variances, positions of extrema), `descriptive.py`
(quantiles, norms, correlations), `without_nan.py` (the same of what is not NaN).

Sums and other reductions are in `tensor/reduce.py`, running ones in `tensor/running.py`.
"""
