"""Every door through which something comes in, by kind, and the hostile things pushed through it.

A door is a callable that takes one thing and an empty folder. `tests/test_doors.py` pushes, and
`python -m tests.doors` writes the table in docs/trust.md.
"""

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from benchmarks.report import table
from tests.conftest import make_model, small_config
from tests.data.hostile import NO_TEXTS, NOT_TEXT
from tests.model.test_masks import AMBIGUOUS, PATHS, UNFIT, mask_of
from tests.test_attention_record import AXES, LABELS, captured, from_outputs, record_of
from tests.test_translator import make_translator
from tools.written import DOCUMENTS, put
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.text_files import read_pairs
from transformer_lab.data.tokenizer import load_tokenizer
from transformer_lab.decoding import (
    beam_search,
    greedy,
    minimum_bayes_risk,
    sample,
    speculative_greedy,
)
from transformer_lab.formats.bergamot import load_bergamot, load_shortlist
from transformer_lab.formats.marian import FILES, load_marian
from transformer_lab.formats.marian_binary import MarianFile
from transformer_lab.model import Transformer
from transformer_lab.model.later.family import GPT
from transformer_lab.runs.run import begin_run, resume_run
from transformer_lab.storage.tensors import load_tensors
from transformer_lab.training.saving import load_state
from transformer_lab.translator import Translator

Door = Callable[[Any, Path], object]


class Kind(NamedTuple):
    """What comes in, the doors that it comes in by, and what must not come in by any of them."""

    what: str
    doors: dict[str, Door]
    hostile: dict[str, Any]
    fine: frozenset[tuple[str, str]] = frozenset()
    """(door, thing) where the thing is nothing bad, as a translation may be empty."""


# ---------------------------------------------------------------- text


@cache
def translator() -> Translator:
    return make_translator()


def by_json_lines(text: Any, folder: Path, side: str = "source") -> object:
    path = folder / "pairs.jsonl"
    path.write_text(json.dumps({"source": "the cat", "target": "le chat", side: text}))
    return read_pairs(path)


def by_dataset(text: Any, folder: Path) -> object:
    from transformer_lab.data.text_files import pair_from_row

    return pair_from_row({"en": text, "fr": "le chat"}, ("en", "fr"), "row 1")


TEXT = {
    "Translator.translate": lambda text, _: translator().translate([text]),
    "Translator.n_best": lambda text, _: translator().n_best(text, 2),
    "Translator.sample": lambda text, _: translator().sample([text], seed=0),
    "Translator.translate, without a list": lambda text, _: translator().translate(text),
    "Translator.sample, without a list": lambda text, _: translator().sample(text, seed=0),
    "Translator.score, source": lambda text, _: translator().score(text, "le chat"),
    "Translator.score, target": lambda text, _: translator().score("the cat", text),
    "Translator.attend, source": lambda text, _: translator().attend(text),
    "Translator.attend, target": lambda text, _: translator().attend("the cat", text),
    "JSON lines, source": by_json_lines,
    "JSON lines, target": partial(by_json_lines, side="target"),
    "a dataset's row": by_dataset,
}
TEXTS = {**NO_TEXTS, **{repr(value): value for value in NOT_TEXT}}
LIST = repr(["the", "cat"])
NO_HARM = frozenset(
    {
        # A translation may be nothing that can be seen: its end alone, or an unknown sign.
        *((door, name) for door in TEXT if door.endswith("target") for name in NO_TEXTS),
        ("Translator.attend, target", "None"),  # then it translates by itself
        ("Translator.translate, without a list", LIST),
        ("Translator.sample, without a list", LIST),
        ("JSON lines, source", repr(b"the cat")),  # which JSON cannot write
        ("JSON lines, target", repr(b"the cat")),
    }
) - {
    *((door, name) for door in TEXT for name in ("NUL", "UTF-16", "half a character")),
    *(("JSON lines, target", name) for name in NO_TEXTS),
}


# ---------------------------------------------------------------- corpora


def by_file(name: str, content: bytes, folder: Path) -> object:
    (folder / name).write_bytes(content)
    return find_corpus(str(folder / name)).splits()


def by_zip(content: bytes, folder: Path) -> object:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as whole:
        whole.writestr("pairs.tsv", content)
    return by_file("pairs.zip", packed.getvalue(), folder)


def by_folder(content: bytes, folder: Path) -> object:
    (folder / "train.tsv").write_bytes(content)
    return find_corpus(str(folder)).splits()


def by_two_files(content: bytes, folder: Path) -> object:
    (folder / "pairs.fr").write_bytes(content)
    return by_file("pairs.en", content, folder)


def by_run(content: bytes, folder: Path) -> object:
    (folder / "pairs.tsv").write_bytes(content)
    return begin_run(folder / "run", str(folder / "pairs.tsv"), preset="tiny", max_steps=1)


