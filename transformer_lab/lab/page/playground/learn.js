// Training for anyone in the page: `await transformerLab.learn({ task: "sort", steps: 500, seed: 3 })`.

import { Run } from "./run.js";
import { beginWith, makeSpec, SETTINGS } from "./settings.js";

/** Return the settings of a task with some of them changed; an Error names one that doesn't exist. */
function changeSettings(task, changes) {
  for (const name of Object.keys(changes)) {
    if (!(name in SETTINGS)) throw new Error(`there is no setting ${name}; expected ${Object.keys(SETTINGS).join(", ")}`);
  }
  return { ...beginWith(task), ...changes };
}

/**
 * Return a function that trains a model from scratch in a worker of its own and says how it went.
 *
 * It takes { task, options, seed } and any of `SETTINGS` by its name, such as { positions: "none", heads: 1, steps: 300 },
 * a saved model's `file` to go on with, an ArrayBuffer, and `watch`, a function that gets every moment. It returns a promise of { steps, seconds, loss, exact, written }: the
 * seconds of training alone, the last batch's loss in nats a word, and of 512 unseen examples the share that's right
 * when the words before are told, and as the model writes them. The promise fails with an Error that says what's wrong.
 */
export const makeLearn = (script, tasks) => ({ task = "reverse", options = {}, seed = 0, file = null, watch = null, ...changes } = {}) =>
  new Promise((done, fail) => {
    const found = tasks.find(({ name }) => name === task);
    if (!found) throw new Error(`there is no task ${JSON.stringify(task)}; expected ${tasks.map(({ name }) => name).join(", ")}`);
    const run = new Run(script, makeSpec(found, changeSettings(found, changes), { seed, options, file }), (kind) => {
      if (kind === "moment") watch?.(run.moments.at(-1));
      if (kind === "failed") fail(new Error(run.problem));
      if (kind !== "done") return;
      run.end();
      const { step, seconds, loss, exact, written } = run.result;
      done({ steps: step, seconds, loss, exact, written });
    });
  });
