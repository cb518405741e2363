"""The rule packs, by subject, and the pipeline of phases (imported as `rewrite_engine.rules`).

Nothing is loaded here: `rules/pipeline.py` lists everything that happens to a graph, in order.
"""
