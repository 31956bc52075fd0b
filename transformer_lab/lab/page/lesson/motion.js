// How something goes from one place of a drawing to another.

const STILL = "(prefers-reduced-motion: reduce)";

/** Move a frame of this class from the element `from` to `to`; nothing moves for readers who ask for reduced motion. */
export function animateMove(from, to, className, delay = 0) {
  if (!from || !to || matchMedia(STILL).matches) return;
  const stage = from.closest(".stage");
  const origin = stage.getBoundingClientRect();
  const placeOf = (element) => {
    const box = element.getBoundingClientRect();
    return { left: `${box.left - origin.left}px`, top: `${box.top - origin.top}px`, width: `${box.width}px`, height: `${box.height}px` };
  };
  const ghost = document.createElement("i");
  ghost.className = `ghost ${className}`;
  ghost.setAttribute("aria-hidden", "true");
  stage.append(ghost);
  const [start, end] = [placeOf(from), placeOf(to)];
  const frames = [{ ...start, opacity: 0.9 }, { ...end, opacity: 0.9, offset: 0.85 }, { ...end, opacity: 0 }];
  ghost.animate(frames, { duration: 900, delay, easing: "ease-in-out", fill: "backwards" }).finished.then(() => ghost.remove(), () => {});
}
