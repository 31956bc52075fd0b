// The sentence to translate, the translation, and what is changed in the model.

import { action, goByArrows, make, OWN_KEYS, word, words } from "../elements.js";
import { formatNumber, shortenText } from "../text.js";
import { formatChanges } from "./changes.js";
import { toCode } from "./names.js";
import { findNeighbours } from "./neighbours.js";

const MANY = 40; // words
const SHORT = 24; // letters of a sentence that fits on a button
const MOST_FRESH = 3; // of so many words one may have changed to be marked
const UNKNOWN_TOKEN = "<unk>"; // what a word is read as that the model doesn't know

const FITS_ITSELF = CSS.supports("field-sizing", "content"); // WebKit and Firefox have only just begun to

/** Make a field as high as its text, or on a phone you would see only the beginning of the sentence. */
function fitHeight(field) {
  if (FITS_ITSELF) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}

/** Name the buttons of sentences: by all of it if each is short, by the last word if only that differs, else by its beginning. */
function namePresets(presets) {
  if (presets.every(({ length }) => length <= SHORT)) return presets;
  const beginnings = presets.map((text) => text.slice(0, text.lastIndexOf(" ")));
  const names = new Set(beginnings).size === 1
    ? presets.map((text) => text.split(" ").at(-1))
    : presets.map((text) => shortenText(text, SHORT));
  return new Set(names).size === names.length ? names : presets.map((_, i) => `sentence ${i + 1}`);
}

