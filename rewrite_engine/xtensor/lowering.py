"""Rules that turn arrays with named dimensions into tensors, when a graph is compiled or
differentiated.

Importing this package adds them to every mode (`register`), and to PyMC's
`optdb.query("+lower_xtensor")`.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.language import exact, node_rewriter
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline import phases
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.xtensor.ops import XOp
from rewrite_engine.xtensor.type import TensorFromXTensor, XTensorFromTensor

TAGS = ["lower_xtensor", phases.BEFORE_GRADIENTS]


@node_rewriter([XOp], phase="canonicalize", claim=exact, tags=TAGS)
def in_ops_of_tensors(fgraph: Any, node: Any) -> Any:
    """Replace an op on named dimensions by ops of tensors. Not a data rule: each op has its own
    replacement.
    """
    return node.op.lowered(*node.inputs)


@node_rewriter([TensorFromXTensor], phase="canonicalize", claim=exact, tags=TAGS)
def tensor_of_named(fgraph: Any, node: Any) -> Any:
    """Replace the values of a tensor with names by that tensor. Not a data rule: ops of programs
    name tensors, too, and an array that lost its names is one.

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.language import rewritten
    >>> from rewrite_engine.xtensor import as_xtensor
    >>> rewritten(as_xtensor(pt.vector("x"), ["a"]).values)
    x
    """
    (x,) = node.inputs
    if isinstance(x.type, TensorType):
        return x
    if x.owner is not None and isinstance(x.owner.op, XTensorFromTensor):
        return x.owner.inputs[0]
    return None


@node_rewriter([XTensorFromTensor], phase="canonicalize", claim=exact, tags=TAGS)
def named_again(fgraph: Any, node: Any) -> Any:
    """Replace an array whose values get the same names again by the array itself."""
    made = node.inputs[0].owner
    if type(node.op) is not XTensorFromTensor or made is None:
        return None
    if isinstance(made.op, TensorFromXTensor) and made.inputs[0].type is node.outputs[0].type:
        return made.inputs[0]
    return None


RULES = RuleSet([in_ops_of_tensors, tensor_of_named, named_again])


def register() -> None:
    """Add the rules to every mode."""
    for rule in RULES:
        phases.register(rule)
