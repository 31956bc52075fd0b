// What the model is asked and what is changed in it: one value that every panel draws, and the address keeps.

import { formatAddress, readAddress, readSentence } from "./address.js";
import { Beside } from "./beside.js";
import { makeHookOptions, formatChanges, NOTHING, addPoint, removePoints } from "./changes.js";
import { Comparison } from "./comparison.js";
import { clamp, Look } from "./look.js";
import { HeadNames, toCode } from "./names.js";

const LAST = Infinity; // the moment that is seen at first

export class State extends Look {
  /**
   * `answerer` says what the model answers: the engine in the page, a stored record, or a Python kernel.
   * Words are read in the first of the `languages` and written in the second; `text` is the first
   * sentence, and `names` says what the heads are called, by their codes.
   */
  constructor(answerer, { text = "", languages, names }) {
    super({ ...answerer.heads.at(-1), head: 0 });
    Object.assign(this, { answerer, text, languages, ...NOTHING, moment: LAST, joinsPieces: false });
    this.names = new HeadNames(names);
    this.beside = new Beside(this);
    this.kept = NOTHING; // what "before" is changed by: nothing, or what A is
    this.answered = { text, kept: NOTHING, ...NOTHING }; // what the last answer is the answer to
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
  /** The chosen word's share of its row: while Python is asked, the one that it is asked for. */
  get share() {
    const asked = this.isBusy ? this.findPoints(this.head, this.row).find(({ key }) => key === this.key) : null;
    return asked?.share ?? this.open.weights[this.row][this.key];
  }
  /** Whether the chosen word can be given a share; alone in its row it has all. */
  get canShare() {
    return this.canChange && !this.joinsPieces && this.key != null && this.countSeen(this.row) > 1;
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

  /**
   * Ask for the model as it is in A (`before`), and as it is changed (`now`); `read` is the changed model
   * at the words of `before`, or null. `then` is called when they are there.
   *
   * Where that fails, the last answer stays with the changes that it had, and the problem is said.
   */
  ask(then = () => this.tell()) {
    const { text, kept, mute, points, moment, joinsPieces } = this;
    this.isBusy = true;
    const onAnswer = (answers) => {
      if (answers.before !== this.before) this.withoutHead = new Map();
      Object.assign(this, answers, { comparison: new Comparison(answers), isBusy: false, problem: "" });
      this.moment = clamp(this.moment, this.answerer.moments.length);
      this.stayInside();
      this.answered = { text, kept, mute, points, moment: this.moment, joinsPieces };
      then();
    };
    const onProblem = (problem) => {
      Object.assign(this, this.answered, { isBusy: false, problem: `${problem.replace(/([^.?!])$/, "$1.")} The last answer is still shown below.` });
      this.tell();
    };
    this.answerer.ask({ text, kept, changes: { mute, points }, moment, joinsPieces }, onAnswer, onProblem);
    if (this.isBusy && this.now) this.tell();
  }

  /** Change something, so that Back can undo it, and ask; `look` may then go where something is to be seen. */
  do(changed, look = () => {}) {
    Object.assign(this, changed);
    this.ask(() => {
      look();
      this.tell(true);
    });
  }

  /** The probabilities of the same words where this head is muted too; asked once a sentence. */
  readWithout(head) {
    const { engine, before, withoutHead: known, kept } = this;
    const code = toCode(head);
    const changes = { ...kept, mute: [...kept.mute, head] };
    if (!known.has(code)) known.set(code, engine.read(this.text, before.written, makeHookOptions(changes)).probabilities);
    return known.get(code);
  }

  /** Where to look after a change: at the step whose probabilities moved most. Where none moved, at the open one. */
  get movedStep() {
    return (this.isChanged ? this.comparison.movedStep : null) ?? this.step;
  }
  /** Whether the open step is seen as it was before and as it is now. */
  get isCompared() {
    return this.isChanged && this.comparison.isComparable(this.step);
  }

  // -------------------------------------------------------------- what one can change

  translate(text) {
    // Points named words of the other sentence, and moments of the past may know that one alone.
    this.do({ text, points: [], kept: { ...this.kept, points: [] }, moment: this.engine ? this.moment : LAST });
  }

  toggleMute(head) {
    if (!this.canChange) return;
    const mute = this.isMuted(head) ? this.mute.filter((other) => toCode(other) !== toCode(head)) : [...this.mute, head];
    this.do({ mute }, () => {
      const { movedStep } = this;
      if (this.hasSteps && movedStep !== this.step) Object.assign(this, { row: movedStep, key: null });
      this.step = movedStep;
      this.stayInside();
    });
  }

  /**
   * Give the chosen word this share of its row of the open head; the row's other words shrink or grow alike.
   *
   * `from` has the points and the word's weight before a longer change, such as a drag. The row stays
   * where it is, because it is in the reader's hand; only the step follows.
   */
  point(share, from = { points: this.points, weight: this.share }) {
    this.do({ points: addPoint(from.points, this.chosen, share, from.weight) }, () => (this.step = this.movedStep));
  }

  /** A word has its own weight again; without a key all words of the row have. */
  unpoint(place) {
    this.do({ points: removePoints(this.points, place) });
  }

  /** Go back to what everything is compared with. */
  undo() {
    this.do(this.kept);
  }

  /** Compare from now on with the model as it is changed now: that is A. */
  keep() {
    this.do({ kept: { mute: this.mute, points: this.points } });
  }

  /** Compare with the model as it is. */
  forget() {
    this.do({ kept: NOTHING });
  }

  // -------------------------------------------------------------- other answers

  /** Look at another moment of the training, by its place among the answerer's. */
  openMoment(moment) {
    this.moment = moment;
    this.ask();
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

  /** Look as an address says: by its view, with its heads over the open one, and at its step if it has one. */
  look(address) {
    const { view, also, step } = readAddress(address, this.now);
    Object.assign(this, { view, also: this.selectBeside(also), step: step ?? this.step });
    this.stayInside();
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
      const { head, row, step, beside, ...changed } = { ...readAddress(address, this.before), ...stored };
      Object.assign(this, changed, { head: head ?? this.head, row: row ?? this.row, step: step ?? this.step });
      this.also = this.selectBeside(this.also);
      this.beside.show(beside);
      this.ask(() => {
        const isStep = row != null && this.hasSteps;
        if (step == null) this.step = this.isChanged || !isStep ? this.movedStep : clamp(row, this.before.written.length);
        if (row == null && this.hasSteps) this.row = clamp(this.step, this.open.weights.length);
        if (!this.engine) this.showsAll = row == null; // a lab with an engine begins at one word
        this.tell();
      });
    });
  }
}
