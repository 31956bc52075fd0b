// The logit lens: what the output layer would say of the decoder's vectors before the last layer has seen them.

import { make } from "../elements.js";
import { linear, softmax, Vectors } from "../engine/vectors.js";
import { describeWordChanges } from "./said.js";
import { findStrongest } from "../ranking.js";

export class Lens {
  constructor(state) {
    this.state = state;
    this.element = make("div", { className: "lens" });
  }

  draw() {
    const { state } = this;
    const { step, read, engine } = state;
    const { model } = engine;
    const lines = read.residual.decoder.map(([x], layer) => {
      const vector = new Vectors(1, x.columns, x.row(Math.min(step, x.rows - 1)));
      const says = softmax(linear(model.applyFinalNorm(vector, "decoder"), model.output).values);
      const said = describeWordChanges(engine.target, findStrongest(says, 3).map((id) => ({ id, before: says[id] })));
      return make("li", {}, make("b", {}, `Layer ${layer + 1}: `), ...said);
    });
    this.element.replaceChildren(
      make("h3", {}, `What would each layer write as word ${step + 1}?`),
      make("ul", {}, ...lines),
      make("p", { className: "note" }, "This is the logit lens: the model's last step, from a vector to words, tried on the vector of each layer. It was trained on the last layer's vectors alone, so take earlier layers with a pinch of salt."));
  }
}
