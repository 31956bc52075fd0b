"""Translate text with a trained model and its tokenizers, and record every attention head.

Lessons, runs, the lab and the command line use it.
"""

import json
import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lab.attention.capture import Patch, Place, capture_attention
from transformer_lab.attention.record import (
    Alignment,
    AttentionRecord,
    Head,
    Referent,
)
from transformer_lab.config import (
    TransformerConfig,
    check,
    check_positive_integer,
    check_seed,
    join_with_and,
)
from transformer_lab.config.device import device_of, pick_device
from transformer_lab.data.batching import (
    LONGEST_WORD,
    Example,
    encode_source,
    longest_word,
    pad,
)
from transformer_lab.data.corpus_name import drop_folder
from transformer_lab.data.text import check_text, check_visible_text, join_for_terminal, to_nfc
from transformer_lab.data.tokenizer import Tokenizer, load_tokenizer, tokenizer_from_json
from transformer_lab.decoding import Hypothesis, beam_search, greedy, log_probabilities, sample
from transformer_lab.hooks import Hook
from transformer_lab.model import Transformer
from transformer_lab.model.build import build_model, model_class
from transformer_lab.model.masks import length_mask
from transformer_lab.model.size import check_memory, count_parameters
from transformer_lab.model.skip_init import SkipInit
from transformer_lab.model.weights import weights_as_bytes
from transformer_lab.storage.files import (
    expand_path,
    locate_file,
    read_consistently,
    write_atomically,
    write_files_atomically,
)
from transformer_lab.storage.folder import (
    FORMAT,
    WEIGHTS,
    add_own_checksum,
    hash_bytes,
    hash_file,
    holds_translator,
    read_description,
)
from transformer_lab.storage.lock import lock_folder
from transformer_lab.storage.single_file import (
    check_replaceable,
    is_single_file,
    read_single_file,
)
from transformer_lab.storage.tensors import (
    CheckpointError,
    check_not_git_lfs_pointer,
    check_sha256,
    is_checkpoint,
    load_tensors,
    load_weights,
)

PRETRAINED = Path(__file__).parent / "pretrained" / "tiny"
"""The folder of the packaged translator (English to French, trained on the bilingual world)."""
SENTENCES_AT_ONCE = 64
HAS_NAN = "the logits contain NaN, perhaps because the weights are too large or damaged"


@dataclass(frozen=True, slots=True)
class Translation:
    """A source text and its translation."""

    source: str
    translation: str
    score: float
    """The log-probability of the translation, in nats, without length penalty."""
    cut: bool
    """Whether the translation was cut off at the length limit. If so, `score` leaves out eos."""
    unknown: tuple[str, ...]
    """The words of the source that are not in the vocabulary; the model reads `<unk>` instead."""


@dataclass(frozen=True, slots=True)
class EncodedSource:
    """The token ids of a source text, or the reason why the text cannot be translated."""

    ids: list[int]
    """The token ids, ending with eos; empty if the text cannot be translated."""
    unknown: tuple[str, ...] = ()
    """The words of the text that are not in the vocabulary."""
    refusal: str = ""
    """The reason why the text cannot be translated; empty if it can."""


