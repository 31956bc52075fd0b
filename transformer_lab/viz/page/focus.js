// The keyboard's place, while what it stands on is drawn anew.

/** Draw what may replace the control that has the focus, and give it to the one in its place. */
export function keepFocus(root, draw) {
  const active = () => root.getRootNode().activeElement;
  const control = root.contains(active()) ? active().dataset.control : null;
  draw();
  if (!control || root.contains(active())) return;
  const successor = root.querySelector(`[data-control="${control}"]`);
  (successor ?? root.querySelector('[data-control="mute"]'))?.focus({ preventScroll: true });
}
