// What is looked at: a head, a row of it and perhaps a word there, and a step of the translation. Nobody is asked for that.

import { toCode } from "./names.js";

const MOST_BESIDE = 3; // heads drawn over the open one

/** Return an index below `count` that is as near as possible; 0 if there is none. */
export const clamp = (at, count) => Math.max(0, Math.min(at, count - 1));

/** Return the head of an answer that is nearest to another: of its kind, or else of the last kind that there is. */
function findNearestHead(heads, { kind, layer, head }) {
  const found = kind in heads ? kind : Object.keys(heads).at(-1);
  const at = clamp(layer, heads[found].length);
  return { kind: found, layer: at, head: clamp(head, heads[found][at].length) };
}

/** Look at an answer: `now`, and at the words of the one `before`, which somebody else brings; `tell` says that something has moved. */
export class Look {
  constructor(head) {
    Object.assign(this, { head, step: 0, row: 0, key: null, view: "lines" });
    this.also = []; // heads of the open one's kind, drawn with it
    this.showsAll = false; // whether no word is pinned, so that the lines of all words are drawn
  }

  /** What is looked at has to be there: another sentence may have fewer words, another record fewer heads. */
  stayInside() {
    const { heads } = this.now;
    this.head = findNearestHead(heads, this.head);
    this.also = this.also.filter(({ kind, layer, head }) => heads[kind]?.[layer]?.[head]);
    this.step = clamp(this.step, this.before.written.length);
    this.row = clamp(this.row, this.open.weights.length);
    if (this.key != null) this.key = clamp(this.key, this.countSeen(this.row));
  }

  // -------------------------------------------------------------- heads

  /** The open head's matrices: as it was muted or pointed, if it was. */
  get open() {
    const { kind, layer, head } = this.head;
    return this.now.heads[kind][layer][head];
  }
  /** The open head and those that are drawn over it. */
  get heads() {
    return [this.head, ...this.also];
  }
  get isFull() {
    return this.also.length === MOST_BESIDE;
  }
  /** Whether rows of the open head are steps, as they are in the decoder; the encoder's are words of the source. */
  get hasSteps() {
    return this.head.kind !== "encoder";
  }

  openHead(head) {
    const was = this.head.kind;
    this.head = head;
    if (this.hasSteps) this.row = this.step;
    else if (was !== "encoder") this.row = 0;
    this.key = null;
    this.also = head.kind === was ? this.also.filter((other) => toCode(other) !== toCode(head)) : [];
    this.stayInside();
    this.tell();
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

  // -------------------------------------------------------------- words

  /** The words beside the rows and above the columns of a kind's maps; or of the pieces that those words are made of. */
  getMapTokens(kind, tokens = this.now.tokens) {
    const { source, read, written } = tokens;
    return { rows: { encoder: source, decoder: read, cross: written }[kind], keys: kind === "decoder" ? read : source };
  }

  /** How many words a row of the open head may see. */
  countSeen(row) {
    return this.head.kind === "decoder" ? row + 1 : this.open.weights[row].length;
  }

  /** The chosen cell as a place of the open head. */
  get chosen() {
    return { ...this.head, query: this.row, key: this.key };
  }

  /** Pin a row, and a word of it or null. */
  choose(row, key) {
    Object.assign(this, { row, key, showsAll: false });
    if (this.hasSteps) this.step = clamp(row, this.before.written.length);
    this.tell();
  }

  /** Pin no word, so that the lines of all of them are drawn. */
  letGo() {
    Object.assign(this, { showsAll: true, key: null });
    this.tell();
  }

  openStep(step) {
    Object.assign(this, { step, showsAll: false });
    if (this.hasSteps) Object.assign(this, { row: clamp(step, this.open.weights.length), key: null });
    this.tell();
  }

  /** Go where Python or another view is: to a head, and a row of it with a word or without; without a row to all lines. */
  goTo(head, row = null, key = null) {
    if (toCode(head) !== toCode(this.head)) this.openHead(head);
    if (row == null) this.showsAll = true;
    else Object.assign(this, { row, key, showsAll: false });
    this.stayInside();
    if (row != null && this.hasSteps) this.step = clamp(this.row, this.before.written.length);
    this.tell();
  }
}
