// The keyboard's place, while what it stands on is drawn anew.

/** Draw what may replace the control that has the focus; it goes to the one in its place, or else to `other`. */
export function keepFocus(root, other, draw) {
  const active = () => root.getRootNode().activeElement;
  const control = root.contains(active()) ? active().dataset.control : null;
  draw();
  if (!control || root.contains(active())) return;
  const find = (name) => root.querySelector(`[data-control="${CSS.escape(name)}"]`);
  (find(control) ?? find(other))?.focus({ preventScroll: true });
}
