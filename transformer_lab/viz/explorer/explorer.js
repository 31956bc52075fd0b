// The attention explorer: one module without dependencies, for a saved page and for a live widget.
//
// A saved page calls `mount(element, data)`. anywidget calls `render({ model, el })` of the default
// export, where `model` also answers questions: "translate this sentence without that head".
// Tokens come from anybody's text: they only ever become text nodes, never markup.

const KINDS = {
  encoder: { name: "Encoder", query: "source word", key: "source word it looks at" },
  decoder: { name: "Decoder", query: "target word read", key: "target word it looks at" },
  cross: { name: "Cross", query: "target word written", key: "source word it looks at" },
};
const LARGEST_CELL = 30; // CSS pixels
const SMALLEST_LABELLED_CELL = 10; // below it there is no room for a token at each line
const ROOM_FOR_NUMBERS = 26;
const MOST_TILE_PIXELS = 64; // a tile of more tokens shows the largest weight of each block: none is lost between pixels
const TABLE = 12; // strongest links in the table
const LINES = 60; // strongest links that are drawn as lines when no row is chosen
const WAIT_AFTER_TYPING = 350; // milliseconds
const GIVE_UP_AFTER = 60000;

// ---------------------------------------------------------------- small tools

/** An element with properties, attributes and children; text is always inserted as text. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && !name.startsWith("aria") && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A token as it can be seen: an empty one, spaces at its ends and control characters get a sign. */
function visible(token) {
  if (token === "") return "∅";
  const body = token.trim();
  const spaces = (s) => s.replaceAll(" ", "␣");
  const start = body === "" ? token.length : token.indexOf(body);
  const text = spaces(token.slice(0, start)) + body + spaces(token.slice(start + body.length));
  return text
    .replaceAll("\n", "⏎")
    .replaceAll("\t", "⇥")
    .replace(/[\u0000-\u001f]/g, (sign) => String.fromCharCode(0x2400 + sign.charCodeAt(0)))
    .replace(/[\u007f-\u009f\ufffe\uffff]|\p{Cs}/gu, "\ufffd"); // halves of pairs, and what XML refuses
}

/** A token on the page: isolated, so that right-to-left text leaves its neighbours alone. */
const word = (token) => make("bdi", { className: "token" }, visible(token));

/** A token by its place: where it stands more than once, with the number of the place. */
const wordAt = (list, i) =>
  list.indexOf(list[i]) === list.lastIndexOf(list[i]) ? word(list[i]) : make("span", {}, word(list[i]), ` (${i + 1})`);

const number = (value, digits = 2) => (value == null ? "–" : value.toFixed(digits).replace("-", "−"));
const share = (value) => (value > 0 && value < 0.0005 ? "< 0.001" : number(value, 3));
const headName = (layer, head) => `Layer ${layer + 1}, head ${head + 1}`;

// ---------------------------------------------------------------- data

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text); // ten times as fast, since 2025
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function gunzip(packed) {
  const bytes = typeof packed === "string"
    ? fromBase64(packed)
    : new Uint8Array(packed.buffer, packed.byteOffset, packed.byteLength);
  const { readable, writable } = new DecompressionStream("gzip");
  const whole = new Response(readable).arrayBuffer();
  const writer = writable.getWriter();
  await Promise.all([writer.write(bytes), writer.close()]);
  return new Uint8Array(await whole);
}

/** One head's weights: `bytes` are the upper bytes of 65535 · √weight, which are enough for a colour. */
class HeadMap {
  constructor(rows, columns, bytes, lower, fineFrom) {
    Object.assign(this, { rows, columns, bytes, lower, fineFrom });
  }

  /** 65535 · √weight, put together when a number is first read: most maps are only looked at. */
  get roots() {
    this.whole ??= this.unpack();
    return this.whole;
  }

  unpack() {
    const { rows, columns, bytes, lower, fineFrom } = this;
    const roots = new Uint16Array(rows * columns);
    let fine = 0; // those of each row's larger weights have a lower byte
    for (let row = 0; row < roots.length; row += columns) {
      let most = 0;
      for (let i = row; i < row + columns; i++) if (bytes[i] > most) most = bytes[i];
      const from = Math.max(1, Math.min(most, fineFrom));
      for (let i = row; i < row + columns; i++) {
        // Without a lower byte the middle is the best guess; a weight of 0 stays 0.
        roots[i] = (bytes[i] << 8) | (bytes[i] >= from ? lower[fine++] : bytes[i] && 128);
      }
    }
    return roots;
  }
}

/** One record with its `maps[kind][layer][head]`: first the upper bytes of all, then the lower ones. */
async function unpack(record, fineFrom) {
  const bytes = await gunzip(record.weights);
  const shapes = [];
  let fine = 0;
  for (const [kind, heads] of Object.entries(record.heads)) {
    const rows = tokens(record, kind).queries.length;
    const columns = tokens(record, kind).keys.length;
    heads.forEach((count, layer) => {
      for (let head = 0; head < count; head++) shapes.push({ kind, layer, head, rows, columns });
      fine += count * rows * columns;
    });
  }
  let start = 0;
  const maps = Object.fromEntries(Object.keys(record.heads).map((kind) => [kind, []]));
  shapes.forEach(({ kind, layer, head, rows, columns }, place) => {
    const upper = bytes.subarray(start, (start += rows * columns));
    const lower = bytes.subarray(fine, (fine += record.lower_bytes[place]));
    (maps[kind][layer] ??= [])[head] = new HeadMap(rows, columns, upper, lower, fineFrom);
  });
  return { ...record, maps };
}

/** The labels of a map: a row of cross-attention is named by the word that its step writes. */
function tokens(record, kind) {
  if (kind === "encoder") return { queries: record.source, keys: record.source };
  if (kind === "decoder") return { queries: record.target, keys: record.target };
  return { queries: record.written, keys: record.source };
}

const weightAt = (map, row, column) => (map.roots[row * map.columns + column] / 65535) ** 2;

function strongest(values, most) {
  return [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, most);
}

const rowOf = (map, row) => Array.from({ length: map.columns }, (_, k) => weightAt(map, row, k));
const columnOf = (map, column) => Array.from({ length: map.rows }, (_, q) => weightAt(map, q, column));

/** The strongest links of a whole map, without sorting all of it. */
function strongestLinks(map, most) {
  const bins = new Uint32Array(256);
  for (const root of map.roots) bins[root >> 8]++;
  let floor = 255;
  for (let seen = bins[255]; floor > 1 && seen < most; ) seen += bins[--floor];
  const found = [];
  map.roots.forEach((root, i) => {
    if (root >> 8 >= floor && root > 0) found.push(i);
  });
  found.sort((a, b) => map.roots[b] - map.roots[a] || a - b);
  return found.slice(0, most).map((i) => ({
    query: Math.floor(i / map.columns),
    key: i % map.columns,
    weight: (map.roots[i] / 65535) ** 2,
  }));
}

// ---------------------------------------------------------------- drawing

