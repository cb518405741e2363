"""How elementwise ops become instructions of a processor: the phase "lower", which native code uses
for each op of a kernel. A query that includes "lower" applies it to a whole graph, for the VM.

functions.py    exp, log, sin, … as series
operations.py   ops as a few others: sign, clip, isfinite, log1mexp, quotients of integers

Here are the names of the scalar ops that the rules look at, since most kernels need no rule.
"""

FUNCTIONS = frozenset({"exp", "expm1", "log", "log1p", "tanh", "sigmoid", "softplus", "sin", "cos"})
OPERATIONS = frozenset({
    "abs", "add", "clip", "cos", "floor_div", "isfinite", "isinf", "isnan", "log1mexp", "log_ndtr",
    "logdiffexp", "logerfc", "maximum", "minimum", "mod", "mul", "neg", "reciprocal", "sign",
    "signbit", "sin",
})  # fmt: skip
