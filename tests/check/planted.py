"""Wrong rules, facts and ops, each with what has to be found: the kind, the name, the subject."""

from __future__ import annotations

from typing import NamedTuple

HEADER = """
import numpy as np
from kanren import eq
import rewrite_engine.tensor as pt
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.node import Apply
from rewrite_engine.language import *
from rewrite_engine.facts import *
from rewrite_engine.rewrite.strategies import first, seq
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.op import Shapes, TensorOp
from rewrite_engine.tensor import DimShuffle, Sum
from rewrite_engine.tensor.index.diagonals import Diagonal

inv, solve, det = pt.linalg.MatrixInverse(), pt.linalg.Solve(), pt.linalg.Det()

@rule(phase="canonicalize", claim=approx(ulps=4))
def right(x: Float):
    '''One function.

    >>> x = vector("x")
    >>> rewritten(pt.sin(x) / pt.cos(x))
    tan(x)
    '''
    return pt.sin(x) / pt.cos(x) >> pt.tan(x)
"""


class Planted(NamedTuple):
    """Something wrong. source: of a file, after the header."""

    id: str
    kind: str
    name: str
    source: str


def rule_of(
    sides: str, variables: str = "x: Inexact", options: str = "", name: str = "wrong"
) -> str:
    """The source of a data rule."""
    options = options if "phase" in options else f'phase="canonicalize", {options}'
    return f'@rule({options})\ndef {name}({variables}):\n    "."\n    return {sides}\n'


def planted(id: str, kind: str, name: str, *given: str) -> Planted:
    """One of them: the sides of a rule, or a whole source."""
    source = given[0] if "\n" in given[0] else rule_of(*given)
    return Planted(id, kind, name, source)


CLAIMS = [
    planted("not of less", "WRONG", "claim", "pt.invert(pt.lt(x, y)) >> pt.ge(x, y)",
            "x: Inexact, y: Inexact", "claim=exact"),
    planted("difference with itself", "WRONG", "claim",
            "x - x >> compute(lambda x: pt.zeros_like(x))", "x: Inexact", "claim=exact"),
    planted("sign of a solution", "WRONG", "claim", "inv(a) @ b >> -solve(a, b)",
            "a: Matrix, b: Matrix", "claim=backward(8)"),
    planted("transpose of a solution", "WRONG", "claim", "inv(a) @ b >> solve(a.T, b)",
            "a: Matrix, b: Matrix", "claim=backward(8)"),
    planted("normal equations", "WRONG", "claim", "solve(a, b) >> inv(a.T @ a) @ (a.T @ b)",
            "a: Matrix, b: Matrix", "claim=backward(8)"),
    planted("singular matrix lost", "WRONG", "error",
            "inv(a) >> pt.linalg.MatrixPinv()(a) @ a @ pt.linalg.MatrixPinv()(a)", "a: Matrix",
            "claim=backward(8)"),
    planted("determinant without NaN", "WRONG", "claim",
            "det(inv(a)) >> compute(lambda a: 1 / det(pt.switch(pt.isnan(inv(a)), 0, inv(a))))",
            "a: Matrix", "claim=backward(8)"),
    planted("factors of a determinant", "WRONG", "error", "det(a @ b) >> det(a) * det(b)",
            "a: Matrix, b: Matrix", "claim=backward(8)"),
    planted("solution by factors", "WRONG", "error",
            "solve(a @ b, c) >> solve(b, solve(a, c))", "a: Matrix, b: Matrix, c: Matrix",
            "claim=backward(8)"),
    planted("mean of ratios", "WRONG", "claim", "Sum(axis=0)(e) / Sum(axis=0)(e) >> 1.0",
            "e: Vector", ""),
    planted("sum of a product", "WRONG", "claim", "Sum()(a * y) >> Sum()(a) * Sum()(y)",
            "a: Inexact, y: Inexact", ""),
    planted("unsigned difference", "WRONG", "claim", "pt.lt(x - y, 0) >> pt.lt(x, y)",
            "x, y", "claim=exact"),
    planted("arcsinh by parts", "WRONG", "claim",
            "pt.arcsinh(x) >> pt.log(x + pt.sqrt(pt.sqr(x) + 1))", "x: Inexact", "claim=approx(4)"),
    planted("expm1 undone", "WRONG", "claim", "pt.expm1(x) >> pt.exp(x) - 1"),
    planted("sqrt of a square", "WRONG", "claim", "pt.sqrt(pt.sqr(x)) >> x", "x: Float"),
    planted("zero times", "WRONG", "claim", "0 * x >> compute(lambda x: pt.zeros_like(x))",
            "x: Inexact", 'phase="specialize"'),
    planted("wrong constant", "WRONG", "claim", "pt.log10(x) >> pt.log(x) / 2.3"),
    planted("maximum for minimum", "WRONG", "claim", "pt.minimum(x, y) >> pt.maximum(x, y)",
            "x: Inexact, y: Inexact"),
    planted("transposed", "WRONG", "shape",
            "pt.arcsinh(a) >> DimShuffle(2, (1, 0))(pt.arcsinh(a))", "a: Matrix", "claim=exact"),
    planted("shortened", "WRONG", "shape", "pt.arcsinh(v) >> compute(lambda v: pt.arcsinh(v)[1:])",
            "v: Vector"),
    planted("fact for the wrong sign", "WRONG", "claim",
            "pt.abs(x) >> -x, given(nonneg(x))", "x: Float"),
    planted("fastmath that is not even", "WRONG", "claim", "pt.tan(x) >> pt.sin(x)", "x: Inexact",
            'claim=assumes("fastmath")'),
    planted("equation", "WRONG", "claim",
            '@equation\ndef wrong(x: Inexact, y: Inexact):\n    "."\n'
            "    return pt.exp(x) * pt.exp(y), pt.exp(x * y)\n"),
    planted("table row", "WRONG", "claim",
            'rows = table("t", ("wrong", lambda x: pt.cosh(-x) >> -pt.cosh(x), refines, "."), '
            'x=Inexact, phase="canonicalize")\n'),
    planted("node rewriter", "WRONG", "claim",
            '@node_rewriter([pt.mul], phase="canonicalize", claim=exact)\n'
            'def wrong(fgraph, node):\n    ". Not data: a test."\n'
            "    a, b = node.inputs[0], node.inputs[-1]\n"
            "    return a + a if a is b and a.type.kind == 'f' else None\n"),
    planted("node rewriter of another type", "WRONG", "type",
            '@node_rewriter([pt.mul], phase="canonicalize", claim=exact)\n'
            'def wrong(fgraph, node):\n    ". Not data: a test."\n'
            "    if len(node.inputs) == 2 and node.inputs[0] is node.inputs[1]:\n"
            "        return 2 * node.inputs[0]\n"),
    planted("relation", "WRONG", "claim",
            '@relation(tracks=[pt.sinh], phase="canonicalize")\n'
            'def wrong(term, result):\n    "."\n    from rewrite_engine.terms.logic import '
            'LogicVariable\n    a = LogicVariable("a")\n    from kanren import lall\n'
            "    return lall(eq(term, pt.sinh(a)), eq(result, pt.cosh(a)))\n"),
    planted("strategy", "WRONG", "claim",
            '@rule()\ndef step(x: Inexact):\n    "."\n    return pt.sinh(x) >> pt.tanh(x)\n'
            'wrong = first(step, phase="canonicalize")\n'),
]  # fmt: skip