CORPUS: dict[str, Door] = {
    "a .tsv file": partial(by_file, "pairs.tsv"),
    "a .jsonl file": partial(by_file, "pairs.jsonl"),
    "a compressed .TSV.GZ file": lambda content, f: by_file("P.TSV.GZ", gzip.compress(content), f),
    "a file that is not compressed, though its name says so": partial(by_file, "pairs.tsv.gz"),
    "a .zip of one table": by_zip,
    "two files, one for each language": by_two_files,
    "a folder of tables": by_folder,
    "a new run": by_run,
}
PAIRS = "".join(f"sentence number {i}\tphrase numéro {i}\n" for i in range(101))
CORPORA = {
    "nothing": b"",
    "a line end": b"\n",
    "one column": b"the cat\nthe dog\n" * 53,
    "a column of numbers and one of text": "".join(
        f"{i}\tthe cat {i}\n" for i in range(97)
    ).encode(),
    "UTF-16": PAIRS.encode("utf-16"),
    "a NUL in one line": PAIRS.encode() + b"a\0b\tc\n",
    "bytes that are no UTF-8": PAIRS.encode() + b"caf\xe9\tcaf\xe9\n",
    "invisible lines": "\u200b\t\u200b\n".encode() * 53,
    "random bytes": random.Random(7).randbytes(997),
    "TMX": b'<?xml version="1.0"?>\n<tmx version="1.4"><body></body></tmx>\n',
    "PO": b'msgid "the cat"\nmsgstr "le chat"\n\nmsgid "a dog"\nmsgstr "un chien"\n',
}


# ---------------------------------------------------------------- checkpoints


