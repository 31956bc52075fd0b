// One training run on the page: how far it is, its chart, what it writes, and where its heads look.

import { make, word } from "../elements.js";
import { formatPercent } from "../text.js";
import { Chart } from "./chart.js";
import { Maps } from "./maps.js";

export class RunPanel {
  constructor(title, palettes, choose) {
    this.title = make("h3", {}, title);
    this.status = make("p", { className: "status", role: "status" });
    this.chart = new Chart();
    this.examples = make("table", { className: "examples" });
    this.maps = new Maps(palettes, choose);
    this.element = make("section", { className: "run", "aria-label": title }, this.title, this.status, this.chart.element, this.examples, this.maps.element);
  }

  /** `chosen` is a moment's number, and `head` the one that stands large. */
  draw(run, { most, chosen, head }) {
    const moment = run.moments[chosen] ?? run.moments.at(-1);
    this.drawStatus(run, moment);
    this.chart.draw(run, most, run.moments.indexOf(moment));
    this.drawExamples(run, moment);
    this.maps.draw(moment?.maps, run.words, head);
  }

  drawStatus(run, moment) {
    const { state, step, seconds, problem, result } = run;
    const text = {
      failed: problem,
      done: result && `Done: ${formatPercent(result.written)} of ${run.tried} unseen examples are right after ${step.toLocaleString("en")} steps and ${seconds.toFixed(1)} seconds.`,
    }[state] ?? (moment ? `Step ${moment.step.toLocaleString("en")}: ${formatPercent(moment.written)} right as it writes, after ${moment.seconds.toFixed(1)} seconds.` : "Getting ready …");
    if (this.status.textContent !== text) this.status.textContent = text;
    this.status.classList.toggle("problem", state === "failed");
  }

  drawExamples(run, moment) {
    this.examples.hidden = !moment;
    if (!moment) return;
    const row = ({ given, right }, i) => {
      const own = moment.writes[i];
      const isRight = String(own) === String(right);
      const written = own.map((piece, k) => make(piece === right[k] ? "span" : "mark", {}, word(piece)));
      const tooShort = own.length < right.length ? make("mark", { title: "it stopped too early" }, "…") : null;
      return make("tr", { className: isRight ? "right" : "" }, make("td", {}, word(given)), make("td", {}, ...written, tooShort),
        make("td", {}, isRight ? make("span", { role: "img", "aria-label": "right" }, "✓") : word(right.join("").trim())));
    };
    this.examples.replaceChildren(
      make("thead", {}, make("tr", {}, ...["Given", "It writes", "Should be"].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...run.shown.map(row)));
  }
}
