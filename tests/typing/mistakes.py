"""Mistakes that type checkers find, each on its line: `# expect:` has the code of mypy."""

from __future__ import annotations

from typing import Any

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.language import Body, Float, rule


def mistakes() -> None:
    """Each line with a mark is wrong in one way; nothing here runs."""
    x = pt.vector("x")

    rw.functoin([x], x)  # expect: attr-defined
    pt.nosuch(x)  # expect: attr-defined
    rw.function([x], x, nam="f")  # expect: call-overload
    rw.function(x, x)  # expect: call-overload
    rw.function([x], 3)  # expect: call-overload
    pt.exp()  # expect: call-arg
    pt.exp("x")  # expect: arg-type
    x + "text"  # expect: operator
    x.summ()  # expect: attr-defined
    x.sum(axes=0)  # expect: call-arg
    rw.grad(x.sum(), 3)  # expect: call-overload
    rw.grad(x.sum(), x, disconnected_input="ignore")  # expect: call-overload
    rw.Mode(linkr="py")  # expect: arg-type
    rw.In(x, nmae="x")  # expect: arg-type
    rw.Out(x, borow=True)  # expect: arg-type
    rw.OpFromGraph([x], [x], inlne=True)  # expect: call-arg
    rw.shared([1.0]) + 1  # expect: operator
    pt.random.normal(0.0, 1.0, sise=(2,))  # expect: call-overload
    pt.linalg.solv(x, x)  # expect: attr-defined
    pt.zeros((2,), dtyp="int64")  # expect: call-arg
    values: list[Any] = rw.function([x], x)([1.0])  # expect: assignment
    number: float = float(x)  # expect: arg-type

    @rule(fase="canonicalize")  # expect: call-overload
    def misspelt(x: Float) -> Body:
        """An option that does not exist."""
        return pt.exp(x) >> x

    def no_arrow(x: Float) -> bool:
        """A rule that returns no two sides."""
        return bool(pt.exp(x))

    rule(no_arrow)  # expect: arg-type
