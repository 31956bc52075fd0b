"""A model with its tokenizers: text in, text out, and a look at every head on the way."""

import json
import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lab.attention_record import Alignment, AttentionRecord, Head, Referent
from transformer_lab.capture import capture_attention
from transformer_lab.config import TransformerConfig, at_least_one, check, checked_seed
from transformer_lab.data.batching import (
    LONGEST_WORD,
    Example,
    encode_source,
    longest_word,
    pad,
)
from transformer_lab.data.text import as_text, composed, listed, read_text
from transformer_lab.data.tokenizer import Tokenizer, load_tokenizer
from transformer_lab.decoding import Hypothesis, beam_search, greedy, log_probabilities, sample
from transformer_lab.device import device_of, pick_device
from transformer_lab.files import current, path_of, read_settled, write_together
from transformer_lab.lock import locked
from transformer_lab.model import Transformer
from transformer_lab.model.later.recurrence import transformer_of
from transformer_lab.model.masks import length_mask
from transformer_lab.model.size import check_memory
from transformer_lab.model.undrawn import Undrawn
from transformer_lab.training.checkpoint import (
    CheckpointError,
    check_sum,
    is_checkpoint,
    load_tensors,
    load_weights,
)
from transformer_lab.training.folder import (
    FORMAT,
    WEIGHTS,
    described,
    is_ours,
    sealed,
    sha256,
    sha256_of,
    weights_as_bytes,
)

PRETRAINED = Path(__file__).parent / "pretrained" / "tiny"
"""The translator that comes with the package: the bilingual world, English to French."""
SENTENCES_AT_ONCE = 64
COMPUTABLE = "finite numbers; the weights may be too large, or damaged"


@dataclass(frozen=True, slots=True)
class Translation:
    """One translated text."""

    source: str
    translation: str
    score: float
    """The log-probability of what the model wrote, in nats, whatever the search ranked by."""
    cut: bool
    """It was cut at the length limit, so its score has no end in it (`Translator.score` has)."""
    unknown: tuple[str, ...]
    """Words of the source that the vocabulary lacks; the model read `<unk>` in their place."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a translator reads a text: whether it can be translated, and what of it is unknown."""

    ids: list[int]
    """With eos; none of a text that is refused."""
    unknown: tuple[str, ...] = ()
    """Its words that the vocabulary lacks."""
    refusal: str = ""
    """Why it cannot be translated; nothing if it can."""


