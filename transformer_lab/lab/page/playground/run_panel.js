// One training run on the page: how far it is, its chart, what it writes, and where its heads look.

import { make, word } from "../elements.js";
import { Chart } from "./chart.js";
import { Maps } from "./maps.js";

const percent = (share) => `${Math.round(100 * share)}%`;

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
  draw(run, { most, chosen, head, join }) {
    const moment = run.moments[chosen] ?? run.moments.at(-1);
    this.drawStatus(run, moment);
    this.chart.draw(run, most, run.moments.indexOf(moment));
    this.drawExamples(run, moment, join);
    const [first] = run.shown;
    const words = first && { given: [...first.source, "end"], read: [...first.target, "end"] };
    this.maps.draw(moment?.maps, words, head);
  }

  drawStatus(run, moment) {
    const { state, step, seconds, problem, result } = run;
    const text = {
      failed: problem,
      done: result && `Done: ${percent(result.written)} of ${run.tried} unseen examples are right after ${step.toLocaleString("en")} steps and ${seconds.toFixed(1)} seconds.`,
    }[state] ?? (moment ? `Step ${moment.step.toLocaleString("en")}: ${percent(moment.written)} right as it writes, after ${moment.seconds.toFixed(1)} seconds.` : "Getting ready …");
    if (this.status.textContent !== text) this.status.textContent = text;
    this.status.classList.toggle("problem", state === "failed");
  }

  drawExamples(run, moment, join) {
    this.examples.hidden = !moment;
    if (!moment) return;
    const written = (tokens, target) => tokens.flatMap((token, i) =>
      [i ? join.target : "", make(token === target[i] ? "span" : "mark", {}, word(token))]);
    const row = ({ source, target }, i) => {
      const own = moment.writes[i];
      const right = String(own) === String(target);
      return make("tr", { className: right ? "right" : "" },
        make("td", {}, source.join(join.source)), make("td", {}, ...written(own, target), own.length < target.length ? make("mark", { title: "it stopped too early" }, "…") : null),
        make("td", {}, right ? make("span", { "aria-label": "right" }, "✓") : target.join(join.target)));
    };
    this.examples.replaceChildren(
      make("thead", {}, make("tr", {}, ...["Given", "It writes", "Right"].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...run.shown.map(row)));
  }
}
