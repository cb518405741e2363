"""Elements in order, and what is found by it: `sorting.py`, `search.py` (where values are, and
how often), `sets.py` (arrays as sets, histograms).
"""
