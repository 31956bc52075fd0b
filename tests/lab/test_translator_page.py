"""The lab's page as Python writes it: whole, small, and refused where it would not work."""

import base64
import gzip
import html
import json
import re
from dataclasses import replace

import pytest
import tokenizers
import torch

import transformer_lab as tl
from transformer_lab.config import TransformerConfig
from transformer_lab.data.tokenizer import BPETokenizer, WordTokenizer
from transformer_lab.data.world.grammar import world
from transformer_lab.lab import model_data
from transformer_lab.lab.open_lab import lab
from transformer_lab.lab.translator_page import Prompt
from transformer_lab.model import Transformer
from transformer_lab.model.build import build_model
from transformer_lab.translator import Translator

TEXTS = ["the cat sleeps", "a dog runs"]


def make_translator(tokenizer) -> Translator:
    size = tokenizer.vocab_size
    sizes = {"d_model": 12, "d_ff": 31, "num_heads": 3, "num_encoder_layers": 1}
    config = TransformerConfig(
        source_vocab_size=size, target_vocab_size=size, num_decoder_layers=1, **sizes
    )
    torch.manual_seed(3)
    return Translator(Transformer(config), tokenizer, tokenizer)


@pytest.fixture
def translator():
    return make_translator(WordTokenizer.train(TEXTS))


def test_the_page_holds_the_model_in_half_precision(translator, tmp_path):
    path = lab(translator, TEXTS, start="head=e1.2").to_html(tmp_path / "lab.html")
    text = path.read_text(encoding="utf-8")
    (packed,) = re.findall(r'data-of="\w+">(.*?)</script>', text)
    data = json.loads(packed)
    assert data["sentences"] == TEXTS
    assert data["start"] == "head=e1.2"
    assert data["address"] is True  # the page is its own: the address may keep what is open
    translator.save(tmp_path / "half", dtype=torch.float16)
    weights = (tmp_path / "half" / "model.safetensors").read_bytes()
    assert gzip.decompress(base64.b64decode(data["weights"])) == weights
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_a_heading_is_seen_only_if_it_was_asked_for(translator, tmp_path):
    plain = lab(translator, TEXTS).to_html(tmp_path / "plain.html").read_text(encoding="utf-8")
    assert f'<h1 class="unseen">Lab: {TEXTS[0]}</h1>' in plain
    page = lab(translator, TEXTS).to_html(tmp_path / "page.html", title="A & B, <1 hour>")
    text = page.read_text(encoding="utf-8")
    assert "<h1>A &amp; B, &lt;1 hour&gt;</h1>" in text
    assert "<title>A &amp; B, &lt;1 hour&gt;</title>" in text


def test_a_named_head_is_open_unless_the_start_names_another(translator):
    heads = translator.attend(TEXTS[0]).heads("cross")
    assert lab(translator, TEXTS, names={heads[1]: "follows"}).data["start"] == (
        f"head={heads[1].code}"
    )
    start = f"head={heads[0].code}&row=1"
    assert lab(translator, TEXTS, names={heads[1]: "follows"}, start=start).data["start"] == start


@pytest.mark.parametrize(
    "corpus", ["{folder}/mine.tsv", "{folder}/train@de,es", "csv:{folder}/mine.csv", "world"]
)
def test_a_page_does_not_tell_the_folder_that_its_corpus_was_in(translator, tmp_path, corpus):
    about = {"corpus": corpus.format(folder=tmp_path), "steps": 7}
    named = Translator(translator.model, *translator.tokenizers, about)
    data = lab(named, TEXTS).data
    assert data["config"]["about"] == {"corpus": corpus.replace("{folder}/", ""), "steps": 7}
    assert str(tmp_path) not in lab(named, TEXTS).to_html(tmp_path / "a.html").read_text("utf-8")
    assert named.about["corpus"] == about["corpus"], "the translator itself still knows it"


def test_heads_that_align_are_named_without_gold_links():
    """On the shipped translator, the statistical aligner names them as the grammar's links do."""
    pairs = [
        (pair.source, pair.target, pair.alignment) for pair in world(train=400, seed=5).test[:60]
    ]
    named = [
        lab(tl.Translator.load(), "the cat sleeps", examples=examples).data["names"]
        for examples in ([pair[:2] for pair in pairs], pairs)
    ]
    for names in named:
        assert names["c2.4"] == "translates word for word"
    same = [name == named[1][code] for code, name in named[0].items()]
    assert sum(same) >= len(same) - 1  # a head at the threshold may go either way


def test_positions_that_the_page_cannot_compute_are_refused(translator, monkeypatch):
    monkeypatch.setattr("transformer_lab.lab.model_data.POSITIONS", ("learned",))
    with pytest.raises(
        ValueError,
        match=r"positions is 'sinusoidal'; expected 'learned' for a model that runs in the page",
    ):
        lab(translator, TEXTS)


def test_a_decoder_that_the_page_cannot_run_is_refused(translator):
    recurrent = replace(translator.model.config, recurrent_decoder=True)
    changed = Translator(build_model(recurrent), *translator.tokenizers)
    with pytest.raises(ValueError, match="recurrent_decoder is True; expected a decoder with self"):
        lab(changed, TEXTS)


