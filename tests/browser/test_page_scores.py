"""The scores of heads over many sentences, beside a model that has learnt nothing."""

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from tests.browser.screen import serious
from tests.browser.test_page_engine import open_engine
from tests.records import make_record
from tests.thorough import thorough_from
from transformer_lab.attention.record import KINDS, AttentionRecord, Head
from transformer_lab.attention.scores import SCORES, mean_over_records
from transformer_lab.lab.guide import famous_guide
from transformer_lab.lab.open_lab import lab
from transformer_lab.lab.translator_page import Example
from transformer_lab.model import Transformer
from transformer_lab.translator import PRETRAINED, Translator

EXAMPLES = famous_guide()["examples"][:12]


ON_BENCH = {score.name: score for score in SCORES if score.needs != "referent"}
"""The scores of the one table, except the one that needs what the lab's examples do not tell."""


@pytest.fixture(scope="module")
def shipped():
    return Translator.load(device="cpu")


@pytest.fixture(scope="module")
def records(shipped) -> list[AttentionRecord]:
    return [shipped.attend(e.source, e.target, alignment=e.alignment) for e in EXAMPLES]


@pytest.fixture(scope="module")
def lab_page(shipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "lab.html"
    return lab(shipped, EXAMPLES[0].source, examples=EXAMPLES).to_html(path)


@pytest.fixture
def page(visit_page, lab_page):
    return visit_page(lab_page).page


def short(head: Head) -> str:
    return f"{head.kind[0]}{head.layer + 1}.{head.head + 1}"


def test_javascript_has_a_formula_for_each_score_of_the_table(ask):
    formulas = ask("lab/head_scores.js", "({ FORMULAS }) => Object.keys(FORMULAS)")
    assert set(formulas) == set(ON_BENCH)


def test_no_score_has_the_name_of_another_colour_of_the_heads(ask):
    others = ask("lab/all_heads.js", "({ WAYS }) => Object.keys(WAYS)")
    assert len(others) > 1
    assert set(others).isdisjoint(score.name for score in SCORES)


@pytest.mark.parametrize("name", ON_BENCH)
def test_measure_gives_pythons_number(ask, name):
    links = ((0, 0), (1, 1), (4, 3), (2, 3))
    record = make_record(alignment=links)
    measured = """({ FORMULAS }, [name, maps, links]) =>
        maps.map((map) => FORMULAS[name](map, links))"""
    for kind in ON_BENCH[name].kinds:
        heads = record.heads(kind)
        maps = [record.weights(head).tolist() for head in heads]
        found = ask("lab/head_scores.js", measured, [name, maps, links])
        assert found == pytest.approx([ON_BENCH[name].compute(record, head) for head in heads])


@pytest.mark.parametrize("name", ["previous_token", "first_token"])
def test_a_map_of_one_row_has_no_such_score(ask, name):
    measured = "({ FORMULAS }, name) => Number.isNaN(FORMULAS[name]([[1]]))"
    assert ask("lab/head_scores.js", measured, name)


@pytest.mark.parametrize(("best", "expected"), [("low", [0.75, 0]), ("high", [0.25, 1])])
def test_the_better_end_is_the_darker(ask, best, expected):
    darkness = (
        "({ scaleToBest }, best) => [0.5, 2].map((value) => scaleToBest(value, [0.5, 2], best))"
    )
    assert ask("ranking.js", darkness, best) == expected


@pytest.mark.parametrize("name", thorough_from(2, ON_BENCH))
def test_a_score_is_pythons_mean_over_the_same_sentences(page, records, name):
    _, label, _, means, score, kinds, _ = ON_BENCH[name]
    page.locator(".more > summary").click()
    page.get_by_label("What the heads show").select_option(name)
    note = page.locator(".all-heads > .note")
    expect(note).to_contain_text("in an untrained model of this shape")
    expect(note).to_contain_text(f"{label}: {means}")
    for kind in KINDS:
        for head in records[0].heads(kind):
            title = page.locator(f"[data-control='head {short(head)}']").get_attribute("title")
            said = re.search(rf"{label} (\d\.\d+), untrained (\d+\.\d+)", title)
            assert (said is not None) == (kind in kinds)
        if kind in kinds:
            expected = mean_over_records(score, records, kind)
            for head, value in expected.items():
                title = page.locator(f"[data-control='head {short(head)}']").get_attribute("title")
                assert f"{label} {value:.2f}" in title or f"{label} {value - 0.004:.2f}" in title
            low, high = min(expected.values()), max(expected.values())
            ranges = re.findall(r"([\d.]+) to ([\d.]+), untrained", note.inner_text())
            assert [low, high] in [
                pytest.approx([float(a), float(b)], abs=0.006) for a, b in ranges
            ]


@pytest.mark.thorough(
    caught_by=[
        "test_untrained_parameters_are_drawn_as_python_draws_them",
        "test_a_score_is_pythons_mean_over_the_same_sentences",
    ]
)
def test_an_untrained_head_has_the_scores_of_pythons_untrained_heads(page, shipped):
    previous = ON_BENCH["previous_token"].compute
    page.locator(".more > summary").click()
    page.get_by_label("What the heads show").select_option("previous_token")
    note = page.locator(".all-heads > .note")
    expect(note).to_contain_text("in an untrained model of this shape")
    (encoder, decoder) = re.findall(r"untrained (\d\.\d+) to (\d\.\d+)", note.inner_text())
    found = {"encoder": [], "decoder": []}
    for seed in range(3):
        torch.manual_seed(seed)
        model = Transformer(shipped.model.config)
        blank = Translator(model, *shipped.tokenizers)
        records = [blank.attend(e.source, e.target) for e in EXAMPLES]
        for kind, values in found.items():
            values += mean_over_records(previous, records, kind).values()
    for kind, said in (("encoder", encoder), ("decoder", decoder)):
        low, high = map(float, said)
        # Eight heads of one seed lie about where those of three others lie.
        assert low == pytest.approx(min(found[kind]), abs=0.05)
        assert high == pytest.approx(max(found[kind]), abs=0.08)
        assert high < 0.33  # a trained head of this model reaches more


def test_untrained_parameters_are_drawn_as_python_draws_them(ask, shipped):
    open_engine(ask, PRETRAINED)
    drawn = """() => {
        const { tensors } = globalThis.engines.model.makeUntrained(3).model;
        const again = globalThis.engines.model.makeUntrained(3).model.tensors;
        const other = globalThis.engines.model.makeUntrained(4).model.tensors;
        const numbers = (tensor) => (ArrayBuffer.isView(tensor) ? [...tensor] : [...tensor.values]);
        const first = (tensors) => tensors["source_embedding.weight"].values[0];
        const facts = Object.entries(tensors).map(([name, tensor]) => {
            const values = numbers(tensor);
            const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
            const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
            return [name, [mean, Math.sqrt(square), Math.max(...values.map(Math.abs)), values.length]];
        });
        return [facts, first(tensors) === first(again), first(tensors) === first(other)];
    }"""
    facts, same, different = ask("engine/engine.js", drawn)
    assert same
    assert not different
    torch.manual_seed(0)
    fresh = dict(Transformer(shipped.model.config).named_parameters())
    assert len(facts) > 40
    for name, (mean, deviation, most, count) in facts:
        tensor = fresh[name].detach()
        assert count == tensor.numel()
        margin = 5 * tensor.std().item() / np.sqrt(count)
        assert mean == pytest.approx(tensor.mean().item(), abs=2 * margin + 1e-9), name
        assert deviation == pytest.approx(tensor.std().item(), rel=0.03, abs=1e-9), name
        assert most == pytest.approx(tensor.abs().max().item(), rel=0.35, abs=1e-9), name


def test_sentences_without_gold_links_have_no_score_by_them(visit_page, shipped, tmp_path):
    examples = [EXAMPLES[0], Example(EXAMPLES[1].source, EXAMPLES[1].target)]
    path = lab(shipped, EXAMPLES[0].source, examples=examples).to_html(tmp_path / "lab.html")
    page = visit_page(path).page
    options = (
        page.get_by_label("What the heads show").locator("optgroup option").all_text_contents()
    )
    assert options == [score.label for score in ON_BENCH.values() if score.needs is None]


def test_gold_links_that_lead_nowhere_are_named(shipped):
    for link in ((0, 99), (99, 0), (-1, 0)):
        bad = EXAMPLES[0]._replace(alignment=[(0, 0), link])
        with pytest.raises(ValueError, match=rf"alignment is \[\({link[0]}, {link[1]}\)\]"):
            lab(shipped, EXAMPLES[0].source, examples=[bad])
    with pytest.raises(ValueError, match=r"alignment is \(\); expected at least one"):
        lab(shipped, EXAMPLES[0].source, examples=[EXAMPLES[0]._replace(alignment=())])


@pytest.mark.parametrize("theme", thorough_from(1, ["light", "dark"]))
def test_an_accessibility_checker_finds_nothing_serious_beside_scores(visit_page, lab_page, theme):
    page = visit_page(lab_page, color_scheme=theme).page
    page.locator(".more > summary").click()
    page.get_by_label("What the heads show").select_option("aer")
    expect(page.locator(".all-heads > .note")).to_contain_text(
        "in an untrained model of this shape"
    )
    assert serious(page) == []
