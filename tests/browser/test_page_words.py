"""Pieces joined to words in the page: what JavaScript joins is what Python's by_words joins."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.screen import close, numbers, serious
from tests.records import make_record, probabilities
from tests.thorough import thorough_from
from transformer_lab.attention.record import KINDS, AttentionRecord, Head, Referent
from transformer_lab.attention.scores import head_scores
from transformer_lab.attention.words import by_words, join_map, step_groups, word_groups
from transformer_lab.lab import lab
from transformer_lab.lab.record_data import page_data

SOURCE = (" The", " tro", "phy", " can", "'", "t", " fit", " i", "n", ".", "</s>")
TARGET = ("<pad>", " O", " tro", "f", "éu", " cai", "u")
WRITTEN = (" O", " tro", "f", "éu", " cai", "u", "</s>")
STEP = 1 / 65535  # of a weight's root, as a joined map keeps it


def pieces(**changes) -> AttentionRecord:
    facts = {
        "next_tokens": probabilities(WRITTEN, np.random.default_rng(0)),
        "alignment": ((0, 0), (1, 1), (2, 2), (2, 3), (6, 5)),
        "referent": Referent(pronoun=8, referent=2, other=6, step=3, decider=9),
    }
    return make_record(SOURCE, TARGET, WRITTEN, **facts | changes)


RECORD = pieces(encoder=(3, 3), decoder=(), cross=(2,))

JOIN = """async ({ byWords }, data) => {
    const { readRecords } = await import("/record.js");
    const [stored] = await readRecords(data);
    const record = byWords(stored);
    const numbers = (maps) => Object.fromEntries(Object.entries(maps).map(([kind, layers]) =>
        [kind, layers.map((heads) => heads.map((map) =>
            map.weights.map((row) => [...row])))]));
    const bytes = record.maps.cross[0][0].bytes;
    const { source, target, written, next_tokens, alignment, referent, scores, begun } = record;
    return { before: numbers(stored.maps), after: numbers(record.maps), bytes: [...bytes],
        source, target, written, next_tokens, alignment, referent, scores, begun };
}"""


def test_javascript_joins_the_maps_that_it_has_as_python_joins_them(ask):
    record = pieces(encoder=(2, 3), decoder=(3,), cross=(2, 2))
    found = ask("attention_words.js", JOIN, page_data([record]))
    words = by_words(record)
    source, (read, written) = word_groups(SOURCE), step_groups(record)
    sides = {"encoder": (source, source), "decoder": (read, read), "cross": (written, source)}
    for kind in KINDS:
        for layer, exact in enumerate(getattr(words, kind)):
            after = np.array(found["after"][kind][layer])
            of_bytes = join_map(np.array(found["before"][kind][layer]), *sides[kind])
            np.testing.assert_allclose(np.sqrt(after), np.sqrt(of_bytes), atol=0.51 * STEP)
            # Of each piece a weight is true to within 0.0006; a word here has three at most.
            np.testing.assert_allclose(after, exact, atol=3 * 0.0006)
    highest = np.floor(np.sqrt(words.cross[0][0]).ravel() * 65535 / 256)
    np.testing.assert_allclose(found["bytes"], highest, atol=3)
    assert tuple(found["source"]) == words.source_tokens
    assert tuple(found["target"]) == words.target_tokens
    assert tuple(found["written"]) == words.written_tokens
    steps = json.loads(json.dumps(words.next_tokens))
    assert found["next_tokens"] == steps
    assert found["begun"] == [" O", " tro", " cai", "</s>"]
    assert tuple(map(tuple, found["alignment"])) == words.alignment
    assert found["referent"] == words.referent._asdict()
    for kind in KINDS:
        assert found["scores"][kind] == json.loads(json.dumps(head_scores(words, kind)))


def test_words_begin_where_they_begin_in_python(ask):
    rng = np.random.default_rng(7)
    signs = [
        "a",
        "é",
        "b",
        "'",
        "’",
        "-",
        ".",
        "_",
        "1",
        " ",
        " a",
        " '",
        "▁",
        "▁ü",
        "<unk>",
        "</s>",
    ]
    signs += ["", "\ufffd", "\n", "😀", "का", "\u093e", ">>fr<<", " </s>", "),", "²", "٣", "Ⅷ"]
    lists = [list(rng.choice(signs, size=rng.integers(0, 17))) for _ in range(2000)]
    found = ask("attention_words.js", "({ wordGroups }, lists) => lists.map(wordGroups)", lists)
    assert found == [[list(group) for group in word_groups(tokens)] for tokens in lists]


def test_a_record_of_words_is_left_alone_and_nothing_is_offered(ask, visit_page, tmp_path):
    same = """async ({ byWords }, data) => {
        const [record] = await (await import("/record.js")).readRecords(data);
        return byWords(record) === record }"""
    assert ask("attention_words.js", same, page_data([make_record()]))
    opened = visit_page(lab(make_record()).to_html(tmp_path / "words.html"))
    expect(opened.root.get_by_role("group", name="Tokens")).to_have_count(0)


@pytest.fixture(scope="module")
def page_of_pieces(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "pieces.html"
    return lab(RECORD, start="head=e1.1&row=2&key=4&view=map").to_html(path)


def test_a_page_without_decoder_attention_shows_pieces_and_on_demand_words(
    visit_page, page_of_pieces
):
    opened = visit_page(page_of_pieces)
    words, root = by_words(RECORD), opened.root
    kinds = root.get_by_label("Open a head").locator("optgroup")
    labels = kinds.evaluate_all("all => all.map((e) => e.label)")
    assert labels == ["Encoder self-attention", "Cross-attention"]
    assert opened.words("keys") == [t.replace(" ", "␣") for t in SOURCE]
    opened.button("Words").click()
    expect(opened.button("Words")).to_have_attribute("aria-pressed", "true")
    expect(root.locator(".moments")).to_contain_text("A word's row is the mean of its pieces' rows")
    assert opened.words("queries") == opened.words("keys") == list(words.source_tokens)
    assert root.locator(".source .token").all_inner_texts() == list(words.source_tokens)
    # What was pinned, "phy" and "'", is now the words that they are pieces of.
    readout = opened.readout
    said = "The weight of “can't” is {}. “trophy” looks most at"
    weight = words.encoder[0][0][1, 2]
    assert readout.startswith(said.format(readout.split(" is ")[1][:5]))
    assert numbers(readout)[0] == pytest.approx(weight, abs=0.0025)
    entropy = head_scores(words, "encoder")[0]["values"][0]
    note = root.locator(".weight-map .note").inner_text()
    assert numbers(note.partition("entropy")[2])[0] == pytest.approx(entropy, abs=0.006)
    opened.page.mouse.move(0, 0)
    close(opened.weights(), words.encoder[0][0])
    opened.open_head(Head("cross", 0, 0))
    close(opened.weights(), words.cross[0][0])
    opened.button("Pieces").click()
    close(opened.weights(), RECORD.weights(Head("cross", 0, 0)))


def test_what_is_pinned_is_the_first_piece_of_its_word_when_words_are_parted(
    visit_page, page_of_pieces
):
    opened = visit_page(page_of_pieces)
    opened.button("Words").click()
    opened.cell(3, 4).click()  # fit, in
    opened.button("Pieces").click()
    assert opened.readout.startswith("The weight of “␣i” is ")
    assert "“␣fit” looks most at" in opened.readout


def test_steps_say_which_piece_began_a_word(visit_page, page_of_pieces):
    opened = visit_page(page_of_pieces)
    opened.open_head(Head("cross", 0, 0))
    opened.button("Words").click()
    steps = opened.root.locator(".written button")
    assert steps.all_inner_texts() == ["O", "troféu", "caiu", "</s>"]
    steps.nth(1).click()
    panel = opened.root.locator(".next")
    expect(panel.locator("h3")).to_have_text("Which word comes after “O”?")
    expect(panel.locator(".taken bdi")).to_have_text("␣tro")
    # The step is that word's first piece, also when its pieces are shown.
    opened.button("Pieces").click()
    assert opened.root.locator(".written [aria-pressed=true]").all_inner_texts() == ["␣tro"]
    assert opened.readout.startswith("“␣tro” looks most at")


@pytest.mark.parametrize("theme", thorough_from(1, ["light", "dark"]))
@pytest.mark.parametrize("width", [1280, 390])
def test_words_fit_every_screen(visit_page, page_of_pieces, theme, width):
    size = {"width": width, "height": 900}
    opened = visit_page(page_of_pieces, viewport=size, color_scheme=theme)
    opened.button("Words").click()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(opened.page) == []
