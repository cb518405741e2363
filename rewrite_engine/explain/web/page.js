// The page of `explain --html`, drawn of the JSON lines alone (rewrite/trace/schema.json).
"use strict";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const LETTER = 6.7, HEIGHT = 24, SMALL = 250;  // boxes up to which dagre lays the graph out
const READABLE = 0.7;  // scale below which texts cannot be read

const lines = $("lines").textContent.trim().split("\n").filter(Boolean).map((l) => JSON.parse(l));
const functions = [];
for (const line of lines) {
  const k = line.function_index - 1;
  const f = (functions[k] ??= { firings: new Map(), graphs: [], phases: [] });
  if (line.kind === "firing") f.firings.set(line.number, line);
  else if (line.kind === "graph") f.graphs.push(line);
  else if (line.kind === "phase") f.phases.push(line);
  else if (line.kind === "function") f.about = line;
}

function element(tag, attributes, parent, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent?.appendChild(made);
  return made;
}
function html(tag, className, text, parent) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  parent?.appendChild(made);
  return made;
}
const short = (text, n) => (text.length > n ? text.slice(0, n - 1) + "…" : text);
const place = (line) => (line ? line[0].split("/").pop() + ":" + line[1] : "");
const amount = (n) => {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]])
    if (Math.abs(n) >= size) return (n / size).toPrecision(3) + " " + unit;
  return String(n) + " ";
};

// --- a graph at any time ------------------------------------------------------------------------

class Graph {
  constructor(line) {
    this.line = line;
    this.variables = line.variables;
    this.nodes = line.nodes;
    this.changes = line.changes;
    this.inputs = this.nodes.map((node) => node.inputs);
    this.ops = this.nodes.map((node) => node.op);
    this.outputs = line.outputs;
    this.position = 0;
    this.undo = [];
  }
  // go to the state after so many changes
  go(position) {
    while (this.position < position) this.forward();
    while (this.position > position) this.backward();
  }
  forward() {
    const change = this.changes[this.position++];
    const before = { outputs: this.outputs, nodes: [] };
    for (const [key, now] of Object.entries(change.nodes)) {
      before.nodes.push([+key, this.inputs[key], this.ops[key]]);
      this.inputs[key] = now.inputs;
      this.ops[key] = now.op;
    }
    if (change.outputs) this.outputs = change.outputs;
    this.undo.push(before);
  }
  backward() {
    const before = this.undo.pop();
    for (const [key, inputs, op] of before.nodes) {
      this.inputs[key] = inputs;
      this.ops[key] = op;
    }
    this.outputs = before.outputs;
    this.position--;
  }
  // the boxes that are there: nodes "n3", roots "v5", outputs "o0"
  alive() {
    const seen = new Set(), todo = [...this.outputs];
    this.outputs.forEach((_, k) => seen.add("o" + k));
    while (todo.length) {
      const v = this.variables[todo.at(-1)], key = this.box(todo.pop());
      if (key === null || seen.has(key)) continue;
      seen.add(key);
      if (v.node !== null) todo.push(...this.inputs[v.node]);
    }
    return seen;
  }
  box(k) {
    const v = this.variables[k];
    if (v.node !== null) return "n" + v.node;
    return v.kind === "constant" ? null : "v" + k;
  }
  // edges into a box, as keys of the boxes where they begin
  into(key) {
    const k = +key.slice(1);
    const from = key[0] === "n" ? this.inputs[k] : key[0] === "o" ? [this.outputs[k]] : [];
    return from.map((v) => this.box(v)).filter((b) => b !== null);
  }
  label(key) {
    const k = +key.slice(1);
    if (key[0] === "v") return this.variables[k].name ?? this.variables[k].type;
    if (key[0] === "o") return this.line.output_names[k];
    const constants = this.inputs[k].map((v) => this.variables[v])
      .filter((v) => v.kind === "constant").map((v) => short(v.text, 14));
    const name = this.nodes[k].outputs.map((v) => this.variables[v].name).find((n) => n);
    const op = short(this.ops[k].replace(/\{inplace[^}]*\}/, " ⤓"), 30);
    return (name ? name + " = " : "") + op + (constants.length ? "  " + constants.join(", ") : "");
  }
}

