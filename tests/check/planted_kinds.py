"""Wrong rules, facts and ops that pass a check of a few ordinary values, by kinds; and right ones
that are close to them.
"""

from __future__ import annotations

from tests.check.planted import planted, rule_of

DTYPES = [
    planted("distance of unsigned", "WRONG", "claim",
            "pt.maximum(x, y) - pt.minimum(x, y) >> pt.abs(x - y)", "x: Ordered, y: Ordered",
            "claim=exact"),
    planted("absolute least integer", "WRONG", "claim",
            "pt.ge(pt.abs(x), 0) >> compute(lambda x: pt.ones_like(x, dtype='bool'))",
            "x: Integer", "claim=exact"),
    planted("negated order", "WRONG", "claim", "pt.lt(-x, -y) >> pt.lt(y, x)",
            "x: Number, y: Number", "claim=exact"),
    planted("conjugate of anything", "WRONG", "claim", "pt.conj(pt.neg(x)) >> pt.neg(x)",
            "x: Number", "claim=exact"),
    planted("knee of doubles", "WRONG", "claim",
            "pt.softplus(x) >> pt.switch(pt.gt(x, 700), x, pt.log1p(pt.exp(x)))", "x: Float"),
    planted("through single floats", "WRONG", "claim",
            "pt.cast(pt.cast(x, 'float32'), 'int32') >> x", "x: pt.ivector", "claim=exact"),
    planted("product of small", "WRONG", "claim", "pt.lt(x * y, 0) >> pt.neq(pt.lt(x, 0), "
            "pt.lt(y, 0))", "x: Integer, y: Integer", "claim=exact"),
]  # fmt: skip

LENGTHS = [
    planted("solved in turn", "WRONG", "error",
            "pt.linalg.solve(a @ b, u) >> pt.linalg.solve(b, pt.linalg.solve(a, u))",
            "a: pt.dmatrix, b: pt.dmatrix, u: pt.dmatrix", "claim=approx(1 << 40)"),
    planted("inverse of a product", "WRONG", "error",
            "pt.linalg.inv(a @ b) >> pt.linalg.inv(b) @ pt.linalg.inv(a)",
            "a: pt.dmatrix, b: pt.dmatrix", "claim=approx(1 << 40)"),
    planted("determinant of a product", "WRONG", "error",
            "pt.linalg.det(a @ b) >> pt.linalg.det(a) * pt.linalg.det(b)",
            "a: pt.dmatrix, b: pt.dmatrix", "claim=approx(1 << 40)"),
    planted("square of a determinant", "WRONG", "error",
            "pt.linalg.det(a.T @ a) >> pt.sqr(pt.linalg.det(a))", "a: pt.dmatrix",
            "claim=approx(1 << 40)"),
    planted("any of an empty axis", "WRONG", "claim",
            "pt.any(x | y, axis=0) >> (pt.any(x, axis=0) | pt.any(y, axis=0))",
            'x: Tensor[1, None], y: Tensor[None, None]', "claim=exact"),
    planted("all of an empty axis", "WRONG", "claim",
            "pt.all(x & y, axis=0) >> (pt.all(x, axis=0) & pt.all(y, axis=0))",
            'x: Tensor[1, None], y: Tensor[None, None]', "claim=exact"),
    planted("any of neither", "WRONG", "claim",
            "pt.any(pt.invert(x & y), axis=0) >> "
            "(pt.any(pt.invert(x), axis=0) | pt.any(pt.invert(y), axis=0))",
            'x: Tensor[None, None], y: Tensor[1, None]', "claim=exact"),
    planted("largest of an empty axis", "WRONG", "error",
            "pt.max(pt.maximum(x, y), axis=0) >> "
            "pt.maximum(x[0], pt.max(pt.join(0, x, y), axis=0))",
            'x: Tensor[1, None], y: Tensor[None, None]', "claim=exact"),
]  # fmt: skip

