// The reader's own pairs: pasted, or read from a file. They stay in this page.

import { make, OWN_KEYS } from "../elements.js";

export class OwnPairs {
  /** `changed()` is called when there are other pairs. */
  constructor(changed) {
    this.text = make("textarea", { rows: 6, spellcheck: false, placeholder: "hello\tbonjour\nthank you\tmerci", "aria-label": "Your pairs", ...OWN_KEYS });
    this.text.addEventListener("input", changed);
    this.file = make("input", { type: "file", accept: ".txt,.tsv,.csv,text/plain,text/csv", "aria-label": "Open a file of pairs" });
    this.file.addEventListener("change", async () => {
      const [file] = this.file.files;
      this.file.value = ""; // or the same file couldn't be chosen again
      if (!file) return;
      this.problem.textContent = "";
      try {
        this.text.value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
        changed();
      } catch {
        this.problem.textContent = `${file.name} isn’t in UTF-8. Save it in UTF-8 (in an editor: “Save as”), and open it again.`;
      }
    });
    this.problem = make("p", { className: "problem", role: "alert" });
    this.element = make("section", { className: "own" },
      make("p", {}, "One pair a line, with a tab, a comma or a semicolon between its two sides. You need at least 20, and a few hundred are better. Capital letters become small ones. Your pairs stay on your device."),
      this.text, this.file, this.problem);
  }

  get options() {
    return { text: this.text.value };
  }
}
