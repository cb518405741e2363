"""Order of elements: `sorting.py`, `search.py` (positions and counts of values), `sets.py` (arrays
as sets, histograms).
"""
