// Where every head looks, as small maps; the one that's pressed stands large, with its words.

import { formatNumber } from "../text.js";
import { make, OWN_KEYS, word } from "../elements.js";
import { toPicture } from "../head_map.js";
import { paintMap } from "../painting.js";

const KINDS = { encoder: "Encoder", decoder: "Decoder: looking at what it has written", cross: "Decoder: looking at what it was given" };
const LONGEST = 3; // letters of a word above a column that isn't turned
/** By kind, what the rows and the columns are: what's given, what should be written, or what stands before that. */
const SIDES = { encoder: ["given", "given"], decoder: ["right", "before"], cross: ["right", "given"] };
const CAPTIONS = {
  encoder: "Each row is one letter or word that the model was given. It shows where this head looks.",
  decoder: "Each row is the letter or word that should come next. It shows where this head looks among those before it.",
  cross: "Each row is the letter or word that should come next. It shows where this head looks in what the model was given.",
};

/** The colour of a weight, as in the small maps. */
function toColour(weight, palette) {
  const pixel = palette[Math.round(255 * Math.sqrt(weight))];
  return `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
}

export class Maps {
  /** `choose(head)` is called when one is pressed; `title` says whose heads they are. */
  constructor(title, palettes, choose) {
    Object.assign(this, { palettes, choose });
    this.small = make("div", { className: "heads" });
    this.small.addEventListener("keydown", (event) => this.goOn(event));
    this.large = make("div", { className: "large", tabIndex: 0, role: "group", "aria-label": "The chosen head" });
    this.whose = make("span", {});
    const legend = make("p", { className: "note" }, "You see where the heads look in ", this.whose, ". Press a picture to enlarge it, or go from one to the next with the arrow keys. The brighter a square is, the more the head looks there.");
    this.element = make("section", { className: "maps", "aria-label": "Where every head looks" }, make("h4", { className: "whose" }, title), legend, this.small, this.large);
    this.buttons = new Map();
  }

  /** `maps` of a moment, the `example` that they belong to, and the head that's to be large. */
  draw(maps, example, wished) {
    this.element.hidden = !maps;
    if (!maps) return;
    this.whose.replaceChildren("“", word(example.given), "”");
    // a model with fewer heads or layers shows its first one
    const chosen = maps[wished.kind][wished.layer]?.[wished.head] ? wished : { kind: wished.kind, layer: 0, head: 0 };
    this.build(maps);
    for (const [name, { button, canvas, head }] of this.buttons) {
      paintMap(canvas, toPicture({ weights: maps[head.kind][head.layer][head.head] }), this.palettes.weight);
      const isChosen = name === toName(chosen);
      button.setAttribute("aria-pressed", String(isChosen));
      button.tabIndex = isChosen ? 0 : -1; // Tab reaches the chosen one, and the arrows the others
    }
    this.drawLarge(maps, example.words, chosen);
  }

  /** Make the buttons, once for a model. */
  build(maps) {
    const shape = Object.keys(KINDS).map((kind) => maps[kind].map((heads) => heads.length)).join("|");
    if (shape === this.shape) return;
    this.shape = shape;
    this.buttons.clear();
    const rows = Object.entries(KINDS).flatMap(([kind, title]) => [
      make("h4", {}, title),
      ...maps[kind].map((heads, layer) => make("div", { className: "layer" },
        maps[kind].length > 1 ? make("span", {}, `layer ${layer + 1}`) : null, ...heads.map((_, head) => this.makeButton({ kind, layer, head })))),
    ]);
    this.small.replaceChildren(...rows);
  }

  makeButton(head) {
    const canvas = make("canvas", {});
    const label = `${KINDS[head.kind]}, layer ${head.layer + 1}, head ${head.head + 1}`;
    const button = make("button", { type: "button", "aria-label": label, title: label, "data-control": toName(head), ...OWN_KEYS }, canvas);
    button.addEventListener("click", () => this.choose(head));
    this.buttons.set(toName(head), { button, canvas, head });
    return button;
  }

  /** Choose the next head, or the one before, in the order in which they stand. */
  goOn(event) {
    const side = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!side) return;
    event.preventDefault();
    const names = [...this.buttons.keys()];
    const next = this.buttons.get(names[names.indexOf(event.target.dataset.control) + side]);
    if (!next) return;
    this.choose(next.head);
    next.button.focus();
  }

  drawLarge(maps, words, { kind, layer, head }) {
    const weights = maps[kind][layer][head];
    const [rows, columns] = SIDES[kind].map((side) => words[side]);
    const cell = (weight) => {
      const element = make("td", { "aria-label": formatNumber(weight) });
      element.style.setProperty("--weight", weight);
      element.style.backgroundColor = toColour(weight, this.palettes.weight);
      return element;
    };
    const isLong = columns.some((token) => token.length > LONGEST);
    this.large.replaceChildren(make("table", { className: isLong ? "long" : "" },
      make("caption", {}, CAPTIONS[kind]),
      make("thead", {}, make("tr", {}, make("td", {}), ...columns.map((token) => make("th", { scope: "col" }, word(token))))),
      make("tbody", {}, ...weights.map((row, i) =>
        make("tr", {}, make("th", { scope: "row" }, word(rows[i])), ...Array.from(row, cell))))));
  }
}

const toName = ({ kind, layer, head }) => `head ${kind} ${layer} ${head}`;
