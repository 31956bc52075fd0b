// Choices by chance. `random` is a function that gives a number from 0 up to but not including 1, as `makeRandom` makes it.

/** Draw a whole number from 0 up to but not including `end`. */
export const drawBelow = (random, end) => Math.floor(random() * end);

/** Draw a whole number from `least` to `most`. */
export const drawBetween = (random, least, most) => least + drawBelow(random, most - least + 1);

export const drawFrom = (random, elements) => elements[drawBelow(random, elements.length)];

/** Draw `count` elements, none of them twice, in any order. */
export function drawDifferent(random, elements, count) {
  const left = [...elements];
  for (let i = 0; i < count; i++) {
    const other = drawBetween(random, i, left.length - 1);
    [left[i], left[other]] = [left[other], left[i]];
  }
  return left.slice(0, count);
}

/** Throw a RangeError if a setting isn't a whole number in its range. */
export function checkWhole(name, value, least, most) {
  if (!(Number.isInteger(value) && value >= least && value <= most)) {
    throw new RangeError(`${name} is ${value}; expected an integer from ${least} to ${most}`);
  }
}

/** Throw a RangeError if two settings aren't the range of a length. */
export function checkLengths({ shortest, longest }) {
  checkWhole("longest", longest, 1, 50);
  checkWhole("shortest", shortest, 1, longest);
}
