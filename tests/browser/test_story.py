"""The first page tells the truth: what it shows is what the model does, whichever way one reads it."""

import json
import re
import sys
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.screen import serious
from tests.thorough import thorough_from
from tools.build_notebooks import ROOT
from transformer_lab.attention.record import Head
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.lab.guide import unseen_pronouns
from transformer_lab.translator import Translator

sys.path.insert(0, str(ROOT / "docs"))
import story
from story_answers import FINDER, READERS

THICKEST = 7  # CSS pixels of a weight of 1, as in wires.js
BEFORE_MODEL = 150_000  # bytes
SMALLEST = 14  # CSS pixels of a letter
PHONE = {"width": 390, "height": 664}
WORDS_UNDER_LINES = """() => [...document.querySelectorAll('.wires path')].flatMap((path) => {
    if (!path.checkVisibility({ visibilityProperty: true })) return [];
    const words = [...document.querySelectorAll('.side .word')];
    const { left, top } = path.ownerSVGElement.getBoundingClientRect();
    const half = path.getAttribute('stroke-width') / 2;
    const isUnder = (word, { x, y }) => {
        const box = word.getBoundingClientRect();
        return x + left + half > box.left && x + left - half < box.right
            && y + top + half > box.top && y + top - half < box.bottom;
    };
    return Array.from({ length: 41 }, (_, i) => path.getPointAtLength(path.getTotalLength() * i / 40))
        .flatMap((point) => words.filter((word) => isUnder(word, point)).map((word) => word.textContent));
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The page and the file of its model, in a folder of their own."""
    made = tmp_path_factory.mktemp("story")
    (made / "_static").mkdir()
    (made / "_static" / "icon.svg").write_bytes((ROOT / "docs/_static/icon.svg").read_bytes())
    story.write_story(made, repository="https://example.org/", address="https://example.org/")
    return made


