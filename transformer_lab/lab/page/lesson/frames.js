// A slider through pictures that were drawn beforehand: one for each value of a control that no kernel answers.

import { make, OWN_KEYS } from "../elements.js";
import { mountEach } from "./mount.js";

/** A slider in each place of this name, from the data of this name. */
export function mountFrames(name) {
  mountEach("frames", name, frames);
}

/** `data`: the control's label, the place of the first picture, and pictures, each with the value's name. */
function frames({ label, start, pictures }) {
  const range = make("input", { type: "range", min: 0, max: pictures.length - 1, step: 1, value: start, "aria-label": label, ...OWN_KEYS });
  const value = make("output");
  const image = make("img");
  const draw = () => {
    const { name, alt, width, webp } = pictures[range.value];
    range.setAttribute("aria-valuetext", name);
    value.textContent = name;
    Object.assign(image, { alt, width, src: `data:image/webp;base64,${webp}` });
  };
  range.addEventListener("input", draw);
  draw();
  return make("div", {}, make("label", { className: "slider" }, make("span", {}, label), range, value), image);
}
