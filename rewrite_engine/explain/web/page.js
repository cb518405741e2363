// The page of `explain --html`, drawn of the JSON lines alone (rewrite/trace/records.py).
"use strict";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const LETTER = 6.7, HEIGHT = 24, SMALL = 250;  // boxes up to which dagre lays the graph out
const READABLE = 0.7, FAR = 0.3;  // scales below which texts are hard to read, and cannot be read
const OVERVIEW = 0.15;  // scale of the smallest whole graph that the page begins with
const PAD = 14;  // around a graph inside of an op
const CONSTANTS = 3;  // that are named in a box
const SOURCES = 40;  // lines of code in the list
const LISTED = 1500, CONTEXT = 3;  // lines of a text that is compared, and around what differs
const MANY = 4e6;  // boxes times firings, up to which each phase has a layout of its own

const lines = $("lines").textContent.trim().split("\n").filter(Boolean).map((l) => JSON.parse(l));
const functions = [];
let failed = [];  // functions that were not compiled
for (const line of lines) {
  if (line.kind === "report") { failed = line.failed; continue; }
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
const typeText = (type) => type.replace(/^TensorType\((\w+), \((.*?),?\)\)$/, "$1[$2]").replace(/None/g, "?");
const amount = (n) => {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]])
    if (Math.abs(n) >= size) return (n / size).toPrecision(3) + " " + unit;
  return String(n) + " ";
};

// --- a graph at any time ------------------------------------------------------------------------

// Boxes have numbers: node k has k, variable v (a root) has `roots + v`, output o has `ends + o`.
class Graph {
  constructor(line) {
    this.line = line;
    this.variables = line.variables;
    this.nodes = line.nodes;
    this.changes = line.changes;
    this.roots = line.nodes.length;
    this.ends = this.roots + line.variables.length;
    this.size = this.ends + line.outputs.length;
    this.inputs = this.nodes.map((node) => node.inputs);
    this.ops = this.nodes.map((node) => node.op);
    this.outputs = line.outputs;
    this.boxOf = this.variables.map((v, k) => (v.node !== null ? v.node : v.kind === "constant" ? -1 : this.roots + k));
    this.position = 0;
    this.undo = [];
    this.seen = new Map();  // what was there at some positions that were looked at last
  }
  // go to the state after so many changes
  go(position) {
    while (this.position < position) this.forward();
    while (this.position > position) this.backward();
  }
  forward() {
    const change = this.changes[this.position++];
    const before = { outputs: this.outputs, nodes: [] };
    for (const key in change.nodes) {
      const now = change.nodes[key];
      before.nodes.push([+key, this.inputs[key], this.ops[key]]);
      this.inputs[key] = now.inputs;
      this.ops[key] = now.op;
    }
    if (change.outputs) this.outputs = change.outputs;
    this.undo.push(before);
  }
  backward() {
    const before = this.undo.pop();
    for (let i = before.nodes.length - 1; i >= 0; i--) {
      const [key, inputs, op] = before.nodes[i];
      this.inputs[key] = inputs;
      this.ops[key] = op;
    }
    this.outputs = before.outputs;
    this.position--;
  }
  // which boxes are there at a position: flags
  alive(position = this.position) {
    const known = this.seen.get(position);
    if (known) return known;
    this.go(position);
    const there = new Uint8Array(this.size), todo = [...this.outputs];
    this.outputs.forEach((_, k) => { there[this.ends + k] = 1; });
    while (todo.length) {
      const id = this.boxOf[todo.pop()];
      if (id < 0 || there[id]) continue;
      there[id] = 1;
      if (id < this.roots) for (const v of this.inputs[id]) todo.push(v);
    }
    if (this.seen.size > 8) this.seen.delete(this.seen.keys().next().value);
    this.seen.set(position, there);
    return there;
  }
  isNode(id) { return id < this.roots; }
  isEnd(id) { return id >= this.ends; }
  // the boxes that edges into a box come from
  into(id) {
    if (id >= this.roots && id < this.ends) return [];
    const from = id < this.roots ? this.inputs[id] : [this.outputs[id - this.ends]], found = [];
    for (const v of from) if (this.boxOf[v] >= 0) found.push(this.boxOf[v]);
    return found;
  }
  label(id) {
    if (id >= this.ends) return this.line.output_names[id - this.ends];
    if (id >= this.roots) return this.variables[id - this.roots].name ?? typeText(this.variables[id - this.roots].type);
    const known = this.inputs[id].map((v) => this.variables[v]).filter((v) => v.kind === "constant");
    const constants = known.slice(0, CONSTANTS).map((v) => short(v.text, 14));
    if (known.length > CONSTANTS) constants.push(`… ${known.length - CONSTANTS} more`);
    const name = this.nodes[id].outputs.map((v) => this.variables[v].name).find((n) => n);
    const op = short(this.ops[id].replace(/\{inplace[^}]*\}/, " ⤓"), 30);
    return (name ? name + " = " : "") + op + (constants.length ? "  " + constants.join(", ") : "");
  }
  // what a search looks at, in small letters
  get texts() {
    return this.searched ??= Array.from({ length: this.size }, (_, id) => {
      if (id >= this.roots && id < this.ends && this.boxOf[id - this.roots] !== id) return "";
      const node = id < this.roots ? this.nodes[id] : null;
      return [this.label(id), node?.op, place(node?.line), place(node?.forward)].join("\n").toLowerCase();
    });
  }
}

