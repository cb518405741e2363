"""Arrays put together, taken apart and laid out anew: `joins.py`, `pieces.py`, `padding.py`,
`rearrange.py` (repeating, turning, regrouping), `ranges.py` (numbers in order, grids).

What every graph needs of shapes is in the kernel: `tensor/dimshuffle.py` and `tensor/reshape.py`
(the same elements), `tensor/shape.py` (shapes as values), `tensor/creation.py` (arrays from a
shape).
"""
