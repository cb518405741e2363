"""The rule language, and matchers compiled from it. `rules/language.py` is what authors import."""
