// A beam search that grows word by word: what was looked at, kept, dropped, and what won.

import { make, OWN_KEYS, svg, word, words } from "../elements.js";
import { keepFocus } from "../focus.js";
import { number } from "../text.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";

const COLUMN = 88;
const NODE = { width: 68, height: 38 };
const LINE = 45;

/** A drawing in each place of this name, from the data of this name. */
export function mountBeam(name) {
  mountEach("beam", name, (data) => new Beam(data).element);
}

class Beam {
  /** `data`: parents, words and log-probabilities of all beginnings, those kept, the winner, and the columns they stand in. */
  constructor(data) {
    this.data = data;
    this.kept = new Set(data.kept);
    this.tall = LINE * Math.max(...data.columns.map((column) => column.length));
    this.stage = make("div", { className: "stage", tabIndex: 0, role: "group", "aria-label": "The tree of beginnings", ...OWN_KEYS });
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
    this.stage.scrollLeft = COLUMN * (this.last + 1) - this.stage.clientWidth;
    return this.purpose(step);
  }

  choose(node) {
    this.chosen = node;
    keepFocus(this.element, "next", () => this.draw());
  }

  /** A beginning and those that it grew from, the last first. */
  path(node) {
    return node == null ? [] : [node, ...this.path(this.data.parents[node])];
  }

  draw() {
    const { columns, parents } = this.data;
    const lit = new Set(this.path(this.chosen));
    const at = new Map(columns.flatMap((nodes, column) => nodes.map((node, i) => [node, [COLUMN * column, (this.tall - LINE * nodes.length) / 2 + LINE * i]])));
    const seen = columns.slice(0, this.last + 1).flat();
    const lines = seen.filter((node) => parents[node] != null).map((node) => {
      const [[x, y], [toX, toY]] = [at.get(parents[node]), at.get(node)];
      const [from, to] = [y + NODE.height / 2, toY + NODE.height / 2];
      const kind = lit.has(node) ? "lit" : this.kept.has(node) ? "kept" : "dropped";
      return svg("path", { class: kind, d: `M${x + NODE.width} ${from}C${x + NODE.width + 12} ${from} ${toX - 12} ${to} ${toX} ${to}` });
    });
    const nodes = seen.map((node) => this.node(node, at.get(node), lit));
    const size = { width: COLUMN * columns.length, height: this.tall };
    const tree = make("div", { className: "tree" }, svg("svg", { ...size, "aria-hidden": "true" }, ...lines), ...nodes);
    Object.assign(tree.style, { width: `${size.width}px`, height: `${size.height}px` });
    this.stage.replaceChildren(tree);
    this.sum.replaceChildren(...this.told());
  }

  node(node, [left, top], lit) {
    const { words: tokens, values } = this.data;
    const state = lit.has(node) ? "lit" : this.kept.has(node) ? "kept" : "dropped";
    const made = make("button", { type: "button", className: `node ${state}`, "data-control": `node ${node}`, "aria-pressed": String(node === this.chosen) }, word(tokens[node]), make("small", {}, number(values[node])), make("span", { className: "hidden" }, this.kept.has(node) ? " kept" : " dropped"));
    Object.assign(made.style, { left: `${left}px`, top: `${top}px`, width: `${NODE.width}px`, height: `${NODE.height}px` });
    made.addEventListener("click", () => this.choose(node));
    return made;
  }

  /** The words of a beginning, without the mark of the start. */
  text(node) {
    const tokens = this.path(node).toReversed().slice(1).map((one) => this.data.words[one]);
    return tokens.length ? words(tokens) : ["(nothing yet) "];
  }

  purpose(step) {
    const { columns, values } = this.data;
    const nodes = columns[this.last];
    const kept = nodes.filter((node) => this.kept.has(node));
    if (step === 0) return ["Nothing is written yet: a probability of 1, so a log-probability of 0. Each step continues every beginning that is kept, looks at the best words for it, and keeps the best beginnings of all."];
    if (this.over) return ["The best finished sentence wins: ", ...this.text(this.data.winner), `with ${number(values[this.data.winner])}. Press any beginning to see how its number came about.`];
    const from = new Set(nodes.map((node) => this.data.parents[node])).size;
    return [`${from} beginning${from > 1 ? "s" : ""} continued: ${nodes.length} candidates. ${kept.length} kept (blue), ${nodes.length - kept.length} dropped (dashed). A candidate's number is its parent's plus the log-probability of its own word, so it can only fall.`];
  }

  /** The chosen beginning's number worked out, or the newest ones in order. */
  told() {
    const { columns, parents, values } = this.data;
    if (this.chosen != null && parents[this.chosen] != null) {
      const before = values[parents[this.chosen]];
      const own = values[this.chosen] - before;
      return [...this.text(this.chosen), `= ${number(before)} − ${number(-own)} = ${number(values[this.chosen])}; its last word has probability ${number(Math.exp(own))} after the others, and the whole ${number(Math.exp(values[this.chosen]), 3)}`];
    }
    const order = columns[this.last].toSorted((a, b) => values[b] - values[a]);
    return order.flatMap((node) => [make("span", { className: this.kept.has(node) ? "kept" : "dropped" }, ...this.text(node), number(values[node])), "   "]);
  }
}
