"""`debugprint`: expected texts, side by side."""

from __future__ import annotations

import io
from typing import Any

import pytest

import rewrite_engine.printing as printing
import rewrite_engine.tensor as pt
from rewrite_engine.errors import OptionError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.op import Op
from rewrite_engine.printing import debugprint, dprint, op_debug_information
from rewrite_engine.printing.identifier import letters
from tests.toy import (
    DivMod,
    Scale,
    add,
    const,
    divmod_,
    exp,
    log,
    mul,
    num,
    overwrite,
    sin,
    sub,
    view,
)

x, y = num("x"), num("y")


def text(obj: Any, **options: Any) -> str:
    """What is printed, as a block that starts with a new line."""
    return "\n" + debugprint(obj, file="str", **options) + "\n"


def example() -> Any:
    """Sharing, a name, a parameter, a constant, two outputs of one node."""
    a = exp(x)
    a.name = "a"
    q, r = divmod_(add(a, 1.5, y), a)
    return mul(q, r, Scale(2.0)(a))


def test_a_tree() -> None:
    assert (
        text(example())
        == """
mul [id A]
 ├─ DivMod.0 [id B]
 │  ├─ add [id C]
 │  │  ├─ exp [id D] 'a'
 │  │  │  └─ x [id E]
 │  │  ├─ 1.5 [id F]
 │  │  └─ y [id G]
 │  └─ exp [id D] 'a'
 │     └─ ···
 ├─ DivMod.1 [id B]
 │  └─ ···
 └─ Scale{by=2.0} [id H]
    └─ exp [id D] 'a'
       └─ ···
"""
    )


class Named(DivMod):
    """The same with names for both outputs."""

    output_names = ("quotient", "rest")


def test_outputs_have_the_names_that_the_op_declares() -> None:
    quotient, rest = Named()(x, y)
    assert (str(quotient), str(rest)) == ("Named.quotient", "Named.rest")
    assert (
        text([quotient, rest])
        == """
Named.quotient [id A]
 ├─ x [id B]
 └─ y [id C]
Named.rest [id A]
 └─ ···
"""
    )


def test_types() -> None:
    assert (
        text(log(exp(x)), print_type=True)
        == """
log [id A] <Num>
 └─ exp [id B] <Pos>
    └─ x [id C] <Num>
"""
    )


def test_stop_on_name() -> None:
    assert (
        text(example(), stop_on_name=True)
        == """
mul [id A]
 ├─ DivMod.0 [id B]
 │  ├─ add [id C]
 │  │  ├─ exp [id D] 'a'
 │  │  ├─ 1.5 [id E]
 │  │  └─ y [id F]
 │  └─ exp [id D] 'a'
 ├─ DivMod.1 [id B]
 │  └─ ···
 └─ Scale{by=2.0} [id G]
    └─ exp [id D] 'a'
"""
    )


def test_depth() -> None:
    """What was not shown is not counted as shown: exp appears below sin."""
    a = exp(x)
    assert (
        text(sub(log(sin(a)), sin(a)), depth=3)
        == """
sub [id A]
 ├─ log [id B]
 │  └─ sin [id C]
 └─ sin [id D]
    └─ exp [id E]
"""
    )
    assert text(example(), depth=1) == "\nmul [id A]\n"
    assert text(example(), depth=0) == "\n\n"
    assert text([x, log(x)], depth=1) == "\nx [id A]\nlog [id B]\n"


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("CHAR", "log [id A]\n └─ x [id B]"),
        ("int", "log [id 0]\n └─ x [id 1]"),
        ("", "log\n └─ x"),
    ],
)
def test_identifiers(kind: str, shown: str) -> None:
    assert debugprint(log(x), ids=kind, file="str") == shown
    assert debugprint(log(x), id_type=kind, file="str") == shown


def test_names_that_variables_have() -> None:
    """The same ones in all printouts; of a node that of its first output."""
    v = log(x)
    expected = f"log [id {v.auto_name}]\n └─ x [id {x.auto_name}]"
    assert debugprint(v, ids="auto", file="str") == expected
    assert debugprint([v, v], ids="auto", file="str").startswith(expected)


def test_python_ids() -> None:
    v = log(x)
    assert debugprint(v, ids="id", file="str") == f"log [id {id(v.owner)}]\n └─ x [id {id(x)}]"


def test_unknown_identifiers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no identifiers 'hex'.*'CHAR'"):
        debugprint(x, ids="hex")


def test_letters() -> None:
    assert [letters(n) for n in (0, 25, 26, 51, 52, 701, 702)] == [
        "A", "Z", "AA", "AZ", "BA", "ZZ", "AAA",
    ]  # fmt: skip


def test_several_graphs_share_identifiers() -> None:
    a = exp(x)
    both = """
log [id A]
 └─ exp [id B]
    └─ x [id C]
sin [id D]
 └─ exp [id B]
    └─ ···
"""
    first, second = log(a), sin(a)
    assert text([first, second]) == both
    assert text((first, [second])) == both
    done: dict[Any, str] = {}
    used: dict[Any, str] = {}
    one = text(first, done=done, used_ids=used)
    two = text(second, done=done, used_ids=used)
    assert one.rstrip("\n") + two == both


def test_a_node() -> None:
    assert (
        text(divmod_(x, y)[0].owner)
        == """
DivMod.0 [id A]
 ├─ x [id B]
 └─ y [id C]
DivMod.1 [id A]
 └─ ···
"""
    )


