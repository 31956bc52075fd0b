// All heads as a map of the model, the paper's Figure 1: each with its name, and drawn or coloured as the reader asks.
// Below it, one word's row in every head of a kind.

import { make, OWN_KEYS, toggle } from "../elements.js";
import { toPicture } from "../head_map.js";
import { paintMap, poolMap } from "../painting.js";
import { scaleToBest } from "../ranking.js";
import { formatNumber, makeVisible } from "../text.js";
import { EveryHead } from "./every_head.js";
import { getOverlayClass } from "./lines.js";
import { toCode, TITLES } from "./names.js";
import { computeCost } from "./stakes.js";

const WAIT = 200; // milliseconds, so that the translation itself is drawn first
const MANY_BESIDE = 5; // heads of a layer: of more, each is smaller
const MOST_PIXELS = 64; // of a small map: one of more tokens shows the largest weight of each block

/** What the heads can show, besides the scores: its label, and what a dark head means. */
export const WAYS = {
  maps: ["their maps", "Each small map is one head. Its rows are the words that look, and its columns are the words that are looked at. The brighter a cell, the larger the weight. Press a head to open it."],
  cost: ["effect if muted", "Orange means that a word of the translation loses much of its probability when this head alone is muted (its tooltip says which word). No colour means that none does."],
  sharpness: ["sharpness of their rows", "Orange means that nearly all the weight of each row is on one word. No colour means that the weight is spread out."],
};

/** The largest weight of a row, mean over the rows: 1 if each row has all its weight on one word. */
function computeSharpness(weights) {
  return weights.reduce((sum, row) => sum + Math.max(...row), 0) / weights.length;
}

export class AllHeads {
  /** For `scores` see HeadScores and RecordScores; `palettes` as `makePalettes` gives them, `paints` as `makePaints`; `showOpen` brings the open head into sight. */
  constructor(state, scores, palettes, paints, showOpen) {
    Object.assign(this, { state, scores, palettes, showOpen, way: "maps", dots: [], costs: new Map(), measured: null });
    const ways = Object.entries(WAYS).filter(([way]) => way !== "cost" || state.engine);
    this.list = make("select", { "aria-label": "What the heads show", ...OWN_KEYS },
      ...ways.map(([value, [text]]) => make("option", { value }, text)));
    if (scores.table.size) {
      this.list.append(make("optgroup", { label: scores.title },
        ...[...scores.table.values()].map(({ name, label }) => make("option", { value: name }, label))));
    }
    this.list.addEventListener("change", () => {
      this.way = this.list.value;
      if (this.isScore) scores.readAll(() => this.draw());
      this.draw();
    });
    const { others } = state.answerer;
    this.models = make("select", { "aria-label": "Model next to this one", ...OWN_KEYS }, make("option", { value: "" }, "no other model"),
      ...others.names.map((name) => make("option", {}, name)));
    this.models.addEventListener("change", () => {
      state.beside.show(this.models.value);
      state.show(state.beside.name ? "lines" : state.view);
      showOpen();
    });
    this.adds = false; // whether a press draws a head over the open one, as it does with Shift
    this.over = toggle("draw over", "Draw heads over the open one", () => this.adds, () => {
      this.adds = !this.adds;
      this.draw();
    });
    this.note = make("p", { className: "note" });
    this.everyHead = new EveryHead(state, paints, showOpen);
    this.element = make("section", { className: "all-heads", "aria-label": "All heads" }, make("h3", {}, "All heads of the model"),
      make("p", { className: "bar" }, make("label", {}, "Show ", this.list), this.over, others.names.length ? make("label", {}, "Compare the open head with ", this.models) : null),
      this.build(), this.note, this.everyHead.element);
  }

  /** Encoder and decoder side by side, the first layers below, as in Figure 1. */
  build() {
    const { answerer: { heads }, languages: [source, target] } = this.state;
    const block = (kind, layer) => {
      const dots = heads.filter((head) => head.kind === kind && head.layer === layer).map((head) => this.buildDot(head));
      return dots.length ? [make("div", { className: `block ${kind}${dots.length > MANY_BESIDE ? " dense" : ""}` }, make("span", {}, `${TITLES[kind]}, layer ${layer + 1}`), make("div", {}, ...dots))] : [];
    };
    const layers = Math.max(...heads.map(({ layer }) => layer)) + 1;
    const stack = (kinds, ...label) => {
      const blocks = Array.from({ length: layers }, (_, i) => layers - 1 - i).flatMap((layer) => kinds.flatMap((kind) => block(kind, layer)));
      return blocks.length ? [make("div", {}, ...blocks, make("small", {}, ...label))] : [];
    };
    return make("div", { className: "stacks" },
      ...stack(["encoder"], make("b", {}, "Encoder"), ` reads the ${source} sentence ↑`),
      ...stack(["cross", "decoder"], make("b", {}, "Decoder"), ` writes ${target}, word by word ↑`));
  }

  buildDot(head) {
    const code = toCode(head);
    const canvas = make("canvas", { "aria-hidden": "true" });
    const number = make("small", { className: "number" });
    const button = make("button", { type: "button", className: "dot", "data-control": `head ${code}`, ...OWN_KEYS }, canvas, make("span", {}, ...this.state.names.write(head)), number);
    button.addEventListener("click", ({ shiftKey }) => {
      if (shiftKey || this.adds) this.state.overlay(head);
      else this.state.openHead(head);
      this.showOpen();
    });
    this.dots.push({ head, code, button, canvas, number });
    return button;
  }

