// The open head as lines from queries to keys: of the chosen word, or the strongest.

import { make } from "../elements.js";
import { LineBoard, filterVisibleLinks } from "../line_board.js";
import { KINDS } from "../record.js";

const MOST_LINES = 60; // that are drawn when no word is chosen

export class Lines {
  constructor(selection) {
    this.selection = selection;
    this.board = new LineBoard({
      look: (place) => selection.look(place),
      pin: (place) => selection.pin(place),
      letGo: () => selection.letGo(),
    });
    this.axes = make("p", { className: "axes" });
    this.element = make("div", { className: "map lines" }, this.axes, this.board.element);
  }

  /** The words, which are other ones for another kind or record only. */
  drawHead() {
    const { record, kind, tokens } = this.selection;
    if (this.record === record && this.kind === kind) return;
    Object.assign(this, { record, kind });
    const { query, key } = KINDS[kind];
    this.axes.textContent = `Left: ${key} (key). Right: ${query} (query).`;
    this.board.write(tokens, { query, key });
  }

  drawPlace() {
    const { chosen } = this.selection;
    this.board.light(chosen ?? [null, null]);
    this.board.draw(this.findVisibleLines(chosen));
  }

  /** The lines of a place, or the strongest: { query, key, thickness }, from 0 to 1. */
  findVisibleLines(place) {
    const isRoot = this.selection.settings.palette === "root";
    return filterVisibleLinks(this.findLinks(...(place ?? [null, null])))
      .map(({ weight, ...link }) => ({ ...link, thickness: isRoot ? Math.sqrt(weight) : weight }));
  }

  findLinks(query, key) {
    const { map } = this.selection;
    if (query != null) return map.row(query).map((weight, k) => ({ query, key: k, weight }));
    if (key != null) return map.column(key).map((weight, q) => ({ query: q, key, weight }));
    return map.findStrongestLinks(MOST_LINES);
  }
}
