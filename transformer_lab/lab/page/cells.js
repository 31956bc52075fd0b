// A weight as a cell of a table.

import { make } from "./elements.js";
import { number } from "./text.js";

/** 256 colours as bytes of red, green and blue: each as a background and what can be read on it. */
export function paintsOf(rgb) {
  return Array.from({ length: 256 }, (_, shade) => {
    const channels = rgb.slice(3 * shade, 3 * shade + 3);
    const light = channels.reduce((sum, value, i) => sum + [0.2126, 0.7152, 0.0722][i] * (value / 255) ** 2.2, 0);
    // Black and white are equally far from a luminance of 0.18, as contrast is counted.
    return { background: `rgb(${channels.join()})`, color: light > 0.18 ? "#000" : "#fff" };
  });
}

/** ".07", "1": a weight in as little room as can be. */
const shortNumber = (weight) => number(weight).replace(/^0/, "").replace(/\.00$/, "");

/** A cell in a weight's colour, with its number if asked; of a later word, which the mask hides, an empty one. */
export function weightCell(weight, paints, withNumber) {
  if (weight == null) return make("td", { className: "unseen" });
  const cell = make("td", {}, withNumber && weight >= 0.045 ? shortNumber(weight) : "");
  Object.assign(cell.style, paints[Math.round(255 * weight)]);
  return cell;
}
