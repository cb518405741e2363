"""The implementation of the rules in `rules/loops.py`, which take loops apart and rebuild them.
Imported when a graph has a loop.
"""
