// Positions that turn: the hands of the paper's sinusoids, rotary's query and key, and ALiBi's bias beside them.

import { decodeBase64 } from "../bytes.js";
import { makePaints } from "../cells.js";
import { action, make, OWN_KEYS, svg } from "../elements.js";
import { keepFocus } from "../focus.js";
import { formatBrief, colourText, formatVector } from "./grid.js";
import { Hands } from "./hands.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";
import { drawAlibi } from "./turning_alibi.js";

const VIEWS = { hands: "hands", step: "one step on", rotary: "rotary", alibi: "ALiBi" };
const BASES = [10, 100, 1000, 10000, 100000, 1000000];
const FARTHEST = 60; // the last position of the sliders
const RADIUS = 52;

/** A drawing in each place of this name, from the data of this name. */
export function mountTurning(name) {
  mountEach("turning", name, (data) => new Turning(data).element);
}

/** Compute by how many radians each pair of features turns from one position to the next. */
export const computeSpeeds = (pairs, base) => Array.from({ length: pairs }, (_, i) => base ** (-i / pairs));

/** Turn a pair of numbers to the left by an angle in radians. */
export const turnPair = ([a, b], angle) => [a * Math.cos(angle) - b * Math.sin(angle), a * Math.sin(angle) + b * Math.cos(angle)];