// --- layout: of what is there from one firing to another; boxes stay in place in a phase ------------

function allEdges(graph, begin, end, there) {
  const edges = new Set(), most = graph.size;
  const note = (from, to) => { if (from >= 0 && from !== to) edges.add(from * most + to); };
  for (const position of [begin, end]) {
    graph.alive(position);
    graph.go(position);
    there.forEach((_, id) => { for (const from of graph.into(id)) note(from, id); });
  }
  graph.nodes.forEach((node, k) => { if (there.has(k)) for (const v of node.inputs) note(graph.boxOf[v], k); });
  return [...edges].map((edge) => [Math.floor(edge / most), edge % most]);
}
// what is there at some time, with the width of the box: of its label when it comes, and at the end
function boxesOf(graph, begin, end) {
  const sizes = new Map();
  for (let position = begin; position <= end; position++) {
    const outermost = position === begin || position === end, now = graph.alive(position);
    graph.go(position);
    now.forEach((there, id) => {
      if (!there || (!outermost && sizes.has(id))) return;
      sizes.set(id, Math.max(sizes.get(id) ?? 0, graph.label(id).length * LETTER + 20));
    });
  }
  return sizes;
}
function layOut(graph, begin = 0, end = graph.changes.length) {
  const sizes = boxesOf(graph, begin, end);
  const edges = allEdges(graph, begin, end, sizes).filter(([a, b]) => sizes.has(a) && sizes.has(b));
  return sizes.size <= SMALL ? byDagre(sizes, edges) : byRows(sizes, edges);
}
// the firings from which to which the places are those at a position
function stretch(n) {
  const { graph, starts } = current, most = graph.changes.length;
  if (graph.size * most > MANY) return [0, most];
  if (n === 0 || n === most) return [n, n];
  const k = starts.findLastIndex((start) => start < n);
  return [starts[k], starts[k + 1]];
}
function byDagre(sizes, edges) {
  const g = new dagre.graphlib.Graph();
  g.setGraph({ nodesep: 16, ranksep: 34, marginx: 10, marginy: 10, ranker: "longest-path" });
  g.setDefaultEdgeLabel(() => ({}));
  for (const [id, width] of sizes) g.setNode(id, { width, height: HEIGHT });
  for (const [a, b] of edges) g.setEdge(a, b);
  dagre.layout(g);
  return new Map([...sizes].map(([id, width]) => [id, { x: g.node(id).x, y: g.node(id).y, width }]));
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

// --- drawing: what can be seen, and nothing else ------------------------------------------------------

let chosen = null, current = null, found = new Set(), foundAt = 0, waiting = false;
const view = { x: 0, y: 0, scale: 1 };
const isDark = () => document.documentElement.classList.contains("dark");

function open(k, inside, chosenLine = null) {
  const f = functions[k], own = f.graphs.filter((g) => g.inside === inside);
  const line = chosenLine ?? own.find((g) => g.changes.length) ?? own[0] ?? f.graphs[0];
  const graph = new Graph(line);
  current = { f, k, graph, inside, layouts: new Map(), drawn: new Map(), expanded: new Map() };
  current.groups = groups(graph, f);
  chosen = null; found = new Set();
  $("edges").replaceChildren(); $("boxes").replaceChildren(); $("inner").replaceChildren();
  $("back").hidden = inside === null;
  $("slider").max = graph.changes.length;
  verdict();
  markPhases();
  step(graph.changes.length);
  begin();
  current.placed = true;
}
// where boxes are: graphs that are opened in place push down what is below
function place_all() {
  for (const id of [...current.expanded.keys()]) if (!current.base.has(id)) current.expanded.delete(id);
  const open = [...current.expanded].map(([id, one]) => [current.base.get(id).y, one.height]);
  current.places = new Map();
  for (const [id, at] of current.base) {
    let y = at.y;
    for (const [from, height] of open) if (at.y > from) y += height;
    current.places.set(id, { x: at.x, y, width: at.width });
  }
  current.drawn.forEach((one) => { one.state = ""; });
}
// firings that are told as one: those of one rule at one node, for each output of it
function groups(graph, f) {
  const found = [];
  graph.changes.forEach((change, k) => {
    const one = f.firings.get(change.firing), last = found[found.length - 1];
    const node = graph.variables[change.old]?.node ?? null;
    if (last && node !== null && last.node === node && last.rule === one?.rule && last.number === change.firing - 1) {
      last.end = k + 1; last.number = change.firing;
    } else {
      found.push({ begin: k, end: k + 1, node, rule: one?.rule, first: change.firing, number: change.firing });
    }
  });
  return found;
}
const called = (group) => "#" + group.first + (group.number > group.first ? "–" + group.number : "");
// the places at a position; whether they are other ones than before
function settle(n) {
  const [begin, end] = stretch(n), key = begin + "-" + end;
  if (current.key === key) return false;
  if (!current.layouts.has(key)) current.layouts.set(key, layOut(current.graph, begin, end));
  current.key = key;
  current.base = current.layouts.get(key);
  current.drawn.forEach((one) => { one.box?.remove(); one.wire?.remove(); });
  current.drawn.clear();
  place_all();
  frames();
  return true;
}
// the whole graph; of one that is too large for that what has changed, or the first output
function begin() {
  fit();
  if (view.scale >= OVERVIEW) return;
  view.scale = READABLE;
  const { graph, now, before } = current;
  const marked = now.findIndex((there, id) => there && (current.changed.has(id) || (before && !before[id])));
  centre(current.places.get(marked >= 0 ? marked : graph.ends));
}
const innerOf = (op) => current.f.graphs.find((g) => g.inside === op && g.graph === null);
function kindOf(id) {
  const { graph } = current;
  if (!graph.isNode(id)) return graph.isEnd(id) ? "output" : "input";
  return innerOf(graph.ops[id]) ? "inner" : "op";
}
// show the state after n firings: what came is marked, what leaves with the next firing as well
function step(n) {
  const { graph } = current, most = graph.changes.length;
  n = Math.max(0, Math.min(most, n));
  const moved = settle(n);
  const then = n < most ? graph.alive(n + 1) : null;
  current.before = n > 0 ? graph.alive(n - 1) : null;
  current.now = graph.alive(n);
  graph.go(n);
  current.then = then;
  current.changed = new Set(n > 0 ? Object.keys(graph.changes[n - 1].nodes).map(Number) : []);
  current.n = n;
  $("slider").value = n;
  costs();
  tell(n);
  if (moved && current.placed) begin(); else follow();
  draw();
}
// bring what has changed into view, where the graph is larger than that
function follow() {
  const { now, before, changed } = current;
  if (!current.placed) return;
  const marked = now.findIndex((there, id) => there && (changed.has(id) || (before && !before[id])));
  if (marked < 0) return;
  const at = current.places.get(marked), size = $("graph").getBoundingClientRect();
  const x = at.x * view.scale + view.x, y = at.y * view.scale + view.y;
  if (x > 40 && y > 40 && x < size.width - 40 && y < size.height - 40) return;
  centre(at);
}
function centre(at) {
  const size = $("graph").getBoundingClientRect();
  move(size.width / 2 - at.x * view.scale, size.height / 2 - at.y * view.scale);
}
function later() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}
function draw() {
  const { places, now, drawn, graph } = current, size = $("graph").getBoundingClientRect();
  const left = -view.x / view.scale - 40, right = left + size.width / view.scale + 80;
  const top = -view.y / view.scale - 40, bottom = top + size.height / view.scale + 80;
  $("graph").classList.toggle("far", view.scale < FAR);
  const shown = new Set(), boxes = [], wires = [];
  for (let id = 0; id < now.length; id++) {
    if (!now[id]) continue;
    const at = places.get(id);
    const inside = at.y > top && at.y < bottom && at.x + at.width / 2 > left && at.x - at.width / 2 < right;
    const from = [];
    if (at.y > top) for (const source of graph.into(id)) {
      const b = places.get(source);
      if (b.y < bottom && Math.max(at.x, b.x) > left && Math.min(at.x, b.x) < right) from.push(source);
    }
    if (!inside && !from.length) continue;
    shown.add(id);
    paint(id, at, inside, from, boxes, wires);
  }
  for (const [id, one] of drawn) if (!shown.has(id)) { one.box?.remove(); one.wire?.remove(); drawn.delete(id); }
  $("edges").append(...wires);
  $("boxes").append(...boxes);
}
function paint(id, at, inside, from, boxes, wires) {
  const { drawn, graph, before, changed, then } = current;
  let one = drawn.get(id);
  if (!one) drawn.set(id, one = { state: "" });
  const marks = [kindOf(id)];
  if (before && (!before[id] || changed.has(id))) marks.push("new");
  if (then && !then[id]) marks.push("going");
  if (found.has(id)) marks.push("found");
  if (chosen === id) marks.push("chosen");
  if (current.expanded.has(id)) marks.push("opened");
  const colour = current.colours.get(id) ?? "", label = graph.label(id);
  const state = [inside, marks.join(" "), colour, label, from].join("|");
  if (one.state === state) return;
  one.state = state;
  if (inside) {
    if (!one.box) { one.box = makeBox(id); boxes.push(one.box); }
    placeBox(one.box, at, label, marks, colour);
  } else if (one.box) { one.box.remove(); one.box = null; }
  if (from.length) {
    if (!one.wire) { one.wire = element("path", {}); wires.push(one.wire); }
    one.wire.setAttribute("class", "wire" + (marks.includes("new") ? " new" : ""));
    one.wire.setAttribute("d", from.map((source) => curve(current.places.get(source), at)).join(" "));
  } else if (one.wire) { one.wire.remove(); one.wire = null; }
}
function makeBox(id) {
  const g = element("g", { "data-id": id });
  element("rect", { height: HEIGHT, rx: 6 }, g);
  element("text", { y: 16, "text-anchor": "middle" }, g);
  element("title", {}, g);
  return g;
}
function placeBox(box, at, label, marks, colour) {
  const [rect, text, title] = box.children;
  box.setAttribute("class", "box " + marks.join(" "));
  box.setAttribute("transform", `translate(${(at.x - at.width / 2).toFixed(1)},${(at.y - HEIGHT / 2).toFixed(1)})`);
  rect.setAttribute("width", at.width);
  rect.style.fill = colour;
  text.setAttribute("x", at.width / 2);
  text.textContent = short(label, Math.floor((at.width - 8) / LETTER));
  title.textContent = label;
}
function curve(a, b) {
  const y1 = a.y + HEIGHT / 2, y2 = b.y - HEIGHT / 2, bend = Math.max(14, Math.abs(y2 - y1) / 2.5);
  return `M${a.x.toFixed(1)},${y1} C${a.x.toFixed(1)},${y1 + bend} ${b.x.toFixed(1)},${y2 - bend} ${b.x.toFixed(1)},${y2}`;
}
// costs of nodes as colours, and the most expensive ones
function costs() {
  const what = $("heat").value, { graph, now } = current;
  current.colours = new Map(); current.expensive = [];
  if (!what) return;
  const priced = graph.nodes.map((node, id) => [id, node[what]]).filter(([id, cost]) => now[id] && cost > 0);
  priced.sort((a, b) => b[1] - a[1]);
  current.expensive = priced.slice(0, 12);
  const most = Math.log1p(priced[0]?.[1] ?? 1), light = isDark() ? 28 : 72;
  for (const [id, cost] of priced)
    current.colours.set(id, `hsl(${(52 - (52 * Math.log1p(cost)) / most).toFixed(0)} 85% ${light}%)`);
}

