// What the lab looks at and what is changed in the model: one value that every panel draws, and the address keeps.

import { formatAddress, readAddress, readSentence } from "./address.js";
import { makeHookOptions, formatChanges, NOTHING, addPoint, removePoints } from "./changes.js";
import { HeadNames, toCode } from "./names.js";
import { findStepsAtStake } from "./stakes.js";

const LAST = Infinity; // the moment that is seen at first
const MOST_BESIDE = 3; // heads drawn over the open one

export class State {
  /**
   * `answerer` says what the model answers: the engine in the page, a stored record, or a Python kernel.
   * Words are read in the first of the `languages` and written in the second; `text` is the first
   * sentence, and `names` says what the heads are called, by their codes.
   */
  constructor(answerer, { text = "", languages, names }) {
    Object.assign(this, { answerer, text, languages, ...NOTHING, step: 0, row: 0, key: null });
    Object.assign(this, { moment: LAST, joinsPieces: false });
    Object.assign(this, { view: "lines", also: [] }); // `also` are heads of the open one's kind, drawn with it
    this.showsAll = false; // whether no word is pinned, so that the lines of all words are drawn
    this.beside = ""; // the name of the model that is shown beside this one
    this.names = new HeadNames(names);
    this.kept = NOTHING; // what "before" is changed by: nothing, or what A is
    this.answered = { text, kept: NOTHING, ...NOTHING }; // what the last answer is the answer to
    const { kind, layer } = answerer.heads.at(-1);
    this.head = { kind, layer, head: 0 };
    this.problem = "";
    this.isBusy = false; // while the answer to what is seen is on its way
    this.tested = ""; // the muted heads that were last tested on many sentences
    this.watchers = [];
  }

  /** `call` hears of every change, and whether something was done that Back should undo. */
  watch(call) {
    this.watchers.push(call);
  }

  tell(isDeed = false) {
    this.watchers.forEach((call) => call(isDeed));
  }

  // -------------------------------------------------------------- what is changed

  /** Whether what is seen is of another model than what it is compared with. */
  get isChanged() {
    return this.canChange && formatChanges(this.answered) !== formatChanges(this.answered.kept);
  }
  get isKept() {
    return formatChanges(this.answered.kept) !== "";
  }
  /** What everything is compared with, in words. */
  get baseline() {
    return this.isKept ? "A" : "the unchanged model";
  }
  /** The heads that are muted in what is seen. */
  get muted() {
    return this.canChange ? this.mute : this.now.muted;
  }
  isMuted(head) {
    return this.muted.some((other) => toCode(other) === toCode(head));
  }
  /** What the row of a head was told to give to words; the places are those of pieces, and of the latest moment. */
  findPoints(head, query) {
    return !this.canChange || this.joinsPieces ? [] : this.points.filter((point) => toCode(point) === toCode(head) && point.query === query);
  }

  // -------------------------------------------------------------- what the model answers

  /** The engine in the page, if it is the one that answers: what is one step deeper asks it for more. */
  get engine() {
    return this.answerer.engine;
  }
  /** Whether heads can be muted and told where to look. */
  get canChange() {
    return this.answerer.canChange(this.moment);
  }
  getWord(id) {
    return this.answerer.getWord(id);
  }

  /**
   * Ask for the model as it is in A (`before`), and as it is changed (`now`); `read` is the changed model
   * at the words of `before`, or null. `then` is called when they are there.
   *
   * Where that fails, the last answer stays with the changes that it had, and the problem is said.
   */
  ask(then = () => {}) {
    const { text, kept, mute, points, moment, joinsPieces } = this;
    this.isBusy = true;
    const onAnswer = (answers) => {
      if (answers.before !== this.before) this.withoutHead = new Map();
      Object.assign(this, answers, { isBusy: false, problem: "" });
      this.stayInside();
      this.answered = { text, kept, mute, points, moment: this.moment, joinsPieces };
      then();
    };
    const onProblem = (problem) => {
      Object.assign(this, this.answered, { isBusy: false, problem: `${problem.replace(/([^.?!])$/, "$1.")} Below is still the last answer.` });
      this.tell();
    };
    this.answerer.ask({ text, kept, changes: { mute, points }, moment, joinsPieces }, onAnswer, onProblem);
    if (this.isBusy && this.now) this.tell();
  }

  /** What is looked at has to be there: another sentence may have fewer words, another record fewer heads. */
  stayInside() {
    this.moment = clamp(this.moment, this.answerer.moments.length);
    this.head = findNearestHead(this.now.heads, this.head);
    this.also = this.also.filter(({ kind, layer, head }) => this.now.heads[kind]?.[layer]?.[head]);
    this.step = clamp(this.step, this.before.written.length);
    this.row = clamp(this.row, this.open.weights.length);
    if (this.key != null) this.key = clamp(this.key, this.countSeen(this.row));
  }

