// The switches: what a reader can change about a model, its training and its data. Each is an experiment.

/** Where a setting goes: into the model, its training, or the run itself. */
const layers = (count) => ({ model: { num_encoder_layers: count, num_decoder_layers: count } });
const model = (name) => (value) => ({ model: { [name]: value } });
const training = (name) => (value) => ({ training: { [name]: value } });
const run = (name) => (value) => ({ [name]: value });

const onOff = (on, off) => [[true, on], [false, off]];
const numbers = (...values) => values.map((value) => [value, value.toLocaleString("en")]);

/**
 * The settings by name: a label, a sentence `about` it, the options as [value, words], the value that they begin with, and where they go.
 * `but` is how a comparison says it: "the same model, without a mask".
 */
export const SETTINGS = {
  positions: { label: "Word order", about: "How it knows which letter or word comes first.", options: [["sinusoidal", "sine waves"], ["learned", "learned"], ["none", "none"]], start: "sinusoidal", put: model("positions"), but: { learned: "with learned positions", none: "without any sense of order" } },
  mask: { label: "Mask", about: "While it learns, the decoder mustn’t see the words that it’s asked for.", options: onOff("hides what comes next", "off"), start: true, put: model("causal_mask"), but: { false: "without a mask, so it sees the answer" } },
  root: { label: "Scores", about: "Dividing keeps the scores from growing with the width of a head.", options: onOff("÷ √dₖ", "as they are"), start: true, put: model("root"), but: { false: "without dividing by √dₖ" } },
  heads: { label: "Heads", about: "Each head of a layer can look somewhere different.", options: numbers(1, 2, 4, 8), start: 4, put: model("num_heads"), but: { 1: "with one head", 2: "with two heads", 4: "with four heads", 8: "with eight heads" } },
  layers: { label: "Layers", about: "How many times it looks, in the encoder and in the decoder.", options: [1, 2, 4].map((count) => [count, `${count} + ${count}`]), start: 1, put: layers, but: { 1: "with one layer on each side", 2: "with two layers on each side", 4: "with four layers on each side" } },
  width: { label: "Width", about: "How many numbers stand for one letter or word.", options: numbers(16, 32, 64, 128), start: 32, put: model("d_model"), but: { 16: "16 wide", 32: "32 wide", 64: "64 wide", 128: "128 wide" } },
  residual: { label: "Residual connections", about: "Each part adds to what it was given, instead of replacing it.", options: onOff("on", "off"), start: true, put: model("residual"), but: { false: "without residual connections" } },
  norm: { label: "LayerNorm", about: "Brings the numbers for each letter or word back to about the same size.", options: [["post", "after (the paper)"], ["pre", "before"], ["none", "none"]], start: "post", put: model("norm"), but: { post: "with LayerNorm after each part", pre: "with LayerNorm before each part", none: "without LayerNorm" } },
  warmup: { label: "Warm-up", about: "Whether the first hundred steps are small ones.", options: onOff("on", "off"), start: true, put: training("ramp"), but: { false: "without a warm-up" } },
  smoothing: { label: "Label smoothing", about: "Asks it to be a little less sure than it could be.", options: [[0, "none"], [0.1, "0.1"]], start: 0, put: training("smoothing"), but: { 0: "without label smoothing", 0.1: "with label smoothing" } },
  dropout: { label: "Dropout", about: "Sets some numbers to 0 at random while it learns, so that it can’t rely on any of them.", options: [[0, "none"], [0.1, "0.1"]], start: 0, put: model("dropout"), but: { 0: "without dropout", 0.1: "with dropout" } },
  rate: { label: "Highest learning rate", about: "How much it changes at each step, at most.", options: [[0.0003, "0.0003"], [0.001, "0.001"], [0.003, "0.003"], [0.01, "0.01"], [0.03, "0.03"]], start: 0.003, put: training("peak"), but: { 0.0003: "with a tenth of the learning rate", 0.001: "with a third of the learning rate", 0.003: "with a learning rate of 0.003", 0.01: "with three times the learning rate", 0.03: "with ten times the learning rate" } },
  curve: { label: "Then the rate falls", about: "What happens to the rate after that.", options: [["line", "to 0 at the end"], ["root", "slowly (the paper)"]], start: "line", put: run("curve"), but: { root: "with the paper's slowly falling rate", line: "with a rate that falls to 0" } },
  data: { label: "Examples to learn from", about: "If there are only a few, it may learn them by heart.", options: [[null, "a new one each time"], ...numbers(100, 1000, 6000, 20000)], start: null, put: run("train"), but: { null: "with new examples each time", 100: "with only 100 examples", 1000: "with only 1,000 examples", 6000: "with only 6,000 examples", 20000: "with only 20,000 examples" } },
  steps: { label: "Steps", about: "How many times it gets to improve, with 32 examples each time.", options: numbers(300, 1000, 1500, 3000, 9000), start: 1500, put: run("steps"), but: { 300: "for 300 steps", 1000: "for 1,000 steps", 1500: "for 1,500 steps", 3000: "for 3,000 steps", 9000: "for 9,000 steps" } },
};

/** Where tasks begin with other settings. */
const USUAL = {
  brackets: { steps: 3000 },
  sort: { steps: 3000 },
  world: { width: 64, data: 20000, steps: 3000 },
};

/** What the settings of a task begin with. */
export const beginWith = ({ name }) => ({ ...Object.fromEntries(Object.entries(SETTINGS).map(([setting, { start }]) => [setting, start])), ...USUAL[name] });

/** What a training run is told, see `Training`. */
export function makeSpec(task, settings, { seed, options = {}, file = null }) {
  const spec = { task: task.name, options, file, seed, batch: 32, model: {}, training: { warmup: 100 } };
  for (const [name, { put }] of Object.entries(SETTINGS)) {
    const { model: one = {}, training: other = {}, ...rest } = put(settings[name]);
    Object.assign(spec, rest);
    Object.assign(spec.model, one);
    Object.assign(spec.training, other);
  }
  return spec;
}

/** Whether a model can be made with these settings: each of its heads needs at least four numbers of the width. */
export const isPossible = ({ width, heads }) => width >= 4 * heads;

/** All that can be different about a second run: { name, value, text }. */
export function listChanges(settings) {
  return Object.entries(SETTINGS).flatMap(([name, { but, options }]) =>
    options.flatMap(([value]) => {
      const isOne = value !== settings[name] && but[value] && isPossible({ ...settings, [name]: value });
      return isOne ? [{ name, value, text: but[value] }] : [];
    }));
}
