"""How the rules of `rules/loops.py` take loops apart and put them together. Imported where a graph
has a loop.
"""
