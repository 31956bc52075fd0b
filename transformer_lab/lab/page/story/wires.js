// The lines between words: each is one weight, and as thick as the weight is large. They move when the weights do.

import { make, svg } from "../elements.js";
import { isStill } from "../still.js";

const THICKEST = 7; // CSS pixels of a weight of 1
const LEAST = 0.06; // a smaller weight isn't drawn
const TIME = 550; // milliseconds of a move
const [PHONE, MARGIN] = ["(max-width: 46em)", 10]; // where the wire has no name, and CSS pixels left of the scene
const NAME = 55; // CSS pixels that the wire leaves to its name, elsewhere

/** Where a word will stand in the scene, even while it's still on its way there. */
const findPlace = ({ offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height }) =>
  ({ left, top, right: left + width, bottom: top + height, x: left + width / 2, y: top + height / 2 });

/** The eight numbers of a curve from an English word to a French one. */
function computeBridge(a, b, shift) {
  const half = (b.left - a.right) / 2;
  return [a.right + 6, a.y + shift, a.right + half, a.y + shift, b.left - half, b.y + shift, b.left - 6, b.y + shift];
}

/** The same from one English word to another, round the left side; a phone has no more room there than its margin, and elsewhere the wire's name needs some. */
function computeArc(a, b) {
  const bow = Math.max(matchMedia(PHONE).matches ? -MARGIN : NAME, Math.min(a.left, b.left) - 40 - 0.22 * Math.abs(a.y - b.y));
  return [a.left - 6, a.y, bow, a.y, bow, b.y, b.left - 6, b.y];
}

const formatPath = (p) => `M${p[0]} ${p[1]}C${p.slice(2).join(" ")}`;

/** Put an element on the middle of a line, but inside the window. */
function putInMiddle(element, { path }) {
  const [x, y] = [0, 1].map((axis) => (path[axis] + 3 * path[2 + axis] + 3 * path[4 + axis] + path[6 + axis]) / 8);
  Object.assign(element.style, { left: `${Math.max(5, x)}px`, top: `${y}px` });
}

export class Wires {
  constructor(scene, { cut }) {
    Object.assign(this, { scene, lines: new Map(), frame: 0, only: null });
    this.drawing = svg("svg", { class: "wires", "aria-hidden": "true" });
    this.scissors = make("button", { type: "button", className: "scissors", hidden: true, title: "Cut the wire", "aria-label": "Cut the wire" },
      svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" },
        svg("path", { d: "M20 4 8.1 15.9M14.5 14.5 20 20M8.1 8.1 12 12" }),
        svg("circle", { cx: 6, cy: 6, r: 3 }), svg("circle", { cx: 6, cy: 18, r: 3 })));
    this.scissors.addEventListener("click", cut);
    this.labels = { wire: "one head", "read 0": "two heads" };
    for (const [name, text] of Object.entries(this.labels)) this.labels[name] = make("span", { className: `wire-label ${name.slice(0, 4)}`, "aria-hidden": "true" }, text);
    scene.append(this.drawing, this.scissors, ...Object.values(this.labels));
  }

  /** Draw the lines of a screen; with `atOnce` they don't move there. */
  draw(answer, { screen, isCut, withOthers, places, atOnce = false }) {
    const [source, target] = ["source", "target"].map((side) => Array.from(this.scene.querySelectorAll(`.${side} li`), findPlace));
    this.answer = answer;
    const lines = new Map();
    const add = (name, path, weight, kind, pair) => lines.set(name, { path, width: Math.max(0.7, THICKEST * weight), kind, pair });
    if (screen === 2) {
      answer.looks.forEach((row, query) => row.forEach((weight, key) => {
        if (weight >= LEAST) add(`${query} ${key}`, computeBridge(source[key], target[query], 0), weight, "thin", { query, key, weight });
      }));
    }
    if (screen === 3 || screen === 4) {
      const decider = source[places.decider];
      add("wire", computeArc(decider, source[answer.noun]), answer.found, isCut ? "lit cut" : "lit");
      answer.read.forEach((weight, i) => add(`read ${i}`, computeBridge(decider, target[answer.step], i ? 5 : -5), weight, "lit"));
      if (withOthers && screen === 3) {
        answer.others.forEach((weight, i) =>
          add(`other ${i}`, computeBridge(source[places.pronoun], target[answer.step], i ? 4 : -4), weight, "other"));
      }
    }
    this.place(lines, atOnce || isStill());
    const wire = lines.get("wire");
    this.scissors.hidden = screen !== 4 || isCut;
    if (wire) putInMiddle(this.scissors, wire);
    for (const [name, label] of Object.entries(this.labels)) {
      label.hidden = screen !== 3 || isCut;
      if (!label.hidden) putInMiddle(label, lines.get(name));
    }
    this.light(this.only);
  }

  /** Move each line to its new place; fade in those that are new, and out those that are gone. */
  place(wanted, atOnce) {
    for (const [name, { element }] of this.lines) {
      if (wanted.has(name)) continue;
      this.lines.delete(name);
      element.remove();
    }
    for (const [name, { path, width, kind, pair }] of wanted) {
      let line = this.lines.get(name);
      if (!line) {
        const element = svg("path", { pathLength: 100, "data-name": name });
        this.drawing.append(element);
        this.lines.set(name, (line = { element, now: [...path, width] }));
      }
      line.element.setAttribute("class", kind);
      Object.assign(line, { pair, from: line.now, to: [...path, width] });
    }
    cancelAnimationFrame(this.frame);
    const began = performance.now();
    const step = (now) => {
      const part = atOnce ? 1 : Math.min(1, Math.max(0, (now - began) / TIME));
      const eased = part * part * (3 - 2 * part);
      for (const line of this.lines.values()) {
        line.now = line.to.map((end, i) => line.from[i] + (end - line.from[i]) * eased);
        line.element.setAttribute("d", formatPath(line.now.slice(0, 8)));
        line.element.setAttribute("stroke-width", line.now[8]);
      }
      if (part < 1) this.frame = requestAnimationFrame(step);
    };
    step(began);
  }

  /** Leave only the lines of one word, { side, place }, or all for null. */
  light(only) {
    this.only = only;
    for (const { element, pair } of this.lines.values()) {
      const isOther = pair && only && (only.side === "source" ? pair.key : pair.query) !== only.place;
      element.classList.toggle("faint", Boolean(isOther));
    }
  }

  /** What a word's strongest lines say, in words. */
  describe({ side, place }) {
    const { source, written, looks } = this.answer;
    const found = [...this.lines.values()].map(({ pair }) => pair).filter((pair) => pair && (side === "source" ? pair.key : pair.query) === place);
    const best = found.sort((a, b) => b.weight - a.weight).slice(0, 2);
    if (!looks || !best.length) return "";
    const list = best.map(({ query, key, weight }) => `${side === "source" ? written[query] : source[key]} ${weight.toFixed(2)}`).join(", ");
    return side === "source" ? `The model looks at ${source[place]} to write ${list}.` : `To write ${written[place]}, it looks at ${list}.`;
  }
}
