// Set the formulas of a page a few at a time, so that no page stands still: first those in sight, then the others.

(() => {
  const SLICE = 12; // milliseconds of work between two frames

  /** Wait until the browser has painted, or a little longer where it doesn't, as in a tab behind others. */
  const waitForFrame = () =>
    new Promise((done) => {
      const timer = setTimeout(done, 200);
      requestAnimationFrame(() => setTimeout(() => (clearTimeout(timer), done())));
    });

  /** How far below the top of the window an element is; one above it comes later, and one that's folded away last. */
  const findDistance = (element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    if (!height) return Infinity;
    return bottom < 0 ? 1e6 - top : top;
  };

  addEventListener("load", async () => {
    const MathJax = globalThis.MathJax;
    if (!MathJax?.startup?.promise) return; // a page without formulas loads none
    await MathJax.startup.promise;
    const places = new Map(Array.from(document.querySelectorAll(".math"), (one) => [one, findDistance(one)]));
    const waiting = [...places.keys()].sort((a, b) => (places.get(a) < places.get(b) ? -1 : 1));
    while (waiting.length) {
      await waitForFrame();
      const end = performance.now() + SLICE;
      do MathJax.typeset([waiting.shift()]);
      while (waiting.length && performance.now() < end);
    }
  });
})();
