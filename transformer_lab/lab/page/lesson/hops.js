// Two hops: how a noun's gender comes to a pronoun, through one head of the encoder and some of cross-attention.

import { make, svg, toggle, word } from "../elements.js";
import { keepFocus } from "../focus.js";
import { formatNumber } from "../text.js";
import { moveHop } from "./hops_motion.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";

const LINE = 25;
const TOP = 22;
const NAMES = 73; // the right edge of the names beside the arcs, which reach as far as there
const ENGLISH = { left: 110, right: 182 };
const FRENCH = { left: 270, right: 342 };
const NAMED = 0.25; // a weight from here on has its name and number
const LETTERS = 13; // how high a line of names is
const WIDEST = 9;
const LITTLE = 0.2; // with less than this a word is not on the way
const SEEN = 0.02; // a weight below this is no line

/** A drawing in each place of this name, from the data of this name. */
export function mountHops(name) {
  mountEach("hops", name, (data) => new Hops(data).element);
}

/** What a head is called, with its short name in brackets; or the short name alone. */
function inFull(head) {
  return head.called ? `${head.called} (${head.name})` : head.name;
}

class Hops {
  /** `data`: the heads, the pronouns, and the pairs with their words, the heads' maps, and the answers for each set of muted heads. */
  constructor(data) {
    this.data = data;
    this.off = 0; // a bit for each muted head
    this.stage = make("div", { className: "stage" });
    this.sum = make("p", { className: "sum" });
    const switches = data.heads.map((head, i) => toggle(`mute ${head.name}`, `Mute ${inFull(head)}`, () => Boolean(this.off & (1 << i)), () => this.mute(i)));
    this.switches = make("div", { className: "switches", role: "group", "aria-label": "Heads to mute" }, ...switches);
    this.refresh = () => switches.forEach((button) => button.refresh());
    this.steps = new Steps(["the question", "first hop", "second hop", "and it?", "mute"], (step) => this.start(step));
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.switches, this.stage, this.sum);
    this.steps.go(0);
  }

  start(step) {
    this.step = step;
    const { pairs } = this.data;
    this.source = pairs.map((pair) => (step === 3 ? pair.pronoun : pair.decider));
    this.written = pairs.map((pair) => pair.step);
    this.switches.hidden = step < 4;
    const said = this.draw();
    if (this.stage.isConnected && (step === 1 || step === 2)) moveHop(this, step === 1 ? "encoder" : "cross");
    return said;
  }

  get muted() {
    return this.step === 4 ? this.off : 0;
  }

  mute(head) {
    this.off ^= 1 << head;
    this.showStep();
  }

  /** A word was pressed: an English one is read in the encoder's heads, a French one in those of cross-attention. */
  choose(which, place) {
    const { pairs } = this.data;
    const length = which === "source" ? "source" : "target";
    pairs.forEach((pair, i) => { if (place < pair[length].length) this[which][i] = place; });
    this.showStep();
  }

  showStep() {
    keepFocus(this.element, "next", () => this.steps.said.replaceChildren(...this.draw()));
  }

  /** Draw both sentences; returns what the step says. */
  draw() {
    this.refresh();
    this.stage.replaceChildren(...this.data.pairs.map((pair, i) => this.buildSentence(pair, i)));
    this.sum.replaceChildren(...this.writeWeights());
    return this.describeStep();
  }

  buildSentence(pair, i) {
    const button = (which, place, text) => {
      const lit = this[which][i] === place && this.step > (which === "source" ? 0 : 1);
      const marked = which === "source" ? [pair.noun, pair.other, pair.decider, pair.pronoun].includes(place) : place === pair.step;
      const made = make("button", { type: "button", "data-control": `${i} ${which} ${place}`, "aria-pressed": String(lit), className: marked ? "marked" : "" }, word(text));
      made.addEventListener("click", () => this.choose(which, place));
      const { left, right } = which === "source" ? ENGLISH : FRENCH;
      Object.assign(made.style, { top: `${TOP + place * LINE}px`, left: `${left}px`, width: `${right - left}px` });
      return made;
    };
    const height = TOP + LINE * Math.max(pair.source.length, pair.target.length);
    const drawing = svg("svg", { width: FRENCH.right, height, "aria-hidden": "true" }, ...this.drawArcs(pair, i));
    const heads = [["encoder reads", ENGLISH], ["decoder writes", FRENCH]].map(([text, { left }]) => {
      const made = make("span", { className: "over" }, text);
      made.style.left = `${left}px`;
      return made;
    });
    // What is most probable takes the place of the true pronoun.
    const answer = pair.answers[this.muted];
    const told = this.data.pronouns[answer.indexOf(Math.max(...answer))];
    const target = pair.target.map((token, place) => (place === pair.step ? told : token));
    const columns = make("div", { className: "columns" }, drawing, ...heads, ...pair.source.map((token, place) => button("source", place, token)), ...target.map((token, place) => button("written", place, token)));
    Object.assign(columns.style, { height: `${height}px`, width: `${FRENCH.right}px` });
    return make("div", { className: "sentence" }, columns, this.buildBars(pair, answer));
  }

  /** Lines as wide as the weights: from the words that are looked at to the one that looks. */
  drawArcs(pair, i) {
    const middle = (place) => TOP + LINE * (place + 0.5) - 1;
    const lines = [];
    const named = { encoder: [], cross: [] };
    const draw = (kind, path, weight, head, y, from) => {
      const off = this.muted & (1 << head);
      lines.push(svg("path", { class: `${kind}${off ? " off" : ""}`, "data-from": from, "data-weight": weight, d: path, "stroke-width": (off ? 1.5 : Math.max(0.6, WIDEST * weight)).toFixed(1) }));
      if (weight >= NAMED) named[kind].push([y, `${this.data.heads[head].name} ${off ? "muted" : formatNumber(weight)}`]);
    };
    this.data.heads.forEach((head, h) => {
      const encoder = head.kind === "encoder";
      if (this.step < (encoder ? 1 : 2)) return;
      const to = encoder ? this.source[i] : this.written[i];
      const of = this.data.heads.filter((other) => other.kind === head.kind);
      const beside = 11 * (of.indexOf(head) - (of.length - 1) / 2);
      pair.maps[h][to].forEach((weight, from) => {
        if (weight < SEEN) return;
        const [start, end] = [middle(from), middle(to) + beside];
        const reach = Math.min(16 + 4 * Math.abs(from - to), (ENGLISH.left - NAMES - 6) / 0.75); // a curve goes three quarters of it
        const x = ENGLISH.left - 3;
        if (encoder) draw("encoder", from === to ? `M${x} ${start - 5}c-30 -6 -30 16 0 10` : `M${x} ${start}C${x - reach} ${start} ${x - reach} ${end} ${x} ${end}`, weight, h, (start + end) / 2, from);
        else draw("cross", `M${ENGLISH.right + 3} ${start + beside}C${ENGLISH.right + 45} ${start + beside} ${FRENCH.left - 45} ${end} ${FRENCH.left - 3} ${end}`, weight, h, (start + beside + end) / 2, from);
      });
    });
    return [...lines, ...this.drawLabels(named)];
  }

  /** Head and weight of strong arcs: the encoder's left of them, those that cross above and below, a line for each. */
  drawLabels({ encoder, cross }) {
    const write = (kind, x, y, anchor, text) => svg("text", { x, y: y.toFixed(1), class: kind, "text-anchor": anchor }, text);
    const order = (some) => some.toSorted(([a], [b]) => a - b);
    let lowest = -LETTERS;
    const left = order(encoder).map(([middle, text]) => {
      lowest = Math.max(middle, lowest + LETTERS);
      return write("encoder", NAMES, lowest + 4, "end", text);
    });
    const across = (ENGLISH.right + FRENCH.left) / 2;
    const crossing = order(cross);
    const half = Math.floor(crossing.length / 2);
    const beyond = crossing.map(([, text], i) => {
      const [top, bottom] = [crossing[0][0] - 9, crossing.at(-1)[0] + 17];
      return write("cross", across, i < half ? top - LETTERS * (half - 1 - i) : bottom + LETTERS * (i - half), "middle", text);
    });
    return [...left, ...beyond];
  }

  /** How probable each pronoun is at its step, as bars. */
  buildBars(pair, answer) {
    const rows = this.data.pronouns.map((pronoun, k) => {
      const bar = make("i", { "aria-hidden": "true" });
      bar.style.width = `${100 * answer[k]}px`;
      return make("div", {}, make("b", {}, word(pronoun)), bar, make("span", {}, formatNumber(answer[k])));
    });
    return make("div", { className: "bars", "aria-label": "Probability of each pronoun at its step", role: "group" }, make("span", {}, "probability of the pronoun:"), ...rows);
  }

  listHeadNames(kind) {
    return this.data.heads.filter((head) => head.kind === kind).map(inFull).join(" and ");
  }

  /** What a step is for. */
  describeStep() {
    const { pairs, pronouns } = this.data;
    const said = (part, glue = ", and ") => pairs.flatMap((pair, i) => [i ? glue : "", ...part(pair)]);
    const at = (pair, place) => word(pair.source[place]);
    const written = (pair) => word(pair.target[pair.step]);
    const explained = (letters) => (this.data.heads[0].called ? "" : ` (${letters})`);
    const weight = (pair, kind, row, column) => this.data.heads.flatMap((head, h) => (head.kind === kind ? [formatNumber(pair.maps[h][row][column])] : [])).join(" and ");
    const each = (kind) => (this.data.heads.filter((head) => head.kind === kind).length > 1 ? ", in this order" : "");
    if (this.step === 0) {
      return ["These two English sentences differ in one word. French has to choose a pronoun, and the noun decides: ", ...said((pair) => ["if ", at(pair, pair.pronoun), " is the ", at(pair, pair.noun), ", it's ", written(pair)]), ". The bars show how probable the model finds each pronoun. How does it know the noun's gender?"];
    }
    if (this.step === 1) {
      return ["First the encoder reads the English sentence. In each head, a word takes something from every word and adds the sum to its own vector. The lines show where the last word looks in ", this.listHeadNames("encoder"), explained("e: encoder, then layer and head"), ": ", ...said((pair) => [at(pair, pair.decider), " takes ", weight(pair, "encoder", pair.decider, pair.noun), " from ", at(pair, pair.noun)]), "."];
    }
    if (this.step === 2) {
      return ["Then the decoder writes French, and its cross-attention looks at the English words. In ", this.listHeadNames("cross"), explained("c: cross-attention"), each("cross"), ", ", ...said((pair) => [written(pair), " takes ", weight(pair, "cross", pair.step, pair.decider), " from ", at(pair, pair.decider)]), ". That makes two hops: ", ...said((pair) => [at(pair, pair.noun), " → ", at(pair, pair.decider), " → ", written(pair)]), "."];
    }
    if (this.step === 3) {
      const on = (pair, head, h) => (head.kind === "encoder" ? pair.maps[h][pair.pronoun][pair.noun] : pair.maps[h][pair.step][pair.pronoun]);
      const aside = pairs.every((pair) => this.data.heads.every((head, h) => on(pair, head, h) < LITTLE));
      return ["Many pictures show a thick line from ", at(pairs[0], pairs[0].pronoun), " to its noun, so here's its row in the same heads. ", ...pairs.flatMap((pair) => ["Where the sentence ends in ", at(pair, pair.decider), ", ", at(pair, pair.pronoun), ` takes ${weight(pair, "encoder", pair.pronoun, pair.noun)} from `, at(pair, pair.noun), ", and ", written(pair), ` takes ${weight(pair, "cross", pair.step, pair.pronoun)} from `, at(pair, pair.pronoun), ". "]), ...(aside ? ["So ", at(pairs[0], pairs[0].pronoun), " isn't on either hop."] : [])];
    }
    const off = this.data.heads.filter((_, h) => this.muted & (1 << h)).map(inFull);
    if (!off.length) return ["If you mute a head, its output becomes zero. Guess first: which of these heads can the model do without? And what if you mute two at once? Then press. The bars will show what the model finds probable without those heads."];
    const gap = (muted) => Math.abs(pairs[0].answers[muted][0] - pairs.at(-1).answers[muted][0]);
    return [`Without ${off.join(" and ")}, the probability of `, word(pronouns[0]), " goes ", ...said((pair) => [`from ${formatNumber(pair.answers[0][0])} to ${formatNumber(pair.answers[this.muted][0])} where the sentence ends in `, at(pair, pair.decider)]), `. So the two sentences are now ${formatNumber(gap(this.muted))} apart. With all heads they were ${formatNumber(gap(0))} apart, and if they were equal, the last English word would make no difference. (The model only chooses the pronoun here. All other French words are given.)`];
  }

  /** The chosen rows' largest weights, as numbers. */
  writeWeights() {
    const rows = (kind, which, tokens) => this.data.heads.flatMap((head, h) => {
      if (head.kind !== kind) return [];
      if (this.muted & (1 << h)) return this.data.pairs.map(() => make("div", {}, `${inFull(head)}: muted, it passes nothing on`));
      return this.data.pairs.flatMap((pair, i) => {
        const row = pair.maps[h][this[which][i]];
        const best = row.map((weight, k) => [weight, k]).sort((a, b) => b[0] - a[0]).slice(0, 3);
        const asks = kind === "cross" && this.muted && this.written[i] === pair.step; // the word that is drawn there may be another now
        return [make("div", {}, `${inFull(head)}, row of `, asks ? "the pronoun" : word(pair[tokens][this[which][i]]), ": ", ...best.flatMap(([weight, k]) => [word(pair.source[k]), ` ${formatNumber(weight)}  `]))];
      });
    });
    if (this.step === 0) return ["Press a word at any step to draw its rows."];
    const note = this.muted ? [make("div", { className: "note" }, "The weights are those with all heads on:")] : [];
    return [...note, ...rows("encoder", "source", "source"), ...(this.step > 1 ? rows("cross", "written", "target") : [])];
  }
}
