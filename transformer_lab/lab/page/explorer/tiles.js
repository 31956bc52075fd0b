// All heads of a kind as small maps, each a button that opens it.

import { make } from "../elements.js";
import { orderHeads } from "../ranking.js";
import { formatHeadName, formatNumber } from "../text.js";
import { TilePictures } from "./tile_pictures.js";

export class Tiles {
  /** `isMuted(kind, layer, head)` says whether a head of the record in view is. */
  constructor(selection, isMuted) {
    Object.assign(this, { selection, isMuted });
    this.element = make("div", { className: "tiles", role: "group", "aria-label": "Heads" });
    this.element.addEventListener("keydown", (event) => this.move(event));
    this.pictures = new TilePictures(selection);
    this.across = 0;
    this.tiles = []; // layer by layer: { button, picture, caption, layer, head }
    this.sorted = []; // their buttons, as they stand on the screen
  }

  close() {
    this.latest = null;
    this.element.style.removeProperty("--picture");
    this.pictures.forget();
    this.pictures.release();
  }

  onNewRecords() {
    this.pictures.forget();
    this.pictures.getPicture(this.selection.kind); // the browser reads it while the rest is drawn
  }

  drawHead() {
    const { record, kind, sortedBy } = this.selection;
    this.build(record.heads[kind]);
    this.painted = this.paint();
    this.tiles.forEach((tile, i) => this.label(tile, sortedBy && formatNumber(sortedBy.values[i])));
    const order = sortedBy ? orderHeads(sortedBy) : [...this.tiles.keys()];
    this.element.classList.toggle("sorted", Boolean(sortedBy));
    this.sorted = order.map((i) => this.tiles[i].button);
    const shown = this.element.childNodes;
    const same = this.sorted.length === shown.length && this.sorted.every((button, i) => button === shown[i]);
    if (!same) this.element.replaceChildren(...this.sorted);
  }

  /** New tiles, if there are other heads than before: `heads` has the number of each layer's. */
  build(heads) {
    if (String(heads) === this.heads) return;
    this.heads = String(heads);
    this.across = Math.max(...heads);
    this.element.style.setProperty("--across", this.across);
    this.tiles = heads.flatMap((count, layer) => Array.from({ length: count }, (_, head) => this.buildTile(layer, head)));
    this.tiles.forEach(({ picture }, place) => this.cutOut(picture, place));
  }

  buildTile(layer, head) {
    const picture = make("i", { className: "picture", "aria-hidden": "true" });
    const caption = make("span", {});
    const inPython = `layer=${layer}, head=${head} in Python`;
    const name = { title: `${formatHeadName(layer, head)} (${inPython})`, "data-control": `tile ${layer}.${head}` };
    const button = make("button", { type: "button", className: "tile", ...name }, picture, caption);
    button.addEventListener("click", () => {
      this.selection.openHead(layer, head);
      button.focus();
    });
    return { button, picture, caption, layer, head };
  }

  /** Let a tile show its part of the picture. */
  cutOut(part, place) {
    const { across } = this;
    const down = Math.ceil(this.tiles.length / across);
    const percent = (at, most) => (most > 1 ? (100 * at) / (most - 1) : 0);
    part.style.backgroundSize = `${100 * across}% ${100 * down}%`;
    part.style.backgroundPosition = `${percent(place % across, across)}% ${percent(Math.floor(place / across), down)}%`;
  }

  async paint() {
    const { image, loaded } = this.pictures.getPicture(this.selection.kind);
    this.latest = image;
    await loaded;
    if (this.latest !== image) return;
    this.element.style.setProperty("--picture", `url("${image.src}")`);
    this.pictures.release(image.src); // now, not before: a browser asks again for what is on the screen
  }

  /** What a tile says, where the heads are sorted with its score's value. */
  label({ button, caption, layer, head }, value) {
    const { selection } = this;
    const muted = this.isMuted(selection.kind, layer, head);
    const text = `${layer + 1}.${head + 1}${value ? "  " + value : ""}${muted ? "  muted" : ""}`;
    if (caption.textContent !== text) caption.textContent = text;
    const score = value ? `, ${selection.sortedBy.label} ${value}` : "";
    button.setAttribute("aria-label", `${formatHeadName(layer, head)}${score}${muted ? ", muted" : ""}`);
    const open = layer === selection.layer && head === selection.head;
    button.setAttribute("aria-pressed", String(open));
    button.classList.toggle("muted", muted);
    button.tabIndex = open ? 0 : -1;
    const column = !value && head === 0 ? "1" : ""; // a line for each layer
    if (button.style.gridColumnStart !== column) button.style.gridColumnStart = column; // else a new layout
  }

  move(event) {
    const at = this.sorted.indexOf(event.target);
    if (at < 0) return;
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.sorted.length - 1 };
    const lines = { ArrowUp: -1, ArrowDown: 1 };
    if (!(event.key in steps) && !(event.key in lines)) return;
    event.preventDefault();
    event.stopPropagation();
    const tile = event.key in lines ? this.findTileBeside(at, lines[event.key]) : this.sorted[steps[event.key]];
    if (tile) {
      tile.click();
      tile.focus();
    }
  }

  /** The tile above (-1) or below (1) another, as they stand on the screen. */
  findTileBeside(at, direction) {
    const here = this.sorted[at].getBoundingClientRect();
    const far = (tile) => {
      const { top, left } = tile.getBoundingClientRect();
      const down = direction * (top - here.top);
      return down > 1 ? 1000 * down + Math.abs(left - here.left) : Infinity;
    };
    const nearest = this.sorted.reduce((a, b) => (far(b) < far(a) ? b : a));
    return far(nearest) < Infinity ? nearest : null;
  }
}