// --- layout: positions are found once, for everything that is ever there ----------------------------

function boxesOf(graph) {
  const keys = [];
  graph.variables.forEach((v, k) => { if (v.node === null && v.kind !== "constant") keys.push("v" + k); });
  graph.nodes.forEach((_, k) => keys.push("n" + k));
  graph.outputs.forEach((_, k) => keys.push("o" + k));
  return keys;
}
function allEdges(graph) {
  const edges = new Set();
  const note = () => { for (const key of graph.alive()) for (const b of graph.into(key)) edges.add(b + ">" + key); };
  graph.go(0); note();
  graph.go(graph.changes.length); note();
  graph.nodes.forEach((node, k) => {
    for (const v of node.inputs) { const b = graph.box(v); if (b !== null) edges.add(b + ">n" + k); }
  });
  graph.go(0);
  return [...edges].map((edge) => edge.split(">"));
}
function layOut(graph) {
  const sizes = new Map(boxesOf(graph).map((key) => [key, graph.label(key).length * LETTER + 34]));
  const edges = allEdges(graph).filter(([a, b]) => sizes.has(a) && sizes.has(b));
  return sizes.size <= SMALL ? byDagre(sizes, edges) : byRows(sizes, edges);
}
function byDagre(sizes, edges) {
  const g = new dagre.graphlib.Graph();
  g.setGraph({ nodesep: 16, ranksep: 34, marginx: 10, marginy: 10, ranker: "longest-path" });
  g.setDefaultEdgeLabel(() => ({}));
  for (const [key, width] of sizes) g.setNode(key, { width, height: HEIGHT });
  for (const [a, b] of edges) if (a !== b) g.setEdge(a, b);
  dagre.layout(g);
  return new Map([...sizes].map(([key, width]) => [key, { x: g.node(key).x, y: g.node(key).y, width }]));
}
// rows by the longest way from the inputs, each ordered by the middles of its neighbours: linear
function byRows(sizes, edges) {
  const above = new Map([...sizes.keys()].map((key) => [key, []]));
  const below = new Map([...sizes.keys()].map((key) => [key, []]));
  for (const [a, b] of edges) { above.get(b).push(a); below.get(a).push(b); }
  const row = new Map(), waits = new Map([...above].map(([key, list]) => [key, list.length]));
  let ready = [...sizes.keys()].filter((key) => waits.get(key) === 0);
  const left = new Set(sizes.keys());
  while (left.size) {
    if (!ready.length) ready = [left.values().next().value];  // a circle of what was there at other times
    const key = ready.pop();
    if (!left.delete(key)) continue;
    row.set(key, 1 + Math.max(-1, ...above.get(key).map((a) => row.get(a) ?? -1)));
    for (const b of below.get(key)) {
      waits.set(b, waits.get(b) - 1);
      if (waits.get(b) <= 0) ready.push(b);
    }
  }
  const rows = [];
  for (const [key, n] of row) (rows[n] ??= []).push(key);
  const at = new Map();
  const settle = (list, n) => {
    let x = 10;
    const places = list.map((key) => { const w = sizes.get(key), p = x + w / 2; x += w + 16; return [key, p]; });
    for (const [key, p] of places) at.set(key, { x: p - x / 2, y: 30 + n * 62, width: sizes.get(key) });
  };
  const middle = (list) => list.reduce((sum, key) => sum + (at.get(key)?.x ?? 0), 0) / (list.length || 1);
  rows.forEach(settle);
  for (let round = 0; round < 6; round++) {
    const side = round % 2 ? below : above;
    const order = rows.map((list, n) => [list, n]);
    if (round % 2) order.reverse();
    for (const [list, n] of order) {
      const wanted = new Map(list.map((key) => [key, side.get(key).length ? middle(side.get(key)) : at.get(key).x]));
      list.sort((a, b) => wanted.get(a) - wanted.get(b));
      settle(list, n);
    }
  }
  return at;
}

// --- drawing ------------------------------------------------------------------------------------