LOOPS = [
    planted("undoes another", "LOOPS", "loop",
            rule_of("pt.arcsinh(x) >> pt.arctan(x)")
            + rule_of("pt.arctan(x) >> pt.arcsinh(x)", name="back")),
    planted("grows", "LOOPS", "loop", "pt.arcsinh(x) >> pt.arcsinh(x + 1)"),
    planted("undoes a shipped rule", "LOOPS", "loop", "pt.log1p(x) >> pt.log(1 + x)", "x: Inexact",
            'phase="stabilize"'),
]  # fmt: skip

DEAD = [
    planted("idle phase", "DEAD", "phase", "pt.arcsinh(x) >> pt.arctan(x)", "x: Inexact",
            'phase="inplace"'),
    planted("merge phase", "DEAD", "phase", "pt.arcsinh(x) >> pt.arctan(x)", "x: Inexact",
            'phase="merge"'),
    planted("shadowed by another", "DEAD", "duplicate",
            rule_of("pt.arcsinh(x) >> pt.log(x + pt.sqrt(1 + x * x))", "x: Inexact",
                    "claim=approx(1 << 60)", "good")
            + rule_of("pt.arcsinh(y) >> -pt.arcsinh(-y)", "y: Inexact")),
    planted("shadowed by a shipped one", "DEAD", "shadowed", "pt.log(pt.exp(x)) >> pt.sqr(x)"),
    planted("earlier phase", "DEAD", "normal form", "pt.log(pt.exp(x)) >> pt.sqr(x)", "x: Inexact",
            'phase="specialize"'),
    planted("sum with itself", "DEAD", "normal form", "pt.exp(x + x) >> pt.sqr(pt.exp(x))",
            "x: Inexact", 'phase="specialize"'),
    planted("square as a power", "DEAD", "normal form", "pt.arcsinh(x ** 2) >> pt.arctan(x)",
            "x: Inexact", 'phase="specialize"'),
    planted("identity of an object", "DEAD", "guard",
            "pt.arcsinh(c * x) >> pt.arctan(x), given(lambda c: c == 2)", "x: Inexact, c: Const"),
    planted("guard without an answer", "DEAD", "guard",
            "pt.arcsinh(x) >> pt.arctan(x), given(lambda x: print(end=''))"),
    planted("narrower dtype", "DEAD", "type", 'pt.arcsinh(x) >> pt.cast(x, "float32")',
            "x: pt.dvector"),
    planted("in a class", "DEAD", "unreached",
            "class Rules:\n" + "".join(
                f"    {line}\n" for line in rule_of("pt.arcsinh(x) >> pt.arctan(x)").splitlines())),
    planted("in a loop", "DEAD", "unreached",
            "for op in (pt.sin, pt.tan):\n" + "".join(
                f"    {line}\n" for line in rule_of("pt.arccos(op(x)) >> x").splitlines())),
]  # fmt: skip

