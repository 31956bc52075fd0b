// A beam search that grows word by word: what was looked at, kept, dropped, and what won.

import { make, OWN_KEYS, svg, word, words } from "../elements.js";
import { keepFocus } from "../focus.js";
import { formatNumber, formatProbability } from "../text.js";
import { drawLine, fadeFrom, slideIn } from "./motion.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";

const COLUMN = 88;
const NODE = { width: 68, height: 38 };
const LINE = 45;

/** A drawing in each place of this name, from the data of this name. */
export function mountBeam(name) {
  mountEach("beam", name, (data) => new Beam(data).element);
}

/** With all the digits that there are, so that a sum is one. */
const formatExact = (value) => formatNumber(value, 4).replace("−0.0000", "0.0000");

class Beam {
  /** `data`: parents, words and log-probabilities of all beginnings, those kept, the winner, and the columns they stand in. */
  constructor(data) {
    this.data = data;
    this.kept = new Set(data.kept);
    this.tall = LINE * Math.max(...data.columns.map((column) => column.length));
    this.stage = make("div", { className: "stage", tabIndex: 0, role: "group", "aria-label": "The tree of beginnings", ...OWN_KEYS });
    this.stage.addEventListener("scroll", () => this.fade());
    this.sum = make("p", { className: "sum" });
    const names = [...data.columns.keys()].map((length) => (length ? `word ${length}` : "start"));
    this.steps = new Steps([...names, "won"], (step) => this.start(step));
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.stage, this.sum);
    this.steps.go(0);
  }

  start(step) {
    this.last = Math.min(step, this.data.columns.length - 1);
    this.over = step === this.data.columns.length;
    this.chosen = this.over ? this.data.winner : null;
    this.draw();
    // The winner is followed from its start, all others where they grow.
    this.stage.scrollLeft = this.over ? 0 : COLUMN * (this.last + 1) - this.stage.clientWidth;
    this.fade();
    if (this.stage.isConnected && step) this.grow();
    return this.describeStep(step);
  }

  /** The newest beginnings come out of those that they continue, and then some are dropped; the winner's path is drawn last. */
  grow() {
    const { columns, parents } = this.data;
    const find = (node) => this.stage.querySelector(`[data-control="node ${node}"]`);
    if (this.over) {
      this.stage.querySelectorAll("path.lit").forEach((path, i) => drawLine(path, 140 * i));
      return;
    }
    for (const node of columns[this.last]) {
      const [made, parent] = [find(node), find(parents[node])];
      slideIn([made], { x: parent.offsetLeft - made.offsetLeft, y: parent.offsetTop - made.offsetTop, seen: true });
      if (!this.kept.has(node)) fadeFrom(made, { background: getComputedStyle(parent).backgroundColor, border: getComputedStyle(parent).border });
    }
    this.stage.querySelectorAll("path").forEach((path) => columns[this.last].includes(Number(path.dataset.node)) && drawLine(path));
  }

  /** Where the tree goes on out of sight, its edge is faded. */
  fade() {
    const { scrollLeft, clientWidth } = this.stage;
    this.stage.classList.toggle("more-left", scrollLeft > 1);
    this.stage.classList.toggle("more-right", scrollLeft + clientWidth < COLUMN * (this.last + 1) - 1);
  }

  choose(node) {
    this.chosen = node;
    keepFocus(this.element, "next", () => this.draw());
  }

  /** A beginning and those that it grew from, the last first. */
  tracePath(node) {
    return node == null ? [] : [node, ...this.tracePath(this.data.parents[node])];
  }

  draw() {
    const { columns, parents } = this.data;
    const lit = new Set(this.tracePath(this.chosen));
    const at = new Map(columns.flatMap((nodes, column) => nodes.map((node, i) => [node, [COLUMN * column, (this.tall - LINE * nodes.length) / 2 + LINE * i]])));
    const seen = columns.slice(0, this.last + 1).flat();
    const lines = seen.filter((node) => parents[node] != null).map((node) => {
      const [[x, y], [toX, toY]] = [at.get(parents[node]), at.get(node)];
      const [from, to] = [y + NODE.height / 2, toY + NODE.height / 2];
      const kind = lit.has(node) ? "lit" : this.kept.has(node) ? "kept" : "dropped";
      return svg("path", { class: kind, "data-node": node, d: `M${x + NODE.width} ${from}C${x + NODE.width + 12} ${from} ${toX - 12} ${to} ${toX} ${to}` });
    });
    const nodes = seen.map((node) => this.buildNode(node, at.get(node), lit));
    const size = { width: COLUMN * columns.length, height: this.tall };
    const tree = make("div", { className: "tree" }, svg("svg", { ...size, "aria-hidden": "true" }, ...lines), ...nodes);
    Object.assign(tree.style, { width: `${size.width}px`, height: `${size.height}px` });
    this.stage.replaceChildren(tree);
    this.sum.replaceChildren(...this.writeArithmetic());
  }

  buildNode(node, [left, top], lit) {
    const { words: tokens, values } = this.data;
    const state = lit.has(node) ? "lit" : this.kept.has(node) ? "kept" : "dropped";
    const made = make("button", { type: "button", className: `node ${state}`, "data-control": `node ${node}`, "aria-pressed": String(node === this.chosen) }, word(tokens[node]), make("small", {}, formatNumber(values[node])), make("span", { className: "hidden" }, this.kept.has(node) ? " kept" : " dropped"));
    Object.assign(made.style, { left: `${left}px`, top: `${top}px`, width: `${NODE.width}px`, height: `${NODE.height}px` });
    made.addEventListener("click", () => this.choose(node));
    return made;
  }

  /** The words of a beginning, without the mark of the start. */
  spellWords(node) {
    const tokens = this.tracePath(node).toReversed().slice(1).map((one) => this.data.words[one]);
    return tokens.length ? words(tokens) : ["(nothing yet) "];
  }

  describeStep(step) {
    const { columns, parents, values } = this.data;
    const nodes = columns[this.last];
    const kept = nodes.filter((node) => this.kept.has(node));
    const most = Math.max(...parents.map((parent) => parents.filter((other) => other != null && other === parent).length));
    if (step === 0) return [`Nothing is written yet. The empty beginning has a probability of 1, so its log-probability is 0. Each step takes every beginning that was kept, tries its ${most} best next words, and keeps the best of all the candidates.`];
    if (this.over) return ["The best finished sentence wins: ", ...this.spellWords(this.data.winner), `with ${formatNumber(values[this.data.winner])}. Press any beginning to see where its number comes from.`];
    const from = new Set(nodes.map((node) => parents[node])).size;
    return [`${from} beginning${from > 1 ? "s are" : " is"} continued, which gives ${nodes.length} candidates. Of these, ${kept.length} are kept (blue) and ${nodes.length - kept.length} are dropped (dashed). A candidate's number is its parent's plus the log-probability of its own word, so it can only fall.`, ...this.describeTurn(step)];
  }

  /** The best beginning of those of a length, as they were kept. */
  findBest(nodes) {
    return nodes.filter((node) => this.kept.has(node)).toSorted((a, b) => this.data.values[b] - this.data.values[a])[0];
  }

  /** What is said where a beginning is kept in front that does not go on from the one in front before. */
  describeTurn(step) {
    const { columns, parents, values } = this.data;
    const continued = columns[step - 1].filter((node) => parents.includes(node)); // the others are finished
    const [first, before] = [this.findBest(columns[step]), this.findBest(continued)];
    if (first == null || before == null || parents[first] === before) return [];
    return [" Here the order changes: ", ...this.spellWords(first), `leads with ${formatNumber(values[first])}, although the beginning that it continues, `, ...this.spellWords(parents[first]).slice(0, -1), ", was behind ", ...this.spellWords(before).slice(0, -1), "."];
  }

  /** The chosen beginning's number worked out, or the newest ones in order. */
  writeArithmetic() {
    const { columns, parents, values } = this.data;
    if (this.chosen != null && parents[this.chosen] != null) {
      const before = values[parents[this.chosen]];
      const own = values[this.chosen] - before;
      return [...this.spellWords(this.chosen), `= ${formatExact(before)} − ${formatExact(-own)} = ${formatExact(values[this.chosen])}. Its last word has a probability of ${formatProbability(Math.exp(own))} after the others, and the whole beginning has ${formatProbability(Math.exp(values[this.chosen]))}`];
    }
    if (this.chosen != null) return ["Nothing is written yet. The empty beginning has a probability of 1, so its log-probability is 0."];
    const order = columns[this.last].toSorted((a, b) => values[b] - values[a]);
    return order.flatMap((node) => [make("span", { className: this.kept.has(node) ? "kept" : "dropped" }, ...this.spellWords(node), formatNumber(values[node])), "   "]);
  }
}
