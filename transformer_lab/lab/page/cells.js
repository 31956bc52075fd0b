// A weight as a cell of a table.

import { make } from "./elements.js";
import { formatNumber } from "./text.js";

/** Return 256 CSS styles { background, color } from 256 colours, given as bytes of red, green and blue. */
export function makePaints(rgb) {
  return Array.from({ length: 256 }, (_, shade) => {
    const channels = rgb.slice(3 * shade, 3 * shade + 3);
    const light = channels.reduce((sum, value, i) => sum + [0.2126, 0.7152, 0.0722][i] * (value / 255) ** 2.2, 0);
    // Black and white are equally far from a luminance of 0.18, as contrast is counted.
    return { background: `rgb(${channels.join()})`, color: light > 0.18 ? "#000" : "#fff" };
  });
}

/** Write a weight as briefly as possible: ".07", "1". */
const formatWeight = (weight) => formatNumber(weight).replace(/^0/, "").replace(/\.00$/, "");

/**
 * Return a table cell in the colour of a weight, with its number if asked; an empty one if the weight is
 * null, because the mask hides it. A `shade` from 0 to 1 replaces the weight's own. Where there's no room for the number, a screen reader still says it.
 */
export function weightCell(weight, paints, withNumber, shade = weight) {
  if (weight == null) return make("td", { className: "unseen" });
  const isShown = withNumber && weight >= 0.045;
  const cell = isShown ? make("td", {}, formatWeight(weight)) : make("td", { "aria-label": formatNumber(weight) });
  Object.assign(cell.style, paints[Math.round(255 * shade)]);
  return cell;
}
