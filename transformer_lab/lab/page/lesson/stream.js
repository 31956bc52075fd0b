// The residual stream: what is added where in post-norm and pre-norm, and LayerNorm on one vector.

import { make, OWN_KEYS, toggle } from "../elements.js";
import { keepFocus } from "../focus.js";
import { formatBrief, formatVector } from "./grid.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";
import { moveOn } from "./stream_motion.js";

/** A stream in each place of this name, from the data of this name. */
export function mountStream(name) {
  mountEach("stream", name, (data) => new Stream(data).element);
}

const mean = (values) => values.reduce((sum, value) => sum + value / values.length, 0);

/** Compute LayerNorm of one vector with gain 1 and bias 0, and return all numbers on the way (§3.1; Ba et al. 2016). */
export function computeNormSteps(vector, epsilon) {
  const middle = mean(vector);
  const centred = vector.map((value) => value - middle);
  const squares = centred.map((value) => value ** 2);
  const variance = mean(squares);
  const root = Math.sqrt(variance + epsilon);
  return { mean: middle, centred, squares, variance, root, result: centred.map((value) => value / root) };
}

const ORDERS = { post: "Post-norm, the paper's", pre: "Pre-norm" };
const FORMULAS = { post: "LayerNorm(x + Sublayer(x))", pre: "x + Sublayer(LayerNorm(x))" };

