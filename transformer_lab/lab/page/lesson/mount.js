// How what a lesson draws comes into the page: in the place of a still picture, from data that stand beside it.

import { make } from "../elements.js";
import { followTheme } from "../theme.js";

/**
 * Put `draw(data)`, an element, into each place of this kind that waits for the data of this name.
 *
 * The still picture stays where a script does not run, and where `draw` fails.
 */
export function mountEach(kind, name, draw) {
  const data = document.querySelector(`script[data-of="${name}"]`).textContent;
  for (const place of document.querySelectorAll(`[data-${kind}="${name}"]`)) {
    if (place.dataset.mounted) continue;
    const root = make("div", { className: `tl-page tl-lesson tl-${kind}` }, draw(JSON.parse(data)));
    place.replaceChildren(root);
    place.dataset.mounted = true;
    root.dataset.ready = "true";
    followTheme(root);
  }
}
