"""Joining, splitting and rearranging arrays: `joins.py`, `pieces.py`, `padding.py`, `rearrange.py`
(repeat, flip, regroup), `ranges.py` (sequences of numbers, grids).

The parts that every graph needs are loaded at once: `tensor/dimshuffle.py` and `tensor/reshape.py`
(the same elements in another shape), `tensor/shape.py` (shapes as values), `tensor/creation.py`
(arrays from a shape).
"""