CONSTANTS = [
    planted("scaled largest", "WRONG", "claim",
            "pt.max(c * x) >> c * pt.max(x), "
            "given(lambda c: c.number is not None and c.number > 0)",
            "x: Vector, c: FloatConstant", "claim=approx(8)"),
    planted("scaled sum", "WRONG", "claim",
            "pt.sum(c * x) / c >> pt.sum(x), "
            "given(lambda c: c.number is not None and c.number > 1)",
            "x: Vector, c: FloatConstant", "claim=approx(64)"),
    planted("order of a wide number", "WRONG", "claim",
            "pt.lt(x, c) >> compute(lambda x, c: pt.lt(x, pt.constant("
            "np.asarray(c.data).astype(x.type.dtype)))), "
            "given(lambda c: c.type.kind in 'iu' and c.number is not None)",
            "x: Integer, c: ConstantNumber", "claim=exact"),
    planted("product before a conversion", "WRONG", "claim",
            "pt.neg(x * c) >> compute(lambda x, c: pt.cast(pt.neg("
            "x * pt.constant(np.asarray(c.data).astype(x.type.dtype))), (-(x * c)).type.dtype)), "
            "given(lambda c: c.type.dtype == 'int16' and abs(c.number) < 1000)",
            "x: Integer, c: ConstantNumber", "claim=exact"),
]  # fmt: skip

QUOTIENTS = [
    planted("floor of a quotient", "WRONG", "claim", "x // y >> pt.floor(x / y)",
            "x: Float, y: Float"),
    planted("remainder by floor", "WRONG", "claim", "x % y >> x - y * pt.floor(x / y)",
            "x: Float, y: Float", "claim=approx(64)"),
    planted("rounded by floor", "WRONG", "claim", "pt.round_half_to_even(x) >> pt.floor(x + 0.5)",
            "x: Float"),
    planted("ceiling by a reciprocal", "WRONG", "claim",
            "pt.ceil(x / y) >> pt.ceil(x * pt.reciprocal(y))", "x: Float, y: Float"),
]  # fmt: skip


def node_rewriter(track: str, body: str, example: str, options: str = "claim=exact") -> str:
    """The source of a node rewriter with an example."""
    lines = "".join([f"    {line}\n" for line in body.strip().splitlines()])
    return (
        "from rewrite_engine.tensor import Subtensor, Join\n"
        f'@node_rewriter([{track}], phase="canonicalize", {options})\n'
        "def wrong(fgraph, node):\n"
        f"    '''A test.\n\n    >>> _ = {example}\n    '''\n{lines}"
    )


