// The file format of weights: the length of a header, the header in JSON, the numbers.

import { Vectors } from "./vectors.js";

/** Return the number that 16 bits (float16) stand for: sign, five bits of exponent, ten of fraction. */
export function decodeHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const HALVES = Float32Array.from({ length: 1 << 16 }, (_, bits) => decodeHalf(bits));

/** Read so many numbers; a loop is several times as fast as `Float32Array.from` with a function. */
function readNumbers(count, read) {
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) values[i] = read(i);
  return values;
}

const readers = {
  F32: (view, count) => readNumbers(count, (i) => view.getFloat32(4 * i, true)),
  F16: (view, count) => readNumbers(count, (i) => HALVES[view.getUint16(2 * i, true)]),
};

/** The parsed header of a file, and the place of its numbers. */
function readHeader(buffer) {
  if (buffer.byteLength < 8) throw new Error("not a safetensors file: it has no header");
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  if (length > buffer.byteLength - 8) throw new Error("not a safetensors file: its header is cut short");
  try {
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    return { header, start: 8 + length };
  } catch (error) {
    throw new Error(`not a safetensors file, because its header isn't JSON: ${error.message}`, { cause: error });
  }
}

/** The texts that stand in a file beside its tensors, by name. */
export function readMetadata(buffer) {
  const { __metadata__: metadata = {} } = readHeader(buffer).header;
  return metadata;
}

/** Read a safetensors file. Returns tensors by name: a matrix as Vectors, a vector as a Float32Array. An Error says what does not fit. */
export function readSafetensors(buffer) {
  const { header, start } = readHeader(buffer);
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: place }] of Object.entries(header)) {
    if (!place) continue; // "__metadata__" has none
    const [from, to] = place;
    const count = shape.reduce((product, size) => product * size, 1);
    const read = readers[dtype];
    if (!read) throw new Error(`${name} is ${dtype}; expected F32 or F16`);
    if (start + to > buffer.byteLength) throw new Error(`${name}: the file is cut short`);
    if (shape.length > 2) throw new Error(`${name} has ${shape.length} dimensions; expected 1 or 2`);
    const values = read(new DataView(buffer, start + from, to - from), count);
    tensors[name] = shape.length === 2 ? new Vectors(shape[0], shape[1], values) : values;
  }
  return tensors;
}

/** Write tensors, as `readSafetensors` gives them, and texts by name as a safetensors file of 32-bit floats: an ArrayBuffer. */
export function writeSafetensors(tensors, metadata = {}) {
  const header = Object.keys(metadata).length ? { __metadata__: metadata } : {};
  let end = 0;
  for (const [name, tensor] of Object.entries(tensors)) {
    const shape = tensor instanceof Vectors ? [tensor.rows, tensor.columns] : [tensor.length];
    const start = end;
    end += 4 * shape.reduce((product, size) => product * size, 1);
    header[name] = { dtype: "F32", shape, data_offsets: [start, end] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = 8 * Math.ceil(text.length / 8); // numbers begin at a multiple of 8
  const buffer = new ArrayBuffer(8 + length + end);
  const view = new DataView(buffer);
  view.setBigUint64(0, BigInt(length), true);
  new Uint8Array(buffer, 8, length).fill(32).set(text); // spaces fill the header up
  let at = 8 + length;
  for (const tensor of Object.values(tensors)) {
    for (const value of tensor instanceof Vectors ? tensor.values : tensor) {
      view.setFloat32(at, value, true);
      at += 4;
    }
  }
  return buffer;
}