class Translator:
    """A trained Transformer and the tokenizers of its two languages.

    Several threads may share one translator: heads muted in one thread stay active in the others.

    Args:
        model: The model.
        source_tokenizer: The tokenizer of the source language.
        target_tokenizer: The tokenizer of the target language.
        about: JSON data to save along with the model, such as the corpus, step count and seed.

    Raises:
        ValueError: If a tokenizer and the model have different vocabulary sizes.
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
        if sizes != found:
            raise ValueError(
                f"the tokenizers have {join_with_and(map(str, found))} tokens, but the model's "
                f"vocabularies have {join_with_and(map(str, sizes))}"
            )
        self.model = model
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.about = about or {}

    def __repr__(self) -> str:
        sizes = [tokenizer.vocab_size for tokenizer in self.tokenizers]
        count = count_parameters(self.model)["total"]
        return f"<Translator of {sizes[0]:,} to {sizes[1]:,} tokens; parameters: {count:,}>"

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """The source tokenizer and the target tokenizer."""
        return self.source_tokenizer, self.target_tokenizer

    @property
    def device(self) -> torch.device:
        """The device that the model is on."""
        return device_of(self.model)

    def translate(
        self,
        sources: str | Sequence[str],
        *,
        beam_size: int = 4,
        alpha: float = 0.6,
        max_length: int | None = None,
    ) -> list[Translation]:
        """Translate one or more strings with beam search; a beam size of 1 means greedy decoding.

        The translations are returned in the order of the sources.

        Args:
            sources: A string, or a sequence of strings.
            beam_size: The number of partial translations that beam search keeps.
            alpha: The exponent of the length penalty; a larger one favours longer translations.
            max_length: The maximum number of tokens in a translation; by default the source's
                length + 50 (§6.1).

        Raises:
            ValueError: If a source is empty or too long, or contains a NUL byte. The message gives
                the number of that source, and nothing is translated. The same error is raised if
                the model's weights are so large that it computes NaN.
        """
        if check_positive_integer("beam_size", beam_size) == 1:
            return self.decode_texts(
                sources, lambda ids, mask: greedy(self.model, ids, mask, max_length)
            )

        def search(ids: Tensor, mask: Tensor) -> list[Hypothesis]:
            beams = beam_search(
                self.model, ids, mask, beam_size=beam_size, alpha=alpha, max_length=max_length
            )
            if not all(beams):  # with NaN alone, a beam is empty
                raise ValueError(HAS_NAN)
            return [beam[0] for beam in beams]

        return self.decode_texts(sources, search)

    def n_best(
        self, source: str, n: int = 4, *, alpha: float = 0.6, max_length: int | None = None
    ) -> list[Translation]:
        """Return the n best translations that beam search finds for one source, best first.

        They are ranked by log-probability divided by `decoding.length_penalty`.
        """
        ids, mask = self.batch([self.encode(source)])
        (beam,) = beam_search(
            self.model, ids, mask, beam_size=n, n_best=n, alpha=alpha, max_length=max_length
        )
        return [self.to_translation(source, hypothesis) for hypothesis in beam]

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
        """Sample a translation of each source (see `decoding.sample`).

        The same seed gives the same translations.
        """
        generator = torch.Generator(self.device).manual_seed(check_seed(seed))

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

        return self.decode_texts(sources, draw)

    def score(self, source: str, target: str) -> float:
        """Return the log-probability of a given translation, eos included, in nats.

        For the model's own translation, this equals `Translation.score`, unless that translation
        was `cut`: in that case, `Translation.score` leaves out eos, while this score includes it.
        Target words that are not in the vocabulary are scored as `<unk>`, with a warning.

        Raises:
            ValueError: If `translate` would refuse the source, or if the target contains a NUL byte
                or is too long.
        """
        written = [self.model.eval().config.bos_id, *self.encode_target(target)]
        return log_probabilities(self.model, [Example(self.encode(source), written)])[0]

    def decode_texts(
        self,
        sources: str | Sequence[str],
        decode: Callable[[Tensor, Tensor], list[Hypothesis]],
    ) -> list[Translation]:
        """Translate one or more strings with a custom decoding function.

        The translations are returned in the order of the sources.

        Args:
            sources: A string, or a sequence of strings.
            decode: A function that takes padded source ids and their mask, and returns one
                hypothesis for each row.

        Raises:
            ValueError: If a source cannot be translated, or if the model computes NaN.
        """
        fits = isinstance(sources, Iterable) and not isinstance(sources, bytes | bytearray)
        check("sources", sources, "a string or a list of strings", fits)
        texts = [sources] if isinstance(sources, str) else list(sources)
        encoded = [self.encode(text, number) for number, text in enumerate(texts, 1)]
        # Sentences of similar length share a batch, so that little of it is padding.
        order = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
        found: dict[int, Hypothesis] = {}
        for start in range(0, len(order), SENTENCES_AT_ONCE):
            rows = order[start : start + SENTENCES_AT_ONCE]
            batch = self.batch([encoded[i] for i in rows])
            found |= zip(rows, decode(*batch), strict=True)
        if any(math.isnan(hypothesis.log_probability) for hypothesis in found.values()):
            raise ValueError(HAS_NAN)
        return [self.to_translation(text, found[i]) for i, text in enumerate(texts)]

    def batch(
        self, sources: Sequence[Sequence[int]]
    ) -> tuple[Int[Tensor, "batch source"], Bool[Tensor, "batch 1 1 source"]]:
        """Pad sources and return them with their mask (True means "may attend").

        Each source is a list of ids that ends in eos. This switches the model to evaluation mode.
        """
        self.model.eval()
        ids = pad(sources, self.model.config.pad_id).to(self.device)
        lengths = torch.tensor([len(source) for source in sources], device=self.device)
        return ids, length_mask(lengths, ids.size(1))

    def to_translation(self, source: str, hypothesis: Hypothesis) -> Translation:
        """Convert a hypothesis into a `Translation`."""
        text = self.target_tokenizer.decode(
            [i for i in hypothesis.ids if i != self.model.config.eos_id]
        )
        unknown = tuple(self.source_tokenizer.unknown(to_nfc(source)))
        cut = self.model.config.eos_id not in hypothesis.ids
        return Translation(source, text, hypothesis.log_probability, cut, unknown)

    def encode(self, text: str, number: int = 1) -> list[int]:
        """Return the token ids of a source text, ending with eos.

        Raises:
            ValueError: If the text cannot be translated (see `read_source`).
        """
        reading = self.read_source(text, number)
        if reading.refusal:
            raise ValueError(reading.refusal)
        return reading.ids

    def read_source(self, text: str, number: int = 1) -> EncodedSource:
        """Encode a source text, or return the reason why it cannot be translated.

        No error is raised. A text cannot be translated if it is invalid (see
        `data.text.check_visible_text`), has no words, has only unknown words, has a word that is
        too long, or has too many tokens. `number` is the text's position in a list, counted from 1;
        the reason mentions it.
        """
        name = "source" if number == 1 else f"source {number}"
        config = self.model.config
        try:
            text = check_word_lengths(name, check_visible_text(name, text))
        except ValueError as error:
            return EncodedSource([], refusal=str(error))
        ids = encode_source(text, self.source_tokenizer, config.eos_id)
        unknown, limit = tuple(self.source_tokenizer.unknown(text)), config.max_length
        refusal = ""
        if len(ids) == 1:
            refusal = f"{name} is {text[:60]!r}; expected at least one word"
        elif len(ids) > limit:
            refusal = f"{name} has {len(ids) - 1} tokens; expected at most {limit - 1}"
        elif set(ids[:-1]) == {config.unk_id}:
            refusal = f"{name} is {text[:60]!r}, but the model knows none of its words"
        return EncodedSource([] if refusal else ids, unknown, refusal)

    def find_refusals(self, texts: Sequence[str]) -> dict[int, str]:
        """Find the texts that `translate` would refuse, and return the reasons by index."""
        reasons = {i: self.read_source(text).refusal for i, text in enumerate(texts)}
        return {i: reason for i, reason in reasons.items() if reason}

    def encode_target(self, text: str) -> list[int]:
        """Return the token ids of a target text, ending with eos; warn about unknown words.

        Raises:
            ValueError: If the text is invalid or too long, or has a word that is too long.
        """
        text = check_word_lengths("target", check_text("target", text))
        if unknown := self.target_tokenizer.unknown(text):
            said = f"The model does not know {join_for_terminal(unknown)}, and reads <unk> instead."
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
        mute: Iterable[Head | str] = (),
        patch: Mapping[Head, Patch] | Mapping[str, Patch] | None = None,
        hooks: Mapping[Place, Hook] | None = None,
        top: int = 5,
        alignment: Alignment | None = None,
        referent: Referent | None = None,
        label: str | None = None,
    ) -> AttentionRecord:
        """Translate a sentence greedily, or read a given translation, and record every head.

        Args:
            source: The sentence.
            target: The translation to read; with None, the model writes its own.
            mute: Heads whose output is set to 0, including while the model writes. Each is a `Head`
                or a code such as "e2.3".
            patch: For each head, attention weights that replace its own, or a function that
                computes them from its own. They also apply while the model writes; see
                `capture_attention`.
            hooks: Functions that read or change what passes through a layer; see
                `capture_attention`. Without a target, they are called once for each word written,
                and once more for the whole translation.
            top: The number of likeliest next tokens to record at each step.
            alignment: Gold links to store in the record.
            referent: Gold positions of a pronoun and its referent, to store in the record.
            label: A note on where the record comes from, to store in the record.

        Raises:
            ValueError: If `score` would refuse the source or the target, or `capture_attention`
                refuses an argument.
        """
        config = self.model.config
        top = check_positive_integer("top", top)
        ids, mask = self.batch([self.encode(source)])
        with capture_attention(self.model, mute=mute, patch=patch, hooks=hooks) as capture:
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
            unknown=tuple(self.source_tokenizer.unknown(to_nfc(source))),
        )

    def save(
        self, path: str | Path, *, dtype: torch.dtype = torch.float32, overwrite: bool = False
    ) -> None:
        """Save the configuration, tokenizers and weights: either all of them or none.

        A path that ends in .safetensors is written as a single file, and any other path as a
        folder. With `overwrite`, an existing model is replaced, and the snapshots listed in a
        folder's config.json are removed. If the disk fills up or the process is killed during
        saving, the old model stays intact. Because saved models may be shared, only the last part
        of the corpus's path is saved. A run's own folder keeps the whole path.

        Raises:
            ValueError: If a model already exists and `overwrite` is not set; if a file with one of
                the needed names was not written by this package; if another process is writing to
                the folder; or if a weight is not finite in this dtype.
        """
        path = expand_path(path)
        shared = Translator(self.model, *self.tokenizers, dict(self.about))
        if isinstance(corpus := self.about.get("corpus"), str):
            shared.about["corpus"] = drop_folder(corpus)
        if is_single_file(path):
            check_replaceable(path, overwrite)
            content = shared.as_single_file(dtype)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
        else:
            with lock_folder(path):
                shared.save_in_locked(path, dtype, overwrite)

    def as_single_file(self, dtype: torch.dtype) -> bytes:
        """Return the bytes of a single safetensors file that `load` can read."""
        source, target = (json.loads(tokenizer.to_json()) for tokenizer in self.tokenizers)
        tokenizers = {"source_tokenizer": source, "target_tokenizer": target}
        return weights_as_bytes(self.model, dtype, {**self.describe(), **tokenizers})

    def describe(self) -> dict[str, Any]:
        """Return the model's configuration and `about` as plain values, ready for JSON.

        Raises:
            ValueError: If `about` holds NaN or infinity.
        """
        description = {"model": self.model.config.to_dict(), "about": self.about}
        return cast(dict[str, Any], json.loads(json.dumps(description, allow_nan=False)))

    def save_in_locked(
        self,
        folder: Path,
        dtype: torch.dtype,
        overwrite: bool,
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        """Write the same files as `save`; the caller must hold the folder's lock.

        `beside` maps the names of additional files to their contents. These files are written in
        the same step.
        """
        replaces = holds_translator(folder) and locate_file(folder, WEIGHTS).exists()
        if replaces and not overwrite:
            raise ValueError(
                f"{folder} already holds a model. Choose another folder, or pass overwrite=True"
            )
        snapshots = [f"{name}.safetensors" for name in self.snapshots(folder).values()]
        snapshots = [name for name in snapshots if is_checkpoint(folder / name)]
        known = read_description(folder).get("sha256", {}) if replaces else {}
        gone = [name for name in snapshots if name in known]  # a foreign file may have such a name
        kept = {name: hash_file(folder / name) for name in snapshots if name not in known}
        weights = weights_as_bytes(self.model, dtype)
        description = self.description_files(kept | {WEIGHTS: hash_bytes(weights)})
        files = {**(beside or {}), **description, WEIGHTS: weights}
        write_files_atomically(folder, files, gone)

    def save_description(self, folder: Path) -> None:
        """Write the configuration and tokenizers without weights.

        The caller must hold the folder's lock, or have created the folder.

        Raises:
            ValueError: If a file has the name of a translator's file, but this package did not
                write it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        kept = read_description(folder).get("sha256", {}) if holds_translator(folder) else {}
        sums = {name: said for name, said in kept.items() if locate_file(folder, name).exists()}
        write_files_atomically(folder, self.description_files(sums))

    def description_files(self, sums: Mapping[str, str]) -> dict[str, bytes]:
        """Return the contents of config.json and of the two tokenizer files, by file name.

        `sums` holds the SHA-256 checksums of the other files, also by name.
        """
        files = {
            "source_tokenizer.json": self.source_tokenizer.to_json().encode(),
            "target_tokenizer.json": self.target_tokenizer.to_json().encode(),
        }
        sums = {**sums, **{name: hash_bytes(content) for name, content in files.items()}}
        config = {
            "format": FORMAT,
            **self.describe(),
            "sha256": dict(sorted(sums.items())),
        }
        text = json.dumps(add_own_checksum(config), indent=1, ensure_ascii=False, allow_nan=False)
        return {**files, "config.json": f"{text}\n".encode()}

    @classmethod
    def load(
        cls, path: str | Path = PRETRAINED, *, weights: str = "model", device: str = "auto"
    ) -> "Translator":
        """Load a translator that `save` wrote, or one that was trained in a browser.

        Args:
            path: The translator's folder or single file; by default, the translator that comes with
                the package.
            weights: "model", or the name of a snapshot (see `snapshots`).
            device: The device to put the model on.

        Raises:
            CheckpointError: If a file is missing or damaged, or does not match the others; the
                message names it.
            ValueError: If a snapshot is requested, but the translator is in a single file.
        """
        place, path = pick_device(device), expand_path(path)
        if is_single_file(path):
            expected = "'model', because a single file contains no snapshots"
            check("weights", weights, expected, weights == "model")
            translator = cls.load_single_file(path)
        else:
            name = f"{weights}.safetensors"
            translator = read_consistently(path, lambda: cls.load_once(path, name))
        translator.model.to(place).eval()
        return translator

    @classmethod
    def load_single_file(cls, path: Path) -> "Translator":
        """Load a translator from a single file onto the CPU."""
        tensors, description = read_single_file(path)
        config = read_config(description, path, path.stat().st_size)
        source, target = (
            read_tokenizer(description, f"{side}_tokenizer", path) for side in ("source", "target")
        )
        try:
            with SkipInit():
                translator = cls(build_model(config), source, target, description.get("about"))
        except ValueError as error:
            raise CheckpointError(f"{path}: {error}") from error
        load_weights(translator.model, tensors, path)
        return translator

    @classmethod
    def load_once(cls, folder: Path, name: str) -> "Translator":
        """Load a translator onto the CPU, with the weights from the file `name`.

        `load` calls this again if another process was writing at the same time.
        """
        path = locate_file(folder, name)
        room = None
        if path.is_file():
            check_not_git_lfs_pointer(path)
            room = path.stat().st_size
        with SkipInit():
            translator = cls.load_untrained(folder, most_parameters=room)
        tensors, _ = load_tensors(path, read_description(folder).get("sha256", {}).get(name))
        load_weights(translator.model, tensors, path)
        return translator

    @classmethod
    def load_untrained(
        cls, folder: str | Path, *, most_parameters: int | None = None
    ) -> "Translator":
        """Load the configuration and tokenizers from a folder, and give the model random weights.

        `most_parameters` is the maximum number of parameters to accept, if the caller knows a
        limit. A weight file, for example, cannot hold more parameters than it has bytes.

        Raises:
            CheckpointError: If a file is missing or damaged, or does not match the others; the
                message names it.
        """
        folder = expand_path(folder)
        description = read_description(folder)
        config = read_config(description, locate_file(folder, "config.json"), most_parameters)
        files = [locate_file(folder, f"{side}_tokenizer.json") for side in ("source", "target")]
        for file in files:
            if not file.is_file():
                raise CheckpointError(f"the tokenizer {file} does not exist")
            check_sha256(file, description.get("sha256", {}).get(file.name))
        try:
            source, target = (load_tokenizer(file) for file in files)
        except ValueError as error:
            raise CheckpointError(str(error)) from error  # the error names the file
        try:
            return cls(build_model(config), source, target, description.get("about"))
        except ValueError as error:
            raise CheckpointError(f"{folder}: {error}") from error

    @staticmethod
    def snapshots(folder: str | Path = PRETRAINED) -> dict[int, str]:
        """Return the names of a folder's snapshots, by training step, for `load(weights=…)`."""
        found = [path.stem for path in sorted(expand_path(folder).glob("step_*.safetensors"))]
        return {int(name[5:]): name for name in found if re.fullmatch(r"step_[0-9]+", name)}


