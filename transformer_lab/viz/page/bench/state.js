// What the bench looks at and what it has changed: one value that every panel draws, and the address keeps.

import { addressOf, readAddress, sentenceIn } from "./address.js";
import { askedOf, namesOf, NOTHING } from "./changes.js";
import { shortName } from "./names.js";

export class State {
  /** `engine` translates; `text` is the sentence to begin with. */
  constructor(engine, text) {
    Object.assign(this, { engine, text, ...NOTHING, step: 0, row: 0, key: null });
    this.kept = NOTHING; // what "before" is changed by: nothing, or what A is
    this.head = { kind: "cross", layer: engine.model.config.num_decoder_layers - 1, head: 0 };
    this.problem = "";
    this.tested = ""; // the muted heads that were last tested on many sentences
    this.watchers = [];
    this.ask();
  }

  watch(call) {
    this.watchers.push(call);
  }

  tell() {
    this.watchers.forEach((call) => call());
  }

  // -------------------------------------------------------------- what is changed

  get isChanged() {
    return namesOf(this) !== namesOf(this.kept);
  }
  get isKept() {
    return namesOf(this.kept) !== "";
  }
  /** What everything is compared with, in words. */
  get baseline() {
    return this.isKept ? "A" : "the unchanged model";
  }
  isMuted(head) {
    return this.mute.some((other) => shortName(other) === shortName(head));
  }
  pointOf(head, query) {
    return this.points.find((point) => shortName(point) === shortName(head) && point.query === query);
  }

  /** Translate as the model is, as it is in A, and as it is changed. */
  ask() {
    try {
      this.plain = { ...this.engine.translate(this.text), text: this.text };
      this.problem = "";
    } catch (error) {
      this.problem = error.message;
      return;
    }
    this.askKept();
  }

  askKept() {
    const { plain, kept } = this;
    this.before = this.isKept ? this.translated(kept) : plain;
    this.muted = new Map();
    this.askChanged();
  }

  askChanged() {
    const { engine, before } = this;
    this.now = this.isChanged ? this.translated(this) : before;
    /** Of the same words as `before.probabilities`, so that each step can be compared. */
    this.probabilities = String(this.now.written) === String(before.written)
      ? this.now.probabilities
      : engine.read(before.text, before.written, askedOf(this, this.plain.heads));
    this.step = Math.min(this.step, before.written.length - 1);
    this.row = Math.min(this.row, this.open.weights.length - 1);
    if (this.key != null) this.key = Math.min(this.key, this.open.weights[this.row].length - 1);
  }

  translated(changes) {
    const { text, heads } = this.plain;
    return { ...this.engine.translate(text, askedOf(changes, heads)), text };
  }

  /** The probabilities of the same words where this head is muted too; asked once a sentence. */
  without(head) {
    const { engine, before, muted, kept } = this;
    const name = shortName(head);
    const changes = { ...kept, mute: [...kept.mute, head] };
    if (!muted.has(name)) muted.set(name, engine.read(before.text, before.written, askedOf(changes, this.plain.heads)));
    return muted.get(name);
  }

  /** The open head's matrices: as it was muted or pointed, if it was. */
  get open() {
    const { kind, layer, head } = this.head;
    return this.now.heads[kind][layer][head];
  }

  /** The words beside the rows and above the columns of a kind's maps. */
  tokensOf(kind) {
    const { source, read, written } = this.now.tokens;
    return { rows: { encoder: source, decoder: read, cross: written }[kind], keys: kind === "decoder" ? read : source };
  }

  // -------------------------------------------------------------- what one can do

  translate(text) {
    this.text = text;
    this.points = []; // they named words of the other sentence
    this.kept = { ...this.kept, points: [] };
    this.ask();
    this.tell();
  }

  toggleMute(head) {
    this.mute = this.isMuted(head) ? this.mute.filter((other) => shortName(other) !== shortName(head)) : [...this.mute, head];
    this.askChanged();
    this.tell();
  }

  /** Give a word this share of a row of a head; without a share the row has its own weights again. */
  point({ kind, layer, head, query, key }, share = null) {
    const old = this.pointOf({ kind, layer, head }, query);
    this.points = this.points.filter((point) => point !== old);
    if (share != null) this.points.push({ kind, layer, head, query, key, share });
    this.askChanged();
    this.tell();
  }

  /** Go back to what everything is compared with. */
  undo() {
    Object.assign(this, this.kept);
    this.askChanged();
    this.tell();
  }

  /** Compare from now on with the model as it is changed now: that is A. */
  keep() {
    this.kept = { mute: this.mute, points: this.points };
    this.askKept();
    this.tell();
  }

  /** Compare with the model as it is. */
  forget() {
    this.kept = NOTHING;
    this.askKept();
    this.tell();
  }

  openHead(head) {
    const was = this.head.kind;
    this.head = head;
    // Rows of the decoder's maps are steps; the encoder's are English words.
    if (head.kind === "encoder" && was !== "encoder") this.row = this.key = 0;
    if (head.kind !== "encoder") this.row = this.step;
    this.key = null;
    this.askChanged();
    this.tell();
  }

  choose(row, key) {
    Object.assign(this, { row, key });
    if (this.head.kind !== "encoder") this.step = Math.min(row, this.before.written.length - 1);
    this.tell();
  }

  openStep(step) {
    this.step = step;
    if (this.head.kind !== "encoder") Object.assign(this, { row: Math.min(step, this.open.weights.length - 1), key: null });
    this.tell();
  }

  // -------------------------------------------------------------- the address

  /** Whether all that an address names is so here; `mute=` says that nothing is muted. */
  isAt(address) {
    const here = new URLSearchParams(addressOf(this).slice(1));
    here.set("tested", this.tested);
    return [...new URLSearchParams(address)].every(([name, value]) => (here.get(name) ?? "") === value);
  }

  /** Go where an address points; what it does not name, and what is not there, stays as it is. */
  follow(address) {
    Object.assign(this, NOTHING, { text: sentenceIn(address) || this.text, kept: NOTHING });
    this.ask();
    if (this.problem) return this.tell();
    const { head, row, step, ...changed } = readAddress(address, this.plain);
    Object.assign(this, changed, { head: head ?? this.head, row: row ?? this.row, step: step ?? this.step });
    this.askKept();
    this.tell();
  }
}
