// Stored records as who answers: nothing can be changed, and everything can be looked at.

import { byWords, followWords } from "../../attention_words.js";
import { OtherModels } from "./other_models.js";

export class RecordAnswerer {
  /** `records` as `readRecords` gives them; the last one is in view at first. */
  constructor(records) {
    Object.assign(this, { records, canAsk: false, engine: null, others: new OtherModels(), words: [] });
  }

  /** The names of the records, the moments of a training run for instance; empty if there is one alone. */
  get moments() {
    const { records } = this;
    return records.length < 2 ? [] : records.map(({ label }, number) => label ?? `record ${number + 1}`);
  }
  get heads() {
    return Object.entries(this.records.at(-1).maps).flatMap(([kind, layers]) =>
      layers.flatMap((heads, layer) => heads.map((_, head) => ({ kind, layer, head }))));
  }

  canChange() {
    return false;
  }

  getWord(id) {
    return this.words[id];
  }

  /** See `State.ask`. */
  ask({ moment, joinsPieces }, onAnswer) {
    const stored = this.records[moment] ?? this.records.at(-1);
    const [answer] = this.toAnswers([joinsPieces ? joinOnce(stored) : stored]);
    onAnswer({ before: answer, now: answer, read: answer });
  }

  /** Return where a place { row, key, step } of the record `was` is in the record `now`, whose pieces may be joined. */
  followPlace(was, now, kind, place) {
    const groups = now.groups ?? was.groups;
    return groups ? followWords(groups, kind, place, Boolean(now.groups)) : place;
  }

  /** Records as the engine's `translate` would give them, as far as they have that; equal words have equal ids. */
  toAnswers(records) {
    const ids = new Map();
    const toId = (token) => ids.get(token) ?? ids.set(token, ids.size).get(token);
    const answers = records.map((record) => ({
      record,
      tokens: listTokens(record),
      pieces: listTokens(record.pieces ?? record),
      written: (record.begun ?? record.written).map(toId),
      translation: record.written.join(" "),
      unknown: record.unknown ?? [],
      heads: record.maps,
      muted: (record.muted ?? []).map(([kind, layer, head]) => ({ kind, layer, head })),
      likeliest: record.next_tokens?.map((step) => new Map(step.map(([token, p]) => [toId(token), p]))),
    }));
    this.words = [...ids.keys()];
    // A word that is not among a step's likeliest has 0 here: nobody has kept its probability.
    for (const answer of answers) {
      answer.least = answer.likeliest?.map((step) => Math.min(...step.values()));
      answer.probabilities = answer.likeliest?.map((step) => Float32Array.from(this.words, (_, id) => step.get(id) ?? 0)) ?? null;
    }
    return answers;
  }
}

const listTokens = ({ source, target, written }) => ({ source, read: target, written });

/** The record with its pieces joined to words; joined once, because that takes long. */
export const joinOnce = (record) => (record.joined ??= { ...byWords(record), pieces: record });
