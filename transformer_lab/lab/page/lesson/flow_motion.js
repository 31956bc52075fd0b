// How a sentence's words go through Figure 1: along the arrows, from box to box.

import { carry, middleOf, settle } from "./motion.js";

/** Let the words go into the box of this step: from the box below, around it, and from the memory. */
export function moveWords({ stage, steps, boxes, box, memory }) {
  settle(stage);
  const { buttons, step } = steps;
  const goal = buttons[step];
  const boxOf = (element) => element.getBoundingClientRect();
  /** The words of a side leave the boxes `from`, or the place where they stand, and go over the points `via`. */
  const enter = (side, from, via) => {
    const words = [...stage.querySelectorAll(`.under.${side} .token`)];
    carry(words, [goal], { kind: side, from, via, scale: 0.8 });
  };
  const below = boxes[step - 1]?.side === box.side ? [buttons[step - 1]] : undefined;
  enter(box.side, below);
  const skip = goal.querySelector(".skip");
  if (skip) {
    const under = buttons[step - 2];
    const x = box.side === "encoder" ? boxOf(skip).left : boxOf(skip).right;
    enter(box.side, [under], [[x, middleOf(boxOf(under))[1]], [x, middleOf(boxOf(goal))[1]]]);
  }
  if (box.name === "decoder.cross_attention") {
    const { left, top, width, bottom } = boxOf(stage.querySelector(".to-memory"));
    enter("encoder", [buttons[memory]], [[left + width / 2, top], [left + width / 2, bottom]]);
  }
}