// --- graphs inside of ops, opened in place -------------------------------------------------------------

function toggle(id) {
  if (id === null || !current.graph.isNode(id)) return;
  const line = innerOf(current.graph.ops[id]);
  if (!line || line.inside === current.inside) return;
  if (current.expanded.has(id)) current.expanded.delete(id);
  else current.expanded.set(id, innerPicture(line));
  place_all();
  frames();
  draw();
}
function frames() {
  $("inner").replaceChildren();
  for (const [one, { group, width }] of current.expanded) {
    const at = current.places.get(one);
    group.setAttribute("transform", `translate(${at.x - width / 2},${at.y + HEIGHT / 2 + 12})`);
    $("inner").appendChild(group);
  }
}
// a graph in a frame; what it holds itself can be opened with the button beside it
function innerPicture(line) {
  const graph = new Graph(line), places = layOut(graph, 0, 0), now = graph.alive(0);
  const there = [...places].filter(([id]) => now[id]);
  const left = Math.min(...there.map(([, at]) => at.x - at.width / 2)) - PAD;
  const right = Math.max(...there.map(([, at]) => at.x + at.width / 2)) + PAD;
  const top = Math.min(...there.map(([, at]) => at.y)) - HEIGHT - PAD;
  const width = right - left, height = Math.max(...there.map(([, at]) => at.y)) - top + HEIGHT / 2 + PAD;
  const group = element("g", { class: "frame" });
  element("rect", { width, height, rx: 8 }, group);
  element("text", { x: 10, y: 16 }, group, "inside of " + line.inside);
  const moved = element("g", { transform: `translate(${-left},${-top})` }, group);
  const d = there.flatMap(([id, at]) => graph.into(id).map((from) => curve(places.get(from), at)));
  element("path", { class: "wire", d: d.join(" ") }, moved);
  for (const [id, at] of there) {
    const box = makeBox(id);
    delete box.dataset.id;
    const kind = graph.isNode(id) ? (innerOf(graph.ops[id]) ? "inner" : "op") : graph.isEnd(id) ? "output" : "input";
    placeBox(box, at, graph.label(id), [kind], "");
    moved.appendChild(box);
  }
  return { group, width, height: height + 24 };
}

