// The bench: a translator in the page, every head of which can be opened, muted and pointed.

import { decodeBase64, gunzip } from "../bytes.js";
import { make } from "../elements.js";
import { Engine } from "../engine/engine.js";
import { keepFocus } from "../focus.js";
import { followTheme } from "../theme.js";
import { formatAddress } from "./address.js";
import { makePaints } from "../cells.js";
import { EveryHead } from "./every_head.js";
import { Figure } from "./figure.js";
import { Glossary } from "./glossary.js";
import { Guide } from "./guide.js";
import { How } from "./how.js";
import { Many } from "./many.js";
import { Lens } from "./lens.js";
import { parseHead } from "./names.js";
import { NextWords } from "./next_words.js";
import { Sentence } from "./sentence.js";
import { SoWhat } from "./so_what.js";
import { State } from "./state.js";
import { Where } from "./where.js";

/** Heads of a model by their names, or as they are; an Error if there is none of that name. */
function resolveHeads(heads, { config }) {
  return heads.map((given) => {
    const head = typeof given === "string" ? parseHead(given) : given;
    const layers = config[`num_${head?.kind === "encoder" ? "encoder" : "decoder"}_layers`];
    if (head?.layer < layers && head.head < config.num_heads) return head;
    throw new Error(`there is no head ${JSON.stringify(given)}; expected one such as "e1.2"`);
  });
}

/**
 * The engine for anyone in the page: `await transformerLab.translate("…", { beam: 4, mute: ["e2.1"] })`.
 *
 * Heads are names or { kind, layer, head }, counted from 0; `patch` lists heads with `rows`. For what
 * comes back see `Engine.translate`.
 */
function publishEngine(engine, state) {
  globalThis.transformerLab = {
    engine,
    state,
    translate: async (text, { beam = 1, mute = [], patch = [] } = {}) =>
      engine.translate(text, { beam, mute: resolveHeads(mute, engine.model), patch: resolveHeads(patch, engine.model) }),
  };
}

/**
 * Replace each still picture of this name by a bench, made from the data of this name.
 *
 * `table` has the rows of `SCORES` in `attention/scores.py`.
 */
export async function mountSaved(name, table) {
  const data = JSON.parse(document.querySelector(`script[data-of="${name}"]`).textContent);
  for (const place of document.querySelectorAll(`[data-bench="${name}"]`)) {
    if (!place.dataset.mounted) await mountBench(place, data, table);
    place.dataset.mounted = true;
  }
}

/** Put the bench into the element `root`; `data` is what Python's `BenchPage` holds, `table` the scores. */
async function mountBench(root, data, table) {
  const [{ buffer }, tokenizers] = await Promise.all([data.weights, data.tokenizers].map(gunzip));
  const [read, written = read] = JSON.parse(new TextDecoder().decode(tokenizers));
  const engine = new Engine({ config: data.config, source: read, target: written, weights: buffer });
  const state = new State(engine, data.sentences[0], data.languages);
  publishEngine(engine, state);
  const paints = makePaints(decodeBase64(data.colours));
  const panels = [
    new Guide(state, data.prompts),
    new Sentence(state, data.sentences),
    new Many(state, data.examples),
    new Figure(state, data.examples, table),
    new Where(state, paints),
    new EveryHead(state, paints),
    new How(state),
    new SoWhat(state),
    new Glossary(state),
  ];
  const [source, target] = data.languages;
  const opening = make("p", { className: "opening" }, make("b", {}, "A translator at work."),
    ` It reads ${source} and writes ${target}, one word at a time, and it runs in this page: all below can be opened and changed, and each change can be undone. The words of this page are explained at its end.`);
  const { label_smoothing: smoothing = 0 } = data.config.about?.training ?? {};
  const step = [new NextWords(state, smoothing), new Lens(state)];
  const page = make("div", { className: "tl-page tl-bench" }, opening,
    ...panels.map(({ element }) => element), make("div", { className: "step-panels" }, ...step.map(({ element }) => element)));
  const draw = () => keepFocus(page, "map", () => [...panels, ...step].forEach((panel) => panel.draw()));
  page.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("textarea, select") || event.ctrlKey || event.metaKey || event.altKey;
    if (isTyping || event.key.toLowerCase() !== "m") return;
    const [, dot] = event.target.dataset.control?.match(/^head (.*)/) ?? [];
    state.toggleMute(dot ? parseHead(dot) : state.head);
    event.stopPropagation();
  });
  state.watch(draw);
  if (data.address) { // in a page of its own
    state.watch(() => history.replaceState(null, "", formatAddress(state)));
    addEventListener("hashchange", () => state.follow(location.hash));
  }
  root.classList.add("tl-bench-frame");
  root.replaceChildren(page);
  followTheme(page);
  state.follow(data.address && location.hash.length > 1 ? location.hash : data.start);
  page.dataset.ready = "true";
}
