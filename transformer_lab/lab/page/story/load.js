// The model's file: asked for after the page has been painted, and unpacked in slices, so that the page never stands still.

import { make } from "../elements.js";
import { unpackEngine } from "../model_file.js";
import { waitForFrame } from "../pause.js";

/** Run the file, which leaves its data in a global; an Error if it isn't there. */
const runFile = (address) =>
  new Promise((done, fail) => {
    const script = make("script", { src: address, async: true });
    script.onload = () => done();
    script.onerror = () => fail(new Error("the model's file is missing"));
    document.head.append(script);
  });

/** Return { engine, examples }, where examples are pairs of a sentence and its right translation. */
export async function loadModel(address) {
  await waitForFrame();
  await runFile(address);
  const data = globalThis.storyModel;
  await waitForFrame();
  const engine = await unpackEngine(data);
  delete globalThis.storyModel; // two megabytes of text that nobody reads again
  await waitForFrame();
  return { engine, examples: data.examples };
}
