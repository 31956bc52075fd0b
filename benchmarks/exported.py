"""python -m benchmarks.exported RUN: what a run's model loses when it is exported to CTranslate2.

It is exported in float32 and in int8, and both exports translate the run's test sentences.
"""

import argparse
import tempfile
from pathlib import Path

import ctranslate2
from tokenizers import Tokenizer

from benchmarks.report import table
from transformer_lab.config import EXTRA_TOKENS
from transformer_lab.data.corpus import find_corpus
from transformer_lab.evaluation.bleu import score
from transformer_lab.formats.fast_tokenizer import SOURCE, TARGET
from transformer_lab.formats.to_ctranslate2 import to_ctranslate2
from transformer_lab.runs.run import About
from transformer_lab.translator import Translator


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exported", description=__doc__)
    parser.add_argument("run", help="the folder of a run")
    translator = Translator.load(parser.parse_args().run, device="cpu")
    about = About.of(translator)
    test = find_corpus(about.corpus or "world").splits(about.seed, about.skip_bad).test
    refused = translator.find_refusals([pair.source for pair in test])
    test = [pair for number, pair in enumerate(test) if number not in refused]
    texts, references = [pair.source for pair in test], [pair.target for pair in test]
    ours = [
        [found.translation for found in translator.translate(texts, beam_size=beam)]
        for beam in (1, 4)
    ]
    rows = [format_row("here", ours, ours, references)]
    with tempfile.TemporaryDirectory() as name:
        for quantization in (None, "int8"):
            folder = Path(name) / (quantization or "float32")
            to_ctranslate2(translator, folder, quantization)
            theirs = [translate_exported(folder, texts, beam) for beam in (1, 4)]
            rows.append(format_row(f"CTranslate2, {folder.name}", theirs, ours, references))
    head = ("", "same text, greedy", "same text, beam 4", "BLEU, greedy", "BLEU, beam 4")
    print(f"{table(head, rows)}\n{len(test)} sentences.")


def translate_exported(folder: Path, texts: list[str], beam: int) -> list[str]:
    """Return what CTranslate2 writes on two cores; as with ours, the limit is a text's length + 50."""
    engine = ctranslate2.Translator(str(folder), intra_threads=2)
    source, target = (Tokenizer.from_file(str(folder / name)) for name in (SOURCE, TARGET))
    source.encode_special_tokens = True  # "<pad>" in a text is a word
    words = [one.tokens for one in source.encode_batch(texts)]
    limits = [len(text) + EXTRA_TOKENS for text in words]
    found = engine.translate_batch(
        words,
        beam_size=beam,
        max_decoding_length=max(limits),
        max_input_length=0,
        max_batch_size=1024,
        batch_type="tokens",
    )
    written = [one.hypotheses[0][:limit] for one, limit in zip(found, limits, strict=True)]
    ids = target.get_vocab()
    return target.decode_batch([[ids[word] for word in one] for one in written])


def format_row(
    name: str, found: list[list[str]], ours: list[list[str]], references: list[str]
) -> list[str]:
    """Return a table row: the number of texts that equal ours, and the scores."""
    same = [
        sum(a == b for a, b in zip(*both, strict=True)) for both in zip(found, ours, strict=True)
    ]
    scores = [f"{score(texts, references).bleu:.1f}" for texts in found]
    return [name, *(f"{count:,}" for count in same), *scores]


if __name__ == "__main__":
    main()
