// What is known beside the weights, as rings on a map: gold alignment, and the two nouns of a pronoun.

import { svg } from "../elements.js";

/** Whether there are rings for a kind of a record. */
export const hasGold = ({ alignment, referent }, kind) =>
  Boolean((kind === "cross" && alignment) || (kind !== "decoder" && referent));

/** Return the rings { query, key, className } of a kind's maps: gold links, and the two nouns of a pronoun. */
export function findGoldRings({ alignment, referent }, kind) {
  const rings = [];
  if (kind === "cross") for (const [key, query] of alignment ?? []) rings.push({ query, key, className: "gold" });
  if (referent && kind !== "decoder") {
    const query = kind === "encoder" ? referent.pronoun : referent.step;
    rings.push({ query, key: referent.referent, className: "referent" });
    rings.push({ query, key: referent.other, className: "other" });
  }
  return rings;
}

/** Draw a ring in the middle of its cell, white on black: two ellipses, with room for a number inside. */
export function drawRing({ query, key, className }) {
  const place = { cx: key + 0.5, cy: query + 0.5, rx: 0.44, ry: 0.44 };
  return [svg("ellipse", { ...place, class: `under ${className}` }), svg("ellipse", { ...place, class: className })];
}

/** Return a legend that says what the rings mean; "" if there are none. */
export function describeGold({ alignment, referent }, kind) {
  const meanings = [];
  if (kind === "cross" && alignment) meanings.push("○ gold alignment");
  if (kind !== "decoder" && referent) meanings.push("orange ○ referent", "dashed ○ the other noun");
  return meanings.join(" · ");
}