// --- what is told beside it ----------------------------------------------------------------------

function verdict() {
  const about = current.f.about, untrue = about?.claims?.untrue ?? [], box = $("verdict");
  const words = { identical: "values identical", agree: "values agree", repaired: "values repaired", unknown: "values not compared", disagree: "values DISAGREE" };
  box.textContent = about ? words[about.verdict] + (untrue.length ? ` · ${untrue.length} UNTRUE` : "") : "";
  box.classList.toggle("bad", about?.verdict === "disagree" || untrue.length > 0);
  box.title = [about?.blame, ...untrue.map((one) => `${one.basis}: ${one.rule ?? ""} ${one.text}`)].filter(Boolean).join("\n");
}
function tell(n) {
  const { graph, f, inside, now } = current;
  let nodes = 0;
  for (let id = 0; id < graph.roots; id++) nodes += now[id];
  $("nodes").textContent = (inside ? "inside of " + inside + ": " : "") + nodes + " nodes";
  const group = groupAt(n), all = f.about?.firings ?? f.firings.size, own = graph.changes.length;
  $("where").textContent = group ? `${called(group)} of ${all}` : own ? `as built, ${all} firings` : "";
  $("where").title = own < all ? `${own} of ${all} firings are in this graph, the others inside of ops` : "";
  const section = $("firing");
  section.replaceChildren();
  if (n === 0) {
    html("h2", "", graph.changes.length || !inside ? "As built" : "As rewritten", section);
  } else {
    if (n === graph.changes.length) html("h2", "", "As rewritten, after", section);
    tellFiring(f.firings.get(graph.changes[n - 1].firing), section);
  }
  if (inside !== null && n === graph.changes.length) code(innerOf(inside), section);
  listing();
  list(n);
  lines_of_code();
  expensive();
  about(chosen);
}
function tellFiring(firing, section) {
  if (!firing) { html("h2", "", "a firing that is not in the report", section); return; }
  html("h2", "", `${called(groupAt(current.n))} ${firing.rule}`, section);
  const untrue = (current.f.about?.claims?.untrue ?? []).find((one) => one.firing === firing.number);
  if (untrue) html("div", "bad", `UNTRUE, ${untrue.basis}: ${untrue.text}`, section);
  html("div", "note", `${firing.phase}${firing.rule_text ? " · " + short(firing.rule_text, 200) : ""}`, section);
  const term = html("div", "term", short(firing.before ?? "", 600), section);
  html("div", "", "→ " + short(firing.after ?? "", 600), term);
  const letters = Object.entries(firing.letters);
  for (const [name, text] of letters.slice(0, 8)) html("div", "note", `${name} = ${text}`, term);
  if (letters.length > 8) html("div", "note", `… ${letters.length - 8} more`, term);
  for (const text of firing.evidence) html("div", "note", "given " + text, section);
  if (firing.user_file) sourceRow([firing.user_file, firing.user_line], "your line ", section);
  const lines = [];
  if (firing.rule_file) lines.push("rule at " + place([firing.rule_file, firing.rule_line]));
  if (firing.claim) lines.push("claims: " + firing.claim);
  html("div", "note", lines.join(" · "), section);
}
function row(text, section, act, extra = "") {
  html("div", "row" + extra, text, section).addEventListener("click", act);
}
const groupAt = (n) => current.groups.find((group) => group.begin < n && n <= group.end);
function nameOf(group) {
  const op = group.node === null ? "" : " · " + short(current.graph.nodes[group.node].op, 24);
  return `${called(group)} ${group.rule ?? ""}${op}`;
}
function list(n) {
  const section = $("list"), { groups } = current;
  section.replaceChildren();
  html("h2", "", "Firings in this graph", section);
  const at = groups.findIndex((group) => n <= group.end);
  const first = Math.max(0, (at < 0 ? groups.length : at) - 12);
  for (const group of groups.slice(first, first + 36))
    row(nameOf(group), section, () => step(group.end), group.begin < n && n <= group.end ? " now" : "");
}
function expensive() {
  const section = $("expensive"), unit = $("heat").value === "bytes" ? "B" : "flop";
  section.replaceChildren();
  if (!current.expensive.length) return;
  html("h2", "", "Most expensive nodes", section);
  for (const [id, cost] of current.expensive)
    row(`${amount(cost)}${unit}  ${short(current.graph.label(id), 40)}  ${place(current.graph.nodes[id].line)}`, section, () => visit(id));
}
function about(id) {
  const section = $("about");
  section.replaceChildren();
  if (id === null) return;
  const { graph } = current;
  html("h2", "", graph.label(id), section);
  const of = graph.isNode(id) ? graph.nodes[id].outputs : graph.isEnd(id) ? [graph.outputs[id - graph.ends]] : [id - graph.roots];
  for (const v of of.map((v) => graph.variables[v]))
    html("div", "note", `${v.name ?? ""} ${typeText(v.type)}${v.shape ? " [" + v.shape.join(", ") + "]" : ""}`, section);
  if (graph.isNode(id)) {
    const node = graph.nodes[id];
    html("div", "note", `${amount(node.flops)}flop · ${amount(node.bytes)}B`, section);
    if (node.line) sourceRow(node.line, "built at ", section);
    if (node.forward) sourceRow(node.forward, "gradient of ", section);
  }
  for (const v of graph.isNode(id) ? graph.inputs[id] : []) {
    const from = graph.boxOf[v];
    if (from < 0) html("div", "", "of " + short(graph.variables[v].text, 60), section);
    else row("of " + short(graph.label(from), 60), section, () => visit(from));
  }
  for (const user of users(id).slice(0, 8)) row("used by " + short(graph.label(user), 60), section, () => visit(user));
  const inner = graph.isNode(id) ? innerOf(graph.ops[id]) : null;
  if (inner && inner.inside !== current.inside) {
    code(inner, section);
    html("button", "", current.expanded.has(id) ? "close its graph (Enter)" : "open its graph here (Enter)", section).addEventListener("click", () => { toggle(id); about(id); });
    html("button", "", "alone", section).addEventListener("click", () => open(current.k, inner.inside, alike(inner.inside) ? inner : null));
  }
}
// the graph inside of an op as a function with types
function code(line, section) {
  if (line?.code?.length) html("pre", "code", line.code.join("\n"), section);
}
// whether several ops that hold graphs have one name: the histories of these are told apart in another way
function alike(name) {
  const whole = name.replace(/ #\d+$/, "");
  return current.f.graphs.some((g) => g.graph === null && g.inside === whole + " #2");
}
function users(id) {
  const { graph, now } = current, found = [];
  for (let one = 0; one < now.length; one++) if (now[one] && graph.into(one).includes(id)) found.push(one);
  return found;
}
function choose(id) { chosen = chosen === id ? null : id; about(chosen); lines_of_code(); listing(); draw(); }
function visit(id) {
  chosen = id;
  about(id);
  lines_of_code();
  if (current.now[id]) { view.scale = Math.max(view.scale, READABLE); centre(current.places.get(id)); }
  draw();
}
// to an operand of what is chosen, or to what uses it
function walk(up) {
  if (chosen === null) return visit(current.graph.ends);
  const next = up ? current.graph.into(chosen) : users(chosen);
  if (next.length) visit(next[0]);
}

// --- lines of code: which nodes come from them -------------------------------------------------------

const isOf = (node, [file, row]) => [node.line, node.forward].some((line) => line && line[0] === file && line[1] === row);
const sourceOf = (line, [file, row]) => line.sources?.find((one) => one.file === file && one.line === row)?.text ?? "";
function sourceRow(line, what, section, extra = "") {
  const own = current.f.graphs.map((one) => sourceOf(one, line)).find((text) => text) ?? "";
  row(what + place(line) + (own ? "   " + short(own, 80) : ""), section, () => showLine(line), extra);
}
// the lines that nodes of the graph come from; those of what is chosen are marked
function lines_of_code() {
  const section = $("lines_of_code"), { graph, now } = current;
  section.replaceChildren();
  const there = graph.nodes.filter((_, id) => now[id]), own = chosen !== null && graph.isNode(chosen) ? graph.nodes[chosen] : null;
  const rows = (graph.line.sources ?? []).map((one) => [one.file, one.line]).filter((line) => there.some((node) => isOf(node, line)));
  if (!rows.length) return;
  html("h2", "", "Your lines, of this graph", section);
  for (const line of rows.slice(0, SOURCES)) sourceRow(line, "", section, own && isOf(own, line) ? " now" : "");
  if (rows.length > SOURCES) html("div", "note", `… ${rows.length - SOURCES} more lines`, section);
}
// mark the nodes that come from a line, here and inside of ops, and list its firings
function showLine(line) {
  const { graph, f } = current, section = $("found");
  found = new Set(graph.nodes.flatMap((node, id) => (isOf(node, line) ? [id] : []))); foundAt = 0;
  section.replaceChildren();
  const there = [...found].filter((id) => current.now[id]);
  html("h2", "", `${place(line)}: ${there.length} nodes now, ${found.size} at some time`, section);
  html("div", "note", f.graphs.map((one) => sourceOf(one, line)).find((text) => text) ?? "", section);
  for (const id of there.slice(0, 12)) row(short(graph.label(id), 60), section, () => visit(id));
  if (there.length > 12) html("div", "note", `… ${there.length - 12} more, n goes on`, section);
  for (const one of f.graphs) {
    if (one.inside === null || one.inside === current.inside || one.graph !== null) continue;
    const n = one.nodes.filter((node) => isOf(node, line)).length;
    if (n) row(`${n} inside of ${one.inside}`, section, () => { open(current.k, one.inside); showLine(line); });
  }
  for (const one of f.firings.values())
    if (one.user_file === line[0] && one.user_line === line[1]) row(`#${one.number} ${one.rule}`, section, () => visitFiring(one.number));
  listing();
  draw();
  if (there.length && !there.some((id) => current.drawn.get(id)?.box)) nextFound();
}

// --- as text: the lines before and after a firing, a phase, or all ------------------------------------

const nameOfVariable = (v, k) => v.kind === "constant" ? short(v.text, 30) : v.name ?? (v.kind === "input" ? "in" + k : "v" + k);
// what a graph computes at a position, line by line, each after what it needs
function linesAt(graph, position) {
  const there = graph.alive(position), lines = [], ids = [], done = new Set();
  graph.go(position);
  const name = (k) => nameOfVariable(graph.variables[k], k);
  const todo = [...graph.outputs].reverse().map((v) => graph.boxOf[v]).filter((id) => id >= 0 && id < graph.roots);
  while (todo.length) {
    const id = todo[todo.length - 1];
    const missing = done.has(id) ? [] : graph.into(id).filter((from) => from < graph.roots && !done.has(from)).reverse();
    if (missing.length) { todo.push(...missing); continue; }
    todo.pop();
    if (done.has(id) || !there[id]) continue;
    done.add(id);
    const node = graph.nodes[id], shape = graph.variables[node.outputs[0]].shape;
    const size = shape?.length ? "   [" + shape.join(", ") + "]" : "";
    ids.push(id);
    lines.push(`${node.outputs.map(name).join(", ")} = ${short(graph.ops[id], 60)}(${graph.inputs[id].map(name).join(", ")})${size}`);
  }
  lines.push("return " + graph.outputs.map(name).join(", "));
  return { lines, ids: new Map(lines.map((line, k) => [line, ids[k]])) };
}
// rows of [line before, line after]: equal ones beside each other, others with ""
function diff(a, b) {
  const common = a.map(() => new Uint16Array(b.length + 1));
  common.push(new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  const rows = [];
  let i = 0, j = 0, left = [], right = [];
  const flush = () => {
    for (let k = 0; k < Math.max(left.length, right.length); k++) rows.push([left[k] ?? "", right[k] ?? ""]);
    left = []; right = [];
  };
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { flush(); rows.push([a[i++], b[j++]]); }
    else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) left.push(a[i++]);
    else right.push(b[j++]);
  }
  flush();
  return rows;
}
// the firings from which to which the text is compared
function compared() {
  const { n, graph, starts, groups } = current, what = $("span").value;
  if (what === "all" || !graph.changes.length) return [0, graph.changes.length];
  const ends = what === "phase" ? starts : [0, ...groups.map((group) => group.end)];
  const k = Math.max(1, ends.findIndex((end) => end >= n));
  return [ends[k - 1], ends[k]];
}
function listing() {
  const panel = $("text"), table = $("rows"), { graph, n } = current;
  if (panel.hidden) return;
  const [from, to] = compared(), before = linesAt(graph, from), after = linesAt(graph, to);
  graph.go(n);
  table.replaceChildren();
  if (Math.max(before.lines.length, after.lines.length) > LISTED) {
    html("tr", "note", `a text of ${after.lines.length} lines, too long to compare`, table);
    return;
  }
  const rows = diff(before.lines, after.lines);
  rows.forEach(([a, b], k) => {
    const near = rows.slice(Math.max(0, k - CONTEXT), k + CONTEXT + 1).some(([x, y]) => x !== y);
    if (!near && from !== to && rows.length > 30) return;
    const line = html("tr", "", undefined, table);
    cell(a, before.ids.get(a), a !== b && a ? "gone" : "", line);
    cell(b, after.ids.get(b), a !== b && b ? "came" : "", line);
  });
  if (from === to || !rows.some(([a, b]) => a !== b)) html("tr", "note", "no line has changed", table);
}
// a line of the text: a click goes to its node; lines of what is chosen or found are marked
function cell(text, id, kind, line) {
  const marked = id !== undefined && (id === chosen || found.has(id));
  const made = html("td", [kind, marked && "here"].filter(Boolean).join(" "), text, line);
  if (id === undefined) return;
  made.title = place(current.graph.nodes[id].line);
  made.addEventListener("click", () => { visit(id); listing(); });
}
// the text of a whole phase, before and after
function showPhase(k) {
  const end = current.starts.find((start) => start > k) ?? current.graph.changes.length;
  $("span").value = "phase";
  if ($("text").hidden) toggleText();
  step(end);
}
function toggleText() { $("text").hidden = !$("text").hidden; $("stage").classList.toggle("split", !$("text").hidden); listing(); begin(); }

