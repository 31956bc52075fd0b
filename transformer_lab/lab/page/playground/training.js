// A training run, in a worker: it learns for a moment, says how far it is, and listens.

import { openOperations } from "../learning/kernel.js";
import { Learner } from "../learning/learner.js";
import { packModel, unpackModel } from "../learning/saved_model.js";
import { makeRandom } from "../engine/untrained.js";
import { UNKNOWN } from "../engine/words.js";
import { findTask, makeData } from "../tasks/tasks.js";

const SLICE = 25; // milliseconds of learning between two looks at what the page wants
const MOMENTS = 30; // of a run, at which it shows what it can do
const SHOWN = 6; // examples
const TRIED = 64; // unseen examples at each moment
const AT_LAST = 512; // at the end
const AT_ONCE = 32; // examples that are written between two looks

const MOST_TYPED = 62; // of a text that somebody types, with its end
const PAD = 0;
const EOS = 2;

const withoutEnd = (ids) => ids.filter((id) => id !== EOS);

/** Let the page's messages in; a timer would wait for 4 ms. */
const listen = () => new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => (port1.close(), done());
  port2.postMessage(null);
});

/**
 * The ids' texts, one behind the other as they are written: with a space before those that have one. A word that it has
 * never seen is "?", and a dot stands for what is no word.
 */
function writePieces(words, ids) {
  const write = (count) => words.decode(ids.slice(0, count).map((id) => (id === UNKNOWN ? PAD : id)));
  return ids.map((id, i) => write(i + 1).slice(write(i).length) || (id === UNKNOWN ? " ?" : "·"));
}

/** The tokens, and a word for the end. */
const nameTokens = (words, ids) => ids.map((id) => ({ [EOS]: "end", [UNKNOWN]: "?" })[id] ?? words.tokens([id])[0]);

/** Whether a model can write this at all: a word that it doesn't know is never right, whatever it writes instead. */
const canBeWritten = ({ target }) => !target.includes(UNKNOWN);

export class Training {
  /**
   * `spec` is { task, options, train, seed, steps, batch, curve, model, training }: a task's name and options; how many
   * examples there are to learn from (null: without end); whether the rate falls along the paper's "root" curve or a
   * straight "line" to the last step; and what `completeModel` and `completeTraining` take. With a `file`, as `save` gives
   * it, the model is the one in it, and goes on learning. `report` gets what there is to say, as { kind, … }.
   */
  constructor(spec, report) {
    const { task, options, train, seed, steps, batch, curve, model, training, file } = spec;
    Object.assign(this, { report, batch, seed, steps });
    this.data = makeData(findTask(task), { options, train, test: AT_LAST, seed });
    const saved = file ? this.readFile(file) : null;
    const sizes = { source_vocab_size: this.data.source.words.length, target_vocab_size: this.data.target.words.length };
    this.learner = new Learner(saved?.config ?? { ...model, ...sizes }, { ...training, steps: curve === "line" ? steps : null }, openOperations(), seed);
    if (saved) this.learner.model.parameters.write(saved.tensors);
    this.random = makeRandom(seed + 1);
    this.every = Math.max(1, Math.round(steps / MOMENTS));
    this.limit = 2 + Math.max(...this.data.test.map(({ target }) => target.length));
    const lengths = this.data.test.map(({ source }) => source.length);
    [this.shortest, this.longest] = [Math.min(...lengths), Math.max(...lengths)];
    this.seconds = 0; // of learning, without what is shown
    this.state = "paused";
  }

  /** Unpack a file; an Error if its model has learned other letters or words than the task's. */
  readFile(file) {
    const saved = unpackModel(file);
    const { vocabularies } = this.data;
    for (const side of ["source", "target"]) {
      if (String(saved[side].words) === String(vocabularies[side].words)) continue;
      throw new Error("The letters or words that the model in this file knows aren't the ones that this task uses. Choose the task that it was trained on.");
    }
    return saved;
  }

  pause() {
    this.state = "paused";
  }

  stop() {
    this.state = "stopped";
    this.wake?.();
  }

  resume() {
    this.state = "training";
    this.wake?.();
  }

