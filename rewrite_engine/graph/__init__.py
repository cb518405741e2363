"""Graphs: types, variables, ops, and `FunctionGraph`, which can be changed. Knows no tensors.

`node.py` variables and nodes · `op.py`, `type.py` the contracts of ops and types · `intern.py`
equal ones are one object · `fgraph.py` the graph, on `store.py` (its nodes) and `order.py` (the
topological order) · `feature.py` who listens to it:
`history.py`, `destroyhandler.py` · `memory.py` what ops do with memory · `inner.py` ops that hold
a graph · `knowledge.py` what facts have found out, `assume.py` what is declared · `origin.py`
where nodes come from · `traverse.py`, `postorder.py` walks · `replace.py` copies with replacements
· `columns.py` pickling. Start with `node.py`, then `fgraph.py`.
"""
