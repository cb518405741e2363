"""The rule packs, by subject.

Nothing is loaded here: `pipeline/phases.py` lists everything that happens to a graph, in order.
"""
