"""Graphs: types, variables, ops, and `FunctionGraph`, a graph that can be changed. Knows no
tensors.

`node.py`: variables and nodes. `op.py`, `type.py`: the contracts of ops and types. `intern.py`:
equal types and ops are one object. `frozen.py`: a read-only graph; `store.py`: how its nodes
change; `fgraph.py`: the methods that change it; `order.py`: the topological order. `feature.py`:
listeners, such as `history.py` and `destroyhandler.py`. `memory.py`: what ops do with memory.
`inner.py`: ops that hold a graph. `knowledge.py`: cached answers of facts; `assume.py`:
declarations. `origin.py`: the origins of nodes. `traverse.py`, `postorder.py`: walks. `replace.py`:
copies with replacements. `columns.py`: pickling. `weak.py`: weak references with callbacks in C.
Start with `node.py`, then `fgraph.py`.
"""

from typing import TYPE_CHECKING

from rewrite_engine.lazy import lookup

#: names that other libraries have here
_HOMES = {
    "Apply": "node",
    "Constant": "node",
    "Feature": "feature",
    "FunctionGraph": "fgraph",
    "Op": "op",
    "RewriteDatabaseQuery": ".hooks",
    "Type": "type",
    "Variable": "node",
    "ancestors": "traverse",
    "clone": "traverse",
    "clone_replace": "replace",
    "equal_computations": "replace",
    "explicit_graph_inputs": "traverse",
    "graph_inputs": "traverse",
    "graph_replace": "replace",
    "graph_rewriter": ".hooks",
    "is_same_graph": "replace",
    "node_rewriter": ".hooks",
    "rewrite_graph": ".hooks",
    "truncated_graph_inputs": "traverse",
    "vectorize_graph": ".hooks",
}

if not TYPE_CHECKING:
    __getattr__ = lookup(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
