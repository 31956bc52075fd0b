// What the bench looks at and what it has changed: one value that every panel draws, and the address keeps.

import { headOf, shortName } from "./names.js";

/** Rows of a patch: all weight of each pointed row on one word. */
function patchOf(points, sizes) {
  const byHead = new Map();
  for (const { query, key, ...head } of points) {
    const found = byHead.get(shortName(head)) ?? { ...head, rows: [] };
    byHead.set(shortName(head), found);
    found.rows[query] = Array.from({ length: sizes[head.kind] }, (_, k) => Number(k === key));
  }
  return [...byHead.values()];
}

export class State {
  /** `engine` translates; `text` is the sentence to begin with. */
  constructor(engine, text) {
    Object.assign(this, { engine, text, mute: [], points: [], step: 0, row: 0, key: null });
    this.head = { kind: "cross", layer: engine.model.config.num_decoder_layers - 1, head: 0 };
    this.problem = "";
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

  get changes() {
    const { source, read } = this.before.tokens;
    const sizes = { encoder: source.length, decoder: read.length, cross: source.length };
    return { mute: this.mute, patch: patchOf(this.points, sizes) };
  }
  get isChanged() {
    return this.mute.length + this.points.length > 0;
  }
  isMuted(head) {
    return this.mute.some((other) => shortName(other) === shortName(head));
  }
  pointOf(head, query) {
    return this.points.find((point) => shortName(point) === shortName(head) && point.query === query);
  }

  /** Translate as the model is, and as it is changed. */
  ask() {
    try {
      this.before = { ...this.engine.translate(this.text), text: this.text };
      this.muted = new Map();
      this.problem = "";
    } catch (error) {
      this.problem = error.message;
      return;
    }
    this.askChanged();
  }

  askChanged() {
    const { engine, before, changes } = this;
    this.now = this.isChanged ? engine.translate(before.text, changes) : before;
    /** Of the same words as `before.probabilities`, so that each step can be compared. */
    this.probabilities = String(this.now.written) === String(before.written)
      ? this.now.probabilities
      : engine.read(before.text, before.written, changes);
    this.step = Math.min(this.step, before.written.length - 1);
    this.row = Math.min(this.row, this.open.weights.length - 1);
    if (this.key != null) this.key = Math.min(this.key, this.open.weights[this.row].length - 1);
  }

  /** The probabilities of the same words where this head alone is muted; asked once a sentence. */
  without(head) {
    const { engine, before, muted } = this;
    const name = shortName(head);
    if (!muted.has(name)) muted.set(name, engine.read(before.text, before.written, { mute: [head] }));
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
    this.ask();
    this.tell();
  }

  toggleMute(head) {
    this.mute = this.isMuted(head) ? this.mute.filter((other) => shortName(other) !== shortName(head)) : [...this.mute, head];
    this.askChanged();
    this.tell();
  }

  /** Let a row of the open head look at one word only; the same again takes it back. */
  point(query, key) {
    const old = this.pointOf(this.head, query);
    this.points = this.points.filter((point) => point !== old);
    if (old?.key !== key) this.points.push({ ...this.head, query, key });
    this.askChanged();
    this.tell();
  }

  undo() {
    Object.assign(this, { mute: [], points: [] });
    this.askChanged();
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

  /** What can be looked up again: `#s=…&head=e2.1&row=3&step=9&mute=e2.1,c1.4&point=e2.1:3:5`. */
  get address() {
    const fields = {
      s: this.text,
      head: shortName(this.head),
      row: this.row,
      ...(this.key == null ? {} : { key: this.key }),
      step: this.step,
      ...(this.mute.length ? { mute: this.mute.map(shortName).join() } : {}),
      ...(this.points.length ? { point: this.points.map((p) => `${shortName(p)}:${p.query}:${p.key}`).join() } : {}),
    };
    return `#${new URLSearchParams(fields)}`;
  }

  /** Go where an address points; what it does not name, and what is not there, stays as it is. */
  follow(address) {
    const fields = new URLSearchParams(address.replace(/^#/, ""));
    const numbers = (name) => (/^\d+$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : null);
    const list = (name) => (fields.get(name) ?? "").split(",").filter(Boolean);
    const exists = (head) => Boolean(head && this.before.heads[head.kind][head.layer]?.[head.head]);
    if (fields.get("s")) this.text = fields.get("s");
    this.ask();
    if (this.problem) return this.tell();
    const head = headOf(fields.get("head") ?? "");
    if (exists(head)) this.head = head;
    this.mute = list("mute").map(headOf).filter(exists);
    this.points = list("point").flatMap((text) => {
      const [name, query, key] = text.split(":");
      const pointed = headOf(name);
      const rows = exists(pointed) ? this.before.maps[pointed.kind][pointed.layer][pointed.head] : [];
      return rows[query]?.[key] == null ? [] : [{ ...pointed, query: Number(query), key: Number(key) }];
    });
    this.step = numbers("step") ?? this.step;
    this.row = numbers("row") ?? this.row;
    this.key = numbers("key");
    this.askChanged();
    this.tell();
  }
}
