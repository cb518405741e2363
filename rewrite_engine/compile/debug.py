"""`DebugMode`: a mode in which each function checks its ops, the rules that rewrote it,
and itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any, Never

from rewrite_engine.compile.mode import DEFAULT, Mode
from rewrite_engine.errors import (
    BadDestroyMap,
    BadEvidence,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    InvalidValueError,
    OptionError,
    StochasticOrder,
    refuse_options,
    refuse_unknown,
)
from rewrite_engine.link.debug.contract import DebugOptions, DebugWarning
from rewrite_engine.link.debug.linker import DebugLinker
from rewrite_engine.link.debug.storage import kinds_of

__all__ = [
    "BadDestroyMap",
    "BadEvidence",
    "BadOptimization",
    "BadThunkOutput",
    "BadViewMap",
    "DebugMode",
    "DebugModeError",
    "DebugWarning",
    "InvalidValueError",
    "StochasticOrder",
]


class DebugMode(Mode):
    """Mode whose functions check ops, rules and facts on the values of each call. Every node runs
    in the graph as written and after each rewrite. `Mode("DebugMode")` takes its settings from
    `config`, which also supplies the defaults here.

    Each error is a `DebugModeError`. It names the op, or the rule with the term before and after,
    the first values that differ, and the user's line: `BadThunkOutput` (forms of an op, two runs,
    or a run into old storage disagree), `BadDestroyMap`, `BadViewMap`, `InvalidValueError` (wrong
    type, shape, range or facts of a result, or not finite), `BadOptimization` (a rewrite, or all of
    them together, changed values), `BadEvidence` (a fact that a rule relied on is false),
    `StochasticOrder` (rewriting again gives a different graph). A declaration (`assume`) that is
    false raises `AssumptionError`.

    optimizer: as in `Mode`. stability_patience: how many times to rewrite a graph and compare the
    results (1: no comparison). check_c_code, check_py_code: whether to run generated or compiled
    code, and the op's own Python. check_isfinite: whether a NaN or an infinity in inputs and
    results is an error. check_preallocated_output: fillings of the output storage to try, any of
    "initial", "previous", "c_contiguous", "f_contiguous", "strided", "wrong_size", or "ALL"; a
    list, or a text with colons. require_matching_strides: whether different strides of an op's
    forms are reported (1) or are an error (2). Raises `OptionError`.

    >>> import rewrite_engine as rw
    >>> import rewrite_engine.tensor as pt
    >>> x = pt.dvector("x")
    >>> f = rw.function([x], pt.log(pt.exp(x)).sum(), mode=DebugMode())
    >>> f([1.0, 2.0])
    array(3.)
    """

    def __init__(
        self,
        optimizer: Any = DEFAULT,
        stability_patience: int | None = None,
        check_c_code: bool | None = None,
        check_py_code: bool | None = None,
        check_isfinite: bool | None = None,
        check_preallocated_output: str | Sequence[str] | None = None,
        require_matching_strides: int | None = None,
        linker: None = None,
        db: Any = None,
        **unknown: Never,
    ) -> None:
        if unknown:
            refuse_unknown("DebugMode", unknown, signature(DebugMode).parameters)
        refuse_options("DebugMode", "it has a linker of its own", linker=linker)
        super().__init__("debugmode", optimizer, db=db)
        kinds = check_preallocated_output
        asked = {
            "patience": stability_patience,
            "check_c_code": check_c_code,
            "check_py_code": check_py_code,
            "check_isfinite": check_isfinite,
            "preallocated": None if kinds is None else kinds_of(kinds),
            "require_matching_strides": require_matching_strides,
        }
        known: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        self.options = DebugOptions.of_config()._replace(**known)
        if not (self.options.check_c_code or self.options.check_py_code):
            raise OptionError("DebugMode: check_py_code=False needs check_c_code=True")
        self.linker = DebugLinker(self.options)

    @property
    def stability_patience(self) -> int:
        """Number of times that a graph is rewritten."""
        return self.options.patience

    @property
    def check_c_code(self) -> bool:
        """True if generated or compiled code is run."""
        return self.options.check_c_code

    @property
    def check_py_code(self) -> bool:
        """True if the ops' own Python is run."""
        return self.options.check_py_code

    @property
    def check_isfinite(self) -> bool:
        """True if a NaN or an infinity is an error."""
        return self.options.check_isfinite

    @property
    def check_preallocated_output(self) -> list[str]:
        """Fillings of the output storage that are tried."""
        return list(self.options.preallocated)

    @property
    def require_matching_strides(self) -> int:
        """Level of the comparison of strides: 1 reports differences, 2 raises an error."""
        return self.options.require_matching_strides