  /**
   * The probabilities at each step of the words of `before`, in the model as it is changed; null where nobody
   * has kept them. Where the changed model was not asked about those words, it has its own before them only up
   * to the first that it writes otherwise: the steps behind that one are as before.
   */
  get probabilities() {
    const { before, now, read } = this;
    if (read || !before.probabilities) return read?.probabilities ?? null;
    return before.probabilities.map((own, step) => (this.isComparable(step) && now.probabilities?.[step]) || own);
  }
  /** Whether the open step is seen as it was before and as it is now. */
  get isCompared() {
    return this.isChanged && this.isComparable(this.step);
  }
  isComparable(step) {
    return Boolean(this.read) || this.parting < 0 || step <= this.parting;
  }

  /** The first step at which the changed model writes another word; −1 if it writes the same. */
  get parting() {
    const { before, now } = this;
    return before.written.findIndex((id, step) => id !== now.written[step]);
  }

  /** The probabilities of the same words where this head is muted too; asked once a sentence. */
  readWithout(head) {
    const { engine, before, withoutHead: known, kept } = this;
    const code = toCode(head);
    const changes = { ...kept, mute: [...kept.mute, head] };
    if (!known.has(code)) known.set(code, engine.read(this.text, before.written, makeHookOptions(changes)).probabilities);
    return known.get(code);
  }

  /** The other model's translation, and its heads where it reads the words of the unchanged one; null if none is shown. */
  get other() {
    const { before, beside, answerer: { others }, text } = this;
    const engine = others.get(beside);
    if (!engine) return null;
    if (this.asked?.before !== before || this.asked.beside !== beside) {
      this.asked = { before, beside, translation: engine.translate(text).translation, heads: engine.read(text, before.written).heads };
    }
    return this.asked;
  }

  /** The open head's matrices: as it was muted or pointed, if it was. */
  get open() {
    const { kind, layer, head } = this.head;
    return this.now.heads[kind][layer][head];
  }

  /** The words beside the rows and above the columns of a kind's maps; or of the pieces that those words are made of. */
  getMapTokens(kind, tokens = this.now.tokens) {
    const { source, read, written } = tokens;
    return { rows: { encoder: source, decoder: read, cross: written }[kind], keys: kind === "decoder" ? read : source };
  }

  // -------------------------------------------------------------- what one can change

  translate(text) {
    // Points named words of the other sentence, and moments of the past may know that one alone.
    Object.assign(this, { text, points: [], kept: { ...this.kept, points: [] }, moment: this.answerer.engine ? this.moment : LAST });
    this.ask(() => this.tell(true));
  }

  toggleMute(head) {
    if (!this.canChange) return;
    this.mute = this.isMuted(head) ? this.mute.filter((other) => toCode(other) !== toCode(head)) : [...this.mute, head];
    this.ask(() => {
      this.lookWhereItMoved();
      this.tell(true);
    });
  }

