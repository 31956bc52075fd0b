// The decoder stepper: what is read, what is asked, what may be seen, and where each place looks.

import { decodeBase64 } from "../bytes.js";
import { makePaints } from "../cells.js";
import { action, make, OWN_KEYS, word, words } from "../elements.js";
import { keepFocus } from "../focus.js";
import { formatProbability } from "../text.js";
import { formatBrief, colourText, grid } from "./grid.js";
import { arrive, carry, slideIn, slideMask } from "./motion.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";

/** A stepper in each place of this name, from the data of this name. */
export function mountStepper(name) {
  mountEach("stepper", name, (data) => new Stepper(data).element);
}

const TITLES = { sentence: "sentences", shift: "shift", mask: "mask", self: "self-attention", cross: "cross-attention", next: "answer", writing: "write" };

class Stepper {
  /** `data`: source, read and asked words, the weights of a self- and of a cross-attention head, perhaps next words. */
  constructor(data) {
    this.data = data;
    this.row = data.row;
    this.paints = makePaints(decodeBase64(data.colours));
    this.stages = Object.keys(TITLES).filter((stage) => stage !== "next" || data.next);
    const last = data.read.length - 1;
    this.range = make("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "place", "data-control": "range", ...OWN_KEYS });
    this.range.addEventListener("input", () => this.choose(Number(this.range.value), true));
    this.on = action("on", "", "Go to the next place", () => this.choose(Math.min(this.row + 1, last), true));
    this.at = make("output");
    this.place = make("div", { className: "place" }, make("label", {}, "place ", this.range), this.at, this.on);
    this.stage = make("div", { className: "stage" });
    this.sum = make("p", { className: "sum" });
    this.steps = new Steps(this.stages.map((stage) => TITLES[stage]), () => this.draw(true));
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.place, this.stage, this.sum);
    this.steps.go(0);
  }

  get now() {
    return this.stages[this.steps.step];
  }

  choose(row, moving = false) {
    const forward = moving && row === this.row + 1;
    this.row = row;
    keepFocus(this.element, "range", () => this.steps.said.replaceChildren(...this.draw(false)));
    if (forward && this.now === "writing") this.moveWritten(row);
  }

  draw(moving) {
    const { read, asked } = this.data;
    const stage = this.now;
    this.place.hidden = stage === "sentence";
    this.range.value = this.row;
    const verb = stage === "writing" ? "writes" : "is asked for";
    this.range.setAttribute("aria-valuetext", `${this.row}: reads ${read[this.row]}, ${verb} ${asked[this.row]}`);
    this.at.replaceChildren(`${this.row}: reads `, word(read[this.row]), `, ${verb} `, word(asked[this.row]));
    this.on.textContent = stage === "writing" ? "Write the next word ▶" : "Next place ▶";
    this.on.disabled = this.row === read.length - 1;
    this.stage.replaceChildren(...this.buildStage(stage));
    this.sum.replaceChildren(...this.writeArithmetic(stage));
    if (moving && this.stage.isConnected) {
      if (stage === "shift") read.slice(1).forEach((_, i) => this.carryWord(i + 1, 80 * i));
      if (stage === "mask") slideMask(this.stage.querySelector(".grid"));
    }
    return this.describeStep(stage);
  }

  /** A word that was asked for goes to the place where it is read; returns when it is there. */
  carryWord(place, delay = 0) {
    const [above, below] = this.stage.querySelectorAll(".strip tbody tr");
    const [from, to] = [below.cells[place], above.cells[place + 1]];
    const end = carry([from], [to], { kind: "query", delay });
    arrive([to], end);
    return end;
  }

  /** A word that is written is read next, and then both matrices get its row, while those above stay. */
  moveWritten(row) {
    const end = this.carryWord(row);
    const added = [...this.stage.querySelectorAll(".grid tbody tr:last-child")].flatMap((line) => [...line.cells]);
    slideIn(added, { x: -40, delay: end });
  }

  buildStage(stage) {
    const { source, read, asked, self, cross } = this.data;
    const shown = stage === "writing" ? this.row + 1 : read.length;
    const rows = { rows: read.slice(0, shown), ends: asked.slice(0, shown), lit: { row: this.row }, choose: (row) => this.choose(row) };
    const seen = self.map((weights, i) => weights.map((weight, k) => (k > i ? null : weight))).slice(0, shown);
    const mask = seen.map((weights) => weights.map((weight) => (weight == null ? null : 1)));
    const own = (name, values, paints) => grid({ name, values: values.map((line) => line.slice(0, shown)), columns: read.slice(0, shown), shape: [shown, shown], paints, ...rows });
    const other = () => grid({ name: "cross-attention", values: cross.slice(0, shown), columns: source, shape: [shown, source.length], paints: this.paints, ...rows });
    const line = (...parts) => make("div", { className: "line" }, ...parts);
    const both = () => this.buildStrip([["read", read, shown], [stage === "writing" ? "written" : "asked", asked, shown]]);
    return {
      sentence: () => [this.buildStrip([["source", source, source.length]], "encoder"), this.buildStrip([["target", asked, asked.length]], "decoder")],
      shift: () => [both()],
      mask: () => [both(), line(own("may be seen", mask))],
      self: () => [both(), line(own("self-attention", seen, this.paints))],
      cross: () => [both(), line(other())],
      next: () => [both(), this.buildBars()],
      writing: () => [both(), line(own("self-attention", seen, this.paints), other())],
    }[stage]();
  }