SLICES = """
def bounds(v):
    made = v.owner
    if made is None or not isinstance(made.op, Subtensor) or len(made.op.idx_list) != 1:
        return None
    entry = made.op.idx_list[0]
    if len(made.inputs) != 1 or not hasattr(entry, "start"):
        return None
    return entry.start, entry.stop, entry.step
"""
FUNCTIONS = [
    planted("slice of a slice", "WRONG", "shape",
            SLICES + node_rewriter("Subtensor", """
x = node.inputs[0]
outer, inner = bounds(node.outputs[0]), bounds(x)
if outer is None or inner is None or outer[2] or inner[2] or inner[1] is not None:
    return None
if outer[0] is not None or not isinstance(outer[1], int) or not isinstance(inner[0], int):
    return None
return [x.owner.inputs[0][inner[0]:inner[0] + outer[1]]]
""", 'rewritten(vector("x")[2:][:3])')),
    planted("last of a slice", "WRONG", "shape",
            SLICES + node_rewriter("Subtensor", """
x = node.inputs[0]
outer, inner = bounds(node.outputs[0]), bounds(x)
if outer is None or inner is None or outer[2] or inner[2]:
    return None
if outer[1] is not None or inner[1] is not None or None in (outer[0], inner[0]):
    return None
return [x.owner.inputs[0][inner[0] + outer[0]:]]
""", 'rewritten(vector("x")[2:][3:])')),
    planted("every other of every other", "WRONG", "claim",
            SLICES + node_rewriter("Subtensor", """
x = node.inputs[0]
outer, inner = bounds(node.outputs[0]), bounds(x)
if outer is None or inner is None or not isinstance(outer[2], int):
    return None
if not isinstance(inner[2], int) or (*outer[:2], *inner[:2]) != (None,) * 4:
    return None
return [x.owner.inputs[0][::abs(inner[2] * outer[2])]]
""", 'rewritten(vector("x")[::2][::3])')),
    planted("first of what is joined", "WRONG", "error", node_rewriter("Subtensor", """
x = node.inputs[0]
if x.owner is None or not isinstance(x.owner.op, Join) or node.op.idx_list != (0,):
    return None
return [x.owner.inputs[0][0]] if x.owner.op.axis == 0 else None
""", 'rewritten(pt.join(0, matrix("x"), matrix("y"))[0])', "claim=exact, keeps=None")),
    planted("one of two shapes", "WRONG", "error", node_rewriter("pt.or_", """
a, b = node.inputs
if a.owner is None or b.owner is None or (a.owner.op, b.owner.op) != (pt.lt, pt.ge):
    return None
x, y = a.owner.inputs
if b.owner.inputs != a.owner.inputs or not {x.type.kind, y.type.kind} <= {*"iu"}:
    return None
return [pt.ones_like(x, dtype="bool")] if x.type.shape == node.outputs[0].type.shape else None
""", 'rewritten((lambda x, y: pt.lt(x, y) | pt.ge(x, y))(ivector("x"), ivector("y")))',
        "claim=exact, keeps=None")),
    planted("first of two stacked", "WRONG", "error", node_rewriter("Subtensor", """
x = node.inputs[0]
if x.owner is None or not isinstance(x.owner.op, Join) or node.op.idx_list != (0,):
    return None
parts = x.owner.inputs
if x.owner.op.axis != 0 or parts[0].type.shape[0] != 1:
    return None
return [parts[0][0]]
""", 'rewritten(pt.stack([vector("x"), vector("y")])[0])', "claim=exact, keeps=None")),
    planted("absolute square", "WRONG", "claim", node_rewriter("pt.abs", """
x = node.inputs[0]
if x.owner is None or x.owner.op != pt.mul or x.owner.inputs[0] is not x.owner.inputs[-1]:
    return None
return [x] if len(x.owner.inputs) == 2 and x.type.kind != "c" else None
""", 'rewritten(pt.abs((lambda v: pt.mul(v, v))(vector("x"))))')),
    planted("largest of negated", "WRONG", "claim", node_rewriter("pt.maximum", """
a, b = node.inputs
if a.owner is None or b.owner is None or (a.owner.op, b.owner.op) != (pt.neg, pt.neg):
    return None
return [-pt.minimum(a.owner.inputs[0], b.owner.inputs[0])]
""", 'rewritten(pt.maximum(-vector("x"), -vector("y")))')),
]  # fmt: skip

DRAW = """
from rewrite_engine.random.functions import NormalRV, UniformRV

@node_rewriter([{0}], phase="canonicalize", {1})
def wrong(fgraph, node):
    '''A test.

    >>> _ = rewritten(pt.random.rng("r").{2}[1])
    '''
    state, size, a, b = node.inputs
    if max(a.type.ndim, b.type.ndim) != 1 or getattr(size, "data", 1) is not None:
        return None
    {3}
"""
NORMAL = 'normal(vector("m"), 2.0)'
UNIFORM = 'uniform(0.0, vector("h"))'


def draw(op: str, example: str, body: str, options: str = "") -> str:
    """The source of a rule about draws of vectors."""
    return DRAW.format(op, options, example, "\n    ".join(body.splitlines()))


