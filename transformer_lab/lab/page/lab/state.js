// What the lab looks at and what is changed in the model: one value that every panel draws, and the address keeps.

import { formatAddress, readAddress, readSentence } from "./address.js";
import { makeHookOptions, formatChanges, NOTHING, addPoint, removePoints } from "./changes.js";
import { HeadNames, toCode } from "./names.js";
import { findStepsAtStake } from "./stakes.js";

const MOST_BESIDE = 3; // heads drawn over the open one

export class State {
  /**
   * `engine` translates from the first of the `languages` to the second; `text` is the first sentence,
   * and `names` says what the heads are called, by their codes. `others` are engines of other models
   * with the same words and layers, by name.
   */
  constructor(engine, text, languages, names, others) {
    Object.assign(this, { engine, text, languages, ...NOTHING, step: 0, row: 0, key: null });
    Object.assign(this, { others, beside: "" }); // `beside` is the name of the model that is shown beside this one
    Object.assign(this, { view: "lines", also: [] }); // `also` are heads of the open one's kind, drawn with it
    this.names = new HeadNames(names);
    this.kept = NOTHING; // what "before" is changed by: nothing, or what A is
    this.head = { kind: "cross", layer: engine.model.config.num_decoder_layers - 1, head: 0 };
    this.problem = "";
    this.tested = ""; // the muted heads that were last tested on many sentences
    this.watchers = [];
    this.ask();
  }

  /** `call` hears of every change, and whether something was done that Back should undo. */
  watch(call) {
    this.watchers.push(call);
  }

  tell(isDeed = false) {
    this.watchers.forEach((call) => call(isDeed));
  }

  // -------------------------------------------------------------- what is changed

  get isChanged() {
    return formatChanges(this) !== formatChanges(this.kept);
  }
  get isKept() {
    return formatChanges(this.kept) !== "";
  }
  /** What everything is compared with, in words. */
  get baseline() {
    return this.isKept ? "A" : "the unchanged model";
  }
  isMuted(head) {
    return this.mute.some((other) => toCode(other) === toCode(head));
  }
  /** What the row of a head was told to give to words. */
  findPoints(head, query) {
    return this.points.filter((point) => toCode(point) === toCode(head) && point.query === query);
  }

  /** Whether this can be translated; what is wrong with it is the problem, beside the last sentence. */
  accepts(text) {
    try {
      this.engine.encode(text);
      this.problem = "";
    } catch (error) {
      this.problem = `${error.message}. Below is still the last sentence.`;
    }
    return !this.problem;
  }

  // -------------------------------------------------------------- what the model answers

  /** Translate as the model is, as it is in A, and as it is changed. */
  ask() {
    this.plain = this.engine.translate(this.text);
    this.askKept();
  }

  askKept() {
    const { plain, kept } = this;
    this.before = this.isKept ? this.translateWith(kept) : plain;
    this.muted = new Map();
    this.askChanged();
  }

  askChanged() {
    const { engine, before } = this;
    this.now = this.isChanged ? this.translateWith(this) : before;
    /** Of the same words as `before`, so that each step can be compared. */
    this.read = String(this.now.written) === String(before.written)
      ? this.now
      : engine.read(this.text, before.written, makeHookOptions(this));
    this.stayInside();
  }

  /** What is looked at has to be there: another sentence may have fewer words, another head fewer rows. */
  stayInside() {
    this.step = Math.min(this.step, this.before.written.length - 1);
    this.row = Math.min(this.row, this.open.weights.length - 1);
    if (this.key != null) this.key = Math.min(this.key, this.countSeen(this.row) - 1);
  }

  translateWith(changes) {
    return this.engine.translate(this.text, makeHookOptions(changes));
  }

  /** The probabilities at each step of the unchanged words, in the model as it is changed. */
  get probabilities() {
    return this.read.probabilities;
  }

  /** The first step at which the changed model writes another word; −1 if it writes the same. */
  get parting() {
    const { before, now } = this;
    return before.written.findIndex((id, step) => id !== now.written[step]);
  }

  /** The probabilities of the same words where this head is muted too; asked once a sentence. */
  readWithout(head) {
    const { engine, before, muted, kept } = this;
    const code = toCode(head);
    const changes = { ...kept, mute: [...kept.mute, head] };
    if (!muted.has(code)) muted.set(code, engine.read(this.text, before.written, makeHookOptions(changes)).probabilities);
    return muted.get(code);
  }

  /** The other model's translation, and its maps where it reads the words of the unchanged one; null if none is shown. */
  get other() {
    const { before, beside, others, text } = this;
    const engine = others.get(beside);
    if (!engine) return null;
    if (this.asked?.before !== before || this.asked.beside !== beside) {
      this.asked = { before, beside, translation: engine.translate(text).translation, maps: engine.read(text, before.written).maps };
    }
    return this.asked;
  }

  /** The open head's matrices: as it was muted or pointed, if it was. */
  get open() {
    const { kind, layer, head } = this.head;
    return this.now.heads[kind][layer][head];
  }

  /** The words beside the rows and above the columns of a kind's maps. */
  getMapTokens(kind) {
    const { source, read, written } = this.now.tokens;
    return { rows: { encoder: source, decoder: read, cross: written }[kind], keys: kind === "decoder" ? read : source };
  }

  // -------------------------------------------------------------- what one can change

