"""Two translators with the same interface: the paper's two stacks, and a single stack.

The single stack reads one sequence: the words of the source, `<eos>`, `<bos>`, and the words of the
translation. It predicts the next word at each position, but learns only to predict the translation.
The study `one_stack` compares the two.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.data.batching import BOS_ID, EOS_ID, PAD_ID, Example, collate, pad
from transformer_lab.hooks import Hook, use_hooks
from transformer_lab.model import Transformer
from transformer_lab.model.decoder_cache import decode_step, prefill
from transformer_lab.model.kv_cache import KVCache
from transformer_lab.model.later.family import GPT, empty_cache
from transformer_lab.model.masks import causal_mask, padding_mask

LogitsAndIds = tuple[Float[Tensor, "words vocabulary"], Int[Tensor, " words"]]


class PrefixGPT(GPT):
    """A GPT that reads everything before `<bos>` in both directions, as an encoder does.

    Raffel et al. 2020 call this a prefix language model.
    """

    def mask(self, ids: Int[Tensor, "batch length"]) -> Bool[Tensor, "batch 1 length length"]:
        """Return the mask: each position sees the source, itself, and everything to its left."""
        is_source = (ids == BOS_ID).cumsum(dim=1) == 0  # (batch, length)
        return causal_mask(ids.size(1), device=ids.device) | is_source[:, None, None, :]


class TwoStacks:
    """The paper's encoder and decoder, as a translator."""

    def __init__(self, source_words: int, target_words: int, **changes: Any):
        self.model = Transformer(TransformerConfig.tiny(source_words, target_words, **changes))

    def logits(self, examples: Sequence[Example]) -> LogitsAndIds:
        """Return the logits for each target word, including `<eos>`, and these words' ids."""
        batch = collate(examples)
        asked = batch.target_output != PAD_ID
        features = self.model.features(batch.source, batch.target_input)[asked]
        return self.model.output(features), batch.target_output[asked]

    def read(self, source: Int[Tensor, "batch source"]) -> Any:
        """Encode sources without padding, and return the decoder's cache."""
        return prefill(self.model, source, padding_mask(source, PAD_ID))

    def step(self, last: Int[Tensor, " batch"], cache: Any) -> tuple[Tensor, Any]:
        """Return the logits for the word after `last`, and the cache extended by `last`.

        The logits are (batch, target words).
        """
        return decode_step(self.model, last, cache)

    def looks(self, example: Example) -> list[Float[np.ndarray, "heads steps source"]]:
        """Return each layer's cross-attention weights, one row for each target word."""
        cores = [layer.cross_attention.core for layer in self.model.decoder.layers]
        return [weights[0] for weights in record_weights(cores, lambda: self.logits([example]))]


class OneStack:
    """A GPT or a `PrefixGPT`, as a translator.

    Its single vocabulary has the target's words, followed by the source's. Two vocabularies of the
    same size are assumed to be identical, as in `TransformerConfig.tiny`.
    """

    def __init__(
        self, kind: type[GPT], layers: int, source_words: int, target_words: int, **changes: Any
    ):
        self.target_words = target_words
        self.offset = 0 if source_words == target_words else target_words
        words = self.offset + source_words
        sizes = {"num_encoder_layers": layers, "num_decoder_layers": 0}
        self.model = kind(TransformerConfig.tiny(words, words, **sizes, **changes))

    def logits(self, examples: Sequence[Example]) -> LogitsAndIds:
        """Return the logits for each target word, including `<eos>`, and these words' ids."""
        ids, answers = self.sequences(examples)
        asked = answers != PAD_ID
        features = self.model.stack(self.model.embed(ids), self.model.mask(ids))[asked]
        return self.target_logits(features), answers[asked]

    def sequences(
        self, examples: Sequence[Example]
    ) -> tuple[Int[Tensor, "batch length"], Int[Tensor, "batch length"]]:
        """Return the padded input ids (source, then target) and the id to predict at each position.

        Padding is on the right. The second tensor also has padding wherever no target word has to
        be predicted.
        """
        rows = [[i + self.offset for i in e.source] + e.target[:-1] for e in examples]
        return pad(rows), pad([[PAD_ID] * len(e.source) + e.target[1:] for e in examples])

    def target_logits(
        self, features: Float[Tensor, "rows d_model"]
    ) -> Float[Tensor, "rows target_words"]:
        """Return the logits of target words only, because source words could never be right."""
        output = self.model.output
        return F.linear(
            features, output.weight[: self.target_words], output.bias[: self.target_words]
        )

    @torch.inference_mode()
    def read(self, source: Int[Tensor, "batch source"]) -> list[KVCache]:
        """Read sources without padding, and return the cache."""
        cache, ids = empty_cache(self.model), source + self.offset
        self.model.stack(self.model.embed(ids), self.model.mask(ids), cache)
        return cache

    @torch.inference_mode()
    def step(
        self, last: Int[Tensor, " batch"], cache: list[KVCache]
    ) -> tuple[Tensor, list[KVCache]]:
        """Return the logits for the word after `last`, and the cache extended by `last`.

        The logits are (batch, target words).
        """
        grown = [layer.fork() for layer in cache]
        x = self.model.embed(last[:, None], start=cache[0].length)
        return self.target_logits(self.model.stack(x, cache=grown)[:, 0]), grown

    def looks(self, example: Example) -> list[Float[np.ndarray, "heads steps source"]]:
        """Return each layer's attention weights on the source, one row for each target word."""
        cores = [layer.self_attention.core for layer in self.model.stack.layers]
        source = len(example.source)
        maps = record_weights(cores, lambda: self.logits([example]))
        return [weights[0, :, source:, :source] for weights in maps]


StackTranslator = TwoStacks | OneStack


@torch.inference_mode()
def write_greedily(
    translator: StackTranslator, sources: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Translate greedily, up to 50 words beyond the source length (§6.1), leaving out `<eos>`."""
    written: list[list[int]] = [[] for _ in sources]
    for places, source in group_by_length(sources):
        cache: Any = translator.read(source)
        words = [torch.full((len(source),), BOS_ID)]
        ended = torch.zeros(len(source), dtype=torch.bool)
        while len(words) <= source.size(1) + 50 and not ended.all():
            logits, cache = translator.step(words[-1], cache)
            words.append(logits.argmax(dim=-1))
            ended |= words[-1] == EOS_ID
        for place, ids in zip(places, torch.stack(words[1:], dim=1).tolist(), strict=True):
            written[place] = ids[: ids.index(EOS_ID)] if EOS_ID in ids else ids
    return written


@torch.inference_mode()
def record_weights(cores: Iterable[nn.Module], run: Callable[[], object]) -> list[np.ndarray]:
    """Call `run`, and return the weights of each attention layer, (batch, heads, query, key)."""
    weights: list[Tensor] = []
    with use_hooks({core: Hook(weights=weights.append) for core in cores}):
        run()
    return [of_one.numpy() for of_one in weights]


def group_by_length(
    sources: Sequence[Sequence[int]],
) -> Iterator[tuple[list[int], Int[Tensor, "batch source"]]]:
    """Group the sources by length, and yield the indices and ids of each group.

    Sources of the same length need no padding.
    """
    places = defaultdict(list)
    for place, source in enumerate(sources):
        places[len(source)].append(place)
    for group in places.values():
        yield group, torch.tensor([list(sources[place]) for place in group])
