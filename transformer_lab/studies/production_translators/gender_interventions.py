"""Interventions on a translator that chooses a gender: patched states, prefixes, redirected rows.

Two sentences that differ in one noun, with their subwords at the same positions, are called base
and donor. A state in the base's encoder can be replaced with the donor's (activation patching). The
study `gender` uses them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_lab.attention.capture import capture_attention
from transformer_lab.attention.record import Head, Kind
from transformer_lab.hooks import Hook, use_hooks
from transformer_lab.studies.common.probe import encoder_states
from transformer_lab.studies.production_translators.gender_detection import (
    GenderChoice,
    Reading,
    find_choice,
    find_pieces,
    log_odds,
)
from transformer_lab.translator import Translator

PLACES = ("noun", "it", "adjective", "elsewhere", "everywhere")
"""The groups of positions to replace; "elsewhere" is all but the noun, "it" and the adjective."""


class GenderBatch:
    """A batch of the usable readings, with the step at which each one writes its gender.

    Readings without such a step (see `find_choice`) are left out.
    """

    def __init__(self, translator: Translator, readings: Sequence[Reading]):
        self.translator = translator
        found = [
            (r, find_choice(translator, r.question.source, r.shown)) for r in readings if r.shown
        ]
        kept = [(r, c) for r, c in found if r.usable and c is not None]
        self.readings: list[Reading] = [r for r, _ in kept]
        self.choices: list[GenderChoice] = [c for _, c in kept if c is not None]

    def __len__(self) -> int:
        return len(self.choices)

    @property
    def signs(self) -> Float[np.ndarray, " sentences"]:
        """1 for each sentence whose right gender is masculine, and −1 for the others."""
        return np.array([1.0 if r.question.gender == "m" else -1.0 for r in self.readings])

    def sources(self) -> tuple[Tensor, Tensor]:
        """Return the padded source ids (sentences, source) and their mask."""
        return self.translator.batch([c.source for c in self.choices])

    def at(self, word: str) -> Bool[Tensor, "sentences source"]:
        """Mark the positions of a word's subwords: "it", "adjective", "noun" or "other noun".

        "noun" is the one that the adjective describes. If a sentence lacks the word, nothing is
        marked.
        """
        ids, _ = self.sources()
        marked = torch.zeros(ids.shape, dtype=torch.bool)
        for row, reading in enumerate(self.readings):
            q = reading.question
            names = {"it": "it", "adjective": q.adjective, "noun": q.nouns[q.right]}
            names["other noun"] = q.nouns[1 - q.right] if len(q.nouns) == 2 else ""
            text = q.source.replace("It ", "it ")  # "It" may begin the second sentence
            if names[word] and (word != "it" or " it " in text):
                position = find_pieces(
                    self.translator, q.source, spell_as_in(names[word], q.source)
                )
                marked[row, position] = True
        return marked


def spell_as_in(word: str, source: str) -> str:
    """Return the word as the source spells it: with a capital letter if it begins a sentence."""
    return word if f" {word}" in source else word.capitalize()


def batch_states(batch: GenderBatch) -> Float[Tensor, "depth sentences source d_model"]:
    """Return the encoder's residual stream before its first layer and after each layer."""
    return encoder_states(batch.translator.model, *batch.sources())


@contextmanager
def patch_states(
    batch: GenderBatch,
    depth: int,
    where: Bool[Tensor, "sentences source"],
    donor: Float[Tensor, "sentences source d_model"],
) -> Iterator[None]:
    """In the with block, replace the encoder's residual stream after `depth` layers with `donor`.

    Only the positions where `where` is True are replaced. Depth 0 is the input of the first layer.
    """
    encoder = batch.translator.model.encoder
    module = encoder if depth == 0 else encoder.layers[depth - 1]
    with use_hooks({module: Hook(residual=lambda x: torch.where(where[..., None], donor, x))}):
        yield


def batch_log_odds(
    batch: GenderBatch, mute: Sequence[Head] = (), patch: dict[Head, np.ndarray] | None = None
) -> Float[np.ndarray, " sentences"]:
    """Return the `log_odds` of every sentence: masculine minus feminine, in nats."""
    return log_odds(batch.translator, batch.choices, mute, patch).double().numpy()


