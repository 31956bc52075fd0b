// Which record is seen: a moment of the training, and pieces as the model reads them or the words that they make.

import { make, OWN_KEYS, toggle } from "../elements.js";

export class Moments {
  constructor(state) {
    this.state = state;
    this.slider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Moment in training", ...OWN_KEYS });
    this.slider.addEventListener("input", () => state.openMoment(Number(this.slider.value)));
    this.name = make("output", {});
    this.training = make("label", {}, "Training ", this.slider, " ", this.name);
    const unit = (joins, text) => toggle(text.toLowerCase(), text, () => state.joinsPieces === joins, () => state.joinPieces(joins));
    this.units = make("span", { role: "group", "aria-label": "Tokens" }, unit(false, "Pieces"), unit(true, "Words"));
    this.meaning = make("p", { className: "note" }, "A word's row is the mean of its pieces' rows, and the weights that go to its pieces are added.");
    this.element = make("div", { className: "moments" }, this.training, this.units, this.meaning);
  }

  draw() {
    const { answerer: { moments }, moment, joinsPieces, now: { record } } = this.state;
    this.training.hidden = !moments.length;
    Object.assign(this.slider, { max: moments.length - 1, value: moment });
    this.slider.setAttribute("aria-valuetext", moments[moment] ?? "");
    this.name.textContent = moments[moment] ?? "";
    this.units.hidden = !record?.groups && !record?.word_scores;
    this.meaning.hidden = !joinsPieces;
    this.units.childNodes.forEach((button) => button.refresh());
    this.element.hidden = this.training.hidden && this.units.hidden;
  }
}
