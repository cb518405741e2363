"""Products of exponentials and related functions, read once as powers; their logarithms.

`forms.py` reads the arguments of exponentials as linear forms. `power.py` reads a product, or a sum
along one ray, as a record of exponents. `spell.py` writes such a record. `products.py` has the
rules that insert a better spelling. `logs.py` reads logarithms, and `logarithms.py` has the rules
for them.
"""