DRAWS = [
    planted("one draw for all", "WRONG", "distribution", draw("NormalRV", NORMAL, """\
after, x = state.normal(0.0, 1.0)
return [after, a + b * x]""")),
    planted("variance for deviation", "WRONG", "distribution", draw("NormalRV", NORMAL, """\
if getattr(b, "number", None) == 1:
    return None
after, x = state.normal(pt.zeros_like(a + b), 1.0)
return [after, a + pt.sqr(b) * x]""")),
    planted("other draws under exact", "WRONG", "claim", draw("UniformRV", UNIFORM, """\
if getattr(b, "number", None) == 1:
    return None
after, x = state.uniform(pt.zeros_like(a + b), 1.0)
return [after, b - (b - a) * x]""", "claim=exact")),
    planted("shifted draws", "WRONG", "distribution", draw("UniformRV", UNIFORM, """\
if getattr(b, "number", None) == 1:
    return None
after, x = state.uniform(pt.zeros_like(a + b), 1.0)
return [after, a + (b - a) * (1 - x * x)]""")),
    planted("neighbours that share draws", "WRONG", "distribution", draw("NormalRV", NORMAL, """\
if getattr(b, "number", None) == 1:
    return None
after, x = state.normal(pt.zeros_like(a + b), 1.0)
return [after, a + b * x[::-1] * pt.sign(x) * pt.sign(x[0])]""")),
]  # fmt: skip

GUARDS = [
    planted("guard of complex numbers", "WRONG", "raises",
            "pt.arcsinh(c * x) >> c * pt.arcsinh(x), given(lambda c: c.number > 0)",
            "x: Number, c: InexactConstant"),
    planted("guard of owners", "WRONG", "raises",
            "pt.arcsinh(x) >> pt.arctan(x), given(lambda x: x.owner.op == pt.exp)"),
    planted("guard of lengths", "WRONG", "raises",
            "pt.arcsinh(x) >> pt.arctan(x), given(lambda x: x.type.shape[0] > 3)"),
]  # fmt: skip


def shown(variables: str, example: str, output: str, more: str = "") -> str:
    """The source of a rule with an example in which it does not fire."""
    return (
        f'@rule(phase="canonicalize")\ndef wrong({variables}):\n    """.\n\n'
        f'    >>> rewritten({example})\n    {output}\n    """\n'
        f"    return pt.arcsinh(-x) >> -pt.arcsinh(x){more}\n"
    )


EXAMPLES = [
    planted("example that a guard refuses", "LINT", "example",
            shown("x: Inexact", "pt.arcsinh(-vector('x'))", "arcsinh(-x)", ", given(nonneg(x))")),
    planted("example of another dtype", "LINT", "example",
            shown("x: Integer", "pt.arcsinh(-vector('x'))", "arcsinh(-x)")),
    planted("example of another op", "LINT", "example",
            shown("x: Float", "pt.arccosh(-vector('x'))", "arccosh(-x)")),
]  # fmt: skip

ALL = [*DTYPES, *LENGTHS, *CONSTANTS, *QUOTIENTS, *FUNCTIONS, *DRAWS, *GUARDS, *EXAMPLES]