class Turning {
  /** `data`: the views, how many pairs, those that are drawn as clocks, query and key of one head, ALiBi's words and heads, and colours. */
  constructor(data) {
    this.data = data;
    this.paints = makePaints(decodeBase64(data.colours));
    this.at = { position: 3, other: 5, step: 2, pair: 0, base: 3, row: Math.floor(data.words.length / 2) };
    this.hands = new Hands(60);
    this.both = action("both", "Move both one word on", "Move query and key one word on", () => this.moveBoth());
    this.controls = make("div", { className: "controls" });
    this.stage = make("div", { className: "stage" });
    this.sum = make("p", { className: "sum" });
    this.steps = new Steps(data.views.map((view) => VIEWS[view]), () => this.show());
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.controls, this.stage, this.sum);
    this.steps.go(0);
  }

  get view() {
    return this.data.views[this.steps.step];
  }

  get speeds() {
    return computeSpeeds(this.data.pairs, BASES[this.at.base]);
  }

  /** A view as it is first seen: its hands turn to where they stand. */
  show() {
    this.hands.forget();
    return this.start();
  }

  /** The controls of a view, and its picture; returns what the view says. */
  start() {
    const position = () => this.buildSlider("position", "position", FARTHEST);
    const base = () => this.buildSlider("base", "base", BASES.length - 1, (value) => BASES[value].toLocaleString("en"));
    this.both.disabled = this.atEnd;
    const controls = {
      hands: () => [position(), base()],
      step: () => [position(), this.buildSlider("step", "words on", 10), base()],
      rotary: () => [this.buildSlider("position", "query at", FARTHEST), this.buildSlider("other", "key at", FARTHEST), this.both, this.buildSlider("pair", "pair", this.data.query.length / 2 - 1), base()],
      alibi: () => [],
    }[this.view]();
    this.controls.replaceChildren(...controls);
    this.draw();
    return this.describeStep();
  }

  buildSlider(name, text, most, told = String) {
    const value = make("output", {}, told(this.at[name]));
    const input = make("input", { type: "range", min: 0, max: most, value: this.at[name], "data-control": name, ...OWN_KEYS });
    input.setAttribute("aria-valuetext", told(this.at[name]));
    input.addEventListener("input", () => {
      this.at[name] = Number(input.value);
      value.textContent = told(this.at[name]);
      input.setAttribute("aria-valuetext", told(this.at[name]));
      this.both.disabled = this.atEnd;
      this.draw();
    });
    return make("label", {}, make("span", {}, `${text} `), input, " ", value);
  }

  moveBoth() {
    if (this.atEnd) return;
    for (const name of ["position", "other"]) this.at[name] += 1;
    keepFocus(this.element, "next", () => this.start());
    if (this.atEnd) this.controls.querySelector("input").focus({ preventScroll: true });
  }

  /** Whether one of the two stands at the last place, so that both cannot move on. */
  get atEnd() {
    return Math.max(this.at.position, this.at.other) === FARTHEST;
  }

  draw() {
    const { view } = this;
    const pictures = { hands: () => this.drawClocks(), step: () => this.drawClocks(), rotary: () => this.drawRotary(), alibi: () => drawAlibi(this.data, this.paints, this.at.row, (row) => this.chooseRow(row)) };
    const [picture, told] = pictures[view]();
    this.stage.className = `stage ${view}`;
    this.stage.replaceChildren(...picture);
    if (this.stage.isConnected) this.hands.turn();
    this.sum.replaceChildren(...told);
  }

  /** A dial with arrows and the sector between the first two; angles in radians to the left from the right. */
  drawDial(arrows, over, under) {
    const tip = (angle, length) => [60 + RADIUS * length * Math.cos(angle), 60 - RADIUS * length * Math.sin(angle)];
    const line = ({ angle, length = 1, kind, name, from }) => {
      const [x, y] = tip(angle, length);
      const head = [2.7, -2.7].map((by) => [x + 9 * Math.cos(angle + by), y - 9 * Math.sin(angle + by)].map((v) => v.toFixed(1)).join(" "));
      const hand = svg("path", { class: kind, d: `M60 60L${x.toFixed(1)} ${y.toFixed(1)}M${head[0]}L${x.toFixed(1)} ${y.toFixed(1)}L${head[1]}` });
      if (name) this.hands.add(name, hand, angle, from);
      return hand;
    };
    const parts = [svg("circle", { cx: 60, cy: 60, r: RADIUS, class: "dial" })];
    if (arrows.length > 1) {
      const [from, to] = arrows.map((arrow) => arrow.angle);
      const turn = Math.atan2(Math.sin(to - from), Math.cos(to - from));
      const [start, end] = [tip(from, 0.45), tip(from + turn, 0.45)].map((point) => point.map((v) => v.toFixed(1)).join(" "));
      const sector = svg("path", { class: "sector", d: `M60 60L${start}A${0.45 * RADIUS} ${0.45 * RADIUS} 0 0 ${turn > 0 ? 0 : 1} ${end}Z` });
      if (arrows[0].name) this.hands.add(`${arrows[0].name} sector`, sector, from, arrows[0].from);
      parts.push(sector);
    }
    return make("figure", {}, make("figcaption", {}, ...[over].flat()), svg("svg", { viewBox: "0 0 120 120", "aria-hidden": "true" }, ...parts, ...arrows.map(line)), make("div", { className: "under" }, ...[under].flat()));
  }

  /** The paper's hands: (sin, cos) of an angle is the tip of a hand that starts at the top and turns to the right. */
  drawClocks() {
    const { position, step } = this.at;
    const { speeds } = this;
    const on = this.view === "step";
    const angle = (i, place) => Math.PI / 2 - place * speeds[i];
    const made = this.data.clocks.map((i) => {
      const first = { angle: angle(i, position), kind: "query", name: `${i} first`, from: on ? undefined : angle(i, 0) };
      const hands = [first, ...(on ? [{ angle: angle(i, position + step), kind: "key", name: `${i} second`, from: first.angle }] : [])];
      const [sine, cosine] = [Math.sin, Math.cos].map((of) => formatBrief(of(position * speeds[i])));
      const under = on ? `turns by ${step} × ${formatBrief(speeds[i], 3)} = ${formatBrief(step * speeds[i], 2)}` : `(sin, cos) = (${sine}, ${cosine})`;
      return this.drawDial(hands, [make("b", {}, `pair ${i}`), ` ${formatBrief(speeds[i], 4)} rad a word`], under);
    });
    const numbers = this.data.clocks.flatMap((i) => [Math.sin(position * speeds[i]), Math.cos(position * speeds[i])]);
    const first = this.data.clocks[0];
    const told = on
      ? [`pair ${first}: from position ${position} to ${position + step}, from ${formatBrief(position * speeds[first])} to ${formatBrief((position + step) * speeds[first])} rad. The position drops out of the difference: ${step} · ${formatBrief(speeds[first], 3)} = ${formatBrief(step * speeds[first])}.`]
      : [`what these pairs add to the word at position ${position}: ${formatVector(numbers)}. One full turn takes `, this.data.clocks.map((i) => formatBrief((2 * Math.PI) / speeds[i], 0)).join(", "), " words."];
    return [made, told];
  }

  /** The query and the key of one pair of numbers, each turned by its own place. */
  drawRotary() {
    const { position, other, pair } = this.at;
    const { query, key } = this.data;
    const speeds = computeSpeeds(query.length / 2, BASES[this.at.base]);
    const part = (vector, i) => vector.slice(2 * i, 2 * i + 2);
    const share = (i) => {
      const [q, k] = [turnPair(part(query, i), position * speeds[i]), turnPair(part(key, i), other * speeds[i])];
      return { q, k, product: q[0] * k[0] + q[1] * k[1] };
    };
    const arrow = ([a, b], most, kind, by) => ({ angle: Math.atan2(b, a) + (by ?? 0), length: 0.45 + (0.55 * Math.hypot(a, b)) / most, kind, name: by == null ? "" : `${kind} ${pair}`, from: Math.atan2(b, a) });
    const { q, k, product } = share(pair);
    const most = Math.max(Math.hypot(...q), Math.hypot(...k));
    const still = [arrow(part(query, pair), most, "query"), arrow(part(key, pair), most, "key")];
    const between = (from, to) => formatBrief((Math.atan2(Math.sin(to.angle - from.angle), Math.cos(to.angle - from.angle)) * 180) / Math.PI, 0);
    const now = [arrow(part(query, pair), most, "query", position * speeds[pair]), arrow(part(key, pair), most, "key", other * speeds[pair])];
    const legend = [colourText("query"), " and ", colourText("key")];
    const dials = [
      this.drawDial(still, ["as they are"], `angle ${between(...still)}°`),
      this.drawDial(now, [`turned by ${position} and ${other} words`], make("span", { className: "angle" }, `angle ${between(...now)}°`)),
    ];
    const score = Array.from(speeds, (_, i) => share(i).product).reduce((sum, one) => sum + one, 0);
    const told = [
      make("div", {}, ...legend, `, pair ${pair}, ${formatBrief(speeds[pair], 4)} rad a word: ${formatVector(q)} · ${formatVector(k)} = ${formatBrief(product)}`),
      make("div", {}, `all ${speeds.length} pairs together, the score at distance ${formatBrief(other - position)}: `, make("b", { className: "score" }, formatBrief(score, 3))),
    ];
    return [dials, told];
  }

  chooseRow(row) {
    this.at.row = row;
    keepFocus(this.element, "next", () => this.draw());
  }

  /** What a view is for. */
  describeStep() {
    return {
      hands: ["Each pair of numbers is the hand of a clock. From word to word all hands move on, the first ones fast and the last ones slowly, so you can tell from the hands which word it is. Move the position. Then lower the base: the slow hands speed up, and a word far away looks like one nearby."],
      step: ["The blue hands show the position, and the orange ones a position some words later. Move the position: both hands turn, but the angle between them stays the same. So a step of that many words is the same turn wherever you start."],
      rotary: ["Rotary positions don't add anything to the word. They turn the query and the key, each by an angle that depends on its place. Press “Move both”: both arrows turn, but the angle between them stays the same, and so does the score. Then move only one, and the angle changes. Later pairs turn more slowly. (Turning doesn't change a length, but we draw short arrows longer than they are.)"],
      alibi: ["ALiBi doesn't turn anything. It subtracts slope × distance from each score, and each head has its own slope. Rows are queries and columns are keys. The colour is e^(−slope × distance), the factor that this puts on a weight before the row is divided by its sum (yellow is 1, dark blue 0). The first heads only see words nearby, and the last ones see all of a short sentence. Only the distance counts, not whether a key comes before or after the query."],
    }[this.view];
  }
}
