"""The bench's page as Python writes it: whole, small, and refused where it would not work."""

import base64
import gzip
import json
import re

import pytest
import torch

from transformer_lab.config import TransformerConfig
from transformer_lab.data.tokenizer import BPETokenizer, WordTokenizer
from transformer_lab.model import Transformer
from transformer_lab.translator import Translator
from transformer_lab.viz import bench as module
from transformer_lab.viz.bench import bench, bench_data

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
    path = bench(translator, tmp_path / "lab.html", TEXTS, start="head=e1.2")
    text = path.read_text(encoding="utf-8")
    (packed,) = re.findall(r'id="bench-data">(.*?)</script>', text)
    data = json.loads(packed)
    assert data["sentences"] == TEXTS
    assert data["start"] == "head=e1.2"
    translator.save(tmp_path / "half", dtype=torch.float16)
    weights = (tmp_path / "half" / "model.safetensors").read_bytes()
    assert gzip.decompress(base64.b64decode(data["weights"])) == weights
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_one_sentence_may_be_given_as_it_is_and_never_ends_the_script(translator, tmp_path):
    hostile = "the </script><b>cat</b> sleeps"
    text = bench(translator, tmp_path / "lab.html", hostile).read_text(encoding="utf-8")
    assert hostile not in text
    assert text.count("</script>") == 2


def test_a_file_that_is_there_stays(translator, tmp_path):
    path = tmp_path / "lab.html"
    path.write_text("mine")
    with pytest.raises(ValueError, match=r"lab.html exists; expected a new file, or overwrite"):
        bench(translator, path, TEXTS)
    assert path.read_text() == "mine"
    assert bench(translator, path, TEXTS, overwrite=True).read_text() != "mine"


def test_what_would_not_work_is_refused(translator, monkeypatch):
    with pytest.raises(ValueError, match=r"sentences is \[\]; expected at least one"):
        bench_data(translator, [])
    with pytest.raises(ValueError, match=r"expected at least one word of the vocabulary"):
        bench_data(translator, ["the cat", "xyz"])
    pieces = make_translator(BPETokenizer.train(TEXTS, vocab_size=260 + 7))
    expected = r"kind of source tokenizer is 'bpe'; expected 'word' in a page; AttentionExplorer"
    with pytest.raises(ValueError, match=expected):
        bench_data(pieces, TEXTS)
    monkeypatch.setattr(module, "MOST_PARAMETERS", 1_000)
    expected = (
        r"number of parameters is [\d,]+; expected at most 1,000 in a page; AttentionExplorer"
    )
    with pytest.raises(ValueError, match=expected):
        bench_data(translator, TEXTS)