let chosen = null, current = null, drawn = null, found = new Set(), foundAt = 0;
const view = { x: 0, y: 0, scale: 1 };

function open(k, inside) {
  const f = functions[k], line = f.graphs.find((g) => g.inside === inside) ?? f.graphs[0];
  current = { f, k, graph: new Graph(line), inside };
  current.places = layOut(current.graph);
  chosen = null; found = new Set();
  drawn = { boxes: new Map(), wires: new Map(), shown: new Map() };
  $("edges").replaceChildren(); $("boxes").replaceChildren();
  for (const [key, at] of current.places) {
    drawn.wires.set(key, element("path", { class: "wire gone" }, $("edges")));
    drawn.boxes.set(key, drawBox(key, at));
  }
  $("back").hidden = inside === null;
  $("slider").max = current.graph.changes.length;
  markPhases();
  step(inside === null ? current.graph.changes.length : 0);
  begin();
  current.placed = true;
}
// the whole graph, or where it is too large for that, what has changed, or the first output
function begin() {
  fit();
  if (view.scale >= READABLE) return;
  view.scale = READABLE;
  const marked = [...drawn.boxes].find(([, box]) => box.classList.contains("new"));
  centre(current.places.get(marked ? marked[0] : "o0"));
}
function drawBox(key, at) {
  const g = element("g", { class: "box gone", "data-key": key, transform: `translate(${at.x - at.width / 2},${at.y - HEIGHT / 2})` }, $("boxes"));
  element("rect", { width: at.width, height: HEIGHT, rx: 6 }, g);
  element("text", { x: at.width / 2, y: 16, "text-anchor": "middle" }, g);
  g.addEventListener("click", () => choose(key));
  g.addEventListener("dblclick", () => enter(key));
  return g;
}
const innerOf = (key) => key[0] === "n" ? current.f.graphs.find((g) => g.inside === current.graph.ops[+key.slice(1)]) : undefined;
function kindOf(key) {
  if (key[0] !== "n") return key[0] === "v" ? "input" : "output";
  return innerOf(key) ? "inner" : "op";
}
function enter(key) {
  const inner = innerOf(key);
  if (inner && inner.inside !== current.inside) open(current.k, inner.inside);
}
// show the state after n firings: what came is marked, what leaves with the next firing as well
function step(n) {
  const { graph } = current, most = graph.changes.length;
  n = Math.max(0, Math.min(most, n));
  if (n > 0) graph.go(n - 1);
  const before = n > 0 ? graph.alive() : null;
  graph.go(n);
  const now = graph.alive();
  let leaves = new Set();
  if (n < most) {
    graph.go(n + 1);
    const then = graph.alive();
    leaves = new Set([...now].filter((key) => !then.has(key)));
    graph.go(n);
  }
  const changed = n > 0 ? new Set(Object.keys(graph.changes[n - 1].nodes).map((k) => "n" + k)) : new Set();
  const heat = costs(now);
  for (const [key, box] of drawn.boxes) paint(key, box, now, before, leaves, changed, heat);
  $("slider").value = n;
  current.n = n;
  tell(n, now);
  follow(now, before, changed);
}
// bring what has changed into view, where the graph is larger than that
function follow(now, before, changed) {
  const marked = [...now].filter((key) => changed.has(key) || (before && !before.has(key)));
  const at = marked.length ? current.places.get(marked[0]) : null;
  if (!at || !current.placed) return;
  const size = $("graph").getBoundingClientRect();
  const x = at.x * view.scale + view.x, y = at.y * view.scale + view.y;
  if (x > 40 && y > 40 && x < size.width - 40 && y < size.height - 40) return;
  centre(at);
}
function centre(at) {
  const size = $("graph").getBoundingClientRect();
  move(size.width / 2 - at.x * view.scale, size.height / 2 - at.y * view.scale);
}
function paint(key, box, now, before, leaves, changed, heat) {
  const there = now.has(key), wire = drawn.wires.get(key);
  if (!there) {
    if (drawn.shown.get(key) !== "gone") { box.setAttribute("class", "box gone"); wire.setAttribute("class", "wire gone"); drawn.shown.set(key, "gone"); }
    return;
  }
  const marks = [kindOf(key)];
  if (before && (!before.has(key) || changed.has(key))) marks.push("new");
  if (leaves.has(key)) marks.push("going");
  if (found.has(key)) marks.push("found");
  if (chosen === key) marks.push("chosen");
  const colour = heat.get(key) ?? "", label = current.graph.label(key);
  const into = current.graph.into(key), state = marks.join(" ") + "|" + colour + "|" + label + "|" + into;
  if (drawn.shown.get(key) === state) return;
  drawn.shown.set(key, state);
  box.setAttribute("class", "box " + marks.join(" "));
  const at = current.places.get(key), [rect, text] = box.children;
  rect.style.fill = colour;
  text.textContent = short(label, Math.floor((at.width - 10) / LETTER));
  wire.setAttribute("class", "wire" + (marks.includes("new") ? " new" : ""));
  wire.setAttribute("d", into.map((from) => curve(current.places.get(from), at)).join(" "));
}
function curve(a, b) {
  const y1 = a.y + HEIGHT / 2, y2 = b.y - HEIGHT / 2, bend = Math.max(14, Math.abs(y2 - y1) / 2.5);
  return `M${a.x.toFixed(1)},${y1} C${a.x.toFixed(1)},${y1 + bend} ${b.x.toFixed(1)},${y2 - bend} ${b.x.toFixed(1)},${y2}`;
}
function costs(now) {
  const what = $("heat").value, colours = new Map();
  if (!what) return colours;
  const of = (key) => (key[0] === "n" ? current.graph.nodes[+key.slice(1)][what] : 0);
  const most = Math.max(1, ...[...now].map(of));
  for (const key of now) {
    if (of(key) > 0) {
      const share = Math.log1p(of(key)) / Math.log1p(most);
      colours.set(key, `hsl(${(52 - 52 * share).toFixed(0)} 85% ${document.documentElement.classList.contains("dark") ? 28 : 72}%)`);
    }
  }
  return colours;
}