  /** Learn to the end, or until it's stopped. */
  async run() {
    const { learner, steps, every } = this;
    this.state = "training";
    const tried = this.data.test.length;
    this.report({ kind: "ready", parameters: learner.model.parameters.countNumbers(), tried, watched: Math.min(TRIED, tried), notes: this.listNotes(), ...this.describe() });
    await this.show(NaN);
    let loss = NaN;
    while (learner.steps < steps && (await this.mayGoOn())) {
      const start = performance.now();
      do loss = learner.step(Array.from({ length: this.batch }, () => this.data.sample(this.random)));
      while (performance.now() - start < SLICE && learner.steps % every && learner.steps < steps);
      this.seconds += (performance.now() - start) / 1000;
      this.report({ kind: "step", step: learner.steps, seconds: this.seconds, loss });
      if (learner.steps % every === 0 || learner.steps === steps) await this.show(loss);
    }
    const found = await this.try(AT_LAST);
    const so = { step: learner.steps, seconds: this.seconds };
    this.report(this.state === "stopped" ? { kind: "stopped", ...so } : { kind: "done", ...so, loss, ...found });
  }

  /** The first unseen examples, each with its `words`, which stand at the sides of its maps. */
  describe() {
    const { source, target, test } = this.data;
    const describePair = (pair) => {
      const right = nameTokens(target, pair.target);
      return {
        given: writePieces(source, withoutEnd(pair.source)).join("").trim(),
        right: writePieces(target, withoutEnd(pair.target)),
        words: { given: nameTokens(source, pair.source), right, before: ["start", ...right.slice(0, -1)] },
      };
    };
    return { shown: test.slice(0, SHOWN).map(describePair) };
  }

  /** What there's less of than was asked for, and what a question mark means where there is one. */
  listNotes() {
    const { test, notes } = this.data;
    const isKnown = test.every((pair) => canBeWritten(pair) && !pair.source.includes(UNKNOWN));
    return isKnown ? notes : [...notes, "A “?” is a word that isn't in the examples to learn from, so the model can neither read nor write it."];
  }

  /** Wait for messages, and while the run is paused; false when it's stopped. */
  async mayGoOn() {
    await listen();
    while (this.state === "paused") await new Promise((done) => (this.wake = done));
    return this.state !== "stopped";
  }

  /** Show what it can do at this moment. */
  async show(loss) {
    const { learner, data, seconds } = this;
    const found = await this.try(TRIED);
    if (this.state === "stopped") return; // some examples are still untried
    const maps = data.test.slice(0, SHOWN).map((pair) => learner.look(pair));
    this.report({
      kind: "moment", step: learner.steps, seconds, loss, maps, exact: found.exact, written: found.written,
      writes: found.ids.slice(0, SHOWN).map((ids) => writePieces(data.target, withoutEnd(ids))),
    });
  }

  /**
   * Try unseen examples. `exact` is the share that's right when each word is told the right ones before it, `written`
   * the share that's right as the model writes it; `ids` is what it wrote.
   */
  async try(count) {
    const { learner, data, limit } = this;
    const pairs = data.test.slice(0, count);
    const ids = [];
    let told = 0;
    for (let at = 0; at < pairs.length && this.state !== "stopped"; at += AT_ONCE) {
      const some = pairs.slice(at, at + AT_ONCE);
      ids.push(...learner.write(some.map(({ source }) => source), limit));
      const known = some.filter(canBeWritten);
      if (known.length) told += learner.countRight(known);
      await listen();
    }
    const right = ids.filter((own, i) => canBeWritten(pairs[i]) && String(own) === String(pairs[i].target)).length;
    return { exact: told / pairs.length, written: right / pairs.length, ids };
  }

  /** Write what the model makes of a text that somebody typed, and note what's unusual about it. An Error says what it can't read. */
  write(text) {
    const { ids, unknown } = this.data.read(text);
    if (unknown.length) throw new Error(`It has never seen ${unknown.map((token) => `“${token}”`).join(", ")}.`);
    if (ids.length > MOST_TYPED) throw new Error(`That's too long: it reads at most ${MOST_TYPED - 1} letters or words.`);
    const [written] = this.learner.write([ids], this.limit);
    const note = ids.length > this.longest ? "That's longer than anything it has learned from." : ids.length < this.shortest ? "That's shorter than anything it has learned from." : "";
    return { text: writePieces(this.data.target, withoutEnd(written)).join("").trim(), note };
  }

  /** The model as a file that Python reads, too. */
  save() {
    const { source, test } = this.data;
    return packModel(this.learner, this.data.vocabularies, source.tokens(withoutEnd(test[0].source)).join(" "));
  }
}