@pytest.fixture
def tell(browser, folder):
    """Open the story at a moment, from the disk; no error may come, and no other file be asked for."""
    contexts, errors, asked = [], [], []

    def tell(moment="", **options):
        wait = options.pop("wait", options.get("java_script_enabled", True))
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | options)
        contexts.append(context)
        page = context.new_page()
        page.asked = asked
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: m.type == "error" and errors.append(m.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto((folder / "index.html").as_uri() + moment, wait_until="commit")
        if wait:
            expect(page.locator("html")).to_have_attribute("data-ready", "true")
        return page

    tell.errors = errors
    yield tell
    assert errors == []
    own = folder.as_uri()
    assert [url for url in asked if not url.startswith((own, "data:"))] == []
    for context in contexts:
        context.close()


def record_of(shipped: Translator, pair, *, is_cut=False):
    mute = [FINDER] if is_cut else []
    return shipped.attend(pair.source, mute=mute, top=shipped.target_tokenizer.vocab_size)


def chance(record, word):
    """The probability of a word at the step that writes the pronoun."""
    step = next(i for i, one in enumerate(record.written_tokens) if one in ("il", "elle"))
    return dict(record.next_tokens[step])[word]


def weight_of(page, name):
    """The weight that a line shows, once it has stopped."""
    line = page.locator(f".wires [data-name='{name}']")
    page.wait_for_timeout(700)
    return float(line.get_attribute("stroke-width")) / THICKEST


def heights(page, name):
    """Where a line begins and ends, from the top."""
    numbers = page.locator(f".wires [data-name='{name}']").get_attribute("d")
    found = [float(n) for n in re.findall(r"-?[\d.]+", numbers)]
    return found[1], found[7]


def row_height(page, side, place):
    """The middle of a word in its column, from the top of the scene."""
    return page.locator(f".{side} li").nth(place).evaluate("e => e.offsetTop + e.offsetHeight / 2")


def test_a_flipped_word_flips_the_pronoun_and_moves_the_lines_to_the_measured_weights(
    tell, shipped
):
    page = tell("#screen=3")
    for pair in FAMOUS:
        who, record = pair.coreference, record_of(shipped, pair)
        written = list(record.written_tokens[:-1])
        expect(page.locator(".target li")).to_have_text(written)
        finder = record.encoder[FINDER.layer][FINDER.head, who.decider]
        assert weight_of(page, "wire") == pytest.approx(finder[who.referent], abs=1e-3)
        assert heights(page, "wire") == pytest.approx(
            (row_height(page, "source", who.decider), row_height(page, "source", who.referent)),
            abs=1,
        )
        for place, head in enumerate(READERS):
            weights = record.cross[head.layer][head.head, who.target_pronoun]
            assert weight_of(page, f"read {place}") == pytest.approx(weights[who.decider], abs=1e-3)
            ends = heights(page, f"read {place}")
            rows = row_height(page, "source", who.decider), row_height(page, "target", 10)
            assert ends == pytest.approx(rows, abs=6)
        page.locator(".flip").press("Enter")
    assert FAMOUS[0].target.split("'")[-1][:2] == "il"  # and the loop has seen both


def test_what_is_said_of_the_heads_that_look_at_the_pronoun_was_measured(tell, shipped):
    page = tell("#screen=3")
    page.get_by_role("button", name="Does nothing look at it?").click()
    pair = FAMOUS[0]
    who, layer = pair.coreference, READERS[0].layer
    weights = record_of(shipped, pair).cross[layer][:, who.target_pronoun, who.pronoun]
    others = [Head("cross", layer, head) for head, weight in enumerate(weights) if weight > 0.5]
    expect(page.locator(".wires .other")).to_have_count(len(others))
    for name, heads in (("others", others), ("readers", READERS)):
        left = chance(shipped.attend(pair.source, pair.target, mute=heads, top=633), "il")
        expect(page.locator(f"[data-left={name}]")).to_have_text(f"{left:.2f}")


@pytest.mark.parametrize("number", [0, 1])
def test_the_bars_before_and_after_the_cut_are_the_models(tell, shipped, number):
    pair = FAMOUS[number]
    page = tell(f"#screen=4&word={story.decider_of(pair)}")
    before, after = (record_of(shipped, pair, is_cut=cut) for cut in (False, True))
    page.locator(".guess", has_text="elle").click()
    bars = page.locator(".bar-fill")
    expect(bars).to_have_count(4)
    shown = [
        float(one) for one in bars.evaluate_all("all => all.map(e => parseFloat(e.style.width))")
    ]
    expected = [chance(record, word) for record in (before, after) for word in ("il", "elle")]
    assert [one / 100 for one in shown] == pytest.approx(expected, abs=1e-3)
    expect(page.locator(".bars h3").last).to_have_text("after it (you guessed elle)")
    expect(page.locator(".bar-row b")).to_have_text([f"{one:.2f}" for one in expected])
    expect(page.locator(".target li")).to_have_text(list(after.written_tokens[:-1]))
    changed = before.written_tokens[10] != after.written_tokens[10]
    said = "guesses wrong" if changed else "still writes"
    expect(page.locator(".captions .shown").first).to_contain_text(said)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".target li")).to_have_text(list(before.written_tokens[:-1]))


def test_the_stored_answers_are_the_engines_to_a_thousandth(tell, folder):
    """Without the file of the model the page shows what it has, and says so."""
    page = tell("#screen=4&cut=1")
    computed = page.locator(".bar-fill").evaluate_all(
        "all => all.map(e => parseFloat(e.style.width))"
    )
    model = folder / story.MODEL
    hidden = model.rename(model.with_suffix(".away"))
    try:
        page = tell("#screen=4&cut=1", wait=False)
        expect(page.locator(".model-status")).to_contain_text("stored answers")
        stored = page.locator(".bar-fill").evaluate_all(
            "all => all.map(e => parseFloat(e.style.width))"
        )
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".target .query")).to_have_text("il")
    finally:
        hidden.rename(model)
    assert stored == pytest.approx(computed, abs=0.1)  # of 100
    tell.errors.clear()  # the browser's own word that there's no such file


