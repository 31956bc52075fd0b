// Matrix products in WebAssembly, where the browser has it and the page may use it; product.wat is the kernel's source.

import { decodeBase64 } from "../bytes.js";
import { PRODUCT } from "./product_bytes.js";
import { Vectors } from "./vectors.js";

const FLOAT = 4; // bytes
const PAGE = 65536; // bytes, the unit in which memory grows
const SPARE = 1 << 20; // floats for the vectors of a long sentence, so that memory seldom grows later
/** So many numbers are computed at a time. */
export const MULTIPLE = 4;

/**
 * Open the kernel with a memory of its own. Returns { multiply, reserve, getValues, memory }: `multiply` as in
 * product.wat, `reserve(count)` makes the memory larger if it has fewer floats, and `getValues()` gives a view of it,
 * which growing takes away. Null without WebAssembly and its SIMD, and where the page's policy refuses it.
 */
export function openProduct() {
  try {
    const { memory, multiply } = new WebAssembly.Instance(new WebAssembly.Module(decodeBase64(PRODUCT))).exports;
    let values = new Float32Array(memory.buffer);
    const reserve = (count) => {
      const lacking = FLOAT * count - memory.buffer.byteLength;
      if (lacking <= 0) return;
      memory.grow(Math.ceil(lacking / PAGE));
      values = new Float32Array(memory.buffer);
    };
    return { multiply, reserve, getValues: () => values, memory };
  } catch {
    return null;
  }
}

/**
 * Give linear layers `{ weight, bias }` a method `multiply`, which computes x Wᵀ + bias in WebAssembly.
 *
 * The layers keep a copy of their parameters in a memory of their own, so later changes to `weight`
 * don't reach it. Where there's no kernel, or not so much memory, the layers stay as they are.
 */
export function useKernel(layers) {
  const product = openProduct();
  if (!product) return;
  let end = 0;
  const places = layers.map(({ weight }) => {
    const columns = Math.ceil(weight.rows / MULTIPLE) * MULTIPLE;
    const place = { weight: end, bias: end + weight.columns * columns, columns };
    end = place.bias + columns;
    return place;
  });
  try {
    product.reserve(end + SPARE);
  } catch {
    return;
  }
  layers.forEach((layer, i) => {
    packLayer(layer, places[i], product.getValues());
    layer.multiply = (x) => multiplyRows(x, layer.weight.rows, places[i], product, end);
  });
}

/** Copy Wᵀ and the bias of a layer to their places; columns beyond the last stay 0. */
function packLayer({ weight, bias }, place, values) {
  for (let column = 0; column < weight.rows; column++) {
    const row = weight.row(column);
    for (let k = 0; k < row.length; k++) values[place.weight + k * place.columns + column] = row[k];
  }
  values.set(bias, place.bias);
}

/** x Wᵀ + bias for each row of x, which stands at the end of the memory, and behind it the result. */
function multiplyRows(x, width, { weight, bias, columns }, { multiply, reserve, getValues }, end) {
  const y = new Vectors(x.rows, width);
  if (!x.rows) return y;
  const inner = x.columns;
  const to = end + x.rows * inner;
  reserve(to + x.rows * columns);
  const values = getValues();
  values.set(x.values, end);
  multiply(end, inner, 1, weight, columns, to, columns, bias, 0, x.rows, inner, columns);
  if (width === columns) y.values.set(values.subarray(to, to + x.rows * columns));
  else for (let row = 0; row < x.rows; row++) y.row(row).set(values.subarray(to + row * columns, to + row * columns + width));
  return y;
}