// --- searching ----------------------------------------------------------------------------------

function search(text) {
  const { graph, f } = current, wanted = text.trim().toLowerCase(), section = $("found");
  found = new Set(); foundAt = 0;
  section.replaceChildren();
  if (wanted) {
    graph.texts.forEach((one, id) => { if (one.includes(wanted)) found.add(id); });
    const hits = [...f.firings.values()].filter((one) =>
      [one.rule, one.user_file ? place([one.user_file, one.user_line]) : ""].join("\n").toLowerCase().includes(wanted));
    html("h2", "", `Found: ${found.size} nodes at some time, ${hits.length} firings`, section);
    for (const line of f.graphs) {
      if (line.inside === null || line.inside === current.inside || line.graph !== null) continue;
      const n = new Graph(line).texts.filter((one) => one.includes(wanted)).length;
      if (n) row(`${n} inside of ${line.inside}`, section, () => { open(current.k, line.inside); search(text); });
    }
    for (const one of hits.slice(0, 60)) row(`#${one.number} ${one.rule}`, section, () => visitFiring(one.number));
  }
  draw();
  if (found.size && ![...found].some((id) => current.drawn.get(id)?.box)) nextFound();
}
// to a firing, also in the graph of another op
function visitFiring(number) {
  const has = (line) => line.changes.some((change) => change.firing === number);
  if (!has(current.graph.line)) {
    const line = current.f.graphs.find(has);
    if (!line) return;
    open(current.k, line.inside, line);
  }
  step(1 + current.graph.changes.findIndex((change) => change.firing === number));
}
function nextFound() {
  const there = [...found].filter((id) => current.now[id]);
  if (!there.length) return;
  view.scale = Math.max(view.scale, 0.8);
  centre(current.places.get(there[foundAt++ % there.length]));
  draw();
}

