// The head scores of one record, which Python has computed: the same interface as HeadScores.

export class RecordScores {
  constructor(state) {
    Object.assign(this, { state, title: "in this sentence", isDone: true, hasUntrained: false });
    const { record } = state.now;
    /** What the record's scores are called and mean, by name. */
    this.table = new Map(Object.values(record.scores).flat().map((score) => [score.name, score]));
  }

  readAll() {} // they are all here

  /** The values of a score for all heads of a kind, layer by layer. No untrained model was asked. */
  listValues(name, kind, which = "trained") {
    const { values = [] } = (which === "trained" && this.state.now.record.scores[kind]?.find((score) => score.name === name)) || {};
    return values;
  }

  /** A head's score; null if it has none. */
  getMeanScore(name, { kind, layer, head }, which) {
    const before = (this.state.now.heads[kind] ?? []).slice(0, layer).flat().length; // a snapshot may lack a kind
    return this.listValues(name, kind, which)[before + head] ?? null;
  }
}