def measure_patching(
    base: GenderBatch, donor: GenderBatch
) -> dict[str, Float[np.ndarray, "depth sentences"]]:
    """Return how far patching the source's states moves the log-odds, in nats.

    For each sentence of `base`, the encoder's states at each of `PLACES` are replaced with those of
    `donor`, after each number of layers. Moves away from the base's gender are positive.
    """
    from_donor, before = batch_states(donor), batch_log_odds(base)
    marks = {place: base.at(place) | donor.at(place) for place in ("noun", "it", "adjective")}
    everywhere = torch.ones_like(marks["noun"])
    marks["elsewhere"] = ~(marks["noun"] | marks["it"] | marks["adjective"])
    marks["everywhere"] = everywhere
    found = {}
    for place in PLACES:
        rows = []
        for depth, state in enumerate(from_donor):
            with patch_states(base, depth, marks[place], state):
                rows.append(-base.signs * (batch_log_odds(base) - before))
        found[place] = np.stack(rows)
    return found


def cross_source_and_prefix(
    base: GenderBatch, donor: GenderBatch
) -> Float[np.ndarray, "2 2 sentences"]:
    """Return the log-odds of each sentence for all four combinations of source and prefix.

    The first axis is the source, and the second is the prefix (the words written so far). On both
    axes, index 0 stands for `base` and index 1 for `donor`. The model chooses between the two forms
    that fit the prefix.
    """
    table = []
    for sources in (base, donor):
        row = []
        for prefixes in (base, donor):
            mixed = [
                p._replace(source=s.source)
                for s, p in zip(sources.choices, prefixes.choices, strict=True)
            ]
            row.append(log_odds(base.translator, mixed).double().numpy())
        table.append(row)
    return np.array(table)


def list_heads(translator: Translator) -> list[Head]:
    """Return every attention head of a model.

    A recurrent decoder has no self-attention heads.
    """
    c = translator.model.config
    depths: dict[Kind, int] = {
        "encoder": c.num_encoder_layers,
        "decoder": 0 if c.recurrent_decoder else c.num_decoder_layers,
        "cross": c.num_decoder_layers,
    }
    return [
        Head(kind, layer, head)
        for kind, layers in depths.items()
        for layer in range(layers)
        for head in range(c.num_heads)
    ]


def encoder_weights(batch: GenderBatch) -> list[Float[np.ndarray, "sentences heads query key"]]:
    """Return the attention weights of the encoder's heads, layer by layer."""
    model = batch.translator.model.eval()
    with torch.no_grad(), capture_attention(model) as capture:
        model.encode(*batch.sources())
    return capture.encoder


def weights_on_nouns(batch: GenderBatch) -> Float[np.ndarray, "layer head 2"]:
    """Return how much weight each head's row for "it" puts on the right and on the wrong noun.

    This is the mean over the batch. The weights on a noun's subwords are summed; "it" is a single
    token.
    """
    it = batch.at("it").numpy()
    nouns = [batch.at(word).numpy() for word in ("noun", "other noun")]
    found = []
    for maps in encoder_weights(batch):
        rows = np.einsum("shqk,sq->shk", maps, it)
        found.append([np.einsum("shk,sk->sh", rows, n).mean(axis=0) for n in nouns])
    return np.array(found).transpose(0, 2, 1)


def log_odds_with_pointed_row(
    batch: GenderBatch, heads: Sequence[Head], word: str, row: str = "it"
) -> Float[np.ndarray, " sentences"]:
    """Return the log-odds when a row in these encoder heads puts all its weight on one word.

    Args:
        batch: The sentences.
        heads: The heads whose row is changed.
        word: The word that the row looks at, named as in `GenderBatch.at`.
        row: The word whose row is changed.
    """
    maps, asking = encoder_weights(batch), batch.at(row).numpy()
    onto = batch.at(word).numpy()
    onto = onto / onto.sum(axis=1, keepdims=True)
    patch = {}
    for head in heads:
        weights = maps[head.layer][:, head.head].copy()
        weights[asking] = np.repeat(onto, asking.sum(axis=1), axis=0).astype(weights.dtype)
        patch[head] = weights
    return batch_log_odds(batch, patch=patch)
