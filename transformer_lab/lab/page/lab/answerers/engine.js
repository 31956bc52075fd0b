// The engine in the page as who answers: everything can be asked, and the answer is there at once.

import { formatChanges, makeHookOptions } from "../changes.js";
import { listHeads } from "../names.js";

const REMEMBERED = 4; // translations: of the model as it is, of A, as it is changed, and one more

export class EngineAnswerer {
  /** `others` are models with the same words and layers, see OtherModels. */
  constructor(engine, others) {
    Object.assign(this, { engine, others, canAsk: true, moments: [], remembered: new Map(), guess: null });
  }

  /** The heads that an answer has. */
  get heads() {
    return listHeads(this.engine.model.config);
  }

  canChange() {
    return true;
  }

  getWord(id) {
    return this.engine.target.tokens([id])[0];
  }

  /** See `State.ask`. */
  ask({ text, kept, changes }, onAnswer, onProblem) {
    try {
      this.engine.encode(text);
    } catch (error) {
      return void onProblem(error.message);
    }
    const before = this.translate(text, kept, this.guess);
    this.guess = before.written; // most of it is right for a sentence that differs in a word
    const now = this.translate(text, changes, before.written);
    onAnswer({ before, now, read: this.readSame(text, before, now, changes) });
  }

  /** What the changed model says at the words of `before`, so that each step can be compared. */
  readSame(text, { written }, now, changes) {
    const isOf = (answer) => String(answer?.written) === String(written);
    return [now, now.guessed].find(isOf) ?? this.engine.read(text, written, makeHookOptions(changes));
  }

  /** Translate, unless that was one of the last translations; `guess` has ids that it will probably write. */
  translate(text, changes, guess) {
    const { remembered } = this;
    const name = `${formatChanges(changes)} ${text}`;
    const found = remembered.get(name) ?? this.engine.translate(text, { ...makeHookOptions(changes), guess });
    remembered.delete(name);
    remembered.set(name, found);
    if (remembered.size > REMEMBERED) remembered.delete(remembered.keys().next().value);
    return found;
  }
}
