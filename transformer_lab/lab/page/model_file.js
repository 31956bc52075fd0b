// A model as a page holds it, unpacked into the engine that runs it.

import { gunzip } from "./bytes.js";
import { Engine } from "./engine/engine.js";
import { waitForFrame } from "./pause.js";

/** Unpack what `model_data` in Python packed. */
export async function unpackEngine({ config, tokenizers, weights }) {
  const [source, target = source] = JSON.parse(new TextDecoder().decode(await gunzip(tokenizers)));
  await waitForFrame();
  const { buffer } = await gunzip(weights);
  await waitForFrame();
  return new Engine({ config, source, target, weights: buffer });
}
