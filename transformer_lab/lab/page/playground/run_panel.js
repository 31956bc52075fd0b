// One training run on the page: how far it is, its chart, what it writes, and where its heads look.

import { make, word, writeText } from "../elements.js";
import { formatPercent } from "../text.js";
import { Chart } from "./chart.js";
import { Maps } from "./maps.js";

const tellSteps = (step, seconds) => `after ${step.toLocaleString("en")} steps and ${seconds.toFixed(1)} seconds`;

/** How far a run is; of an earlier moment, how far it was. */
function tellStatus({ state, problem, result, tried, step, seconds, moments, worker }, moment) {
  const isLast = moment === moments.at(-1);
  if (state === "failed") return problem;
  if (isLast && state === "done") return `Done: ${formatPercent(result.written)} of ${tried} unseen examples are right ${tellSteps(step, seconds)}.`;
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
  constructor(title, palettes, choose) {
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

  /** `chosen` is a moment's number, and `head` the one that stands large. */
  draw(run, { most, chosen, head }) {
    const moment = run.moments[chosen] ?? run.moments.at(-1);
    this.drawStatus(run, moment);
    this.chart.element.hidden = run.state === "failed" && !moment;
    this.chart.draw(run, most, run.moments.indexOf(moment));
    if (moment === this.moment && head === this.head) return;
    Object.assign(this, { moment, head });
    this.drawExamples(run, moment);
    this.maps.draw(moment?.maps, run.words, head);
  }

  drawStatus(run, moment) {
    writeText(this.status, tellStatus(run, moment));
    writeText(this.notes, run.notes?.join(" ") ?? "");
    this.status.classList.toggle("problem", run.state === "failed");
  }

  drawExamples(run, moment) {
    this.examples.hidden = !moment;
    if (!moment) return;
    const row = ({ given, right }, i) => {
      const own = moment.writes[i];
      const isRight = String(own) === String(right);
      const written = own.flatMap((piece, k) => writePiece(piece === right[k] ? "span" : "mark", piece));
      const tooShort = own.length < right.length ? make("mark", {}, own.length ? " (and stops)" : "(nothing)") : null;
      return make("tr", { className: isRight ? "right" : "" }, make("td", {}, word(given)), make("td", {}, ...written, tooShort),
        make("td", {}, isRight ? make("span", { role: "img", "aria-label": "right" }, "✓") : word(right.join("").trim())));
    };
    this.table.replaceChildren(this.caption,
      make("thead", {}, make("tr", {}, ...["Given", "It writes", "Should be"].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...run.shown.map(row)));
  }
}
