"""Random numbers. So far: the type of what draws them.

`type.py` `RandomGeneratorType`, the states of `numpy.random.Generator`.
"""

from rewrite_engine.random.type import RandomGeneratorType, random_generator_type

__all__ = ["RandomGeneratorType", "random_generator_type"]