def test_of_a_hundred_sentences_as_many_are_right_as_in_python(tell, shipped):
    examples = unseen_pronouns()
    page = tell("#screen=5&cut=1")
    grid = page.locator(".dots")
    right = {}
    for name, mute in (("whole", []), ("cut", [FINDER])):
        records = (shipped.attend(one.source, mute=mute) for one in examples)
        right[name] = [
            list(record.written_tokens[:-1])
            == shipped.target_tokenizer.tokens(shipped.target_tokenizer.encode(one.target))
            for record, one in zip(records, examples, strict=True)
        ]
    expect(grid).to_have_attribute("data-counted", str(sum(right["cut"])))
    kinds = page.locator(".dot").evaluate_all("all => all.map(e => e.dataset.is)")
    assert kinds == ["right" if one else "wrong" for one in right["cut"]]
    said = page.locator(".captions .shown")
    expect(said).to_contain_text(f"With the wire, {sum(right['whole'])} of {len(examples)}")
    expect(said).to_contain_text(f"without it {sum(right['cut'])} are")
    told = page.locator(".said")
    wrong, fine = right["cut"].index(False), right["cut"].index(True)
    for i, said_of_it in ((wrong, "it should have written"), (fine, "right to the letter")):
        page.locator(".dot").nth(i).focus()
        expect(told.locator("[lang=en]")).to_have_text(examples[i].source)
        expect(told.locator(".verdict")).to_contain_text(said_of_it)
    page.locator(".dot").nth(wrong).click()
    written = shipped.attend(examples[wrong].source, mute=[FINDER]).written_tokens
    gold = shipped.target_tokenizer.tokens(shipped.target_tokenizer.encode(examples[wrong].target))
    pairs = [(a, b) for a, b in zip(written, gold, strict=False) if a != b]
    expect(told.locator("em")).to_have_text([a for a, _ in pairs])
    expect(told.locator(".verdict b")).to_have_text(", ".join(b for _, b in pairs))
    page.get_by_role("button", name="Mend the wire").click()
    expect(told.locator(".verdict")).to_have_text("right to the letter")


@pytest.mark.parametrize("number", [0, 1])
def test_the_last_screen_has_the_line_of_the_textbooks_and_four_measured_numbers(
    tell, shipped, number
):
    """Those who are looked at stand on the left, as in the lab."""
    pair = FAMOUS[number]
    who, record = pair.coreference, record_of(shipped, pair)
    page = tell(f"#screen=6&word={story.decider_of(pair)}")
    left, right = page.locator(".pictures ol").all()
    expect(left.locator(".key")).to_have_text(pair.source_tokens[who.referent])
    expect(right.locator(".decider")).to_have_text("it")
    expect(page.locator(".pictures path")).to_have_count(1)
    every = np.concatenate(record.encoder)
    rows = [(query, noun) for query in (who.pronoun, who.decider) for noun in (1, 5)]
    expected = [every[:, query, noun].max() for query, noun in rows]
    expect(page.locator(".measured b")).to_have_text([f"{one:.2f}" for one in expected])
    shown = page.locator(".bar-fill").evaluate_all("all => all.map(e => parseFloat(e.style.width))")
    assert [one / 100 for one in shown] == pytest.approx(expected, abs=1e-3)
    expect(page.locator(".measured i")).to_have_text(
        ["it", "animal", "street", pair.source_tokens[who.decider], "animal", "street"]
    )
    expect(page.locator(".note")).to_contain_text(f"{len(every)}")
    expect(page.locator(".note")).to_contain_text("looks there most")


def test_whichever_the_last_word_is_it_looks_where_it_looked(shipped):
    """As the caption says: the pronoun's numbers stay, and those of the last word change places."""
    both = [record_of(shipped, pair) for pair in FAMOUS]
    most = [np.concatenate(record.encoder).max(axis=0)[:, [1, 5]] for record in both]
    assert abs(most[0][7] - most[1][7]).max() < 0.02
    assert most[0][10].argmax() == 0
    assert most[1][10].argmax() == 1
    assert min(most[0][10, 0], most[1][10, 1]) > 0.9


def test_a_newcomer_is_told_what_the_parts_are(tell):
    page = tell("#screen=2")
    for text in ("encoder reads English", "cross-attention", "decoder writes French"):
        expect(page.locator(".over", has_text=text)).to_be_visible()
    shown = page.locator(".captions .shown").first
    for word in ("encoder", "decoder", "cross-attention"):
        expect(shown.locator("b", has_text=word)).to_have_text(word)
    expect(page.locator(".source canvas")).to_have_count(11)  # the strips that it speaks of
    expect(page.locator(".target canvas")).to_have_count(0)
    page.keyboard.press("ArrowDown")
    expect(shown.locator("b", has_text="head")).to_be_visible()
    expect(page.locator(".wire-label").nth(1)).to_have_text("two heads")
    assert len(READERS) == 2


