// What the open head does to the next word: the translation without it, and what each layer would write.

import { make, word } from "../elements.js";
import { linear, Vectors } from "../engine/vectors.js";
import { formatNumber } from "../text.js";
import { Lens } from "./lens.js";
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

export class Effect {
  constructor(state) {
    this.state = state;
    this.without = make("div", { className: "without" });
    this.lens = new Lens(state);
    this.element = make("div", { className: "effect" }, this.without, this.lens.element);
  }

  draw() {
    const { state } = this;
    const { before, head, engine } = state;
    const outputs = before.heads[head.kind][head.layer][head.head].output;
    const length = Math.hypot(...computeAddedVector(engine.model, head, outputs[Math.min(state.row, outputs.length - 1)]));
    const without = state.readWithout(head);
    const steps = findStepsAtStake(before.probabilities, without);
    const lines = steps.map((step) => {
      const found = findWordsAtStake(before.probabilities[step], without[step]);
      const token = ({ id }) => word(engine.target.tokens([id])[0]);
      const push = [". It pushes ", token(found[0]), " against ", token(found[1]), ` by ${formatNumber(computePush(found), 1)} nats`];
      return make("li", {}, `Word ${step + 1}: `, ...describeWordChanges(engine.target, found), ...push);
    });
    const adds = length ? `In this row it adds a vector of length ${formatNumber(length)} to what flows through the model` : `In this row it adds nothing, because it's muted in ${state.baseline}`;
    this.without.replaceChildren(
      make("h3", {}, "What if this head alone were muted?"),
      steps.length ? make("ul", {}, ...lines) : make("p", {}, "Hardly anything would change: no word's probability moves by 0.005 or more."),
      make("p", { className: "note" }, `${adds}. All other heads are as in ${state.baseline}. The push says how far the head moves the log-odds of the two words; with 1 nat, the odds become 2.7 times as large.`));
    this.lens.draw();
  }
}
