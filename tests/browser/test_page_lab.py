"""The lab in a browser: what it says is what Python's model says, muted and pointed too."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from tests.browser.screen import pixels_of, serious
from tests.thorough import thorough_from
from transformer_lab.attention.capture import capture_attention
from transformer_lab.attention.record import Head
from transformer_lab.config import TransformerConfig
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.lab.guide import ALIGNER, NOUN_FINDER, READER, famous_guide, famous_names
from transformer_lab.lab.open_lab import lab
from transformer_lab.model import Transformer
from transformer_lab.translator import Translator

TIRED, WIDE = (pair.source for pair in FAMOUS)
WHO = FAMOUS[0].coreference
STEP = WHO.target_pronoun
START = f"head=e2.3&row={WHO.decider}&step={STEP}"


@pytest.fixture(scope="module")
def lab_page(shipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("lab") / "lab.html"
    return lab(shipped, [TIRED, WIDE], start=START).to_html(path)


@pytest.fixture
def page(visit_page, lab_page):
    """The lab, open; at its end no request, and no error, may have been."""
    return visit_page(lab_page).page


def stakes(page) -> str:
    """What the bars of the next word say, a word a line: "il 1.000 → 0.340"."""
    lines = page.locator(".next li").all_inner_texts()
    return "\n".join(" ".join(line.split()) for line in lines)


def open_head(page, code: str) -> None:
    page.get_by_label("Open a head").select_option(code)


def view(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def go(page, address: str) -> None:
    page.evaluate("(address) => { location.hash = address; }", address)


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["the cat sleeps", "a dog sleeps"], ["the cat sleeps", "a dog sleeps"]),
        ([TIRED, WIDE], ["tired", "wide"]),
        ([TIRED, "a tired cat is tired"], [f"{TIRED[:23]}…", "a tired cat is tired"]),
        ([TIRED, f"{TIRED} and old"], ["sentence 1", "sentence 2"]),
    ],
)
def test_a_button_says_as_much_of_its_sentence_as_there_is_room_for(
    shipped, visit_page, tmp_path, texts, names
):
    opened = visit_page(lab(shipped, texts).to_html(tmp_path / "lab.html"))
    buttons = opened.page.locator(".ask button[data-control^='sentence ']")
    expect(buttons).to_have_text(names)


def test_the_engine_is_there_for_anyone(page, shipped):
    ask = """async (given) => {
        const { translation, probabilities } = await transformerLab.translate(...given);
        return [translation, probabilities.map((step) => Math.max(...step))];
    }"""
    for options, mute in (({}, []), ({"mute": ["e2.3"]}, [Head("encoder", 1, 2)])):
        translation, best = page.evaluate(ask, [WIDE, options])
        record = shipped.attend(WIDE, mute=mute)
        ids = [shipped.target_tokenizer.ids[word] for word in record.written_tokens]
        assert translation == shipped.target_tokenizer.decode(ids)
        expected = [step[0][1] for step in record.next_tokens]
        np.testing.assert_allclose(best, expected, atol=1e-4)
    beam, _ = page.evaluate(ask, [WIDE, {"beam": 4}])
    assert beam == shipped.translate(WIDE, beam_size=4)[0].translation


@pytest.mark.parametrize("allowed", [True, False])
def test_the_page_translates_whether_its_policy_allows_webassembly_or_not(
    visit_page, lab_page, shipped, tmp_path, allowed
):
    text = lab_page.read_text(encoding="utf-8")
    assert text.count("'wasm-unsafe-eval'") == 1
    path = tmp_path / "page.html"
    path.write_text(text if allowed else text.replace("'wasm-unsafe-eval'", ""), encoding="utf-8")
    page = visit_page(path).page
    assert page.evaluate("transformerLab.engine.model.output.multiply != null") is allowed
    ask = "async (text) => (await transformerLab.translate(text)).translation"
    assert page.evaluate(ask, TIRED) == shipped.translate(TIRED)[0].translation


def test_muting_says_before_and_after_as_python_does(page, shipped):
    assert "il" in stakes(page)
    assert "→" not in stakes(page)
    page.get_by_role("button", name=re.compile("set this head's output to 0")).click()
    expect(page.locator(".next ul")).to_contain_text("→")
    written = FAMOUS[0].target
    own = shipped.attend(TIRED, written, top=633)
    muted = shipped.attend(TIRED, written, mute=[Head("encoder", 1, 2)], top=633)
    said = {
        word: (float(was), float(now))
        for word, was, now in re.findall(r"(il|elle) ([\d.]+) → ([\d.]+)", stakes(page))
    }
    assert "il" in said
    for word, (was, now) in said.items():
        assert was == pytest.approx(dict(own.next_tokens[STEP])[word], abs=6e-4)
        assert now == pytest.approx(dict(muted.next_tokens[STEP])[word], abs=6e-4)
    page.get_by_role("button", name="Undo every change").click()
    expect(page.locator(".next ul")).not_to_contain_text("→")


def test_a_pointed_row_changes_the_pronoun_as_in_python(page, shipped):
    # In the lines, the word that is looked at is pressed on the left; the map has a cell for the same.
    page.locator(f"[data-control='key {WHO.other}']").click()
    page.get_by_role("button", name=re.compile("look only at “street”")).click()
    view(page, "As a map")
    cell = page.locator(f"td[data-row='{WHO.decider}'][data-key='{WHO.other}']")
    head = Head("encoder", 1, 2)
    rows = shipped.attend(TIRED).weights(head).copy()
    rows[WHO.decider] = 0
    rows[WHO.decider, WHO.other] = 1
    expected = shipped.attend(TIRED, patch={head: rows}).written_tokens
    assert "elle" in expected
    ids = [shipped.target_tokenizer.ids[token] for token in expected]
    expect(page.locator(".stakes")).to_contain_text(shipped.target_tokenizer.decode(ids))
    expect(cell).to_have_text("1")
    page.get_by_role("button", name="Restore its own weights", exact=True).click()
    expect(page.locator(".next ul")).not_to_contain_text("→")


def test_a_row_can_be_given_any_share_and_the_others_keep_their_proportions(page, shipped):
    view(page, "As a map")
    page.locator(f"td[data-row='{WHO.decider}'][data-key='{WHO.other}']").click()
    page.get_by_role("slider", name="Share of “street”").fill("70")
    head = Head("encoder", 1, 2)
    rows = shipped.attend(TIRED).weights(head).copy()
    own = rows[WHO.decider].copy()
    rows[WHO.decider] = own * 0.3 / (1 - own[WHO.other])
    rows[WHO.decider, WHO.other] = 0.7
    expected = shipped.attend(TIRED, FAMOUS[0].target, patch={head: rows}, top=633)
    go(page, f"{page.evaluate('transformerLab.address')}&step={STEP}")
    said = dict(re.findall(r"(elle|il) [<\d. ]+ → ([\d.]+)", stakes(page)))
    for word, value in said.items():
        assert float(value) == pytest.approx(dict(expected.next_tokens[STEP])[word], abs=2e-3)
    assert {"il", "elle"} == set(said)
    view(page, "The numbers")
    expect(page.locator(".numbers")).to_contain_text("You have set it to 0.700")
    address = page.evaluate("transformerLab.address")
    go(page, "#head=e1.1")
    expect(page.locator(".next ul")).not_to_contain_text("→")
    go(page, address)
    expect(page.locator(".changes")).to_contain_text("gives 0.70 to “street”")


def test_a_later_word_is_hidden_and_no_row_can_be_pointed_at_it(page, shipped):
    open_head(page, "d1.3")
    view(page, "As a map")
    expect(page.locator(".open td.unseen")).to_have_count(15 * 14 // 2)
    page.locator(".open td[data-row='4'][data-key='6']").click(force=True)
    expect(page.get_by_role("slider")).to_have_count(0)
    page.locator(".open td[data-row='4'][data-key='4']").click()
    page.locator(".open .weights").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("td.chosen")).to_have_attribute("data-key", "4")
    page.keyboard.press("Enter")
    head = Head("decoder", 0, 2)
    record = shipped.attend(TIRED, FAMOUS[0].target)
    rows = record.weights(head).copy()
    rows[4] = np.eye(len(rows))[4]
    patched = shipped.attend(TIRED, FAMOUS[0].target, patch={head: rows}, top=633)
    page.locator("[data-control='step 4']").click()
    said = page.locator(".next li.taken")
    token, value = record.written_tokens[4], dict(patched.next_tokens[4])
    expect(said).to_contain_text(f"→ {value[token]:.3f}")
    view(page, "The numbers")
    expect(page.locator(".scores tbody tr")).to_have_count(5)
    view(page, "As a map")
    # With one word to see there is nothing to share.
    page.locator(".open td[data-row='0'][data-key='0']").click()
    expect(page.get_by_role("slider")).to_have_count(0)


def test_a_row_that_only_the_changed_translation_has_can_be_pointed(page, shipped):
    sentence = "the dog did not eat the small red apple"
    page.evaluate(
        "(s) => { location.hash = 's=' + encodeURIComponent(s) + '&mute=d1.1&head=c2.1'; }",
        sentence,
    )
    muted = [Head("decoder", 0, 0)]
    long, short = shipped.attend(sentence, mute=muted), shipped.attend(sentence)
    row = len(short.written_tokens)
    assert len(long.written_tokens) > row
    page.locator(f"[data-control='query {row}']").click()
    page.locator("[data-control='key 1']").click()
    page.locator("[data-control='point']").click()
    expect(page.locator(".changes")).to_contain_text("looks only at")
    open_head(page, "c2.2")
    expect(page.get_by_label("Open a head")).to_have_value("c2.2")


def test_the_first_press_after_writing_a_sentence_counts(page):
    sentence = page.get_by_role("textbox")
    sentence.fill("the cat sleeps")
    sentence.press("Enter")
    page.locator("[data-control='mute']").click()
    expect(page.locator(".changes")).to_contain_text(re.compile(r"muted: .*e2\.3"))
    sentence.fill("the dog sleeps")
    page.get_by_role("button", name="Translate this sentence").click()
    expect(page.locator(".written")).to_contain_text("chien")
    expect(page.locator(".changes")).to_contain_text(re.compile(r"muted: .*e2\.3"))


def test_what_stands_there_while_another_sentence_is_written_is_marked(page):
    field = page.locator("textarea")
    field.fill("the cat sleeps")
    expect(page.locator(".problem")).to_contain_text("you see the last sentence")
    expect(page.locator("header.stale")).to_have_count(1)
    field.press("Enter")
    expect(page.locator(".written")).to_contain_text("chat")
    expect(page.locator(".problem")).to_be_hidden()
    expect(page.locator("header.stale")).to_have_count(0)


def test_a_step_behind_the_first_changed_word_says_after_which_words_it_is_asked(page):
    page.locator("[data-control='query 0']").press("m")
    step = next(i for i, token in enumerate(FAMOUS[0].target_tokens) if token == "il")
    page.locator(f"[data-control='step {step}']").click()
    expect(page.locator(".stakes")).not_to_contain_text("like with like")
    page.locator(f"[data-control='step {step + 1}']").click()
    expect(page.locator(".stakes")).to_contain_text(f"wrote “elle” as word {step + 1}")
    expect(page.locator(".stakes")).to_contain_text("continue the words of the unchanged model")


def test_a_head_that_is_not_there_is_an_error(page):
    for heads in ("['e9.9']", "['foo']", "[{ kind: 'encoder', layer: 1, head: 4 }]"):
        ask = f"transformerLab.translate('the cat sleeps', {{ mute: {heads} }}).catch(String)"
        assert "expected one such as" in page.evaluate(ask)


def test_what_is_kept_as_a_is_what_everything_is_compared_with(page, shipped):
    page.locator(".more > summary").click()
    page.locator("[data-control='head e2.3']").press("m")
    page.get_by_role("button", name="From now on, compare").click()
    expect(page.locator(".changes")).to_contain_text("this is A: e2.3")
    expect(page.locator(".next ul")).not_to_contain_text("→")
    page.locator("[data-control='head c2.1']").press("m")
    page.locator(f"[data-control='step {STEP}']").click()
    two = [Head("encoder", 1, 2), Head("cross", 1, 0)]
    written = shipped.attend(TIRED, mute=two[:1]).written_tokens
    ids = [shipped.target_tokenizer.ids[token] for token in written]
    text = shipped.target_tokenizer.decode(ids)
    before, after = (
        shipped.attend(TIRED, text, mute=muted, top=633).next_tokens for muted in (two[:1], two)
    )
    said = re.findall(r"(il|elle) ([\d.]+) → ([\d.]+)", stakes(page))
    assert said
    for word, was, now in said:
        assert float(was) == pytest.approx(dict(before[STEP])[word], abs=2e-3)
        assert float(now) == pytest.approx(dict(after[STEP])[word], abs=2e-3)
    address = page.evaluate("transformerLab.address")
    assert "a-mute=e2.3" in address
    page.get_by_role("button", name="Go back to A").click()
    expect(page.locator("[data-control='head c2.1']")).not_to_have_class(re.compile("muted"))
    page.get_by_role("button", name="Compare with the unchanged model again").click()
    expect(page.locator(".next ul")).to_contain_text("elle")
    expect(page.locator(".next ul")).to_contain_text("→")


def test_the_row_in_every_head_and_the_lens_are_those_of_python(page, shipped):
    record = shipped.attend(TIRED)
    page.locator(".more > summary").click()
    page.locator(".every-head summary").click()
    lines = page.locator(".every-head tbody tr")
    expect(lines).to_have_count(8)
    for number, line in enumerate(lines.all()):
        weights = record.weights(Head("encoder", *divmod(number, 4)))[WHO.decider]
        for cell, weight in zip(line.locator("td").all(), weights, strict=True):
            text = cell.inner_text()
            assert float(text or 0) == pytest.approx(weight, abs=0.006 if text else 0.046)
    page.get_by_role("button", name=re.compile(r"Open .*\(e1\.2\)")).click()
    expect(page.get_by_label("Open a head")).to_have_value("e1.2")
    view(page, "What it does")
    model = shipped.model
    caught = []
    hook = model.decoder.layers[0].register_forward_hook(lambda *given: caught.append(given[2]))
    shipped.attend(TIRED, FAMOUS[0].target)
    hook.remove()
    with torch.no_grad():
        best = model.output(caught[-1])[0, STEP].softmax(-1).topk(3)
    first = page.locator(".lens li").first.inner_text()
    words = shipped.target_tokenizer.tokens(best.indices.tolist())
    for word, value in zip(words, best.values.tolist(), strict=True):
        assert f"{word} {value:.3f}" in first
    last = page.locator(".lens li").last.inner_text()
    assert f"il {dict(record.next_tokens[STEP])['il']:.3f}" in last


def test_the_push_of_a_head_is_what_its_muting_moves_in_log_odds(page, shipped):
    text = FAMOUS[0].target
    steps = [
        dict(shipped.attend(TIRED, text, mute=mute, top=633).next_tokens[STEP])
        for mute in ((), [Head("encoder", 1, 2)])
    ]
    own, without = (np.log(step["il"] / step["elle"]) for step in steps)
    view(page, "What it does")
    expect(page.locator(".without")).to_contain_text("It pushes il")
    said = re.search(
        r"pushes il against elle by ([\d.]+) nats", page.locator(".without").inner_text()
    )
    assert float(said[1]) == pytest.approx(own - without, abs=0.06)


def test_every_number_of_the_chosen_row_is_there_and_adds_up(page, shipped):
    record = shipped.attend(TIRED)
    row = record.weights(Head("encoder", 1, 2))[WHO.decider]
    view(page, "The numbers")
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


def test_a_number_that_is_pointed_at_lights_its_factors_and_says_what_they_give(page, shipped):
    view(page, "The numbers")
    expect(page.locator(".shapes")).to_contain_text(
        "Q 12 × 32 · K 12 × 32 · scores 12 × 12 · V 12 × 32 · output 12 × 32"
    )
    query, products, sums = (
        page.locator(f".strip.{name}").last for name in ("query", "product", "value")
    )
    said, mixed = page.locator(".factors").all()
    products.locator("i").nth(6).hover()
    expect(page.locator(".strip i.lit")).to_have_count(3)
    expect(query.locator("i").nth(6)).to_have_class(re.compile("lit"))
    q, k, product = map(
        float, re.findall(r"= ?(\S+) × (\S+) = (\S+)\.", said.inner_text().replace("−", "-"))[0]
    )
    assert q * k == pytest.approx(product, abs=0.02)
    sums.locator("i").nth(3).hover()
    expect(page.locator(".strip i.lit")).to_have_count(2)
    numbers = re.findall(r"-?\d+\.\d+", mixed.inner_text().replace("−", "-"))
    assert len(numbers) == 7  # three weights, three values, their sum
    record = shipped.attend(TIRED)
    best = np.sort(record.weights(Head("encoder", 1, 2))[WHO.decider])[::-1][:3]
    assert [float(n) for n in numbers[:6:2]] == pytest.approx(best, abs=0.006)
    page.locator("textarea").hover()
    expect(page.locator(".strip i.lit")).to_have_count(0)


def test_the_address_keeps_what_is_seen(page, visit_page, lab_page):
    page.get_by_role("button", name="wide", exact=True).click()
    open_head(page, "c2.2")
    view(page, "As a map")
    page.locator("td[data-row='3'][data-key='5']").click()
    page.keyboard.press("m")
    page.locator("td[data-row='3'][data-key='5']").click()
    page.keyboard.press("Enter")
    view(page, "The numbers")
    seen = """[...document.querySelectorAll(".next, select, .changes, .numbers")]
        .map((element) => element.value ?? element.innerText)"""
    here, address = page.evaluate(seen), page.evaluate("transformerLab.address")
    assert "c2.2" in address
    assert "mute=" in address
    assert "point=" in address
    page.evaluate("location.hash = ''")
    page.get_by_role("button", name="tired", exact=True).click()
    page.evaluate("(address) => { location.hash = address; }", address)
    expect(page.get_by_label("Open a head")).to_have_value("c2.2")
    assert page.evaluate(seen) == here
    changes = page.locator(".changes")
    for nonsense, kept in (
        ("#head=e9.9&row=999&mute=x,e2.3,e02.3&point=e2.3:77:1,e2.3&step=-4", "e2.3) ×"),
        ("#%%%", ""),
        ("#point=e2.3:at:name,e2.3:0:length,e2.3:1:2:,e2.3:1:2:7,d1.1:2:5", ""),
        ("#point=e2.3:10:7,e2.3:10:1", "“wide” looks only at “animal”"),
        ("#a-mute=e2.3&mute=e2.3,e2.3", "this is A: e2.3"),
    ):
        go(page, nonsense)
        expect(changes).to_contain_text(kept) if kept else expect(changes).to_be_hidden()
        assert changes.inner_text().count("×") <= 1
        expect(page.get_by_label("Open a head")).to_have_value("c2.2")


def test_the_keyboard_alone_is_enough(page):
    summary = page.locator(".more > summary")
    summary.focus()
    page.keyboard.press("Enter")
    head = page.locator("[data-control='head e2.3']")
    head.focus()
    page.keyboard.press("m")
    expect(head).to_have_class(re.compile("muted"))
    expect(head).to_be_focused()
    page.locator("[data-control='view map']").focus()
    page.keyboard.press("Enter")
    page.locator(".open .weights").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator("td.chosen")).to_have_attribute("data-row", str(WHO.decider + 1))
    expect(page.locator(".open .weights")).to_be_focused()


def test_an_unknown_word_is_struck_and_its_neighbours_are_offered(page):
    sentence = page.get_by_role("textbox")
    sentence.fill("the anmal sleeps")
    sentence.press("Enter")
    expect(page.locator(".read s")).to_have_text("<unk>")
    page.get_by_role("button", name="Write animal in place of anmal").click()
    expect(page.locator(".read")).to_be_hidden()
    expect(page.locator(".written")).to_contain_text("animal")
    sentence.fill("qqqq")
    sentence.press("Enter")
    expect(page.locator(".problem")).to_contain_text("no word of the vocabulary")
    # The last sentence is still there, and can be worked with.
    open_head(page, "e2.2")
    page.locator("[data-control='mute']").click()
    expect(page.locator(".changes")).to_contain_text(re.compile(r"muted: .*e2\.2"))
    sentence.fill("the cat sleeps")
    sentence.press("Enter")
    expect(page.locator(".problem")).to_be_hidden()


def test_all_words_that_the_model_knows_are_within_the_reach_of_the_arrows(page, shipped):
    sentence = page.get_by_role("textbox")
    sentence.fill("the zebra sleeps")
    sentence.press("Enter")
    page.locator(".unknown summary").press("Enter")
    words = page.locator(".vocabulary button")
    known = sorted(shipped.source_tokenizer.words[4:])  # behind the special tokens
    expect(words).to_have_text(known)
    expect(page.locator(".vocabulary button[tabindex='0']")).to_have_count(1)
    page.keyboard.press("Tab")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(words.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(sentence).to_have_value(f"the {known[2]} sleeps")
    expect(page.locator(".read")).to_be_hidden()


def test_a_head_that_is_pressed_among_all_heads_is_in_sight_then(visit_page, lab_page):
    for width, height in ((1280, 800), (390, 800)):
        page = visit_page(lab_page, viewport={"width": width, "height": height}).page
        page.locator(".more > summary").click()
        for press in ("[data-control='head c1.2']", "[data-control='row c2.3']"):
            if "row" in press:
                page.locator(".every-head summary").click()
            page.locator(press).click()
            expect(page.get_by_label("Open a head")).to_have_value(press[-6:-2].strip())
            expect(page.locator(".open .tabs")).to_be_in_viewport(ratio=1)
            expect(page.locator(".line-board").first).to_be_in_viewport(ratio=0.9)


def test_a_mute_moves_nothing_under_the_pointer(visit_page, guided_page):
    page = visit_page(guided_page).page
    go(page, f"#s={TIRED}&{START}&mute=")
    expect(page.get_by_label("Open a head")).to_have_value("e2.3")
    still = "[data-control='mute'], .tabs, .line-board, .next h3, .next ul"
    places = f"""[...document.querySelectorAll("{still}")].filter((one) => one.checkVisibility())
        .map((one) => one.getBoundingClientRect()).map(({{ x, y }}) => [x, y])"""
    before = page.evaluate(places)
    for name in ("Mute it", "Unmute it"):
        page.get_by_role("button", name=name).click()
        assert page.evaluate(places) == before


def test_on_a_phone_the_guide_leaves_room_and_can_be_folded(visit_page, guided_page):
    page = visit_page(guided_page, viewport={"width": 390, "height": 800}).page
    guide = page.locator(".guide")
    next_ = guide.get_by_role("button", name="Next thing to try")
    page.get_by_role("button", name="wide", exact=True).click()
    expect(guide.locator(".seen")).to_contain_text("“il” became “elle”")
    expect(next_).to_be_visible()
    assert guide.bounding_box()["height"] <= 0.28 * 800 + 1
    guide.locator("summary").press("Enter")
    expect(next_).to_be_hidden()
    expect(guide.locator("summary")).to_have_text("Try this (1 of 6)")
    assert guide.bounding_box()["height"] < 40


@pytest.mark.parametrize("name", ["The numbers", "What it does"])
def test_what_is_deeper_begins_with_what_it_is_for(page, name):
    view(page, name)
    first = page.locator(".open .axes")
    expect(first).to_contain_text("Here you can" if name == "The numbers" else "So here you see")
    before = "(one) => one.compareDocumentPosition(document.querySelector('.place'))"
    assert first.evaluate(before) == 4  # the panel follows it


def test_the_dots_say_what_each_head_costs(page, shipped):
    page.locator(".more > summary").click()
    page.get_by_label("What the heads show").select_option("effect if muted")
    dot = page.locator("[data-control='head e2.3']")
    expect(dot).to_have_attribute("title", re.compile(r"effect if muted 0\.\d\d"))
    record = shipped.attend(TIRED)
    text = FAMOUS[0].target
    muted = shipped.attend(TIRED, text, mute=[Head("encoder", 1, 2)], top=633)
    losses = [
        dict(own)[word] - dict(other)[word]
        for word, own, other in zip(
            record.written_tokens, record.next_tokens, muted.next_tokens, strict=True
        )
    ]
    ((said, word),) = re.findall(r"muted (\d\.\d\d), at “(.+?)”", dot.get_attribute("title"))
    assert float(said) == pytest.approx(max(losses), abs=0.006)
    assert word == record.written_tokens[int(np.argmax(losses))]


def test_the_whole_sentence_is_seen_where_a_field_does_not_fit_itself_to_its_text(page):
    """As in WebKit and Firefox, which can't size a field by its text."""
    page.add_init_script("CSS.supports = () => false")
    page.reload()
    field = page.locator("textarea")
    for width in (1280, 390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for text in (TIRED, "a cat sleeps", TIRED):
            field.evaluate("(field) => { field.style.fieldSizing = 'fixed'; }")
            field.fill(text)
            heights = field.evaluate("(field) => [field.scrollHeight, field.clientHeight]")
            assert heights[0] == heights[1]
            assert (heights[1] > 50) == (width == 390 and text == TIRED), "two lines, or one"


@pytest.mark.parametrize("width", thorough_from(1, [390, 736, 1280]))
def test_nothing_is_wider_than_the_screen(visit_page, lab_page, width):
    page = visit_page(lab_page, viewport={"width": width, "height": 800}).page
    address = f"#{START}&key={WHO.other}&point=e2.3:{WHO.decider}:{WHO.other}:0.70&a-mute=e1.1"
    go(page, address)
    expect(page.locator(".next ul")).to_contain_text("→")
    page.locator(".more > summary").click()
    page.locator(".every-head summary").click()
    for name in ("Where it looks", "As a map", "The numbers", "What it does"):
        view(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def guided_page(shipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("guided") / "lab.html"
    return lab(shipped, **famous_guide()).to_html(path)


@pytest.mark.thorough(
    caught_by=[
        "test_muting_says_before_and_after_as_python_does",
        "test_a_pointed_row_changes_the_pronoun_as_in_python",
    ]
)
def test_the_guide_asks_for_what_can_be_done_and_says_what_is_seen(
    visit_page, guided_page, shipped
):
    page = visit_page(guided_page).page
    guide = page.locator(".guide")
    seen = guide.locator(".seen")
    mute = page.locator("[data-control='mute']")

    def go_on():
        guide.get_by_role("button", name="Next thing to try").click()
        expect(seen).to_be_hidden()

    expect(guide.get_by_role("button", name="Previous thing to try")).to_be_hidden()
    expect(seen).to_be_hidden()
    page.get_by_role("button", name="wide", exact=True).click()
    expect(seen).to_contain_text("“il” became “elle”")
    assert "elle" in page.locator(".written").inner_text().split()
    go_on()
    record = shipped.attend(TIRED)
    assert record.weights(Head.from_code(READER))[STEP].argmax() == WHO.decider
    open_head(page, f"translates word for word ({ALIGNER})")
    expect(seen).to_contain_text("This one looks at “it”")
    assert record.weights(Head.from_code(ALIGNER))[STEP].argmax() == WHO.pronoun
    go_on()
    open_head(page, f"finds the noun ({NOUN_FINDER})")
    page.locator(f"[data-control='query {WHO.decider}']").click()
    expect(seen).to_contain_text("“tired” looks at “animal”")
    assert record.weights(Head("encoder", 1, 2))[WHO.decider].argmax() == WHO.referent
    go_on()
    mute.click()
    expect(seen).to_contain_text("about a third")
    assert 0.28 < float(re.search(r"il 1\.000 → ([\d.]+)", stakes(page))[1]) < 0.39
    expect(page.locator(f"[data-control='step {STEP}']")).to_have_text("il elle")
    go_on()
    expect(page.locator("ins")).to_have_count(0)  # what was muted is back
    page.locator(f"[data-control='key {WHO.other}']").click()
    page.get_by_role("button", name=re.compile("look only at “street”")).click()
    expect(seen).to_contain_text("the street is tired")
    expect(page.locator(".stakes")).to_contain_text("elle était trop fatiguée")
    expect(page.locator("ins")).to_have_text(["elle", "fatiguée"])
    go_on()
    page.locator("[data-control='many']").click()
    expect(seen).to_contain_text("Now you have both counts")
    expect(guide.get_by_role("button", name="Next thing to try")).to_be_hidden()
    said = re.search(
        r"Of 100 other sentences, the model gets (\d+) right with nothing muted, and (\d+) with",
        page.locator(".many").inner_text(),
    )
    examples = famous_guide()["examples"]
    for number, muted in zip(said.groups(), ((), [Head("encoder", 1, 2)]), strict=True):
        with capture_attention(shipped.model, mute=muted):
            texts = shipped.translate([e.source for e in examples], beam_size=1)
        right = sum(t.translation == e.target for t, e in zip(texts, examples, strict=True))
        assert int(number) == pytest.approx(right, abs=1)  # the page reads half precision


@pytest.mark.thorough(caught_by=["test_the_engine_is_there_for_anyone"])
def test_without_prompts_and_examples_there_is_neither(page):
    expect(page.locator(".guide")).to_be_hidden()
    expect(page.locator(".many")).to_be_hidden()


@pytest.mark.parametrize("theme", thorough_from(1, ["dark", "light"]))
def test_an_accessibility_checker_finds_nothing_serious(visit_page, guided_page, theme):
    page = visit_page(guided_page, color_scheme=theme).page
    assert serious(page) == []
    address = "#head=c2.4&row=9&key=7&mute=e2.3&point=c2.4:9:7:0.40&a-mute=c1.1"
    go(page, address)
    page.locator(".more > summary").click()
    page.locator(".every-head summary").click()
    page.locator(".guide").get_by_role("button", name="Next thing to try").click()
    page.get_by_role("textbox").fill("the anmal sleeps")
    page.get_by_role("textbox").press("Enter")
    expect(page.locator(".read s")).to_have_text("<unk>")
    assert serious(page) == []
    for name in ("As a map", "The numbers", "What it does"):
        view(page, name)
        assert serious(page) == []


VISIBLE = """() => [...document.querySelectorAll("button, select, textarea, input, summary, a")]
    .filter((control) => control.checkVisibility() && !control.closest(".written, .line-board")).length"""
"""The controls that are in sight, without the words of the two sentences and of the picture."""


def test_it_opens_with_a_picture_and_at_most_twelve_controls(visit_page, guided_page):
    page = visit_page(guided_page).page
    assert page.evaluate(VISIBLE) <= 12
    expect(page.locator(".line-board svg").first).to_be_visible()
    assert page.locator(".line-board line").count() > 0
    # The words of a sentence are one stop of the Tab key each, however many there are.
    for words in (".written", ".column.key", ".column.query"):
        expect(page.locator(f"{words} button[tabindex='0']")).to_have_count(1)


def test_heads_carry_the_names_that_python_gives_them(page, shipped):
    names = famous_names(shipped)
    options = page.get_by_label("Open a head").locator("option").all_inner_texts()
    assert options == [
        f"{name} ({kind[0]}{layer + 1}.{head + 1})" for (kind, layer, head), name in names.items()
    ]


def test_after_a_mute_the_step_that_moved_most_is_in_sight_on_a_phone_too(
    visit_page, lab_page, shipped
):
    phone = {"viewport": {"width": 390, "height": 700}, "has_touch": True, "is_mobile": True}
    page = visit_page(lab_page, **phone).page
    go(page, f"#head=e2.3&row={WHO.decider}&step=0")
    page.locator("[data-control='mute']").tap()
    own, muted = (
        shipped.attend(TIRED, FAMOUS[0].target, mute=mute, top=633).next_tokens
        for mute in ((), [Head("encoder", 1, 2)])
    )
    moved = [
        max(abs(dict(one)[word] - dict(other)[word]) for word in dict(one))
        for one, other in zip(own, muted, strict=True)
    ]
    step = int(np.argmax(moved))
    expect(page.locator(f"[data-control='step {step}']")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".next li").first).to_be_in_viewport(ratio=1)
    # The bars are as long as the probabilities, before and after, on one linear scale.
    for line in page.locator(".next li").all():
        word, track = line.locator(".token").inner_text(), line.locator(".track")
        whole = track.bounding_box()["width"]
        for bar, table in zip(track.locator("i").all(), (own, muted), strict=True):
            share = bar.bounding_box()["width"] / whole
            assert share == pytest.approx(dict(table[step])[word], abs=0.02)


def test_back_undoes_a_change_and_forward_does_it_again(page):
    page.locator("[data-control='mute']").click()
    expect(page).to_have_url(re.compile("mute=e2.3"))
    page.locator("[data-control='query 3']").click()  # only looked at: no entry of its own
    expect(page).to_have_url(re.compile("row=3"))
    page.get_by_role("button", name="wide", exact=True).click()
    expect(page).to_have_url(re.compile("wide"))
    page.go_back()
    expect(page.locator("textarea")).to_have_value(TIRED)
    expect(page.locator(".changes")).to_contain_text("muted")
    page.go_back()
    expect(page.locator(".changes")).to_be_hidden()
    page.go_forward()
    expect(page.locator(".changes")).to_contain_text("muted")


def test_what_is_only_looked_at_never_runs_the_model(page):
    page.locator("[data-control='mute']").click()
    page.evaluate(
        """() => {
            globalThis.asked = 0;
            for (const name of ["translate", "read"]) {
                const own = transformerLab.engine[name];
                transformerLab.engine[name] = function (...given) {
                    globalThis.asked++;
                    return own.apply(this, given);
                };
            }
        }"""
    )
    page.locator(".more > summary").click()
    for code in ("c1.4", "d2.2", "e2.3", "c2.1", "e1.1"):
        page.locator(f"[data-control='head {code}']").click()
        page.locator("[data-control='query 2']").click()
        page.locator("[data-control='step 5']").click()
        for name in ("As a map", "The numbers", "Where it looks"):
            view(page, name)
    assert page.evaluate("asked") == 0
    page.locator("[data-control='mute']").click()
    assert page.evaluate("asked") > 0


@pytest.mark.parametrize("scheme", thorough_from(1, ["light", "dark"]))
def test_in_colours_of_the_reader_bars_and_lines_are_still_to_be_seen(visit_page, lab_page, scheme):
    page = visit_page(lab_page, forced_colors="active", color_scheme=scheme).page
    page.locator("[data-control='mute']").click()
    lines = pixels_of(page.locator(".line-board svg").first)
    assert np.ptp(lines.sum(axis=-1)) > 300
    bar, panel = (pixels_of(page.locator(at).last) for at in (".next li .is", ".next li .track"))
    assert np.abs(np.median(bar, axis=(0, 1)) - panel[-1, -1]).sum() > 300


def test_at_twice_the_size_nothing_is_cut_off(visit_page, guided_page):
    page = visit_page(
        guided_page, viewport={"width": 640, "height": 450}, device_scale_factor=2
    ).page
    page.locator("[data-control='mute']").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 640


def test_a_screen_reader_hears_the_map_as_a_table_with_all_its_numbers(page, shipped):
    view(page, "As a map")
    weights = shipped.attend(TIRED).weights(Head("encoder", 1, 2))
    said = page.locator(".weight-map tbody tr").evaluate_all(
        """(rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) =>
            Number(cell.getAttribute("aria-label") ?? cell.innerText)))"""
    )
    np.testing.assert_allclose(said, weights, atol=0.006)
    expect(page.locator(".weight-map thead th[scope=col]")).to_have_count(weights.shape[1])
    expect(page.locator(".weight-map tbody th[scope=row]")).to_have_count(weights.shape[0])


def test_sampling_counts_its_translations_and_forgets_them_with_the_sentence(page, shipped):
    page.locator(".more > summary").click()
    page.locator(".sampling > summary").click()
    lines = page.locator(".sampling li")
    page.get_by_role("slider", name="Temperature").fill("0.1")
    page.get_by_role("button", name="Draw translations").click()
    expect(lines).to_have_text([f"20 × {shipped.translate(TIRED, beam_size=1)[0].translation}"])
    page.get_by_role("slider", name="Temperature").fill("3")
    page.get_by_role("button", name="Draw translations").click()
    expect(lines).not_to_have_count(1)
    counts = [int(text.split(" ")[0]) for text in lines.all_inner_texts()]
    assert sum(counts) == 20
    assert counts == sorted(counts, reverse=True)
    page.get_by_role("button", name="wide", exact=True).click()
    expect(lines).to_have_count(0)


def test_another_model_stands_beside_this_one(visit_page, shipped, tmp_path):
    torch.manual_seed(7)
    model = Transformer(shipped.model.config)
    other = Translator(model, shipped.source_tokenizer, shipped.target_tokenizer)
    path = lab(shipped, [TIRED, WIDE], others={"a second seed": other})
    page = visit_page(path.to_html(tmp_path / "lab.html")).page
    go(page, f"#head=c2.3&row={STEP}&step={STEP}")
    expect(page.locator(".other")).to_be_hidden()
    page.locator(".more > summary").click()
    models = page.get_by_label("Model next to this one")
    assert models.locator("option").all_inner_texts() == [
        "no other model",
        "an untrained model",
        "a second seed",
    ]
    models.select_option("a second seed")
    weights = other.attend(TIRED, FAMOUS[0].target).weights(Head("cross", 1, 2))[STEP]
    best = shipped.attend(TIRED).source_tokens[int(weights.argmax())]
    said = page.locator(".other p")
    expect(said).to_contain_text(f"looks most at “{best}” ({weights.max():.2f})")
    assert "beside=a+second+seed" in page.evaluate("transformerLab.address")
    page.locator("[data-control='mute']").click()
    expect(said).to_contain_text("writes other words now")
    expect(page.locator(".other .line-board")).to_be_hidden()
    page.get_by_role("button", name="Undo every change").click()
    page.get_by_label("Open a head").select_option("e1.1")
    page.locator("[data-control='mute']").click()  # it writes the same words
    expect(page.locator(".other .line-board")).to_be_visible()
    models.select_option("an untrained model")
    go(page, "#beside=nobody")
    expect(models).to_have_value("")


def test_each_thing_to_try_begins_where_it_can_be_tried(visit_page, guided_page):
    page = visit_page(guided_page).page
    prompts = famous_guide()["prompts"]
    for prompt in prompts[1:]:
        page.evaluate("transformerLab.state.follow('s=the cat sleeps&mute=c1.1')")
        page.get_by_role("button", name="Next thing to try").click()
        assert page.evaluate(f"transformerLab.state.isAt({prompt.start!r})"), prompt.ask
        assert not page.evaluate(f"transformerLab.state.isAt({prompt.goal!r})"), prompt.ask
        expect(page.locator(".guide .seen")).to_be_hidden()


def test_a_thing_to_try_can_be_set_up_again(visit_page, guided_page):
    page = visit_page(guided_page).page
    again = page.get_by_role("button", name="Restore the sentence and the changes that this step")
    expect(again).to_be_hidden()
    page.get_by_role("button", name="Next thing to try").click()
    open_head(page, f"finds the noun ({NOUN_FINDER})")
    expect(again).to_be_hidden()  # to look elsewhere spoils nothing
    page.locator("[data-control='mute']").click()
    again.click()
    expect(again).to_be_hidden()
    expect(page.locator("ins")).to_have_count(0)
    expect(page.get_by_label("Open a head")).to_have_value(READER)


def test_what_another_sentence_changed_is_marked(visit_page, guided_page, shipped):
    page = visit_page(guided_page).page
    fresh = page.locator(".step.fresh")
    expect(fresh).to_have_count(0)
    page.get_by_role("button", name="wide", exact=True).click()
    tired, wide = (shipped.attend(text).written_tokens for text in (TIRED, WIDE))
    changed = [step for step, (a, b) in enumerate(zip(tired, wide, strict=True)) if a != b]
    expect(fresh).to_have_text([wide[step] for step in changed])
    first = page.locator(f"[data-control='step {changed[0]}']")
    expect(first).to_have_attribute("title", re.compile(f"“{tired[changed[0]]}” in the last"))
    page.locator("[data-control='mute']").click()  # of the same sentence
    expect(fresh).to_have_count(len(changed))
    for other in ("the cat sleeps", "the dog wasn't tired because it had slept in the house"):
        page.locator("textarea").fill(other)
        page.locator("textarea").press("Enter")
        expect(fresh).to_have_count(0)  # it's another sentence


def test_a_press_alone_can_draw_a_head_over_the_open_one(visit_page, guided_page):
    page = visit_page(guided_page).page
    page.locator(".more > summary").click()
    over = page.get_by_role("button", name="Draw heads over the open one")
    page.locator("[data-control='head c2.1']").click()
    expect(page.get_by_label("Open a head")).to_have_value("c2.1")
    over.click()
    page.locator("[data-control='head c2.2']").click()
    expect(page.get_by_label("Open a head")).to_have_value("c2.1")
    expect(page.locator(".line-view .legend .swatch")).to_have_count(2)
    over.click()
    page.locator("[data-control='head c2.3']").click()
    expect(page.get_by_label("Open a head")).to_have_value("c2.3")


def test_the_numbers_of_a_strip_are_within_the_reach_of_the_arrows(visit_page, guided_page):
    page = visit_page(guided_page).page
    page.get_by_role("button", name="The numbers").click()
    strip = page.locator(".strip.query [role=group]")
    strip.focus()
    said = page.locator(".factors").first
    for key, number in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        expect(said).to_contain_text(f"Number {number} of 32: q × k = ")
    lit = page.locator(".strip.query i.lit")
    expect(lit).to_have_count(1)
    expect(lit).to_have_attribute("title", re.compile("number 1: "))


def test_a_model_that_cannot_be_fetched_is_said(visit_page, shipped, tmp_path):
    page_of = lab(shipped, [TIRED])
    page_of.data["others"] = [{"name": "a far one", "address": "nowhere/far.safetensors"}]
    visit = visit_page(page_of.to_html(tmp_path / "lab.html"))
    visit.page.locator(".more > summary").click()
    visit.page.get_by_label("Model next to this one").select_option("a far one")
    problem = visit.page.locator(".problem")
    expect(problem).to_contain_text("a far one can't be shown: ")
    expect(visit.page.get_by_label("Model next to this one")).to_have_value("")
    visit.errors.clear()  # the browser says it too


def test_a_model_of_another_shape_cannot_stand_beside_it(shipped):
    config = replace(shipped.model.config, num_heads=2)
    other = Translator(Transformer(config), shipped.source_tokenizer, shipped.target_tokenizer)
    with pytest.raises(ValueError, match="'two heads' has a different configuration; expected"):
        lab(shipped, TIRED, others={"two heads": other})


def test_what_the_reader_is_writing_stays_while_other_things_are_drawn(page):
    field = page.locator("textarea")
    field.fill("the cat")
    view(page, "As a map")
    open_head(page, "c2.2")
    expect(field).to_have_value("the cat")
    expect(page.locator(".problem")).to_contain_text("you see the last sentence")
    field.fill(f"{TIRED}  ")
    expect(page.locator(".problem")).to_be_hidden()


def test_the_keyboard_keeps_its_place_where_a_control_goes_away(visit_page, guided_page):
    page = visit_page(guided_page).page
    focused = "document.activeElement.dataset.control ?? document.activeElement.className"
    page.locator("[data-control='mute']").press("Enter")
    page.locator("[data-control='many']").press("Enter")
    assert page.evaluate("document.activeElement !== document.body")
    page.locator("[data-control='undo']").press("Enter")
    assert page.evaluate(focused) == "heads"
    page.locator("textarea").fill("the cat sleeps")
    page.locator("[data-control='ask']").press("Enter")
    assert page.evaluate(focused) == "heads"
    for _ in range(5):
        page.locator("[data-control='guide on']").press("Enter")
    assert page.evaluate(focused) == "guide back"


def test_lines_follow_the_state_once_the_keyboard_has_left_them(page):
    page.locator("[data-control='query 3']").focus()
    page.keyboard.press("ArrowDown")
    page.locator("[data-control='view lines']").focus()
    expect(page.locator(".column.query .lit")).to_have_attribute(
        "data-control", f"query {WHO.decider}"
    )


def test_an_address_without_a_row_opens_the_row_of_its_step(page):
    go(page, f"#head=c2.3&mute=e2.3&s={TIRED.replace(' ', '+')}")
    expect(page.locator(f"[data-control='query {STEP}']")).to_have_class(re.compile("lit"))
    # A sentence that cannot be read takes nothing else with it.
    go(page, "#s=qqqq&mute=e1.1&head=e1.2")
    expect(page.locator(".problem")).to_contain_text("no word of the vocabulary")
    expect(page.locator(".changes")).to_contain_text("e2.3")
    expect(page.get_by_label("Open a head")).to_have_value("c2.3")


def test_a_translator_from_a_file_takes_the_place_of_the_pages_own(page, tmp_path):
    """One with other words and one layer; a file that holds no translator is named, and all stays."""
    torch.manual_seed(3)
    words = WordTokenizer.train(["un deux trois quatre cinq"])
    sizes = {"source_vocab_size": words.vocab_size, "target_vocab_size": words.vocab_size}
    stacks = {"num_encoder_layers": 1, "num_decoder_layers": 1}
    model = Transformer(TransformerConfig(**sizes, **stacks, d_model=12, d_ff=20, num_heads=3))
    other = Translator(model, words, words)
    other.save(tmp_path / "other.safetensors")
    (tmp_path / "no.safetensors").write_bytes(b"what")
    page.locator("details.more > summary").click()
    file = page.locator("input[type=file]")
    file.set_input_files(tmp_path / "no.safetensors")
    problem = page.locator(".saving .unreadable")
    expect(problem).to_have_text(re.compile("no.safetensors can’t be opened: .*no header"))
    expect(page.locator("textarea")).to_have_value(re.compile("animal"))
    file.set_input_files(tmp_path / "other.safetensors")
    expect(page.locator("textarea")).not_to_have_value(re.compile("animal"))
    sentence = page.locator("textarea").input_value()
    (expected,) = other.translate(sentence, beam_size=1)
    written = page.evaluate("transformerLab.state.now.translation")
    assert written == expected.translation
    assert len(page.locator("[data-control=heads] option").all()) == 9