/** Colours for the upper byte of a root, by the weight or by its root: 256 × RGBA. */
function palettes(packed) {
  const rgb = fromBase64(packed);
  const palette = (index) => {
    const colours = new Uint8ClampedArray(256 * 4);
    for (let i = 0; i < 256; i++) {
      const from = 3 * index(i);
      colours.set([rgb[from], rgb[from + 1], rgb[from + 2], 255], 4 * i);
    }
    return new Uint32Array(colours.buffer);
  };
  return { weight: palette((i) => Math.round(255 * (i / 255) ** 2)), root: palette((i) => i) };
}

/** Whether black is easier to read than white on this colour (WCAG 2.1: relative luminance). */
function isBright(colour) {
  const linear = (shift) => {
    const part = ((colour >> shift) & 255) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(0) + 0.7152 * linear(8) + 0.0722 * linear(16) > 0.179;
}

/** The upper bytes of a map; one of very many tokens is pooled by the maximum, so that no link is lost. */
function pooled({ rows, columns, bytes }, most) {
  const step = Math.ceil(Math.max(rows, columns) / most) || 1;
  if (step === 1) return { rows, columns, bytes };
  const small = { rows: Math.ceil(rows / step), columns: Math.ceil(columns / step) };
  small.bytes = new Uint8Array(small.rows * small.columns);
  for (let row = 0, i = 0; row < rows; row++) {
    const line = Math.floor(row / step) * small.columns;
    for (let column = 0; column < columns; column++, i++) {
      const at = line + Math.floor(column / step);
      if (bytes[i] > small.bytes[at]) small.bytes[at] = bytes[i];
    }
  }
  return small;
}

/** One pixel a weight. */
function paint(canvas, { rows, columns, bytes }, palette) {
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = palette[bytes[i]];
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** Maps of one size side by side as a BMP, whose pixels are upper bytes and whose palette is ours. */
function bitmap(maps, palette, across, most) {
  const small = maps.map((map) => pooled(map, most));
  const { rows, columns } = small[0];
  const [width, height] = [across * columns, Math.ceil(maps.length / across) * rows];
  const stride = 4 * Math.ceil(width / 4);
  const start = 14 + 40 + 4 * 256;
  const file = new Uint8Array(start + stride * height);
  const view = new DataView(file.buffer);
  file.set([0x42, 0x4d]); // "BM"
  // Where the pixels begin; the size of what follows; lines from the top; 1 plane of 8 bits.
  for (const [at, value] of [[2, file.length], [10, start], [14, 40], [18, width], [22, -height]]) {
    view.setInt32(at, value, true);
  }
  view.setUint16(26, 1, true);
  view.setUint16(28, 8, true);
  const colours = new Uint8Array(palette.buffer);
  for (let i = 0; i < 256; i++) file.set([colours[4 * i + 2], colours[4 * i + 1], colours[4 * i]], 54 + 4 * i);
  small.forEach(({ bytes }, place) => {
    const left = start + (place % across) * columns;
    const top = Math.floor(place / across) * rows;
    for (let row = 0; row < rows; row++) {
      file.set(bytes.subarray(row * columns, (row + 1) * columns), left + (top + row) * stride);
    }
  });
  return new Blob([file], { type: "image/bmp" });
}

// ---------------------------------------------------------------- the two hosts

/** What anywidget's model is to a live explorer, for a saved page: values, and who wants to know. */
class LocalModel {
  constructor(values) {
    this.values = values;
    this.listeners = [];
  }
  get(name) {
    return this.values[name];
  }
  set(name, value) {
    this.values[name] = value;
    this.listeners.filter(([event]) => event === `change:${name}`).forEach(([, call]) => call());
  }
  save_changes() {}
  on(event, call) {
    this.listeners.push([event, call]);
  }
  off(event, call) {
    this.listeners = this.listeners.filter(([e, c]) => e !== event || c !== call);
  }
}

/** The still picture in `element` stays until the view is drawn, and if it cannot be. */
export async function mount(element, data) {
  const still = [...element.childNodes];
  const explorer = new Explorer(element, new LocalModel({ ...data.start }), false);
  try {
    await explorer.load(data);
  } catch (error) {
    explorer.close();
    explorer.root.remove();
    throw error;
  }
  still.forEach((node) => node.remove());
  return () => explorer.close();
}

export default {
  async render({ model, el }) {
    const explorer = new Explorer(el, model, true);
    const changed = () => explorer.receive(model.get("data"));
    model.on("change:data", changed);
    try {
      await changed();
    } catch (error) {
      model.off("change:data", changed);
      explorer.close();
      explorer.root.remove();
      throw error; // the still picture beside the widget stays
    }
    const seePictures = hidePictures(model, el);
    return () => {
      seePictures();
      model.off("change:data", changed);
      explorer.close();
    };
  },
};

/** As long as the view is in the page, the still pictures beside it are not seen. */
function hidePictures(model, element) {
  const style = make("style");
  const write = () => {
    const names = model.get("stills").map((name) => `[data-still="${CSS.escape(name)}"]`);
    style.textContent = names.length ? `${names.join(", ")} { display: none }` : "";
  };
  model.on("change:stills", write);
  write();
  element.append(style);
  return () => {
    model.off("change:stills", write);
    style.remove();
  };
}

// ---------------------------------------------------------------- the explorer

class Explorer {
  constructor(element, model, live) {
    this.model = model;
    this.live = live;
    this.pictures = new Map(); // of all heads of a kind, by record, kind and palette
    this.asked = 0; // when the latest question was asked; answers to older ones are dropped
    this.local = { record: 0, sort: "", palette: "weight", gold: true, view: "matrix" };
    this.hover = null; // [query, key], either may be null
    this.root = make("section", {
      className: "tl-explorer",
      "aria-label": "Attention explorer",
      "data-lm-suppress-shortcuts": "true", // or JupyterLab takes the arrows to change cells
    });
    element.append(this.root);
    this.follow();
    this.build();
    this.listeners = ["kind", "layer", "head", "pinned"].map((name) => [`change:${name}`, () => this.redraw()]);
    if (live) this.listeners.push(["msg:custom", (message) => this.hear(message)]);
    for (const [event, call] of this.listeners) model.on(event, call);
  }

  close() {
    this.loading = null;
    for (const [event, call] of this.listeners) this.model.off(event, call);
    this.forgetPictures();
    this.themes.disconnect();
    this.dark.removeEventListener("change", this.theme);
    for (const timer of [this.typing, this.patience, this.late]) clearTimeout(timer);
  }

  /** Dark where the page behind is dark, whatever host it is, now and when the reader changes it. */
  follow() {
    // A page that is drawn anew never says goodbye: what outlives it must not hold it.
    const weak = new WeakRef(this);
    this.theme = () => weak.deref()?.readTheme();
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", this.theme);
    const { theme } = this;
    this.themes = new MutationObserver(() => requestAnimationFrame(theme));
    const attributes = { attributes: true, attributeFilter: ["class", "style", "data-theme", "data-jp-theme-name"] };
    this.themes.observe(document.documentElement, attributes);
    this.themes.observe(document.body, attributes);
    requestAnimationFrame(theme); // the element may not be in the page yet
  }

  readTheme() {
    let colour = null;
    for (let node = this.root; node && !colour; node = node.parentElement) {
      const found = getComputedStyle(node).backgroundColor.match(/[\d.]+/g)?.map(Number);
      if (found && (found.length < 4 || found[3] > 0.5)) colour = found;
    }
    // No paper anywhere: the browser's own, which is dark where its own ink is bright.
    const ink = getComputedStyle(document.documentElement).color.match(/[\d.]+/g).map(Number);
    const light = ([red, green, blue]) => 0.3 * red + 0.59 * green + 0.11 * blue;
    const dark = colour ? light(colour) < 128 : light(ink) > 128;
    this.root.dataset.theme = dark ? "dark" : "light";
    // Behind what stays while the map scrolls.
    if (colour) this.root.style.setProperty("--page", `rgb(${colour.slice(0, 3)})`);
  }

  async receive(data) {
    const isStale = () => data.answers < this.asked; // more was asked since
    if (!isStale()) await this.load(data, data.records.at(-1).sentence, isStale);
  }

  async load(data, text = null, isStale = () => false) {
    const loading = (this.loading = Symbol("load"));
    const records = await Promise.all(data.records.map((record) => unpack(record, data.fine_from)));
    if (this.loading !== loading || isStale()) return;
    const first = !this.records;
    this.records = records;
    this.forgetPictures();
    this.wanted = null; // the record itself says what was changed
    this.colours = palettes(data.colours);
    this.local.record = records.length - 1;
    this.hover = null;
    this.loaded = data;
    if (text != null && (first || !this.typing)) this.source.value = text;
    this.keepFocus(() => {
      this.settle();
      this.picture(this.kind); // the browser reads it while the rest is drawn
      this.drawFrame();
      this.redraw();
    });
    await this.tilesPainted;
    this.root.dataset.ready = "true";
    // The pictures of the other kinds are made ready while the reader looks at the first.
    const prepare = () => this.loading === loading && Object.keys(this.record.maps).forEach((kind) => this.picture(kind));
    setTimeout(prepare, 100);
  }

  get record() {
    return this.records[this.local.record];
  }
  get kind() {
    return this.model.get("kind");
  }
  get map() {
    return this.record.maps[this.kind]?.[this.model.get("layer")]?.[this.model.get("head")];
  }
  get chosen() {
    return this.within(this.hover) ?? this.pinned;
  }
  get pinned() {
    return this.within(this.model.get("pinned"));
  }

  /** A place, if it is one of the open map: Python sets the kind and the pin one after the other. */
  within(place) {
    const [query, key] = place ?? [];
    if ((query == null && key == null) || !this.map) return null;
    return query >= this.map.rows || key >= this.map.columns ? null : place;
  }

  /** Another record may have fewer kinds, layers or heads: then the nearest that there is. */
  settle() {
    const kinds = Object.keys(this.record.maps);
    const changes = {};
    const kind = kinds.includes(this.kind) ? this.kind : kinds.at(-1);
    const layers = this.record.maps[kind];
    const layer = Math.min(this.model.get("layer"), layers.length - 1);
    const head = Math.min(this.model.get("head"), layers[layer].length - 1);
    const { rows, columns } = layers[layer][head];
    const [query, key] = this.model.get("pinned");
    const pinned = query >= rows || key >= columns ? [] : this.model.get("pinned");
    for (const [name, value] of Object.entries({ kind, layer, head, pinned })) {
      if (this.model.get(name) !== value) changes[name] = value;
    }
    this.set(changes);
  }

  /** Change what is shown, in this view and in Python. */
  set(changes) {
    this.quiet = true;
    for (const [name, value] of Object.entries(changes)) this.model.set(name, value);
    this.quiet = false;
    if (Object.keys(changes).length) this.model.save_changes();
  }

  choose(changes) {
    this.set(changes);
    this.redraw();
  }

  /** Draw what may replace the control that has the focus, and give it to the one in its place. */
  keepFocus(draw) {
    const active = () => this.root.getRootNode().activeElement;
    const control = this.root.contains(active()) ? active().dataset.control : null;
    draw();
    if (!control || this.root.contains(active())) return;
    const successor = this.root.querySelector(`[data-control="${control}"]`);
    (successor ?? this.root.querySelector('[data-control="mute"]'))?.focus({ preventScroll: true });
  }

  // -------------------------------------------------------------- what stands still

  build() {
    this.source = make("input", {
      type: "text", className: "source", spellcheck: false, dir: "auto", "aria-label": "Sentence to translate",
    });
    this.source.addEventListener("input", () => this.type());
    this.status = make("p", { className: "status", role: "status" });
    this.sentence = make("p", { className: "sentence" });
    this.difference = make("p", { className: "difference" });
    this.interventions = make("div", { className: "interventions" });
    this.snapshotSlider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Training snapshot" });
    this.snapshotSlider.addEventListener("input", () => this.openSnapshot(Number(this.snapshotSlider.value)));
    this.snapshotName = make("output", {});
    this.snapshots = make("div", { className: "snapshots" },
      make("label", {}, "Training ", this.snapshotSlider), this.snapshotName);
    this.kinds = make("div", { className: "kinds", role: "group", "aria-label": "Kind of attention" });
    this.sorting = make("select", { "aria-label": "Sort heads by" });
    this.sorting.addEventListener("change", () => {
      this.local.sort = this.sorting.value;
      this.redraw();
    });
    this.meaning = make("p", { className: "meaning" });
    this.tiles = make("div", { className: "tiles", role: "group", "aria-label": "Heads" });
    this.tiles.addEventListener("keydown", (event) => this.moveAmongTiles(event));
    this.title = make("div", { className: "title", role: "heading", "aria-level": 3 });
    this.facts = make("p", { className: "facts" });
    this.terms = make("dl", {});
    const glossary = make("details", { className: "links" },
      make("summary", {}, "What the numbers of a head mean"), this.terms);
    this.views = make("div", { className: "views" });
    this.field = make("div", { className: "map" });
    this.readout = make("p", { className: "readout", role: "status", "aria-live": "polite" });
    this.stepSlider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Decoding step" });
    this.stepSlider.addEventListener("input", () => this.setPinned([Number(this.stepSlider.value), null]));
    this.stepName = make("span", {});
    this.stepText = make("div", {});
    this.step = 0; // the step whose words are shown: that of the row which was looked at last
    this.steps = make("div", { className: "steps" }, make("label", {}, this.stepName, this.stepSlider), this.stepText);
    this.links = make("details", { className: "links" });
    this.links.addEventListener("toggle", () => this.drawLinks());
    this.left = make("p", { className: "left-out" });
    const heads = make("div", { className: "heads" },
      make("div", { className: "bar" }, this.kinds, make("label", {}, "Sort by ", this.sorting)),
      this.meaning, this.tiles);
    const open = make("div", { className: "open" },
      make("div", { className: "bar" }, this.title, this.views), this.facts,
      make("div", { className: "beside" }, this.field,
        make("div", { className: "words" }, this.readout, this.steps, glossary, this.links)));
    this.root.append(
      ...(this.live ? [make("label", { className: "ask" }, "Sentence ", this.source)] : []),
      this.sentence, this.difference, this.interventions, this.status, this.left, this.snapshots,
      make("div", { className: "panes" }, heads, open),
    );
  }

  /** What changes with the record, and not with what is looked at. */
  drawFrame() {
    const { record } = this;
    const text = (list) => list.flatMap((token) => [word(token), " "]);
    this.sentence.replaceChildren(
      ...(this.live || !record.source.length ? [] : [make("span", { className: "text" }, ...text(record.source))]),
      ...(this.live || !record.source.length || !record.written.length ? [] : ["→ "]),
      make("span", { className: "text written" }, ...text(record.written)));
    this.sentence.hidden = !record.written.length && this.live;
    // A long one scrolls, and what scrolls must be within the reach of the keyboard.
    if (record.source.length + record.written.length > 60) this.sentence.tabIndex = 0;
    else this.sentence.removeAttribute("tabindex");
    this.left.hidden = !record.left_out;
    this.left.textContent = record.left_out ?? "";
    this.drawDifference();
    this.drawInterventions();
    this.drawSnapshots();
    this.kinds.replaceChildren(...Object.keys(record.maps).map((kind) =>
      this.toggle(kind, KINDS[kind].name, () => kind === this.kind, () => this.openKind(kind))));
  }

  toggle(control, text, isOn, press) {
    const button = make("button", { type: "button", "data-control": control }, text);
    button.addEventListener("click", press);
    button.refresh = () => button.setAttribute("aria-pressed", String(isOn()));
    button.refresh();
    return button;
  }

  openKind(kind) {
    const layers = this.record.maps[kind];
    const layer = Math.min(this.model.get("layer"), layers.length - 1);
    const head = Math.min(this.model.get("head"), layers[layer].length - 1);
    // A pinned step stays pinned where its rows are the steps too; another pin means nothing here.
    const [query] = this.pinned ?? [null];
    const stays = query != null && this.kind !== "encoder" && kind !== "encoder";
    this.hover = null;
    this.choose({ kind, layer, head, pinned: stays ? [query, null] : [] });
  }

  drawSnapshots() {
    const name = this.record.label ?? `record ${this.local.record + 1}`;
    this.snapshots.hidden = this.records.length < 2;
    Object.assign(this.snapshotSlider, { max: this.records.length - 1, value: this.local.record });
    this.snapshotSlider.setAttribute("aria-valuetext", name);
    this.snapshotName.textContent = name;
  }

  openSnapshot(place) {
    this.local.record = place;
    this.hover = null;
    this.keepFocus(() => {
      this.settle();
      this.drawFrame();
      this.redraw();
    });
  }

  // -------------------------------------------------------------- what follows the reader

  redraw() {
    if (this.quiet || !this.records) return;
    const { record, kind } = this;
    const layers = record.maps[kind];
    clearTimeout(this.late);
    if (!layers?.[this.model.get("layer")]?.[this.model.get("head")]) {
      // Python sets one trait after the other: the rest is on its way, or this record lacks the head.
      this.late = setTimeout(() => {
        this.settle();
        this.redraw();
      });
      return;
    }
    this.kinds.childNodes.forEach((button) => button.refresh());
    this.keepFocus(() => {
      this.drawTiles();
      this.drawHead();
    });
  }

  scoresOf(kind) {
    return this.record.scores[kind] ?? [];
  }

  drawTiles() {
    const { record, kind, local } = this;
    const scores = this.scoresOf(kind);
    const options = [["", "layer and head"], ...scores.map(({ name, label }) => [name, label])];
    if (!options.some(([value]) => value === local.sort)) local.sort = "";
    if (this.sorting.childNodes.length !== options.length || options.some(([value], i) => value !== this.sorting.options[i].value)) {
      this.sorting.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
    }
    this.sorting.value = local.sort;
    const shape = String(record.heads[kind]);
    if (this.tiles.dataset.shape !== shape) {
      this.tiles.dataset.shape = shape;
      this.across = Math.max(...record.heads[kind]);
      this.tiles.style.setProperty("--across", this.across);
      this.root.classList.toggle("many", this.across > 8);
      this.tileButtons = record.heads[kind].flatMap((count, layer) => Array.from({ length: count }, (_, head) => this.tile(layer, head)));
      this.tileButtons.forEach(({ picture }, place) => this.cutOut(picture, place));
    }
    this.tilesPainted = this.paintTiles();
    const score = scores.find(({ name }) => name === local.sort);
    const order = [...this.tileButtons.keys()];
    const rank = (i) => (score.values[i] == null ? -Infinity : score.best === "low" ? -score.values[i] : score.values[i]);
    this.meaning.textContent = score
      ? `${score.means}; ${score.best === "low" ? "lowest" : "highest"} first`
      : "Each small map is one head; a click opens it. Rows ask, columns answer; bright is much weight.";
    if (score) order.sort((a, b) => rank(b) - rank(a) || a - b);
    const [layerNow, headNow] = [this.model.get("layer"), this.model.get("head")];
    this.tileButtons.forEach(({ button, caption, layer, head }, i) => {
      const value = score ? number(score.values[i]) : "";
      const muted = this.isMuted(kind, layer, head);
      const text = `${layer + 1}.${head + 1}${value && "  " + value}${muted ? "  muted" : ""}`;
      if (caption.textContent !== text) caption.textContent = text;
      const said = score ? `, ${score.label} ${value}` : "";
      button.setAttribute("aria-label", `${headName(layer, head)}${said}${muted ? ", muted" : ""}`);
      const open = layer === layerNow && head === headNow;
      button.setAttribute("aria-pressed", String(open));
      button.classList.toggle("muted", muted);
      button.tabIndex = open ? 0 : -1;
      const column = !score && head === 0 ? "1" : ""; // a line for each layer
      if (button.style.gridColumnStart !== column) button.style.gridColumnStart = column; // else a new layout
    });
    this.tiles.classList.toggle("sorted", Boolean(score));
    const sorted = order.map((i) => this.tileButtons[i].button);
    const same = sorted.length === this.tiles.childNodes.length && sorted.every((b, i) => b === this.tiles.childNodes[i]);
    if (!same) this.tiles.replaceChildren(...sorted);
    this.sortedTiles = sorted;
  }

  async paintTiles() {
    const { image, loaded } = this.picture(this.kind);
    this.painted = image;
    await loaded;
    if (this.painted === image) this.tiles.style.setProperty("--picture", `url("${image.src}")`);
  }

  /** One picture for all tiles, for the browser spends more on fifty canvases than on all else. */
  picture(kind) {
    const { record, local, pictures } = this;
    const name = `${local.record} ${kind} ${local.palette}`;
    if (!pictures.has(name)) {
      const across = Math.max(...record.heads[kind]);
      const file = bitmap(record.maps[kind].flat(), this.colours[local.palette], across, MOST_TILE_PIXELS);
      const image = new Image();
      const loaded = new Promise((done) => (image.onload = image.onerror = done));
      image.src = URL.createObjectURL(file);
      pictures.set(name, { image, loaded });
    }
    return pictures.get(name);
  }

  forgetPictures() {
    for (const { image } of this.pictures.values()) URL.revokeObjectURL(image.src);
    this.pictures.clear();
    this.painted = null;
  }

  /** Let a tile show its part of the picture. */
  cutOut(part, place) {
    const down = Math.ceil(this.tileButtons.length / this.across);
    const share = (at, most) => (most > 1 ? (100 * at) / (most - 1) : 0);
    part.style.backgroundSize = `${100 * this.across}% ${100 * down}%`;
    part.style.backgroundPosition = `${share(place % this.across, this.across)}% ${share(Math.floor(place / this.across), down)}%`;
  }

  tile(layer, head) {
    const picture = make("i", { className: "picture", "aria-hidden": "true" });
    const caption = make("span", {});
    const inPython = `layer=${layer}, head=${head} in Python`;
    const name = { title: `${headName(layer, head)} (${inPython})`, "data-control": `tile ${layer}.${head}` };
    const button = make("button", { type: "button", className: "tile", ...name }, picture, caption);
    button.addEventListener("click", () => {
      this.hover = null;
      this.choose({ layer, head });
      button.focus();
    });
    return { button, picture, caption, layer, head };
  }

  moveAmongTiles(event) {
    const at = this.sortedTiles.indexOf(event.target);
    if (at < 0) return;
    const last = this.sortedTiles.length - 1;
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    const next = { ArrowUp: () => this.tileBeside(at, -1), ArrowDown: () => this.tileBeside(at, 1) }[event.key];
    if (!next && !(event.key in steps)) return;
    event.preventDefault();
    event.stopPropagation();
    const tile = next ? next() : this.sortedTiles[steps[event.key]];
    if (tile) {
      tile.click();
      tile.focus();
    }
  }

  /** The tile above (-1) or below (1) another, as they stand on the screen. */
  tileBeside(at, direction) {
    const here = this.sortedTiles[at].getBoundingClientRect();
    const far = (tile) => {
      const { top, left } = tile.getBoundingClientRect();
      const down = direction * (top - here.top);
      return down > 1 ? 1000 * down + Math.abs(left - here.left) : Infinity;
    };
    const nearest = this.sortedTiles.reduce((a, b) => (far(b) < far(a) ? b : a));
    return far(nearest) < Infinity ? nearest : null;
  }

  drawHead() {
    const { record, kind, model } = this;
    const [layer, head] = [model.get("layer"), model.get("head")];
    this.title.textContent = `${KINDS[kind].name} attention, ${headName(layer, head).toLowerCase()}`;
    const place = this.tileButtons.findIndex((tile) => tile.layer === layer && tile.head === head);
    this.facts.replaceChildren(...this.scoresOf(kind).map(({ label, values, means }) =>
      make("span", { title: means }, `${label} `, make("b", {}, number(values[place])))));
    this.drawTerms();
    this.drawViews(layer, head);
    if (this.local.view !== "lines") this.drawMatrix(); // the lines follow the chosen row, below
    this.drawSteps();
    this.drawLinks();
    this.showChosen();
  }

  drawViews(layer, head) {
    const { local, kind, record } = this;
    const gold = kind === "cross" ? record.alignment || record.referent : record.referent && kind === "encoder";
    const turn = (name, on, off) => () => {
      local[name] = local[name] === on ? off : on;
      this.redraw();
    };
    const muted = () => this.isMuted(kind, layer, head);
    const controls = [
      this.toggle("lines", "Lines", () => local.view === "lines", turn("view", "lines", "matrix")),
      this.toggle("root", "Show small weights", () => local.palette === "root", turn("palette", "root", "weight")),
      gold && local.view === "matrix" && this.toggle("gold", "Show gold", () => local.gold, turn("gold", true, false)),
      this.live && this.isLatest && this.toggle("mute", "Mute this head", muted, () => this.mute(kind, layer, head)),
      this.live && this.isLatest && this.pointButton(kind, layer, head),
      this.action("svg", "SVG", "Save this map as SVG", () => this.save("svg")),
      this.action("png", "PNG", "Save this map as PNG", () => this.save("png")),
    ].filter(Boolean);
    this.views.replaceChildren(...controls);
  }

  action(control, text, title, press) {
    const properties = { type: "button", title, "aria-label": title, "data-control": control };
    const button = make("button", properties, text);
    button.addEventListener("click", press);
    return button;
  }

  // -------------------------------------------------------------- one head as a matrix

  drawMatrix() {
    const { map, kind, record } = this;
    const { queries, keys } = tokens(record, kind);
    const most = Math.max(map.rows, map.columns);
    const fits = Math.floor(520 / Math.max(most, 1));
    const labelled = most <= 128;
    const cell = labelled ? Math.min(LARGEST_CELL, Math.max(SMALLEST_LABELLED_CELL, fits)) : Math.max(3, fits);
    this.cell = cell;
    const { palette } = this.local;
    if (this.field.className !== "map matrix") this.buildMatrix();
    this.field.style.setProperty("--cell", `${cell}px`);
    this.field.style.setProperty("--font", `${Math.min(13, Math.max(8, cell - 1))}px`);
    this.axes.textContent = `Rows: ${KINDS[kind].query} (query). Columns: ${KINDS[kind].key} (key).`;
    this.label(this.queryLabels, labelled ? queries : []);
    this.label(this.keyLabels, labelled ? keys : []);
    this.cells.style.width = `${map.columns * cell}px`;
    this.cells.style.height = `${map.rows * cell}px`;
    this.marks.setAttribute("viewBox", `0 0 ${map.columns} ${map.rows}`);
    paint(this.canvas, map, this.colours[palette]);
    if (this.scaleOf !== palette) this.scaleBox.replaceChildren(this.scale());
    this.scaleOf = palette;
    this.legendBox.textContent = this.legend();
    this.drawMarks();
  }

  buildMatrix() {
    const labels = (side) => {
      const box = make("div", { className: side, "aria-hidden": "true" });
      const place = (label) => {
        const at = [...box.childNodes].indexOf(label);
        return side === "queries" ? [at, null] : [null, at];
      };
      box.addEventListener("pointerover", ({ target, relatedTarget }) => {
        const label = target.closest(".label");
        if (label && !label.contains(relatedTarget)) this.look(place(label));
      });
      box.addEventListener("click", ({ target }) => {
        const label = target.closest(".label");
        if (label) this.pin(place(label));
      });
      return box;
    };
    this.axes = make("p", { className: "axes" });
    this.queryLabels = labels("queries");
    this.keyLabels = labels("turned");
    this.canvas = make("canvas", { className: "matrix", "aria-hidden": "true" });
    this.marks = svg("svg", { class: "marks", preserveAspectRatio: "none", "aria-hidden": "true" });
    this.rowBand = make("i", { className: "band row" });
    this.columnBand = make("i", { className: "band column" });
    this.numbers = make("div", { className: "numbers", "aria-hidden": "true" });
    this.cells = make("div", {
      className: "cells", tabIndex: 0, role: "application",
      "aria-label": "The map. Arrows move, Enter pins, R pins the row, C the column, Escape lets go.", "data-control": "map",
    }, this.canvas, this.marks, this.rowBand, this.columnBand, this.numbers);
    this.cells.addEventListener("pointermove", (event) => this.look(this.cellAt(event)));
    this.cells.addEventListener("click", (event) => this.pin(this.cellAt(event)));
    this.cells.addEventListener("keydown", (event) => this.moveInMap(event));
    this.scaleBox = make("div", {});
    this.legendBox = make("div", { className: "legend" });
    this.scaleOf = null;
    const scroll = make("div", { className: "scroll" },
      make("div", { className: "corner" }, make("span", {}, "query ↓  key →")),
      make("div", { className: "keys" }, this.keyLabels), this.queryLabels, this.cells);
    scroll.addEventListener("pointerleave", () => this.look(null));
    this.field.className = "map matrix";
    this.field.replaceChildren(this.axes, scroll, this.scaleBox, this.legendBox);
  }

  /** One label a token; those that are there get another text, which is faster than new ones. */
  label(box, list) {
    while (box.childNodes.length > list.length) box.lastChild.remove();
    list.forEach((token, place) => {
      const label = box.childNodes[place] ?? box.appendChild(make("span", { className: "label" }, word("")));
      const text = label.firstChild.firstChild;
      if (text.data === visible(token)) return;
      text.data = visible(token);
      label.title = token;
    });
  }

  scale() {
    const steps = make("canvas", { "aria-hidden": "true" });
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => Math.round(Math.sqrt(i / 255) * 255));
    paint(steps, { rows: 1, columns: 256, bytes }, this.colours[this.local.palette]);
    const what = this.local.palette === "root" ? "weight (colour by its square root)" : "weight";
    return make("div", { className: "scale" }, "0", steps, `1  ${what}`);
  }

  /** What the rings mean. */
  legend() {
    const { record, kind, local } = this;
    const rings = [];
    if (local.gold && kind === "cross" && record.alignment) rings.push("○ gold alignment");
    if (local.gold && kind !== "decoder" && record.referent) rings.push("orange ○ referent", "dashed ○ the other noun");
    return rings.join(" · ");
  }

  drawMarks() {
    const { record, kind, local } = this;
    this.marks.replaceChildren();
    if (!local.gold) return;
    const ring = (query, key, className) => {
      const place = { cx: key + 0.5, cy: query + 0.5, rx: 0.44, ry: 0.44 }; // a number fits inside
      const under = svg("ellipse", { ...place, class: `under ${className}` });
      this.marks.append(under, svg("ellipse", { ...place, class: className }));
    };
    if (kind === "cross") for (const [key, query] of record.alignment ?? []) ring(query, key, "gold");
    const { referent } = record;
    if (referent && kind !== "decoder") {
      const row = kind === "encoder" ? referent.pronoun : referent.step;
      ring(row, referent.referent, "referent");
      ring(row, referent.other, "other");
    }
  }

  cellAt(event) {
    const box = this.cells.getBoundingClientRect();
    const inside = (value, most) => Math.min(most - 1, Math.max(0, Math.floor(value)));
    return [
      inside(((event.clientY - box.top) / box.height) * this.map.rows, this.map.rows),
      inside(((event.clientX - box.left) / box.width) * this.map.columns, this.map.columns),
    ];
  }

  look(place) {
    if (!this.map) return;
    if (String(place) === String(this.hover)) return;
    this.hover = place;
    if ((this.chosen?.[0] ?? this.step) !== this.step) this.drawSteps();
    this.showChosen();
  }

  pin(place) {
    this.setPinned(String(place) === String(this.pinned) ? [] : place);
  }

  letGo() {
    this.setPinned([]);
  }

  setPinned(pinned) {
    this.hover = null;
    this.set({ pinned });
    this.drawSteps();
    this.keepFocus(() => this.drawViews(this.model.get("layer"), this.model.get("head")));
    this.showChosen();
  }

  moveInMap(event) {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (event.key in steps) {
      const [query, key] = this.chosen ?? [null, null];
      const [down, right] = steps[event.key];
      // The first press begins at the edge, and where a whole row is pinned, in that row.
      const next = (at, step, size) => (at == null ? 0 : Math.min(size - 1, Math.max(0, at + step)));
      this.look([next(query, down, this.map.rows), next(key, right, this.map.columns)]);
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.chosen) this.pin(this.chosen);
    } else if (event.key === "r" && this.chosen) this.pin([this.chosen[0] ?? 0, null]);
    else if (event.key === "c" && this.chosen) this.pin([null, this.chosen[1] ?? 0]);
    else if (event.key === "Escape") this.letGo();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The row and the column that are looked at or pinned, and what they say. */
  showChosen() {
    const { chosen, map, kind, record } = this;
    const { queries, keys } = tokens(record, kind);
    const [query, key] = chosen ?? [null, null];
    if (this.local.view === "lines") this.drawLines();
    else this.showBands(query, key);
    this.root.dataset.pinned = this.pinned ? "true" : "false";
    if (!chosen) {
      this.readout.replaceChildren("Point at a word or a cell; click or press Enter to pin it.");
      return;
    }
    const list = (values, names) => strongest(values, 5).filter((i) => values[i] >= 0.005)
      .map((i) => make("span", { className: "link" }, wordAt(names, i), ` ${number(values[i])}`))
      .flatMap((link) => [link, " "]);
    const parts = [];
    if (query != null && key != null) {
      const isLeftOut = record.left_out && !map.roots[query * map.columns + key];
      const weight = make("b", {}, isLeftOut ? "0, or left out" : number(weightAt(map, query, key), 3));
      parts.push(make("span", {}, wordAt(queries, query), " → ", wordAt(keys, key), ": ", weight));
    }
    if (query != null) {
      const links = list(rowOf(map, query), keys);
      parts.push(make("span", {}, wordAt(queries, query), " looks at: ", ...links));
    }
    if (key != null) {
      const links = list(columnOf(map, key), queries);
      parts.push(make("span", {}, wordAt(keys, key), " is looked at by: ", ...links));
    }
    if (String(chosen) === String(this.pinned)) parts.push("Pinned.");
    this.readout.replaceChildren(...parts.flatMap((part) => [part, make("br")]).slice(0, -1));
  }

  showBands(query, key) {
    const { cell, map } = this;
    this.rowBand.hidden = query == null;
    this.columnBand.hidden = key == null;
    if (query != null) this.rowBand.style.transform = `translateY(${query * cell}px)`;
    if (key != null) this.columnBand.style.transform = `translateX(${key * cell}px)`;
    for (const [labels, at] of [[this.queryLabels, query], [this.keyLabels, key]]) {
      labels.lit?.classList.remove("lit");
      labels.lit = at == null ? null : labels.childNodes[at];
      labels.lit?.classList.add("lit");
    }
    const numbers = [];
    if (query != null && cell >= ROOM_FOR_NUMBERS) {
      const palette = this.colours[this.local.palette];
      rowOf(map, query).forEach((weight, k) => {
        if (weight < 0.045) return;
        const colour = palette[map.roots[query * map.columns + k] >> 8];
        const className = isBright(colour) ? "on-bright" : "on-dark";
        const text = make("span", { className }, number(weight).replace(/^0/, ""));
        text.style.transform = `translate(${k * cell}px, ${query * cell}px)`;
        numbers.push(text);
      });
    }
    this.numbers.replaceChildren(...numbers);
  }

  // -------------------------------------------------------------- one head as lines

  drawLines() {
    const { map, kind, record, chosen } = this;
    const { queries, keys } = tokens(record, kind);
    const step = 20;
    const height = Math.max(queries.length, keys.length, 1) * step;
    const [query, key] = chosen ?? [null, null];
    let links;
    if (query != null) links = rowOf(map, query).map((weight, k) => ({ query, key: k, weight }));
    else if (key != null) links = columnOf(map, key).map((weight, q) => ({ query: q, key, weight }));
    else links = strongestLinks(map, LINES);
    if (this.field.className !== "map lines" || this.linesOf?.kind !== kind || this.linesOf.record !== record) {
      this.linesOf = { kind, record };
      this.field.className = "map lines";
      const size = { viewBox: `0 0 100 ${height}`, height, preserveAspectRatio: "none" };
      this.drawing = svg("svg", { ...size, "aria-hidden": "true" });
      const board = make("div", { className: "scroll" },
        this.column(queries, "query", `Queries: ${KINDS[kind].query}`), this.drawing,
        this.column(keys, "key", `Keys: ${KINDS[kind].key}`));
      board.addEventListener("pointerleave", () => this.look(null));
      const axes = `Left: ${KINDS[kind].query} (query). Right: ${KINDS[kind].key} (key).`;
      this.field.replaceChildren(make("p", { className: "axes" }, axes), board);
    }
    for (const [side, at] of [["query", query], ["key", key]]) {
      this.field.querySelectorAll(`.${side} button`).forEach((button, place) => {
        button.classList.toggle("lit", place === at);
        button.tabIndex = place === (at ?? 0) ? 0 : -1; // one stop for Tab; arrows go on from there
      });
    }
    this.drawing.replaceChildren(...links.filter(({ weight }) => weight >= 0.01).map((link) => {
      const ends = { x1: 0, y1: (link.query + 0.5) * step, x2: 100, y2: (link.key + 0.5) * step };
      const strength = this.local.palette === "root" ? Math.sqrt(link.weight) : link.weight;
      const ink = { "stroke-width": 0.5 + 5 * strength, "stroke-opacity": 0.15 + 0.85 * strength };
      return svg("line", { ...ends, ...ink });
    }));
  }

  /** The tokens of one side, from which the lines go; the arrows move among them. */
  column(list, side, name) {
    const box = make("div", { className: `column ${side}`, role: "group", "aria-label": name });
    list.forEach((token, place) => {
      const control = `${side} ${place}`;
      const button = make("button", { type: "button", title: token, "data-control": control }, word(token));
      const here = side === "query" ? [place, null] : [null, place];
      button.addEventListener("pointerenter", () => this.look(here));
      button.addEventListener("focus", () => button.matches(":focus-visible") && this.look(here));
      button.addEventListener("click", () => this.pin(here));
      box.append(button);
    });
    box.addEventListener("keydown", (event) => this.moveInColumn(event));
    return box;
  }

  moveInColumn(event) {
    const [side, place] = event.target.dataset.control.split(" ");
    const next = { ArrowUp: Number(place) - 1, ArrowDown: Number(place) + 1 }[event.key];
    const other = { ArrowLeft: "query", ArrowRight: "key" }[event.key];
    if (event.key === "Escape") this.letGo();
    else if (next != null) this.field.querySelector(`[data-control="${side} ${next}"]`)?.focus();
    else if (other) this.field.querySelector(`.${other} button[tabindex="0"]`).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // -------------------------------------------------------------- words beside the picture

  drawLinks() {
    if (!this.links.firstChild) this.links.append(make("summary", {}, `The ${TABLE} strongest links as a table`));
    this.links.querySelector("table")?.remove();
    if (!this.links.open) return;
    const { queries, keys } = tokens(this.record, this.kind);
    const rows = strongestLinks(this.map, TABLE).map(({ query, key, weight }) => {
      const cells = [wordAt(queries, query), wordAt(keys, key), number(weight, 3)];
      return make("tr", {}, ...cells.map((content) => make("td", {}, content)));
    });
    const head = ["query", "key", "weight"].map((text) => make("th", { scope: "col" }, text));
    this.links.append(make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
  }

  /** What the scores above the map say, in words: a title that only a mouse finds is not enough. */
  drawTerms() {
    const name = { label: "2.1 under a small map", means: "layer 2, head 1, both counted from 1" };
    this.terms.replaceChildren(...[...this.scoresOf(this.kind), name].flatMap(({ label, means }) =>
      [make("dt", {}, label), make("dd", {}, means)]));
  }

  /** Decoding, step by step: what was read, what was written, and what else was likely. */
  drawSteps() {
    const { record, kind } = this;
    this.steps.hidden = !record.next_tokens || kind === "encoder";
    if (this.steps.hidden) return;
    const last = record.written.length - 1;
    const step = Math.min(this.chosen?.[0] ?? this.step, last);
    this.step = step;
    Object.assign(this.stepSlider, { max: last, value: step });
    this.stepSlider.setAttribute("aria-valuetext", `step ${step + 1}, writes ${visible(record.written[step])}`);
    this.stepName.textContent = `Step ${step + 1} of ${last + 1} `;
    const rows = record.next_tokens[step].map(([token, probability]) => {
      const bar = make("i", {});
      bar.style.width = `${100 * probability}%`;
      return make("li", { className: token === record.written[step] ? "taken" : "" },
        word(token), make("span", { className: "track" }, bar), make("span", {}, share(probability)));
    });
    const others = 1 - record.next_tokens[step].reduce((sum, [, probability]) => sum + probability, 0);
    rows.push(make("li", { className: "others" }, make("span", {}, "all others together"), make("span", {}), make("span", {}, share(Math.max(0, others)))));
    const read = record.target.slice(0, step + 1).flatMap((token) => [word(token), " "]);
    this.stepText.replaceChildren(
      make("p", {}, "Read so far: ", ...read, "→ writes ", make("b", {}, word(record.written[step]))),
      make("p", { className: "likely" }, "Most probable next words:"),
      make("ul", { "aria-label": "Most probable next words" }, ...rows));
  }

  // -------------------------------------------------------------- questions to Python

  /** The last record is the one that Python answers about; those before it are snapshots. */
  get isLatest() {
    return this.local.record === this.records.length - 1;
  }

  isMuted(kind, layer, head) {
    const muted = this.isLatest ? this.intervention.mute : this.record.muted;
    return muted.some(([k, l, h]) => k === kind && l === layer && h === head);
  }

  get intervention() {
    const latest = this.records.at(-1);
    this.wanted ??= { mute: latest.muted, patch: latest.patched ?? [] };
    return this.wanted;
  }

  mute(kind, layer, head) {
    const { mute } = this.intervention;
    const others = mute.filter(([k, l, h]) => k !== kind || l !== layer || h !== head);
    this.wanted.mute = others.length < mute.length ? others : [...mute, [kind, layer, head]];
    this.ask();
    this.redraw();
  }

  /** Let the pinned row put all its weight on the pinned column. */
  pointButton(kind, layer, head) {
    const [query, key] = this.pinned ?? [null, null];
    const allowed = query != null && key != null && (kind !== "decoder" || key <= query);
    const title = allowed
      ? "All weight of the pinned row on the pinned column"
      : "Pin a cell first: its row will look at its column alone";
    const button = this.action("point", "Look only there", title, () => {
      const { patch } = this.intervention;
      const same = (p) => p.kind === kind && p.layer === layer && p.head === head && p.query === query;
      this.wanted.patch = [...patch.filter((p) => !same(p)), { kind, layer, head, query, key }];
      this.ask();
    });
    button.disabled = !allowed;
    return button;
  }

  drawInterventions() {
    const { mute, patch } = this.intervention;
    this.interventions.hidden = !this.live || !(mute.length || patch.length);
    const name = (kind, layer, head) => `${KINDS[kind].name} ${layer + 1}.${head + 1}`;
    const items = [
      ...mute.map((head) => [`${name(...head)} muted`, () => this.mute(...head)]),
      ...patch.map((p) => {
        const { queries, keys } = tokens(this.records.at(-1), p.kind);
        const what = `${visible(queries[p.query] ?? "")} looks only at ${visible(keys[p.key] ?? "")}`;
        const undo = () => {
          this.wanted.patch = patch.filter((other) => other !== p);
          this.ask();
        };
        return [`${name(p.kind, p.layer, p.head)}, ${what}`, undo];
      }),
    ];
    const buttons = items.map(([text, undo], place) =>
      this.action(`undo ${place}`, `${text} ✕`, `Undo: ${text}`, undo));
    this.keepFocus(() => this.interventions.replaceChildren("Changed: ", ...buttons));
  }

  drawDifference() {
    const { before, written } = this.record;
    this.difference.hidden = !before;
    if (!before) return;
    const same = before.join(" ") === written.join(" ");
    const text = (list, marked, tag) =>
      list.flatMap((token, i) => [marked.has(i) ? make(tag, {}, word(token)) : word(token), " "]);
    const [gone, come] = changed(before, written);
    this.difference.replaceChildren(...(same
      ? ["The translation is the same as without the change."]
      : ["Without the change: ", ...text(before, gone, "del"), make("br"), "With it: ", ...text(written, come, "ins")]));
  }

  type() {
    clearTimeout(this.typing);
    this.newQuestion(); // whatever is on its way is an answer to an older sentence
    this.typing = setTimeout(() => {
      this.intervention.patch = []; // its rows and columns are of the old sentence
      this.ask();
    }, WAIT_AFTER_TYPING);
  }

  /** Questions are named by their time, so that those of two views of one widget never share a name. */
  newQuestion() {
    this.asked = Math.max(Date.now(), this.asked + 1);
  }

  /** One question at a time; while one is under way the newest waits, and those between are dropped. */
  ask() {
    this.newQuestion();
    this.drawInterventions();
    this.say("busy", "Python is translating …");
    if (this.underWay) this.waiting = true;
    else this.send();
  }

  send() {
    this.waiting = false;
    this.underWay = this.asked;
    const { mute, patch } = this.intervention;
    this.model.send({ ask: this.asked, source: this.source.value, mute, patch });
    clearTimeout(this.patience);
    this.patience = setTimeout(() => {
      this.underWay = null;
      if (this.waiting) return this.send();
      this.say("failed", `No answer for ${GIVE_UP_AFTER / 1000} s. Is the kernel running? The last answer is still shown.`);
    }, GIVE_UP_AFTER);
  }

  hear({ answer, error }) {
    // An answer for which the patience was too short is welcome too, if nothing was asked since.
    if (answer == null || (answer !== this.underWay && answer !== this.asked)) return;
    clearTimeout(this.patience);
    this.underWay = null;
    if (this.waiting) return this.send();
    if (answer !== this.asked) return; // the reader is still typing
    this.typing = null;
    if (!error) return this.say("", "");
    this.say("failed", `${error} The last answer is still shown.`);
    // The last answer may be one that was dropped because this question followed it.
    if (this.model.get("data") !== this.loaded) return this.load(this.model.get("data"));
    this.wanted = null; // what is shown is what was before
    this.drawInterventions();
    this.redraw();
  }

  say(state, text) {
    this.status.dataset.state = state;
    this.status.textContent = text;
  }

  // -------------------------------------------------------------- files

  save(format) {
    const drawing = this.standAlone();
    const text = new XMLSerializer().serializeToString(drawing);
    const name = `attention_${this.kind}_${this.model.get("layer") + 1}_${this.model.get("head") + 1}.${format}`;
    const hand = (blob) => {
      const link = make("a", { href: URL.createObjectURL(blob), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    };
    const file = new Blob([text], { type: "image/svg+xml" });
    if (format === "svg") return hand(file);
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

  /** The open map as a drawing of its own, on white: picture, labels, title. */
  standAlone() {
    const { map, kind, record } = this;
    const { queries, keys } = tokens(record, kind);
    const cell = Math.max(4, Math.min(24, Math.floor(900 / Math.max(map.rows, map.columns))));
    const font = Math.min(12, cell - 1);
    const longest = (list) => Math.min(24, Math.max(4, ...list.map((t) => visible(t).length))) * font * 0.62 + 8;
    const labelled = font >= 7;
    const left = labelled ? longest(queries) : 8;
    const top = (labelled ? longest(keys) : 8) + 26;
    const [width, height] = [left + map.columns * cell + 8, top + map.rows * cell + 8];
    const canvas = make("canvas");
    paint(canvas, map, this.colours[this.local.palette]);
    const cut = (token) => (visible(token).length > 24 ? visible(token).slice(0, 23) + "…" : visible(token));
    const style = { "font-family": "sans-serif", "font-size": font, fill: "#1c1c1c" };
    const wide = Math.max(width, 330);
    const size = { width: wide, height, viewBox: `0 0 ${wide} ${height}` };
    const place = { x: left, y: top, width: map.columns * cell, height: map.rows * cell };
    const sharp = { preserveAspectRatio: "none", style: "image-rendering: pixelated" };
    const picture = svg("svg", { xmlns: "http://www.w3.org/2000/svg", ...size },
      svg("rect", { width: wide, height, fill: "#fff" }),
      svg("text", { ...style, "font-size": 13, "font-weight": "bold", x: 8, y: 17 }, this.title.textContent),
      svg("image", { href: canvas.toDataURL(), ...place, ...sharp }));
    if (!labelled) return picture;
    const middle = { ...style, "dominant-baseline": "central" };
    queries.forEach((token, i) => {
      const at = { x: left - 4, y: top + (i + 0.5) * cell, "text-anchor": "end" };
      picture.append(svg("text", { ...middle, ...at }, cut(token)));
    });
    keys.forEach((token, i) => {
      const x = left + (i + 0.5) * cell;
      const at = { x, y: top - 4, transform: `rotate(-90 ${x} ${top - 4})` };
      picture.append(svg("text", { ...middle, ...at }, cut(token)));
    });
    return picture;
  }
}

/** Which places of the two lists are not in their longest common subsequence. */
function changed(before, after) {
  const length = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      length[i][j] = before[i] === after[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const [gone, come] = [new Set(before.keys()), new Set(after.keys())];
  for (let i = 0, j = 0; i < before.length && j < after.length; ) {
    if (before[i] === after[j]) {
      gone.delete(i++);
      come.delete(j++);
    } else if (length[i + 1][j] >= length[i][j + 1]) i++;
    else j++;
  }
  return [gone, come];
}
