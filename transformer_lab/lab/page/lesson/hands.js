// Hands of dials that turn through all the angles between where they stood and where they stand.

import { isStill } from "../still.js";
import { MOVE } from "./motion.js";

const ROUND = 2 * Math.PI;

export class Hands {
  /** `middle` is where all hands begin, in the drawing's own numbers. */
  constructor(middle) {
    this.origin = `${middle}px ${middle}px`;
    this.forget();
  }

  /** Begin anew: the next hands have not stood anywhere yet. */
  forget() {
    this.stood = new Map();
    this.drawn = [];
  }

  /** Take a hand that is drawn at an angle, to the left from the right; a new one comes from the angle `from`. */
  add(name, path, angle, from) {
    path.style.transformOrigin = this.origin;
    this.drawn.push({ name, path, angle, from });
  }

  /** Turn the hands taken since the last time; whole rounds beyond the first are left out, or eyes could not follow. */
  turn() {
    for (const { name, path, angle, from } of this.drawn) {
      const turned = angle - this.whereIs(name, from ?? angle);
      const seen = { angle, turned: turned % ROUND };
      if (!isStill() && Math.abs(seen.turned) > 1e-6) seen.animation = path.animate([{ transform: `rotate(${seen.turned}rad)` }, { transform: "rotate(0)" }], { duration: MOVE, easing: "ease-out" });
      this.stood.set(name, seen);
    }
    this.drawn = [];
  }

  /** The angle at which a hand is seen now, be it on its way. */
  whereIs(name, otherwise) {
    const seen = this.stood.get(name);
    if (!seen) return otherwise;
    return seen.angle - seen.turned * (1 - (seen.animation?.effect.getComputedTiming().progress ?? 1));
  }
}
