"""The page, as a browser shows it (where Chromium is installed)."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain import Report, explain, recording
from rewrite_engine.explain.__main__ import main
from rewrite_engine.explain.lines import json_lines
from rewrite_engine.explain.page import page

PROGRAMS = Path(__file__).parent / "programs"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
x = pt.vector("x")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name in ("density", "kalman", "unrolled"):
        with recording() as recorder:
            runpy.run_path(str(PROGRAMS / f"{name}.py"))
        (folder / f"{name}.html").write_text(page(json_lines(Report(recorder.records))))
    return folder


@pytest.fixture(scope="module")
def kalman():
    with recording() as recorder:
        runpy.run_path(str(PROGRAMS / "kalman.py"))
    (f,) = Report(recorder.records).functions
    return f


def outside(f):
    """The rules that fired in the graph of the function itself."""
    return {step.rule_name for step in f.steps if " in " not in step.phase}


def shown(file, state=""):
    """The page as it is once its script has run."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    url = f"file://{file}#{state}"
    done = subprocess.run([*command, url], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def boxes(dom, kind):
    return len(re.findall(rf'class="box {kind}[ "]', dom))


def nodes(dom):
    return int(re.search(r'id="nodes">(?:[^<]*: )?(\d+) nodes', dom)[1])


def test_the_page_needs_no_network_and_closes_no_tag_too_early():
    y = pt.exp(pt.vector("</script><b>"))
    text = page(json_lines(explain(y)))
    assert text.count("</script>") == 3
    assert not re.findall(r'(?:src|href)="', text)
    assert "Chris Pettitt" in text  # the licence of what lays out


@needs_browser
@pytest.mark.parametrize(("name", "before", "after"), [("density", 99, 62), ("kalman", 34, 37)])
def test_the_graph_as_built_and_as_rewritten(folder, name, before, after):
    dom = shown(folder / f"{name}.html", "firing=0")
    assert nodes(dom) == before
    assert "As built" in dom
    dom = shown(folder / f"{name}.html", "fit=1")
    assert nodes(dom) == boxes(dom, "op") + boxes(dom, "inner") == after


@needs_browser
def test_a_firing_is_marked_and_told(folder):
    dom = shown(folder / "density.html", "firing=10")
    assert re.search(r'class="box \w+ (?:new|going)', dom)
    assert "<h2>#10 " in dom
    assert "→ " in dom
    assert "your line density.py:" in dom


@needs_browser
def test_what_is_searched_is_marked(folder):
    dom = shown(folder / "density.html", "search=softplus")
    assert re.search(r'class="box op(?: new)? found"', dom)
    assert "Found: " in dom
    dom = shown(folder / "density.html", "search=density.py%3A21")
    assert "firings" in dom


@needs_browser
def test_what_is_inside_of_loops_is_found(folder, kalman):
    dom = shown(folder / "kalman.html", "search=slogdet")
    assert "Found: 0 nodes at some time" in dom
    assert re.search(r"\d+ inside of Scan<", dom)
    within = [s for s in kalman.steps if " in " in s.phase]
    rule = next(s.rule_name for s in within if s.rule_name not in outside(kalman))
    dom = shown(folder / "kalman.html", f"search={rule}")
    (hits,) = re.findall(r"Found: 0 nodes at some time, (\d+) firings", dom)
    numbers = [s.number for s in within if s.rule_name == rule]
    assert int(hits) == len(numbers)
    found = re.findall(rf'class="row">#(\d+) {rule}<', dom)
    assert found == [str(n) for n in numbers]


@needs_browser
def test_the_page_begins_with_the_whole_graph_as_rewritten(folder):
    dom = shown(folder / "kalman.html")
    assert "As rewritten, after" in dom
    assert boxes(dom, "op") + boxes(dom, "inner") == nodes(dom)
    scale = float(re.search(r'id="view" transform="[^"]*scale\(([\d.]+)\)', dom)[1])
    assert 0.15 <= scale <= 1.3


@pytest.mark.skipif(rw.config.linker == "native", reason="steps are rewritten on the VM only")
@needs_browser
def test_firings_are_numbered_and_told_together_as_in_the_text(folder, kalman):
    f, total = kalman, len(kalman.steps)
    dom = shown(folder / "kalman.html")
    last = re.search(r'id="where"[^>]*>#([\d–]+) of (\d+)<', dom)
    assert last[1].rpartition("–")[2] == str(
        max(s.number for s in f.steps if " in " not in s.phase)
    )
    assert last[2] == str(total)
    rows = re.findall(r'class="row[^"]*">#(\d+)(?:–(\d+))? ([\w/]+) · ([^<]+)<', dom)
    assert any(b and int(b) > int(a) and rule == "inner/rewritten" for a, b, rule, _ in rows)
    assert {op.removesuffix("…") for _, _, rule, op in rows if rule == "loops/drop_unused"} <= {
        "Scan", "gradient of Scan", "steps of gradient of Sc",
    }  # fmt: skip


@needs_browser
def test_lines_before_and_after_stand_side_by_side(folder):
    x_, text = pt.vector("x"), folder / "text.html"
    text.write_text(page(json_lines(explain(pt.log(1 + pt.exp(x_)) * 2))))
    rows = r'<td class="(\w*)"[^>]*>([^<]*)</td>'
    found = re.findall(rows, shown(text, "text=all").split('id="rows"')[1])
    gone = [line for kind, line in found if kind == "gone"]
    came = [line for kind, line in found if kind == "came"]
    assert [re.search(r"= (\w+)", line)[1] for line in gone[:2]] == ["exp", "add"]
    assert "softplus(x)" in " ".join(came)
    one = re.findall(rows, shown(text, "text=firing&firing=1").split('id="rows"')[1])
    assert "log1p" in " ".join(line for kind, line in one if kind == "came")
    assert 'id="text" hidden' in shown(text)


def clicked(file, script):
    """The page after a script has run in it."""
    other = file.with_name(f"clicked_{file.name}")
    page = file.read_text().replace("</body>", f"<script>{script}</script></body>")
    other.write_text(page)
    return shown(other)


@needs_browser
def test_a_line_of_code_leads_to_its_nodes_and_a_node_to_its_lines(folder, kalman):
    line = next(n for n in kalman.graphs[0].nodes if n.class_ == "Scan").line
    place = f"{Path(line[0]).name}:{line[1]}"
    dom = shown(folder / "kalman.html", f"line={place}")
    (now,) = re.findall(rf"<h2>{place}: (\d+) nodes now", dom)
    assert boxes(dom, r"\w+(?: new)? found") == int(now) > 0
    inner = kalman.graphs[1]
    assert inner.inside == "Scan"
    row = next(n.line for n in inner.nodes if n.class_ == "FactorSolve")
    dom = shown(folder / "kalman.html", f"line={Path(row[0]).name}:{row[1]}")
    assert "0 nodes now" in dom
    assert re.search(r'class="row">\d+ inside of Scan<', dom)
    ids = [k for k, n in enumerate(inner.nodes) if n.line == row]
    dom = shown(folder / "kalman.html", f"inside=Scan&node={ids[0]}")
    (text,) = [one.text for one in inner.sources if (one.file, one.line) == row]
    assert text
    assert re.search(rf'class="row">built at {Path(row[0]).name}:{row[1]}', dom)
    assert re.search(rf'class="row now">{Path(row[0]).name}:{row[1]}', dom)
    click = "[...document.querySelectorAll('#lines_of_code .row')].at(-1).click()"
    assert re.search(r"<h2>kalman.py:\d+: \d+ nodes now", clicked(folder / "kalman.html", click))


@needs_browser
def test_a_phase_is_its_text_before_and_after(folder):
    file = folder / "kalman.html"
    click = "document.querySelectorAll('#phases span')[1].click()"
    dom = clicked(file, click)
    assert 'id="text" hidden' not in dom
    rows = re.findall(r'<td class="([^"]*)"[^>]*>([^<]*)</td>', dom.split('id="rows"')[1])
    assert {kind for kind, _ in rows} >= {"gone", "came"}
    line = f"{click}; document.querySelector('#rows td.gone').click()"
    dom = clicked(file, line)
    assert re.search(r'<td class="gone here"', dom)
    assert "<h2>" in dom.split('id="about"')[1].split("</section>")[0]


@needs_browser
def test_the_step_of_a_loop_is_shown_as_code(folder):
    dom = shown(folder / "kalman.html", "inside=Scan")
    code = dom.split('<pre class="code">')[1].split("</pre>")[0]
    assert code.startswith("def Scan(ys[t]: float64")
    assert "    return " in code


@needs_browser
def test_costs_are_colours(folder):
    assert "hsl" not in shown(folder / "density.html").split("<svg")[1].split("</svg>")[0]
    dom = shown(folder / "density.html", "cost=flops&fit=1")
    assert "<h2>Most expensive nodes</h2>" in dom
    dom = dom.split("<svg")[1]
    assert len(re.findall(r'style="fill: ', dom)) > 20


@needs_browser
def test_a_graph_inside_of_an_op_is_opened_alone(folder):
    dom = shown(folder / "kalman.html", "inside=Scan")
    assert "inside of Scan: " in dom
    assert "MatrixInverse" in dom


@needs_browser
def test_graphs_inside_of_ops_are_opened_in_place(folder):
    dom = shown(folder / "kalman.html", "open=1")
    assert nodes(dom) == 37
    assert dom.count('class="frame"') == 3
    assert "inside of gradient of Scan" in dom
    assert "MatrixInverse" in dom


@needs_browser
def test_a_loop_in_a_loop_of_the_same_name_is_another_one(folder):
    m = pt.matrix("m")

    def rows(row, total):
        inner, _ = rw.scan(
            lambda v, s: pt.tanh(v * s), sequences=[row], outputs_info=[pt.constant(1.0)]
        )
        return pt.cos(total + inner[-1])

    totals, _ = rw.scan(rows, sequences=[m], outputs_info=[pt.constant(0.0)])
    file = folder / "nested.html"
    file.write_text(page(json_lines(explain(totals))))
    frame = shown(file, "open=1").split('class="frame"')[1].split("</g></g>")[0]
    names = re.findall(r"<title>([^<]*)</title>", frame)
    assert "cos" in names
    assert "tanh" not in names
    assert any(name.startswith("Scan") for name in names)


@needs_browser
def test_of_a_large_graph_only_what_can_be_seen_is_drawn(folder):
    dom = shown(folder / "unrolled.html", "firing=100")
    assert nodes(dom) > 1000
    assert 0 < boxes(dom, "op") < 400


@needs_browser
def test_verdicts_are_told(tmp_path):
    file = tmp_path / "page.html"
    assume = "import rewrite_engine as rw, rewrite_engine.tensor as pt\nx = pt.vector('x')\n"
    assume += "f = rw.function([x], pt.abs(rw.assume(x, nonneg=True)))\nf([-1.0])"
    assert main(["--html", str(file), "-c", assume]) == 0
    dom = shown(file)
    assert re.search(r'id="verdict" class="bad"[^>]*>[^<]* · 1 UNTRUE<', dom)
    assert "x is not nonneg, as declared" in dom


def test_the_command_writes_pages_and_pictures(tmp_path, capsys):
    files = {kind: tmp_path / f"a.{kind}" for kind in ("html", "dot", "mermaid", "svg")}
    options = [part for kind, file in files.items() for part in (f"--{kind}", str(file))]
    assert main([*options, "--expr", "log(1 + exp(x))"]) == 0
    assert "softplus" in files["dot"].read_text()
    assert "softplus" in files["mermaid"].read_text()
    assert "exp_log/log1p_of_exp" in files["html"].read_text()


def test_the_lines_go_to_the_output_where_asked(capsys):
    assert main(["--json", "-", "--expr", "log(1 + exp(x))"]) == 0
    assert all(line.startswith("{") for line in capsys.readouterr().out.splitlines())


def test_a_function_without_rules_has_a_page():
    assert "exp" in page(json_lines(explain(pt.exp(x), mode=rw.Mode(optimizer=None))))
