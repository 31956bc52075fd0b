// The worker of one training run: what the page asks for in, what there is to say out.

import { Training } from "./training.js";

let training = null;

const ANSWERS = {
  start(spec) {
    training = new Training(spec, (said) => postMessage(said));
    return training.run();
  },
  pause: () => training.pause(),
  resume: () => training.resume(),
  stop: () => training.stop(),
  write(text) {
    try {
      postMessage({ kind: "answer", ...training.write(text) });
    } catch (error) {
      postMessage({ kind: "answer", problem: error.message });
    }
  },
  save() {
    try {
      const file = training.save();
      postMessage({ kind: "file", file }, [file]);
    } catch (error) {
      postMessage({ kind: "file", problem: error.message });
    }
  },
};

onmessage = async ({ data: { ask, given } }) => {
  try {
    await ANSWERS[ask](given);
  } catch (error) {
    postMessage({ kind: "failed", message: error.message });
  }
};
