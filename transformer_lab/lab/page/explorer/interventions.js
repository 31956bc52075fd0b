// What the reader wants changed in the model: heads that are muted, rows that look at one column alone.

export class Interventions {
  constructor(selection) {
    this.selection = selection;
    this.wanted = null; // until something is changed, the latest record says what is
  }

  get mute() {
    return this.wanted?.mute ?? this.selection.latest.muted;
  }
  /** The rows: { kind, layer, head, query, key }. */
  get patch() {
    return this.wanted?.patch ?? this.selection.latest.patched ?? [];
  }
  get isEmpty() {
    return !(this.mute.length || this.patch.length);
  }

  set(changes) {
    this.wanted = { mute: this.mute, patch: this.patch, ...changes };
  }

  /** What is shown is what was before. */
  forget() {
    this.wanted = null;
  }

  /** Mute a head, or let it speak again. */
  toggleMute(kind, layer, head) {
    const others = this.mute.filter(([k, l, h]) => k !== kind || l !== layer || h !== head);
    const isMuted = others.length < this.mute.length;
    this.set({ mute: isMuted ? others : [...this.mute, [kind, layer, head]] });
  }

  /** Let a row put all its weight on one column. */
  point(row) {
    const same = (other) => ["kind", "layer", "head", "query"].every((name) => other[name] === row[name]);
    this.set({ patch: [...this.patch.filter((other) => !same(other)), row] });
  }

  unpoint(row) {
    this.set({ patch: this.patch.filter((other) => other !== row) });
  }
}
