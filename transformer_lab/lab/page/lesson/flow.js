// The forward pass as a flow: the boxes of Figure 1, and of the chosen one the matrix that comes out of it.

import { decodeBase64 } from "../bytes.js";
import { makePaints, weightCell } from "../cells.js";
import { make, OWN_KEYS, svg, word, words } from "../elements.js";
import { keepFocus } from "../focus.js";
import { formatNumber } from "../text.js";
import { moveWords } from "./flow_motion.js";
import { formatBrief } from "./grid.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";

const LIMITS = [0.3, 1, 3]; // ends of the colours; a number beyond the last one has its colour
const PITCH = 46; // from a box to the next one, as in flow.css
const BETWEEN = 36; // the two columns, likewise

/** A drawing in each place of this name, from the data of this name. */
export function mountFlow(name) {
  mountEach("flow", name, (data) => new Flow(data).element);
}

class Flow {
  /** `data`: the words of both sides, the words written, the boxes in the order of the pass, d_model and the colours of weights. */
  constructor(data) {
    this.data = data;
    this.boxes = data.boxes;
    this.paints = makePaints(decodeBase64(data.colours));
    this.rows = { encoder: Math.min(1, data.sides.encoder.length - 1), decoder: Math.min(1, data.sides.decoder.length - 1) };
    this.panel = make("div", { className: "panel" });
    this.stage = make("div", { className: "stage" });
    this.sum = make("p", { className: "sum" });
    this.steps = new Steps(data.boxes.map((box) => box.text), () => this.show());
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.stage, this.sum);
    this.stage.append(this.buildFigure(), this.panel);
    this.steps.go(0);
  }

  show() {
    if (this.stage.isConnected) moveWords(this);
    return this.draw();
  }

  /** The steps' buttons, as the boxes of Figure 1: two columns, to be read from the bottom up. */
  buildFigure() {
    const column = (side) => {
      const own = this.boxes.flatMap((box, i) => (box.side === side ? [i] : []));
      const made = own.map((i) => {
        const { shape, name } = this.boxes[i];
        const part = name.split(".")[1]?.replace(/_\d$/, "") ?? name;
        const button = this.steps.buttons[i];
        button.append(make("small", {}, `${shape[0]} × ${shape[1]}`));
        if (part.startsWith("add_norm")) button.append(make("i", { className: "skip" }));
        if (i === this.memory) button.append(this.buildArrow());
        button.classList.add("box");
        button.classList.toggle("rest", part === "rest"); // a page may have a look of its own for "output"
        Object.entries(OWN_KEYS).forEach(([key, value]) => button.setAttribute(key, value));
        button.addEventListener("click", () => this.steps.said.scrollIntoView({ block: "nearest" })); // on a phone it's above
        return button;
      });
      const over = make("span", {}, side === "encoder" ? "memory" : "next word");
      return make("div", { className: `column ${side}` }, over, ...made.toReversed());
    };
    const under = (side) => make("span", { className: `under ${side}` }, ...words(this.data.sides[side]));
    const made = make("div", { className: "figure", role: "group", "aria-label": "Boxes of Figure 1, from the bottom up" }, column("encoder"), column("decoder"), under("encoder"), under("decoder"));
    made.addEventListener("keydown", (event) => this.steps.onKey(event));
    return made;
  }

  /** The last box of the encoder: what comes out of it is the memory. */
  get memory() {
    return this.boxes.findLastIndex((box) => box.side === "encoder");
  }

  /** From the memory to cross-attention. */
  buildArrow() {
    const decoder = this.boxes.filter((box) => box.side === "decoder");
    const down = PITCH * (this.memory - decoder.findIndex((box) => box.name === "decoder.cross_attention"));
    const d = `M0 2H${BETWEEN / 2}V${down + 2}H${BETWEEN - 2}m-6 -5l6 5l-6 5`;
    return svg("svg", { class: "to-memory", width: BETWEEN, height: down + 9, "aria-hidden": "true" }, svg("path", { d }));
  }

  get box() {
    return this.boxes[this.steps.step];
  }

  get row() {
    return this.rows[this.box.side];
  }

  choose(side, row) {
    this.rows[side] = row;
    keepFocus(this.element, "next", () => this.steps.said.replaceChildren(...this.draw()));
  }

  draw() {
    const { box } = this;
    this.limit = LIMITS.find((limit) => box.values.flat().every((value) => Math.abs(value) <= limit)) ?? LIMITS.at(-1);
    const cells = box.columns ? (row, j) => this.buildLastCell(row, j) : (row, j) => this.buildCell(box.values[row][j]);
    const drawn = box.values[0].length;
    const whole = drawn === box.shape[1];
    const part = box.columns ? `${drawn} of the ${box.shape[1]} columns are drawn, those of the most probable words` : `the first ${drawn} of ${box.shape[1]} columns are drawn`;
    const caption = make("figcaption", {}, make("b", {}, box.text), ` ${box.shape[0]} words × ${box.shape[1]}`, make("small", {}, whole ? "" : part));
    const table = this.buildTable("out", box.side, drawn, cells, box.columns);
    const scale = make("small", { className: "scale" }, `blue: −${this.limit} or less, no colour: 0, orange: ${this.limit} or more; boxes with small numbers have a finer scale`);
    this.panel.replaceChildren(...(box.maps ? [this.buildMaps()] : []), make("figure", {}, caption, table, ...(box.columns ? [] : [scale])));
    this.sum.replaceChildren(...this.writeArithmetic());
    return this.describeStep();
  }

  /** A table with a line for each word of a side, whose words are buttons. */
  buildTable(name, side, width, cellOf, columns = []) {
    const tokens = this.data.sides[side];
    const lines = tokens.map((token, row) => {
      const lit = this.rows[side] === row;
      const button = make("button", { type: "button", "data-control": `${name} ${row}`, "aria-pressed": String(lit) }, word(token));
      button.addEventListener("click", () => this.choose(side, row));
      return make("tr", { className: lit ? "lit" : "" }, make("th", { scope: "row" }, button), ...Array.from({ length: width }, (_, j) => cellOf(row, j)));
    });
    const head = make("tr", {}, make("td"), ...columns.map((text) => make("th", { scope: "col" }, word(text))));
    return make("table", { className: columns === this.box.columns ? "last" : "" }, ...(columns.length ? [make("thead", {}, head)] : []), make("tbody", {}, ...lines));
  }

  buildCell(value) {
    const cell = make("td", { className: value < 0 ? "below" : "above" });
    cell.style.setProperty("--size", Math.min(1, Math.abs(value) / this.limit).toFixed(2));
    return cell;
  }

  buildLastCell(row, j) {
    const value = this.box.values[row][j];
    if (this.box.name === "softmax") return weightCell(value, this.paints, true);
    const best = value === Math.max(...this.box.values[row]);
    return make("td", { className: `score${best ? " best" : ""}` }, formatBrief(value, 1));
  }

  buildMaps() {
    const { box } = this;
    const keys = this.data.sides[box.name === "decoder.cross_attention" ? "encoder" : box.side];
    const made = box.maps.map((map, head) => {
      const table = this.buildTable(`head ${head}`, box.side, keys.length, (row, j) => weightCell(map[row][j], this.paints, true), keys);
      return make("figure", {}, make("figcaption", {}, make("b", {}, `weights, head ${head + 1}`)), table);
    });
    return make("div", { className: "maps" }, ...made);
  }

  /** What a box is for. */
  describeStep() {
    const { box, data } = this;
    const kind = box.name.replace(/^(source|target)_/, "").replace(/_\d$/, "");
    const foreign = box.side === "encoder" ? "source" : "target";
    return {
      embedding: [box.side === "encoder" ? "The English words come in at the bottom left. " : "Now the right side, which reads what has been written so far, moved one place to the right. ", `Each word becomes a row of ${data.d_model} numbers. It's looked up in the table of ${foreign} words and multiplied by √${data.d_model}. So far, nothing in a row says where its word stands.`],
      positions: ["Each place has a pattern of its own, and now that pattern is added. So if a word stood somewhere else, its row would be different."],
      "encoder.self_attention": ["The English words look at each other. Each row of weights sums to 1 and says what share a word takes of each word's value, its own included. The results of all heads are then combined into the matrix. Words meet in no other box of the encoder."],
      "decoder.self_attention": ["The French words look at each other in the same way, except that no word may look at a later one (the striped cells). When the model translates, the later ones aren't written yet."],
      "decoder.cross_attention": ["Here the two sides meet. The French rows ask, with queries from the box below, and the English columns answer, with keys and values from the memory. That's how each French row gets what it needs from the English sentence."],
      "encoder.add_norm": this.describeAddNorm(),
      "decoder.add_norm": this.describeAddNorm(),
      "encoder.feed_forward": this.describeFeedForward(),
      "decoder.feed_forward": this.describeFeedForward(),
      "encoder.rest": ["The second layer has the same four boxes, with numbers of its own. What comes out is the ", make("b", {}, "memory"), ", and it's all that the decoder will see of the English side."],
      "decoder.rest": ["The second layer has the same six boxes, with numbers of its own. By now each row stands for the word that comes next."],
      output: [`Each row is compared with a vector for every French word. That gives ${box.shape[1]} scores a row, which are called logits. So here the matrix becomes as wide as the vocabulary.`],
      softmax: ["The softmax turns the scores of each row into probabilities, which sum to 1 over all words. The most probable word of the last row is written. Then it goes in at the bottom right, and the right side runs again, until <eos> is the most probable."],
    }[kind];
  }

  describeAddNorm() {
    return ["Add takes what came out of the box below and adds what went into it (that's the line around the box), so nothing is lost. Norm then shifts and stretches each row, so that its numbers have mean 0 and variance 1, and applies a learned gain and bias."];
  }

  describeFeedForward() {
    const { box, data } = this;
    return [`Each row goes through two matrices by itself. They take ${data.d_model} numbers to ${box.inside} and back to ${data.d_model}, and what's negative in between becomes 0. Words don't meet here.`];
  }

  /** The first number of the chosen word, worked out where it can be. */
  writeArithmetic() {
    const { box, row, data } = this;
    const { step } = this.steps;
    const token = word(data.sides[box.side][row]);
    const first = (i) => this.boxes[i].values[row][0];
    const signed = (value) => (value < 0 ? `− ${formatBrief(-value)}` : `+ ${formatBrief(value)}`);
    const begin = box.values[row].slice(0, 4).map((value) => formatBrief(value)).join(", ");
    if (box.columns) {
      const best = box.values[row].indexOf(Math.max(...box.values[row]));
      return ["After ", ...words(data.sides.decoder.slice(0, row + 1)), "the most probable word is ", word(box.columns[best]), box.name === "softmax" ? `, with a probability of ${formatNumber(box.values[row][best])}` : `, with a score of ${formatBrief(box.values[row][best], 1)}`];
    }
    if (box.name.endsWith("_positions")) return [token, `, its first number: ${formatBrief(first(step - 1))} ${signed(first(step) - first(step - 1))} (for place ${row}) = ${formatBrief(first(step))}`];
    if (box.name.includes("add_norm")) {
      const total = first(step - 2) + first(step - 1);
      return [token, `, its first number: ${formatBrief(first(step - 2))} ${signed(first(step - 1))} = ${formatBrief(total)}; after the norm ${formatBrief(first(step))}. The ${box.shape[1]} numbers of the row now have mean ${formatBrief(box.mean[row])} and standard deviation ${formatBrief(box.spread[row])} (gain and bias included).`];
    }
    if (box.maps) {
      const keys = data.sides[box.name === "decoder.cross_attention" ? "encoder" : box.side];
      const most = box.maps.map((map, head) => {
        const best = map[row].indexOf(Math.max(...map[row]));
        return make("span", {}, head ? ", " : " ", `in head ${head + 1} mostly from `, word(keys[best]), ` (${formatNumber(map[row][best])})`);
      });
      return [token, " takes", ...most];
    }
    if (box.active) return [token, `: ${box.active[row]} of the ${box.inside} numbers in between aren't 0. The row that comes out begins with ${begin}.`];
    return [token, `: ${begin}, …`];
  }
}