#: right rules beside them: (name, source), none of which may be accused
RIGHT = [
    ("solution", rule_of("inv(a) @ b >> solve(a, b)", "a: Matrix, b: Matrix",
                         "claim=backward(8)")),
    ("inverse of a transpose", rule_of("inv(a.T) >> inv(a).T", "a: Matrix", "claim=backward(4)")),
    ("logarithm of a determinant", rule_of(
        "pt.log(pt.abs(det(a))) >> pt.linalg.SLogDet()(a)[1]", "a: Matrix", "claim=backward(8)")),
    ("trace of a product", rule_of(
        "Sum()(Diagonal(0, 0, 1)(a @ b)) >> Sum()(a * b.T)", 'a: Tensor["n", "m"], '
        'b: Tensor["m", "n"]', "claim=backward(4)")),
    ("negated extremes", rule_of("pt.maximum(-x, -y) >> -pt.minimum(x, y)", "x: Float, y: Float",
                                 "claim=exact")),
    ("order of integers", rule_of("pt.lt(pt.maximum(x, y), y) >> "
                                  "compute(lambda x, y: pt.zeros_like(x + y, dtype='bool'))",
                                  "x: Integer, y: Integer", "claim=exact")),
    ("conjugate of reals", rule_of("pt.conj(pt.neg(x)) >> pt.neg(x)", "x: Float", "claim=exact")),
    ("trace of a product", rule_of("pt.trace(a @ b) >> pt.trace(b @ a), "
                                   "given(lambda a, b: same_shape(a, b.T))",
                                   "a: Matrix, b: Matrix", "claim=approx(1 << 20)")),
    ("solved at once", rule_of(
        "pt.linalg.solve(a, u) + pt.linalg.solve(a, w) >> pt.linalg.solve(a, u + w)",
        "a: pt.dmatrix, u: pt.dmatrix, w: pt.dmatrix", "claim=approx(1 << 40)")),
    ("any of one shape", rule_of(
        "pt.any(x | y, axis=0) >> (pt.any(x, axis=0) | pt.any(y, axis=0)), given(same_shape(x, y))",
        "x: Tensor[None, None], y: Tensor[None, None]", "claim=exact")),
    ("scaled largest", rule_of(
        "pt.max(c * x) >> c * pt.max(x), given(lambda c: c.number in (0.5, 2.0))",
        "x: Vector, c: FloatConstant", "claim=approx(8)")),
    ("turned order", rule_of("pt.lt(c, pt.abs(x)) >> pt.gt(pt.abs(x), c)",
                             "x: Integer, c: ConstantNumber", "claim=exact")),
    ("whole of whole", rule_of("pt.floor(pt.floor(x)) >> pt.floor(x)", "x: Float", "claim=exact")),
    ("whole of a quotient", rule_of("pt.floor(x // y) >> x // y", "x: Float, y: Float",
                                    "claim=exact")),
    ("slice of a slice", SLICES + node_rewriter("Subtensor", """
x = node.inputs[0]
outer, inner = bounds(node.outputs[0]), bounds(x)
if outer is None or inner is None or outer[2] or inner[2]:
    return None
if outer[1] is not None or inner[1] is not None or None in (outer[0], inner[0]):
    return None
if not isinstance(outer[0], int) or not isinstance(inner[0], int) or min(outer[0], inner[0]) < 0:
    return None
return [x.owner.inputs[0][inner[0] + outer[0]:]]
""", 'rewritten(vector("x")[2:][3:])')),
    ("a row of what is joined", node_rewriter("Subtensor", """
x = node.inputs[0]
if x.owner is None or not isinstance(x.owner.op, Join) or node.op.idx_list != (0,):
    return None
first, *rest = x.owner.inputs
if x.owner.op.axis != 0 or x.type.ndim != 1 or first.type.shape != (1,):
    return None
return [first[0]] if first.type.dtype == x.type.dtype else None
""", 'rewritten(pt.join(0, pt.tensor("x", shape=(1,)), vector("y"))[0])')),
    ("one draw for each", draw("NormalRV", NORMAL, """\
if getattr(b, "number", None) == 1:
    return None
after, x = state.normal(pt.zeros_like(a + b), 1.0)
return [after, a + b * x]""")),
    ("mirrored draws", draw("UniformRV", UNIFORM, """\
if getattr(b, "number", None) == 1:
    return None
after, x = state.uniform(pt.zeros_like(a + b), 1.0)
return [after, b - (b - a) * x]""")),
    ("guard of real numbers", rule_of(
        "pt.arcsinh(c * x) >> pt.arcsinh(x * c), "
        "given(lambda c: c.type.kind == 'f' and c.number is not None and c.number > 0)",
        "x: Float, c: InexactConstant", "claim=exact")),
]  # fmt: skip
