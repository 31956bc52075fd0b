// Close the brackets: some are still open, and the task is to write what closes them, the last one first.

import { checkLengths, drawBetween, drawFrom } from "./draws.js";
import { makeJoinedVocabulary } from "./vocabulary.js";

const CLOSING = { "(": ")", "[": "]", "{": "}" };

/** Draw brackets of which at least one is still open, and what closes them. */
function drawBrackets(random, length) {
  const source = [];
  const open = [];
  while (source.length < length) {
    const isLast = source.length === length - 1;
    const opens = !open.length || random() < 0.6 || (isLast && open.length === 1);
    if (opens) open.push(drawFrom(random, Object.keys(CLOSING)));
    source.push(opens ? open.at(-1) : CLOSING[open.pop()]);
  }
  return { source, target: open.map((bracket) => CLOSING[bracket]).reverse() };
}

export const BRACKETS = {
  name: "brackets",
  title: "Close the brackets",
  question: "Can it tell which brackets are still open, and close them in the right order?",
  example: { source: "([]{(", target: ")})" },
  options: { shortest: 4, longest: 12 },
  make({ shortest, longest }) {
    checkLengths({ shortest, longest });
    return {
      unit: "letters",
      source: makeJoinedVocabulary(Object.entries(CLOSING).flat()),
      target: makeJoinedVocabulary(Object.values(CLOSING)),
      draw: (random) => drawBrackets(random, drawBetween(random, shortest, longest)),
    };
  },
};
