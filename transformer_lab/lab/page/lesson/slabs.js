// Heads as slabs: the columns of Q, K and V cut by head, moved forward, each slab on its own, and merged again.

import { decodeBase64 } from "../bytes.js";
import { makePaints } from "../cells.js";
import { make, toggle, word } from "../elements.js";
import { keepFocus } from "../focus.js";
import { formatBrief, grid, formatVector } from "./grid.js";
import { concatColumns } from "./matrices.js";
import { attendHeadByHead, multiHeadAttention } from "./slabs_numbers.js";
import { moveSlabs } from "./slabs_motion.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";

/** Slabs in each place of this name, from the data of this name. */
export function mountSlabs(name) {
  mountEach("slabs", name, (data) => new Slabs(data).element);
}

const STAGES = { x: "x", loop: "1, 2: heads", product: "3: product", cut: "4: cut", slabs: "swap", weights: "attend", mixed: "mix", merged: "merge", result: "× W_O" };

class Slabs {
  /** `data`: words, x, the heads' query, key and value matrices, the output matrix, colours. */
  constructor(data) {
    this.data = data;
    this.heads = data.query.length;
    this.width = data.query[0][0].length;
    this.word = data.row; // lit in each matrix whose rows are words
    this.head = 0;
    this.row = data.row; // of the slab whose numbers are worked out
    this.swap = true;
    this.paints = makePaints(decodeBase64(data.colours));
    this.right = multiHeadAttention(data);
    this.wrong = multiHeadAttention(data, false);
    this.loop = attendHeadByHead(data).flat();
    const ways = [[true, "reshape, then swap"], [false, "reshape alone"]];
    this.ways = ways.map(([swap, text]) => toggle(`way ${swap}`, text, () => this.swap === swap, () => this.choose(() => this.chooseWay(swap), true)));
    this.way = make("div", { className: "ways", role: "group", "aria-label": "How heads are made" }, ...this.ways);
    this.stage = make("div", { className: "stage" });
    this.sum = make("p", { className: "sum" });
    this.steps = new Steps(Object.values(STAGES), () => this.draw(true));
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.way, this.stage, this.sum);
    this.steps.go(0);
  }

  get at() {
    return this.swap ? this.right : this.wrong;
  }

  choose(change, moving = false) {
    change();
    keepFocus(this.element, "next", () => this.steps.said.replaceChildren(...this.draw(moving)));
  }

  /** A word, in a matrix whose rows are words: of the slabs, its row in the chosen head, or the first that has some of it. */
  chooseWord(place) {
    this.word = place;
    const rows = (head) => this.findRows(head, place);
    if (!rows(this.head).length) this.head = this.data.query.findIndex((_, head) => rows(head).length);
    [this.row] = rows(this.head);
  }

  /** A row of a slab, and the word of which it has numbers. */
  chooseRow(head, row) {
    Object.assign(this, { head, row, word: this.findOrigin(head, row).word });
  }

  /** How the slabs are made; the word stays. */
  chooseWay(swap) {
    this.swap = swap;
    this.chooseWord(this.word);
  }

  /** The rows of a slab that have numbers of a word. */
  findRows(head, place) {
    return [...this.data.words.keys()].filter((row) => this.findOrigin(head, row).word === place);
  }

  /** Where the numbers of a slab's row come from: the word, and the head to which its columns belong. */
  findOrigin(head, row) {
    if (this.swap) return { word: row, block: head };
    const at = head * this.data.words.length + row;
    return { word: Math.floor(at / this.heads), block: at % this.heads };
  }

  draw(moving) {
    const stage = Object.keys(STAGES)[this.steps.step];
    if (this.steps.step < 4) this.chooseWay(true); // the mistake is seen where its button is
    this.way.hidden = this.steps.step < 4;
    this.ways.forEach((button) => button.refresh());
    this.stage.replaceChildren(make("div", { className: "line" }, ...this.buildStage(stage)));
    for (const cell of this.stage.querySelectorAll(".cut td")) if (cell.cellIndex > 1 && cell.cellIndex % this.width === 1 % this.width) cell.classList.add("gap");
    this.sum.replaceChildren(...this.writeArithmetic(stage));
    if (moving && this.stage.isConnected) moveSlabs(this, stage);
    return this.describeStep(stage);
  }

  /** What stands on the stage at a step. */
  buildStage(stage) {
    const { data } = this;
    const blocks = Array.from({ length: this.heads * this.width }, (_, i) => String(i));
    const colour = (_, column) => data.heads[Math.floor(column / this.width)];
    const counted = (matrix) => matrix.map((_, i) => String(i));
    const whole = (name, values, kind = "", tint = colour) => this.buildGrid({ name, kind, values, columns: values[0].length === blocks.length ? blocks : counted(values[0]), tint });
    const weight = (name, values, tint) => this.buildGrid({ name, values, rows: counted(values), lit: {}, choose: null, tint });
    const each = (draw) => data.query.map((_, head) => draw(head));
    const x = whole("x", data.x, "", null);
    return {
      x: () => [x],
      loop: () => [x, ...each((head) => this.buildCard(head, weight(`W_Q[${head}]`, data.query[head], () => data.heads[head]), this.buildSlab(`q ${head}`, head, this.right.q[head], "query")))],
      product: () => [x, weight("W_Q", concatColumns(data.query), colour), whole("Q", this.right.Q, "query")],
      cut: () => ["Q", "K", "V"].map((name, i) => make("div", { className: "cut" }, whole(name, this.right[name], ["query", "key", "value"][i]))),
      slabs: () => [whole("Q", this.right.Q, "query"), ...each((head) => this.buildCard(head, this.buildSlab(`q ${head}`, head, this.at.q[head], "query")))],
      weights: () => each((head) => this.buildCard(head, pair(this.buildSlab(`q ${head}`, head, this.at.q[head], "query"), this.buildSlab(`k ${head}`, head, this.at.k[head], "key")), this.buildWeightsGrid(head))),
      mixed: () => each((head) => this.buildCard(head, this.buildWeightsGrid(head), pair(this.buildSlab(`v ${head}`, head, this.at.v[head], "value"), this.buildSlab(`out ${head}`, head, this.at.mixed[head], "value")))),
      merged: () => [...each((head) => this.buildCard(head, this.buildSlab(`out ${head}`, head, this.at.mixed[head], "value"))), whole("merged", this.at.merged, "value", (row, column) => this.findMergedColour(row, column))],
      result: () => [whole("merged", this.at.merged, "value", (row, column) => this.findMergedColour(row, column)), weight("W_O", data.output), whole("output", this.at.result, "", null)],
    }[stage]();
  }

  /** Which slab a number of the merged matrix comes from. */
  findMergedColour(row, column) {
    const width = this.data.value[0][0].length;
    const head = this.swap ? Math.floor(column / width) : Math.floor((row * this.heads * width + column) / (this.data.words.length * width));
    return this.data.heads[head];
  }

  buildGrid(options) {
    const { words } = this.data;
    const { values } = options;
    return grid({ rows: words, shape: [values.length, values[0].length], lit: { row: this.word }, choose: (row) => this.choose(() => this.chooseWord(row)), digits: 1, ...options });
  }

  /** A head's matrix; each number keeps the colour of its columns. */
  buildSlab(name, head, values, kind) {
    const mixed = name.startsWith("out");
    const tint = (row) => this.data.heads[mixed ? head : this.findOrigin(head, row).block];
    return this.buildGrid({ name, kind, values, tint, ...this.makeRowOptions(head) });
  }

  /** The words of a slab's rows, those that are lit, and what a press on one does. */
  makeRowOptions(head) {
    const rows = this.data.words.map((_, row) => this.data.words[this.findOrigin(head, row).word]);
    return { rows, lit: { rows: this.findRows(head, this.word) }, choose: (row) => this.choose(() => this.chooseRow(head, row)) };
  }

  buildWeightsGrid(head) {
    const found = this.makeRowOptions(head);
    return this.buildGrid({ name: `weights ${head}`, values: this.at.weights[head], columns: found.rows, paints: this.paints, ...found });
  }

  buildCard(head, ...parts) {
    return make("div", { className: "slab", style: `--head: ${this.data.heads[head]}; --place: ${head}` }, make("p", { className: "name" }, `head ${head}`), ...parts);
  }

  describeStep(stage) {
    const n = this.data.words.length;
    const [h, d] = [this.heads, this.width];
    const per = n * d; // numbers in a slab
    return {
      x: [`This is one sentence of the batch, with ${n} words and a row of ${this.data.x[0].length} numbers for each. ${h} heads will look at it, each in its own way. You can write that in four ways, and we'll climb them like the rungs of a ladder.`],
      loop: [rung("1"), ` Each head has a matrix of its own. It has a row for each number of a word's vector, because each of its ${d} columns reads all of these numbers. A loop makes the heads' queries one after the other. (Keys and values have their own matrices.) `, rung("2"), " Do the same for all sentences at once. We follow just the first."],
      product: [rung("3"), ` Put the heads' matrices side by side, and a single product makes the queries of all heads. Each number of Q has the colour of its head, so you see that a head is a block of ${d} columns. K and V are made in the same way, and you'll see them in the next step.`],
      cut: [rung("4"), ` The first cut is a reshape. It reads the last axis of Q, K and V as two, so that (${n}, ${h * d}) becomes (${n}, ${h}, ${d}). No number moves. All that's new are the gaps between the columns.`],
      slabs: this.swap
        ? [rung("4"), ` Then swap two axes. The heads move to the front, and (${n}, ${h}, ${d}) becomes (${h}, ${n}, ${d}). Each slab has a single colour, and all ${n} words are in it. Now press `, make("b", {}, "reshape alone"), "."]
        : [`This is the mistake: a reshape to (${h}, ${n}, ${d}), without a swap. The numbers lie in memory word after word, so head 0 gets the first ${per} of them, which are ${this.describeFirst(per)}. Its colours are mixed, because each row is just a piece of a word, and every word has ${h} pieces. No error is raised.`],
      weights: this.swap
        ? [rung("4"), ` Each slab is a small attention of its own, of width ${d}. Its queries meet its own keys, and its own softmax makes the weights, so no head sees another's numbers. All slabs are computed at once, like a batch.`]
        : [`Attention runs on these slabs, too. But now pieces of a word look at pieces of the same word, and a slab knows only some of the words. Head 0 has nothing but pieces of ${listNames(this.listWords(0))}.`],
      mixed: this.swap
        ? [rung("4"), ` Each slab mixes its own values with its own weights. So each word gets ${h} answers of ${d} numbers each.`]
        : [`Each slab mixes what it has, so there's an answer for each piece. In head 0 the values are pieces of ${listNames(this.listWords(0))}, so whatever the weights are, no answer can know about another word.`],
      merged: this.swap
        ? [rung("4"), " Swap back and reshape. Now the outputs stand side by side, in the columns they were cut from. But the heads still haven't met."]
        : [`A reshape puts each answer back where its question was cut out, so the shape is right, and each word has the answers to its own pieces. But the row of ${this.data.words[this.word]} was mixed from pieces of ${listNames(this.listMixedWords(this.word))}, which come from different columns.`],
      result: this.swap
        ? [rung("4"), " In the last product they meet, because each column of W_O reads the numbers of all heads. The output is the same as that of the loop in rung 1."]
        : [`The shape is right, but the numbers aren't: they're off by up to ${this.difference}. And no error was raised.`],
    }[stage];
  }

  /** "word 0 and 4 numbers of word 1": whose numbers the first in memory are. */
  describeFirst(count) {
    const width = this.heads * this.width;
    const [whole, rest] = [Math.floor(count / width), count % width];
    const names = this.data.words.slice(0, whole).map((name) => `all of ${name}`);
    if (rest) names.push(`${rest} numbers of ${this.data.words[whole]}`);
    return listNames(names);
  }

  /** The words of which a slab has numbers. */
  listWords(head) {
    return [...new Set(this.makeRowOptions(head).rows)];
  }

  /** The words of which there is something in a word's row, when it is merged without the swap back. */
  listMixedWords(place) {
    const heads = this.data.query.flatMap((_, head) => (this.findRows(head, place).length ? [head] : []));
    return [...new Set(heads.flatMap((head) => this.listWords(head)))];
  }

  /** How far the output is from the loop's. */
  get difference() {
    const most = Math.max(...this.at.result.flat().map((value, i) => Math.abs(value - this.loop[i])));
    return most < 1e-12 ? "less than 1e-12" : formatBrief(most);
  }

  /** The numbers of the chosen word and head, worked out. */
  writeArithmetic(stage) {
    const { data, row, head, width, at } = this;
    const name = word(data.words[this.word]);
    const long = (numbers, others) => numbers.map((value, i) => `${formatBrief(value)}·${formatBrief(others[i])}`).join(" + ");
    const column = (matrix, i) => matrix.map((line) => line[i]);
    const { word: from, block } = this.findOrigin(head, row);
    const [low, high] = [block * width, (block + 1) * width - 1];
    return {
      x: [name, ` is ${formatVector(data.x[this.word])}`],
      loop: [name, `, first number of its query in head ${head}: ${long(data.x[this.word], column(data.query[head], 0))} = ${formatBrief(at.Q[this.word][head * width])}`],
      product: [name, ` times W_Q is ${formatVector(this.right.Q[this.word])}: ${width} numbers for each head`],
      cut: [name, `: ${formatVector(this.right.Q[this.word])} → `, data.query.map((_, i) => formatVector(this.right.q[i][this.word])).join(" ")],
      slabs: [`Row ${row} of head ${head}: ${formatVector(at.q[head][row])} = `, word(data.words[from]), `, columns ${low} to ${high}`, this.swap ? "" : from === row && block === head ? ", as it should be" : `; it should be ${data.words[row]}, columns ${head * width} to ${(head + 1) * width - 1}`],
      weights: [`Head ${head}, row ${row}: scores ÷ √${width} = ${formatVector(at.k[head].map((k) => k.reduce((sum, value, i) => sum + value * at.q[head][row][i], 0) / Math.sqrt(width)))}, weights ${formatVector(at.weights[head][row])}`],
      mixed: [`Head ${head}, row ${row}: ${at.weights[head][row].map((weight, i) => `${formatBrief(weight)}·${formatVector(at.v[head][i])}`).join(" + ")} = ${formatVector(at.mixed[head][row])}`],
      merged: ["Row of ", name, `: ${formatVector(at.merged[this.word])}`],
      result: [name, `, first number: ${long(at.merged[this.word], column(data.output, 0))} = ${formatBrief(at.result[this.word][0])}. Largest difference from the loop: ${this.difference}`],
    }[stage];
  }
}

const pair = (...parts) => make("div", { className: "pair" }, ...parts);
const listNames = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");
const rung = (number) => make("b", {}, `Rung ${number}.`);
