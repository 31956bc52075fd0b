// The course of a run: how many examples are right, and the loss.

import { make, svg, writeText } from "../elements.js";

const [WIDTH, HEIGHT] = [320, 120];
const MARGIN = { left: 34, right: 26, top: 8, bottom: 20 };
const LOSSES = 200; // points of the loss that are drawn
const APART = 0.02; // two lines that are nowhere further apart look like one

const across = (share) => MARGIN.left + share * (WIDTH - MARGIN.left - MARGIN.right);
const up = (share) => HEIGHT - MARGIN.bottom - share * (HEIGHT - MARGIN.top - MARGIN.bottom);
const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

export class Chart {
  constructor() {
    this.axis = svg("g");
    this.here = svg("line", { class: "here", y1: up(0), y2: up(1) });
    this.lines = Object.fromEntries(["loss", "told", "written"].map((name) => [name, svg("path", { class: name })]));
    this.picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }, this.axis, this.here, ...Object.values(this.lines));
    this.written = make("span", { className: "written" });
    this.told = make("span", { className: "told" }, "right when it’s given the correct answer so far");
    this.element = make("figure", { className: "chart" }, this.picture, make("figcaption", {},
      this.written, this.told,
      make("span", { className: "loss" }, "loss (scale on the right): how surprised it is by the right words")));
  }

  /** `most` is the highest loss of all runs that stand side by side; `chosen` is the moment that's looked at. */
  draw({ spec: { steps }, moments, losses, watched }, most, chosen) {
    const at = (step) => across(step / steps);
    const drawLine = (name, points) => this.lines[name].setAttribute("d", path(points));
    const every = Math.ceil(losses.length / LOSSES) || 1;
    drawLine("loss", losses.filter((_, i) => i % every === 0).map(({ step, loss }) => [at(step), up(Math.min(1, loss / most))]));
    drawLine("told", moments.map(({ step, exact }) => [at(step), up(exact)]));
    this.told.hidden = moments.every(({ exact, written }) => Math.abs(exact - written) < APART); // it lies under the other
    drawLine("written", moments.map(({ step, written }) => [at(step), up(written)]));
    this.drawAxis(steps, losses.length ? most : null);
    const here = moments[chosen];
    this.here.setAttribute("visibility", here ? "visible" : "hidden");
    for (const end of ["x1", "x2"]) this.here.setAttribute(end, at(here?.step ?? 0));
    writeText(this.written, `right when it writes on its own${watched ? ` (${watched} examples each time)` : ""}`);
    const last = moments.at(-1);
    this.picture.setAttribute("aria-label", last ? `After step ${last.step}, ${Math.round(100 * last.written)}% are right when it writes on its own.` : "Nothing has been learned yet.");
  }

  /** Draw the scales, if they aren't there yet: `most` is the highest loss, null before the first one. */
  drawAxis(steps, most) {
    if (this.scale === most) return;
    this.scale = most;
    const heights = [0, 0.5, 1].flatMap((share) => [
      svg("line", { class: "grid", x1: across(0), x2: across(1), y1: up(share), y2: up(share) }),
      svg("text", { x: MARGIN.left - 5, y: up(share) + 4, "text-anchor": "end" }, `${100 * share}%`),
      svg("text", { class: "scale", x: across(1) + 5, y: up(share) + 4 }, most === null ? "" : (most * share).toFixed(share ? 1 : 0)),
    ]);
    const ends = [0, 1].map((share) =>
      svg("text", { x: across(share), y: HEIGHT - 5, "text-anchor": share ? "end" : "start" }, share ? `${steps.toLocaleString("en")} steps` : "0"));
    this.axis.replaceChildren(...heights, ...ends);
  }
}