LINT = [
    planted("assumption", "LINT", "assumption", "pt.tan(x) >> pt.sin(x)", "x: Inexact",
            'claim=assumes("fast-math")'),
    planted("tag", "LINT", "tag", "pt.arcsinh(x) >> pt.arcsinh(x) + 0", "x: Inexact",
            'tags=["pairwize"]'),
    planted("false example", "WRONG", "example",
            '@rule(phase="canonicalize")\ndef wrong(x: Inexact):\n    """.\n\n'
            '    >>> rewritten(pt.arcsinh(-vector("x")))\n    x\n    """\n'
            "    return pt.arcsinh(-x) >> -pt.arcsinh(x)\n"),
    planted("example without the rule", "LINT", "example",
            '@rule(phase="canonicalize")\ndef wrong(x: Inexact):\n    """.\n\n'
            '    >>> rewritten(pt.sin(vector("x")))\n    sin(x)\n    """\n'
            "    return pt.arcsinh(-x) >> -pt.arcsinh(x)\n"),
    planted("no example", "LINT", "no example", "pt.arcsinh(-x) >> -pt.arcsinh(x)"),
    planted("order that counts", "OVERLAP", "overlap",
            rule_of("pt.arcsinh(pt.arctan(x)) >> pt.arctanh(x)", name="wrong")
            + rule_of("pt.arctan(pt.tan(x)) >> x", name="inner")),
]  # fmt: skip

FACTS = [
    planted("case of a fact", "WRONG", "fact",
            "wrong = None\n@nonneg.case(pt.arctan)\ndef wrong(x):\n"
            "    return because('it is')\n"),
    planted("case that raises", "WRONG", "fact",
            "@finite.case(pt.arctan)\ndef wrong(x):\n    return x.nothing\n"),
    planted("fact of one's own", "WRONG", "fact",
            "@fact\ndef wrong(x):\n    return because('it is')\n"
            "@wrong.test\ndef is_small(value):\n    return bool((abs(value) < 3).all())\n"),
]  # fmt: skip

SCALAR = "wrong = Elemwise(ScalarOp('wrong', {0}))\n"
COMPUTE = """
widest = lambda *dtypes: np.result_type(*dtypes).name
def compute(*xs, out=None):
    return np.{0}(*xs, out=out)
"""


def scalar(function: str, options: str, nin: int = 1) -> str:
    """The source of an elementwise op."""
    return COMPUTE.format(function) + SCALAR.format(
        f"{nin}, compute=compute, dtypes=widest, {options}"
    )


ARRAY = """
class Wrong(TensorOp):
    __props__ = ()
    samples = (({{}}, (2, 3)),)

    def shapes(self, x):
        return Shapes([[(0, k) for k in range(x.ndim)]])

    def perform(self, node, inputs, outputs):
        (x,) = inputs
        {0}
        outputs[0][0] = {1}
"""

OPS = [
    planted("range", "WRONG", "declaration", scalar("sin", "range='(0, 1)'")),
    planted("keeps", "WRONG", "declaration", scalar("negative", "keeps='nonneg'")),
    planted("identity", "WRONG", "identity", scalar("add", "identity=1", 2)),
    planted("commutative", "WRONG", "commutative", scalar("subtract", "commutative=True", 2)),
    planted("idempotent", "WRONG", "idempotent", scalar("add", "idempotent=True", 2)),
    planted("idempotent of one", "WRONG", "idempotent", scalar("sin", "idempotent=True")),
    planted("associative", "WRONG", "associative", scalar("subtract", "associative=True", 2)),
    planted("absorbing", "WRONG", "absorbing", scalar("add", "absorbing=0", 2)),
    planted("ends", "WRONG", "ends", "pt.arcsinh(x) >> pt.arcsinh(pt.tan(x))", "x: Float",
            "ends=at_most(1)"),
    planted("gradient", "WRONG", "gradient",
            scalar("sin", "grad=(lambda m, g, z, x: g * m.sin(x),)")),
    planted("another gradient", "WRONG", "gradient",
            scalar("sin", "grad=(lambda m, g, z, x: g * m.sin(x),)").replace("wrong", "mine")
            + rule_of("mine(x) >> pt.sin(x)", "x: pt.dvector", "claim=approx(4)")),
    planted("writes", "WRONG", "destroy_map",
            ARRAY.format("x[...] = 0", "x.copy()")),
    planted("shows", "WRONG", "view_map", ARRAY.format("", "x[:]")),
    planted("shape", "WRONG", "shape", ARRAY.format("", "x[:1].copy()")),
]  # fmt: skip

ALL = [*CLAIMS, *LOOPS, *DEAD, *LINT, *FACTS, *OPS]
