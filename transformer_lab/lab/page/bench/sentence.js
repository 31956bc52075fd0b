// The sentence to translate, the translation, and one line of what a change did.

import { action, make, OWN_KEYS, word } from "../elements.js";
import { formatNumber, makeVisible } from "../text.js";
import { formatChanges } from "./changes.js";
import { toLongName, toShortName } from "./names.js";
import { findNeighbours } from "./neighbours.js";
import { describeWordChanges } from "./said.js";
import { findStepsAtStake, findWordsAtStake } from "./stakes.js";

export class Sentence {
  constructor(state, presets) {
    this.state = state;
    this.input = make("textarea", { rows: 1, "aria-label": `${state.languages[0]} sentence`, spellcheck: false, ...OWN_KEYS });
    const ask = () => state.translate(this.input.value);
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      ask();
    });
    this.input.addEventListener("input", () => this.markStale());
    const ends = presets.map((text) => text.split(" ").at(-1));
    const named = new Set(ends).size === ends.length ? ends : presets.map((_, i) => `sentence ${i + 1}`);
    const buttons = [action("ask", "Translate", "Translate this sentence", ask),
      ...presets.map((text, i) => {
        const button = make("button", { type: "button", title: text }, named[i]);
        button.addEventListener("click", () => state.translate(text));
        return button;
      })];
    this.problem = make("p", { className: "problem", role: "status" });
    this.read = make("p", { className: "read" });
    this.written = make("p", { className: "written" });
    this.difference = make("p", { className: "stakes", role: "status" });
    this.changes = make("p", { className: "changes" });
    this.element = make("header", {}, make("div", { className: "ask" }, this.input, ...buttons), this.problem,
      this.read, this.written, this.changes, this.difference);
  }

  /** While another sentence is written, what stands below is of the last one. */
  markStale() {
    const isStale = this.input.value.trim() !== this.state.text;
    this.element.classList.toggle("stale", isStale);
    this.problem.textContent = isStale ? "Enter or “Translate” translates it; below is still the last sentence." : this.state.problem;
  }

  draw() {
    const { state } = this;
    if (!state.problem) this.input.value = state.text;
    this.problem.textContent = state.problem;
    this.element.classList.remove("stale");
    const { before, now } = state;
    const { unk_id: unknown } = state.engine.model.config;
    const ids = state.engine.encode(state.text);
    const heard = ids.flatMap((id, i) => {
      const token = word(before.tokens.source[i]);
      return [id === unknown ? make("s", { title: "not in the vocabulary" }, token) : token, " "];
    });
    const { unit } = state.engine.source;
    const note = unit === "pieces" ? [make("span", { className: "note" }, "(pieces of words; ␣ is a space)")] : [];
    this.read.replaceChildren("reads ", ...heard, ...note, ...[...new Set(before.unknown)].flatMap((strange) => this.offerKnownWords(strange)));
    this.written.replaceChildren(...this.buildSteps());
    this.changes.replaceChildren(...this.buildChips());
    this.difference.replaceChildren(...this.describeStakes(before, now));
  }

  /** Known words in place of an unknown one. */
  offerKnownWords(strange) {
    const { state } = this;
    const known = state.engine.source.words.slice(4); // behind the special tokens
    const buttons = findNeighbours(strange, known).map((other) => {
      const replaced = state.engine.source.split(state.text).map((token) => (token === strange ? other : token)).join(" ");
      return action(`instead ${strange} ${other}`, other, `Write ${other} in place of ${strange}`, () => state.translate(replaced));
    });
    return [make("span", { className: "unknown" }, make("b", {}, word(strange)), " is no word of this model. Near: ", ...buttons), " "];
  }

  /** The translation, each word a button that opens its step. */
  buildSteps() {
    const { state } = this;
    const { now } = state;
    const { written } = state.before.tokens;
    // Word beside word, where the sentences are equally long; the line below has the whole one.
    const others = now.written.length === written.length ? now.tokens.written : written;
    return written.map((token, step) => {
      const said = others[step] === token ? [word(token)] : [make("del", {}, word(token)), " ", make("ins", {}, word(others[step]))];
      const button = make("button", { type: "button", className: "step", "aria-pressed": String(step === state.step) }, ...said);
      button.dataset.control = `step ${step}`;
      button.title = `step ${step + 1}`;
      button.addEventListener("click", () => state.openStep(step));
      return button;
    });
  }

  /** What is changed, each with its way back. */
  buildChips() {
    const { state } = this;
    if (!state.isChanged && !state.isKept) return ["Nothing is changed. Mute a head, or let a row look at one word only."];
    const muted = state.mute.map((head) =>
      action(`unmute ${toShortName(head)}`, `${toShortName(head)} muted ×`, `Let ${toLongName(head)} speak again`, () => state.toggleMute(head)));
    const pointed = state.points.map((point) => {
      const { rows, keys } = state.getMapTokens(point.kind);
      const looks = point.share === 1 ? "looks only at" : `gives ${formatNumber(point.share)} to`;
      const text = `${toShortName(point)}: “${rows[point.query]}” ${looks} “${keys[point.key]}” ×`;
      const title = `In the row of “${rows[point.query]}” in ${toShortName(point)} give “${keys[point.key]}” its own weight again`;
      return action(`unpoint ${toShortName(point)} ${point.query} ${point.key}`, text, title, () => state.unpoint(point));
    });
    const back = state.isKept ? "Go back to A" : "Undo every change";
    const name = formatChanges(state.kept).replaceAll(",", ", ");
    return [
      ...muted,
      ...pointed,
      ...(state.isChanged ? [action("undo", state.isKept ? "back to A" : "undo all", back, () => state.undo()),
        action("keep", "keep as A", "Compare from now on with the model as it is changed now", () => state.keep())] : []),
      ...(state.isKept ? [make("span", {}, state.isChanged ? `compared with A: ${name}` : `this is A: ${name}`),
        action("forget", "forget A", "Compare with the unchanged model again", () => state.forget())] : []),
    ];
  }

  /** "il 0.90 → 0.47 · elle 0.00 → 0.15", for the steps that moved most, or for the open step. */
  describeStakes(before, now) {
    const { state } = this;
    const steps = findStepsAtStake(before.probabilities, state.probabilities);
    const shown = steps.length ? steps : [state.step];
    const parts = shown.flatMap((step, at) => {
      const found = findWordsAtStake(before.probabilities[step], state.probabilities[step]);
      const said = describeWordChanges(state.engine.target, state.isChanged ? found : found.map(({ id, before: was }) => ({ id, before: was })));
      return [at ? "; " : "", make("span", { className: "stake" }, `step ${step + 1}: `, ...said)];
    });
    if (!state.isChanged) return ["Most probable at ", ...parts];
    const same = now.translation === before.translation;
    const verdict = same ? `The translation is the same as with ${state.baseline}. ` : "The translation is now ";
    const text = same ? [] : [make("b", {}, make("bdi", {}, makeVisible(now.translation))), ". "];
    const moved = steps.length ? "What moved most: " : "No probability moved by 0.005; at ";
    const { parting } = state;
    const isBehind = parting >= 0 && shown.some((step) => step > parting);
    const behind = isBehind ? [`. Steps behind ${parting + 1} are asked after the words of ${state.baseline}.`] : [];
    return [verdict, ...text, moved, ...parts, ...behind];
  }
}
