// Dark where the page behind is dark, whatever host it is, now and when the reader changes it.

/** Keep `root.dataset.theme` and the colour behind it true to the page; returns how to stop. */
export function followTheme(root) {
  // A page that is drawn anew never says goodbye: what outlives the root must not hold it.
  const read = makeThemeReader(new WeakRef(root));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", read);
  const themes = new MutationObserver(() => requestAnimationFrame(read));
  const attributes = { attributes: true, attributeFilter: ["class", "style", "data-theme", "data-jp-theme-name"] };
  themes.observe(document.documentElement, attributes);
  themes.observe(document.body, attributes);
  requestAnimationFrame(read); // the element may not be in the page yet
  return () => {
    themes.disconnect();
    dark.removeEventListener("change", read);
  };
}

/** Outside of `followTheme`, whose functions share what they hold. */
function makeThemeReader(weak) {
  return () => {
    const root = weak.deref();
    if (root) readTheme(root);
  };
}

function readTheme(root) {
  let colour = null;
  for (let node = root; node && !colour; node = node.parentElement) {
    const found = getComputedStyle(node).backgroundColor.match(/[\d.]+/g)?.map(Number);
    if (found && (found.length < 4 || found[3] > 0.5)) colour = found;
  }
  // No paper anywhere: the browser's own, which is dark where its own ink is bright.
  const ink = getComputedStyle(document.documentElement).color.match(/[\d.]+/g).map(Number);
  const light = ([red, green, blue]) => 0.3 * red + 0.59 * green + 0.11 * blue;
  const dark = colour ? light(colour) < 128 : light(ink) > 128;
  root.dataset.theme = dark ? "dark" : "light";
  // Behind what stays while the map scrolls.
  if (colour) root.style.setProperty("--page", `rgb(${colour.slice(0, 3)})`);
}
