// Python's random numbers: the same seed gives the same draws (Matsumoto and Nishimura 1998, Mersenne Twister).

const TWISTER_SIZE = 624;

/** Random draws, equal to those of Python's `random.Random(seed)`. */
export class Random {
  /** The seed is a whole number of at most 2**53 - 1; as in Python, its sign makes no difference. */
  constructor(seed) {
    if (!Number.isSafeInteger(seed)) throw new RangeError(`the seed is ${seed}; expected an integer of at most 2**53 - 1`);
    const size = Math.abs(seed);
    const key = size < 2 ** 32 ? [size] : [size % 2 ** 32, Math.floor(size / 2 ** 32)];
    this.state = mixKey(key);
    this.place = TWISTER_SIZE;
  }

  /** Draw a whole number of 32 bits. */
  drawWord() {
    if (this.place === TWISTER_SIZE) {
      twist(this.state);
      this.place = 0;
    }
    let word = this.state[this.place++];
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    word ^= word >>> 18;
    return word >>> 0;
  }

  /** Draw a number from 0 up to but not including 1, with 53 random bits. */
  random() {
    const high = this.drawWord() >>> 5;
    const low = this.drawWord() >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }

  /** Draw a whole number of this many bits, from 1 to 32. */
  getrandbits(count) {
    if (!(Number.isInteger(count) && count >= 1 && count <= 32)) throw new RangeError(`${count} bits were asked for; expected 1 to 32`);
    return this.drawWord() >>> (32 - count);
  }

  /** Draw a whole number from 0 up to but not including `end`, which is at most 2**32 - 1. */
  randrange(end) {
    if (!(Number.isInteger(end) && end >= 1 && end < 2 ** 32)) throw new RangeError(`the end of the range is ${end}; expected 1 to 2**32 - 1`);
    const count = 32 - Math.clz32(end);
    let drawn;
    do drawn = this.getrandbits(count); while (drawn >= end);
    return drawn;
  }

  /** Draw an element of an array that isn't empty. */
  choice(elements) {
    return elements[this.randrange(elements.length)];
  }

  /** Draw `count` elements with replacement, each with a chance in proportion to its weight. */
  choices(elements, weights, count) {
    let total = 0;
    const sums = weights.map((weight) => (total += weight));
    const last = elements.length - 1;
    return Array.from({ length: count }, () => {
      const drawn = this.random() * total;
      const found = sums.findIndex((sum) => sum > drawn);
      return elements[found < 0 ? last : found];
    });
  }

  /** Shuffle an array in place. */
  shuffle(elements) {
    for (let i = elements.length - 1; i > 0; i--) {
      const j = this.randrange(i + 1);
      [elements[i], elements[j]] = [elements[j], elements[i]];
    }
  }
}

/** Return the state that a seed begins with; the seed comes as words of 32 bits, the lowest first. */
function mixKey(key) {
  const state = new Uint32Array(TWISTER_SIZE);
  const mixBefore = (i, factor) => Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), factor);
  state[0] = 19650218;
  for (let i = 1; i < TWISTER_SIZE; i++) state[i] = mixBefore(i, 1812433253) + i;
  let i = 1;
  const advance = () => {
    i++;
    if (i < TWISTER_SIZE) return;
    state[0] = state[TWISTER_SIZE - 1];
    i = 1;
  };
  for (let step = 0; step < TWISTER_SIZE; step++) {
    const j = step % key.length;
    state[i] = (state[i] ^ mixBefore(i, 1664525)) + key[j] + j;
    advance();
  }
  for (let step = 1; step < TWISTER_SIZE; step++) {
    state[i] = (state[i] ^ mixBefore(i, 1566083941)) - i;
    advance();
  }
  state[0] = 2 ** 31;
  return state;
}

/** Replace the words of a state by the next ones. */
function twist(state) {
  for (let i = 0; i < TWISTER_SIZE; i++) {
    const joined = (state[i] & 0x80000000) | (state[(i + 1) % TWISTER_SIZE] & 0x7fffffff);
    state[i] = state[(i + 397) % TWISTER_SIZE] ^ (joined >>> 1) ^ (joined & 1 ? 0x9908b0df : 0);
  }
}
