"""The card of a model: what it says is what the run, the model and the scores say."""

import importlib.metadata
import json
import re

import pytest
import torch

from transformer_lab.command import main as cli
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.model.size import count_parameters
from transformer_lab.runs.card import (
    CARD,
    MARK,
    data_rows,
    describe_corpus,
    format_section,
    may_write_card,
    model_card,
)
from transformer_lab.runs.evaluation import evaluate
from transformer_lab.runs.run import begin_run, resume_run
from transformer_lab.translator import PRETRAINED, Translator

QUIET = {"device": "cpu", "show_progress": False}


def cells(text, title):
    """The rows of the table under a heading."""
    part = text.split(f"## {title}\n")[1].split("\n## ")[0]
    part = part.replace("\\|", "¦")
    return {
        name: value.replace("¦", "|")
        for name, value in re.findall(r"^\| ([^|-]+?) \| (.+?) \|$", part, re.MULTILINE)
    }


def test_the_command_writes_what_it_prints(tsv, tmp_path, capsys):
    out = tmp_path / "run"
    asked = ["--corpus", str(tsv), "--preset", "tiny", "--device", "cpu", "--max-steps", "2"]
    assert cli.main(["train", *asked, "--seed", "3", "--out", str(out), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    text = (out / CARD).read_text(encoding="utf-8")
    about = json.loads((out / "config.json").read_text())["about"]
    splits = find_corpus(str(tsv)).splits(3)
    data, training, scores = (cells(text, title) for title in ("Data", "Training", "Scores"))
    assert data["corpus"] == "`numbers.tsv`"
    assert str(tmp_path) not in text  # a folder's name is nobody's business
    assert data["fingerprint of the training pairs"] == f"`{about['data']}`"
    counts = [data[f"pairs, {name}"] for name in ("train", "validation", "test")]
    assert counts == [str(len(part)) for part in (splits.train, splits.validation, splits.test)]
    assert (training["steps"], training["seed"], training["stop"]) == ("2", "3", "max_steps")
    assert scores["BLEU"] == f"{printed['bleu']:.1f} (`{printed['bleu_signature']}`)"
    assert scores["chrF"] == f"{printed['chrf']:.1f} (`{printed['chrf_signature']}`)"
    assert scores["test sentences"] == str(printed["sentences"])
    sizes = cells(text, "Sizes")
    model = Translator.load(out, device="cpu").model
    assert sizes["parameters, total"] == f"{count_parameters(model)['total']:,}"
    assert (
        cells(text, "Versions when this was written")["torch"]
        == torch.__version__.partition("+")[0]
    )


@pytest.mark.parametrize("kind", ["hf", "stream"])
def test_a_dataset_of_the_hub_is_named_whole(kind):
    splits = Splits([], [], [], said="7 pairs; left out: 2 bad")
    name = f"{kind}:Helsinki-NLP/opus_books/en-fr@en,fr"
    assert data_rows({"corpus": name}, splits)[:2] == [
        ("corpus", f"`{name}`"),
        ("read", "7 pairs; left out: 2 bad"),
    ]


def test_a_run_that_was_not_scored_says_so_and_a_later_save_writes_anew(tsv, tmp_path, endless):
    begin_run(tmp_path / "run", str(tsv), max_steps=1, **QUIET).train()
    path = tmp_path / "run" / CARD
    assert "None yet." in path.read_text(encoding="utf-8")
    assert cells(path.read_text(encoding="utf-8"), "Training")["steps"] == "1"
    resume_run(tmp_path / "run", max_steps=2, **QUIET).train()
    assert cells(path.read_text(encoding="utf-8"), "Training")["steps"] == "2"


def test_somebody_elses_card_is_left_as_it_is(tsv, tmp_path, endless):
    begin_run(tmp_path / "run", str(tsv), max_steps=1, **QUIET).train()
    path = tmp_path / "run" / CARD
    path.write_text("mine")
    assert not may_write_card(tmp_path / "run")
    resume_run(tmp_path / "run", max_steps=2, **QUIET).train()
    assert path.read_text() == "mine"


def test_a_translator_that_says_nothing_of_itself_has_a_card(tsv):
    translator = Translator.load(PRETRAINED, device="cpu")
    translator.about = {}
    text = model_card(translator, find_corpus(str(tsv)).splits())
    assert text.startswith(MARK)
    assert cells(text, "Data")["corpus"] == "`unknown`"
    assert cells(text, "Training") == {}


def test_a_clone_that_is_not_installed_writes_a_card_too(tsv, monkeypatch):
    def not_found(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr("transformer_lab.runs.card.version", not_found)
    text = model_card(Translator.load(PRETRAINED, device="cpu"), find_corpus(str(tsv)).splits())
    assert "| transformer-lab | not installed |" in text


@pytest.mark.thorough(caught_by=["test_the_command_writes_what_it_prints"])
@pytest.mark.slow
def test_the_shipped_card_is_that_of_the_shipped_model():
    translator, splits = Translator.load(PRETRAINED, device="cpu"), find_corpus("world").splits()
    written = (PRETRAINED / CARD).read_text(encoding="utf-8")
    evaluation = evaluate(translator, splits.test)
    now = model_card(translator, splits, evaluation)
    assert written.split("## Scores")[0] == now.split("## Scores")[0]
    said = {
        name: float(value.split()[0].replace(",", "").rstrip("%"))
        for name, value in cells(written, "Scores").items()
    }
    # Another processor may write another word now and then.
    assert said["BLEU"] == pytest.approx(evaluation.bleu, abs=0.3)
    assert said["exact match"] == pytest.approx(100 * evaluation.exact_match, abs=0.5)
    assert said["test sentences"] == evaluation.sentences


def test_the_name_of_a_file_in_a_zip_is_shown_and_not_obeyed():
    pair = Pair("the cat", "le chat")
    splits = Splits([pair], [pair], [pair], form="two files; source is a\x1b[2J\n|.en")
    assert "source is a\\x1b[2J\\n|.en\n" in describe_corpus("a.zip@en,fr", splits)
    assert format_section("Data", [("form", splits.form)]).endswith(
        "source is a\\x1b[2J\\n\\|.en |"
    )
