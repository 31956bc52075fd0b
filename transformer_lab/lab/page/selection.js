// What is looked at, and how: one object that every panel reads and changes, and that tells them.

import { byWords, findWord } from "./attention_words.js";
import { getMapTokens } from "./record.js";

const SHARED = ["kind", "layer", "head", "pinned"]; // with Python, and with other views of a widget

/**
 * A place is [query, key]; either may be null, for a whole column or row.
 *
 * Who watches hears how far a change reaches: "records" (all are new), "record" (another of them),
 * "head" (another head, or another way to show it), "place" (another row, column or cell).
 */
export class Selection {
  /** `shared` holds kind, layer, head and pinned: a widget's model, or Values. */
  constructor(shared) {
    this.shared = shared;
    this.records = [];
    this.number = 0; // of the record in view
    this.palettes = {};
    this.hover = null;
    this.settings = { sort: "", palette: "weight", gold: true, view: "matrix", words: false };
    this.watchers = [];
    this.changed = () => this.tell("head");
    for (const name of SHARED) shared.on(`change:${name}`, this.changed);
  }

  watch(call) {
    this.watchers.push(call);
  }

  close() {
    clearTimeout(this.late);
    for (const name of SHARED) this.shared.off(`change:${name}`, this.changed);
  }

  // -------------------------------------------------------------- what is looked at

  /** The record in view as Python gave it. */
  get stored() {
    return this.records[this.number];
  }
  /** The record as it is shown: where the reader wants words, its pieces are joined, once. */
  get record() {
    const { stored } = this;
    if (!stored || !this.settings.words) return stored;
    stored.joined ??= byWords(stored);
    return stored.joined;
  }
  get latest() {
    return this.records.at(-1);
  }
  get kind() {
    return this.shared.get("kind");
  }
  get layer() {
    return this.shared.get("layer");
  }
  get head() {
    return this.shared.get("head");
  }
  get map() {
    return this.record?.maps[this.kind]?.[this.layer]?.[this.head];
  }
  /** The labels of the open map: { queries, keys }. */
  get tokens() {
    return getMapTokens(this.record, this.kind);
  }
  get pinned() {
    return this.checkPlace(this.toShownPlace(this.shared.get("pinned")));
  }
  /** The place that is pointed at, else the one that is pinned. */
  get chosen() {
    return this.checkPlace(this.hover) ?? this.pinned;
  }

  /** A place, if it is one of the open map: Python sets the kind and the pin one after the other. */
  checkPlace(place) {
    const [query, key] = place ?? [];
    if ((query == null && key == null) || !this.map) return null;
    return query >= this.map.rows || key >= this.map.columns ? null : place;
  }

  /** The groups of pieces of the open map's sides, if pieces are joined: { queries, keys }. */
  get groups() {
    return this.record.groups?.[this.kind];
  }

  /** A place of the stored map, as the map in view has it: pins are shared with Python in pieces. */
  toShownPlace(place) {
    if (!this.groups || !place.length) return place;
    return this.mapSides(place, (groups, at) => findWord(groups, at));
  }

  /** The other way round: of a word the first piece. */
  toStoredPlace(place) {
    if (!this.groups || !place.length) return place;
    return this.mapSides(place, (groups, at) => groups[at][0]);
  }

  mapSides([query, key], find) {
    const { queries, keys } = this.groups;
    return [query == null ? null : find(queries, query), key == null ? null : find(keys, key)];
  }

  // -------------------------------------------------------------- how it is shown

  get colours() {
    return this.palettes[this.settings.palette];
  }
  /** The scores that the record has for heads of this kind. */
  get scores() {
    return this.record.scores[this.kind] ?? [];
  }
  /** The one that the heads are sorted by, if any. */
  get sortedBy() {
    return this.scores.find(({ name }) => name === this.settings.sort);
  }

  // -------------------------------------------------------------- changes

  /** Other records, of which the last one is in view. */
  show(records, palettes) {
    Object.assign(this, { records, palettes, number: records.length - 1, hover: null });
    this.settle();
    this.tell("records");
  }

  openRecord(number) {
    Object.assign(this, { number, hover: null });
    this.settle();
    this.tell("record");
  }

  openKind(kind) {
    // A pinned step stays pinned where its rows are the steps too; another pin means nothing here.
    const [query] = this.pinned ? this.shared.get("pinned") : [null];
    const stays = query != null && this.kind !== "encoder" && kind !== "encoder";
    this.hover = null;
    this.share({ kind, ...this.findNearestHead(kind), pinned: stays ? [query, null] : [] });
    this.tell("head");
  }

  openHead(layer, head) {
    this.hover = null;
    this.share({ layer, head });
    this.tell("head");
  }

  change(setting, value) {
    this.settings[setting] = value;
    this.tell("head");
  }

  /** Show words, or the pieces that the model reads. */
  showWords(words) {
    this.settings.words = words;
    this.hover = null;
    this.tell("record");
  }

  /** Point at a place, or with null at none. */
  look(place) {
    if (!this.map || String(place) === String(this.hover)) return;
    this.hover = place;
    this.tell("place");
  }

  /** Pin a place; what is pinned already is let go. */
  pin(place) {
    this.setPinned(String(place) === String(this.pinned) ? [] : place);
  }

  letGo() {
    this.setPinned([]);
  }

  setPinned(pinned) {
    this.hover = null;
    this.share({ pinned: this.toStoredPlace(pinned) });
    this.tell("place");
  }

  // -------------------------------------------------------------- within

  /** Another record may have fewer kinds, layers or heads: then the nearest that there is. */
  settle() {
    const kinds = Object.keys(this.record.maps);
    const kind = kinds.includes(this.kind) ? this.kind : kinds.at(-1);
    const { layer, head } = this.findNearestHead(kind);
    const { rows, columns } = this.stored.maps[kind][layer][head];
    const [query, key] = this.shared.get("pinned");
    const pinned = query >= rows || key >= columns ? [] : this.shared.get("pinned");
    const all = Object.entries({ kind, layer, head, pinned });
    this.share(Object.fromEntries(all.filter(([name, value]) => this.shared.get(name) !== value)));
  }

  findNearestHead(kind) {
    const layers = this.record.maps[kind];
    const layer = Math.min(this.layer, layers.length - 1);
    return { layer, head: Math.min(this.head, layers[layer].length - 1) };
  }

  /** Change values here and in Python. */
  share(changes) {
    this.quiet = true;
    for (const [name, value] of Object.entries(changes)) this.shared.set(name, value);
    this.quiet = false;
    if (Object.keys(changes).length) this.shared.save_changes();
  }

  tell(reach) {
    if (this.quiet || !this.records.length) return;
    clearTimeout(this.late);
    if (this.map) return this.watchers.forEach((call) => call(reach));
    // Python sets one value after the other: the rest is on its way, or this record lacks the head.
    this.late = setTimeout(() => {
      this.settle();
      this.tell("head");
    });
  }
}
