// The four pictures of the zoom, from Figure 1 down to one weight. In each, `part` finds what the next one shows.

import { weightCell } from "../cells.js";
import { make, OWN_KEYS, word } from "../elements.js";
import { formatNumber } from "../text.js";

/** A map of weights without words: a row for each query, a column for each key. */
function drawMap(weights, paints, size) {
  const [height, width] = [weights.length, weights[0].length];
  const canvas = make("canvas", { width, height, className: "map" });
  canvas.style.width = `${size}px`;
  canvas.style.height = `${(size * height) / width}px`;
  const context = canvas.getContext("2d");
  weights.forEach((line, row) => line.forEach((weight, column) => {
    context.fillStyle = weight == null ? "#b8b8c0" : paints[Math.round(255 * weight)].background;
    context.fillRect(column, row, 1, 1);
  }));
  return canvas;
}

const press = (control, label, go, ...children) => {
  const button = make("button", { type: "button", "data-control": control, "aria-label": label }, ...children);
  button.addEventListener("click", go);
  return button;
};

/** What a layer is called. */
export const nameBlock = ({ side, layer }) => `${side === "encoder" ? "Encoder" : "Decoder"} layer ${layer + 1}`;

/** Figure 1, with the words that enter and the layers as buttons, to be read from the bottom up. */
export function buildFigure({ data, headsOf, paints, enter }) {
  const chips = (tokens) => make("div", { className: "chips" }, ...tokens.map((token) => make("span", {}, word(token))));
  const plain = (text) => make("div", { className: "box" }, text);
  const layer = (block, i) => {
    const parts = block.parts.map((part) => make("span", { className: `box${part.kind ? " attention" : ""}` }, make("span", {}, part.text), ...(part.kind ? headsOf(part).map(({ weights }) => drawMap(weights, paints, 19)) : [])));
    return press(`block ${i}`, `${nameBlock(block)}: go in`, () => enter(1, { block: i }), make("b", {}, nameBlock(block)), make("span", { className: "upwards" }, ...parts));
  };
  const layers = data.blocks.map((block, i) => [block.side, layer(block, i)]);
  const column = (side, words, top) => make("div", { className: `column upwards ${side}` }, chips(words), ...data.boxes.below.map(plain), ...layers.filter(([of]) => of === side).map(([, button]) => button), ...top);
  const memory = make("div", { className: "memory" }, "memory: to each decoder layer ▶");
  return make("div", { className: "figure-1" }, column("encoder", data.source, [memory]), column("decoder", data.target, [...data.boxes.above.map(plain), chips(data.written)]));
}

/** A layer: its sub-layers from the bottom up, and each head of an attention as a small map. */
export function buildBlock({ data, at, headsOf, paints, enter }) {
  const block = data.blocks[at.block];
  const tile = (part, weights, head) => press(`head ${part} ${head}`, `${block.parts[part].text}, head ${head + 1}: go in`, () => enter(2, { part, head }), drawMap(weights, paints, 92), make("small", {}, `head ${head + 1}`));
  const box = (part, i) => make("div", { className: `box${part.kind ? " attention" : ""}` }, part.text, ...(part.kind ? [make("div", { className: "heads" }, ...headsOf(part).map(({ weights }, head) => tile(i, weights, head)))] : []));
  const boxes = block.parts.map(box);
  // Around each sub-layer goes a line to its Add & Norm.
  const pairs = boxes.flatMap((own, i) => (i % 2 ? [] : [make("div", { className: "pair upwards" }, own, boxes[i + 1])]));
  return make("div", { className: `layer upwards ${block.side}` }, ...pairs, make("b", {}, nameBlock(block)));
}

/** A head: its map with the words of its rows and columns; arrow keys go from weight to weight. */
export function buildHead({ at, head: { weights }, words: { queries, keys }, paints, enter }) {
  const cell = (weight, row, column) => {
    const made = weightCell(weight, paints, true);
    if (weight == null) return made;
    const chosen = row === at.row && column === at.column;
    made.className = chosen ? "chosen" : "";
    const properties = { role: "gridcell", tabindex: chosen ? 0 : -1, "data-control": `cell ${row} ${column}`, "aria-label": `${queries[row]} gives ${keys[column]} ${formatNumber(weight)}` };
    Object.entries(properties).forEach(([name, value]) => made.setAttribute(name, value));
    made.addEventListener("click", () => enter(3, { row, column }));
    return made;
  };
  const lines = weights.map((line, row) => make("tr", { role: "row", className: row === at.row ? "lit" : "" }, make("th", { scope: "row" }, word(queries[row])), ...line.map((weight, column) => cell(weight, row, column))));
  const top = make("tr", { role: "row" }, make("td"), ...keys.map((token, column) => make("th", { scope: "col", className: column === at.column ? "lit" : "" }, word(token))));
  const table = make("table", { role: "grid", "aria-label": "Weights: a row for each query, a column for each key", ...OWN_KEYS }, make("thead", {}, top), make("tbody", {}, ...lines));
  table.addEventListener("keydown", (event) => onGridKey(event, table));
  return make("div", { className: "head" }, table);
}

/** Arrows go to the next weight that is not hidden; Enter and the space bar go in. */
function onGridKey(event, table) {
  const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
  const inside = event.key === "Enter" || event.key === " ";
  if (down == null && !inside) return;
  event.preventDefault();
  event.stopPropagation();
  if (inside) return event.target.click();
  const [, row, column] = event.target.dataset.control.split(" ").map(Number);
  const next = table.querySelector(`[data-control="cell ${row + down} ${column + right}"]`);
  if (!next) return;
  [event.target.tabIndex, next.tabIndex] = [-1, 0];
  next.focus();
}
