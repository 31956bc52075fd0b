// A cell of the chosen row, drawn up or down with a mouse or a finger: its weight grows or shrinks.

const WHOLE = 120; // CSS pixels from no weight to all of it
const CLICK = 4; // that a click may move

/** Let the cells of a table's chosen row be drawn; what replaces them meanwhile does not end it. */
export function dragShares(table, state) {
  table.addEventListener("pointerdown", (event) => {
    const cell = event.target.closest("tr.lit td[data-key]:not(.unseen)");
    if (cell && event.button === 0) followDrag(table, state, Number(cell.dataset.key), event);
  });
}

function followDrag(table, state, key, { pointerId, clientY }) {
  const { row } = state;
  const from = { points: state.points, weight: state.open.weights[row][key] };
  const over = new AbortController();
  let [rise, followed, isMoving, isAsked] = [0, 0, false, false];
  const follow = () => {
    isAsked = false;
    if (rise === followed) return;
    followed = rise;
    if (state.row !== row || state.key !== key) state.choose(row, key);
    if (state.canShare) state.point(Math.min(1, Math.max(0, from.weight + rise / WHOLE)), from);
  };
  const hear = (name, call) => addEventListener(name, (event) => event.pointerId === pointerId && call(event), { signal: over.signal });
  hear("pointermove", (event) => {
    rise = clientY - event.clientY;
    if (!isMoving && Math.abs(rise) < CLICK) return;
    if (!isMoving) table.setPointerCapture(pointerId); // so that the end is no click on what lies there
    isMoving = true;
    // Once a frame, however often the pointer moves: each change runs the model.
    if (!isAsked) requestAnimationFrame(follow);
    isAsked = true;
  });
  for (const end of ["pointerup", "pointercancel"]) hear(end, () => over.abort());
}
