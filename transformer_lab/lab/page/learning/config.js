// What a model and its training may be: the one door for both.

import { MULTIPLE } from "../engine/product.js";

const MODEL = {
  d_model: 64, num_heads: 4, num_encoder_layers: 1, num_decoder_layers: 1, positions: "sinusoidal", norm: "post", activation: "relu",
  dropout: 0, max_length: 64, tie_source_target: false, tie_target_output: true, pad_id: 0, bos_id: 1, eos_id: 2, unk_id: 3,
};
const SWITCHES = { residual: true, causal_mask: true, root: true };
const TRAINING = { peak: 3e-3, warmup: 100, ramp: true, steps: null, smoothing: 0, beta1: 0.9, beta2: 0.98, epsilon: 1e-9, decay: 0 };

const isCount = (value) => Number.isInteger(value) && value >= 1;
const isShare = (value) => value >= 0 && value < 1;
const oneOf = (...values) => [(value) => values.includes(value), values.map((value) => JSON.stringify(value)).join(" or ")];
const WHOLE = [isCount, "an integer of at least 1"];
const SHARE = [isShare, "a number of at least 0 and less than 1"];
const SWITCH = oneOf(true, false);
const NOT_NEGATIVE = [(value) => Number.isFinite(value) && value >= 0, "a number of at least 0"];
const POSITIVE = [(value) => Number.isFinite(value) && value > 0, "a number above 0"];

/** What each field may be: a test, and its words. */
const RULES = {
  d_model: WHOLE, d_ff: [(value) => isCount(value) && value % MULTIPLE === 0, `a multiple of ${MULTIPLE}`], num_heads: WHOLE,
  num_encoder_layers: WHOLE, num_decoder_layers: WHOLE, source_vocab_size: WHOLE, target_vocab_size: WHOLE, max_length: WHOLE,
  positions: oneOf("sinusoidal", "learned", "none"), norm: oneOf("post", "pre", "none"), activation: oneOf("relu"),
  dropout: SHARE, tie_source_target: oneOf(false), tie_target_output: oneOf(true),
  residual: SWITCH, causal_mask: SWITCH, root: SWITCH, ramp: SWITCH,
  peak: POSITIVE, warmup: WHOLE, steps: [(value) => value === null || isCount(value), "an integer of at least 1, or null"],
  smoothing: SHARE, beta1: SHARE, beta2: SHARE, epsilon: POSITIVE, decay: NOT_NEGATIVE,
  // Python's models may have these; the page's have none of them.
  d_k: oneOf(null), d_v: oneOf(null), num_key_value_heads: oneOf(null), recurrent_decoder: oneOf(false),
  attention_dropout: oneOf(0), feed_forward_dropout: oneOf(0),
};
/** The paper's parts that a model may lack, and what to call them. */
const PARTS = { residual: "residual connections", causal_mask: "a causal mask", root: "the division by √d_k", norm: "layer norm" };

/** Fill in what's missing, and check each field that has a rule; an Error says what was wrong and what was expected. */
function complete(given, defaults) {
  const whole = { ...defaults, ...given };
  for (const [name, value] of Object.entries(whole)) {
    const [test, expected] = RULES[name] ?? [() => true];
    if (!test(value)) throw new Error(`${name} is ${JSON.stringify(value)}; expected ${expected}`);
  }
  return whole;
}

/**
 * A model's whole configuration, with the fields of Python's `TransformerConfig`.
 *
 * Three more are there to be switched off: `residual`, `causal_mask`, and `root`, the division by √d_k. `d_ff` is
 * 4 · d_model by default, as in the paper.
 */
export function completeModel(given) {
  const config = complete({ d_ff: 4 * (given.d_model ?? MODEL.d_model), ...given }, { ...MODEL, ...SWITCHES });
  const width = MULTIPLE * config.num_heads;
  if (config.d_model % width) throw new Error(`d_model is ${config.d_model}; expected a multiple of ${width}, so that each of the num_heads = ${config.num_heads} heads gets a multiple of ${MULTIPLE} numbers`);
  return config;
}

/** What training needs to know: the learning rate's curve, see `computeRate`, `smoothing`, and Adam's numbers. */
export const completeTraining = (given) => complete(given, TRAINING);

/** The names of the paper's parts that a model lacks. */
const listMissing = (config) =>
  Object.keys(PARTS).filter((name) => config[name] === false || config[name] === "none").map((name) => PARTS[name]);

/** The configuration for a file that Python reads, without our switches; an Error names the parts that a model lacks. */
export function describeWhole({ residual, causal_mask, root, ...config }) {
  const missing = listMissing({ residual, causal_mask, root, norm: config.norm });
  if (missing.length) throw new Error(`this model was trained without ${missing.join(" and ")}; expected all of the paper's parts, because the model in Python has them`);
  return config;
}
