"""From a translator here to Transformers and to CTranslate2, with the real packages."""

import re
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

from tests.thorough import thorough_from
from transformer_lab.command import main as cli
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.tokenizer import BPETokenizer, WordTokenizer
from transformer_lab.evaluation.bleu import score
from transformer_lab.formats.fast_tokenizer import SOURCE, TARGET, build_fast_tokenizer
from transformer_lab.formats.to_ctranslate2 import ctranslate2_example
from transformer_lab.formats.to_transformers import transformers_example
from transformer_lab.translator import PRETRAINED, Translator

pytestmark = pytest.mark.slow

transformers = pytest.importorskip("transformers", exc_type=ImportError)
pytest.importorskip("ctranslate2", exc_type=ImportError)
SENTENCES = 199
PAGE = (Path(__file__).parents[2] / "docs" / "elsewhere.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pairs():
    return find_corpus("world").splits().test[:SENTENCES]


@pytest.fixture(scope="module")
def ours():
    return Translator.load(PRETRAINED, device="cpu")


@pytest.fixture(scope="module", params=thorough_from(1, ["float32", "int8"]))
def folder(request, tmp_path_factory):
    """The shipped translator for CTranslate2, by the command."""
    out = tmp_path_factory.mktemp("exported") / request.param
    quantized = [] if request.param == "float32" else ["--quantization", request.param]
    assert cli.main(["export", "--to", "ctranslate2", "--out", str(out), *quantized]) == 0
    return out


def loaded(out):
    """Model and tokenizers of an exported folder, by Transformers alone."""
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(out).eval()
    source = transformers.AutoTokenizer.from_pretrained(out)
    return model, source, transformers.PreTrainedTokenizerFast(tokenizer_file=str(out / TARGET))


def test_transformers_alone_translates_the_same(ours, pairs, tmp_path):
    out = tmp_path / "transformers"
    assert cli.main(["export", "--to", "transformers", "--out", str(out)]) == 0
    model, source, target = loaded(out)
    texts = [pair.source for pair in pairs]
    asked = source(texts, return_tensors="pt", padding=True)
    asked.pop("token_type_ids", None)
    with torch.no_grad():
        written = model.generate(**asked, num_beams=1, do_sample=False)
    found = target.batch_decode(written, skip_special_tokens=True)
    assert found == [one.translation for one in ours.translate(texts, beam_size=1)]


def lines_of_the_readme():
    """Those with which CTranslate2 translates a folder that the commands before them have written."""
    (block,) = re.findall(r"```python\n(import ctranslate2\n.*?)```", PAGE, re.DOTALL)
    return block


def by_the_readme(folder, texts=None, **how):
    """What its last line comes to, for this folder, and for other texts or a narrower search."""
    code = lines_of_the_readme().replace("tiny-ct2", str(folder))
    if texts is not None:
        code = code.replace('["the cat sleeps"]', "texts")
        code = code.replace('batch_type="tokens"', 'batch_type="tokens", **how')
        assert code.count("texts") == code.count("**how") == 1
    *lines, last = code.strip().splitlines()
    known = {"texts": texts, "how": how}
    exec("\n".join(lines), known)
    return eval(last, known)


def test_the_lines_of_the_readme_translate(folder):
    assert by_the_readme(folder) == ["le chat dort"]


def test_the_lines_of_the_readme_are_few_and_keep_the_memory_small():
    code = lines_of_the_readme().split("\n\n")[1].splitlines()
    assert len(code) <= 6
    assert 'max_batch_size=1024, batch_type="tokens"' in lines_of_the_readme()


def test_the_command_and_the_card_say_the_same_lines(ours):
    assert ctranslate2_example(ours, "tiny-ct2") == lines_of_the_readme().strip()
    assert f"```python\n{transformers_example(ours, 'tiny-hf')}\n```" in PAGE


def test_the_lines_have_a_sentence_of_the_models_own(ours):
    said = 'he said "no" {twice}'
    own = Translator(ours.model, *ours.tokenizers, {**ours.about, "example": said})
    for example in (ctranslate2_example, transformers_example):
        code = example(own, "a folder")
        assert '"he said \\"no\\" {twice}"' in code
        assert "the cat sleeps" not in code
        compile(code, "lines", "exec")


def test_the_lines_for_transformers_translate(ours, tmp_path, capsys):
    out = tmp_path / "tiny-hf"
    assert cli.main(["export", "--to", "transformers", "--out", str(out)]) == 0
    code = transformers_example(ours, out)
    assert code in capsys.readouterr().out
    *lines, last = code.splitlines()
    known = {}
    exec("\n".join(lines), known)
    assert eval(last, known) == ["le chat dort"]


def test_ctranslate2_translates_as_we_do_or_its_difference_is_small(ours, pairs, folder):
    texts, references = [p.source for p in pairs], [p.target for p in pairs]
    expected = [one.translation for one in ours.translate(texts, beam_size=1)]
    found = by_the_readme(folder, texts, beam_size=1)
    if folder.name == "float32":
        assert found == expected
    else:  # it rounds
        other = sum(a != b for a, b in zip(found, expected, strict=True)) / len(texts)
        assert other < 0.05
        assert score(found, references).bleu > score(expected, references).bleu - 1
        assert (folder / "model.bin").stat().st_size < PRETRAINED.stat().st_size + 2_000_000


@pytest.fixture(scope="module")
def trained(tmp_path_factory, pairs):
    """A run on a file, as people have one: byte pairs, the norm first, and sentences without an end."""
    here = tmp_path_factory.mktemp("trained")
    texts = find_corpus("world").splits().validation[:307]
    (here / "mine.tsv").write_text("".join(f"{p.source}\t{p.target}\n" for p in texts))
    asked = ["--corpus", str(here / "mine.tsv"), "--max-steps", "7", "--device", "cpu"]
    assert cli.main(["train", *asked, "--preset", "small", "--out", str(here / "run")]) == 0
    return here / "run"


def cut_as_ours(folder, texts):
    """One text at a time, as each is cut at its own length + 50."""
    words = [len(one.ids) for one in Tokenizer.from_file(f"{folder}/{SOURCE}").encode_batch(texts)]
    both = zip(texts, words, strict=True)
    return [
        by_the_readme(folder, [text], beam_size=1, max_decoding_length=count + 50)[0]
        for text, count in both
    ]


@pytest.mark.thorough(
    caught_by=[
        "test_transformers_alone_translates_the_same",
        "tests/formats/test_to_transformers.py::test_generate_writes_what_greedy_writes",
    ]
)
@pytest.mark.parametrize("to", thorough_from(1, ["transformers", "ctranslate2"]))
def test_what_was_trained_on_a_file_goes_there_too(trained, pairs, tmp_path, to):
    out, texts = tmp_path / to, [pair.source for pair in pairs[:23]]
    assert cli.main(["export", "--to", to, "--model", str(trained), "--out", str(out)]) == 0
    ours = Translator.load(trained, device="cpu")
    assert ours.model.config.norm == "pre"
    expected = [one.translation for one in ours.translate(texts, beam_size=1)]
    if to == "ctranslate2":
        found = cut_as_ours(out, texts)
    else:
        model, source, target = loaded(out)
        found = []
        for text in texts:
            ids = source(text, return_tensors="pt")["input_ids"]
            written = model.generate(ids, num_beams=1, max_new_tokens=ids.shape[1] + 50)
            found.append(target.decode(written[0], skip_special_tokens=True))
    # Two words may be as probable as each other, to rounding: then both go on as they like.
    assert sum(a == b for a, b in zip(found, expected, strict=True)) > 20
    assert any(not hypothesis.ids or hypothesis.ids[-1] != 2 for hypothesis in ended(ours, texts))
    card = (out / "README.md").read_text()
    assert "mine.tsv" in card
    assert "Translator.load" not in card
    assert ("from_pretrained" in card) == (to == "transformers")
    assert ('translate_batch(words, max_batch_size=1024, batch_type="tokens")' in card) == (
        to == "ctranslate2"
    )


def ended(translator, texts):
    from transformer_lab.decoding import greedy

    return greedy(translator.model, *translator.batch([translator.encode(t) for t in texts]))


def test_an_export_replaces_nothing(tmp_path, capsys):
    assert cli.main(["export", "--to", "transformers", "--out", str(tmp_path)]) == 1
    assert "already exists. Choose another --out" in capsys.readouterr().err
    asked = ["export", "--to", "transformers", "--out", str(tmp_path / "a")]
    assert cli.main([*asked, "--quantization", "int8"]) == 1
    assert "--quantization can only be used with --to ctranslate2" in capsys.readouterr().err


ODD = ["  The CAT sleeps ! . ", "Qu'il’s", "the <pad> cat", "a\nb.\n", "l'animal , et ?", "½ 猫"]


@pytest.mark.parametrize("side", ["source_tokenizer", "target_tokenizer"])
def test_words_have_the_same_ids_and_the_same_text(ours, pairs, side):
    plain = getattr(ours, side)
    fast = build_fast_tokenizer(plain)
    assert isinstance(plain, WordTokenizer)
    for text in [*ODD, *(getattr(p, side.split("_")[0]) for p in pairs)]:
        ids = plain.encode(text)
        assert fast.encode(text).ids == [*ids, 2]
        assert fast.decode([1, *ids, 2]) == plain.decode(ids)


def test_pieces_have_the_same_ids_and_the_same_text(pairs):
    plain = BPETokenizer.train([pair.source for pair in pairs], 307)
    fast = build_fast_tokenizer(plain)
    for text in [*ODD, " two  spaces ", *(pair.target for pair in pairs)]:
        ids = plain.encode(text)
        assert fast.encode(text).ids == [*ids, 2]
        assert fast.decode([1, *ids, 2]) == plain.decode(ids)
