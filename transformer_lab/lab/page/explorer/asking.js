// What a living model can be asked: another sentence, heads muted, rows pointed; and what it answers.

import { action, make, OWN_KEYS, toggle } from "../elements.js";
import { includesHead, KINDS, getMapTokens } from "../record.js";
import { makeVisible } from "../text.js";
import { describeDifference } from "./difference.js";
import { Interventions } from "./interventions.js";
import { Questions } from "./questions.js";

const WAIT_AFTER_TYPING = 350; // milliseconds
const POINT = "All weight of the pinned row on the pinned column";
const UNCHANGED = "Nothing is changed. Mute a head, or pin a cell and let its row look only there.";
const PIN_FIRST = "Pin a cell first: its row will look at its column alone";
const PIECES_FIRST = "Show pieces first: a word's row is the mean of its pieces' rows";

export class Asking {
  /** `load(data, isStale)` shows data, see Explorer; `model` is anywidget's. */
  constructor(model, selection, load) {
    Object.assign(this, { model, selection, load });
    this.interventions = new Interventions(selection);
    this.questions = new Questions((number) => this.send(number), (error) => this.onAnswer(error), (seconds) =>
      this.say("failed", `No answer for ${seconds} s. Is the kernel running? The last answer is still shown.`));
    this.build();
    this.listeners = {
      "change:data": () => this.receive(),
      "msg:custom": (message) => this.questions.hear(message),
    };
    for (const [event, call] of Object.entries(this.listeners)) model.on(event, call);
  }

  build() {
    const { selection, interventions } = this;
    this.source = make("input", {
      type: "text", className: "source", spellcheck: false, dir: "auto", "aria-label": "Sentence to translate", ...OWN_KEYS,
    });
    this.source.addEventListener("input", () => this.type());
    this.question = make("label", { className: "ask" }, "Sentence ", this.source);
    this.difference = make("p", { className: "difference" });
    this.changes = make("div", { className: "interventions" });
    this.status = make("p", { className: "status", role: "status" });
    this.answers = [this.difference, this.changes, this.status];
    const open = () => [selection.kind, selection.layer, selection.head];
    this.mute = toggle("mute", "Mute this head", () => this.isMuted(...open()), () =>
      this.change(() => interventions.toggleMute(...open())));
    this.point = action("point", "Look only there", PIN_FIRST, () => {
      const [kind, layer, head] = open();
      const [query, key] = selection.pinned;
      this.change(() => interventions.point({ kind, layer, head, query, key }));
    });
    this.actions = [this.mute, this.point];
  }

  close() {
    for (const [event, call] of Object.entries(this.listeners)) this.model.off(event, call);
    this.questions.close();
    clearTimeout(this.typing);
  }

  // -------------------------------------------------------------- questions and answers

  type() {
    clearTimeout(this.typing);
    this.questions.renew();
    this.typing = setTimeout(() => {
      this.interventions.set({ patch: [] }); // its rows and columns are of the old sentence
      this.ask();
    }, WAIT_AFTER_TYPING);
  }

  change(edit) {
    edit();
    this.ask();
  }

  ask() {
    this.say("busy", "Python is translating …");
    this.questions.ask();
    this.selection.tell("head");
  }

  send(number) {
    const { mute, patch } = this.interventions;
    this.model.send({ ask: number, source: this.source.value, mute, patch });
  }

  /** Show what Python answered, unless more was asked since. */
  async receive() {
    const data = this.model.get("data");
    const isStale = () => this.questions.isStale(data.answers);
    if (!isStale()) await this.show(data, data.records.at(-1).sentence, isStale);
  }

  show(data, text, isStale) {
    this.offered = { data, text };
    return this.load(data, isStale);
  }

  onNewRecords() {
    const { data, text } = this.offered;
    this.shown = data;
    this.interventions.forget(); // the record itself says what was changed
    if (text != null && !this.typing) this.source.value = text;
  }

  onAnswer(error) {
    this.typing = null;
    if (!error) return this.say("", "");
    this.say("failed", `${error} The last answer is still shown.`);
    // The last answer may be one that was dropped because this question followed it.
    const data = this.model.get("data");
    if (data !== this.shown) return this.show(data, null);
    this.interventions.forget();
    this.selection.tell("head");
  }

  say(state, text) {
    this.status.dataset.state = state;
    this.status.textContent = text;
  }

  // -------------------------------------------------------------- what is seen of them

  /** Python answers about the last record; those before it are snapshots. */
  get isLatest() {
    return this.selection.stored === this.selection.latest;
  }

  /** Whether a head of the record in view is muted, or shall be. */
  isMuted(...head) {
    return includesHead(this.isLatest ? this.interventions.mute : this.selection.record.muted, ...head);
  }

  drawRecord() {
    const { before, written } = this.selection.record;
    this.difference.classList.toggle("none", !before);
    this.difference.replaceChildren(...(before ? describeDifference(before, written) : ["Translated by the model as it is."]));
  }

  drawHead() {
    this.actions.forEach((button) => (button.hidden = !this.isLatest));
    this.mute.refresh();
    const { isEmpty } = this.interventions;
    this.changes.classList.toggle("none", isEmpty);
    this.changes.replaceChildren(...(isEmpty ? [UNCHANGED] : ["Changed: ", ...this.buildUndoButtons()]));
  }

  drawPlace() {
    const { kind, pinned, groups } = this.selection;
    const [query, key] = pinned ?? [null, null];
    const isAllowed = !groups && query != null && key != null && (kind !== "decoder" || key <= query);
    this.point.disabled = !isAllowed;
    this.point.title = isAllowed ? POINT : groups ? PIECES_FIRST : PIN_FIRST;
    this.point.setAttribute("aria-label", this.point.title);
  }

  buildUndoButtons() {
    const { interventions } = this;
    const name = (kind, layer, head) => `${KINDS[kind].name} ${layer + 1}.${head + 1}`;
    const muted = interventions.mute.map((head) =>
      [`${name(...head)} muted`, () => interventions.toggleMute(...head)]);
    const pointed = interventions.patch.map((row) => {
      const { queries, keys } = getMapTokens(this.selection.latest, row.kind);
      const what = `${makeVisible(queries[row.query] ?? "")} looks only at ${makeVisible(keys[row.key] ?? "")}`;
      return [`${name(row.kind, row.layer, row.head)}, ${what}`, () => interventions.unpoint(row)];
    });
    return [...muted, ...pointed].map(([text, undo], place) =>
      action(`undo ${place}`, `${text} ✕`, `Undo: ${text}`, () => this.change(undo)));
  }
}
