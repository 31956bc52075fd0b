// Where things are in a map: the size of its cells, the cell at a point, the next one by keyboard.

const WIDTH = 520; // CSS pixels of a whole map, if its cells keep between the sizes below
const ENOUGH = 16; // of a cell: a map of smaller ones becomes wider where there is room
const LARGEST_CELL = 30;
const SMALLEST_LABELLED_CELL = 10; // below it there is no room for a token at each line
const SMALLEST_CELL = 3;
const MOST_LABELLED = 128; // tokens

const clampIndex = (value, most) => Math.min(most - 1, Math.max(0, Math.floor(value)));

/** Compute how large the cells of a map are in `room` CSS pixels, and whether its lines have room for labels. */
export function computeCellSize({ rows, columns }, room = WIDTH) {
  const most = Math.max(rows, columns, 1);
  const fits = Math.max(Math.floor(Math.min(room, WIDTH) / most), Math.min(ENOUGH, Math.floor(room / most)));
  if (most > MOST_LABELLED) return { cell: Math.max(SMALLEST_CELL, fits), labelled: false };
  return { cell: Math.min(LARGEST_CELL, Math.max(SMALLEST_LABELLED_CELL, fits)), labelled: true };
}

/** Return the cell [query, key] of a map drawn in `box` that is nearest to a point of the screen. */
export const findCellAt = ({ rows, columns }, box, x, y) => [
  clampIndex(((y - box.top) / box.height) * rows, rows),
  clampIndex(((x - box.left) / box.width) * columns, columns),
];

/** What an arrow key adds to a row and a column. */
const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Return the cell next to a place in the direction of an arrow key; null if the key is no arrow. */
export function findCellBeside({ rows, columns }, place, key) {
  if (!(key in ARROWS)) return null;
  // The first press begins at the edge, and where a whole row is pinned, in that row.
  const next = (at, step, size) => (at == null ? 0 : clampIndex(at + step, size));
  return [next(place?.[0], ARROWS[key][0], rows), next(place?.[1], ARROWS[key][1], columns)];
}
