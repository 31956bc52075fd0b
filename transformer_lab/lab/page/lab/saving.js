// The open head as a file.

import { action, make } from "../elements.js";
import { drawLinesSvg, drawMapSvg, saveDrawing } from "../export.js";
import { toPicture } from "../head_map.js";
import { findGoldRings } from "./gold.js";
import { TITLES, toCode } from "./names.js";

export class Saving {
  /** `palettes` as `makePalettes` gives them; `lines` is the view that draws them. */
  constructor(state, palettes, lines) {
    Object.assign(this, { state, palettes, lines });
    const buttons = ["svg", "png"].map((format) => action(format, format.toUpperCase(), `Save a picture of the open head as ${format.toUpperCase()}`, () => this.save(format)));
    this.element = make("p", { className: "saving" }, "Save a picture of the open head: ", ...buttons);
  }

  draw() {} // it never changes

  save(format) {
    const { state, palettes, lines } = this;
    const { head, open, now, row, key } = state;
    const { rows, keys } = state.getMapTokens(head.kind);
    const tokens = { queries: rows, keys };
    const title = `${TITLES[head.kind]}: ${state.names.say(head)}`;
    const picture = state.view === "map"
      ? drawMapSvg(toPicture(open), tokens, palettes.weight, title, { rings: findGoldRings(now.record ?? {}, head.kind), pinned: [row, key] })
      : drawLinesSvg(lines.findShownLinks(), tokens, title);
    saveDrawing(picture, `attention_${toCode(head)}`, format);
  }
}
