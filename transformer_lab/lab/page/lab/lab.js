// The lab: a translator in the page, every head of which can be opened, muted and told where to look.

import { decodeBase64, gunzip } from "../bytes.js";
import { make } from "../elements.js";
import { keepFocus } from "../focus.js";
import { unpackEngine } from "../model_file.js";
import { waitForFrame } from "../pause.js";
import { followTheme } from "../theme.js";
import { formatAddress, keepAddress } from "./address.js";
import { makePaints } from "../cells.js";
import { AllHeads } from "./all_heads.js";
import { Glossary } from "./glossary.js";
import { Guide } from "./guide.js";
import { Many } from "./many.js";
import { parseHead } from "./names.js";
import { NextWords } from "./next_words.js";
import { OpenHead } from "./open_head.js";
import { Sampling } from "./sampling.js";
import { Sentence } from "./sentence.js";
import { State } from "./state.js";

/** Heads of a model by their codes, or as they are; an Error if there is none of that code. */
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
 * Heads are codes or { kind, layer, head }, counted from 0; `patch` lists heads with `rows`. For what
 * comes back see `Engine.translate`. `transformerLab.address` is the address of what is shown.
 */
function publishEngine(engine, state) {
  globalThis.transformerLab = {
    engine,
    state,
    get address() {
      return formatAddress(state);
    },
    translate: async (text, { beam = 1, mute = [], patch = [] } = {}) =>
      engine.translate(text, { beam, mute: resolveHeads(mute, engine.model), patch: resolveHeads(patch, engine.model) }),
  };
}

/**
 * Replace each still picture of this name by a lab, made from the data of this name.
 *
 * `table` has the rows of `SCORES` in `attention/scores.py`.
 */
export async function mountSaved(name, table) {
  const data = JSON.parse(document.querySelector(`script[data-of="${name}"]`).textContent);
  for (const place of document.querySelectorAll(`[data-lab="${name}"]`)) {
    if (!place.dataset.mounted) await mountLab(place, data, table);
    place.dataset.mounted = true;
  }
}

/** What is one step deeper. It's drawn only while it is open. */
class More {
  constructor(panels) {
    this.panels = panels;
    this.element = make("details", { className: "more" }, make("summary", {}, "Go deeper: all heads, sampling, and what the words mean"),
      ...panels.map(({ element }) => element));
    this.element.addEventListener("toggle", () => this.draw());
  }

  draw() {
    if (this.element.open) this.panels.forEach((panel) => panel.draw());
  }
}

/** Put the lab into the element `root`; `data` is what Python's `LabPage` holds, `table` the scores. */
async function mountLab(root, data, table) {
  const engine = await unpackEngine(data);
  await waitForFrame();
  const others = await Promise.all(data.others.map(async ({ name, weights }) => [name, engine.withWeights((await gunzip(weights)).buffer)]));
  const state = new State(engine, data.sentences[0], data.languages, data.names, new Map([["an untrained model", engine.makeUntrained()], ...others]));
  publishEngine(engine, state);
  await waitForFrame();
  const paints = makePaints(decodeBase64(data.colours));
  const next = new NextWords(state, new Many(state, data.examples));
  // After a change the reader should see what it did, on a phone too, where the next word stands further up.
  const showEffect = () => next.element.scrollIntoView({ block: "nearest" });
  const panels = [
    new Guide(state, data.prompts),
    new Sentence(state, data.sentences),
    next,
    new OpenHead(state, paints, showEffect),
  ];
  const more = new More([new AllHeads(state, data.examples, table, paints), new Sampling(state), new Glossary(state)]);
  panels.push(more);
  const page = make("div", { className: "tl-page tl-lab" }, ...panels.map(({ element }) => element));
  page.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("textarea, select") || event.ctrlKey || event.metaKey || event.altKey;
    if (isTyping || event.key.toLowerCase() !== "m") return;
    const [, dot] = event.target.dataset.control?.match(/^head (.*)/) ?? [];
    state.toggleMute(dot ? parseHead(dot) : state.head);
    event.stopPropagation();
  });
  state.watch(() => keepFocus(page, "heads", () => panels.forEach((panel) => panel.draw())));
  root.classList.add("tl-lab-frame");
  root.replaceChildren(page);
  followTheme(page);
  if (data.address) keepAddress(state, data.start); // in a page of its own
  else state.follow(data.start);
  page.dataset.ready = "true";
}
