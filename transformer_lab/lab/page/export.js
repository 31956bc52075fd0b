// A map as a file: a drawing of its own, as SVG or PNG.

import { make, svg } from "./elements.js";
import { paintMap } from "./painting.js";
import { shortenText, makeVisible } from "./text.js";

const LONGEST = 24; // signs of a label
const TITLE = 26; // CSS pixels

/** Compute the sizes of a map's drawing: of its cells, its letters and the whole, and where its first cell is. */
export function computeDrawingLayout({ rows, columns }, { queries, keys }) {
  const cell = Math.max(4, Math.min(24, Math.floor(900 / Math.max(rows, columns))));
  const font = Math.min(12, cell - 1);
  const longest = (list) => Math.max(4, ...list.map((token) => shortenText(makeVisible(token), LONGEST).length));
  const labelled = font >= 7;
  const room = (list) => (labelled ? longest(list) * font * 0.62 + 8 : 8);
  const [left, top] = [room(queries), room(keys) + TITLE];
  const width = Math.max(left + columns * cell + 8, 330); // the title has room
  return { cell, font, labelled, left, top, width, height: top + rows * cell + 8 };
}

const INK = { "font-family": "sans-serif", fill: "#1c1c1c" };

/** White paper with a title. */
const makeSheet = (width, height, title) => svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
  svg("rect", { width, height, fill: "#fff" }),
  svg("text", { ...INK, "font-size": 13, "font-weight": "bold", x: 8, y: 17 }, title));

const RINGS = { gold: { stroke: "#fff" }, referent: { stroke: "#ff9d4d" }, other: { stroke: "#fff", "stroke-dasharray": "3 3" } };

/** Draw a map on white as an SVG element: picture, labels, title, rings { query, key, className }, and frames round what is pinned. */
export function drawMapSvg(map, tokens, colours, title, { rings = [], pinned = null } = {}) {
  const { cell, font, labelled, left, top, width, height } = computeDrawingLayout(map, tokens);
  const canvas = make("canvas");
  paintMap(canvas, map, colours);
  const place = { x: left, y: top, width: map.columns * cell, height: map.rows * cell };
  const sharp = { preserveAspectRatio: "none", "image-rendering": "pixelated" };
  const picture = makeSheet(width, height, title);
  picture.append(svg("image", { href: canvas.toDataURL(), ...place, ...sharp }));
  const ring = { rx: 0.44 * cell, ry: 0.44 * cell, fill: "none" };
  for (const { query, key, className } of rings) {
    const middle = { ...ring, cx: left + (key + 0.5) * cell, cy: top + (query + 0.5) * cell };
    const line = { ...middle, "stroke-width": 1.3, ...RINGS[className] };
    picture.append(svg("ellipse", { ...middle, stroke: "#111", "stroke-width": 3 }), svg("ellipse", line));
  }
  const [query, key] = pinned ?? [null, null];
  const frame = { fill: "none", stroke: "#d65800", "stroke-width": 2 };
  if (query != null) picture.append(svg("rect", { ...frame, ...place, y: top + query * cell, height: cell }));
  if (key != null) picture.append(svg("rect", { ...frame, ...place, x: left + key * cell, width: cell }));
  if (!labelled) return picture;
  const middle = { ...INK, "font-size": font, "dominant-baseline": "central" };
  const label = (token, at) => picture.append(svg("text", { ...middle, ...at }, shortenText(makeVisible(token), LONGEST)));
  tokens.queries.forEach((token, i) =>
    label(token, { x: left - 4, y: top + (i + 0.5) * cell, "text-anchor": "end" }));
  tokens.keys.forEach((token, i) => {
    const x = left + (i + 0.5) * cell;
    label(token, { x, y: top - 4, transform: `rotate(-90 ${x} ${top - 4})` });
  });
  return picture;
}

const LINE = 20; // CSS pixels from word to word
const BETWEEN = 240; // and from query to key

/** Draw links { query, key, thickness }, from 0 to 1, on white as an SVG element, with labels and title. */
export function drawLinesSvg(links, { queries, keys }, title) {
  const room = (list) => 8 + 7.5 * Math.max(4, ...list.map((token) => shortenText(makeVisible(token), LONGEST).length));
  const [left, right] = [room(queries), room(keys)];
  const width = Math.max(left + BETWEEN + right, 330);
  const height = TITLE + 8 + LINE * Math.max(queries.length, keys.length);
  const middle = (place) => TITLE + (place + 0.5) * LINE;
  const label = (x, anchor) => (token, i) => svg("text",
    { ...INK, "font-size": 12, x, y: middle(i), "text-anchor": anchor, "dominant-baseline": "central" }, shortenText(makeVisible(token), LONGEST));
  const picture = makeSheet(width, height, title);
  picture.append(...links.map(({ query, key, thickness }) => svg("line", {
      x1: left, y1: middle(query), x2: left + BETWEEN, y2: middle(key),
      stroke: "#0a63a8", "stroke-width": 0.5 + 5 * thickness, "stroke-opacity": 0.15 + 0.85 * thickness,
    })),
    ...queries.map(label(left - 5, "end")), ...keys.map(label(left + BETWEEN + 5, "start")));
  return picture;
}

/** Download an SVG element as a file; `format` is "svg" or "png". */
export function saveDrawing(picture, name, format) {
  const text = new XMLSerializer().serializeToString(picture);
  const hand = (blob) => {
    const link = make("a", { href: URL.createObjectURL(blob), download: `${name}.${format}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  if (format === "svg") return hand(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const finer = Math.min(2, 8192 / Math.max(image.width, image.height)); // browsers limit a canvas
    const canvas = make("canvas", { width: finer * image.width, height: finer * image.height });
    const context = canvas.getContext("2d");
    context.scale(finer, finer);
    context.drawImage(image, 0, 0);
    canvas.toBlob(hand);
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}
