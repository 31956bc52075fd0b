// What the open head is good for here: the same words without it, and how long its output is.

import { make, word } from "../elements.js";
import { linear, Vectors } from "../engine/vectors.js";
import { formatNumber } from "../text.js";
import { toLongName } from "./names.js";
import { describeWordChanges } from "./said.js";
import { computePush, findStepsAtStake, findWordsAtStake } from "./stakes.js";

const PARTS = { encoder: ["encoder", "self_attention"], decoder: ["decoder", "self_attention"], cross: ["decoder", "cross_attention"] };

/** Compute the vector that a head adds to the residual stream at a row: its part of W_O times its output. */
function computeAddedVector(model, { kind, layer, head }, output) {
  const [side, attention] = PARTS[kind];
  const { weight } = model.parameters[side].layers[layer][attention].w_o;
  const joined = new Vectors(1, weight.columns);
  joined.row(0).set(output, head * output.length);
  return linear(joined, { weight, bias: new Float32Array(weight.rows) }).row(0);
}

export class SoWhat {
  constructor(state) {
    this.state = state;
    this.title = make("summary", {});
    this.body = make("div", {});
    this.element = make("details", { className: "so-what" }, this.title, this.body);
    this.element.addEventListener("toggle", () => this.draw());
  }

  draw() {
    const { state } = this;
    const { before, head, engine } = state;
    this.title.textContent = `So what: the translation without ${toLongName(head).toLowerCase()}`;
    if (!this.element.open) return;
    const outputs = before.heads[head.kind][head.layer][head.head].output;
    const given = Math.hypot(...computeAddedVector(engine.model, head, outputs[Math.min(state.row, outputs.length - 1)]));
    const without = state.readWithout(head);
    const steps = findStepsAtStake(before.probabilities, without);
    const lines = steps.map((step) => {
      const found = findWordsAtStake(before.probabilities[step], without[step]);
      const token = ({ id }) => word(engine.target.tokens([id])[0]);
      const push = ["; its push on ", token(found[0]), " against ", token(found[1]), `: ${formatNumber(computePush(found), 1)} nats`];
      return make("li", {}, `step ${step + 1}: `, ...describeWordChanges(engine.target, found), ...push);
    });
    this.body.replaceChildren(
      steps.length ? make("ul", {}, ...lines) : make("p", {}, "No word's probability moves by 0.005 when this head alone is muted."),
      make("p", { className: "note" }, `In ${state.baseline} W_O makes a vector of length ${formatNumber(given)} of its output in this row${given ? "" : ": there it is muted"}. All other heads are as in ${state.baseline}. The push is how much the head moves the logarithm of the two words' odds.`));
  }
}
