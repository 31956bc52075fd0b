// What the translator does with the story's sentence: stored at first, and computed as soon as the engine is there.

import { waitForFrame } from "../pause.js";
import { findStrongest } from "../ranking.js";

const MOST = 0.5; // a head looks at a word if it gives it more than this

/** The largest weight that a query gives a key in any of the heads. */
const findMost = (heads, query, key) => Math.max(...heads.map((rows) => rows[query][key]));

/** Compute what docs/story_answers.py stores, with a vector for each English word besides. */
function computeAnswer(engine, data, { word: last, isCut }) {
  const { finder, readers, places, sentences } = data;
  const text = sentences[last];
  const found = engine.translate(text, { mute: isCut ? [finder] : [] });
  const pronouns = Object.keys(data.answers[last].chances);
  const ids = pronouns.map((pronoun) => engine.target.ids.get(pronoun));
  const step = found.written.findIndex((id) => ids.includes(id));
  const cross = found.maps.cross[readers[0].layer];
  const row = found.maps.encoder[finder.layer][finder.head][places.decider].slice(0, -1);
  const [noun] = findStrongest(row, 1);
  const others = cross.flatMap((rows, head) => (rows[step][places.pronoun] > MOST ? [{ kind: "cross", layer: readers[0].layer, head }] : []));
  const left = (mute) => engine.read(text, found.written, { mute }).probabilities[step][found.written[step]];
  const every = found.maps.encoder.flat();
  const [source, written] = [found.tokens.source, found.tokens.written].map((tokens) => tokens.slice(0, -1)); // without the end mark
  return {
    source,
    written,
    step,
    noun,
    found: row[noun],
    read: readers.map(({ head }) => cross[head][step][places.decider]),
    others: others.map(({ head }) => cross[head][step][places.pronoun]),
    chances: Object.fromEntries(pronouns.map((pronoun, i) => [pronoun, found.probabilities[step][ids[i]]])),
    left: isCut ? {} : { others: left(others), readers: left(readers) },
    looks: written.map((_, query) => source.map((__, key) => findMost(cross, query, key))),
    most: Object.fromEntries(["pronoun", "decider"].map((name) => [name, places.nouns.map((key) => findMost(every, places[name], key))])),
    vectors: found.residual.encoder.at(-1)[0],
  };
}

const nameMoment = ({ word: last, isCut }) => last + (isCut ? " cut" : "");

/** The answers by moment: those that the page brings, until the engine has computed its own. */
export class Answers {
  constructor(data) {
    Object.assign(this, { data, known: data.answers });
  }

  ask(moment) {
    return this.known[nameMoment(moment)];
  }

  /** Compute all of them. */
  async compute(engine) {
    const computed = {};
    for (const last of this.data.words) {
      for (const isCut of [false, true]) {
        const moment = { word: last, isCut };
        computed[nameMoment(moment)] = computeAnswer(engine, this.data, moment);
        await waitForFrame();
      }
    }
    this.known = computed;
  }
}
