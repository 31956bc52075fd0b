"""The bench in a browser: what it says is what Python's model says, muted and pointed too."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from transformer_lab.attention_record import Head
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.translator import Translator
from transformer_lab.viz.bench import bench

TIRED, WIDE = (pair.source for pair in FAMOUS)
WHO = FAMOUS[0].coreference
STEP = WHO.target_pronoun
START = f"head=e2.1&row={WHO.decider}&step={STEP}"


@pytest.fixture(scope="module")
def shipped():
    return Translator.load(device="cpu")


@pytest.fixture(scope="module")
def lab_page(shipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "lab.html"
    return bench(shipped, path, [TIRED, WIDE], start=START)


@pytest.fixture
def page(visit_page, lab_page):
    """The bench, open; at its end no request, and no error, may have been."""
    return visit_page(lab_page).page


def stakes(page) -> str:
    return page.locator(".stakes").inner_text()


def test_the_engine_is_there_for_anyone(page, shipped):
    ask = """async (given) => {
        const { translation, probabilities } = await transformerLab.translate(...given);
        return [translation, probabilities.map((step) => Math.max(...step))];
    }"""
    for options, mute in (({}, []), ({"mute": ["e2.1"]}, [Head("encoder", 1, 0)])):
        translation, best = page.evaluate(ask, [WIDE, options])
        record = shipped.attend(WIDE, mute=mute)
        ids = [shipped.target_tokenizer.ids[word] for word in record.written_tokens]
        assert translation == shipped.target_tokenizer.decode(ids)
        expected = [step[0][1] for step in record.next_tokens]
        np.testing.assert_allclose(best, expected, atol=1e-4)
    beam, _ = page.evaluate(ask, [WIDE, {"beam": 4}])
    assert beam == shipped.translate(WIDE, beam_size=4)[0].translation


def test_muting_says_before_and_after_as_python_does(page, shipped):
    assert "il" in stakes(page)
    assert "→" not in stakes(page)
    page.get_by_role("button", name=re.compile("Set this head's output to 0")).click()
    expect(page.locator(".stakes")).to_contain_text("→")
    written = FAMOUS[0].target
    own = shipped.attend(TIRED, written, top=633)
    muted = shipped.attend(TIRED, written, mute=[Head("encoder", 1, 0)], top=633)
    said = {
        word: (float(was), float(now))
        for word, was, now in re.findall(r"(il|elle) ([\d.]+) → ([\d.]+)", stakes(page))
    }
    assert "il" in said
    for word, (was, now) in said.items():
        assert was == pytest.approx(dict(own.next_tokens[STEP])[word], abs=6e-4)
        assert now == pytest.approx(dict(muted.next_tokens[STEP])[word], abs=6e-4)
    page.get_by_role("button", name="Undo every change").click()
    expect(page.locator(".stakes")).not_to_contain_text("→")


def test_a_pointed_row_changes_the_pronoun_as_in_python(page, shipped):
    cell = page.locator(f"td[data-row='{WHO.decider}'][data-key='{WHO.other}']")
    cell.click()
    page.get_by_role("button", name=re.compile("look only at “street”")).click()
    head = Head("encoder", 1, 0)
    rows = shipped.attend(TIRED).weights(head).copy()
    rows[WHO.decider] = 0
    rows[WHO.decider, WHO.other] = 1
    expected = shipped.attend(TIRED, patch={head: rows}).written_tokens
    assert "elle" in expected
    expect(page.locator(".stakes b")).to_have_text(" ".join(expected))
    expect(cell).to_have_text("1.00")
    page.get_by_role("button", name="Own weights again", exact=True).click()
    expect(page.locator(".stakes")).not_to_contain_text("→")


def test_every_number_of_the_chosen_row_is_there_and_adds_up(page, shipped):
    record = shipped.attend(TIRED)
    row = record.weights(Head("encoder", 1, 0))[WHO.decider]
    lines = page.locator(".scores tbody tr")
    expect(lines).to_have_count(len(record.source_tokens))
    scores = []
    for line, token, weight in zip(lines.all(), record.source_tokens, row, strict=True):
        name, product, score, softmax = line.locator("th, td").all_inner_texts()[:4]
        assert name == token
        product, score, softmax = (float(x.replace("−", "-")) for x in (product, score, softmax))
        assert product / np.sqrt(32) == pytest.approx(score, abs=0.02)
        assert softmax == pytest.approx(weight, abs=6e-4)
        scores.append(score)
    again = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(again, row, atol=0.01)


def test_the_address_keeps_what_is_seen(page, visit_page, lab_page):
    page.get_by_role("button", name="wide", exact=True).click()
    page.locator("[data-control='head c2.2']").click()
    page.locator("td[data-row='3'][data-key='5']").click()
    page.keyboard.press("m")
    page.locator("td[data-row='3'][data-key='5']").click()
    page.keyboard.press("Enter")
    seen = "[...document.querySelectorAll('.stakes, .where h2, .changes, .how')].map((e) => e.innerText)"
    here, address = page.evaluate(seen), page.evaluate("location.hash")
    assert "c2.2" in address
    assert "mute=" in address
    assert "point=" in address
    page.evaluate("location.hash = ''")
    page.get_by_role("button", name="tired", exact=True).click()
    page.evaluate("(address) => { location.hash = address; }", address)
    expect(page.locator(".where h2")).to_contain_text("c2.2")
    assert page.evaluate(seen) == here
    for nonsense in ("#head=e9.9&row=999&mute=x,e2.1&point=e2.1:77:1,e2.1&step=-4", "#%%%"):
        page.evaluate("(address) => { location.hash = address; }", nonsense)
    expect(page.locator(".where h2")).to_contain_text("c2.2")


def test_the_keyboard_alone_is_enough(page):
    head = page.locator("[data-control='head e2.1']")
    head.focus()
    page.keyboard.press("m")
    expect(head).to_have_class(re.compile("muted"))
    expect(head).to_be_focused()
    page.locator(".weights").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator("td.chosen")).to_have_attribute("data-row", str(WHO.decider + 1))
    expect(page.locator(".weights")).to_be_focused()


def test_an_unknown_word_is_struck_and_its_neighbours_are_offered(page):
    sentence = page.get_by_role("textbox")
    sentence.fill("the anmal sleeps")
    sentence.press("Enter")
    expect(page.locator(".read s")).to_have_text("<unk>")
    page.get_by_role("button", name="Write animal in place of anmal").click()
    expect(page.locator(".read s")).to_have_count(0)
    expect(page.locator(".written")).to_contain_text("animal")
    sentence.fill("qqqq")
    sentence.press("Enter")
    expect(page.locator(".problem")).to_contain_text("no word of the vocabulary")
    sentence.fill("the cat sleeps")
    sentence.press("Enter")
    expect(page.locator(".problem")).to_be_hidden()


def test_the_dots_say_what_each_head_costs(page, shipped):
    dot = page.locator("[data-control='head e2.1']")
    expect(dot).to_have_attribute("title", re.compile(r"effect if muted 0\.\d\d"))
    record = shipped.attend(TIRED)
    text = FAMOUS[0].target
    muted = shipped.attend(TIRED, text, mute=[Head("encoder", 1, 0)], top=633)
    losses = [
        dict(own)[word] - dict(other)[word]
        for word, own, other in zip(
            record.written_tokens, record.next_tokens, muted.next_tokens, strict=True
        )
    ]
    (said,) = re.findall(r"muted (\d\.\d\d)", dot.get_attribute("title"))
    assert float(said) == pytest.approx(max(losses), abs=0.006)


@pytest.mark.parametrize("width", [390, 736, 1280])
def test_nothing_is_wider_than_the_screen(visit_page, lab_page, width):
    page = visit_page(lab_page, viewport={"width": width, "height": 800}).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
