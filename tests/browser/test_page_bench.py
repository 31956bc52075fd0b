"""The bench in a browser: what it says is what Python's model says, muted and pointed too."""

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from tests.browser.screen import serious
from tests.thorough import thorough_from
from transformer_lab.attention.capture import capture_attention
from transformer_lab.attention.record import Head
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.lab.bench import bench
from transformer_lab.lab.bench_guide import NOUN_FINDER, READER, famous_guide
from transformer_lab.translator import Translator

TIRED, WIDE = (pair.source for pair in FAMOUS)
WHO = FAMOUS[0].coreference
STEP = WHO.target_pronoun
START = f"head=e2.3&row={WHO.decider}&step={STEP}"


@pytest.fixture(scope="module")
def lab_page(shipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "lab.html"
    return bench(shipped, [TIRED, WIDE], start=START).to_html(path)


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
    page.get_by_role("button", name=re.compile("Set this head's output to 0")).click()
    expect(page.locator(".stakes")).to_contain_text("→")
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
    expect(page.locator(".stakes")).not_to_contain_text("→")


def test_a_pointed_row_changes_the_pronoun_as_in_python(page, shipped):
    cell = page.locator(f"td[data-row='{WHO.decider}'][data-key='{WHO.other}']")
    cell.click()
    page.get_by_role("button", name=re.compile("look only at “street”")).click()
    head = Head("encoder", 1, 2)
    rows = shipped.attend(TIRED).weights(head).copy()
    rows[WHO.decider] = 0
    rows[WHO.decider, WHO.other] = 1
    expected = shipped.attend(TIRED, patch={head: rows}).written_tokens
    assert "elle" in expected
    ids = [shipped.target_tokenizer.ids[token] for token in expected]
    expect(page.locator(".stakes b")).to_have_text(shipped.target_tokenizer.decode(ids))
    expect(cell).to_have_text("1")
    page.get_by_role("button", name="Own weights again", exact=True).click()
    expect(page.locator(".stakes")).not_to_contain_text("→")


def test_a_row_can_be_given_any_share_and_the_others_keep_their_proportions(page, shipped):
    page.locator(f"td[data-row='{WHO.decider}'][data-key='{WHO.other}']").click()
    page.get_by_role("slider", name="Share of “street”").fill("70")
    head = Head("encoder", 1, 2)
    rows = shipped.attend(TIRED).weights(head).copy()
    own = rows[WHO.decider].copy()
    rows[WHO.decider] = own * 0.3 / (1 - own[WHO.other])
    rows[WHO.decider, WHO.other] = 0.7
    expected = shipped.attend(TIRED, FAMOUS[0].target, patch={head: rows}, top=633)
    said = dict(re.findall(r"(elle|il) [<\d. ]+ → ([\d.]+)", stakes(page)))
    for word, value in said.items():
        assert float(value) == pytest.approx(dict(expected.next_tokens[STEP])[word], abs=2e-3)
    assert {"il", "elle"} == set(said)
    expect(page.locator(".how")).to_contain_text("You have set it to 0.700")
    address = page.evaluate("location.hash")
    page.evaluate("location.hash = '#head=e1.1'")
    expect(page.locator(".stakes")).not_to_contain_text("→")
    page.evaluate("(address) => { location.hash = address; }", address)
    expect(page.locator(".changes")).to_contain_text("gives 0.70 to “street”")


def test_a_later_word_is_hidden_and_no_row_can_be_pointed_at_it(page, shipped):
    page.locator("[data-control='head d1.3']").click()
    expect(page.locator(".where td.unseen")).to_have_count(15 * 14 // 2)
    page.locator(".where td[data-row='4'][data-key='6']").click(force=True)
    expect(page.get_by_role("slider")).to_have_count(0)
    page.locator(".where td[data-row='4'][data-key='4']").click()
    page.locator(".where .weights").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("td.chosen")).to_have_attribute("data-key", "4")
    expect(page.locator(".scores tbody tr")).to_have_count(5)
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
    # With one word to see there is nothing to share.
    page.locator(".where td[data-row='0'][data-key='0']").click()
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
    page.locator(f".where td[data-row='{row}'][data-key='1']").click()
    page.locator("[data-control='point']").click()
    expect(page.locator(".changes")).to_contain_text("looks only at")
    page.locator("[data-control='head c2.2']").click()
    expect(page.locator(".where h2")).to_contain_text("c2.2")


def test_the_first_press_after_writing_a_sentence_counts(page):
    sentence = page.get_by_role("textbox")
    sentence.fill("the cat sleeps")
    sentence.press("Enter")
    page.locator("[data-control='mute']").click()
    expect(page.locator(".changes")).to_contain_text("e2.3 muted")
    sentence.fill("the dog sleeps")
    page.get_by_role("button", name="Translate this sentence").click()
    expect(page.locator(".written")).to_contain_text("chien")
    expect(page.locator(".changes")).to_contain_text("e2.3 muted")


def test_what_stands_there_while_another_sentence_is_written_is_marked(page):
    field = page.locator("textarea")
    field.fill("the cat sleeps")
    expect(page.locator(".problem")).to_contain_text("still the last sentence")
    expect(page.locator("header.stale")).to_have_count(1)
    field.press("Enter")
    expect(page.locator(".written")).to_contain_text("chat")
    expect(page.locator(".problem")).to_be_hidden()
    expect(page.locator("header.stale")).to_have_count(0)


def test_a_step_behind_the_first_changed_word_says_after_which_words_it_is_asked(page):
    page.locator("[data-control='head e2.3']").press("m")
    step = next(i for i, token in enumerate(FAMOUS[0].target_tokens) if token == "il")
    page.locator(f"[data-control='step {step}']").click()
    expect(page.locator(".behind")).to_have_count(0)
    page.locator(f"[data-control='step {step + 1}']").click()
    expect(page.locator(".behind")).to_contain_text(f"wrote “elle” at step {step + 1}")
    expect(page.locator(".stakes")).to_contain_text(f"Steps behind {step + 1} are asked after")


def test_a_head_that_is_not_there_is_an_error(page):
    for heads in ("['e9.9']", "['foo']", "[{ kind: 'encoder', layer: 1, head: 4 }]"):
        ask = f"transformerLab.translate('the cat sleeps', {{ mute: {heads} }}).catch(String)"
        assert "expected one such as" in page.evaluate(ask)


def test_what_is_kept_as_a_is_what_everything_is_compared_with(page, shipped):
    page.locator("[data-control='head e2.3']").press("m")
    page.get_by_role("button", name="Compare from now on").click()
    expect(page.locator(".changes")).to_contain_text("this is A: e2.3")
    expect(page.locator(".stakes")).not_to_contain_text("→")
    page.locator("[data-control='head c2.1']").press("m")
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
    address = page.evaluate("location.hash")
    assert "a-mute=e2.3" in address
    page.get_by_role("button", name="Go back to A").click()
    expect(page.locator("[data-control='head c2.1']")).not_to_have_class(re.compile("muted"))
    page.get_by_role("button", name="Compare with the unchanged model again").click()
    expect(page.locator(".stakes")).to_contain_text("elle")
    expect(page.locator(".stakes")).to_contain_text("→")


def test_the_row_in_every_head_and_the_lens_are_those_of_python(page, shipped):
    record = shipped.attend(TIRED)
    page.locator(".every-head summary").click()
    lines = page.locator(".every-head tbody tr")
    expect(lines).to_have_count(8)
    for number, line in enumerate(lines.all()):
        weights = record.weights(Head("encoder", *divmod(number, 4)))[WHO.decider]
        for cell, weight in zip(line.locator("td").all(), weights, strict=True):
            text = cell.inner_text()
            assert float(text or 0) == pytest.approx(weight, abs=0.006 if text else 0.046)
    page.get_by_role(
        "button", name=re.compile("Open Encoder self-attention, layer 1, head 2")
    ).click()
    expect(page.locator(".where h2")).to_contain_text("e1.2")
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
    page.locator(".so-what summary").click()
    expect(page.locator(".so-what")).to_contain_text("push on il")
    said = re.search(
        r"push on il against elle: ([\d.]+) nats", page.locator(".so-what").inner_text()
    )
    assert float(said[1]) == pytest.approx(own - without, abs=0.06)


def test_every_number_of_the_chosen_row_is_there_and_adds_up(page, shipped):
    record = shipped.attend(TIRED)
    row = record.weights(Head("encoder", 1, 2))[WHO.decider]
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
    page.locator(".where h2").hover()
    expect(page.locator(".strip i.lit")).to_have_count(0)


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
    changes = page.locator(".changes")
    for nonsense, kept in (
        ("#head=e9.9&row=999&mute=x,e2.3,e02.3&point=e2.3:77:1,e2.3&step=-4", "e2.3 muted"),
        ("#%%%", "Nothing is changed"),
        ("#point=e2.3:at:name,e2.3:0:length,e2.3:1:2:,e2.3:1:2:7,d1.1:2:5", "Nothing is changed"),
        ("#point=e2.3:10:7,e2.3:10:1", "“wide” looks only at “animal”"),
        ("#a-mute=e2.3&mute=e2.3,e2.3", "this is A: e2.3"),
    ):
        page.evaluate("(address) => { location.hash = address; }", nonsense)
        expect(changes).to_contain_text(kept)
        assert changes.inner_text().count("×") <= 1
        expect(page.locator(".where h2")).to_contain_text("c2.2")


def test_the_keyboard_alone_is_enough(page):
    head = page.locator("[data-control='head e2.3']")
    head.focus()
    page.keyboard.press("m")
    expect(head).to_have_class(re.compile("muted"))
    expect(head).to_be_focused()
    page.locator(".where .weights").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator("td.chosen")).to_have_attribute("data-row", str(WHO.decider + 1))
    expect(page.locator(".where .weights")).to_be_focused()


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
    # The last sentence is still there, and can be worked with.
    page.locator("[data-control='head e2.2']").click()
    expect(page.locator(".where h2")).to_contain_text("e2.2")
    page.keyboard.press("m")
    expect(page.locator(".changes")).to_contain_text("e2.2 muted")
    sentence.fill("the cat sleeps")
    sentence.press("Enter")
    expect(page.locator(".problem")).to_be_hidden()