  translate(text) {
    if (!this.accepts(text)) return this.tell();
    this.text = text;
    this.points = []; // they named words of the other sentence
    this.kept = { ...this.kept, points: [] };
    this.ask();
    this.tell(true);
  }

  toggleMute(head) {
    this.mute = this.isMuted(head) ? this.mute.filter((other) => toCode(other) !== toCode(head)) : [...this.mute, head];
    this.askChanged();
    this.lookWhereItMoved();
    this.tell(true);
  }

  /** The step whose probabilities moved most: that is where to look after a change. Where none moved, the open one. */
  get movedStep() {
    const [step] = this.isChanged ? findStepsAtStake(this.before.probabilities, this.probabilities, 1) : [];
    return step ?? this.step;
  }

  lookWhereItMoved() {
    const { movedStep } = this;
    if (movedStep === this.step) return;
    this.step = movedStep;
    if (this.head.kind !== "encoder") Object.assign(this, { row: movedStep, key: null });
    this.stayInside();
  }

  /**
   * Give a word this share of a row of the open head; the row's other words shrink or grow alike.
   *
   * `from` has the points and the word's weight before a longer change, such as a drag. The row stays
   * where it is, because it is in the reader's hand; only the step follows.
   */
  point({ kind, layer, head, query, key }, share, from = { points: this.points, weight: this.open.weights[query][key] }) {
    this.points = addPoint(from.points, { kind, layer, head, query, key }, share, from.weight);
    this.askChanged();
    this.step = this.movedStep;
    this.tell(true);
  }

  /** A word has its own weight again; without a key all words of the row have. */
  unpoint(place) {
    this.points = removePoints(this.points, place);
    this.askChanged();
    this.tell(true);
  }

  /** Go back to what everything is compared with. */
  undo() {
    Object.assign(this, this.kept);
    this.askChanged();
    this.tell(true);
  }

  /** Compare from now on with the model as it is changed now: that is A. */
  keep() {
    this.kept = { mute: this.mute, points: this.points };
    this.askKept();
    this.tell(true);
  }

  /** Compare with the model as it is. */
  forget() {
    this.kept = NOTHING;
    this.askKept();
    this.tell(true);
  }

  // -------------------------------------------------------------- what one can look at, without asking the model

  openHead(head) {
    const was = this.head.kind;
    this.head = head;
    // Rows of the decoder's maps are steps; the encoder's are words of the source.
    if (head.kind === "encoder" && was !== "encoder") this.row = 0;
    if (head.kind !== "encoder") this.row = this.step;
    this.key = null;
    this.also = head.kind === was ? this.also.filter((other) => toCode(other) !== toCode(head)) : [];
    this.stayInside();
    this.tell();
  }

  /** The open head and those that are drawn over it. */
  get heads() {
    return [this.head, ...this.also];
  }
  get isFull() {
    return this.also.length === MOST_BESIDE;
  }

  /** Draw a head of the same kind over the open one, as lines, or no longer; one of another kind is opened. */
  overlay(head) {
    const code = toCode(head);
    if (code === toCode(this.head)) return;
    if (head.kind !== this.head.kind) return void this.openHead(head);
    const others = this.also.filter((other) => toCode(other) !== code);
    if (others.length < this.also.length) this.also = others;
    else if (!this.isFull) this.also = [...others, head];
    if (this.also.length) this.view = "lines";
    this.tell();
  }

  show(view) {
    this.view = view;
    this.tell();
  }

  /** Show another model beside this one, by its name; with "" none. */
  compare(name) {
    this.beside = name;
    if (name) this.view = "lines";
    this.tell();
  }

  /** How many words a row of the open head may see. */
  countSeen(row) {
    return this.head.kind === "decoder" ? row + 1 : this.open.weights[row].length;
  }

  /** The chosen cell as a place of the open head. */
  get chosen() {
    return { ...this.head, query: this.row, key: this.key };
  }
  /** Whether the chosen word can be given a share; alone in its row it has all. */
  get canShare() {
    return this.key != null && this.countSeen(this.row) > 1;
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
    const here = new URLSearchParams(formatAddress(this).slice(1));
    here.set("tested", this.tested);
    return [...new URLSearchParams(address)].every(([name, value]) => (here.get(name) ?? "") === value);
  }

  /**
   * Go where an address points. A sentence, head, row or step that it does not name, or that is not
   * there, stays as it is; of the changes only those are made that it names. Where it has a sentence
   * that cannot be read, everything stays, and the problem is said.
   */
  follow(address) {
    const text = readSentence(address) || this.text;
    if (!this.accepts(text)) return this.tell(); // the rest of the address is of a sentence that is not here
    this.text = text;
    Object.assign(this, NOTHING, { kept: NOTHING });
    this.ask();
    const { head, row, step, ...changed } = readAddress(address, this.plain);
    Object.assign(this, changed, { head: head ?? this.head, row: row ?? this.row, step: step ?? this.step });
    const isBeside = (other) => other.kind === this.head.kind && toCode(other) !== toCode(this.head);
    this.also = this.also.filter(isBeside).slice(0, MOST_BESIDE);
    if (!this.others.has(this.beside)) this.beside = "";
    this.askKept();
    if (step == null) this.step = this.movedStep;
    if (row == null && this.head.kind !== "encoder") this.row = Math.min(this.step, this.open.weights.length - 1);
    this.tell();
  }
}
