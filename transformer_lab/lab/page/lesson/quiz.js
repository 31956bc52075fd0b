// A quiz that no kernel answers: a choice gets its word, and in the end the first choices are counted.

import { make, OWN_KEYS } from "../elements.js";
import { mountEach } from "./mount.js";

/** A quiz in each place of this name, from the data of this name. */
export function mountQuiz(name) {
  mountEach("quiz", name, quiz);
}

/** `questions`: each a text, choices as [text, word], and the place of the right one. */
function quiz(questions) {
  const first = new Map();
  const standing = make("p", { className: "standing", role: "status" });
  const boxes = questions.map((question, number) => questionBox(question, number, (choice) => {
    if (!first.has(number)) first.set(number, choice === question.right);
    const right = [...first.values()].filter(Boolean).length;
    standing.textContent = first.size < questions.length ? "" : `${right} of ${questions.length} right on the first try.`;
  }));
  return make("div", {}, ...boxes, standing);
}

/** One question, as a form of its own, so that its choices are a group of their own. */
function questionBox({ text, choices, right }, number, taken) {
  const reply = make("p", { className: "reply", role: "status" });
  const lines = choices.map(([choice, word], place) => {
    const radio = make("input", { type: "radio", name: "choice", ...OWN_KEYS });
    radio.addEventListener("change", () => {
      reply.replaceChildren(make("b", {}, place === right ? "Right." : "No."), ` ${word}`);
      taken(place);
    });
    return make("label", {}, radio, make("span", {}, choice));
  });
  return make("form", {}, make("fieldset", {}, make("legend", {}, `${number + 1}. ${text}`), ...lines, reply));
}
