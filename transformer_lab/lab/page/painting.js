// Weights as colours: functions of data, for a canvas or a picture file.

/** Return two palettes of 256 RGBA numbers for a map's bytes, from 256 colours of three bytes each: one colours by the weight, one by its square root. */
export function makePalettes(rgb) {
  const palette = (index) => {
    const colours = new Uint8ClampedArray(256 * 4);
    for (let i = 0; i < 256; i++) {
      const from = 3 * index(i);
      colours.set([rgb[from], rgb[from + 1], rgb[from + 2], 255], 4 * i);
    }
    return new Uint32Array(colours.buffer);
  };
  return { weight: palette((i) => Math.round(255 * (i / 255) ** 2)), root: palette((i) => i) };
}

/** Return the bytes of 256 weights from 0 to 1 in even steps, to paint the scale of a palette. */
export const makeScaleBytes = () => Uint8Array.from({ length: 256 }, (_, i) => Math.round(Math.sqrt(i / 255) * 255));

/** Whether black is easier to read than white on this colour (WCAG 2.1: relative luminance). */
export function isBright(colour) {
  const linear = (shift) => {
    const part = ((colour >> shift) & 255) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(0) + 0.7152 * linear(8) + 0.0722 * linear(16) > 0.179;
}

/** Shrink the bytes of a map to at most `most` rows and columns by max pooling, so that no link is lost. */
export function poolMap({ rows, columns, bytes }, most) {
  const step = Math.ceil(Math.max(rows, columns) / most) || 1;
  if (step === 1) return { rows, columns, bytes };
  const small = { rows: Math.ceil(rows / step), columns: Math.ceil(columns / step) };
  small.bytes = new Uint8Array(small.rows * small.columns);
  for (let row = 0, i = 0; row < rows; row++) {
    const line = Math.floor(row / step) * small.columns;
    for (let column = 0; column < columns; column++, i++) {
      const at = line + Math.floor(column / step);
      if (bytes[i] > small.bytes[at]) small.bytes[at] = bytes[i];
    }
  }
  return small;
}

/** Paint a map on a canvas, one pixel for each weight. */
export function paintMap(canvas, { rows, columns, bytes }, palette) {
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = palette[bytes[i]];
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** Return a BMP file with maps of one size side by side, `across` in a line. */
export function encodeBitmap(maps, palette, across, most) {
  const small = maps.map((map) => poolMap(map, most));
  const { rows, columns } = small[0];
  const [width, height] = [across * columns, Math.ceil(maps.length / across) * rows];
  const stride = 4 * Math.ceil(width / 4);
  const start = 14 + 40 + 4 * 256;
  const file = new Uint8Array(start + stride * height);
  const view = new DataView(file.buffer);
  file.set([0x42, 0x4d]); // "BM"
  // Where the pixels begin; the size of what follows; lines from the top; 1 plane of 8 bits.
  for (const [at, value] of [[2, file.length], [10, start], [14, 40], [18, width], [22, -height]]) {
    view.setInt32(at, value, true);
  }
  view.setUint16(26, 1, true);
  view.setUint16(28, 8, true);
  const colours = new Uint8Array(palette.buffer);
  for (let i = 0; i < 256; i++) file.set([colours[4 * i + 2], colours[4 * i + 1], colours[4 * i]], 54 + 4 * i);
  small.forEach(({ bytes }, place) => {
    const left = start + (place % across) * columns;
    const top = Math.floor(place / across) * rows;
    for (let row = 0; row < rows; row++) {
      file.set(bytes.subarray(row * columns, (row + 1) * columns), left + (top + row) * stride);
    }
  });
  return new Blob([file], { type: "image/bmp" });
}
