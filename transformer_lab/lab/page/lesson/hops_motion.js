// How a word's gender hops: along an arc, from the word that is looked at to the one that looks.

import { carry, drawLine, pixelOf } from "./motion.js";

/** Draw the arcs of a kind from the words that are looked at, and send the word that gives most along the widest. */
export function moveHop({ stage, source, written }, kind) {
  stage.querySelectorAll(".sentence").forEach((sentence, i) => {
    const paths = [...sentence.querySelectorAll(`path.${kind}`)];
    paths.forEach((path) => drawLine(path));
    const widest = paths.toSorted((a, b) => b.dataset.weight - a.dataset.weight)[0];
    if (!widest) return;
    const find = (which, place) => sentence.querySelector(`[data-control="${i} ${which} ${place}"]`);
    const goal = kind === "encoder" ? find("source", source[i]) : find("written", written[i]);
    const { left, top } = sentence.querySelector("svg").getBoundingClientRect();
    const pixel = pixelOf(stage);
    const via = [1, 2, 3].map((part) => widest.getPointAtLength((widest.getTotalLength() * part) / 4)).map(({ x, y }) => [left + x * pixel, top + y * pixel]);
    carry([find("source", widest.dataset.from)], [goal], { kind, via, scale: 1 });
  });
}