// --- what is told beside it ----------------------------------------------------------------------

function tell(n, now) {
  const { graph, f, inside } = current;
  const nodes = [...now].filter((key) => key[0] === "n").length;
  $("nodes").textContent = (inside ? "inside of " + inside + ": " : "") + nodes + " nodes";
  $("where").textContent = graph.changes.length ? `firing ${n} of ${graph.changes.length}` : "";
  const section = $("firing");
  section.replaceChildren();
  if (n === 0) {
    html("h2", "", inside ? "As rewritten" : "As built", section);
  } else {
    tellFiring(f.firings.get(graph.changes[n - 1].firing), section);
  }
  list(n);
  about(chosen);
}
function tellFiring(firing, section) {
  if (!firing) { html("h2", "", "a firing that is not in the report", section); return; }
  html("h2", "", `#${firing.number} ${firing.rule}`, section);
  html("div", "note", `${firing.phase}${firing.rule_text ? " · " + short(firing.rule_text, 200) : ""}`, section);
  const term = html("div", "term", firing.before ?? "", section);
  html("div", "", "→ " + (firing.after ?? ""), term);
  const letters = Object.entries(firing.letters);
  for (const [name, text] of letters.slice(0, 8)) html("div", "note", `${name} = ${text}`, term);
  if (letters.length > 8) html("div", "note", `… ${letters.length - 8} more`, term);
  for (const text of firing.evidence) html("div", "note", "given " + text, section);
  const lines = [];
  if (firing.user_file) lines.push("your line " + place([firing.user_file, firing.user_line]));
  if (firing.rule_file) lines.push("rule at " + place([firing.rule_file, firing.rule_line]));
  if (firing.claim) lines.push("claims: " + firing.claim);
  html("div", "note", lines.join(" · "), section);
}
function list(n) {
  const section = $("list"), { graph, f } = current;
  section.replaceChildren();
  html("h2", "", "Firings", section);
  for (let k = Math.max(1, n - 12); k <= Math.min(graph.changes.length, n + 24); k++) {
    const firing = f.firings.get(graph.changes[k - 1].firing);
    const row = html("div", "row" + (k === n ? " now" : ""), `#${graph.changes[k - 1].firing} ${firing?.rule ?? ""}`, section);
    row.addEventListener("click", () => step(k));
  }
}
function about(key) {
  const section = $("about");
  section.replaceChildren();
  if (!key) return;
  const { graph } = current, k = +key.slice(1);
  html("h2", "", graph.label(key), section);
  const of = key[0] === "n" ? graph.nodes[k].outputs : key[0] === "v" ? [k] : [graph.outputs[k]];
  for (const v of of.map((v) => graph.variables[v]))
    html("div", "note", `${v.name ?? ""} ${v.type}${v.shape ? " [" + v.shape.join(", ") + "]" : ""}`, section);
  if (key[0] !== "n") return;
  const node = graph.nodes[k];
  html("div", "", "of " + graph.inputs[k].map((v) => graph.box(v) === null ? graph.variables[v].text : graph.label(graph.box(v))).map((t) => short(t, 40)).join(" · "), section);
  html("div", "note", `${amount(node.flops)}flop · ${amount(node.bytes)}B`, section);
  if (node.line) html("div", "note", "built at " + place(node.line) + (node.forward ? ", gradient of " + place(node.forward) : ""), section);
  if (innerOf(key)) html("button", "", "open its graph", section).addEventListener("click", () => enter(key));
}
function choose(key) { chosen = chosen === key ? null : key; step(current.n); }

