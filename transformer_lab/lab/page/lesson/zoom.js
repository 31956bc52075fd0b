// From Figure 1 into a layer, from the layer into a head, from the head into one weight, and back: one scene.

import { decodeBase64 } from "../bytes.js";
import { makePaints } from "../cells.js";
import { make, OWN_KEYS, word } from "../elements.js";
import { formatNumber } from "../text.js";
import { fly } from "./camera.js";
import { colourText } from "./grid.js";
import { isStill } from "../still.js";
import { settle, slideIn } from "./motion.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";
import { computeHeads } from "./zoom_numbers.js";
import { buildBlock, buildFigure, buildHead, nameBlock } from "./zoom_panels.js";
import { buildWeight, moveWeight } from "./zoom_weight.js";

/** A zoom in each place of this name, from the data of this name. */
export function mountZoom(name) {
  mountEach("zoom", name, (data) => new Zoom(data).element);
}

const BUILD = [buildFigure, buildBlock, buildHead, buildWeight];

class Zoom {
  /** `data`: the words of both sides, the layers with all vectors of their attentions, where the steps lead to, and the colours of weights. */
  constructor(data) {
    this.data = data;
    this.at = { ...data.start };
    this.paints = makePaints(decodeBase64(data.colours));
    this.computed = new Map();
    this.stage = make("div", { className: "stage", ...OWN_KEYS });
    this.out = make("button", { type: "button", className: "out controls", "data-control": "out" }, "◀ Out (Esc)");
    this.out.addEventListener("click", () => this.leave());
    this.steps = new Steps(["Figure 1", "layer", "head", "weight"], (level) => this.show(level));
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.out, this.stage);
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && this.leave(event));
    this.steps.go(0);
  }

  /** All heads of an attention; they are computed when they are first seen. */
  headsOf = (part) => {
    if (!this.computed.has(part)) this.computed.set(part, computeHeads(part));
    return this.computed.get(part);
  };

  get part() {
    return this.data.blocks[this.at.block].parts[this.at.part];
  }

  get head() {
    return this.headsOf(this.part)[this.at.head];
  }

  /** The words of the rows and of the columns of this head. */
  get words() {
    const { source, target } = this.data;
    const own = this.part.kind === "encoder" ? source : target;
    return { queries: own, keys: this.part.kind === "cross" ? source : own };
  }

  /** Go into what was pressed; what it does not say is taken from where the reader has been, if it is there, too. */
  enter = (level, change) => {
    Object.assign(this.at, change);
    const { parts } = this.data.blocks[this.at.block];
    if (!parts[this.at.part]?.kind) this.at.part = parts.findIndex((part) => part.kind);
    this.at.row = Math.min(this.at.row, this.head.weights.length - 1);
    const weights = this.head.weights[this.at.row];
    if (level < 3) this.at.column = weights.indexOf(Math.max(...weights.map((weight) => weight ?? 0)));
    this.go(level);
  };

  /** Another word of the row, whose weight is worked out. */
  choose = (column) => {
    this.at.column = column;
    this.go(3);
  };

  leave(event) {
    const level = this.steps.step - 1;
    if (level < 0) return;
    event?.preventDefault();
    event?.stopPropagation();
    this.go(level);
  }

  /** Go to a level; the keyboard goes on where the reader has been or will be, unless it stands on the steps. */
  go(level) {
    const onSteps = this.steps.bar.contains(this.element.getRootNode().activeElement);
    this.steps.go(level);
    if (!onSteps) this.find(this.panel, level).focus({ preventScroll: true });
  }

  /** In the picture of a level, the control that leads on to where the reader is or will be. */
  find(panel, level) {
    const { block, part, head, row, column } = this.at;
    const control = [`block ${block}`, `head ${part} ${head}`, `cell ${row} ${column}`, `key ${column}`][level];
    return panel.querySelector(`[data-control="${control}"]`);
  }

  /** Draw a level, and fly there from the one before; returns what it says. */
  show(level) {
    const before = this.panel;
    const from = this.level ?? 0;
    settle(this.stage);
    this.stage.querySelectorAll(".leaving").forEach((panel) => panel.remove());
    this.panel = make("div", { className: `panel level-${level}` }, BUILD[level](this));
    this.level = level;
    this.stage.append(this.panel);
    this.nameSteps();
    this.out.hidden = level === 0;
    if (before && from !== level) this.fly(before, from, level);
    else before?.remove();
    return this.describeLevel(level);
  }

  fly(before, from, level) {
    const inward = level > from;
    const [outer, inner] = inward ? [before, this.panel] : [this.panel, before];
    const [high, low] = [Math.min(from, level), Math.max(from, level)];
    const part = this.find(outer, high);
    const whole = [null, ".layer", "tbody", ".share"].map((selector) => selector && inner.querySelector(selector))[low];
    const { panel } = this;
    fly(this.stage, { outer, inner, part: part.querySelector(":scope > .map") ?? part, whole, inward }).then(() => {
      if (isStill() || this.panel !== panel || !panel.isConnected) return;
      if (level === 3) moveWeight(panel);
    });
    if (level === 0) panel.querySelectorAll(".column > .chips:first-child").forEach((chips) => slideIn([...chips.children], { y: 26, delay: 500 }));
  }

  /** The steps say what was chosen: they are the way back. */
  nameSteps() {
    const { block, head, row, column } = this.at;
    const { queries, keys } = this.words;
    const names = ["Figure 1", nameBlock(this.data.blocks[block]), `head ${head + 1}`, `${queries[row]} looks at ${keys[column]}`];
    names.forEach((name, i) => this.steps.rename(i, name));
  }

  describeLevel(level) {
    const { row, column } = this.at;
    const { queries, keys } = this.words;
    const { scores, scaled, weights, query } = this.head;
    const [asks, answers] = [() => word(queries[row]), () => word(keys[column])];
    const share = formatNumber(weights[row][column]);
    const block = this.data.blocks[this.at.block];
    const heads = this.data.blocks.flatMap(({ parts }) => parts.filter((part) => part.kind).flatMap((part) => this.headsOf(part))).length;
    return [
      () => [`Here's the whole model at work. The English words go in at the bottom left and the French ones at the bottom right, and both go up from layer to layer. Each small square is one of its ${heads} heads. Press a layer to go in.`],
      () => [`This is ${nameBlock(block).toLowerCase()}, from the bottom up. A head's square has a row for each word that looks and a column for each word it can look at; the brighter a cell, the larger the weight. The line around a box carries its input up to Add, so nothing is lost. Press a head.`],
      () => ["Now the same square is labelled with words. Each row is a word that looks, and its weights add up to 1. ", asks(), " gives ", answers(), ` a weight of ${share}. `, this.part.causal ? "The striped cells are hidden, because those words come later. " : "", "Press a cell to see where its number comes from."],
      () => ["Here's where one weight comes from. The ", colourText("query"), " of ", asks(), " and the ", colourText("key"), " of ", answers(), ` have ${query[0].length} numbers each. Multiply them pair by pair, and the products add up to ${formatNumber(scores[row][column])}. Divided by √${query[0].length} that's ${formatNumber(scaled[row][column])}, and after the softmax ${share}. So ${share} of the `, colourText("value"), " of ", answers(), " goes to ", asks(), "."],
    ][level]();
  }
}
