"""Graphs as pictures: `dot` (for Graphviz), `mermaid`, and `svg`, which needs no other program.

`pydotprint` and `d3viz` write them to files, under PyTensor's names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from rewrite_engine.errors import refuse_options
from rewrite_engine.printing.part import part_of
from rewrite_engine.printing.tree import sources
from rewrite_engine.terms.print import leaf_text, which_output

MOST = 500  # nodes of a picture; those nearest to the outputs, if there are more
ROUNDS = 3  # of placing boxes by their neighbours
WIDTH, HEIGHT, ROW, MARGIN = 7, 24, 56, 16  # of a letter, of a box, from row to row, around


class Box(NamedTuple):
    """Box in a picture. kind: "op", "input", "constant" or "output"."""

    name: str
    text: str
    kind: str


class Picture(NamedTuple):
    """Boxes and labelled edges between them, by index."""

    boxes: list[Box]
    edges: list[tuple[int, int, str]]


class PictureText(str):
    """Text of a picture, in any language. Notebooks show the picture instead."""

    drawn: Picture

    @classmethod
    def of(cls, text: str, drawn: Picture) -> PictureText:
        """Return a text with the picture that it describes."""
        made = cls(text)
        made.drawn = drawn
        return made

    def _repr_svg_(self) -> str:
        return _as_svg(self.drawn, "graph")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"<picture of {len(self.drawn.boxes)} boxes; `print` shows its text>")


def picture(graph_like: Any, most: int = MOST) -> Picture:
    """Return the boxes and edges for a variable, graph, function, or list of them; if there are
    more than `most` nodes, those nearest to the outputs.
    """
    outputs = [v for source in sources(graph_like) for v in source.outputs]
    shown = part_of(outputs, most).nodes
    number: dict[Any, int] = {}
    boxes: list[Box] = []
    edges: list[tuple[int, int, str]] = []

    def box(key: Any, text: str, kind: str) -> int:
        if key not in number:
            number[key] = len(boxes)
            boxes.append(Box(f"n{len(boxes)}", text, kind))
        return number[key]

    def place(v: Any, user: Any) -> int:
        if v.owner is not None:
            there = v.owner in number
            return number[v.owner] if there else box(v, "…", "input")
        if hasattr(v, "data"):  # beside each node that uses it
            return box((v, user), leaf_text(v), "constant")
        return box(v, leaf_text(v), "input")

    for node in shown:
        from_ = [place(v, node) for v in node.inputs]
        own = box(node, str(node.op), "op")
        labels = [f"{i}{which_output(v)}" for i, v in enumerate(node.inputs)]
        edges += [(k, own, label) for k, label in zip(from_, labels, strict=True)]
    for i, v in enumerate(outputs):
        end = box(("output", i), v.name or f"output {i}", "output")
        edges.append((place(v, end), end, which_output(v)))
    return Picture(boxes, edges)


SHAPES = {"op": "box", "input": "ellipse", "constant": "plaintext", "output": "doubleoctagon"}
COLOURS = {"op": "#dbe9ff", "input": "#dff5df", "constant": "#eeeeee", "output": "#ffe6cc"}


def dot(graph_like: Any, title: str = "graph", most: int = MOST) -> str:
    """Return a graph in the language of Graphviz.

    >>> from tests.toy import num, log
    >>> print(dot(log(num("x"))))
    digraph "graph" {
      node [style=filled, fontname="monospace"];
      n0 [label="x", shape=ellipse, fillcolor="#dff5df"];
      n1 [label="log", shape=box, fillcolor="#dbe9ff"];
      n2 [label="output 0", shape=doubleoctagon, fillcolor="#ffe6cc"];
      n0 -> n1;
      n1 -> n2;
    }
    """
    drawn = boxes, edges = picture(graph_like, most)
    into = Counter([end for _, end, _ in edges])
    lines = [f"digraph {_quoted(title)} {{", '  node [style=filled, fontname="monospace"];']
    for one in boxes:
        look = f'shape={SHAPES[one.kind]}, fillcolor="{COLOURS[one.kind]}"'
        lines.append(f"  {one.name} [label={_quoted(one.text)}, {look}];")
    for start, end, label in edges:
        note = f" [label={_quoted(label)}]" if into[end] > 1 else ""
        lines.append(f"  {boxes[start].name} -> {boxes[end].name}{note};")
    return PictureText.of("\n".join([*lines, "}"]), drawn)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def mermaid(graph_like: Any, title: str = "graph", most: int = MOST) -> str:
    """Return a graph in the language of Mermaid.

    >>> from tests.toy import num, log
    >>> print(mermaid(log(num("x"))))
    ---
    title: graph
    ---
    flowchart TD
      n0(["x"]) --> n1["log"]
      n1["log"] --> n2[["output 0"]]
    """
    drawn = boxes, edges = picture(graph_like, most)
    signs = {"op": '["{}"]', "input": '(["{}"])', "constant": '["{}"]', "output": '[["{}"]]'}

    def text(k: int) -> str:
        words = boxes[k].text.replace("#", "#35;").replace('"', "#quot;")
        return boxes[k].name + signs[boxes[k].kind].format(words)

    lines = [f"  {text(start)} --> {text(end)}" for start, end, _ in edges]
    head = ["---", f"title: {title}", "---", "flowchart TD"]
    return PictureText.of("\n".join([*head, *lines]), drawn)


# --- SVG -----------------------------------------------------------------------------------------


def svg(graph_like: Any, title: str = "graph", most: int = MOST) -> str:
    """Return a graph as an SVG picture: rows of boxes, each below everything that it is computed
    from.
    """
    drawn = picture(graph_like, most)
    return PictureText.of(_as_svg(drawn, title), drawn)


def _as_svg(drawn: Picture, title: str) -> str:
    places, size = _laid_out(drawn)
    width, height = size
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="monospace" font-size="12">'
    )
    head += f"<title>{escape(title)}</title>"
    return "\n".join([head, *_edges(drawn, places), *_boxes(drawn, places), "</svg>"])


def _laid_out(drawn: Picture) -> tuple[list[tuple[float, float, float]], tuple[int, int]]:
    """Return the place (middle, top, width) of each box, and the size of the picture. A row is
    ordered by the middles of its boxes' inputs, and each box is below its inputs, if there is
    space; inputs and constants are directly above their first use.
    """
    level = _levels(drawn)
    near: list[list[int]] = [[] for _ in drawn.boxes]  # what a box is placed by
    roots = set(range(len(drawn.boxes))) - {end for _, end, _ in drawn.edges}
    for start, end, _ in drawn.edges:
        near[end].append(start)
        if start in roots:
            near[start].append(end)
    rows: dict[int, list[int]] = {}
    for k, n in enumerate(level):
        rows.setdefault(n, []).append(k)
    at = [0.0] * len(level)
    for _ in range(ROUNDS):
        for n in sorted(rows):
            x = float(MARGIN)
            wanted = {k: _middle([at[i] for i in near[k]]) for k in rows[n]}
            for k in sorted(rows[n], key=lambda k: wanted[k]):
                x = max(x, wanted[k] - _width(drawn.boxes[k]) / 2)
                at[k] = x + _width(drawn.boxes[k]) / 2
                x += _width(drawn.boxes[k]) + MARGIN
    wide = [_width(one) for one in drawn.boxes]
    left = min([x - w / 2 for x, w in zip(at, wide, strict=True)], default=0.0) - MARGIN
    places = [
        (x - left, float(n * ROW + MARGIN), w) for x, n, w in zip(at, level, wide, strict=True)
    ]
    right = max([x + w / 2 for x, _, w in places], default=0.0) + MARGIN
    return places, (int(right), len(rows) * ROW + MARGIN)


def _width(one: Box) -> float:
    return len(one.text[:40]) * WIDTH + 16


def _levels(drawn: Picture) -> list[int]:
    """Return the row of each box: below everything that it is computed from; roots are directly
    above their first client.
    """
    level, roots = [0] * len(drawn.boxes), set(range(len(drawn.boxes)))
    first: dict[int, int] = {}
    for start, end, _ in sorted(drawn.edges, key=lambda edge: edge[1]):
        level[end] = max(level[end], level[start] + 1)
        roots.discard(end)
    for start, end, _ in drawn.edges:
        first[start] = min(first.get(start, level[end]), level[end])
    for k in roots:
        level[k] = max(0, first.get(k, 1) - 1)
    return level


def _middle(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _edges(drawn: Picture, places: Sequence[tuple[float, float, float]]) -> Iterator[str]:
    for start, end, _ in drawn.edges:
        (x, y, _), (u, v, _) = places[start], places[end]
        y += HEIGHT
        yield (
            f'<path d="M{x:.0f},{y:.0f} C{x:.0f},{y + 16:.0f} {u:.0f},{v - 16:.0f} '
            f'{u:.0f},{v:.0f}" fill="none" stroke="#999"/>'
        )


def _boxes(drawn: Picture, places: Sequence[tuple[float, float, float]]) -> Iterator[str]:
    for one, (x, y, wide) in zip(drawn.boxes, places, strict=True):
        text = one.text if len(one.text) <= 40 else one.text[:39] + "…"
        yield (
            f'<g><title>{escape(one.text)}</title><rect x="{x - wide / 2:.0f}" y="{y:.0f}" '
            f'width="{wide:.0f}" height="{HEIGHT}" rx="5" fill="{COLOURS[one.kind]}" '
            f'stroke="#777"/><text x="{x:.0f}" y="{y + 16:.0f}" text-anchor="middle" '
            f'fill="#111">{escape(text)}</text></g>'
        )


#: how a graph is drawn, in each language
DRAWN = {"dot": dot, "mermaid": mermaid, "svg": svg}


# --- by the names of PyTensor --------------------------------------------------------------------


def pydotprint(
    fct: Any,
    outfile: Any = None,
    compact: bool = True,
    format: str = "svg",
    print_output_file: bool = False,
    return_image: bool = False,
    high_contrast: bool = True,
    var_with_name_simple: bool = False,
    **unknown: Any,
) -> Any:
    """Write a picture of a graph to a file: as `svg` or `dot`, or, if Graphviz is installed, in any
    format of its command `dot` (`png`, `pdf`, …); the extension of the name may specify it
    (`x.dot`). Without a file, or with return_image, return the picture as text. print_output_file:
    whether to print the name of the file. Nodes always look as with compact and high_contrast, and
    names are always simple.

    Raises `OptionError` for other options, and for formats that need Graphviz if it is not
    installed.
    """
    hint = "to change the look, edit the text that `dot` returns"
    plain = {"compact": not compact, "high_contrast": not high_contrast}
    refuse_options("pydotprint", hint, **plain, **unknown)
    kind = format if outfile is None else Path(outfile).suffix.removeprefix(".") or format
    if kind in ("svg", "dot"):
        text = svg(fct) if kind == "svg" else dot(fct)
        if outfile is None or return_image:
            return text
        Path(outfile).write_text(text, encoding="utf-8")
    else:
        _by_graphviz(dot(fct), kind, outfile)
    if print_output_file:
        print(f"The output file is available at {outfile}")
    return None


def _by_graphviz(text: str, kind: str, outfile: Any) -> None:
    """Draw a picture with Graphviz. Raises `OptionError` if that is impossible."""
    from shutil import which
    from subprocess import CalledProcessError, run

    command = which("dot")
    if command is None or outfile is None:
        why = "without Graphviz pictures are svg or dot" if command is None else "name a file"
        refuse_options("pydotprint", why, format=kind)
    try:
        run([str(command), f"-T{kind}", "-o", str(outfile)], input=text, text=True, check=True,
            capture_output=True)  # fmt: skip
    except CalledProcessError as error:
        refuse_options("pydotprint", error.stderr.strip(), format=kind)


def d3viz(fct: Any, outfile: Any, copy_deps: bool = True, *args: Any, **unknown: Any) -> None:
    """Write a page with a picture of a graph. The page needs no other file, so copy_deps has no
    effect. Raises `OptionError` for other options.
    """
    refuse_options("d3viz", "the page always has one picture", **unknown)
    page = f"<!DOCTYPE html>\n<meta charset='utf-8'>\n<title>graph</title>\n{svg(fct)}\n"
    Path(outfile).write_text(page, encoding="utf-8")
