// A translator of the reader's own, from a file, in place of the one that the page came with.

import { make } from "../elements.js";
import { Engine } from "../engine/engine.js";
import { readDescription } from "../engine/saved_file.js";

/** Return the engine of a file, and a sentence to begin with. */
function readEngine(buffer) {
  const { model, about, source_tokenizer: source, target_tokenizer: target } = readDescription(buffer);
  const engine = new Engine({ config: { model }, source, target, weights: buffer });
  return { engine, sentence: about?.example ?? engine.source.tokens([4, 5, 6]).join(" ") };
}

export class OpenFile {
  /** `show(engine, sentence)` shows the translator of a file. */
  constructor(show) {
    this.file = make("input", { type: "file", accept: ".safetensors" });
    this.problem = make("p", { className: "unreadable", role: "alert" });
    this.file.addEventListener("change", () => this.open(show));
    this.element = make("div", { className: "saving" }, make("label", {}, "Open a translator that you have saved or trained in the playground: ", this.file), this.problem);
  }

  async open(show) {
    const [file] = this.file.files;
    if (!file) return;
    this.problem.textContent = "";
    try {
      const { engine, sentence } = readEngine(await file.arrayBuffer());
      show(engine, sentence);
    } catch (error) {
      this.problem.textContent = `${file.name} can’t be opened: ${error.message}.`;
    }
  }

  draw() {} // it never changes
}
