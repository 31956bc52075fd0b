// Weights as colours: functions of data, for a canvas.

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
