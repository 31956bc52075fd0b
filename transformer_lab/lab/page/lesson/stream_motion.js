// How a vector flows down the residual stream, through a loop beside it, and is added.

import { arrive, carry } from "./motion.js";

const ADD = 2; // of the three steps of a sub-layer: its loop, the sum, the norm

/** The newest vectors of an order come from those that they are made of. */
export function moveOn(wiring, step) {
  const cells = (vector) => [...vector.querySelectorAll("span")];
  const made = [...wiring.querySelectorAll(".vector")].filter((vector) => vector.dataset.step <= step);
  const fresh = made.filter((vector) => Number(vector.dataset.step) === step);
  const onStream = made.filter((vector) => vector.parentElement.matches(".on") && !fresh.includes(vector)).at(-1);
  if (!fresh.length || !onStream) return;
  if (step % 3 === ADD) {
    // What flows on and what the loop says meet at the plus.
    const sum = cells(fresh[0]);
    arrive(sum, Math.max(carry(cells(onStream), sum, { kind: "flow" }), carry(cells(made.at(-2)), sum, { kind: "share" })));
    return;
  }
  let from = onStream;
  let end = 0;
  for (const vector of fresh) {
    // In a loop a vector goes into the box, and what the box makes of it comes out below.
    const goal = vector.parentElement.matches(".loop") ? [vector.previousElementSibling] : cells(vector);
    end = carry(cells(from), goal, { kind: "flow", delay: end, scale: 0.75 });
    arrive(cells(vector), end);
    from = vector;
  }
}
