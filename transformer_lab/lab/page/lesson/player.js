// The attention player: queries, keys and values, and how one head makes weights and an output of them.

import { decodeBase64 } from "../bytes.js";
import { makePaints } from "../cells.js";
import { make, word } from "../elements.js";
import { dot, softmax } from "../engine/vectors.js";
import { keepFocus } from "../focus.js";
import { meetKeys, mixValues } from "./attending.js";
import { formatBrief, colourText, grid, formatVector } from "./grid.js";
import { matmul } from "./matrices.js";
import { carry, arrive } from "./motion.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";

/** A player in each place of this name, from the data of this name. */
export function mountPlayer(name) {
  mountEach("player", name, (data) => new Player(data).element);
}

class Player {
  /** `data`: words, query, key and value as rows, the names of their numbers, colours; and perhaps X and what X is multiplied by. */
  constructor(data) {
    this.data = data;
    this.row = data.row;
    this.paints = makePaints(decodeBase64(data.colours));
    const { query, key, value } = data;
    this.width = query[0].length;
    this.scores = query.map((q) => key.map((k) => dot(q, k)));
    this.scaled = this.scores.map((row) => row.map((score) => score / Math.sqrt(this.width)));
    this.weights = this.scaled.map(softmax);
    this.output = matmul(this.weights, value);
    this.column = this.strongest;
    this.stages = [...(data.inputs ? ["input"] : []), "projections", "scores", "scaled", "weights", "output"];
    const names = { input: "X", projections: "Q, K, V", scores: "scores", scaled: "scaled scores", weights: "weights", output: "output" };
    this.stage = make("div", { className: "stage" });
    this.steps = new Steps(this.stages.map((stage) => names[stage]), () => this.draw(true));
    this.sum = make("p", { className: "sum" });
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.sum, this.stage);
    this.steps.go(0);
  }

  /** The word that the chosen one looks at most. */
  get strongest() {
    return this.weights[this.row].indexOf(Math.max(...this.weights[this.row]));
  }

  choose(row, column) {
    this.row = row;
    this.column = column ?? this.strongest;
    keepFocus(this.element, "next", () => this.steps.said.replaceChildren(...this.draw(false)));
  }

  isReached(stage) {
    return this.stages.indexOf(stage) <= this.steps.step;
  }

  /** Draw all matrices up to this step; returns what the step says. */
  draw(moving) {
    const { words, query, key, value, inputs, features, gives } = this.data;
    const n = words.length;
    const stage = this.stages[this.steps.step];
    const later = ["scores", "scaled", "weights", "output"].includes(stage);
    const seek = (row, column) => this.choose(row, column);
    const from = { rows: words, lit: { row: this.row }, choose: (row) => this.choose(row) };
    const choose = (row) => this.choose(later ? this.row : row, row);
    const offered = { rows: words, lit: later ? { found: [this.column] } : { row: this.row }, choose };
    const given = { rows: words, lit: stage === "output" ? { found: words.keys() } : later ? {} : { row: this.row }, choose };
    const pairs = { rows: words, columns: words, shape: [n, n], lit: { row: this.row, column: this.column }, choose: seek };
    const shown = (step, values) => (this.isReached(step) ? values : null);
    const made = [
      ...(inputs ? [grid({ name: "X", kind: "input", values: inputs, shape: [n, inputs[0].length], ...from })] : []),
      grid({ name: "Q", kind: "query", values: shown("projections", query), columns: features, shape: [n, this.width], ...from }),
      grid({ name: "K", kind: "key", values: shown("projections", key), columns: features, shape: [n, this.width], ...offered }),
      grid({ name: "V", kind: "value", values: shown("projections", value), columns: gives, shape: [n, value[0].length], ...given }),
    ];
    const after = [
      grid({ name: "scores", values: shown("scores", this.scores), ...pairs }),
      grid({ name: "scaled scores", values: shown("scaled", this.scaled), ...pairs }),
      grid({ name: "weights", kind: "weights", values: shown("weights", this.weights), paints: this.paints, ...pairs }),
      grid({ name: "output", kind: "value", values: shown("output", this.output), columns: gives, shape: [n, value[0].length], ...from }),
    ];
    this.stage.replaceChildren(make("div", { className: "line" }, ...made), make("div", { className: "line" }, ...after));
    this.sum.replaceChildren(...this.writeArithmetic(stage));
    if (moving && this.stage.isConnected) this.animateStage(stage);
    return this.describeStep(stage);
  }

  /** What moves when a step begins: the chosen row, to where it is used; the other rows wait for it. */
  animateStage(stage) {
    const { row } = this;
    const rowsOf = (name) => [...this.stage.querySelectorAll(".grid")[this.findGridIndex(name)].querySelectorAll("tbody tr")];
    const cells = (name, at = row) => [...rowsOf(name)[at].querySelectorAll("td")];
    const each = (name) => this.data.words.map((_, at) => cells(name, at));
    const others = (name) => each(name).filter((_, at) => at !== row).flat();
    const brief = (numbers) => numbers.map((number) => formatBrief(number));
    const moves = {
      projections: () => this.data.inputs && ["query", "key", "value"].map((kind) => this.carryRow(cells("input"), cells(kind), kind)).at(-1),
      scores: () => meetKeys(cells("query"), each("key"), cells("scores"), this.data.key.map((key) => brief(key.map((number, i) => number * this.data.query[row][i])))),
      scaled: () => this.carryRow(cells("scores"), cells("scaled")),
      weights: () => this.carryRow(cells("scaled"), cells("weights")),
      output: () => mixValues(cells("weights"), each("value"), cells("output"), this.data.value.map((value, k) => ({ share: this.weights[row][k], texts: brief(value.map((number) => number * this.weights[row][k])) }))),
    };
    const end = moves[stage]?.();
    if (end) arrive(stage === "projections" ? ["query", "key", "value"].flatMap(others) : others(stage), end);
  }

  carryRow(from, to, kind) {
    const end = carry(from, to, { kind });
    arrive(to, end);
    return end;
  }

  findGridIndex(name) {
    const order = [...(this.data.inputs ? ["input"] : []), "query", "key", "value", "scores", "scaled", "weights", "output"];
    return order.indexOf(name);
  }

  /** What a step is for. */
  describeStep(stage) {
    const [row, column] = [quoteWord(this.data.words[this.row]), quoteWord(this.data.words[this.column])];
    return {
      input: ["Each word comes in as a row of numbers. A row describes only its own word, and knows nothing about the others yet."],
      projections: ["Each word has three vectors. Its ", colourText("query"), " says what it's looking for, its ", colourText("key"), " says what it offers, and its ", colourText("value"), " is what it gives to a word that finds it."],
      scores: ["The query of ", row, " meets the key of each word. Multiply them number by number and add up the products. The better a key fits the query, the larger the score. The values play no part yet."],
      scaled: [`Each score is divided by √${this.width}, because a query and a key have ${this.width} numbers each. The more products you add up, the larger the sums get, and the root makes up for that.`],
      weights: ["The softmax turns each row into shares. It raises e to the power of each number, and divides each result by the sum of the row's results. So no share is negative, even a score of 0 gets one, and the row sums to 1 (but for rounding). ", row, " gives ", column, ` a share of ${formatBrief(this.weights[this.row][this.column])}.`],
      output: ["Each value is multiplied by its share, and the products are added up. So ", row, " gets a new vector, with something from every word in it. The queries and keys only decided the shares."],
    }[stage];
  }

  /** The numbers of the chosen row, worked out. */
  writeArithmetic(stage) {
    const { words, query, key, value, inputs } = this.data;
    const { row, column } = this;
    const [q, k] = [query[row], key[column]];
    const exponentials = this.scaled[row].map(Math.exp);
    const total = exponentials.reduce((sum, part) => sum + part, 0);
    const products = Array.from(q, (part, i) => `${formatBrief(part)}·${formatBrief(k[i])}`);
    const of = (kind, i) => make("span", {}, colourText(kind), " of ", quoteWord(words[i]));
    return {
      input: [quoteWord(words[row]), ` is ${inputs && formatVector(inputs[row])}`],
      projections: inputs
        ? [quoteWord(words[row]), ` ${formatVector(inputs[row])} times W_Q is its `, colourText("query"), ` ${formatVector(q)}; times W_K its `, colourText("key"), ` ${formatVector(key[row])}; times W_V its `, colourText("value"), ` ${formatVector(value[row])}`]
        : [of("query", row), ` ${formatVector(q)}; `, of("key", row), ` ${formatVector(key[row])}; `, of("value", row), ` ${formatVector(value[row])}`],
      scores: [of("query", row), " · ", of("key", column), ` = ${products.join(" + ")} = ${formatBrief(this.scores[row][column])}`],
      scaled: [`${formatBrief(this.scores[row][column])} ÷ √${this.width} = ${formatBrief(this.scores[row][column])} ÷ ${formatBrief(Math.sqrt(this.width))} = ${formatBrief(this.scaled[row][column])}`],
      weights: [`e^${formatBrief(this.scaled[row][column])} ÷ (${this.scaled[row].map((score) => `e^${formatBrief(score)}`).join(" + ")}) = ${formatBrief(exponentials[column])} ÷ ${formatBrief(total)} = ${formatBrief(this.weights[row][column])}`],
      output: [this.weights[row].map((weight, i) => `${formatBrief(weight, 3)} · ${formatVector(value[i])}`).join(" + "), ` = ${formatVector(this.output[row])}`],
    }[stage];
  }
}

const quoteWord = (text) => make("span", {}, "“", word(text), "”");
