// Heads by their short names: e2.1 is the first head of the encoder's second layer.

const LETTERS = { e: "encoder", d: "decoder", c: "cross" };
const HEAD = /^([edc])(\d+)\.(\d+)$/;

export const TITLES = { encoder: "Encoder self-attention", decoder: "Masked self-attention", cross: "Cross-attention" };

/** Say what the rows and columns of a kind's maps are, as { rows, columns }; `source` and `target` are languages. */
export const describeAxes = (kind, [source, target]) => ({
  encoder: { rows: `${source} word that looks`, columns: `${source} word looked at` },
  decoder: { rows: `${target} word read`, columns: `${target} word looked at` },
  cross: { rows: `${target} word being written`, columns: `${source} word looked at` },
})[kind];

/** Whether a query may see a key: in the decoder no later one. */
export const isSeen = (kind, query, key) => kind !== "decoder" || key <= query;

/** Return the short name of a head, such as "e2.1". */
export const toShortName = ({ kind, layer, head }) => `${kind[0]}${layer + 1}.${head + 1}`;

/** Return the head { kind, layer, head } of a short name; null if it is none. */
export function parseHead(name) {
  const [, letter, layer, head] = name.match(HEAD) ?? [];
  return letter ? { kind: LETTERS[letter], layer: layer - 1, head: head - 1 } : null;
}

/** Return the full name of a head, such as "Cross-attention, layer 1, head 2". */
export const toLongName = ({ kind, layer, head }) => `${TITLES[kind]}, layer ${layer + 1}, head ${head + 1}`;
