// A saved page as the explorer's host: its data stand in the page, and nobody answers.

import { Values } from "../values.js";
import { Selection } from "../selection.js";
import { Explorer } from "./explorer.js";

/** An explorer in each place of this name, from the data of this name. */
export function mountAll(name) {
  const data = document.querySelector(`script[data-of="${name}"]`).textContent;
  for (const place of document.querySelectorAll(`[data-explorer="${name}"]`)) {
    if (!place.dataset.mounted) mount(place, JSON.parse(data));
    place.dataset.mounted = true;
  }
}

/** The still picture in `element` stays until the explorer is drawn, and if it cannot be. */
async function mount(element, data) {
  const still = [...element.childNodes];
  const explorer = new Explorer(element, new Selection(new Values(data.start)));
  try {
    await explorer.load(data);
  } catch (error) {
    explorer.close();
    throw error;
  }
  still.forEach((node) => node.remove());
}
