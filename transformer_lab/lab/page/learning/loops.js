// What the layers compute, in plain JavaScript: the definition of each operation, forward and backward.
//
// kernel.js computes the same in WebAssembly, on 32-bit floats and many times faster. These loops serve where a
// browser or a page's policy has no WebAssembly, and on 64-bit floats they check the gradients.
//
// All numbers lie in one array, `values`. Addresses, counts and steps from row to row are counted in numbers;
// counts and columns are multiples of 4, because the kernel takes four numbers at a time.

const EPSILON = 1e-5; // of LayerNorm

export class Loops {
  constructor(kind = Float32Array) {
    this.values = new kind(0);
  }

  /** Make room for so many numbers; those that are there stay. */
  reserve(count) {
    if (count <= this.values.length) return;
    const grown = new this.values.constructor(count);
    grown.set(this.values);
    this.values = grown;
  }

  /** c = a b + start. `aColumn` is the step from column to column of a, so aᵀ is read where a lies; a `startRow` of 0 repeats a bias. */
  multiply(a, aRow, aColumn, b, bRow, c, cRow, start, startRow, rows, inner, columns) {
    const { values } = this;
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) {
        let sum = values[start + i * startRow + j];
        for (let k = 0; k < inner; k++) sum += values[a + i * aRow + k * aColumn] * values[b + k * bRow + j];
        values[c + i * cRow + j] = sum;
      }
    }
  }

  /** to = fromᵀ; the columns of `to` beyond `rows`, up to its step, become 0. */
  transpose(from, fromRow, to, toRow, rows, columns) {
    const { values } = this;
    for (let j = 0; j < columns; j++) {
      for (let i = 0; i < toRow; i++) values[to + j * toRow + i] = i < rows ? values[from + i * fromRow + j] : 0;
    }
  }

  /**
   * Each row becomes softmax(scale · row) over what it sees (§3.2.1, equation 1): the first row `seen` numbers, each
   * further one `more` more. The rest of a row becomes 0.
   */
  softmax(x, columns, rows, seen, more, scale) {
    const { values } = this;
    for (let i = 0; i < rows; i++) {
      const row = values.subarray(x + i * columns, x + (i + 1) * columns);
      const end = Math.min(columns, seen + i * more);
      let most = -Infinity;
      for (let k = 0; k < end; k++) most = Math.max(most, row[k]);
      let total = 0;
      for (let k = 0; k < end; k++) total += row[k] = Math.exp(scale * (row[k] - most));
      for (let k = 0; k < end; k++) row[k] /= total;
      row.fill(0, end);
    }
  }

  /** The gradient g of the weights w becomes that of the scores: scale · w ⊙ (g − Σ g w) in each row. */
  softmaxBackward(w, g, columns, rows, scale) {
    const { values } = this;
    for (let i = 0; i < rows; i++) {
      const row = i * columns;
      let total = 0;
      for (let k = row; k < row + columns; k++) total += values[w + k] * values[g + k];
      for (let k = row; k < row + columns; k++) values[g + k] = scale * values[w + k] * (values[g + k] - total);
    }
  }

  /** y = n ⊙ weight + bias, with n = (x − mean) / √(variance + ε) in each row (Ba et al. 2016); n and 1 / √… are kept. */
  layerNorm(x, y, n, inverse, weight, bias, rows, columns) {
    const { values } = this;
    for (let i = 0; i < rows; i++) {
      const row = i * columns;
      let mean = 0;
      for (let k = 0; k < columns; k++) mean += values[x + row + k] / columns;
      let variance = 0;
      for (let k = 0; k < columns; k++) variance += (values[x + row + k] - mean) ** 2 / columns;
      const scale = (values[inverse + i] = 1 / Math.sqrt(variance + EPSILON));
      for (let k = 0; k < columns; k++) {
        const normed = (values[n + row + k] = (values[x + row + k] - mean) * scale);
        values[y + row + k] = normed * values[weight + k] + values[bias + k];
      }
    }
  }

  /**
   * From dy in each row dx = (g − mean(g) − n · mean(g ⊙ n)) / √…, with g = dy ⊙ weight. The gradients of weight and
   * bias grow by dy ⊙ n and dy.
   */
  layerNormBackward(dy, dx, n, inverse, weight, dWeight, dBias, rows, columns) {
    const { values } = this;
    for (let i = 0; i < rows; i++) {
      const row = i * columns;
      let mean = 0;
      let along = 0;
      for (let k = 0; k < columns; k++) {
        const g = values[dy + row + k] * values[weight + k];
        mean += g / columns;
        along += (g * values[n + row + k]) / columns;
        values[dWeight + k] += values[dy + row + k] * values[n + row + k];
        values[dBias + k] += values[dy + row + k];
      }
      for (let k = 0; k < columns; k++) {
        const g = values[dy + row + k] * values[weight + k];
        values[dx + row + k] = (g - mean - along * values[n + row + k]) * values[inverse + i];
      }
    }
  }

  /** Each number becomes max(0, x) (inside equation 2). */
  relu(x, count) {
    for (let k = x; k < x + count; k++) this.values[k] = Math.max(0, this.values[k]);
  }

  /** The gradient becomes 0 where relu gave 0. */
  reluBackward(y, dy, count) {
    for (let k = 0; k < count; k++) if (!(this.values[y + k] > 0)) this.values[dy + k] = 0;
  }

  /** to = to + x */
  add(x, to, count) {
    for (let k = 0; k < count; k++) this.values[to + k] += this.values[x + k];
  }

  /** to = to + the sum of the rows */
  addRows(x, to, rows, columns) {
    for (let i = 0; i < rows; i++) this.add(x + i * columns, to, columns);
  }

  /** Each number becomes factor · x + shift. */
  scale(x, count, factor, shift) {
    for (let k = x; k < x + count; k++) this.values[k] = factor * this.values[k] + shift;
  }

  /**
   * One step of Adam (Kingma and Ba 2015) for `count` parameters p with gradients g, which are 0 afterwards. `rate`
   * has the first moment's correction in it, and `root` the second one's; see adam.js.
   */
  adam(p, g, m, v, count, rate, root, beta1, beta2, epsilon) {
    const { values } = this;
    for (let k = 0; k < count; k++) {
      const gradient = values[g + k];
      values[g + k] = 0;
      const first = (values[m + k] = beta1 * values[m + k] + (1 - beta1) * gradient);
      const second = (values[v + k] = beta2 * values[v + k] + (1 - beta2) * gradient * gradient);
      values[p + k] -= (rate * first) / (root * Math.sqrt(second) + epsilon);
    }
  }
}