// --- moving about -------------------------------------------------------------------------------

function move(x, y) {
  view.x = x; view.y = y;
  $("view").setAttribute("transform", `translate(${x.toFixed(1)},${y.toFixed(1)}) scale(${view.scale.toFixed(4)})`);
  later();
}
function fit() {
  let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
  for (const [id, at] of current.places) {
    if (!current.now[id]) continue;
    left = Math.min(left, at.x - at.width / 2); right = Math.max(right, at.x + at.width / 2);
    top = Math.min(top, at.y - 30); bottom = Math.max(bottom, at.y + 40 + (current.expanded.get(id)?.height ?? 0));
  }
  if (left > right) return;
  const size = $("graph").getBoundingClientRect();
  view.scale = Math.min(1.3, Math.max(0.02, Math.min(size.width / (right - left + 20), size.height / (bottom - top))));
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
    mark.title = phase + ": its text before and after";
    mark.addEventListener("click", () => showPhase(k));
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
  ArrowLeft: () => step(Math.max(0, ...current.groups.map((g) => g.end).filter((end) => end < current.n))),
  ArrowRight: () => step(Math.min(...current.groups.map((g) => g.end).filter((end) => end > current.n), current.graph.changes.length)),
  ArrowUp: () => walk(true), ArrowDown: () => walk(false),
  PageUp: () => phase(-1), PageDown: () => phase(1),
  Home: () => step(0), End: () => step(current.graph.changes.length),
  "/": () => $("search").focus(), n: nextFound, h: nextHeat, f: fit, d: dark, t: toggleText,
  Enter: () => { toggle(chosen); about(chosen); },
  Escape: () => { chosen = null; about(null); $("search").value = ""; search(""); },
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
  if (["SELECT", "BUTTON"].includes(event.target.tagName) && ["Enter", " ", "ArrowUp", "ArrowDown"].includes(event.key)) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});
