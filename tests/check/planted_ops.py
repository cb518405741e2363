"""Wrong ops and facts of which ordinary samples show nothing, by kinds; and right ones close to
them.
"""

from __future__ import annotations

from tests.check.planted import planted

OP = """
class SomeOp(Op):
    __props__ = ()
    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])
    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.array({0})
"""
ASKING = OP.format("inputs[0]").replace("self, x)", "self, x, *, needed)")
CASE = "@{0}.case(SomeOp)\ndef said(x):\n    return {1}\n"
FACTS = [
    planted("case of an op without samples", "UNPROVED", "fact",
            ASKING + CASE.format("increasing", "because('so')")),
    planted("case of an op that is found", "WRONG", "fact",
            OP.format("inputs[0]") + CASE.format("increasing", "because('so')")),
    planted("another case of an op that is found", "WRONG", "fact",
            OP.format("inputs[0]") + CASE.format("nonneg", "because('so')")),
    planted("case that never says anything", "UNPROVED", "fact",
            "@nonneg.case(pt.arctan)\ndef said(x):\n    return unknown('no')\n"),
    planted("fact without a test", "UNPROVED", "fact",
            "@fact\ndef wrong(x):\n    return because('it is')\n"),
    planted("fact of two terms", "UNPROVED", "fact",
            "@fact\ndef wrong(x, y):\n    return because('it is')\n"),
]  # fmt: skip

PLAIN = """
class Wrong(Op):
    __props__ = ()
    {2}

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        if x.type.ndim != 1 or x.type.dtype not in ("float64", "float32"):
            raise TypeError("a vector of floats")
        return Apply(self, [x], [{1}])

    def perform(self, node, inputs, outputs):
        (x,) = inputs
        {0}
"""
SAMPLES = "samples = (({}, (5,)),)"
VECTOR = "pt.tensor(dtype=x.type.dtype, shape=(None,))"
SHAPED = "\n    def infer_shape(self, fgraph, node, shapes):\n        return [({0},)]\n"


def op(perform: str, more: str = "", samples: str = SAMPLES, out: str = VECTOR) -> str:
    """The source of an op on vectors."""
    return PLAIN.format(perform, out, samples) + more


TWO = """
class Wrong(Op):
    __props__ = ()
    samples = (({{}}, (5,)),)

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type(), x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0], outputs[1][0] = np.sin(inputs[0]), np.cos(inputs[0])

    def L_op(self, inputs, outputs, gs):
        from rewrite_engine.graph.null import is_disconnected
        (x,) = inputs
        g = [pt.zeros_like(x) if is_disconnected(g) else g for g in gs]
        return [{0}]
"""
KNEE = """
def compute(x, out=None):
    return np.where(np.abs(x) > 30, {0}, np.sin(x))
wrong = Elemwise(ScalarOp('wrong', 1, compute=compute, dtypes=lambda *d: np.result_type(*d).name,
                          grad=(lambda m, g, z, x: {1},)))
"""
OPS = [
    planted("shape of differences", "WRONG", "shape",
            op("outputs[0][0] = np.diff(x)", SHAPED.format("shapes[0][0] - 1"))),
    planted("shape of at least one", "WRONG", "shape",
            op("outputs[0][0] = x[:max(1, x.size // 2)].copy()",
               SHAPED.format("shapes[0][0] // 2"), "samples = (({}, (6,)),)")),
    planted("shape of halves", "WRONG", "shape",
            op("outputs[0][0] = x[::2].copy()", SHAPED.format("shapes[0][0] // 2"),
               "samples = (({}, (6,)),)")),
    planted("itself at one", "WRONG", "view_map",
            op("outputs[0][0] = x if x.size == 1 else np.sort(x)")),
    planted("integers where empty", "WRONG", "declaration",
            op("outputs[0][0] = np.sort(x) if x.size else np.zeros(0, int)")),
    planted("view of the first", "WRONG", "view_map",
            op("outputs[0][0] = x[:1] if x.size <= 2 else np.sort(x)[:1]")),
    planted("doubles for singles", "WRONG", "declaration",
            op("outputs[0][0] = np.sort(x) + np.zeros(x.size)")),
    planted("doubles where few", "WRONG", "declaration",
            op("outputs[0][0] = np.sort(x) if x.size > 1 else x.astype('float64') * 2")),
    planted("doubles of a transform", "WRONG", "declaration",
            op("outputs[0][0] = np.abs(np.fft.fft(x.astype('float64')))")),
    planted("slope of the first output", "WRONG", "gradient", TWO.format("g[0] * pt.cos(x)")),
    planted("slope of the first output alone", "WRONG", "gradient",
            TWO.replace("[pt.zeros_like(x) if is_disconnected(g) else g for g in gs]", "gs")
            .format("g[0] * pt.cos(x)")),
    planted("slope of both outputs as one", "WRONG", "gradient",
            TWO.format("(g[0] + g[1]) * pt.cos(x)")),
    planted("sign of the second output", "WRONG", "gradient",
            TWO.format("g[0] * pt.cos(x) + g[1] * pt.sin(x)")),
    planted("slope beyond a knee", "WRONG", "gradient",
            KNEE.format("np.sin(30) + x", "g * m.cos(x)")),
    planted("slope beyond a flat knee", "WRONG", "gradient", KNEE.format("0 * x", "g * m.cos(x)")),
    planted("slope of an op beyond a knee", "WRONG", "gradient",
            op("outputs[0][0] = np.where(x > 20, 3 * x - 40, x).astype(x.dtype)",
               "\n    def L_op(self, inputs, outputs, gs):\n        return [gs[0]]\n")),
    planted("noise", "WRONG", "repeat",
            op("outputs[0][0] = (np.sort(x) + 1e-9 * np.random.random(x.size)).astype(x.dtype)")),
    planted("noise of the last bit", "WRONG", "repeat",
            op("outputs[0][0] = np.nextafter(np.sort(x), np.random.choice([-9, 9], x.shape)"
               ".astype(x.dtype))")),
    planted("a counter", "WRONG", "repeat",
            "COUNT = [0]\n" + op("COUNT[0] += 1; outputs[0][0] = (np.sort(x) * "
                                 "(1 + 1e-12 * COUNT[0])).astype(x.dtype)")),
    planted("no samples, but a shape", "WRONG", "shape",
            op("outputs[0][0] = np.diff(x)", SHAPED.format("shapes[0][0]"), "")),
    planted("no samples, and a view", "WRONG", "view_map", op("outputs[0][0] = x[:]", "", "")),
]  # fmt: skip

ALL = [*FACTS, *OPS]

#: right facts and ops beside them: (name, source), none of which may be accused
RIGHT = [
    ("between 0 and 1", OP.format("np.clip(np.nan_to_num(inputs[0]), 0, 1)")
     + CASE.format("nonneg", "because('so')")),
    ("differences", op("outputs[0][0] = np.diff(x)",
                       SHAPED.format("pt.maximum(shapes[0][0] - 1, 0)"))),
    ("both slopes", TWO.format("g[0] * pt.cos(x) - g[1] * pt.sin(x)")),
    ("slope and knee", KNEE.format("np.sin(30) + x", "g * m.switch(m.abs(x) > 30, 1, m.cos(x))")),
    ("sorted", op("outputs[0][0] = np.sort(x)", SHAPED.format("shapes[0][0]"))),
    ("at least one", op("if not x.size: raise ValueError('empty')\n"
                        "        outputs[0][0] = np.sort(x)")),
]  # fmt: skip
