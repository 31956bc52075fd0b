// Whether this reader wants nothing to move.

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
