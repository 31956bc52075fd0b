// Which heads are seen, by what and in what order: the kinds of attention, pieces or words, the scores to sort by.

import { make, OWN_KEYS, toggle } from "../elements.js";
import { KINDS } from "../record.js";

export class Kinds {
  constructor(selection) {
    this.selection = selection;
    this.element = make("div", { className: "kinds", role: "group", "aria-label": "Kind of attention" });
    this.meaning = make("p", { className: "meaning" });
  }

  drawRecord() {
    const { selection } = this;
    this.element.replaceChildren(...Object.keys(selection.record.maps).map((kind) =>
      toggle(kind, KINDS[kind].name, () => kind === selection.kind, () => selection.openKind(kind))));
  }

  drawHead() {
    this.element.childNodes.forEach((button) => button.refresh());
    this.meaning.textContent = KINDS[this.selection.kind].means;
  }
}

const JOINED = "Of a word's pieces the weights that go to them are added, and their rows are averaged.";

/** Pieces as the model reads them, or words; where tokens are words there is no choice. */
export class Units {
  constructor(selection) {
    this.selection = selection;
    const unit = (words, text) => toggle(text.toLowerCase(), text,
      () => selection.settings.words === words, () => selection.showWords(words));
    this.element = make("div", { className: "units", role: "group", "aria-label": "Tokens" },
      unit(false, "Pieces"), unit(true, "Words"));
    this.meaning = make("p", { className: "meaning" }, JOINED);
  }

  drawRecord() {
    const { record, stored } = this.selection;
    this.element.hidden = !stored.word_scores;
    this.meaning.hidden = !record.groups;
    this.element.childNodes.forEach((button) => button.refresh());
  }
}

/** A list of the scores, and what the chosen one means. */
export class Sorting {
  constructor(selection) {
    this.selection = selection;
    this.list = make("select", { "aria-label": "Sort heads by", ...OWN_KEYS });
    this.list.addEventListener("change", () => selection.change("sort", this.list.value));
    this.element = make("label", {}, "Sort by ", this.list);
    this.meaning = make("p", { className: "meaning" });
  }

  drawHead() {
    const { scores, settings, sortedBy } = this.selection;
    settings.sort = sortedBy?.name ?? "";
    const options = [["", "layer and head"], ...scores.map(({ name, label }) => [name, label])];
    if (String(options.map(([name]) => name)) !== String([...this.list.options].map(({ value }) => value))) {
      this.list.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
    }
    this.list.value = settings.sort;
    this.meaning.textContent = sortedBy
      ? `${sortedBy.means}; ${sortedBy.best === "low" ? "lowest" : "highest"} first`
      : "Each small map is one head; a click opens it. Rows ask, columns answer; bright is much weight.";
  }
}
