// The keyboard's place, while what it stands on is drawn anew.

/** Draw what may replace the control that has the focus; it goes to the one in its place, or else to `other`. */
export function keepFocus(root, other, draw) {
  const active = () => root.getRootNode().activeElement;
  const control = root.contains(active()) ? active().dataset.control : null;
  draw();
  // What is only hidden still has the focus at this moment, and loses it at the next.
  const isThere = (element) => element != null && root.contains(element) && element.checkVisibility();
  if (!control || isThere(active())) return;
  const find = (name) => root.querySelector(`[data-control="${CSS.escape(name)}"]`);
  [find(control), find(other)].find(isThere)?.focus({ preventScroll: true });
}
