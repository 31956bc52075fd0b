// The pairs of a noun and a describing word that are held out of training, so that the test needs rules.

import { WORDS } from "./words.js";

const HELD_OUT = new Set(WORDS.HELD_OUT);

/** Return whether only the test split may show this noun and describing word together; both are English lemmas. */
export const isHeldOutCombination = (noun, word) => HELD_OUT.has(`${noun} ${word}`);
