// Cross-entropy with label smoothing (§5.4), and its gradient.

/**
 * Return the mean loss of the words `ids` in nats, and put its gradient in the logits' place.
 *
 * The target puts 1 − ε on the right word and spreads ε over the whole vocabulary, so a word's loss is
 * −(1 − ε) log p[y] − ε mean(log p), and the gradient of its logits is p − ε / size − (1 − ε) at y.
 */
export function crossEntropy(memory, logits, ids, size, smoothing) {
  const { operations, values } = memory;
  const { at, rows, columns } = logits;
  const right = (i) => at + i * columns + ids[i];
  const above = new Float64Array(rows); // how far the right word's logit is above their mean
  if (smoothing > 0) {
    for (let i = 0; i < rows; i++) {
      let sum = 0;
      for (let k = at + i * columns; k < at + i * columns + size; k++) sum += values[k];
      above[i] = values[right(i)] - sum / size;
    }
  }
  operations.softmax(at, columns, rows, size, 0, 1);
  let loss = 0;
  for (let i = 0; i < rows; i++) loss += smoothing * above[i] - Math.log(values[right(i)]);
  operations.scale(at, rows * columns, 1 / rows, -smoothing / size / rows);
  for (let i = 0; i < rows; i++) {
    values[right(i)] -= (1 - smoothing) / rows;
    values.fill(0, at + i * columns + size, at + (i + 1) * columns); // no words: what rounds the size up
  }
  return loss / rows;
}