@pytest.mark.parametrize("moment", ["1", "2", "3", "4", "4&cut=1", "5", "5&cut=1", "6"])
def test_a_screen_has_two_sentences_at_most(tell, moment):
    page = tell(f"#screen={moment}")
    if moment[0] == "5":
        expect(page.locator(".dots")).not_to_have_attribute("data-counted", "")
    text = " ".join(page.locator(".captions .shown").all_inner_texts())
    assert 1 <= len(re.findall(r"[.?!](?= |$)", text)) <= 2


def test_the_keys_tell_the_story_down_and_up_again(tell):
    page = tell()
    stage = page.locator(".stage")
    for screen, key in ((2, "ArrowDown"), (3, " "), (4, "PageDown"), (3, "ArrowUp"), (2, "PageUp")):
        page.keyboard.press(key)
        expect(stage).to_have_attribute("data-screen", str(screen))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    scissors = page.get_by_role("button", name="Cut the wire").first
    scissors.focus()
    page.keyboard.press(" ")  # on a button it presses
    expect(page.locator(".bars")).to_have_count(2)
    expect(stage).to_have_attribute("data-screen", "4")
    expect(page.locator(".spoken")).to_contain_text("il 0.34, elle 0.66")


def test_scrolling_tells_it_too_and_then_goes_on(tell):
    page = tell()
    stage = page.locator(".stage")
    room = page.evaluate("document.querySelector('.story').offsetHeight - innerHeight")
    for screen in (3, 6, 2):
        page.evaluate("y => scrollTo(0, y)", room * (screen - 1) / 5)
        expect(stage).to_have_attribute("data-screen", str(screen))
    page.locator("#course").scroll_into_view_if_needed()
    expect(page.locator(".questions li").first).to_be_in_viewport()


def test_the_address_keeps_a_moment_and_back_returns_to_it(tell):
    page = tell("#screen=4&word=wide&cut=1")
    expect(page.locator(".stage")).to_have_attribute("data-screen", "4")
    expect(page.locator(".flip")).to_contain_text("wide")
    expect(page.locator(".bars")).to_have_count(2)
    page.locator(".flip").press("Enter")
    expect(page).to_have_url(re.compile(r"#screen=4&word=tired&cut=1$"))
    lab = urlsplit(page.locator("[data-door=lab]").get_attribute("href"))
    who = FAMOUS[0].coreference
    assert parse_qs(lab.fragment) == {
        "s": [FAMOUS[0].source],
        "head": ["e2.3"],
        "row": [str(who.decider)],
        "step": [str(who.target_pronoun)],
        "mute": ["e2.3"],
    }
    page.locator(".marks a").nth(1).click()
    expect(page.locator(".stage")).to_have_attribute("data-screen", "2")
    page.go_back()
    expect(page.locator(".stage")).to_have_attribute("data-screen", "4")
    page.go_forward()
    expect(page.locator(".stage")).to_have_attribute("data-screen", "2")


def test_back_leads_from_screen_to_screen(tell):
    page = tell()
    for screen in (2, 3):
        page.get_by_role("button", name="Next").click()
        expect(page).to_have_url(re.compile(f"screen={screen}"))
    for screen in ("2", "1"):
        page.go_back()
        expect(page.locator(".stage")).to_have_attribute("data-screen", screen)


def test_a_guess_stays_with_the_word_for_which_it_was_made(tell):
    page = tell("#screen=4")
    page.get_by_role("button", name="elle", exact=True).click()
    guessed = page.get_by_text("you guessed")
    expect(guessed).to_be_visible()
    page.locator(".flip").press("Enter")
    expect(page.locator(".bars")).to_have_count(2)
    expect(guessed).to_have_count(0)
    page.locator(".flip").press("Enter")
    expect(guessed).to_be_visible()


@pytest.mark.parametrize("moment", range(1, 7))
def test_a_phone_on_its_side_shows_what_to_press_without_scrolling(tell, moment):
    page = tell(f"#screen={moment}", viewport={"width": 844, "height": 390}, has_touch=True)
    expect(page.get_by_role("button", name=re.compile("Next|Go on"))).to_be_in_viewport(ratio=1)
    expect(page.locator(".captions .shown").first).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("asked", ["#screen=9", "#word=%3Cb%3E", "#cut=maybe", "#screen=&word="])
