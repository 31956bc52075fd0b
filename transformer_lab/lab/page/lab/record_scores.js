// The head scores of one record, which Python has computed: the same interface as HeadScores.

import { scaleToBest } from "../ranking.js";
import { formatNumber } from "../text.js";
import { TITLES } from "./names.js";

export class RecordScores {
  constructor(state) {
    Object.assign(this, { state, title: "in this sentence" });
    const { record } = state.now;
    /** What the record's scores are called and mean, by name. */
    this.table = new Map(Object.values(record.scores).flat().map((score) => [score.name, score]));
  }

  readAll() {} // they are all here

  /** The values of a score for all heads of a kind, layer by layer; undefined if it has none. */
  getValues(name, kind) {
    return this.state.now.record.scores[kind]?.find((score) => score.name === name)?.values;
  }

  /** A head's score; null if it has none. No untrained model was asked. */
  getMeanScore(name, { kind, layer, head }, which = "trained") {
    const before = (this.state.now.heads[kind] ?? []).slice(0, layer).flat().length; // a snapshot may lack a kind
    return which === "trained" ? this.getValues(name, kind)?.[before + head] ?? null : null;
  }

  listValues(name) {
    return Object.keys(this.state.now.heads).flatMap((kind) => this.getValues(name, kind) ?? []).filter((value) => value != null);
  }

  /** How dark a value is drawn, from 0 to 1: the better, the darker. */
  computeDarkness(name, value) {
    return scaleToBest(value, this.listValues(name), this.table.get(name).best);
  }

  describeScore(name) {
    const { label, means, best } = this.table.get(name);
    const ranges = Object.keys(this.state.now.heads).flatMap((kind) => {
      const values = this.getValues(name, kind)?.filter((value) => value != null) ?? [];
      return values.length ? [`${TITLES[kind]}: ${formatNumber(Math.min(...values))} to ${formatNumber(Math.max(...values))}.`] : [];
    });
    return `${label}: ${means}. In this sentence alone; dark is ${best}. ${ranges.join(" ")}`;
  }
}
