// The paper's Figure 1 as a map of the model in the page: every head is a dot, coloured by what muting it
// costs, by how sharp its rows are, or by a head score over many sentences. The bench shows it; a click
// on a dot opens that head.

import { make, OWN_KEYS } from "../elements.js";
import { formatNumber, makeVisible } from "../text.js";
import { HeadScores } from "./head_scores.js";
import { getOverlayClass } from "./line_view.js";
import { toLongName, toShortName, TITLES } from "./names.js";
import { computeCost } from "./stakes.js";

const WAIT = 200; // milliseconds, so that the translation itself is drawn first

/** What the dots can be coloured by, besides the scores: its label, and what a dark dot means. */
export const WAYS = {
  cost: ["effect if muted", "Orange: muted alone, the head costs a word of the translation much of its probability (its tooltip says which). No colour: it costs none."],
  sharpness: ["sharpness of its rows", "Orange: nearly all weight of each row is on one word. No colour: it is spread."],
};

/** The largest weight of a row, mean over the rows: 1 if each row has all its weight on one word. */
function computeSharpness(weights) {
  return weights.reduce((sum, row) => sum + Math.max(...row), 0) / weights.length;
}

export class Figure {
  /** For `examples` and `table` see HeadScores. */
  constructor(state, examples, table) {
    Object.assign(this, { state, way: "cost", dots: [], costs: new Map(), measured: null });
    this.scores = new HeadScores(state.engine, examples, table);
    this.list = make("select", { "aria-label": "Colour of the heads", ...OWN_KEYS },
      ...Object.entries(WAYS).map(([value, [text]]) => make("option", { value }, text)));
    if (examples.length) {
      this.list.append(make("optgroup", { label: `over ${examples.length} sentences` },
        ...[...this.scores.table.values()].map(({ name, label }) => make("option", { value: name }, label))));
    }
    this.list.addEventListener("change", () => {
      this.way = this.list.value;
      if (this.isScore) this.scores.readAll(() => this.draw());
      this.draw();
    });
    this.note = make("p", { className: "note" });
    this.element = make("section", { className: "figure", "aria-label": "All heads" },
      make("label", {}, "colour: ", this.list), this.build(), this.note);
  }

  /** Encoder and decoder side by side, the first layers below, as in Figure 1. */
  build() {
    const { engine: { model: { config } }, languages: [source, target] } = this.state;
    const block = (kind, layer) => {
      const dots = Array.from({ length: config.num_heads }, (_, head) => this.buildDot({ kind, layer, head }));
      return make("div", { className: `block ${kind}` }, make("span", {}, `${TITLES[kind]} ${layer + 1}`), make("div", {}, ...dots));
    };
    const upwards = (count, kinds) => Array.from({ length: count }, (_, i) => count - 1 - i)
      .flatMap((layer) => kinds.map((kind) => block(kind, layer)));
    return make("div", { className: "stacks" },
      make("div", {}, ...upwards(config.num_encoder_layers, ["encoder"]), make("small", {}, make("b", {}, "Encoder"), `: reads the ${source} sentence ↑`)),
      make("div", {}, ...upwards(config.num_decoder_layers, ["cross", "decoder"]), make("small", {}, make("b", {}, "Decoder"), `: writes ${target}, word by word ↑`)));
  }

  buildDot(head) {
    const name = toShortName(head);
    const button = make("button", { type: "button", className: "dot", "data-control": `head ${name}`, ...OWN_KEYS }, name);
    button.addEventListener("click", ({ shiftKey }) => {
      if (shiftKey) this.state.overlay(head);
      else this.state.openHead(head);
      // On a phone the map is not beside the figure.
      this.element.closest(".tl-bench").querySelector(".where h2").scrollIntoView({ block: "nearest" });
    });
    this.dots.push({ head, name, button });
    return button;
  }

  draw() {
    const { state } = this;
    if (this.measured !== state.before) this.measureCosts();
    for (const { head, name, button } of this.dots) {
      const [value, blank] = this.getValues(head);
      const isMuted = state.isMuted(head);
      button.style.setProperty("--share", this.getDarkness(value));
      button.style.setProperty("--blank", this.getDarkness(blank));
      button.classList.toggle("beside", blank != null);
      button.classList.toggle("muted", isMuted);
      button.setAttribute("aria-pressed", String(toShortName(state.head) === name));
      button.dataset.over = state.also.length ? getOverlayClass(state.heads, head) : "";
      const parts = [toLongName(head),
        ...(value == null ? [] : [`${this.isScore ? this.scores.table.get(this.way).label : WAYS[this.way][0]} ${formatNumber(value)}${this.describeLostWord(name)}`]),
        ...(blank == null ? [] : [`untrained ${formatNumber(blank)}`]),
        ...(isMuted ? ["muted"] : [])];
      button.setAttribute("aria-label", `${parts.join(", ")}. M mutes.`);
      button.title = `${parts.join(", ")}. M mutes; Shift with a click draws it over the open head.`;
    }
    const onA = state.isKept && this.way === "cost" ? " Counted from A on." : "";
    this.note.textContent = this.isScore ? this.scores.describeScore(this.way) : `${WAYS[this.way][1]}${onA}`;
  }

  /** The word that loses most when this head is muted, as ", at “word”"; empty if none loses anything. */
  describeLostWord(name) {
    const { loss, step } = (this.way === "cost" && this.costs.get(name)) || { loss: 0 };
    return loss < 0.005 ? "" : `, at “${makeVisible(this.state.before.tokens.written[step])}”`;
  }

  get isScore() {
    return this.scores.table.has(this.way);
  }

  /** A head's value, and that of the same head in an untrained model; each null if there is none. */
  getValues(one) {
    const { kind, layer, head } = one;
    if (this.isScore) return [this.scores.getMeanScore(this.way, one), this.scores.getMeanScore(this.way, one, "untrained")];
    const value = this.way === "sharpness" ? computeSharpness(this.state.before.maps[kind][layer][head]) : this.costs.get(toShortName(one))?.loss;
    return [value ?? null, null];
  }

  /** How dark a dot of this value is drawn, from 0 to 1. */
  getDarkness(value) {
    if (value == null) return 0;
    return this.isScore ? this.scores.computeDarkness(this.way, value) : value;
  }

  /** Mute one head after the other and note what it costs; in pieces, because all of them take a while. */
  measureCosts() {
    const { state } = this;
    const { before } = state;
    this.measured = before;
    this.costs.clear();
    const left = this.dots.map(({ head }) => head);
    const next = () => {
      const head = left.shift();
      if (!head || state.before !== before) return;
      this.costs.set(toShortName(head), computeCost(before.probabilities, state.readWithout(head), before.written));
      if (!left.length || left.length % 8 === 0) this.draw();
      setTimeout(next);
    };
    setTimeout(next, WAIT);
  }
}