def test_the_dots_say_what_each_head_costs(page, shipped):
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


@pytest.mark.parametrize("width", thorough_from(1, [390, 736, 1280]))
def test_nothing_is_wider_than_the_screen(visit_page, lab_page, width):
    page = visit_page(lab_page, viewport={"width": width, "height": 800}).page
    address = f"#{START}&key={WHO.other}&point=e2.3:{WHO.decider}:{WHO.other}:0.70&a-mute=e1.1"
    page.evaluate("(address) => { location.hash = address; }", address)
    expect(page.locator(".stakes")).to_contain_text("→")
    page.locator(".every-head summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def guided_page(shipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("guided") / "lab.html"
    return bench(shipped, **famous_guide()).to_html(path)


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
    head = page.locator(f"[data-control='head {NOUN_FINDER}']")
    cell = f"td[data-row='{WHO.decider}'][data-key='{{}}']"
    mute = page.get_by_role("button", name=re.compile("Set this head's output to 0"))

    def go_on():
        guide.get_by_role("button", name="Next thing to try").click()
        expect(seen).to_be_hidden()

    expect(guide.get_by_role("button", name="Previous thing to try")).to_be_disabled()
    expect(seen).to_be_hidden()
    page.get_by_role("button", name="wide", exact=True).click()
    expect(seen).to_contain_text("“il” became “elle”")
    assert "elle" in page.locator(".written").inner_text().split()
    go_on()
    page.get_by_role("button", name="tired", exact=True).click()
    page.locator(f"[data-control='head {READER}']").click()
    page.locator(f".where th[data-row='{STEP}']").click()
    expect(seen).to_contain_text("At “tired”")
    record = shipped.attend(TIRED)
    assert record.weights(Head("cross", 1, 2))[STEP].argmax() == WHO.decider
    go_on()
    head.click()
    page.locator(f".where th[data-row='{WHO.decider}']").click()
    expect(seen).to_contain_text("“tired” looks at “animal”")
    assert record.weights(Head("encoder", 1, 2))[WHO.decider].argmax() == WHO.referent
    go_on()
    mute.click()
    expect(seen).to_contain_text("about a third")
    assert 0.28 < float(re.search(r"il 1\.000 → ([\d.]+)", stakes(page))[1]) < 0.39
    expect(page.locator(f"[data-control='step {STEP}']")).to_have_text("il elle")
    go_on()
    page.get_by_role("button", name="Undo every change").click()
    page.locator(cell.format(WHO.other)).click()
    page.get_by_role("button", name=re.compile("look only at “street”")).click()
    expect(seen).to_contain_text("the street is tired")
    expect(page.locator(".stakes b")).to_contain_text("elle était trop fatiguée")
    expect(page.locator("ins")).to_have_text(["elle", "fatiguée"])
    go_on()
    page.get_by_role("button", name="Undo every change").click()
    mute.click()
    page.locator("[data-control='many']").click()
    expect(seen).to_contain_text("Both numbers are next to the button")
    expect(guide.get_by_role("button", name="Next thing to try")).to_be_disabled()
    said = re.search(
        r"Of 100 .*, (\d+) are right .* nothing muted, (\d+) without e2\.3",
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


@pytest.mark.thorough(caught_by=["test_the_engine_is_there_for_anyone"])
def test_the_floor_of_label_smoothing_is_said_of_a_model_that_has_one(visit_page, page, tmp_path):
    said = "Trained with label smoothing"
    assert said not in page.locator(".next .note").inner_text()
    smoothed = Translator.load(device="cpu")
    smoothed.about["training"]["label_smoothing"] = 0.1
    other = visit_page(bench(smoothed, TIRED).to_html(tmp_path / "smoothed.html")).page
    words = smoothed.model.config.target_vocab_size
    floor = f"at least ε / {words} = {0.1 / words:.2g}"
    expect(other.locator(".next .note")).to_contain_text(f"{said}, ε = 0.1")
    expect(other.locator(".next .note")).to_contain_text(floor)


@pytest.mark.parametrize("theme", thorough_from(1, ["dark", "light"]))
def test_an_accessibility_checker_finds_nothing_serious(visit_page, guided_page, theme):
    page = visit_page(guided_page, color_scheme=theme).page
    assert serious(page) == []
    address = "#head=c2.4&row=9&key=7&mute=e2.3&point=c2.4:9:7:0.40&a-mute=c1.1"
    page.evaluate("(address) => { location.hash = address; }", address)
    page.locator(".every-head summary").click()
    page.locator(".guide").get_by_role("button", name="Next thing to try").click()
    page.get_by_role("textbox").fill("the anmal sleeps")
    page.get_by_role("textbox").press("Enter")
    expect(page.locator(".read s")).to_have_text("<unk>")
    assert serious(page) == []
