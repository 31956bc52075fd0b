// Adam and the learning rate (§5.3).

/**
 * The learning rate of a step, counted from 1: up for `warmup` steps to `peak`, then down with 1 / √step, which is
 * the paper's curve (equation 3). Without a warm-up it is at its peak from the beginning, and then goes down alike.
 * `steps`, if it isn't null, lets it go down in a straight line instead and end there.
 */
export function computeRate(step, { peak, warmup, ramp, steps }) {
  if (step <= warmup) return ramp ? (peak * step) / warmup : peak;
  if (steps === null) return peak * Math.sqrt(warmup / step);
  return (peak * Math.max(steps + 1 - step, 0)) / Math.max(steps + 1 - warmup, 1);
}

/** Adam (Kingma and Ba 2015) with decoupled weight decay of the matrices, which the paper doesn't have. */
export class Adam {
  constructor(parameters, { beta1, beta2, epsilon, decay }) {
    Object.assign(this, { parameters, beta1, beta2, epsilon, decay, steps: 0 });
  }

  /** Move all parameters against their gradients, which are 0 afterwards. */
  step(rate) {
    const { parameters, beta1, beta2, epsilon, decay } = this;
    const { memory, start, count, matrices, gradients, moments } = parameters;
    this.steps += 1;
    if (decay) memory.operations.scale(start, matrices, 1 - rate * decay, 0);
    const corrected = rate / (1 - beta1 ** this.steps);
    const root = 1 / Math.sqrt(1 - beta2 ** this.steps);
    memory.operations.adam(start, gradients, ...moments, count, corrected, root, beta1, beta2, epsilon);
  }
}
