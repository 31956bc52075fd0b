"""From a translator here to Transformers and to a server of CTranslate2, with the real packages."""

import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest
import torch

from transformer_lab import cli
from transformer_lab.checkpoints import served
from transformer_lab.checkpoints.fast_tokenizer import TARGET, fast_tokenizer
from transformer_lab.checkpoints.served import ServedTranslator, server
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.tokenizer import BPETokenizer, WordTokenizer
from transformer_lab.evaluation.bleu import score
from transformer_lab.translator import PRETRAINED, Translator

pytestmark = pytest.mark.slow

transformers = pytest.importorskip("transformers", exc_type=ImportError)
pytest.importorskip("ctranslate2", exc_type=ImportError)
SENTENCES = 199


@pytest.fixture(scope="module")
def pairs():
    return find_corpus("world").splits().test[:SENTENCES]


@pytest.fixture(scope="module")
def ours():
    return Translator.load(PRETRAINED, device="cpu")


@pytest.fixture(scope="module", params=["float32", "int8"])
def folder(request, tmp_path_factory):
    """The shipped translator for CTranslate2, by the command."""
    out = tmp_path_factory.mktemp("served") / request.param
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


def test_the_server_translates_as_we_do_or_its_difference_is_small(ours, pairs, folder):
    texts, references = [p.source for p in pairs], [p.target for p in pairs]
    expected = [one.translation for one in ours.translate(texts, beam_size=1)]
    found = ServedTranslator(folder).translate(texts, beam_size=1)
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


@pytest.mark.parametrize("to", ["transformers", "ctranslate2"])
def test_what_was_trained_on_a_file_goes_there_too(trained, pairs, tmp_path, to):
    out, texts = tmp_path / to, [pair.source for pair in pairs[:23]]
    assert cli.main(["export", "--to", to, "--model", str(trained), "--out", str(out)]) == 0
    ours = Translator.load(trained, device="cpu")
    assert ours.model.config.norm == "pre"
    expected = [one.translation for one in ours.translate(texts, beam_size=1)]
    if to == "ctranslate2":
        found = ServedTranslator(out).translate(texts, beam_size=1)
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


def ended(translator, texts):
    from transformer_lab.decoding import greedy

    return greedy(translator.model, *translator.batch([translator.encode(t) for t in texts]))


@pytest.fixture
def address(folder):
    with server(ServedTranslator(folder), port=0) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


def post(address, body, path="/translate"):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(address + path, content)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_a_text_and_a_list_are_answered_over_http(address):
    cat = "the cat sleeps"
    status, answer = post(address, {"text": [cat, "the dog sleeps"]})
    assert (status, len(answer["translation"])) == (200, 2)
    assert post(address, {"text": cat}) == (200, {"translation": answer["translation"][:1]})


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "body is no JSON"),
        ([1], 400, "text is 'NoneType'; expected a text or a list of texts"),
        ({"text": [1]}, 400, "text is 'list'; expected a text or a list of texts"),
        ({"text": []}, 400, "text is '0 texts'; expected 1 to 1000"),
        ({"text": ["a"] * 1_001}, 400, "text is '1001 texts'"),
        ({"text": ["the cat sleeps", " . "]}, 400, "text 2 is ' . '; expected at least one word"),
        ({"text": "the cat " * 500}, 400, "text 1 is '1001 tokens long'; expected at most"),
    ],
)
def test_what_is_no_question_is_refused_and_the_server_goes_on(address, body, status, message):
    code, answer = post(address, body)
    assert code == status
    assert message in answer["error"]
    assert post(address, {"text": "the cat sleeps"})[0] == 200


def test_too_large_a_request_and_another_path_are_refused(address, monkeypatch):
    assert post(address, {"text": "a"}, "/")[0] == 404
    monkeypatch.setattr(served, "LARGEST", 20)
    assert post(address, {"text": "the cat sleeps"})[0] == 413


def test_the_command_serves_until_it_is_interrupted(folder):
    command = [sys.executable, "-m", "transformer_lab", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            where = re.match(r"(http://\S+)/translate answers", process.stdout.readline())[1]
            assert post(where, {"text": "the cat sleeps"})[0] == 200
        finally:
            process.send_signal(2)
        assert process.wait(30) == 0


@pytest.mark.parametrize("fault", ["nothing", "half"])
def test_a_folder_that_cannot_be_served_is_one_line(folder, tmp_path, capsys, fault):
    if fault == "half":
        (tmp_path / "model.bin").write_bytes((folder / "model.bin").read_bytes()[:1000])
    assert cli.main(["serve", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "cannot be served" in said
    assert "expected the folder that `export --to ctranslate2` wrote" in said


def test_an_export_replaces_nothing(tmp_path, capsys):
    assert cli.main(["export", "--to", "transformers", "--out", str(tmp_path)]) == 1
    assert "expected a folder that does not exist yet" in capsys.readouterr().err
    asked = ["export", "--to", "transformers", "--out", str(tmp_path / "a")]
    assert cli.main([*asked, "--quantization", "int8"]) == 1
    assert "--quantization is 'int8'" in capsys.readouterr().err


ODD = ["  The CAT sleeps ! . ", "Qu'il’s", "the <pad> cat", "a\nb.\n", "l'animal , et ?", "½ 猫"]


@pytest.mark.parametrize("side", ["source_tokenizer", "target_tokenizer"])
def test_words_have_the_same_ids_and_the_same_text(ours, pairs, side):
    plain = getattr(ours, side)
    fast = fast_tokenizer(plain)
    assert isinstance(plain, WordTokenizer)
    for text in [*ODD, *(getattr(p, side.split("_")[0]) for p in pairs)]:
        ids = plain.encode(text)
        assert fast.encode(text).ids == [*ids, 2]
        assert fast.decode([1, *ids, 2]) == plain.decode(ids)


def test_pieces_have_the_same_ids_and_the_same_text(pairs):
    plain = BPETokenizer.train([pair.source for pair in pairs], 307)
    fast = fast_tokenizer(plain)
    for text in [*ODD, " two  spaces ", *(pair.target for pair in pairs)]:
        ids = plain.encode(text)
        assert fast.encode(text).ids == [*ids, 2]
        assert fast.decode([1, *ids, 2]) == plain.decode(ids)
