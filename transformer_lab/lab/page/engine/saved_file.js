// A translator in one file: what Python's `Translator.save("….safetensors")` writes, and the playground's "Save".

import { readMetadata } from "./safetensors.js";

export const FORMAT = "transformer_lab 1"; // as in Python's storage/folder.py

/** What such a file says beside its tensors: { model, about, source_tokenizer, target_tokenizer }. An Error says what's missing. */
export function readDescription(buffer) {
  const { meta } = readMetadata(buffer);
  const expected = "expected a translator that was saved as one file";
  if (!meta) throw new Error(`the file holds no description of a model; ${expected}`);
  const description = JSON.parse(meta);
  const { format } = description;
  if (format !== FORMAT) throw new Error(`the file's format is ${JSON.stringify(format)}; expected ${JSON.stringify(FORMAT)}`);
  for (const name of ["model", "source_tokenizer", "target_tokenizer"]) {
    if (!description[name]) throw new Error(`the file has no ${name}; ${expected}`);
  }
  return description;
}
