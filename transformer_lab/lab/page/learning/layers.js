// The layers of Figure 1, each with its forward and its backward pass, as lesson 01 derives them.
//
// `forward` keeps what `backward` needs. `backward` takes the gradient of a loss with respect to the layer's
// output, dy, and returns that with respect to its input, dx; the gradients of the parameters grow. A row is a
// word's vector; the words of all sentences stand one behind the other, without padding.

/** y = x W + b */
export class Linear {
  constructor(memory, { weight, bias }) {
    Object.assign(this, { memory, weight, bias });
  }

  forward(x) {
    const { memory, weight, bias } = this;
    const y = memory.matrix(x.rows, weight.columns);
    this.x = x;
    memory.operations.multiply(
      x.at, x.columns, 1, weight.at, weight.columns, y.at, y.columns, bias.at, 0, x.rows, x.columns, y.columns);
    return y;
  }

  /** dW = xᵀ dy, db = Σ dy, dx = dy Wᵀ */
  backward(dy) {
    const { memory, weight, bias, x } = this;
    const { operations } = memory;
    operations.multiply(
      x.at, 1, x.columns, dy.at, dy.columns, weight.gradient, weight.columns, weight.gradient, weight.columns,
      x.columns, x.rows, dy.columns);
    operations.addRows(dy.at, bias.gradient, dy.rows, dy.columns);
    const dx = memory.matrix(x.rows, x.columns);
    memory.borrow(() => {
      const turned = memory.matrix(weight.columns, weight.rows);
      operations.transpose(weight.at, weight.columns, turned.at, turned.columns, weight.rows, weight.columns);
      operations.multiply(
        dy.at, dy.columns, 1, turned.at, turned.columns, dx.at, dx.columns, memory.zeros, 0,
        dy.rows, dy.columns, dx.columns);
    });
    return dx;
  }
}

/** FFN(x) = max(0, x W₁ + b₁) W₂ + b₂ (§3.3, equation 2). */
export class FeedForward {
  constructor(memory, { w_1, w_2 }) {
    this.memory = memory;
    this.inner = new Linear(memory, w_1);
    this.outer = new Linear(memory, w_2);
  }

  forward(x) {
    const hidden = this.inner.forward(x);
    this.memory.operations.relu(hidden.at, hidden.rows * hidden.columns);
    return this.outer.forward(hidden);
  }

  backward(dy) {
    const hidden = this.outer.x;
    const gradient = this.outer.backward(dy);
    this.memory.operations.reluBackward(hidden.at, gradient.at, hidden.rows * hidden.columns);
    return this.inner.backward(gradient);
  }
}

/** Each row with mean 0 and variance 1, then ⊙ weight + bias (Ba et al. 2016). */
export class LayerNorm {
  constructor(memory, { weight, bias }) {
    Object.assign(this, { memory, weight, bias });
  }

  forward(x) {
    const { memory, weight, bias } = this;
    const y = memory.matrix(x.rows, x.columns);
    this.normed = memory.matrix(x.rows, x.columns);
    this.inverse = memory.take(x.rows);
    memory.operations.layerNorm(x.at, y.at, this.normed.at, this.inverse, weight.at, bias.at, x.rows, x.columns);
    return y;
  }

  backward(dy) {
    const { memory, weight, bias, normed, inverse } = this;
    const dx = memory.matrix(dy.rows, dy.columns);
    memory.operations.layerNormBackward(
      dy.at, dx.at, normed.at, inverse, weight.at, weight.gradient, bias.gradient, dy.rows, dy.columns);
    return dx;
  }
}

/** Each number becomes 0 with probability `rate`, and the others grow by 1 / (1 − rate), so that their mean stays (§5.4). */
export class Dropout {
  constructor(memory, rate, random) {
    Object.assign(this, { memory, rate, random, on: false });
  }

  forward(x) {
    const { memory, rate, random } = this;
    this.kept = null;
    if (!this.on || rate === 0) return x;
    const kept = (this.kept = new Float32Array(x.rows * x.columns));
    for (let k = 0; k < kept.length; k++) kept[k] = random() < rate ? 0 : 1 / (1 - rate);
    return this.apply(memory.copy(x));
  }

  backward(dy) {
    return this.kept ? this.apply(this.memory.copy(dy)) : dy;
  }

  apply(x) {
    const { values } = this.memory;
    for (let k = 0; k < this.kept.length; k++) values[x.at + k] *= this.kept[k];
    return x;
  }
}

/**
 * What stands around a sub-layer: LayerNorm(x + Dropout(Sublayer(x))) (§3.1), or with the norm first
 * x + Dropout(Sublayer(LayerNorm(x))).
 *
 * `norm` is "post", "pre" or "none", and without `residual` there's no "x +".
 */
export class AddNorm {
  constructor(memory, parameters, { norm, residual, dropout }) {
    Object.assign(this, { memory, norm, residual, dropout });
    if (norm !== "none") this.layerNorm = new LayerNorm(memory, parameters.layer_norm);
  }

  forward(x, sublayer) {
    const { memory, norm, residual, dropout, layerNorm } = this;
    let y = dropout.forward(sublayer(norm === "pre" ? layerNorm.forward(x) : x));
    if (residual) y = memory.add(x, y);
    return norm === "post" ? layerNorm.forward(y) : y;
  }

  backward(dy, sublayer) {
    const { memory, norm, residual, dropout, layerNorm } = this;
    const whole = norm === "post" ? layerNorm.backward(dy) : dy;
    const inside = sublayer(dropout.backward(whole));
    const dx = norm === "pre" ? layerNorm.backward(inside) : inside;
    return residual ? memory.add(whole, dx) : dx;
  }
}
