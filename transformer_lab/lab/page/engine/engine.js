// A translator in the page: its files in, sentences out. `globalThis.transformerLab` is one of these.

import { beamSearch, computeLengthLimit, correctGuess, greedy, sample } from "./decoding.js";
import { readSafetensors } from "./safetensors.js";
import { makeTokenizer } from "./tokenizer.js";
import { Transformer } from "./transformer.js";
import { logSoftmax, softmax } from "./vectors.js";
import { Hooks } from "./hooks.js";

export class Engine {
  /**
   * `weights` is the content of model.safetensors, an ArrayBuffer; `config` that of config.json,
   * and `source` and `target` those of the tokenizers' files, parsed.
   */
  constructor({ config, source, target, weights }) {
    this.source = makeTokenizer(source);
    this.target = makeTokenizer(target);
    this.model = new Transformer(config.model, readSafetensors(weights));
  }

  /** The ids of a sentence with eos; an Error says what is wrong with it. */
  encode(text) {
    const { eos_id: eos, unk_id: unknown, max_length: limit } = this.model.config;
    const ids = this.source.encode(text);
    if (!ids.length) throw new Error("the sentence is empty; expected at least one word");
    if (ids.length >= limit) throw new Error(`the sentence has ${ids.length} ${this.source.unit}; expected at most ${limit - 1}`);
    if (ids.every((id) => id === unknown)) throw new Error("the sentence has no word of the vocabulary; expected at least one");
    return [...ids, eos];
  }

  /**
   * Translate one sentence and look at every head.
   *
   * `beam` 1 is greedy decoding; it takes less time with a `guess`, ids that the model will probably write.
   * `mute` and `patch` list heads, see `Hooks`; they act on the translation too. Returns
   *   tokens         the source's words, and those that the decoder read and wrote,
   *   written        the ids of the last,
   *   translation    the text,
   *   unknown        words of the source that have no id,
   *   logProbability of the translation, its end included, in nats,
   *   probabilities  for each step one number for each word of the target vocabulary,
   *   maps           kind → layer → head → query → weights of the keys,
   *   heads          kind → layer → head → { query, key, value, scores, weights, output }, a vector for each word,
   *   residual       side → layer → the vectors that leave it, as Vectors, of each pass,
   *   guessed        the same for the words of the guess, if it was another one.
   */
  translate(text, { beam = 1, mute = [], patch = [], guess = null } = {}) {
    const { model } = this;
    const sentence = this.encodeWith(text, { mute, patch });
    const { memory } = sentence;
    const guessed = guess?.length ? this.readWith(sentence, guess.slice(0, computeLengthLimit(model, memory.rows))) : null;
    const better = guessed && this.readCorrected(sentence, guessed);
    const changes = new Hooks({ mute, patch, sees: false });
    const written = beam === 1
      ? greedy(model, memory, changes, better)
      : beamSearch(model, memory, { beamSize: beam, hooks: changes })[0].ids;
    const answer = String(written) === String(better?.written) ? better : this.readWith(sentence, written);
    return Object.assign(answer, { guessed: answer === guessed ? null : guessed });
  }

  /** Let the decoder read what it would write in place of a guess; where that's the guess, it has read it already. */
  readCorrected(sentence, guessed) {
    const corrected = correctGuess(this.model, guessed);
    return String(corrected) === String(guessed.written) ? guessed : this.readWith(sentence, corrected);
  }

  /**
   * Let the model write these ids, whatever it would write itself. Returns what `translate` does.
   */
  read(text, written, { mute = [], patch = [] } = {}) {
    return this.readWith(this.encodeWith(text, { mute, patch }), written);
  }

  /** Let the encoder read a sentence: its text, ids and memory, the changes, and what the hooks saw. */
  encodeWith(text, changes) {
    const ids = this.encode(text);
    const hooks = new Hooks(changes);
    return { text, ids, changes, hooks, memory: this.model.encode(ids, hooks) };
  }

  /** Let the decoder read a sentence's translation, all of it at once. */
  readWith({ text, ids, changes, hooks: encoder, memory }, written) {
    const { bos_id: bos, eos_id: eos } = this.model.config;
    const hooks = new Hooks(changes);
    const read = [bos, ...written.slice(0, -1)];
    const { logits, past } = this.model.decode(read, this.model.begin(memory), hooks);
    const heads = { ...hooks.heads, encoder: encoder.heads.encoder };
    let probabilities = null;
    return {
      logits,
      past,
      tokens: {
        source: this.source.tokens(ids),
        read: this.target.tokens(read),
        written: this.target.tokens(written),
      },
      written,
      translation: this.target.decode(written.filter((id) => id !== eos)),
      unknown: this.source.unknown(text),
      // Thousands of exponentials each: they are computed when somebody asks.
      get logProbability() {
        return written.reduce((sum, id, step) => sum + logSoftmax(logits.row(step))[id], 0);
      },
      get probabilities() {
        return (probabilities ??= read.map((_, step) => softmax(logits.row(step))));
      },
      maps: collectMaps(heads),
      heads,
      residual: { ...hooks.residuals, encoder: encoder.residuals.encoder },
    };
  }

  /**
   * Draw a translation by chance, and return its text.
   *
   * `random` gives numbers from 0 to 1. A `temperature` below 1 makes the model surer, one above 1
   * bolder; `topP` keeps only the likeliest words, as many as reach it together. `mute` and `patch`
   * list heads, see `Hooks`.
   */
  sample(text, { random, temperature = 1, topP = 1, mute = [], patch = [] }) {
    const hooks = new Hooks({ mute, patch, sees: false });
    const memory = this.model.encode(this.encode(text), hooks);
    const ids = sample(this.model, memory, { random, temperature, topP, hooks });
    return this.target.decode(ids.filter((id) => id !== this.model.config.eos_id));
  }

  /** The same translator before it has learnt anything; each seed has other parameters. */
  makeUntrained(seed = 0) {
    return Object.assign(Object.create(Engine.prototype), this, { model: this.model.makeUntrained(seed) });
  }

  /** The same translator with other weights, an ArrayBuffer as a model.safetensors has them. */
  withWeights(weights) {
    return Object.assign(Object.create(Engine.prototype), this, { model: new Transformer(this.model.config, readSafetensors(weights)) });
  }
}

/** Return the weights of all heads: kind → layer → head. */
function collectMaps(heads) {
  const weights = (layers) => layers.map((layer) => layer.map((head) => head.weights));
  return Object.fromEntries(Object.entries(heads).map(([kind, layers]) => [kind, weights(layers)]));
}