  /** The step whose probabilities moved most: that is where to look after a change. Where none moved, the open one. */
  get movedStep() {
    const { before, probabilities, parting } = this;
    if (!this.isChanged) return this.step;
    const [step] = probabilities ? findStepsAtStake(before.probabilities, probabilities, 1) : [parting].filter((at) => at >= 0);
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
   * Give the chosen word this share of its row of the open head; the row's other words shrink or grow alike.
   *
   * `from` has the points and the word's weight before a longer change, such as a drag. The row stays
   * where it is, because it is in the reader's hand; only the step follows.
   */
  point(share, from = { points: this.points, weight: this.share }) {
    this.points = addPoint(from.points, this.chosen, share, from.weight);
    this.ask(() => {
      this.step = this.movedStep;
      this.tell(true);
    });
  }

  /** A word has its own weight again; without a key all words of the row have. */
  unpoint(place) {
    this.points = removePoints(this.points, place);
    this.ask(() => this.tell(true));
  }

  /** Go back to what everything is compared with. */
  undo() {
    Object.assign(this, this.kept);
    this.ask(() => this.tell(true));
  }

  /** Compare from now on with the model as it is changed now: that is A. */
  keep() {
    this.kept = { mute: this.mute, points: this.points };
    this.ask(() => this.tell(true));
  }

  /** Compare with the model as it is. */
  forget() {
    this.kept = NOTHING;
    this.ask(() => this.tell(true));
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

  /** Those of the heads that can be drawn over the open one. */
  selectBeside(heads) {
    const isBeside = (other) => other.kind === this.head.kind && toCode(other) !== toCode(this.head);
    return heads.filter(isBeside).slice(0, MOST_BESIDE);
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

  /** Look at another moment of the training, by its place among the answerer's. */
  openMoment(moment) {
    this.moment = moment;
    this.ask(() => this.tell());
  }

  /** Take over what Python was asked by somebody else, and has answered. */
  adopt({ text, kept, changes }) {
    Object.assign(this, { text, kept, ...changes, moment: LAST });
    this.ask(() => {
      this.step = this.movedStep; // not the row, which may be in somebody's hand
      this.tell();
    });
  }

  /** Show words, or the pieces of which the model makes them. */
  joinPieces(joins) {
    const { now: { record: was }, row, key, step } = this;
    this.joinsPieces = joins;
    this.ask(() => {
      Object.assign(this, this.answerer.followPlace(was, this.now.record, this.head.kind, { row, key, step }));
      this.stayInside();
      this.tell();
    });
  }

  /** Show another model beside this one, by its name; with "" none. */
  compare(name) {
    this.beside = name;
    if (name) this.view = "lines";
    this.loadBeside();
    this.tell();
  }

  /** See to it that the model beside this one is there; what keeps it away is said. */
  loadBeside() {
    const { answerer: { others }, beside } = this;
    if (!beside || others.get(beside)) return;
    const done = (problem = "") => {
      if (this.beside !== beside) return;
      if (problem) Object.assign(this, { problem, beside: "" });
      this.tell();
    };
    others.load(beside).then(() => done(), (error) => done(`${beside} can't be shown: ${error.message}.`));
  }

  /** How many words a row of the open head may see. */
  countSeen(row) {
    return this.head.kind === "decoder" ? row + 1 : this.open.weights[row].length;
  }

  /** The chosen cell as a place of the open head. */
  get chosen() {
    return { ...this.head, query: this.row, key: this.key };
  }
  /** The chosen word's share of its row: while Python is asked, the one that it is asked for. */
  get share() {
    const asked = this.isBusy ? this.findPoints(this.head, this.row).find(({ key }) => key === this.key) : null;
    return asked?.share ?? this.open.weights[this.row][this.key];
  }
  /** Whether the chosen word can be given a share; alone in its row it has all. */
  get canShare() {
    return this.canChange && !this.joinsPieces && this.key != null && this.countSeen(this.row) > 1;
  }

  /** Look as an address says: by its view, with its heads over the open one, and at its step if it has one. */
  look(address) {
    const { view, also, step } = readAddress(address, this.now);
    Object.assign(this, { view, also: this.selectBeside(also), step: step ?? this.step });
    this.stayInside();
  }

  /** Go where Python or another view is: to a head, and a row of it with a word or without; without a row to all lines. */
  goTo(head, row = null, key = null) {
    if (toCode(head) !== toCode(this.head)) this.openHead(head);
    this.showsAll = row == null;
    if (row != null) Object.assign(this, { row, key });
    this.stayInside();
    if (row != null && this.head.kind !== "encoder") this.step = clamp(this.row, this.before.written.length);
    this.tell();
  }

  choose(row, key) {
    Object.assign(this, { row, key, showsAll: false });
    if (this.head.kind !== "encoder") this.step = clamp(row, this.before.written.length);
    this.tell();
  }

  /** Pin no word, so that the lines of all of them are drawn. */
  letGo() {
    Object.assign(this, { showsAll: true, key: null });
    this.tell();
  }

  openStep(step) {
    Object.assign(this, { step, showsAll: false });
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

  /** Whether sentence and changes are those of an address, whatever is looked at. */
  isSetUp(address) {
    const fields = new URLSearchParams(address);
    return this.isAt(new URLSearchParams(["s", "mute", "point"].map((name) => [name, fields.get(name) ?? ""])));
  }

  /**
   * Go where an address points. A sentence, head, row or step that it does not name, or that is not
   * there, stays as it is; of the changes only those are made that it names. Where it has a sentence
   * that cannot be read, everything stays, and the problem is said.
   */
  follow(address) {
    Object.assign(this, { text: readSentence(address) || this.text, ...NOTHING, kept: NOTHING });
    this.ask(() => {
      const stored = this.canChange ? {} : { ...NOTHING, kept: NOTHING }; // a record stays as it is
      const { head, row, step, ...changed } = { ...readAddress(address, this.before), ...stored };
      Object.assign(this, changed, { head: head ?? this.head, row: row ?? this.row, step: step ?? this.step });
      this.also = this.selectBeside(this.also);
      if (!this.answerer.others.names.includes(this.beside)) this.beside = "";
      this.loadBeside();
      this.ask(() => {
        const isStep = row != null && this.head.kind !== "encoder"; // there, rows are steps
        if (step == null) this.step = this.isChanged || !isStep ? this.movedStep : clamp(row, this.before.written.length);
        if (row == null && this.head.kind !== "encoder") this.row = clamp(this.step, this.open.weights.length);
        if (!this.engine) this.showsAll = row == null; // a lab with an engine begins at one word
        this.tell();
      });
    });
  }
}

/** Return an index below `count` that is as near as possible; 0 if there is none. */
const clamp = (at, count) => Math.max(0, Math.min(at, count - 1));

/** Return the head of an answer that is nearest to another: of its kind, or else of the last kind that there is. */
function findNearestHead(heads, { kind, layer, head }) {
  const found = kind in heads ? kind : Object.keys(heads).at(-1);
  const at = clamp(layer, heads[found].length);
  return { kind: found, layer: at, head: clamp(head, heads[found][at].length) };
}
