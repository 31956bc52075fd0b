// All panels of the explorer in their places, and which of them are drawn anew when.
//
// A panel has an `element` and those of these methods in which it has something to draw.

import { make } from "../elements.js";
import { keepFocus } from "../focus.js";
import { makePalettes } from "../painting.js";
import { includesHead, readRecords } from "../record.js";
import { followTheme } from "../theme.js";
import { Kinds, Sorting, Units } from "./choices.js";
import { LeftOut, Sentence, Snapshots, Unknown } from "./frame.js";
import { OpenHead } from "./open_head.js";
import { Readout } from "./readout.js";
import { Steps } from "./steps.js";
import { Glossary, LinksTable } from "./tables.js";
import { Tiles } from "./tiles.js";

const METHODS = ["onNewRecords", "drawRecord", "drawHead", "drawPlace"];
const REACH = { records: 0, record: 1, head: 2, place: 3 }; // of a change: it calls the methods from here on
const MANY = 8; // heads in a line: with more, all heads get half of the width

export class Explorer {
  /** `asking`, see asking.js, has what a living model can be asked; a saved page has none. */
  constructor(element, selection, asking = null) {
    this.selection = selection;
    this.root = make("section", {
      className: "tl-page tl-explorer",
      "aria-label": "Attention explorer",
    });
    element.append(this.root);
    this.unfollow = followTheme(this.root);
    const isMuted = asking
      ? (...head) => asking.isMuted(...head)
      : (...head) => includesHead(selection.record.muted, ...head);
    this.tiles = new Tiles(selection, isMuted);
    this.panels = this.build(asking);
    selection.watch((reach) => this.draw(reach));
  }

  build(asking) {
    const { selection, tiles } = this;
    const [kinds, units, sorting] = [new Kinds(selection), new Units(selection), new Sorting(selection)];
    const [sentence, leftOut] = [new Sentence(selection, asking != null), new LeftOut(selection)];
    const unknown = new Unknown(selection);
    const [snapshots, steps] = [new Snapshots(selection), new Steps(selection)];
    const [readout, glossary, links] = [new Readout(selection), new Glossary(selection), new LinksTable(selection)];
    const openHead = new OpenHead(selection, asking?.actions ?? []);
    const text = make("div", { className: "words" },
      readout.element, steps.element, glossary.element, links.element);
    const heads = make("div", { className: "heads" },
      make("div", { className: "bar" }, kinds.element, units.element, sorting.element), kinds.meaning, units.meaning, sorting.meaning, tiles.element);
    const open = make("div", { className: "open" },
      openHead.bar, openHead.facts, make("div", { className: "beside" }, openHead.element, text));
    this.root.append(
      ...(asking ? [asking.question] : []), sentence.element, unknown.element, ...(asking?.answers ?? []),
      leftOut.element, snapshots.element, make("div", { className: "panes" }, heads, open));
    return [tiles, ...(asking ? [asking] : []), sentence, unknown, leftOut, snapshots, kinds, units, sorting, openHead, steps, glossary, links, readout];
  }

  /** Show a page's data, unless newer data were faster, or `isStale` says that nobody wants them now. */
  async load(data, isStale = () => false) {
    const loading = (this.loading = Symbol("load"));
    const records = await readRecords(data);
    if (this.loading !== loading || isStale()) return;
    this.selection.show(records, makePalettes(data.colours));
    await this.tiles.painted;
    this.root.dataset.ready = "true";
    if (this.loading === loading) this.tiles.pictures.prepare(); // while the reader looks at the first
  }

  draw(reach) {
    keepFocus(this.root, "mute", () => {
      for (const method of METHODS.slice(REACH[reach])) {
        for (const panel of this.panels) panel[method]?.();
      }
    });
    this.root.classList.toggle("many", this.tiles.across > MANY);
  }

  close() {
    this.loading = null;
    this.selection.close();
    for (const panel of this.panels) panel.close?.();
    this.unfollow();
    this.root.remove();
  }
}