def read_config(
    description: Mapping[str, Any], path: Path, most_parameters: int | None
) -> TransformerConfig:
    """Return the model configuration stored in a translator's description.

    `path`, the file that the description was read from, is named in error messages.

    Raises:
        CheckpointError: If the description is damaged, or if the model would have more than
            `most_parameters` parameters or would not fit into memory.
    """
    try:
        config = TransformerConfig.from_dict(description["model"])
        check_memory(model_class(config), config, most_parameters)
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} cannot be loaded: {error}") from error
    return config


def read_tokenizer(description: Mapping[str, Any], name: str, path: Path) -> Tokenizer:
    """Return the tokenizer stored as `name` in the description of the single file `path`.

    Raises:
        CheckpointError: If the stored value is not a tokenizer.
    """
    try:
        return tokenizer_from_json(json.dumps(description[name]))
    except ValueError as error:
        raise CheckpointError(f"{name} in {path} cannot be read: {error}") from error


def check_word_lengths(name: str, text: str) -> str:
    """Return the text unchanged if all of its words are short enough to tokenize quickly.

    Raises:
        ValueError: If a word has more than `LONGEST_WORD` letters.
    """
    longest = longest_word(text)
    if longest > LONGEST_WORD:
        expected = f"at most {LONGEST_WORD:,} letters between spaces"
        raise ValueError(f"{name} has a word of {longest:,} letters; expected {expected}")
    return text
