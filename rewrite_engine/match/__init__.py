"""Rule language, and matchers compiled from it. Authors import `language.py`.

`decorate.py`: constructors of rules; `rule.py`: rules; `ruleset.py` and `query.py`: sets of rules.
`lower.py`: from an author's code to `pattern.py`, checked on samples (`sample.py`). `interpret.py`:
the matcher; `emit.py` and `build.py`: the compiled matcher; `ac.py`: sums and products.
`outline.py` and `dispatch.py`: which rules are tried. `claim.py`: claims; `fact.py`: facts.
`goal.py`, `relation.py`: miniKanren. `equation.py`: rules in both directions. `find.py`: patterns
without a rule. `explain.py`: why a rule does not apply; `text.py`: rules as text. Start with
`lower.py`.
"""
