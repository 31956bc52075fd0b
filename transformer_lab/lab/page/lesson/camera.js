// A camera that goes into a part of a picture and out again: both pictures are one scene.
//
// The part and the whole picture inside it are laid over each other, and one camera looks at both. Because
// the transforms of both are straight lines between "as the camera sees it now" and "as it will", they fit
// on each other at every moment.

import { isStill } from "../still.js";
import { pixelOf } from "./motion.js";

const FLIGHT = 900; // milliseconds
const GLIDE = "cubic-bezier(0.45, 0, 0.2, 1)";

/** The size and the middle of an element, seen from the corner where both pictures begin, in their own pixels. */
function placeOf(element, picture) {
  const [box, origin] = [element.getBoundingClientRect(), picture.getBoundingClientRect()];
  const [width, x, y] = [box.width, box.left - origin.left + box.width / 2, box.top - origin.top + box.height / 2].map((size) => size / pixelOf(picture));
  return { width, x, y };
}

/**
 * Fly between two pictures of a stage. `part`, in the `outer` one, is `whole` in the `inner` one.
 *
 * With `inward` the inner one stays, otherwise the outer one; the other leaves the page at the end. Returns a
 * promise of the end.
 */
export function fly(stage, { outer, inner, part, whole, inward }) {
  const [stays, leaves] = inward ? [inner, outer] : [outer, inner];
  if (isStill() || !stage.isConnected) {
    leaves.remove();
    return Promise.resolve();
  }
  leaves.inert = true;
  leaves.setAttribute("aria-hidden", "true");
  leaves.classList.add("leaving");
  const [small, large] = [placeOf(part, outer), placeOf(whole, inner)];
  const by = large.width / small.width;
  const near = `translate(${large.x - by * small.x}px, ${large.y - by * small.y}px) scale(${by})`;
  const far = `translate(${small.x - large.x / by}px, ${small.y - large.y / by}px) scale(${1 / by})`;
  const timing = { duration: FLIGHT, easing: GLIDE, fill: "backwards", direction: inward ? "normal" : "reverse" };
  outer.animate([{ transform: "none", opacity: 1 }, { opacity: 1, offset: 0.4 }, { transform: near, opacity: 0 }], timing);
  inner.animate([{ transform: far, opacity: 0 }, { opacity: 1, offset: 0.6 }, { transform: "none", opacity: 1 }], timing);
  const heights = [leaves, stays].map((picture) => ({ height: `${picture.offsetHeight}px` }));
  return stage.animate(heights, { duration: FLIGHT, easing: GLIDE }).finished.then(() => leaves.remove(), () => leaves.remove());
}
