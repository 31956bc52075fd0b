// What is known beside the weights, as rings on a map: gold alignment, and the two nouns of a pronoun.

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

/** Say what the rings mean; "" if there are none. */
export function describeGold({ alignment, referent }, kind) {
  const meanings = [];
  if (kind === "cross" && alignment) meanings.push("A white ring marks the word that this one translates (the gold alignment).");
  if (kind !== "decoder" && referent) meanings.push("The orange ring marks what the pronoun stands for, and the dashed one the other noun.");
  return meanings.join(" ");
}