$("graph").addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = $("graph").getBoundingClientRect();
  zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
const boxAt = (event) => { const box = event.target.closest?.("[data-id]"); return box ? +box.dataset.id : null; };
$("graph").addEventListener("click", (event) => { const id = boxAt(event); if (id !== null) choose(id); });
$("graph").addEventListener("dblclick", (event) => { toggle(boxAt(event)); });
let drag = null;
$("graph").addEventListener("pointerdown", (event) => { drag = [event.clientX - view.x, event.clientY - view.y]; });
window.addEventListener("pointermove", (event) => { if (drag) move(event.clientX - drag[0], event.clientY - drag[1]); });
window.addEventListener("pointerup", () => { drag = null; });
$("slider").addEventListener("input", (event) => step(+event.target.value));
$("search").addEventListener("input", (event) => search(event.target.value));
$("heat").addEventListener("change", () => step(current.n));
$("span").addEventListener("change", listing);
$("function").addEventListener("change", (event) => open(+event.target.value, null));
for (const [id, act] of [["fit", fit], ["astext", toggleText], ["theme", dark], ["back", keys.Backspace], ["first", keys.Home], ["last", keys.End], ["previous", keys.ArrowLeft], ["next", keys.ArrowRight]])
  $(id).addEventListener("click", act);
