// One piece of memory for everything: parameters first, and behind them what one pass over a batch computes.

import { MULTIPLE } from "../engine/product.js";

/** Round up to a multiple; by default to what the operations take at a time. */
export const roundUp = (count, multiple = MULTIPLE) => Math.ceil(count / multiple) * multiple;

/** Matrices as { at, rows, columns }, each in one piece, at an address in `operations.values`. */
export class Memory {
  /** `widest` is the largest number of columns that any matrix has. */
  constructor(operations, widest) {
    this.operations = operations;
    this.end = 0;
    this.zeros = this.take(widest); // what a sum begins with that has no bias
    this.values.fill(0, this.zeros, this.end);
  }

  get values() {
    return this.operations.values;
  }

  /** Take room for so many numbers, whatever stands there, and return its address. */
  take(count) {
    const at = this.end;
    this.end += roundUp(count);
    if (this.end > this.values.length) this.operations.reserve(2 * this.end); // seldom: a step takes what the last one took
    return at;
  }

  matrix(rows, columns) {
    return { at: this.take(rows * columns), rows, columns };
  }

  /** Run a function, and give back all that it took; what it returns must not lie there. */
  borrow(use) {
    const { end } = this;
    const result = use();
    this.end = end;
    return result;
  }

  /** The sum a + b, in b's place. */
  add(a, b) {
    this.operations.add(a.at, b.at, roundUp(a.rows * a.columns));
    return b;
  }

  copy({ at, rows, columns }) {
    const to = this.matrix(rows, columns);
    this.values.copyWithin(to.at, at, at + rows * columns);
    return to;
  }

  read({ at, rows, columns }) {
    return this.values.slice(at, at + rows * columns);
  }
}
