// How a translation differs from the one without the change.

import { make, word } from "../elements.js";

/** Return which places of two lists are not in their longest common subsequence: [a Set of before, a Set of after]. */
export function findChangedPlaces(before, after) {
  const length = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      length[i][j] = before[i] === after[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const [gone, come] = [new Set(before.keys()), new Set(after.keys())];
  for (let i = 0, j = 0; i < before.length && j < after.length; ) {
    if (before[i] === after[j]) {
      gone.delete(i++);
      come.delete(j++);
    } else if (length[i + 1][j] >= length[i][j + 1]) i++;
    else j++;
  }
  return [gone, come];
}

/** Return nodes with both translations, changed words marked, or a text that says that they are the same. */
export function describeDifference(before, after) {
  if (before.join(" ") === after.join(" ")) return ["The translation is the same as without the change."];
  const [gone, come] = findChangedPlaces(before, after);
  const marked = (list, places, tag) =>
    list.flatMap((token, i) => [places.has(i) ? make(tag, {}, word(token)) : word(token), " "]);
  return [
    "Without the change: ", ...marked(before, gone, "del"), make("br"),
    "With it: ", ...marked(after, come, "ins"),
  ];
}
