"""The rule language, and matchers compiled from it. `rules/language.py` is what authors import.

`decorate.py` how rules are made, `rule.py` what they are, `ruleset.py` and `query.py` many of them
· `lower.py` from what is written to `pattern.py`, checked on samples (`sample.py`) ·
`interpret.py` the matcher, `emit.py` and `build.py` the same compiled, `ac.py` sums and products ·
`outline.py` and `dispatch.py` which rules are tried · `claim.py` what is promised, `fact.py` what
is proved · `goal.py`, `relation.py` miniKanren · `equation.py` both directions · `find.py` patterns
without a rule · `explain.py` why a rule does not apply, `text.py` rules as text. Start with
`lower.py`.
"""