class Translator:
    """A trained Transformer and the tokenizers of its two languages.

    Several threads may use one translator; whatever one of them mutes, the others do not see.
    `about` is a JSON value that travels with the files: corpus, steps, seeds.
    """

    def __init__(
        self,
        model: Transformer,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        about: dict[str, Any] | None = None,
    ):
        sizes = (model.config.source_vocab_size, model.config.target_vocab_size)
        found = (source_tokenizer.vocab_size, target_tokenizer.vocab_size)
        check("vocabulary sizes of the tokenizers", found, f"{sizes}, the model's", sizes == found)
        self.model = model
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.about = about or {}

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """Of the source and of the target."""
        return self.source_tokenizer, self.target_tokenizer

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return device_of(self.model)

    def translate(
        self,
        sources: str | Sequence[str],
        *,
        beam_size: int = 4,
        alpha: float = 0.6,
        max_length: int | None = None,
    ) -> list[Translation]:
        """Translate texts, in order; a beam of 1 is greedy decoding.

        Raises:
            ValueError: For a text that is empty, too long or holds a NUL byte;
                the message gives its number, and nothing is translated. Also for weights
                so large that the model computes NaN.
        """
        if at_least_one("beam_size", beam_size) == 1:
            return self.write(sources, lambda ids, mask: greedy(self.model, ids, mask, max_length))

        def search(ids: Tensor, mask: Tensor) -> list[Hypothesis]:
            beams = beam_search(
                self.model, ids, mask, beam_size=beam_size, alpha=alpha, max_length=max_length
            )
            check("logits", "NaN", COMPUTABLE, all(beams))  # a beam without a number holds nothing
            return [beam[0] for beam in beams]

        return self.write(sources, search)

    def n_best(
        self, source: str, n: int = 4, *, alpha: float = 0.6, max_length: int | None = None
    ) -> list[Translation]:
        """The n best translations of one text that a beam of n finds, in the order of the search.

        It ranks by `score` divided by the length penalty (see `length_penalty`).
        """
        ids, mask = self.batch([self.encode(source)])
        (beam,) = beam_search(
            self.model, ids, mask, beam_size=n, n_best=n, alpha=alpha, max_length=max_length
        )
        return [self.translation(source, hypothesis) for hypothesis in beam]

    def sample(
        self,
        sources: str | Sequence[str],
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int = 0,
        max_length: int | None = None,
    ) -> list[Translation]:
        """Draw a translation of each text; equal seeds draw equal ones (see `decoding.sample`)."""
        generator = torch.Generator(self.device).manual_seed(checked_seed(seed))

        def draw(ids: Tensor, mask: Tensor) -> list[Hypothesis]:
            return sample(
                self.model,
                ids,
                mask,
                generator=generator,
                temperature=temperature,
                top_k=top_k,
                top_p=top_p,
                max_length=max_length,
            )

        return self.write(sources, draw)

    def score(self, source: str, target: str) -> float:
        """The log-probability of this translation, its end included, in nats.

        The score of a `Translation` is the same of what the model itself wrote, but for one that
        is `cut`: there it ended nowhere, and here it is taken to end.

        Words of the target that the vocabulary lacks are scored as `<unk>`, and a warning says so.

        Raises:
            ValueError: For a source that `translate` refuses; for a target with a NUL byte, or one
                that is too long.
        """
        written = [self.model.eval().config.bos_id, *self.encode_target(target)]
        return log_probabilities(self.model, [Example(self.encode(source), written)])[0]

    def write(
        self,
        sources: str | Sequence[str],
        decode: Callable[[Tensor, Tensor], list[Hypothesis]],
    ) -> list[Translation]:
        """The texts, in order, as `decode` translates batches of ids and their mask."""
        fits = isinstance(sources, Iterable) and not isinstance(sources, bytes | bytearray)
        check("sources", sources, "a text, or a list of texts", fits)
        texts = [sources] if isinstance(sources, str) else list(sources)
        encoded = [self.encode(text, number) for number, text in enumerate(texts, 1)]
        # Sentences of like length share a batch, so that little of it is padding.
        order = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
        found: dict[int, Hypothesis] = {}
        for start in range(0, len(order), SENTENCES_AT_ONCE):
            rows = order[start : start + SENTENCES_AT_ONCE]
            batch = self.batch([encoded[i] for i in rows])
            found |= zip(rows, decode(*batch), strict=True)
        has_nan = any(math.isnan(hypothesis.log_probability) for hypothesis in found.values())
        check("logits", "NaN", COMPUTABLE, not has_nan)
        return [self.translation(text, found[i]) for i, text in enumerate(texts)]

    def batch(
        self, sources: Sequence[Sequence[int]]
    ) -> tuple[Int[Tensor, "batch source"], Bool[Tensor, "batch 1 1 source"]]:
        """Sources as ids with eos, padded, and their mask; the model is put in evaluation mode."""
        self.model.eval()
        ids = pad(sources, self.model.config.pad_id).to(self.device)
        lengths = torch.tensor([len(source) for source in sources], device=self.device)
        return ids, length_mask(lengths, ids.size(1))

    def translation(self, source: str, hypothesis: Hypothesis) -> Translation:
        """The text of a hypothesis."""
        text = self.target_tokenizer.decode(
            [i for i in hypothesis.ids if i != self.model.config.eos_id]
        )
        unknown = tuple(self.source_tokenizer.unknown(composed(source)))
        cut = self.model.config.eos_id not in hypothesis.ids
        return Translation(source, text, hypothesis.log_probability, cut, unknown)

    def encode(self, text: str, number: int = 1) -> list[int]:
        """The ids of one source text with eos; a ValueError if it cannot be translated."""
        reading = self.reading(text, number)
        if reading.refusal:
            raise ValueError(reading.refusal)
        return reading.ids

    def reading(self, text: str, number: int = 1) -> Reading:
        """Whether a text can be translated, and how it is read; `number` is its place among others.

        What is no text (see `read_text`) cannot, nor what has no word, a word too long to cut, too
        many tokens, or no word of the vocabulary.
        """
        name = "source" if number == 1 else f"source {number}"
        config = self.model.config
        try:
            text = without_long_words(name, read_text(name, text))
        except ValueError as error:
            return Reading([], refusal=str(error))
        ids = encode_source(text, self.source_tokenizer, config.eos_id)
        unknown, limit = tuple(self.source_tokenizer.unknown(text)), config.max_length
        refusal = ""
        if len(ids) == 1:
            refusal = f"{name} is {text[:60]!r}; expected at least one word"
        elif len(ids) > limit:
            refusal = f"{name} has {len(ids) - 1} tokens; expected at most {limit - 1}"
        elif set(ids[:-1]) == {config.unk_id}:
            refusal = f"{name} is {text[:60]!r}; expected at least one word of the vocabulary"
        return Reading([] if refusal else ids, unknown, refusal)

    def refused(self, texts: Sequence[str]) -> dict[int, str]:
        """Which of these texts `translate` would refuse, by place, and why."""
        reasons = {i: self.reading(text).refusal for i, text in enumerate(texts)}
        return {i: reason for i, reason in reasons.items() if reason}

    def encode_target(self, text: str) -> list[int]:
        """The ids of a target text with eos; a warning names words that the vocabulary lacks."""
        text = without_long_words("target", as_text("target", text))
        if unknown := self.target_tokenizer.unknown(text):
            said = f"not in the vocabulary, read as <unk>: {listed(unknown)}"
            warnings.warn(said, stacklevel=3)
        ids = [*self.target_tokenizer.encode(text), self.model.config.eos_id]
        limit = self.model.config.max_length
        if len(ids) > limit:
            raise ValueError(f"target has {len(ids) - 1} tokens; expected at most {limit - 1}")
        return ids

    @torch.no_grad()
    def attend(
        self,
        source: str,
        target: str | None = None,
        *,
        mute: Iterable[Head] = (),
        patch: Mapping[Head, np.ndarray] | None = None,
        top: int = 5,
        alignment: Alignment | None = None,
        referent: Referent | None = None,
        label: str | None = None,
    ) -> AttentionRecord:
        """Translate one sentence, greedily unless `target` is given, and record every head.

        Muting and patching act on the translation too. `top` is how many next tokens each step
        keeps; `alignment`, `referent` and `label` become the record's.

        Raises:
            ValueError: For texts that `score` refuses; what it warns of is warned of here, too.
        """
        config = self.model.config
        top = at_least_one("top", top)
        ids, mask = self.batch([self.encode(source)])
        with capture_attention(self.model, mute=mute, patch=patch) as capture:
            if target is None:
                written = list(greedy(self.model, ids, mask)[0].ids)
            else:
                written = self.encode_target(target)
            read = [config.bos_id, *written[:-1]]
            logits = self.model(ids, torch.tensor([read], device=self.device), mask)
        best = logits[0].float().softmax(dim=-1).topk(min(top, config.target_vocab_size))
        next_tokens = tuple(
            tuple(zip(self.target_tokenizer.tokens(words), values, strict=True))
            for words, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        )
        return capture.record(
            self.source_tokenizer.tokens(ids[0].tolist()),
            self.target_tokenizer.tokens(read),
            self.target_tokenizer.tokens(written),
            next_tokens=next_tokens,
            alignment=alignment,
            referent=referent,
            label=label,
            unknown=tuple(self.source_tokenizer.unknown(composed(source))),
        )

    def save(
        self, folder: str | Path, *, dtype: torch.dtype = torch.float32, overwrite: bool = False
    ) -> None:
        """Write configuration, tokenizers and weights, all of them or nothing.

        With `overwrite` the new model takes the place of an old one, whose snapshots go: those that
        its description names. A full disk, a crash or a kill on the way leaves the old model whole.

        Raises:
            ValueError: If the folder holds a model and `overwrite` is not given, or a file of one of
                these names that this package did not write; if another process is writing there;
                or if a weight is no finite number in this precision.
        """
        folder = path_of(folder)
        with locked(folder):
            self.write_into(folder, dtype, overwrite)

    def write_into(
        self,
        folder: Path,
        dtype: torch.dtype,
        overwrite: bool,
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        """`save`, for a caller who holds the folder's lock; other files may come along."""
        replaces = is_ours(folder) and current(folder, WEIGHTS).exists()
        if replaces and not overwrite:
            raise ValueError(f"{folder} holds a model already; expected a folder without one")
        snapshots = [f"{name}.safetensors" for name in self.snapshots(folder).values()]
        snapshots = [name for name in snapshots if is_checkpoint(folder / name)]
        known = described(folder).get("sha256", {}) if replaces else {}
        gone = [name for name in snapshots if name in known]  # another's file may have such a name
        kept = {name: sha256_of(folder / name) for name in snapshots if name not in known}
        weights = weights_as_bytes(self.model, dtype)
        description = self.description(kept | {WEIGHTS: sha256(weights)})
        files = {**(beside or {}), **description, WEIGHTS: weights}
        write_together(folder, files, gone)

    def save_description(self, folder: Path) -> None:
        """Write all but the weights; a ValueError as for `save`.

        For a caller who holds the folder's lock, or has made the folder.
        """
        folder.mkdir(parents=True, exist_ok=True)
        kept = described(folder).get("sha256", {}) if is_ours(folder) else {}
        sums = {name: said for name, said in kept.items() if current(folder, name).exists()}
        write_together(folder, self.description(sums))

    def description(self, sums: Mapping[str, str]) -> dict[str, bytes]:
        """The files that DESCRIPTION names; `sums` are the SHA-256 of the files beside them."""
        files = {
            "source_tokenizer.json": self.source_tokenizer.to_json().encode(),
            "target_tokenizer.json": self.target_tokenizer.to_json().encode(),
        }
        sums = {**sums, **{name: sha256(content) for name, content in files.items()}}
        described = {
            "format": FORMAT,
            "model": self.model.config.to_dict(),
            "about": self.about,
            "sha256": dict(sorted(sums.items())),
        }
        text = json.dumps(sealed(described), indent=1, ensure_ascii=False, allow_nan=False)
        return {**files, "config.json": f"{text}\n".encode()}

    @classmethod
    def load(
        cls, folder: str | Path = PRETRAINED, *, weights: str = "model", device: str = "auto"
    ) -> "Translator":
        """Read what `save` wrote; `weights` may name a snapshot, see `snapshots`.

        Raises:
            CheckpointError: Naming the file that is missing, damaged, or does not fit the others.
        """
        place, folder = pick_device(device), path_of(folder)
        translator = read_settled(folder, lambda: cls.read(folder, f"{weights}.safetensors"))
        translator.model.to(place).eval()
        return translator

    @classmethod
    def read(cls, folder: Path, name: str) -> "Translator":
        """`load`, onto the CPU, for a folder into which nobody is writing."""
        path = current(folder, name)
        room = path.stat().st_size if path.is_file() else None
        with Undrawn():
            translator = cls.load_untrained(folder, most_parameters=room)
        tensors, _ = load_tensors(path, described(folder).get("sha256", {}).get(name))
        load_weights(translator.model, tensors, path)
        return translator

    @classmethod
    def load_untrained(
        cls, folder: str | Path, *, most_parameters: int | None = None
    ) -> "Translator":
        """Configuration and tokenizers of a folder, with fresh weights.

        `most_parameters` is how many the model may have at most, if anybody knows it: a file of
        weights holds no more of them than it has bytes.
        """
        folder = path_of(folder)
        description = described(folder)
        path = current(folder, "config.json")
        try:
            config = TransformerConfig.from_dict(description["model"])
            check_memory(config, most_parameters)
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{path}: damaged: {error}") from error
        files = [current(folder, f"{side}_tokenizer.json") for side in ("source", "target")]
        for file in files:
            if not file.is_file():
                raise CheckpointError(f"{file}: no such file; expected a tokenizer")
            check_sum(file, description.get("sha256", {}).get(file.name))
        try:
            source, target = (load_tokenizer(file) for file in files)
            return cls(transformer_of(config), source, target, description.get("about"))
        except ValueError as error:
            raise CheckpointError(f"{folder}: {error}") from error

    @staticmethod
    def snapshots(folder: str | Path = PRETRAINED) -> dict[int, str]:
        """Training step → the `weights` that `load` takes, for the snapshots kept of a run."""
        found = [path.stem for path in sorted(path_of(folder).glob("step_*.safetensors"))]
        return {int(name[5:]): name for name in found if re.fullmatch(r"step_[0-9]+", name)}


def without_long_words(name: str, text: str) -> str:
    """The text; a ValueError if it has a word that would take too long to cut."""
    longest = longest_word(text)
    if longest > LONGEST_WORD:
        expected = f"at most {LONGEST_WORD:,} without a space"
        raise ValueError(f"{name} has a word of {longest:,} letters; expected {expected}")
    return text