def test_one_sentence_may_be_given_as_it_is_and_never_ends_the_script(translator, tmp_path):
    hostile = "the </script><b>cat</b> sleeps"
    text = lab(translator, hostile).to_html(tmp_path / "lab.html").read_text(encoding="utf-8")
    assert hostile not in text
    assert text.count("</script>") == 2


def test_a_file_that_is_there_stays(translator, tmp_path):
    path = tmp_path / "lab.html"
    path.write_text("mine")
    with pytest.raises(
        ValueError, match=r"lab.html already exists. Choose another name, or .* overwrite"
    ):
        lab(translator, TEXTS).to_html(path)
    assert path.read_text() == "mine"
    assert lab(translator, TEXTS).to_html(path, overwrite=True).read_text() != "mine"


def test_another_model_needs_a_name_of_its_own(translator):
    for name in ("", "an untrained model"):
        with pytest.raises(
            ValueError, match=rf"others contains the name '{name}', which the page already uses"
        ):
            lab(translator, TEXTS, others={name: translator})


def test_what_would_not_work_is_refused(translator, monkeypatch):
    with pytest.raises(ValueError, match=r"sentences is \[\]; expected at least one"):
        lab(translator, [])
    with pytest.raises(ValueError, match=r"the model knows none of its words"):
        lab(translator, ["the cat", "xyz"])
    with pytest.raises(ValueError, match=r"the model knows none of its words"):
        lab(translator, TEXTS, examples=[("xyz", "le chat")])
    with pytest.raises(ValueError, match=r"start has the field 'hed'; expected only 'a-"):
        lab(translator, TEXTS, start="hed=e1.2&mute=e1.1")
    with pytest.raises(ValueError, match=r"goal has the field 'muted'; expected only "):
        lab(translator, TEXTS, prompts=[Prompt("Mute it.", "muted=e1.1", "Done.")])
    for address in ("mute=e1.4", "head=e2.1", "point=x:0:1", "a-mute=c1.1,d9.1", "tested=e0.1"):
        with pytest.raises(
            ValueError,
            match=r"goal refers to .+, but the model has no such head; its last heads are e1.3, d1.3",
        ):
            lab(translator, TEXTS, prompts=[Prompt("Mute it.", address, "Done.")])
    with pytest.raises(ValueError, match=r"start refers to e7.1, but the model has no such head"):
        lab(translator, TEXTS, start="head=e7.1")
    fits = Prompt("Mute it.", "s=&mute=e1.3,c1.1&point=d1.2:0:0&tested=", "Done.")
    assert lab(translator, TEXTS, prompts=[fits]).data["prompts"][0]["goal"] == fits.goal


def test_a_model_or_tokenizer_that_a_page_cannot_run_is_sent_to_the_live_widget(
    translator, monkeypatch
):
    pieces = BPETokenizer.train(TEXTS, vocab_size=260 + 7)
    assert lab(make_translator(pieces), TEXTS).data["languages"] == ["source", "target"]
    pieces.tokenizer.normalizer = tokenizers.normalizers.NFKC()
    expected = r"the source tokenizer has unsupported settings for 'normalizer'; .* kernel=True"
    with pytest.raises(ValueError, match=expected):
        lab(make_translator(pieces), TEXTS)
    monkeypatch.setattr(WordTokenizer, "to_json", lambda _: '{"kind": "sentencepiece"}')
    expected = r"kind of the source tokenizer is 'sentencepiece'; .* kernel=True"
    with pytest.raises(ValueError, match=expected):
        lab(translator, TEXTS)
    monkeypatch.setattr(model_data, "MOST_PARAMETERS", 1_000)
    expected = r"has [\d,]+ parameters; expected at most 1,000 for a model that runs .* kernel=True"
    with pytest.raises(ValueError, match=expected):
        lab(translator, TEXTS)
    # What the refusal names is there, and takes this model.
    assert tl.lab(translator, TEXTS[0], kernel=True).record.source_tokens[0] == "the"


def test_the_languages_are_those_of_the_corpus_or_as_they_are_given(translator):
    assert lab(translator, TEXTS).data["languages"] == ["source", "target"]
    for corpus, expected in (
        ("world", ["English", "French"]),
        ("debian:de", ["English", "German"]),
        ("debian:pt_BR", ["English", "pt_BR"]),
        ("/tmp/pairs.tsv", ["source", "target"]),
    ):
        translator.about["corpus"] = corpus
        assert lab(translator, TEXTS).data["languages"] == expected
    given = lab(translator, TEXTS, languages=("Low", "High"))
    assert given.data["languages"] == ["Low", "High"]


def test_in_a_notebook_it_is_a_picture_with_words_and_the_script_that_replaces_it(translator):
    data = lab(translator, TEXTS)._repr_mimebundle_()
    assert "The lab" in data["text/plain"]
    assert f'<img alt="{html.escape(data["text/plain"])}"' in data["text/html"]
    assert 'src="data:image/webp;base64,' in data["text/html"]
    (packed,) = re.findall(r'data-of="\w+">(.*?)</script>', data["text/html"])
    assert "address" not in json.loads(packed)  # the notebook's address is not the lab's
    assert data["text/html"].count("</script>") == 2