class Stream {
  /** `data`: x, names of the two sub-layers, epsilon; and what both orders make of x, speaking and silent. */
  constructor(data) {
    this.data = data;
    this.number = 0;
    this.silent = false;
    this.norm = { order: "post", at: 0 };
    this.times = 1;
    this.plus = 0;
    const [first, second] = data.names;
    this.stage = make("div", { className: "stage" });
    this.sum = make("p", { className: "sum" });
    this.speak = toggle("silent", "silent sub-layers", () => this.silent, () => this.choose({ silent: !this.silent }));
    this.numbers = data.x.map((_, i) => toggle(`number ${i}`, String(i), () => this.number === i, () => this.choose({ number: i })));
    const one = make("span", { role: "group", "aria-label": "The number that is worked out" }, "work out number ", ...this.numbers);
    this.controls = make("div", { className: "controls" }, one, this.speak);
    this.norms = Object.keys(ORDERS).flatMap((order) => [0, 1].map((at) => toggle(`norm ${order} ${at}`, `${order}, ${data.names[at]}`, () => this.norm.order === order && this.norm.at === at, () => this.choose({ norm: { order, at } }))));
    this.by = make("div", { className: "controls" }, make("span", { role: "group", "aria-label": "Which LayerNorm" }, "the LayerNorm of ", ...this.norms), this.buildRange("times", 1, 10), this.buildRange("plus", -5, 5));
    this.steps = new Steps(["x", first, "add", "norm", second, "add", "norm", "by hand"], () => this.start());
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.controls, this.by, this.stage, this.sum);
    this.steps.go(0);
  }

  /** A slider that changes all numbers before LayerNorm. */
  buildRange(name, min, max) {
    const input = make("input", { type: "range", min, max, step: 1, value: this[name], "aria-label": name, "data-control": name, ...OWN_KEYS });
    input.addEventListener("input", () => this.choose({ [name]: Number(input.value) }));
    return make("label", {}, `${name} `, input);
  }

  choose(change) {
    Object.assign(this, change);
    keepFocus(this.element, "next", () => this.steps.said.replaceChildren(...this.draw()));
  }

  start() {
    const said = this.draw();
    if (this.stage.isConnected && !this.byHand) this.stage.querySelectorAll(".wiring").forEach((wiring) => moveOn(wiring, this.steps.step));
    return said;
  }

  get byHand() {
    return this.steps.step === 7;
  }

  /** What goes into the chosen LayerNorm. */
  get input() {
    const { order, at } = this.norm;
    const parts = this.getParts(order);
    return order === "post" ? parts[at].total : at ? parts[0].out : this.data.x;
  }

  getParts(order) {
    return this.data[this.silent && !this.byHand ? "silent" : "speaking"][order];
  }

  draw() {
    this.by.hidden = !this.byHand;
    this.speak.hidden = this.byHand;
    [this.speak, ...this.numbers, ...this.norms].forEach((button) => button.refresh());
    const drawn = this.byHand ? [this.buildWorkedTable()] : Object.keys(ORDERS).map((order) => this.buildWiring(order));
    this.stage.replaceChildren(make("div", { className: "line" }, ...drawn));
    this.sum.replaceChildren(this.writeArithmetic());
    return [this.describeStep()];
  }

  /** One order as a line down which x flows, with a loop for each sub-layer. */
  buildWiring(order) {
    const parts = this.getParts(order);
    const on = (step, kind, name, values) => make("div", { className: `on ${kind} ${this.getStepClass(step)}` }, make("i", {}, kind === "plus" ? "+" : ""), this.buildVector(name, values, step));
    const blocks = parts.flatMap(({ normed, said, total, out }, at) => {
      const step = 1 + 3 * at;
      const inside = [...(normed ? [this.buildBox("LayerNorm", "norm"), this.buildVector("normalised", normed, step)] : []), this.buildBox(this.data.names[at]), this.buildVector("says", said, step)];
      const norm = order === "post" ? on(step + 2, "norm", "LayerNorm", out) : make("div", { className: `on none ${this.getStepClass(step + 2)}` }, make("i"), "no norm on the stream");
      return [make("div", { className: `loop ${this.getStepClass(step)}` }, ...inside), on(step + 1, "plus", "sum", total), norm];
    });
    return make("section", { className: "wiring" }, make("b", {}, ORDERS[order]), make("p", {}, FORMULAS[order]), make("div", { className: "stem" }, on(0, "start", "x", this.data.x), ...blocks));
  }

  buildBox(name, kind = "") {
    return make("span", { className: `box ${kind}` }, name);
  }

  getStepClass(step) {
    return step === this.steps.step ? "now" : step < this.steps.step ? "" : "later";
  }

  /** Four numbers with their name, mean and variance; empty before their step. */
  buildVector(name, values, step) {
    const there = step <= this.steps.step;
    const most = Math.max(1e-9, ...values.map(Math.abs));
    const cells = values.map((value, i) => make("span", { className: i === this.number ? "lit" : "", style: `--size: ${there ? (Math.abs(value) / most).toFixed(2) : 0}` }, there ? formatBrief(value) : ""));
    const { mean: middle, variance } = computeNormSteps(values, 0);
    const about = there ? `mean ${formatBrief(middle)}, variance ${formatBrief(variance)}` : "";
    return make("div", { className: "vector", "data-step": step }, make("small", {}, make("b", {}, name), ` ${about}`), make("div", {}, ...cells));
  }

  /** LayerNorm line by line. */
  buildWorkedTable() {
    const x = this.input.map((value) => this.times * value + this.plus);
    const found = computeNormSteps(x, this.data.epsilon);
    const rows = [
      ["input", x, `mean = ${formatBrief(found.mean)}`],
      ["− mean", found.centred, ""],
      ["squared", found.squares, `their mean, the variance = ${formatBrief(found.variance)}`],
      ["÷ root", found.result, `√(${formatBrief(found.variance)} + ε) = ${formatBrief(found.root)}`],
    ];
    const row = ([name, values, note], at) =>
      make("tr", { className: at === 3 ? "norm" : "" }, make("th", { scope: "row" }, name), ...values.map((value, i) => make("td", { className: i === this.number ? "lit" : "" }, formatBrief(value))), make("td", { className: "note" }, note));
    return make("table", { className: "worked" }, make("tbody", {}, ...rows.map(row)));
  }

  describeStep() {
    const [first, second] = this.data.names;
    return [
      "One word's vector comes in at the top and flows down, the same vector in both orders. The line is the residual stream. What's on it flows on, whatever the boxes next to it do.",
      `A loop branches off the stream. In post-norm, ${first} reads the vector as it is. In pre-norm it reads a copy that LayerNorm has brought to mean 0 and variance 1. Until the loop comes back, the stream stays as it was.`,
      `Now the loop comes back. What ${first} says is added to what's on the stream, number by number, so nothing is replaced.`,
      "In post-norm, LayerNorm sits on the stream itself, so everything that flows by is brought to mean 0 and variance 1. In pre-norm there's nothing here, and the sum flows on as it is.",
      `The second loop has ${second} in it. In post-norm it reads what LayerNorm has left on the stream. In pre-norm it reads a normalised copy of everything that has been added up so far.`,
      `What ${second} says is added, too. In pre-norm the stream is now x + ${first} + ${second}, so x is still in it, untouched.`,
      "By now post-norm has changed the size of x twice, and pre-norm hasn't changed it at all. That's why a pre-norm stack has one more LayerNorm at its end. Press “silent sub-layers”, so that both say 0. What's left of x?",
      `Here's LayerNorm on one vector, worked out. Choose one of its four places: in post-norm it comes after a sum, and in pre-norm before a sub-layer. It subtracts the vector's mean and divides by the root of its variance, without looking at any other word. Move “times” and “plus”: the last line doesn't change.`,
    ][this.steps.step];
  }

  /** The chosen number at this step, worked out in both orders. */
  writeArithmetic() {
    const { step } = this.steps;
    const i = this.number;
    const { epsilon, names, x } = this.data;
    if (step === 0) return `x is ${formatVector(x)}`;
    if (this.byHand) {
      const value = this.times * this.input[i] + this.plus;
      const { mean: middle, root, result } = computeNormSteps(this.input.map((other) => this.times * other + this.plus), epsilon);
      return `Number ${i}: (${formatBrief(value)} − ${formatBrief(middle)}) ÷ ${formatBrief(root)} = ${formatBrief(result[i])}`;
    }
    const at = step > 3 ? 1 : 0;
    const texts = Object.keys(ORDERS).map((order) => {
      const { normed, said, total, out } = this.getParts(order)[at];
      const before = at ? this.getParts(order)[0].out : x;
      const { mean: middle, root } = computeNormSteps(total, epsilon);
      const line = {
        1: `${names[at]} reads ${formatVector(normed ?? before)}`,
        2: `${formatBrief(before[i])} + ${formatBrief(said[i])} = ${formatBrief(total[i])}`,
        0: order === "post" ? `(${formatBrief(total[i])} − ${formatBrief(middle)}) ÷ ${formatBrief(root)} = ${formatBrief(out[i])}` : `${formatBrief(out[i])}, as it was`,
      }[step % 3];
      return `${order}-norm: ${line}`;
    });
    return `${step % 3 === 1 ? "" : `Number ${i}. `}${texts.join("; ")}`;
  }
}
