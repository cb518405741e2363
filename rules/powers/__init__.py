"""Products of exponentials and their relatives, read once as powers; their logarithms.

`forms.py` reads the arguments of exponentials as linear forms; `power.py` a product, or a sum along
one ray, as a record of exponents; `spell.py` writes such a record; `products.py` has the rules that
put a better spelling in; `logs.py` reads logarithms, `logarithms.py` has the rules for them.
"""
