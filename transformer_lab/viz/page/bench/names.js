// Heads by their short names: e2.1 is the first head of the encoder's second layer.

const LETTERS = { e: "encoder", d: "decoder", c: "cross" };
const HEAD = /^([edc])(\d+)\.(\d+)$/;

/** What the rows and the columns of a kind's maps are. */
export const MEANINGS = {
  encoder: { title: "Encoder self-attention", rows: "English word that looks", columns: "English word looked at" },
  decoder: { title: "Masked self-attention", rows: "French word read", columns: "French word looked at" },
  cross: { title: "Cross-attention", rows: "French word being written", columns: "English word looked at" },
};

export const shortName = ({ kind, layer, head }) => `${kind[0]}${layer + 1}.${head + 1}`;

/** The head of a short name; null if it is none. */
export function headOf(name) {
  const [, letter, layer, head] = name.match(HEAD) ?? [];
  return letter ? { kind: LETTERS[letter], layer: layer - 1, head: head - 1 } : null;
}

export const longName = ({ kind, layer, head }) => `${MEANINGS[kind].title}, layer ${layer + 1}, head ${head + 1}`;
