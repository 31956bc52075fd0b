// The course of a run: how many examples are right, and the loss.

import { make, svg } from "../elements.js";

const [WIDTH, HEIGHT] = [320, 120];
const MARGIN = { left: 34, right: 26, top: 8, bottom: 20 };
const LOSSES = 200; // points of the loss that are drawn

const across = (share) => MARGIN.left + share * (WIDTH - MARGIN.left - MARGIN.right);
const up = (share) => HEIGHT - MARGIN.bottom - share * (HEIGHT - MARGIN.top - MARGIN.bottom);
const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

export class Chart {
  constructor() {
    this.picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    this.element = make("figure", { className: "chart" }, this.picture, make("figcaption", {},
      make("span", { className: "written" }, "right when it writes on its own (64 examples each time)"), make("span", { className: "told" }, "right when it’s told the correct beginning"),
      make("span", { className: "loss" }, "loss (scale on the right): how surprised it is by the right words")));
  }

  /** `most` is the highest loss of all runs that stand side by side; `chosen` is the moment that's looked at. */
  draw({ spec: { steps }, moments, losses }, most, chosen) {
    const at = (step) => across(step / steps);
    const line = (name) => path(moments.map((moment) => [at(moment.step), up(moment[name])]));
    const every = Math.ceil(losses.length / LOSSES) || 1;
    const loss = path(losses.filter((_, i) => i % every === 0).map(({ step, loss: value }) => [at(step), up(Math.min(1, value / most))]));
    const axis = [0, 0.5, 1].flatMap((share) => [
      svg("line", { class: "grid", x1: across(0), x2: across(1), y1: up(share), y2: up(share) }),
      svg("text", { x: MARGIN.left - 5, y: up(share) + 4, "text-anchor": "end" }, `${100 * share}%`),
      svg("text", { class: "scale", x: across(1) + 5, y: up(share) + 4 }, losses.length ? (most * share).toFixed(share ? 1 : 0) : ""),
    ]);
    const ends = [0, steps].map((step) =>
      svg("text", { x: at(step), y: HEIGHT - 5, "text-anchor": step ? "end" : "start" }, step ? `${step.toLocaleString("en")} steps` : "0"));
    const here = moments[chosen] ? [svg("line", { class: "here", x1: at(moments[chosen].step), x2: at(moments[chosen].step), y1: up(0), y2: up(1) })] : [];
    this.picture.replaceChildren(...axis, ...ends, ...here, svg("path", { class: "loss", d: loss }), svg("path", { class: "told", d: line("exact") }),
      svg("path", { class: "written", d: line("written") }));
    const last = moments.at(-1);
    this.picture.setAttribute("aria-label", last ? `After step ${last.step}, ${Math.round(100 * last.written)}% are right when it writes on its own.` : "Nothing has been learned yet.");
  }
}
