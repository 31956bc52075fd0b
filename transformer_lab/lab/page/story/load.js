// The model's file: asked for after the page has been painted, and unpacked in slices, so that the page never stands still.

import { make } from "../elements.js";
import { unpackEngine } from "../model_file.js";

/** Wait until the browser has painted, or a little longer where it doesn't, as in a tab behind others. */
export const waitForFrame = () =>
  new Promise((done) => {
    const timer = setTimeout(done, 200);
    requestAnimationFrame(() => setTimeout(() => (clearTimeout(timer), done())));
  });

/** Run the file, which leaves its data in a global; an Error if it isn't there. */
const runFile = (address) =>
  new Promise((done, fail) => {
    const script = make("script", { src: address, async: true });
    script.onload = () => done();
    script.onerror = () => fail(new Error("the file of the model is missing"));
    document.head.append(script);
  });

/** Return { engine, examples }, where examples are pairs of a sentence and its right translation. */
export async function loadModel(address) {
  await waitForFrame();
  await runFile(address);
  const data = globalThis.storyModel;
  await waitForFrame();
  const engine = await unpackEngine(data, waitForFrame);
  delete globalThis.storyModel; // two megabytes of text that nobody reads again
  await waitForFrame();
  return { engine, examples: data.examples };
}
