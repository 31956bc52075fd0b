// The words of the page, for readers who meet them here for the first time.

import { make } from "../elements.js";

const defineTerms = ([source, target], heads) => ({
  encoder: `The encoder reads the whole ${source} sentence at once. It turns each word into a vector (a list of numbers). In each of its layers the words look at each other, and that changes their vectors.`,
  decoder: `The decoder writes the ${target} sentence, one word at a time. It looks at the words that it has written so far, and at the vectors that the encoder has made.`,
  head: `A head is one way of looking. For each word it has a row of weights, which sum to 1 and say how much this word takes from every word. ${heads === 1 ? "There's one head" : `${heads} heads work side by side`} in each layer. The code e1.2 means: encoder, layer 1, head 2. Heads are named after what they were measured to do.`,
  "self-attention": `${source} words look at ${source} words, or ${target} words at ${target} words. In the decoder it's masked: no word sees a later one, because that one isn't written yet.`,
  "cross-attention": `The decoder looks at the encoder: while it writes a ${target} word, it takes from the vectors of ${source} words.`,
  "query, key, value": "The query says what a word looks for, the key what a word offers, and the value what it gives. In cross-attention, the query comes from the decoder, and the key and value come from the encoder. A weight is large if the query and the key match: q · k multiplies them number by number and adds up the products.",
  softmax: "The softmax turns scores into weights. They are all above 0 and sum to 1, and the largest score gets the largest weight.",
  "W_O": "This matrix comes after the heads of a layer. It turns what they all pass on into one vector, and that vector is added to the word's own.",
  "alignment error": `It measures how far a head's strongest links are from the gold alignment, the list of the ${source} words that each ${target} word translates. 0 means full agreement, and 1 means none (AER).`,
  "untrained model": "This is a model of the same shape whose numbers are still random. What its heads show comes from the shape alone.",
  A: "A is what you kept with “Keep as A”. From then on everything is compared with it.",
  "to mute": "Muting a head sets its output to 0. It still looks.",
  push: "The push is how far a head moves the log-odds of two words. With 1 nat, the odds become 2.7 times as large.",
  "logit lens": "The logit lens takes the model's last step, from a vector to words, and tries it on the vector of an earlier layer.",
  "<bos>, <eos>, <unk>": "These stand for the beginning of a sentence, for its end, and for a word that the model doesn't know.",
});

const OF_ENGINE = ["untrained model", "push", "logit lens"]; // what only the engine in the page can show

export class Glossary {
  constructor({ languages, engine, answerer }) {
    const perLayer = answerer.heads.filter(({ kind, layer }) => kind === answerer.heads[0].kind && layer === 0).length;
    const entries = Object.entries(defineTerms(languages, perLayer)).filter(([name]) => engine || !OF_ENGINE.includes(name));
    const list = entries.flatMap(([name, meaning]) => [make("dt", {}, name), make("dd", {}, meaning)]);
    const known = !engine || engine.source.unit === "pieces" ? [] : engine.source.words.slice(4).sort(); // behind the special tokens
    const vocabulary = known.length ? [make("p", {}, make("b", {}, `The ${known.length} words that it knows: `), known.join(", "))] : [];
    this.element = make("details", { className: "glossary" }, make("summary", {}, "What the words mean"), make("dl", {}, ...list), ...vocabulary);
  }

  draw() {} // it never changes
}