// --- searching ----------------------------------------------------------------------------------

function search(text) {
  const { graph, f } = current, wanted = text.trim().toLowerCase(), section = $("found");
  found = new Set(); foundAt = 0;
  section.replaceChildren();
  if (wanted) {
    const has = (t) => t && t.toLowerCase().includes(wanted);
    for (const key of boxesOf(graph)) {
      const node = key[0] === "n" ? graph.nodes[+key.slice(1)] : null;
      if (has(graph.label(key)) || (node && (has(node.op) || has(place(node.line)) || has(place(node.forward))))) found.add(key);
    }
    const hits = graph.changes.map((c, k) => [f.firings.get(c.firing), k + 1]).filter(([one]) => one && (has(one.rule) || has(place(one.user_file ? [one.user_file, one.user_line] : null))));
    html("h2", "", `Found: ${found.size} nodes at some time, ${hits.length} firings`, section);
    for (const [one, k] of hits.slice(0, 60)) html("div", "row", `#${one.number} ${one.rule}`, section).addEventListener("click", () => step(k));
  }
  step(current.n);
}
function nextFound() {
  const there = [...found].filter((key) => drawn.shown.get(key) !== "gone");
  if (!there.length) return;
  view.scale = Math.max(view.scale, 0.8);
  centre(current.places.get(there[foundAt++ % there.length]));
}

// --- moving about -------------------------------------------------------------------------------

function move(x, y) {
  view.x = x; view.y = y;
  $("view").setAttribute("transform", `translate(${x.toFixed(1)},${y.toFixed(1)}) scale(${view.scale.toFixed(4)})`);
}
function fit() {
  const there = [...current.places].filter(([key]) => drawn.shown.get(key) !== "gone").map(([, at]) => at);
  if (!there.length) return;
  const size = $("graph").getBoundingClientRect();
  const left = Math.min(...there.map((a) => a.x - a.width / 2)), right = Math.max(...there.map((a) => a.x + a.width / 2));
  const top = Math.min(...there.map((a) => a.y)) - 30, bottom = Math.max(...there.map((a) => a.y)) + 40;
  view.scale = Math.min(1.3, Math.max(0.04, Math.min(size.width / (right - left + 20), size.height / (bottom - top))));
  move((size.width - (left + right) * view.scale) / 2, (size.height - (top + bottom) * view.scale) / 2);
}
function markPhases() {
  const { graph, f } = current, marks = $("phases"), slider = $("slider");
  marks.replaceChildren();
  const box = slider.getBoundingClientRect(), most = graph.changes.length || 1;
  marks.style.left = box.left + "px"; marks.style.width = box.width + "px";
  let last = null;
  current.starts = [0];
  graph.changes.forEach((change, k) => {
    const phase = f.firings.get(change.firing)?.phase;
    if (phase === last || phase === undefined) return;
    last = phase;
    if (k) current.starts.push(k);
    const mark = html("span", "", phase, marks);
    mark.style.left = (100 * k) / most + "%";
    mark.title = phase;
    mark.addEventListener("click", () => step(k));
  });
  const spans = [...marks.children];
  spans.forEach((mark, i) => {
    const end = spans[i + 1] ? parseFloat(spans[i + 1].style.left) : 100;
    mark.style.maxWidth = Math.max(0.6, end - parseFloat(mark.style.left)) + "%";
  });
  current.starts.push(graph.changes.length);
}
function phase(by) {
  const starts = current.starts;
  step(by > 0 ? starts.find((k) => k > current.n) ?? current.n : [...starts].reverse().find((k) => k < current.n) ?? 0);
}
function dark() { document.documentElement.classList.toggle("dark"); step(current.n); }
function nextHeat() { const heat = $("heat"); heat.selectedIndex = (heat.selectedIndex + 1) % heat.options.length; step(current.n); }

