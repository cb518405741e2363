"""Graphs as pictures."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import OptionError
from rewrite_engine.printing.picture import d3viz, dot, mermaid, picture, pydotprint, svg

x, m = pt.vector("x"), pt.matrix("m")
y = pt.log(1 + pt.exp(x) / 2)


def test_every_node_and_edge_is_drawn():
    boxes, edges = picture(y)
    assert [one.text for one in boxes if one.kind == "op"] == ["exp", "true_div", "add", "log"]
    assert [one.text for one in boxes if one.kind in ("input", "constant")] == ["x", "2.0", "1.0"]
    assert len(edges) == 7


@pytest.mark.parametrize("draw", [dot, mermaid, svg])
def test_functions_and_lists_are_drawn(draw):
    f = rw.function([x], [y, x * 2], name="f")
    assert "softplus" not in draw(y)
    assert "softplus" in draw(f)
    assert "log" in draw([y, x])


def test_a_picture_is_xml_and_escapes_texts():
    x = pt.vector('<"&>')
    root = ElementTree.fromstring(svg(pt.exp(x)))
    assert next(t.text for t in root.iter("{http://www.w3.org/2000/svg}text")) == '<"&>'


def test_boxes_are_below_what_they_are_computed_from():
    root = ElementTree.fromstring(svg(y))
    tops = [float(r.get("y")) for r in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert len(set(tops)) >= 5


def test_a_large_graph_is_cut():
    z = x
    for _ in range(2000):
        z = pt.sin(z)
    assert len(picture(z).boxes) < 510
    assert len(svg(z)) < 500_000


def test_the_names_of_pytensor(tmp_path, capsys):
    pydotprint(y, tmp_path / "a.dot")
    pydotprint(y, tmp_path / "a.svg")
    d3viz(y, tmp_path / "a.html")
    assert (tmp_path / "a.dot").read_text().startswith("digraph")
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert "<svg" in (tmp_path / "a.html").read_text()
    assert pydotprint(y).startswith("<svg")
    with pytest.raises(OptionError):
        pydotprint(y, with_ids=True)
    with pytest.raises(OptionError, match="compact"):
        pydotprint(y, compact=False)
    assert pydotprint(y, tmp_path / "a.svg", return_image=True)._repr_svg_().startswith("<svg")
    capsys.readouterr()
    pydotprint(y, tmp_path / "a.svg", compact=True, var_with_name_simple=True,
               print_output_file=True)  # fmt: skip
    assert capsys.readouterr().out == f"The output file is available at {tmp_path / 'a.svg'}\n"


def test_pictures_that_graphviz_draws(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OptionError, match="without Graphviz"):
        pydotprint(y, tmp_path / "a.pdf")
    command = tmp_path / "dot"  # what it is given, behind what it is told
    command.write_text(
        f"#!{sys.executable}\n"
        """import sys
open(sys.argv[3], "w").write(" ".join(sys.argv[1:3]) + sys.stdin.read())
sys.exit("no such format" if sys.argv[1] == "-Tnone" else 0)
"""
    )
    command.chmod(0o755)
    pydotprint(y, tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_text().startswith("-Tpdf -odigraph")
    with pytest.raises(OptionError, match="no such format"):
        pydotprint(y, tmp_path / "a.none")


def test_a_constant_stands_right_above_each_node_that_uses_it():
    c = pt.constant(2.5)
    term = pt.exp(pt.sin(x) + c) * c
    drawn = picture(term)
    assert [one.kind for one in drawn.boxes].count("constant") == 2
    rects = ElementTree.fromstring(svg(term)).findall("{*}g/{*}rect")
    tops = [float(rect.get("y")) for rect in rects]
    assert min(float(rect.get("x")) for rect in rects) >= 0
    row = min(b - a for a in tops for b in tops if b > a)
    for start, end, _ in drawn.edges:
        assert tops[start] < tops[end]
        if drawn.boxes[start].kind == "constant":
            assert tops[end] - tops[start] == row
