"""xDSL: MLIR's operations and greedy driver in Python."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

from xdsl.dialects import arith, math, test
from xdsl.dialects.builtin import ModuleOp, f64
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from benchmarks.peers.work import LEVELS, Value, best, microseconds, per_node

VERSION = version("xdsl")


class LogOfExp(RewritePattern):
    """log(exp(x)) is x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: math.LogOp, rewriter: PatternRewriter) -> None:
        inner = op.operand.owner
        if isinstance(inner, math.ExpOp):
            rewriter.replace_op(op, [], [inner.operand])


def chain() -> ModuleOp:
    leaf = test.TestOp(result_types=[f64])
    ops, value = [leaf], leaf.results[0]
    for _ in range(LEVELS):
        exp = math.ExpOp(value)
        log = math.LogOp(exp.result)
        sin = math.SinOp(log.result)
        ops += [exp, log, sin]
        value = sin.result
    return ModuleOp([*ops, test.TestOp(operands=[value])])


def firings() -> float:
    rules = GreedyRewritePatternApplier([LogOfExp()])
    seconds, _ = best(lambda m: PatternRewriteWalker(rules).rewrite_module(m), chain, 5)
    return LEVELS / seconds


def missed() -> float:
    leaf = test.TestOp(result_types=[f64])
    sin = math.SinOp(leaf.results[0])
    log = math.LogOp(sin.result)
    ModuleOp([leaf, sin, log])
    rule, rewriter = LogOfExp(), PatternRewriter(log)
    return microseconds(lambda: rule.match_and_rewrite(log, rewriter))


def work() -> dict[str, Callable[[], Value]]:
    """Building, missing and firing (a match cannot be asked for without replacing)."""
    leaf = test.TestOp(result_types=[f64, f64])
    x, y = leaf.results
    return {
        "unary": lambda: per_node(lambda out: math.ExpOp(out).result, lambda: x),
        "binary": lambda: per_node(lambda out: arith.AddfOp(out, y).result, lambda: x),
        "miss": missed,
        "firings": firings,
    }
