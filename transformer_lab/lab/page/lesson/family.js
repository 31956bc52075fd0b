// The three architectures: Figure 1 with the boxes crossed out that a family drops, and its masks.

import { make, word, words } from "../elements.js";
import { keepFocus } from "../focus.js";
import { grid } from "./grid.js";
import { slideMask } from "./motion.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";

/** The architectures in each place of this name, from the data of this name. */
export function mountFamily(name) {
  mountEach("family", name, (data) => new Family(data).element);
}

const SAID = [
  ["The paper's model reads one sentence and writes another. It has three kinds of attention, and each has its own mask. The encoder sees all of the source. The decoder sees what it has written so far and, through cross-attention, all of the source. Now press the other two."],
  ["BERT only reads. Nothing is written, so the decoder goes, and cross-attention with it. One stack is left, and each word in it sees the words on both sides. It's trained to guess words that were hidden in its input, so Linear and Softmax sit on top of the encoder now."],
  ["GPT only continues a text. There's no second sentence, so the encoder goes. Cross-attention has nobody to ask, so it goes too, with its Add & Norm. What is left of the layer is BERT's, box for box, and the only difference is the staircase of its mask. Padding needs no mask of its own: it comes at the end, where no earlier word may look, and the outputs of its own rows are never used."],
];

class Family {
  /** `data`: boxes of both columns from the bottom up; and of each family its name, dropped boxes, inputs, masks, and on which column the head stands. */
  constructor(data) {
    this.data = data;
    this.row = data.row;
    this.stage = make("div", { className: "stage" });
    this.sum = make("p", { className: "sum" });
    this.steps = new Steps(data.families.map(({ name }) => name), () => this.show());
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.stage, this.sum);
    this.steps.go(0);
  }

  get family() {
    return this.data.families[this.steps.step];
  }

  show() {
    const said = this.draw();
    if (this.stage.isConnected) this.stage.querySelectorAll(".grid").forEach(slideMask);
    return said;
  }

  choose(row) {
    this.row = row;
    keepFocus(this.element, "next", () => this.steps.said.replaceChildren(...this.draw()));
  }

  draw() {
    const { masks } = this.family;
    const figure = make("div", { className: "figure-1" }, ...Object.keys(this.data.boxes).map((part) => this.buildColumn(part)));
    const drawn = masks.map((mask) => this.buildMask(mask));
    this.stage.replaceChildren(make("div", { className: "line" }, figure, make("div", { className: "masks" }, ...drawn)));
    this.sum.replaceChildren(...this.writeArithmetic());
    return SAID[this.steps.step];
  }

  /** One half of Figure 1, from the bottom up; in the page's order it is read from the bottom, too. */
  buildColumn(part) {
    const boxes = this.data.boxes[part];
    const { dropped, inputs, head } = this.family;
    const box = ([name, text]) => {
      const gone = dropped.includes(name);
      const memory = name === "encoder.add_norm_2" && !dropped.includes("decoder.cross_attention") ? make("i", { className: "memory" }, "memory") : null;
      return make("li", { className: gone ? "gone" : "" }, gone ? make("del", {}, text, make("span", { className: "unread" }, " (dropped)")) : text, memory);
    };
    const inLayer = ([name]) => name.startsWith(`${part}.`);
    const layer = boxes.filter(inLayer);
    const first = boxes.findIndex(inLayer);
    const list = (some, className = "") => make("ol", { className }, ...some.map(box));
    const empty = layer.every(([name]) => dropped.includes(name)) ? " empty" : "";
    return make("div", { className: `column ${part}` },
      make("p", {}, inputs[part] ?? ""),
      list(boxes.slice(0, first)),
      make("div", { className: `layer${empty}` }, list(layer)),
      list(part === head ? this.data.head : []));
  }

  buildMask({ name, rows, columns, seen }) {
    const values = seen.map((line) => line.map((may) => (may ? 1 : null)));
    const row = Math.min(this.row, rows.length - 1);
    return grid({ name, values, rows, columns, shape: [rows.length, columns.length], lit: { row }, choose: (at) => this.choose(at) });
  }

  /** What the chosen word sees in each mask. */
  writeArithmetic() {
    const { masks, dropped } = this.family;
    const all = [...Object.values(this.data.boxes), this.data.head].flat().length;
    const lines = masks.flatMap(({ name, rows, columns, seen }) => {
      const row = Math.min(this.row, rows.length - 1);
      return [`${name}: `, word(rows[row]), " sees ", ...words(columns.filter((_, k) => seen[row][k])), "· "];
    });
    return [...lines, `${all - dropped.length} of ${all} boxes are left`];
  }
}
