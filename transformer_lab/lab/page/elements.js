// What a page is made of: elements, drawings, tokens and buttons.
// Tokens come from anybody's text: they only ever become text nodes, never markup.

import { makeVisible } from "./text.js";

/** An element with properties, attributes and children; text is always inserted as text. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && !name.startsWith("aria") && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

/** What a control has that takes arrows and letters, or JupyterLab would go to another cell. */
export const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };

/** The same for a drawing. JupyterLab has a rule for the height of pictures, which only a style overrides. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (tag === "svg" && "height" in attributes) element.style.height = `${attributes.height}px`;
  element.append(...children);
  return element;
}

/** A token on the page: isolated, so that right-to-left text leaves its neighbours alone. */
export const word = (token) => make("bdi", { className: "token" }, makeVisible(token));

/** Write a text where another one stands: a screen reader says what changes, and the browser lays out nothing twice. */
export function writeText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Tokens with spaces between them. */
export const words = (list) => list.flatMap((token) => [word(token), " "]);

/** Write tokens into a list, an element of `build` for each. What stands there keeps its place and the focus, and equal words stay. */
export function writeTokens(list, tokens, build) {
  while (list.childNodes.length > tokens.length) list.lastChild.remove();
  tokens.forEach((token, place) => {
    const element = list.childNodes[place] ?? list.appendChild(build(place));
    if (element.title === token && element.firstChild) return;
    element.title = token;
    element.replaceChildren(word(token));
  });
}

/** A token by its place: where it stands more than once, with the number of the place. */
export const wordAt = (list, i) =>
  list.indexOf(list[i]) === list.lastIndexOf(list[i]) ? word(list[i]) : make("span", {}, word(list[i]), ` (${i + 1})`);

/** Let the left and right arrows go through an element's buttons, of which Tab reaches one; `arrive` hears of the next one. */
export function goByArrows(element, arrive = () => {}) {
  element.addEventListener("keydown", (event) => {
    const side = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[event.key];
    const next = side && event.target[side];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    [event.target.tabIndex, next.tabIndex] = [-1, 0];
    next.focus();
    arrive(next);
  });
}

/** A button that is on or off: `refresh` asks which, when it is drawn. By `control` the focus finds its successor. */
export function toggle(control, text, isOn, press) {
  const button = make("button", { type: "button", "data-control": control }, text);
  button.addEventListener("click", press);
  button.refresh = () => button.setAttribute("aria-pressed", String(isOn()));
  return button;
}

/** A button that does something, which its title says. */
export function action(control, text, title, press) {
  const properties = { type: "button", title, "aria-label": title, "data-control": control };
  const button = make("button", properties, text);
  button.addEventListener("click", press);
  return button;
}
