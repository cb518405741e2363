"""Suggestions for terms that lose digits (`ADVICE`): a table of rules (`patterns.py`), each
with its two sides in words.

No mode applies these rules. A report tries each one on the graph as written, compiles the result,
and suggests it only if it restores digits.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewrite_engine import hooks
from rewrite_engine.compile.profiling import line_of
from rewrite_engine.explain.accuracy import patterns
from rewrite_engine.explain.accuracy.cause import MIN_CHANGE, fewest
from rewrite_engine.explain.accuracy.computed import Floats
from rewrite_engine.explain.accuracy.error import ValuePair
from rewrite_engine.explain.accuracy.report import OutputAccuracy, Suggestion
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.language import find
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import known_rules
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer

TERM_WIDTH = 24  # characters of a term inside a formula; a longer one is abbreviated
ATOM = re.compile(r"[\w.]+(\([^()]*\))?")  # a term that needs no brackets: a name, a call
LETTERS = "uvwz"  # for terms that are abbreviated


@dataclass(frozen=True, slots=True)
class Advice:
    """Better way to write a term. rule: the two terms; its docstring says why. found, write: what
    they are called, with the names of the rule's variables in braces.
    """

    rule: DataRule
    found: str
    write: str

    @property
    def name(self) -> str:
        """Return the name of the pattern."""
        return self.rule.short_name.replace("_", " ")

    @property
    def why(self) -> str:
        """Return the reason, a sentence."""
        return " ".join(self.rule.doc.split())


ADVICE = (
    Advice(
        patterns.variance_by_squares, "mean({x}**2) - mean({x})**2", "mean(({x} - mean({x}))**2)"
    ),
    Advice(
        patterns.covariance_by_products,
        "mean({x}*{y}) - mean({x})*mean({y})",
        "mean(({x} - mean({x})) * ({y} - mean({y})))",
    ),
    Advice(patterns.log_of_determinant, "log(det({a}))", "slogdet({a})[1]"),
    Advice(patterns.log_of_absolute_determinant, "log(abs(det({a})))", "slogdet({a})[1]"),
    Advice(patterns.softmax_by_exponentials, "exp({x}) / sum(exp({x}))", "softmax({x})"),
    Advice(patterns.log_of_summed_exponentials, "log(sum(exp({x})))", "logsumexp({x})"),
    Advice(patterns.one_minus_cosine, "1 - cos({x})", "2 * sin({x} / 2)**2"),
    Advice(patterns.root_of_squares, "sqrt({x}**2 + {y}**2)", "hypot({x}, {y})"),
    Advice(patterns.log_of_one_plus, "log(1 + {x})", "log1p({x})"),
    Advice(patterns.exponential_minus_one, "exp({x}) - 1", "expm1({x})"),
    Advice(
        patterns.difference_of_exponentials, "exp({x}) - exp({y})", "exp({y}) * expm1({x} - {y})"
    ),
    Advice(patterns.difference_of_logarithms, "log({x}) - log({y})", "log1p(({x} - {y}) / {y})"),
    Advice(
        patterns.difference_of_roots,
        "sqrt({x}) - sqrt({y})",
        "({x} - {y}) / (sqrt({x}) + sqrt({y}))",
    ),
    Advice(
        patterns.root_minus_number, "sqrt({y}**2 + {x}) - {y}", "{x} / (sqrt({y}**2 + {x}) + {y})"
    ),
    Advice(
        patterns.root_of_difference_minus_number,
        "sqrt({y}**2 - {x}) - {y}",
        "-{x} / (sqrt({y}**2 - {x}) + {y})",
    ),
    Advice(patterns.difference_of_squares, "{x}**2 - {y}**2", "({x} - {y}) * ({x} + {y})"),
    Advice(patterns.one_minus_tanh, "1 - tanh({x})", "2 * sigmoid(-2 * {x})"),
    Advice(patterns.one_minus_erf, "1 - erf({x})", "erfc({x})"),
    Advice(patterns.log_of_product, "log(prod({x}))", "sum(log({x}))"),
    Advice(patterns.normal_equations, "solve({a}.T @ {a}, {a}.T @ {b})", "lstsq({a}, {b})[0]"),
    Advice(patterns.product_with_inverse, "inv({a}) @ {b}", "solve({a}, {b})"),
)
FORMS = RuleSet([patterns.square_of_power, patterns.square_of_product, patterns.difference_of_sum])


def suggestions(
    graph: FunctionGraph,
    optimizer: Any,
    values: Sequence[Any],
    outputs: Mapping[int, OutputAccuracy],
    true: Sequence[ValuePair],
) -> list[Suggestion]:
    """Return what to write instead, for outputs whose digits the rules do not restore.

    graph: as written. optimizer: the rules of the function's mode. values: of its inputs. true: its
    outputs, exactly.
    """
    lossy = [i for i, o in outputs.items() if o.is_lossy_compiled]
    if not lossy:
        return []
    plain = graph.clone()
    found: list[Suggestion] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # (of rules that do not apply to complex numbers)
        lowering = [one for one in known_rules() if "lower_xtensor" in one.tags]
        EquilibriumOptimizer(FORMS + RuleSet(lowering), "one form of terms").rewrite(plain)
        for advice in ADVICE:
            matches = list(find(plain, advice.rule))
            if matches:
                found += _tried(advice, matches, plain, optimizer, values, outputs, lossy, true)
    return found


def _tried(
    advice: Advice,
    matches: Sequence[Any],
    plain: FunctionGraph,
    optimizer: Any,
    values: Sequence[Any],
    outputs: Mapping[int, OutputAccuracy],
    lossy: Sequence[int],
    true: Sequence[ValuePair],
) -> list[Suggestion]:
    """Return a suggestion if it restores digits of some output."""
    try:
        new = plain.clone()
        EquilibriumOptimizer(RuleSet([advice.rule]), advice.name).rewrite(new)
        if optimizer is not None:
            optimizer.rewrite(new)
        given = dict(zip(new.inputs, values, strict=True))
        results = Floats().evaluate(new.outputs, given)
    except Exception:  # (a suggestion that fails on these values is none)
        return []
    gains = {i: fewest(results[new.outputs[i]], true[i]) for i in lossy}
    best = max(lossy, key=lambda i: gains[i] - outputs[i].compiled)
    if gains[best] - outputs[best].compiled < MIN_CHANGE:
        return []
    match, o = matches[0], outputs[best]
    names = letters(match.bindings)
    return [
        Suggestion(
            advice.name, advice.found.format(**names), advice.write.format(**names), advice.why,
            line_of(match.node), o.name, min(gains[best], o.known), gains[best] > o.known,
        )
    ]  # fmt: skip


def letters(bindings: Mapping[str, Any]) -> dict[str, str]:
    """Return what to call the variables of a pattern: short terms as they are."""
    free = iter(LETTERS)
    names = {}
    for key, v in bindings.items():
        if not hasattr(v, "type"):
            continue
        text = hooks.short(v, 2 * TERM_WIDTH)
        if len(text) > TERM_WIDTH:
            names[key] = next(free, key)
        else:
            names[key] = text if ATOM.fullmatch(text) else f"({text})"
    return names
