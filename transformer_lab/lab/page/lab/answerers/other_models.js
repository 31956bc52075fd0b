// Models that can stand beside the lab's own: each is unpacked, or fetched, when somebody asks for it.

import { gunzip } from "../../bytes.js";

const UNTRAINED = "an untrained model";

export class OtherModels {
  /**
   * `engine` has their words and layers. `entries` say where their weights are: { name, weights } has them
   * packed, and { name, address } says where this website has them.
   */
  constructor(engine = null, entries = []) {
    Object.assign(this, { engine, known: new Map() });
    this.ways = new Map(entries.map(({ name, weights, address }) => [name, weights ? () => unpack(weights) : () => fetchWeights(address)]));
  }

  get names() {
    return this.engine ? [UNTRAINED, ...this.ways.keys()] : [];
  }

  /** The engine of this name, once it is loaded; null before that, or if there is none. */
  get(name) {
    return this.known.get(name) ?? null;
  }

  /** Load the engine of this name, unless it is; an Error says why that failed. */
  async load(name) {
    if (this.known.has(name) || !this.names.includes(name)) return;
    const { engine } = this;
    this.known.set(name, name === UNTRAINED ? engine.makeUntrained() : engine.withWeights(await this.ways.get(name)()));
  }
}

const unpack = async (weights) => (await gunzip(weights)).buffer;

async function fetchWeights(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} could not be fetched: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}
