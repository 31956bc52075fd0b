// Another model that stands beside this one: its translation, and its heads at the same words.

export class Beside {
  /** `state` is what's shown, see State; `answerer.others` has the models. */
  constructor(state) {
    Object.assign(this, { state, name: "" });
  }

  /** The other model's { translation, heads }, where it reads the words of the unchanged one; null if none is there. */
  get answer() {
    const { name, asked, state: { before, text, answerer: { others } } } = this;
    const engine = others.get(name);
    if (!engine) return null;
    if (asked?.before !== before || asked.name !== name) {
      this.asked = { before, name, translation: engine.translate(text).translation, heads: engine.read(text, before.written).heads };
    }
    return this.asked;
  }

  /** Show the model of this name; with "" none. What keeps it away is said. */
  async show(name) {
    const { state, state: { answerer: { others } } } = this;
    this.name = others.names.includes(name) ? name : "";
    if (!this.name || others.get(name)) return;
    try {
      await others.load(name);
    } catch (error) {
      if (this.name !== name) return;
      this.name = "";
      state.problem = `${name} can't be shown: ${error.message}.`;
    }
    state.tell();
  }
}