  /** Words in a row for each line: its name, its words, and how many of them are there yet. */
  buildStrip(lines, kind = "") {
    const cell = (text, i, count) => {
      if (i >= count) return make("td", { className: "to-come" });
      const box = make("td", { className: kind ? "" : i === this.row ? "lit" : "" }, word(text));
      if (!kind) box.addEventListener("click", () => this.choose(i));
      return box;
    };
    const rows = lines.map(([name, texts, count]) => make("tr", {}, make("th", { scope: "row" }, name), ...texts.map((text, i) => cell(text, i, count))));
    return make("div", { className: "wide", tabIndex: 0, role: "group", "aria-label": "Words in a row" }, make("table", { className: `strip ${kind}` }, make("tbody", {}, ...rows)));
  }

  /** The most probable next words at the chosen place. */
  buildBars() {
    const { next, asked } = this.data;
    const line = ([text, p]) =>
      make("tr", { className: text === asked[this.row] ? "asked" : "" },
        make("th", { scope: "row" }, word(text)),
        make("td", {}, make("i", { style: `width: ${(100 * p).toFixed(1)}%` })),
        make("td", {}, formatProbability(p)));
    return make("table", { className: "bars" }, make("tbody", {}, ...next[this.row].map(line)));
  }

  describeStep(stage) {
    const { source, read, asked } = this.data;
    const [reads, asks] = [word(read[this.row]), word(asked[this.row])];
    const n = read.length;
    return {
      sentence: ["The encoder has read the whole source sentence at once. The decoder has to write the target, word by word. In training we already have the target, so each of its words is a question whose answer we know."],
      shift: ["The decoder reads the target moved one place to the right, with ", word(read[0]), " in front. So at each place it has read the words so far, and it's asked for the next one. All these questions are asked at once. Move the place."],
      mask: [`But all ${n} words are there, even the answers. So the mask hides them: each place sees itself and what comes before it. Each row sees one word more than the row above it, which makes a staircase. `, ...(this.row < n - 1 ? ["At this place, ", reads, " mustn't see ", asks, "."] : ["At the last place nothing has to be hidden, because ", asks, ", which is asked for, isn't among the words that are read."])],
      self: [`This is the decoder's own attention, in one head of the trained model (${this.data.names[0]}). `, colourText("query", "Queries"), " (rows) and ", colourText("key", "keys"), ` (columns) both come from the words that are read. Each row is a softmax over the words it may see, and hidden words get weight 0.`],
      cross: ["In cross-attention, the ", colourText("query", "queries"), " come from the decoder, with a row for each word it reads. The ", colourText("key", "keys"), " and ", colourText("value", "values"), " come from the encoder, with a column for each source word. ", `That's ${n} rows and ${source.length} columns. There's no staircase, because the whole source may be seen (${this.data.names[1]}).`],
      next: ["At the top of the decoder, each row is turned into probabilities, one for each word of the vocabulary. Training makes the right answer's probability large. At this place the answer is ", asks, "."],
      writing: ["When it translates, there's no target, so the model reads its own words. It writes the most probable one, reads it in the next step, and both matrices get another row. The rows above don't change, because they never saw what came later."],
    }[stage];
  }

  writeArithmetic(stage) {
    const { source, read, asked, self, cross, next } = this.data;
    const { row } = this;
    const mix = (weights, texts) => {
      const large = [...weights.keys()].filter((i) => weights[i] >= 0.005);
      const rest = weights.reduce((sum, weight) => sum + weight, 0) - large.reduce((sum, i) => sum + weights[i], 0);
      return [...large.flatMap((i, at) => [at ? ", " : "", `${formatBrief(weights[i])} on `, word(texts[i])]), large.length < weights.length ? `; ${rest < 0.0005 ? "less than 0.001" : formatBrief(rest, 3)} on all the others it sees` : ""];
    };
    const hidden = read.length - row - 1;
    const best = next?.[row][0];
    return {
      sentence: [`${source.length} words in the source and ${asked.length} in the target. On both sides the end mark counts as a word: `, word(asked.at(-1))],
      shift: [`Place ${row} reads `, ...words(read.slice(0, row + 1)), "and is asked for ", word(asked[row])],
      mask: [word(read[row]), ` sees ${row + 1} of ${read.length}: `, ...words(read.slice(0, row + 1)), hidden ? `; hidden: ${hidden}` : "; hidden: none"],
      self: ["Weights of ", word(read[row]), ": ", ...mix(self[row].slice(0, row + 1), read), hidden ? `; 0 on the ${hidden} hidden` : ""],
      cross: ["Where it reads ", word(read[row]), " and is asked for ", word(asked[row]), ": ", ...mix(cross[row], source)],
      next: best ? [word(best[0]), ` gets ${formatProbability(best[1])}`, best[0] === asked[row] ? ", and it's the word that is asked for" : ", but the word asked for is ", best[0] === asked[row] ? "" : word(asked[row])] : [],
      writing: ["Written so far: ", ...words(asked.slice(0, row + 1)), `. The matrices are ${row + 1} × ${row + 1} and ${row + 1} × ${source.length}`],
    }[stage];
  }
}

