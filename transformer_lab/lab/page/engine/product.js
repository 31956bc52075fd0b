// Matrix products in WebAssembly, where the browser has it and the page may use it; product.wat is the kernel's source.

import { decodeBase64 } from "../bytes.js";
import { PRODUCT } from "./product_bytes.js";
import { Vectors } from "./vectors.js";

const FLOAT = 4; // bytes
const PAGE = 65536; // bytes, the unit in which memory grows
const SPARE = 1 << 20; // floats for the vectors of a long sentence, so that memory seldom grows later
const PANEL = 16; // columns of a product that the kernel makes at a time

const countPanels = ({ weight }) => Math.ceil(weight.rows / PANEL);

/** Arrange the bias and Wᵀ of a layer as the kernel reads them, panel by panel; columns beyond the last are 0. */
function packLayer({ weight, bias }, packed) {
  const size = (1 + weight.columns) * PANEL; // of a panel
  for (let column = 0; column < weight.rows; column++) {
    const at = Math.floor(column / PANEL) * size + (column % PANEL);
    packed[at] = bias[column];
    const row = weight.row(column);
    for (let k = 0; k < row.length; k++) packed[at + (1 + k) * PANEL] = row[k];
  }
}

/**
 * Load the kernel, with a memory of so many floats. Returns { multiply, reserve }, where `reserve(count)` makes
 * the memory larger if need be and returns it; null without WebAssembly, its SIMD or so much memory, and where the
 * page's policy refuses it.
 */
function loadKernel(count) {
  try {
    const { memory, multiply } = new WebAssembly.Instance(new WebAssembly.Module(decodeBase64(PRODUCT))).exports;
    const reserve = (floats) => {
      const lacking = FLOAT * floats - memory.buffer.byteLength;
      if (lacking > 0) memory.grow(Math.ceil(lacking / PAGE));
      return new Float32Array(memory.buffer); // growing takes the old views away
    };
    reserve(count);
    return { multiply, reserve };
  } catch {
    return null;
  }
}

/**
 * Give linear layers `{ weight, bias }` a method `multiply`, which computes x Wᵀ + bias in WebAssembly.
 *
 * The layers keep a copy of their parameters in a memory of their own, so later changes to `weight`
 * don't reach it. Where there's no kernel, the layers stay as they are.
 */
export function useKernel(layers) {
  let end = 0;
  const places = layers.map((layer) => {
    const place = end;
    end += countPanels(layer) * (1 + layer.weight.columns) * PANEL;
    return place;
  });
  const kernel = loadKernel(end + SPARE);
  if (!kernel) return;
  const { multiply, reserve } = kernel;
  const floats = reserve(end);
  layers.forEach((layer, i) => packLayer(layer, floats.subarray(places[i])));
  layers.forEach((layer, i) => {
    const { rows: columns, columns: inner } = layer.weight;
    const width = countPanels(layer) * PANEL;
    layer.multiply = (x) => {
      if (!x.rows) return new Vectors(0, columns);
      const from = end + Math.ceil((x.rows * inner) / PANEL) * PANEL; // x stands at the end, and behind it y
      const all = reserve(from + x.rows * width);
      all.set(x.values, end);
      multiply(FLOAT * end, FLOAT * places[i], FLOAT * from, x.rows, inner, width / PANEL);
      const y = new Vectors(x.rows, columns);
      if (width === columns) y.values.set(all.subarray(from, from + x.rows * width));
      else for (let row = 0; row < x.rows; row++) y.row(row).set(all.subarray(from + row * width, from + row * width + columns));
      return y;
    };
  });
}
