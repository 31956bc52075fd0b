// The English and the French sentence: words in lines, or in two columns, and how they get from one to the other.

import { make } from "../elements.js";
import { isStill } from "../still.js";

const LANDING = { duration: 650, easing: "cubic-bezier(0.3, 0.7, 0.2, 1)" };
const CELLS = 32; // of a strip: all 128 would be narrower than a pixel
const STRIP_ROOM = 2.6; // the size of a number that gets its full colour

/** Draw the first numbers of a word's vector, a cell of colour for each: blue below 0, orange above, as in all of the course. */
function paintStrip(canvas, whole) {
  const vector = whole.slice(0, CELLS);
  canvas.width = vector.length;
  canvas.height = 1;
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(vector.length, 1);
  vector.forEach((value, i) => {
    const [red, green, blue] = value < 0 ? [0, 134, 209] : [214, 130, 20];
    pixels.data.set([red, green, blue, 255 * Math.min(1, Math.abs(value) / STRIP_ROOM)], 4 * i);
  });
  context.putImageData(pixels, 0, 0);
}

export class Sentence {
  /** `look` hears which word is pointed at, as { side, place }, or null. */
  constructor(stage, { flip, look }) {
    Object.assign(this, { stage, flip, look, shown: "" });
    this.sides = { source: stage.querySelector(".source"), target: stage.querySelector(".target") };
    for (const [side, list] of Object.entries(this.sides)) {
      list.addEventListener("pointerleave", () => look(null));
      list.addEventListener("focusout", () => look(null));
      for (const event of ["pointerover", "focusin", "click"]) {
        list.addEventListener(event, ({ target }) => {
          const place = [...list.children].indexOf(target.closest("li"));
          if (place >= 0) look({ side, place });
        });
      }
      list.addEventListener("keydown", (event) => this.step(event));
    }
    this.flipper = make("button", { type: "button", className: "word flip" });
    this.flipper.addEventListener("click", flip);
  }

  get items() {
    return [...this.sides.source.children, ...this.sides.target.children];
  }

  /** Left and right go from word to word; one of them is reached by Tab. */
  step(event) {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const words = this.items.map((item) => item.querySelector(".word"));
    const next = words[words.indexOf(event.target) + move];
    if (!move || !next || this.stage.dataset.layout !== "columns") return;
    for (const one of words) if (one !== this.flipper) one.tabIndex = one === next ? 0 : -1;
    next.focus();
    event.preventDefault();
  }

  /** Write the words of an answer; `other` is the word that the last one can become. Return a function that moves them. */
  draw(answer, { screen, other, layout }) {
    const before = new Map(this.items.map((item) => [item, item.getBoundingClientRect()]));
    for (const item of this.items) for (const one of item.getAnimations()) one.cancel();
    const changed = [...this.write("source", answer.source, other), ...this.write("target", answer.written)];
    this.mark(answer);
    this.stage.dataset.screen = screen;
    this.stage.dataset.layout = layout;
    for (const [side, list] of Object.entries(this.sides)) {
      [...list.children].forEach((item, place) => {
        const one = item.querySelector(".word");
        if (one === this.flipper) return;
        const isFirst = side === "source" && place === 0;
        if (layout !== "columns") one.removeAttribute("tabindex");
        else if (!one.hasAttribute("tabindex")) one.tabIndex = isFirst ? 0 : -1;
      });
      list.inert = layout === "away";
    }
    this.paintStrips(answer);
    return () => this.move(before, changed);
  }

  write(side, words, other) {
    const list = this.sides[side];
    const changed = [];
    words.forEach((text, place) => {
      const isLast = side === "source" && place === words.length - 1;
      let item = list.children[place];
      if (!item) list.append((item = make("li", {}, make("span", { className: "word" }))));
      if (isLast && this.flipper.parentElement !== item) item.querySelector(".word").replaceWith(this.flipper);
      const shown = item.querySelector(".word");
      if (isLast) {
        const name = `${text}: press to write ${other} instead`;
        if (shown.dataset.word !== text) shown.replaceChildren(text, make("span", { className: "or", "aria-hidden": "true" }, " ⇄ ", other));
        shown.dataset.word = text;
        shown.setAttribute("aria-label", name);
      } else if (shown.textContent !== text) {
        if (this.shown) changed.push(item);
        shown.textContent = text;
      }
      item.classList.toggle("joined", text.endsWith("'"));
    });
    while (list.children.length > words.length) list.lastElementChild.remove();
    if (side === "target") this.shown = words.join(" ");
    return changed;
  }

  /** Give the words that matter their colours: looked at, looking, or both. */
  mark({ noun, step, source }) {
    [...this.sides.source.children].forEach((item, place) => {
      item.classList.toggle("key", place === noun);
      item.classList.toggle("decider", place === source.length - 1);
    });
    [...this.sides.target.children].forEach((item, place) => item.classList.toggle("query", place === step));
  }

  /** Draw beside each English word what the encoder has made of it. */
  paintStrips({ vectors }) {
    if (!vectors) return;
    [...this.sides.source.children].forEach((item, place) => {
      const strip = item.querySelector("canvas") ?? item.appendChild(make("canvas", { className: "strip", "aria-hidden": "true" }));
      paintStrip(strip, vectors.row(place));
    });
  }

  /** Let each word come from where it stood, and each new word turn up. */
  move(before, changed) {
    for (const item of changed) item.animate([{ color: "var(--mark)", opacity: 0.1 }, { opacity: 1 }], { duration: 700 });
    if (isStill()) return;
    for (const item of this.items) {
      const from = before.get(item);
      const to = item.getBoundingClientRect();
      const [x, y] = [from ? from.left - to.left : 0, from ? from.top - to.top : 0];
      if (Math.abs(x) + Math.abs(y) > 1) item.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], LANDING);
    }
  }
}
