// A model as a page holds it, unpacked into the engine that runs it.

import { gunzip } from "./bytes.js";
import { Engine } from "./engine/engine.js";

/** Unpack what `model_data` in Python packed; `pause` is awaited between two steps, so that a page can paint there. */
export async function unpackEngine({ config, tokenizers, weights }, pause = () => {}) {
  const [source, target = source] = JSON.parse(new TextDecoder().decode(await gunzip(tokenizers)));
  await pause();
  const { buffer } = await gunzip(weights);
  await pause();
  return new Engine({ config, source, target, weights: buffer });
}