const keys = {
  ArrowLeft: () => step(current.n - 1), ArrowRight: () => step(current.n + 1),
  PageUp: () => phase(-1), PageDown: () => phase(1),
  Home: () => step(0), End: () => step(current.graph.changes.length),
  "/": () => $("search").focus(), n: nextFound, h: nextHeat, f: fit, d: dark,
  Escape: () => { chosen = null; $("search").value = ""; search(""); },
  Backspace: () => { if (current.inside !== null) open(current.k, null); },
  "+": () => zoom(1.25), "-": () => zoom(0.8),
};
function zoom(by, x, y) {
  const size = $("graph").getBoundingClientRect();
  x ??= size.width / 2; y ??= size.height / 2;
  const scale = Math.max(0.02, Math.min(4, view.scale * by)), share = scale / view.scale;
  view.scale = scale;
  move(x - (x - view.x) * share, y - (y - view.y) * share);
}
document.addEventListener("keydown", (event) => {
  if (event.target.id === "search") { if (event.key === "Escape" || event.key === "Enter") { event.target.blur(); nextFound(); } return; }
  if (event.target.tagName === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});
$("graph").addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = $("graph").getBoundingClientRect();
  zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
let drag = null;
$("graph").addEventListener("pointerdown", (event) => { drag = [event.clientX - view.x, event.clientY - view.y]; });
window.addEventListener("pointermove", (event) => { if (drag) move(event.clientX - drag[0], event.clientY - drag[1]); });
window.addEventListener("pointerup", () => { drag = null; });
$("slider").addEventListener("input", (event) => step(+event.target.value));
$("search").addEventListener("input", (event) => search(event.target.value));
$("heat").addEventListener("change", () => step(current.n));
$("function").addEventListener("change", (event) => open(+event.target.value, null));
for (const [id, act] of [["fit", fit], ["theme", dark], ["back", keys.Backspace], ["first", keys.Home], ["last", keys.End], ["previous", keys.ArrowLeft], ["next", keys.ArrowRight]])
  $(id).addEventListener("click", act);
window.addEventListener("resize", () => { markPhases(); begin(); });

functions.forEach((f, k) => {
  const option = html("option", "", `${k + 1}. ${f.about?.function ?? ""}`, $("function"));
  option.value = k;
});
if (matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.classList.add("dark");
// #function=2&firing=10&search=exp&cost=flops opens the page there
const wanted = new URLSearchParams(location.hash.slice(1));
if (functions.length) {
  open(Math.min(functions.length, +(wanted.get("function") ?? 1)) - 1, wanted.get("inside"));
  $("function").value = current.k;
  if (wanted.has("cost")) $("heat").value = wanted.get("cost");
  if (wanted.has("firing")) step(+wanted.get("firing"));
  if (wanted.has("search")) { $("search").value = wanted.get("search"); search(wanted.get("search")); }
  if (wanted.has("cost")) step(current.n);
}
window.explain = { open, step, search, get current() { return current; } };  // for tests, and the console
