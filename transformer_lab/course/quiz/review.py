"""The parts of lesson 17 other than its flashcards: glossary, reading list and translation."""

from collections.abc import Callable
from importlib.resources import files

import torch
from torch import Tensor

from transformer_lab import course
from transformer_lab.data.batching import BOS_ID, EOS_ID
from transformer_lab.model import Transformer
from transformer_lab.translator import Translator


def glossary() -> str:
    """Return the glossary as a Markdown table: term, meaning, French, German and lesson."""
    return files(course).joinpath("glossary.md").read_text(encoding="utf-8")


def further_reading() -> str:
    """Return the reading list as Markdown, with a note on what each work is good for."""
    return files(course).joinpath("further_reading.md").read_text(encoding="utf-8")


Forward = Callable[[Transformer, Tensor, Tensor], Tensor]
GreedyWords = Callable[[Callable[[list[int]], Tensor], int, int, int], list[int]]


def translate_with(
    forward: Forward, greedy_words: GreedyWords, sentence: str = "the street was too wide"
) -> None:
    """Translate a sentence with the package's model and a learner's functions; print the result.

    The functions come from lessons 07 and 10: `forward(model, source, target)` returns logits
    (batch, target, vocabulary), and `greedy_words(next_logits, bos, eos, limit)` returns a list of
    ids.
    """
    translator = Translator.load(device="cpu")
    source = torch.tensor([translator.encode(sentence)])

    def next_logits(ids: list[int]) -> Tensor:
        with torch.inference_mode():
            return forward(translator.model, source, torch.tensor([ids]))[0, -1]

    try:
        ids = greedy_words(next_logits, BOS_ID, EOS_ID, 40)
    except NotImplementedError:
        print("Not written yet. First write forward and greedy_words, which the translation needs.")
        return
    print(translator.target_tokenizer.decode(ids))
