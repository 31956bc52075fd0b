// Runs before a page's own scripts: `drawn` is when, in milliseconds since the navigation began, its
// first drawing is complete. Each side makes its drawing within one task, and gives a sign at its
// end: the lab an attribute, BertViz and CircuitsVis the drawing itself, which no frame sees
// before it is whole.
// The frame that shows the sign is painted before the next one begins.
const SIGN = ".tl-lab[data-ready], #vis > svg, [id^=circuits-vis] canvas";
const GIVE_UP_AFTER = 180_000;

window.drawn = new Promise((resolve, reject) => {
  const look = () => {
    if (!document.querySelector(SIGN)) requestAnimationFrame(look);
    else requestAnimationFrame(() => resolve(performance.now()));
  };
  requestAnimationFrame(look);
  setTimeout(() => reject(new Error(`nothing was drawn in ${GIVE_UP_AFTER / 1000} s`)), GIVE_UP_AFTER);
});
