// One picture for all tiles of a kind: the browser spends more on fifty canvases than on all else.

import { encodeBitmap } from "../painting.js";

const MOST_PIXELS = 64; // a tile of more tokens shows the largest weight of each block: none is lost between pixels
const WAIT = 100; // milliseconds

export class TilePictures {
  constructor(selection) {
    this.selection = selection;
    this.made = new Map(); // by record, kind and palette
    this.forgotten = new Set(); // of other records; one of them may still be on the screen
  }

  /** The picture of a kind's heads, layer by layer: { image, loaded }, where `loaded` is a promise. */
  getPicture(kind) {
    const { record, number, settings, colours } = this.selection;
    const name = `${number} ${kind} ${settings.palette} ${settings.words}`;
    if (!this.made.has(name)) {
      const across = Math.max(...record.heads[kind]);
      const file = encodeBitmap(record.maps[kind].flat(), colours, across, MOST_PIXELS);
      const image = new Image();
      const loaded = new Promise((done) => (image.onload = image.onerror = done));
      image.src = URL.createObjectURL(file);
      this.made.set(name, { image, loaded });
    }
    return this.made.get(name);
  }

  /** Make the pictures of all kinds ready, soon. */
  prepare() {
    const all = () => Object.keys(this.selection.record.maps).forEach((kind) => this.getPicture(kind));
    this.soon = setTimeout(all, WAIT);
  }

  forget() {
    clearTimeout(this.soon);
    for (const { image } of this.made.values()) this.forgotten.add(image.src);
    this.made.clear();
  }

  /** Give back the memory of what is forgotten, but for the picture on the screen. */
  release(shown) {
    for (const url of this.forgotten) {
      if (url === shown) continue;
      URL.revokeObjectURL(url);
      this.forgotten.delete(url);
    }
  }
}