@cache
def saved() -> dict[str, bytes]:
    """The files of a small model."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        translator().save(Path(folder) / "model")
        return {path.name: path.read_bytes() for path in (Path(folder) / "model").iterdir()}


def by_model(name: str, content: bytes, folder: Path) -> object:
    for each, whole in saved().items():
        (folder / each).write_bytes(content if each == name else whole)
    return Translator.load(folder, device="cpu")


def by_path(load: Callable[[Path], object], name: str, content: bytes, folder: Path) -> object:
    (folder / name).write_bytes(content)
    return load(folder / name)


def by_marian(content: bytes, folder: Path) -> object:
    for name in (*FILES, "model.safetensors"):
        (folder / name).write_bytes(content)
    return load_marian(folder, device="cpu")


def by_bergamot(
    content: bytes, folder: Path, load: Callable[[Path], object] = load_bergamot
) -> object:
    for name in ("model.enfr.intgemm.alphas.bin", "lex.50.50.enfr.s2t.bin", "vocab.enfr.spm"):
        (folder / name).write_bytes(content)
    return load(folder)


def by_state(content: bytes, folder: Path) -> object:
    shapes = {name: tuple(p.shape) for name, p in make_model().named_parameters()}
    return by_path(lambda path: load_state(path, shapes), "state.safetensors", content, folder)


def by_run_folder(content: bytes, folder: Path) -> object:
    for name in ("config.json", "run.json", "state.safetensors"):
        (folder / name).write_bytes(content)
    return resume_run(folder)


CHECKPOINT: dict[str, Door] = {
    "Translator.load, config.json": partial(by_model, "config.json"),
    "Translator.load, model.safetensors": partial(by_model, "model.safetensors"),
    "Translator.load, source_tokenizer.json": partial(by_model, "source_tokenizer.json"),
    "Translator.load, target_tokenizer.json": partial(by_model, "target_tokenizer.json"),
    "Translator.load, one file": partial(by_path, Translator.load, "whole.safetensors"),
    "load_tokenizer": partial(by_path, load_tokenizer, "tokenizer.json"),
    "load_tensors": partial(by_path, load_tensors, "some.safetensors"),
    "load_state": by_state,
    "resume": by_run_folder,
    "load_marian": by_marian,
    "load_bergamot": by_bergamot,
    "load_shortlist": partial(by_bergamot, load=load_shortlist),
    "MarianFile": partial(by_path, MarianFile, "model.bin"),
}
FILES_OF_MODELS = {
    "nothing": b"",
    "one byte": b"\0",
    "random bytes": random.Random(11).randbytes(997),
    "a list": b"[]",
    "an empty object": b"{}",
    "null": b"null",
    "a number beyond floats": b'{"config": 1e400}',
    "brackets without end": b"[" * 100_003,
    "bytes that are no UTF-8": b'{"caf\xe9": 1}',
    "a pickle in a zip, as torch.save writes": b"PK\3\4" + bytes(61),
    "a header of a terabyte": (2**40).to_bytes(8, "little") + b"{}",
    "Marian's head with 2^40 items": (1).to_bytes(8, "little") + (2**40).to_bytes(8, "little"),
}

# ---------------------------------------------------------------- masks, labels

MASKED = {
    "in_numpy": "numpy_reference.scaled_dot_product_attention",
    "by_heads_in_numpy": "numpy_reference.multi_head_attention",
    "by_weights": "attention_weights",
    "fused": "fused_attention",
    "fused_with_bias": "fused_attention, with a bias",
    "core": "AttentionCore",
    "watched": "AttentionCore, recorded",
    "behind_a_past": "AttentionCore, with a KV cache",
    "multi_head": "MultiHeadAttention",
    "grouped": "GroupedQueryAttention",
    "decoder": "Decoder",
    "chunked": "chunked_attention",
}
MASK: dict[str, Door] = {
    MASKED[path.__name__]: (lambda mask, _, path=path: path(mask)) for path in PATHS
}
MASKS = {f"shape {shape}": mask_of(shape) for shape in dict.fromkeys([*AMBIGUOUS, *UNFIT])}
MASKS |= {str(dtype): mask_of(()).to(dtype) for dtype in (torch.float32, torch.uint8, torch.int64)}
LABEL: dict[str, Door] = {
    f"{name}, {axis}": (lambda labels, _, door=door, axis=axis: door(labels, axis))
    for name, door in (
        ("AttentionRecord", record_of),
        ("AttentionRecord.from_transformers", from_outputs),
        ("AttentionCapture.record", captured),
    )
    for axis in AXES
}

SOURCE, TARGET = torch.tensor([[5, 9, 11]]), torch.tensor([[1, 5, 6]])
SEEN = torch.ones(1, 1, 1, 3, dtype=torch.bool)


@cache
def id_reader() -> Transformer:
    return make_model()


@cache
def gpt() -> GPT:
    return GPT(small_config()).eval()


@cache
def memory() -> torch.Tensor:
    return id_reader().encode(SOURCE, SEEN)


ID: dict[str, Door] = {
    "Transformer, source": lambda ids, _: id_reader()(ids, TARGET),
    "Transformer, target": lambda ids, _: id_reader()(SOURCE, ids),
    "Transformer.encode": lambda ids, _: id_reader().encode(ids, SEEN),
    "Transformer.decode": lambda ids, _: id_reader().decode(ids, memory(), SEEN),
    "GPT": lambda ids, _: gpt()(ids),
    "greedy": lambda ids, _: greedy(id_reader(), ids),
    "beam_search": lambda ids, _: beam_search(id_reader(), ids),
    "sample": lambda ids, _: sample(id_reader(), ids, generator=torch.Generator()),
    "minimum_bayes_risk": lambda ids, _: minimum_bayes_risk(
        id_reader(), ids, utility=lambda *_: 1.0, generator=torch.Generator()
    ),
    "speculative_greedy": lambda ids, _: speculative_greedy(id_reader(), id_reader(), ids),
}
IDS = {
    "nothing": None,
    "a text": "the cat",
    "a list": [[5, 9, 11]],
    "one sentence without its batch": torch.tensor([5, 9, 11]),
    "three dimensions": torch.tensor([[[5, 9, 11]]]),
    "numbers with a point": torch.ones(1, 3),
    "True and False": torch.ones(1, 3, dtype=torch.bool),
    "an id beyond the vocabulary": torch.tensor([[5, 9, 997]]),
    "a negative id": torch.tensor([[5, -1, 9]]),
}

KINDS = {
    "text": Kind("a text", TEXT, TEXTS, NO_HARM),
    "corpus": Kind("a corpus", CORPUS, CORPORA),
    "checkpoint": Kind("a file of a model", CHECKPOINT, FILES_OF_MODELS),
    "mask": Kind("a mask", MASK, MASKS),
    "ids": Kind("ids", ID, IDS),
    "labels": Kind(
        "labels of an axis",
        LABEL,
        LABELS,
        frozenset(
            {("AttentionRecord.from_transformers, written_tokens", "nothing")}
        ),  # those that were read next
    ),
}


def rows() -> list[list[str]]:
    """For each door its kind, and how many hostile things it is tried with."""
    return [
        [kind.what, name, str(sum((name, thing) not in kind.fine for thing in kind.hostile))]
        for kind in KINDS.values()
        for name in kind.doors
    ]


def total() -> str:
    """All of it in a sentence."""
    counted = rows()
    pushed = sum(int(count) for _, _, count in counted)
    tried = f"We tried {pushed} hostile inputs at {len(counted)} doors"
    return f"{tried}, and each input was refused in one line."


if __name__ == "__main__":
    put(
        DOCUMENTS / "trust.md",
        "doors",
        f"{total()}\n\n" + table(["what comes in", "door", "tried with"], rows()),
    )
