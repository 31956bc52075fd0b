// How something goes from one place of a drawing to another: fast, and then it is still.
//
// The page always holds the finished state, and what moves is a copy or a delay. So a test, a picture, and a
// reader who asks for no motion all see the same.

import { isStill } from "../still.js";

const EASING = "cubic-bezier(0.3, 0.6, 0.3, 1)";

/** Milliseconds from one place to another. */
export const MOVE = 550;

/** How large one of an element's own pixels is on the screen: a slide enlarges what it shows. */
export const pixelOf = (element) => element.getBoundingClientRect().width / element.offsetWidth || 1;

/** The box around elements, on the screen. */
function frameOf(elements) {
  const boxes = elements.map((element) => element.getBoundingClientRect());
  const [left, top] = ["left", "top"].map((side) => Math.min(...boxes.map((box) => box[side])));
  const [right, bottom] = ["right", "bottom"].map((side) => Math.max(...boxes.map((box) => box[side])));
  return { left, top, width: right - left, height: bottom - top };
}

/** The middle of a box. */
export const middleOf = ({ left, top, width, height }) => [left + width / 2, top + height / 2];

/** Copies of cells, with their numbers or other `texts`, lying over them on the stage. */
function copyCells(cells, kind = "", texts = []) {
  const stage = cells[0].closest(".stage");
  const around = frameOf(cells);
  const origin = stage.getBoundingClientRect();
  const pixel = pixelOf(stage);
  const px = (properties) => Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, `${value / pixel}px`]));
  const ghost = document.createElement("i");
  ghost.className = `ghost ${kind}`;
  ghost.setAttribute("aria-hidden", "true");
  Object.assign(ghost.style, px({ left: around.left - origin.left + stage.scrollLeft * pixel, top: around.top - origin.top + stage.scrollTop * pixel, width: around.width, height: around.height }));
  const copies = cells.map((cell, i) => {
    const { left, top, width, height } = cell.getBoundingClientRect();
    const { backgroundColor, backgroundImage, color, fontSize, fontWeight } = getComputedStyle(cell);
    const copy = document.createElement("b");
    copy.textContent = texts[i] ?? cell.textContent;
    Object.assign(copy.style, { backgroundColor, backgroundImage, color, fontSize, fontWeight }, px({ left: left - around.left, top: top - around.top, width, height, lineHeight: height }));
    return copy;
  });
  ghost.append(...copies);
  stage.append(ghost);
  return ghost;
}

/** Run an animation from `delay` on; before, what is animated looks as at its beginning. */
function run(element, frames, delay, duration = MOVE) {
  return element.animate(frames, { duration, delay, easing: EASING, fill: "backwards" }).finished;
}

/**
 * Let a copy of cells go to where `to` is; returns the time of its arrival, in milliseconds from now.
 *
 * It begins where the cells are, or other elements, `from`. It goes over the points `via`, of the screen, and
 * becomes small enough for its goal, or as small as `scale`.
 */
export function carry(cells, to, { kind, texts, delay = 0, from: others = cells, via = [], scale } = {}) {
  if (isStill() || !cells.length || !to.length) return 0;
  const [from, goal] = [frameOf(cells), frameOf(to)];
  const ghost = copyCells(cells, kind, texts);
  const [x, y] = middleOf(from);
  const pixel = pixelOf(cells[0].closest(".stage"));
  const size = scale ?? Math.min(1, goal.width / from.width, goal.height / from.height);
  const at = ([toX, toY], by) => `translate(${(toX - x) / pixel}px, ${(toY - y) / pixel}px) scale(${by})`;
  const points = [middleOf(frameOf(others)), ...via, middleOf(goal)];
  const moves = points.map((point, i) => ({ transform: at(point, 1 + (size - 1) * (i / (points.length - 1))), offset: 0.9 * (i / (points.length - 1)), opacity: 1 }));
  run(ghost, [...moves, { transform: at(points.at(-1), size), opacity: 0 }], delay).then(() => ghost.remove(), () => {});
  ghost.animate([{ visibility: "hidden" }, { visibility: "hidden" }], { duration: delay, fill: "none" });
  return delay + 0.9 * MOVE;
}

/** Show elements only when `at` milliseconds have gone by, because by then what they hold has arrived. */
export function arrive(elements, at) {
  if (!isStill()) for (const element of elements) run(element, [{ opacity: 0 }, { opacity: 1 }], at, 150);
}

/** Let elements come from a place that is so many pixels to the right and below; `seen` are there from the beginning. */
export function slideIn(elements, { x = 0, y = 0, delay = 0, seen = false }) {
  if (!isStill()) for (const element of elements) run(element, [{ transform: `translate(${x}px, ${y}px)`, opacity: seen ? 1 : 0 }, { transform: "none", opacity: 1 }], delay);
}

/** Let an element keep a look it had before, until everything has arrived. */
export function fadeFrom(element, look) {
  if (!isStill()) run(element, [{ ...look, offset: 0.6 }, {}], 0, 2 * MOVE);
}

/** Let a line be drawn from its beginning to its end. */
export function drawLine(path, delay = 0) {
  const length = path.getTotalLength();
  if (!isStill()) run(path, [{ strokeDasharray: `${length} ${length}`, strokeDashoffset: length }, { strokeDasharray: `${length} ${length}`, strokeDashoffset: 0 }], delay);
}

/** Let the striped cells of a masked matrix slide over what they hide: a word hides nothing before it comes. */
export function slideMask(table) {
  if (isStill()) return;
  [...table.querySelectorAll("tbody tr")].forEach((row, i) => {
    const hidden = [...row.querySelectorAll(".unseen")];
    const seen = row.querySelector("td:not(.unseen, .end)");
    if (!hidden.length) return;
    const under = copyCells(hidden, "under");
    if (seen) [...under.children].forEach((copy) => Object.assign(copy, { textContent: seen.textContent }).style.background = getComputedStyle(seen).backgroundColor);
    run(under, [{ opacity: 1 }, { opacity: 1 }], 0, MOVE + 60 * i).then(() => under.remove(), () => {});
    const cover = copyCells(hidden, "mask");
    run(cover, [{ transform: `translateX(${cover.offsetWidth + 30}px)`, opacity: 0 }, { opacity: 1, offset: 0.3 }, { transform: "none", opacity: 1 }], 60 * i).then(() => cover.remove(), () => {});
  });
}

/** Take away what is still on its way, where the stage is not drawn anew. */
export function settle(stage) {
  stage.querySelectorAll(".ghost").forEach((ghost) => ghost.remove());
}