def test_a_function_graph() -> None:
    """With the order of execution; also what is overwritten and viewed."""
    fgraph = FunctionGraph([x], [log(add(x, exp(x))), overwrite(view(x))])
    assert (
        text(fgraph, print_topo_order=False, print_memory_map=True)
        == """
log [id A]
 └─ add [id B]
    ├─ x [id C]
    └─ exp [id D]
       └─ x [id C]
Overwrite [id E] d={0: [0]}
 └─ View [id F] v={0: [0]}
    └─ x [id C]
"""
    )
    order = {str(node.op): i for i, node in enumerate(fgraph.toposort())}
    shown = text(fgraph)
    assert f"log [id A] {order['log']}\n" in shown
    assert f"exp [id D] {order['exp']}\n" in shown
    assert "d={" not in shown


def test_a_function_and_its_updates() -> None:
    class Function:
        fgraph = FunctionGraph([x, y], [log(x), sin(y)], updates={1: 1})
        storage_map = {fgraph.inputs[0]: [2.5]}

    shown = text(Function, print_fgraph_inputs=True, print_topo_order=False, print_storage=True)
    assert (
        shown
        == """
Inputs:
 x [id A] [2.5]
 y [id B]

Outputs:
log [id C]
 └─ x [id A] [2.5]
sin [id D]  (new value of y)
 └─ y [id B]
"""
    )


class Inner(Op):
    itypes = otypes = (num,)

    def __init__(self, name: str, out: Any) -> None:
        self.name, self.fgraph = name, FunctionGraph([x], [out])

    def __str__(self) -> str:
        return self.name


def test_graphs_inside_ops() -> None:
    small = Inner("Small", exp(x))
    large = Inner("Large", log(small(x)))
    assert (
        text(sub(large(y), large(x)), print_topo_order=False)
        == """
sub [id A]
 ├─ Large [id B]
 │  └─ y [id C]
 └─ Large [id D]
    └─ x [id E]

Inner graphs:

Large [id B]
 ← log [id F]
    └─ Small [id G]
       └─ x [id H]

Small [id G]
 ← exp [id I]
    └─ x [id J]
"""
    )
    assert "Inner graphs" not in text(small(x), print_inner_graphs=False)


def test_information_of_ops() -> None:
    class Loop(Scale):
        pass

    @op_debug_information.register(Loop)
    def _(op: Any, node: Any) -> dict[Any, str]:
        return {node.outputs[0]: "taps=[-1]"}

    v = Loop(2.0)(x)
    assert text(v, print_op_info=True).startswith("\nLoop{by=2.0} [id A] (taps=[-1])\n")
    assert "taps" not in text(v)


def test_information_that_an_op_has_itself() -> None:
    """Of outputs, of inputs below their node, and of what is in the graph inside."""

    class Halved(Inner):
        def debug_information(self, node: Any) -> dict[Any, str]:
            (inside,) = self.fgraph.inputs
            return {node.inputs[0]: "whole", node.outputs[0]: "half", inside: "inside"}

    whole = sin(y)
    shown = text(add(Halved("Halved", exp(x))(whole), whole), print_op_info=True)
    assert (
        shown
        == """
add [id A]
 ├─ Halved [id B] (half)
 │  └─ sin [id C] (whole)
 │     └─ y [id D]
 └─ sin [id C]
    └─ ···

Inner graphs:

Halved [id B]
 ← exp [id E] 0
    └─ x [id F] (inside)
"""
    )


def test_where_to(capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    assert dprint(log(x), file=stream) is stream
    assert stream.getvalue() == "log [id A]\n └─ x [id B]\n"
    assert dprint(log(x)) is None
    assert capsys.readouterr().out == stream.getvalue()


def test_an_object_without_a_graph() -> None:
    with pytest.raises(TypeError, match="int is no variable"):
        debugprint(3)


def test_constants_and_roots_without_a_name() -> None:
    assert text(add(const(2.0), num())) == "\nadd [id A]\n ├─ 2.0 [id B]\n └─ <Num> [id C]\n"


def test_indentation_starts_anew_every_40_levels() -> None:
    v = x
    for _ in range(41):
        v = sub(y, sin(v))
    lines = text(v).splitlines()[1:]
    assert lines[:3] == ["sub [id A]", " ├─ y [id B]", " └─ sin [id C]"]
    at = next(i for i, line in enumerate(lines) if "⋮" in line)
    assert lines[at - 1].endswith("└─ sin [id AO]")
    assert lines[at : at + 3] == [
        "40⋮ └─ sub [id AP]",
        "40⋮    ├─ y [id B]",
        "40⋮    └─ sin [id AQ]",
    ]
    assert max(map(len, lines)) < 40 * 4
    assert lines[-1] == "80⋮       └─ x [id CF]"


def test_deep_graphs_are_linear() -> None:
    def size(n: int) -> int:
        v = x
        for _ in range(n):
            v = sin(v)
        return len(debugprint(v, file="str"))

    assert size(100_000) < 1.1 * 100 * size(1_000)


def test_shared_graphs_are_linear() -> None:
    v = x
    for _ in range(60):
        v = add(v, v)
    assert text(v).count("\n") == 60 * 3 + 1


def test_names() -> None:
    assert printing.dprint is printing.debugprint


def test_facts_are_asked_for_elsewhere():
    with pytest.raises(OptionError, match="rewrite_engine.facts"):
        debugprint(num("x"), print_assumptions=True)
    assert debugprint(num("x"), print_assumptions=False, file="str") == "x [id A]"


def test_shapes_are_tuples() -> None:
    x = pt.vector("x")
    text = dprint(
        [x, pt.matrix("m", shape=(None, 3)), pt.scalar("s")], file="str", print_shape=True
    )
    assert [line.partition(" shape=")[2] for line in text.splitlines()] == ["(?,)", "(?, 3)", "()"]