  draw() {
    const { state } = this;
    this.models.value = state.beside.name;
    this.over.refresh();
    if (this.way === "cost" && this.measured !== state.before) this.measureCosts();
    if (this.way === "maps") this.paint();
    for (const dot of this.dots) this.drawDot(dot);
    const onA = state.isKept && this.way === "cost" ? " Compared with A." : "";
    const shift = this.way === "maps" && matchMedia("(hover: hover)").matches ? " Hold Shift and press to draw it over the open one." : "";
    this.note.textContent = this.isScore ? this.describeScore() : `${WAYS[this.way][1]}${shift}${onA}`;
    this.everyHead.draw();
  }

  /** Draw what has changed of one head: styles are slow to set, and there may be hundreds of heads. */
  drawDot(dot) {
    const { state, way } = this;
    const { head, code, button } = dot;
    const [value, blank] = this.getValues(head);
    const isOpen = toCode(state.head) === code;
    const over = state.also.length ? getOverlayClass(state.heads, head) : "";
    const name = this.describeDot(head, value, blank);
    const said = JSON.stringify([way, name, this.getDarkness(value), this.getDarkness(blank), isOpen, over]);
    if (dot.said === said) return;
    dot.said = said;
    dot.canvas.hidden = way !== "maps";
    dot.number.textContent = value == null ? "" : `${formatNumber(value)}${this.describeLostWord(code)}`;
    button.style.setProperty("--share", this.getDarkness(value));
    button.style.setProperty("--blank", this.getDarkness(blank));
    button.classList.toggle("beside", blank != null);
    button.classList.toggle("muted", state.isMuted(head));
    button.setAttribute("aria-pressed", String(isOpen));
    button.dataset.over = over;
    button.setAttribute("aria-label", `${name}.`);
    button.title = `${name}; hold Shift and press to draw it over the open head.`;
  }

  describeDot(head, value, blank) {
    const { state } = this;
    const label = this.isScore ? this.scores.table.get(this.way).label : WAYS[this.way][0];
    const parts = [state.names.say(head),
      ...(value == null ? [] : [`${label} ${formatNumber(value)}${this.describeLostWord(toCode(head))}`]),
      ...(blank == null ? [] : [`untrained ${formatNumber(blank)}`]),
      ...(state.isMuted(head) ? ["muted"] : [])];
    return `${parts.join(", ")}${state.canChange ? ". Press M to mute or unmute it" : ""}`;
  }

  /** Paint the small maps, unless they are those of this answer already. */
  paint() {
    const { now } = this.state;
    if (this.painted === now) return;
    this.painted = now;
    for (const { head: { kind, layer, head }, canvas } of this.dots) {
      const found = now.heads[kind]?.[layer]?.[head];
      if (found) paintMap(canvas, poolMap(toPicture(found), MOST_PIXELS), this.palettes.weight);
    }
  }

  /** The word that loses most when this head is muted, as ", at “word”"; empty if none loses anything. */
  describeLostWord(code) {
    const { loss, step } = (this.way === "cost" && this.costs.get(code)) || { loss: 0 };
    return loss < 0.005 ? "" : `, at “${makeVisible(this.state.before.tokens.written[step])}”`;
  }

  get isScore() {
    return this.scores.table.has(this.way);
  }

  /** A head's value, and that of the same head in an untrained model; each null if there is none. */
  getValues(one) {
    const { kind, layer, head } = one;
    if (this.isScore) return [this.scores.getMeanScore(this.way, one), this.scores.getMeanScore(this.way, one, "untrained")];
    const there = this.state.now.heads[kind]?.[layer]?.[head]; // a snapshot may lack it
    if (this.way === "sharpness") return [there ? computeSharpness(there.weights) : null, null];
    const cost = this.way === "cost" ? this.costs.get(toCode(one))?.loss : null;
    return [cost ?? null, null];
  }

  /** How dark a head of this value is drawn, from 0 to 1. */
  getDarkness(value) {
    if (value == null || !this.isScore) return value ?? 0;
    const all = Object.keys(TITLES).flatMap((kind) => ["trained", "untrained"].flatMap((which) => this.listScores(kind, which)));
    return scaleToBest(value, all, this.scores.table.get(this.way).best);
  }

  /** The scores of the heads of a kind that have one. */
  listScores(kind, which) {
    return this.scores.listValues(this.way, kind, which).filter((value) => value != null);
  }

  /** What the score means, and its lowest and highest value in each kind of heads. */
  describeScore() {
    const { scores } = this;
    if (!scores.isDone) return `Reading with the model and with an untrained one: ${scores.done} of ${scores.examples.length} sentences …`;
    const range = (kind, which) => {
      const values = this.listScores(kind, which);
      return values.length ? `${formatNumber(Math.min(...values))} to ${formatNumber(Math.max(...values))}` : "–";
    };
    const { label, means, best } = scores.table.get(this.way);
    const kinds = Object.keys(TITLES).filter((kind) => this.listScores(kind).length);
    const ranges = kinds.map((kind) => `${TITLES[kind]}: ${range(kind)}${scores.hasUntrained ? `, untrained ${range(kind, "untrained")}` : ""}.`);
    const foot = scores.hasUntrained ? " At the foot of each head: the score in an untrained model of this shape." : "";
    return `${label}: ${means}. Measured ${scores.title}; dark is ${best}.${foot} ${ranges.join(" ")}`;
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
      this.costs.set(toCode(head), computeCost(before.probabilities, state.readWithout(head), before.written));
      if (!left.length || left.length % 8 === 0) this.draw();
      setTimeout(next);
    };
    setTimeout(next, WAIT);
  }
}