export class Sentence {
  constructor(state, presets) {
    this.state = state;
    const { canAsk } = state.answerer;
    this.input = make("textarea", { rows: 1, "aria-label": `${state.languages[0]} sentence`, spellcheck: false, ...OWN_KEYS });
    this.asked = new Set(); // what was asked from the field since it was last the sentence that is seen
    const ask = () => {
      const text = this.input.value.trim();
      this.asked.add(text);
      state.translate(text);
    };
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      ask();
    });
    this.input.addEventListener("input", () => {
      fitHeight(this.input);
      this.markStale();
    });
    if (!FITS_ITSELF) new ResizeObserver(() => fitHeight(this.input)).observe(this.input);
    const names = namePresets(presets);
    this.go = action("ask", "Translate", "Translate this sentence", ask);
    this.presets = presets.length < 2 ? [] : presets.map((text, i) => {
      const button = make("button", { type: "button", title: text, "data-control": `sentence ${i}` }, names[i]);
      button.addEventListener("click", () => state.translate(text));
      return { text, button };
    });
    // What comes and goes has its room where the reader works, so that nothing jumps under their pointer.
    const keepsRoom = canAsk && !state.engine;
    this.problem = make("p", { className: `problem ${keepsRoom ? "keeps-room" : ""}`, role: "status" });
    this.read = make("p", { className: "read" });
    this.source = make("p", { className: "source", role: "group", "aria-label": `${state.languages[0]} sentence` }); // where it can't be changed
    this.written = make("p", { className: "written", role: "group", "aria-label": `${state.languages[1]} translation: each word opens its step` });
    goByArrows(this.written, (step) => step.click());
    this.changes = make("p", { className: `changes ${canAsk ? "keeps-room" : ""}` });
    this.element = make("header", {},
      canAsk ? make("div", { className: "ask" }, this.input, this.go, ...this.presets.map(({ button }) => button)) : this.source,
      this.problem, this.read, this.written, this.changes);
  }

  /** While another sentence is written, or is being translated, what stands below is of the last one. */
  markStale() {
    const { answered, isBusy, problem, text } = this.state;
    const written = this.input.value.trim();
    this.element.classList.toggle("stale", written !== answered.text);
    this.go.hidden = written === text;
    const advice = written === text ? "" : "Press Enter or “Translate”. Until then, you see the last sentence.";
    this.problem.classList.toggle("busy", isBusy);
    this.problem.textContent = isBusy ? "Python is translating …" : problem || advice;
  }

  draw() {
    const { state } = this;
    const { text } = state.answered;
    // Only a sentence of somebody else may replace what stands in the field: the reader may be writing the next one.
    if (this.shown !== text && !this.asked.has(text)) {
      this.input.value = text;
      fitHeight(this.input);
    }
    this.shown = text;
    if (this.input.value.trim() === text) this.asked.clear();
    this.markStale();
    this.presets.forEach((preset) => preset.button.setAttribute("aria-pressed", String(preset.text === state.text)));
    this.drawRead();
    this.drawSteps();
    this.changes.replaceChildren(...this.buildChips());
  }

  /** What the model has read, where that's not what one sees in the field: pieces of words, or unknown words. */
  drawRead() {
    const { answerer, now: { tokens: { source }, unknown, record } } = this.state;
    if (this.shownSource === source) return; // what was unfolded stays so
    this.shownSource = source;
    this.source.replaceChildren(...words(source));
    this.source.tabIndex = source.length > MANY ? 0 : -1; // it may scroll, and then the keyboard should reach it
    const isPieces = !record?.groups && source.some((token) => token.startsWith(" ") || token.startsWith("▁"));
    this.read.hidden = !(isPieces && answerer.canAsk) && !unknown.length;
    if (this.read.hidden) return;
    const heard = source.flatMap((token) => [token === UNKNOWN_TOKEN ? make("s", { title: "not in the vocabulary" }, word(token)) : word(token), " "]);
    const note = isPieces ? [make("span", { className: "note" }, "(pieces of words; ␣ is a space)")] : [];
    this.read.replaceChildren("It reads ", ...heard, ...note, ...(unknown.length ? [this.offerKnownWords([...new Set(unknown)])] : []));
  }

  /** Which words are unknown, and where the vocabulary is at hand, known ones in their place: those spelt alike, and for the first all. */
  offerKnownWords(unknown) {
    const { state } = this;
    const known = state.engine?.source.words.slice(4) ?? []; // behind the special tokens
    const offer = (strange) => (other) => action(`instead ${strange} ${other}`, other, `Write ${other} in place of ${strange}`, () =>
      state.translate(state.engine.source.split(state.text).map((token) => (token === strange ? other : token)).join(" ")));
    const said = make("span", { className: "unknown" }, "It doesn't know ", ...unknown.flatMap((strange, i) => {
      const near = findNeighbours(strange, known);
      return [i ? ", " : "", make("b", {}, word(strange)), ...(near.length ? [" (did you mean ", ...near.map(offer(strange)), "?)"] : [])];
    }), ".");
    if (!known.length) return said;
    const all = make("div", { className: "vocabulary", ...OWN_KEYS });
    goByArrows(all);
    const place = unknown.length > 1 ? `, to put in place of “${unknown[0]}”` : "";
    const more = make("details", {}, make("summary", {}, `All ${known.length} words that it knows${place}`), all);
    more.addEventListener("toggle", () => {
      all.append(...known.toSorted().map(offer(unknown[0])));
      all.childNodes.forEach((button, i) => (button.tabIndex = i ? -1 : 0)); // one stop for Tab; arrows go on from there
    }, { once: true });
    said.append(more);
    return said;
  }

  /** Draw the words of the translation, unless they stand there already, and mark the open one. */
  drawSteps() {
    const { before, now, step } = this.state;
    if (this.drawn?.before !== before || this.drawn.now !== now) this.written.replaceChildren(...this.buildSteps());
    this.drawn = { before, now };
    this.written.hidden = !before.written.length;
    this.written.childNodes.forEach((button, at) => {
      button.setAttribute("aria-pressed", String(at === step));
      button.tabIndex = at === step ? 0 : -1;
    });
  }

  /** The translation, each word a button that opens its step; Tab stops at one of them, and arrows go on from there. */
  buildSteps() {
    const { state } = this;
    const { now } = state;
    const { written } = state.before.tokens;
    // Word beside word, where the sentences are equally long; the line about the change has the whole one.
    const others = now.written.length === written.length ? now.tokens.written : written;
    const fresh = this.findFreshWords();
    return written.map((token, step) => {
      const said = others[step] === token ? [word(token)] : [make("del", {}, word(token)), " ", make("ins", {}, word(others[step]))];
      const button = make("button", { type: "button", className: fresh.has(step) ? "step fresh" : "step", ...OWN_KEYS }, ...said);
      button.dataset.control = `step ${step}`;
      button.title = `word ${step + 1}${fresh.has(step) ? `, “${fresh.get(step)}” in the last sentence` : ""}`;
      button.addEventListener("click", () => state.openStep(step));
      return button;
    });
  }

  /** The words, by their steps, that the last sentence had in place of other ones; none where it was longer or shorter. */
  findFreshWords() {
    const { answered: { text }, before: { tokens: { written } } } = this.state;
    if (this.translated?.text !== text) [this.last, this.translated] = [this.translated?.written ?? [], { text, written }];
    const changed = this.last.length === written.length ? [...this.last.entries()].filter(([step, token]) => token !== written[step]) : [];
    return new Map(changed.length <= written.length / MOST_FRESH ? changed : []); // else it's another sentence
  }

  /** What is changed, each with its way back. */
  buildChips() {
    const { state } = this;
    if (!state.canChange) return state.muted.map((head) => make("span", {}, `muted: ${state.names.say(head)}`));
    if (!state.isChanged && !state.isKept) return [];
    const muted = state.mute.map((head) =>
      action(`unmute ${toCode(head)}`, `muted: ${state.names.say(head)} ×`, `Unmute the head ${state.names.say(head)}`, () => state.toggleMute(head)));
    const pointed = state.points.map((point) => {
      const { rows, keys } = state.getMapTokens(point.kind, state.now.pieces);
      const looks = point.share === 1 ? "looks only at" : `gives ${formatNumber(point.share)} to`;
      const text = `${toCode(point)}: “${rows[point.query]}” ${looks} “${keys[point.key]}” ×`;
      const title = `In the row of “${rows[point.query]}” in ${toCode(point)}, give “${keys[point.key]}” its own weight again`;
      return action(`unpoint ${toCode(point)} ${point.query} ${point.key}`, text, title, () => state.unpoint(point));
    });
    const back = state.isKept ? "Go back to A" : "Undo every change";
    const name = formatChanges(state.kept).replaceAll(",", ", ");
    return [
      ...muted,
      ...pointed,
      ...(state.isChanged ? [action("undo", state.isKept ? "Back to A" : "Undo all", back, () => state.undo()),
        action("keep", "Keep as A", "From now on, compare with the model as it is now", () => state.keep())] : []),
      ...(state.isKept ? [make("span", {}, state.isChanged ? `compared with A: ${name}` : `this is A: ${name}`),
        action("forget", "Forget A", "Compare with the unchanged model again", () => state.forget())] : []),
    ];
  }
}