def test_an_address_that_nobody_wrote_is_answered_in_a_sentence(tell, asked):
    page = tell(asked)
    expect(page.locator(".problem")).to_contain_text("The address asks for")
    expect(page.locator(".source li")).to_have_count(11)


def test_without_scripts_there_are_pictures_and_captions(tell):
    page = tell(java_script_enabled=False, viewport=PHONE)
    expect(page.locator(".picture")).to_have_count(3)
    answers = json.loads(page.locator("#story-data").text_content())["answers"]
    alts = [one.get_attribute("aria-label") for one in page.locator(".picture").all()]
    assert f"weight of {answers['tired']['found']:.2f}" in alts[0]
    assert (
        f"“elle” had a probability of 0.00 before, and has {answers['tired cut']['chances']['elle']:.2f}"
        in alts[1]
    )
    assert f"from “it” to “animal” {answers['tired']['most']['pronoun'][0]:.2f}" in alts[2]
    assert f"from “tired” to “animal” {answers['tired']['most']['decider'][0]:.2f}" in alts[2]
    for text in (
        "In French an animal",
        "The two heads that choose",
        "guesses wrong",
        "seen the picture",
    ):
        expect(page.get_by_text(text).first).to_be_attached()
    expect(page.locator(".target").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert smallest_letters(page, "body") >= SMALLEST


def smallest_letters(page, where) -> float:
    """The size of the smallest letters in sight, as they are drawn."""
    return page.locator(where).evaluate(
        """root => { const scale = ({ ownerSVGElement: svg }) =>
            svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
        return Math.min(...[...root.querySelectorAll('*')].filter((e) =>
            e.checkVisibility({ visibilityProperty: true, opacityProperty: true })
            && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())
            && !e.closest('script, style, .spoken'))
            .map((e) => parseFloat(getComputedStyle(e).fontSize) * scale(e))); }"""
    )


@pytest.mark.parametrize("moment", [1, 2, 3, 4, "4&cut=1", 5, 6])
def test_a_phone_shows_each_screen_whole_in_letters_that_can_be_read(tell, moment):
    page = tell(f"#screen={moment}", viewport=PHONE, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert smallest_letters(page, "body") >= SMALLEST
    expect(page.locator(".steps")).to_be_in_viewport(ratio=1)
    page.evaluate("Promise.allSettled(document.getAnimations().map((one) => one.finished))")
    assert page.evaluate(WORDS_UNDER_LINES) == []


@pytest.mark.parametrize(
    ("size", "is_live"),
    [((303, 800), False), ((304, 800), True), ((735, 383), False), ((737, 383), True)],
)
def test_without_room_for_its_letters_the_story_is_the_page_without_scripts(tell, size, is_live):
    """Letters of 32 px on a phone are the same as a phone half as wide: 19 em are 304 px."""
    page = tell(viewport=dict(zip(("width", "height"), size, strict=True)), wait=is_live)
    page.wait_for_load_state()
    assert page.evaluate("document.documentElement.classList.contains('live')") == is_live
    expect(page.locator(".steps")).to_be_visible(visible=is_live)


def test_with_reduced_motion_nothing_moves(tell):
    page = tell("#screen=1", reduced_motion="reduce")
    page.keyboard.press("ArrowDown")
    moves = "one.effect.getKeyframes().some((frame) => frame.transform)"
    assert page.evaluate(f"document.getAnimations().filter((one) => {moves}).length") == 0
    expect(page.locator(".wires path").first).to_have_attribute("d", re.compile("M"))


@pytest.mark.parametrize("scheme", thorough_from(1, ["light", "dark"]))
@pytest.mark.parametrize("moment", thorough_from(1, ["4&cut=1", "1", "2", "3", "5", "6"]))
def test_the_story_can_be_read_by_everyone(tell, moment, scheme):
    page = tell(f"#screen={moment}", color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    page.wait_for_timeout(500)
    assert serious(page) == []


def test_before_the_model_little_is_asked_for(tell, folder):
    page = tell()
    files = [urlsplit(url).path for url in page.asked]
    before = files[: files.index(urlsplit((folder / story.MODEL).as_uri()).path)]
    assert sum((folder / path).stat().st_size for path in before) < BEFORE_MODEL
    assert len(files) == len(set(files)) <= 3
