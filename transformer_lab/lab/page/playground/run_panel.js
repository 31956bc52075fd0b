// One training run on the page: how far it is, its chart, what it writes, and where its heads look.

import { make, OWN_KEYS, word, writeText } from "../elements.js";
import { formatPercent } from "../text.js";
import { Chart } from "./chart.js";
import { Maps } from "./maps.js";

const FEW = 50;
const tellSteps = (step, seconds) => `after ${step.toLocaleString("en")} steps and ${seconds.toFixed(1)} seconds`;

/** A share of many examples is a percentage; a few are counted. */
const tellShare = (share, count) => (count < FEW ? `${Math.round(share * count)} of ${count}` : `${formatPercent(share)} of ${count}`);

/** How far a run is; of an earlier moment, how far it was. */
function tellStatus({ state, problem, result, tried, step, seconds, moments, worker }, moment) {
  const isLast = moment === moments.at(-1);
  if (state === "failed") return problem;
  if (isLast && state === "done") return `Done: ${tellShare(result.written, tried)} unseen examples are right ${tellSteps(step, seconds)}.`;
  const gone = worker ? "" : " That was in the middle of a step, so there’s no model left to try or to save.";
  if (isLast && state === "stopped") return `Stopped ${tellSteps(step, seconds)}.${gone}`;
  if (!moment) return "Getting ready …";
  return `Step ${moment.step.toLocaleString("en")}: ${formatPercent(moment.written)} right when it writes on its own, after ${moment.seconds.toFixed(1)} seconds.`;
}

/** A piece of what a model writes; the space before a word is none of its own. */
const writePiece = (tag, piece) => {
  const text = piece.trimStart();
  return text && text !== piece ? [" ", make(tag, {}, word(text))] : [make(tag, {}, word(piece))];
};

export class RunPanel {
  /** `choose(head)` and `pick(i)` are called when a head, or one of the examples, is pressed. */
  constructor(title, palettes, choose, pick) {
    this.pick = pick;
    this.title = make("h3", {}, title);
    this.status = make("p", { className: "status", role: "status" });
    this.notes = make("p", { className: "note" });
    this.chart = new Chart();
    this.table = make("table", {});
    this.caption = make("caption", {}, title);
    this.examples = make("div", { className: "examples" }, this.table);
    this.maps = new Maps(title, palettes, choose);
    this.element = make("section", { className: "run", "aria-label": title }, this.title, this.status, this.notes, this.chart.element, this.examples, this.maps.element);
  }

  /** `chosen` is a moment's number, `head` the one that stands large, and `example` the number of the one whose maps are seen. */
  draw(run, { most, chosen, head, example }) {
    const moment = run.moments[chosen] ?? run.moments.at(-1);
    this.drawStatus(run, moment);
    this.chart.element.hidden = run.state === "failed" && !moment;
    this.chart.draw(run, most, run.moments.indexOf(moment));
    if (moment === this.moment && head === this.head && example === this.example) return;
    Object.assign(this, { moment, head, example });
    this.drawExamples(run, moment);
    const seen = run.shown[example] ? example : 0; // there may be fewer of the reader's own
    this.maps.draw(moment?.maps[seen], run.shown[seen], head);
  }

  drawStatus(run, moment) {
    writeText(this.status, tellStatus(run, moment));
    writeText(this.notes, run.notes?.join(" ") ?? "");
    this.status.classList.toggle("problem", run.state === "failed");
  }

  makeButton(given, i) {
    const button = make("button", { type: "button", title: "See where the heads look in this example", "data-control": `example ${i}`, ...OWN_KEYS }, word(given));
    button.addEventListener("click", () => this.pick(i));
    return button;
  }

  drawExamples(run, moment) {
    this.examples.hidden = !moment;
    if (!moment) return;
    const row = ({ right }, i) => {
      const own = moment.writes[i];
      const isRight = String(own) === String(right);
      const written = own.flatMap((piece, k) => writePiece(piece === right[k] ? "span" : "mark", piece));
      const tooShort = own.length < right.length ? make("mark", {}, own.length ? " (and stops)" : "(nothing)") : null;
      return make("tr", { className: isRight ? "right" : "" }, make("td", {}, this.buttons[i]), make("td", {}, ...written, tooShort),
        make("td", {}, isRight ? make("span", { role: "img", "aria-label": "right" }, "✓") : word(right.join("").trim())));
    };
    this.buttons ??= run.shown.map(({ given }, i) => this.makeButton(given, i));
    const focused = document.activeElement; // loses the focus while it's moved
    this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === this.example)));
    this.table.replaceChildren(this.caption,
      make("thead", {}, make("tr", {}, ...["Given", "It writes", "Should be"].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...run.shown.map(row)));
    if (this.buttons.includes(focused)) focused.focus();
  }
}
