// The lab with its engine in the page: no kernel, no server, and everything can be changed.

import { unpackEngine } from "../model_file.js";
import { waitForFrame } from "../pause.js";
import { formatAddress, keepAddress } from "./address.js";
import { EngineAnswerer } from "./answerers/engine.js";
import { OtherModels } from "./answerers/other_models.js";
import { Effect } from "./effect.js";
import { HeadScores } from "./head_scores.js";
import { mountLab, mountSaved } from "./lab.js";
import { Many } from "./many.js";
import { parseHead } from "./names.js";
import { Numbers } from "./numbers.js";
import { OpenFile } from "./open_file.js";
import { Sampling } from "./sampling.js";
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

/** Put a lab for an engine into a place; `data` is the page's, or what stands in for it with a translator from a file. */
function showEngine(place, engine, state, data, table) {
  publishEngine(engine, state);
  const unmount = mountLab(place, state, {
    data,
    scores: new HeadScores(engine, data.examples, table),
    views: { numbers: new Numbers(state), effect: new Effect(state) },
    deeper: [new Sampling(state), new OpenFile((opened, sentence) => {
      const answered = new State(new EngineAnswerer(opened, new OtherModels(opened)), { text: sentence, languages: ["source", "target"] });
      answered.follow("");
      unmount();
      showEngine(place, opened, answered, { colours: data.colours, examples: [] }, table);
    })],
    next: new Many(state, data.examples),
  });
}

/** Replace each still picture of this name by a lab; `table` has the rows of `SCORES` in `attention/scores.py`. */
export const mountEnginePages = (name, table) => mountSaved("lab", name, async (place, data) => {
  const engine = await unpackEngine(data);
  await waitForFrame(); // starting takes a while: the page goes on in between
  const state = new State(new EngineAnswerer(engine, new OtherModels(engine, data.others)), { text: data.sentences[0], languages: data.languages, names: data.names });
  await waitForFrame();
  if (data.address) keepAddress(state, data.start); // in a page of its own
  else state.follow(data.start);
  showEngine(place, engine, state, data, table);
});
