// Starts a deck: keys, formulas, and pieces made as large as the slide has room for.

const LARGEST = 2;
const SMALLEST = 0.7;
const SMALLEST_OF = { frames: 0.45, lab: 1 }; // the lab is longer than a slide, and rather scrolls than shrinks
const STEPS = 8; // halvings, until a size is found
const PARTS = "img, svg, table, canvas, button, p";
const TALL = 1.25; // how high a picture is, in its width, if it is cut in two
const WHITE = 250;
const CONTROLS = "button, input, select, textarea, a, summary, [tabindex]";

/** The largest size between two at which something fits; the smaller of the two if none does. */
function findLargestSize(small, large, fitsAt) {
  if (fitsAt(large)) return large;
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (small + large) / 2;
    if (fitsAt(middle)) small = middle;
    else large = middle;
  }
  return small;
}

/** Make a formula or a table as large as its box lets it be. */
function fitElement(element) {
  const box = element.closest(".body");
  const fitsAt = (size) => {
    element.style.zoom = size;
    return element.scrollWidth * size <= box.clientWidth && element.scrollHeight * size <= box.clientHeight;
  };
  element.style.zoom = findLargestSize(0.4, LARGEST, fitsAt);
}

/** Make the page in a frame as large as the frame lets it be; what is too large even when small scrolls. */
function fitFrame(frame, most = LARGEST) {
  const { documentElement: root, body } = frame.contentDocument;
  const fits = () =>
    root.scrollHeight <= frame.clientHeight &&
    [...body.querySelectorAll(".stage")].every((stage) => stage.scrollWidth <= stage.clientWidth + 1) &&
    [...body.querySelectorAll(PARTS)].every((part) => part.getBoundingClientRect().right <= frame.clientWidth + 1);
  const fitsAt = (size) => {
    body.style.zoom = size;
    return fits();
  };
  root.style.overflow = "hidden";
  body.style.zoom = findLargestSize(SMALLEST_OF[frame.dataset.piece] ?? SMALLEST, most, fitsAt);
  if (!fits()) root.style.overflow = "auto";
  return fits;
}

/** Where to cut a picture: in the middle of the widest band near its middle in which nothing is drawn. */
function findGap(pixels, width, height) {
  const isEmpty = (row) => pixels.subarray(4 * width * row, 4 * width * (row + 1)).every((part) => part >= WHITE);
  let [gap, widest, band] = [height, 0, 0];
  for (let row = Math.floor(0.4 * height); row < 0.6 * height; row += 1) {
    band = isEmpty(row) ? band + 1 : 0;
    if (band > widest) [gap, widest] = [row - Math.floor(band / 2), band];
  }
  return gap;
}

/** A picture that is tall, as a slide is not, stands in two columns. */
function foldTallPicture(frame) {
  const page = frame.contentDocument;
  const image = page.querySelector("img");
  if (image.naturalHeight < TALL * image.naturalWidth) return;
  const columns = page.createElement("div");
  columns.className = "columns";
  const whole = page.createElement("canvas");
  const halves = [page.createElement("canvas"), page.createElement("canvas")];
  const draw = () => {
    const { naturalWidth: width, naturalHeight: height } = image;
    Object.assign(whole, { width, height });
    const paper = whole.getContext("2d", { willReadFrequently: true });
    paper.drawImage(image, 0, 0);
    const gap = findGap(paper.getImageData(0, 0, width, height).data, width, height);
    const parts = [[0, gap], [gap, height]];
    halves.forEach((half, index) => {
      const [top, bottom] = parts[index];
      Object.assign(half, { width, height: bottom - top, role: "img", ariaLabel: index ? "" : image.alt });
      half.style.width = `${image.width || image.getAttribute("width")}px`;
      half.getContext("2d").drawImage(image, 0, -top);
    });
  };
  image.after(columns);
  columns.append(...halves);
  draw();
  image.style.display = "none";
  image.addEventListener("load", draw);
}

/** A piece may grow with its steps: then it is made smaller, and never larger again, so that nothing jumps. */
function keepFitting(frame) {
  let fits = fitFrame(frame);
  const { body } = frame.contentDocument;
  const look = () => {
    if (!fits() && body.style.zoom > SMALLEST) fits = fitFrame(frame, Number(body.style.zoom));
  };
  ["click", "input", "keyup"].forEach((kind) => body.addEventListener(kind, () => requestAnimationFrame(look)));
}

/**
 * Whose key is it, in a frame that has the focus? Page keys, which a remote control sends, are the deck's; arrows are
 * the control's that has the focus, and the deck's where none has. Escape gives all keys back to the deck.
 */
function shareKeys(frame, deck) {
  const moves = { PageDown: () => deck.next(), PageUp: () => deck.prev() };
  const arrows = { ArrowRight: () => deck.next(), ArrowLeft: () => deck.prev() };
  frame.contentWindow.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Escape") {
        event.target.blur();
        globalThis.focus();
        return;
      }
      const move = moves[event.key] ?? (event.target.closest(CONTROLS) ? undefined : arrows[event.key]);
      if (!move) return;
      event.preventDefault();
      event.stopPropagation();
      move();
    },
    { capture: true },
  );
}

/** When the piece in a frame stands, with its pictures. */
async function waitUntilShown(frame) {
  while (!frame.contentDocument?.querySelector("[data-mounted], [data-ready]")) {
    await new Promise((done) => setTimeout(done, 50));
  }
  await Promise.all([...frame.contentDocument.images].map((image) => image.decode().catch(() => {})));
  // The drawing reads the theme, and its own size, before the next picture on the screen.
  await new Promise((done) => setTimeout(done, 100));
}

async function start() {
  const deck = new globalThis.Reveal({
    width: 1280,
    height: 720,
    margin: 0,
    minScale: 0.1,
    maxScale: 4,
    center: false,
    hash: true,
    controls: false,
    slideNumber: "c/t",
    transition: "none",
    backgroundTransition: "none",
    // All slides are laid out from the start, so that pieces can measure themselves.
    viewDistance: 1000,
    mobileViewDistance: 1000,
    plugins: [globalThis.RevealNotes],
  });
  const printing = /[?&](print-pdf|view=print)/.test(location.search);
  const printed = printing && new Promise((done) => deck.on("pdf-ready", done));
  // A piece that one has left keeps no keys.
  deck.on("slidechanged", () => {
    document.activeElement?.blur();
    globalThis.focus();
  });
  await deck.initialize();
  await printed;
  await globalThis.MathJax.startup.promise;
  document.querySelectorAll(".fit").forEach(fitElement);
  await Promise.all(
    [...document.querySelectorAll("iframe.piece")].map(async (frame) => {
      await waitUntilShown(frame);
      if (frame.dataset.piece === "frames") foldTallPicture(frame);
      keepFitting(frame);
      shareKeys(frame, deck);
    }),
  );
  document.body.dataset.ready = "true";
}

globalThis.MathJax = {
  svg: { fontCache: "local" },
  options: { enableMenu: false, enableEnrichment: false, enableExplorer: false },
};
addEventListener("load", start);
