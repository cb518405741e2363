"""Truth values, and choices between two terms."""

from rewrite_engine.language import *
from rewrite_engine.tensor import invert, switch

CHOICES = table(
    "choices",
    (
        "invert_of_invert", lambda x: invert(invert(x)) >> x, exact,
        "Two negations cancel each other, bit by bit.",
        """~~bvector("x") -> x""",
    ),
    (
        "switch_of_same", lambda condition, x: switch(condition, x, x) >> x, exact,
        "Both choices give the same result.",
        """(lambda x: switch(x > 0, x, x))(vector("x")) -> x""",
    ),
    (
        "switch_on_true", lambda x, y: switch(True, x, y) >> x, exact,
        "A condition that is constant selects the first term.",
        """switch(constant(True), vector("x"), 0) -> x""",
    ),
    (
        "switch_on_false", lambda x, y: switch(False, x, y) >> y, exact,
        "A condition that is constant selects the second term.",
        """switch(constant(False), 0, vector("y")) -> y""",
    ),
    (
        "switch_in_then",
        lambda c, x, y, z: switch(c, switch(c, x, y), z) >> switch(c, x, z), exact,
        "Inside the first term, the same condition is true.",
        """(lambda x: switch(x > 0, switch(x > 0, x, 1.0), 2.0))(vector("x"))
        -> switch(x > 0.0, x, 2.0)""",
    ),
    (
        "switch_in_else",
        lambda c, x, y, z: switch(c, x, switch(c, y, z)) >> switch(c, x, z), exact,
        "Inside the second term, the same condition is false.",
        """(lambda x: switch(x > 0, x, switch(x > 0, 1.0, 2.0)))(vector("x"))
        -> switch(x > 0.0, x, 2.0)""",
    ),
    phase="canonicalize",
)  # fmt: skip