window.addEventListener("resize", () => { markPhases(); begin(); });

functions.forEach((f, k) => {
  const option = html("option", "", `${k + 1}. ${f.about?.function ?? ""}`, $("function"));
  option.value = k;
});
for (const one of failed) {
  html("option", "", "✗ " + one.name, $("function")).disabled = true;
  html("div", "bad", `FAILED to compile: ${one.name} (${one.file ? place([one.file, one.line]) : "?"}): ${one.error}`, $("failed"));
}
if (matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.classList.add("dark");
// #function=2&firing=10&search=exp&cost=flops opens the page there; &open=1: all inner graphs in place, &fit=1: all of it;
// &text=firing (phase, all): the lines before and after; &line=model.py:18: the nodes of a line of code; &node=3: a node
const wanted = new URLSearchParams(location.hash.slice(1));
if (functions.length) {
  open(Math.min(functions.length, +(wanted.get("function") ?? 1)) - 1, wanted.get("inside"));
  $("function").value = current.k;
  if (wanted.has("cost")) $("heat").value = wanted.get("cost");
  if (wanted.has("text")) { $("span").value = wanted.get("text"); toggleText(); }
  if (wanted.has("dark")) document.documentElement.classList.add("dark");
  if (wanted.has("firing")) step(+wanted.get("firing"));
  if (wanted.has("search")) { $("search").value = wanted.get("search"); search(wanted.get("search")); }
  if (wanted.has("cost")) step(current.n);
  if (wanted.has("node")) visit(+wanted.get("node"));
  if (wanted.has("line")) {
    const named = functions[current.k].graphs.flatMap((one) => one.sources ?? []).find((one) => place([one.file, one.line]) === wanted.get("line"));
    if (named) showLine([named.file, named.line]);
  }
  if (wanted.has("open")) {
    current.now.forEach((there, id) => { if (there && kindOf(id) === "inner") toggle(id); });
    begin();
  }
  if (wanted.has("fit") || wanted.has("open")) fit();
  draw();
}
window.explain = { open, step, search, toggle, visit, get current() { return current; } };  // for tests, and the console
