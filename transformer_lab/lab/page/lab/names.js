// Heads by their codes and by their names: e2.1 is the first head of the encoder's second layer.

import { make } from "../elements.js";

const LETTERS = { e: "encoder", d: "decoder", c: "cross" };
const HEAD = /^([edc])(\d+)\.(\d+)$/;

export const TITLES = { encoder: "Encoder self-attention", decoder: "Masked self-attention", cross: "Cross-attention" };

/** Say what the rows and columns of a kind's maps are, as { rows, columns }; `source` and `target` are languages. */
export const describeAxes = (kind, [source, target]) => ({
  encoder: { rows: `the ${source} words that look`, columns: `the ${source} words that are looked at` },
  decoder: { rows: `the ${target} words that look`, columns: `the ${target} words that are looked at` },
  cross: { rows: `the ${target} words being written`, columns: `the ${source} words that are looked at` },
})[kind];

/** Whether a query may see a key: in the decoder no later one. */
export const isSeen = (kind, query, key) => kind !== "decoder" || key <= query;

/** Return the code of a head, such as "e2.1". */
export const toCode = ({ kind, layer, head }) => `${kind[0]}${layer + 1}.${head + 1}`;

/** Return the head { kind, layer, head } of a code; null if it is none. */
export function parseHead(code) {
  const [, letter, layer, head] = code.match(HEAD) ?? [];
  return letter ? { kind: LETTERS[letter], layer: layer - 1, head: head - 1 } : null;
}

/** Return all heads of a model's configuration, layer by layer: encoder, decoder, cross. */
export function listHeads(config) {
  const heads = (kind, layers) => Array.from({ length: layers * config.num_heads }, (_, i) =>
    ({ kind, layer: Math.floor(i / config.num_heads), head: i % config.num_heads }));
  return [...heads("encoder", config.num_encoder_layers), ...heads("decoder", config.num_decoder_layers), ...heads("cross", config.num_decoder_layers)];
}

/** What the heads of a model are called: by `names`, code → name, from what they were measured to do. */
export class HeadNames {
  constructor(names = {}) {
    this.names = names;
  }

  /** Return what a head was measured to do; "" if nobody has measured it. */
  getName(head) {
    return this.names[toCode(head)] ?? "";
  }

  /** Return a head as text: "finds the noun (e2.3)", or its code alone. */
  say(head) {
    const name = this.getName(head);
    return name ? `${name} (${toCode(head)})` : toCode(head);
  }

  /** Return a head as nodes, its code in small type. */
  write(head) {
    const name = this.getName(head);
    return [...(name ? [`${name} `] : []), make("small", { className: "code" }, toCode(head))];
  }
}
