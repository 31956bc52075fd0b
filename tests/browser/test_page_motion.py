"""What moves in drawings: copies carry the numbers of their cells to where these belong."""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.drawn import open_drawing
from tests.drawings import DRAWINGS
from tests.lab import test_growing_beam, test_kv_cache, test_turning
from tests.lab.test_flow import drawn, translator  # noqa: F401  fixtures
from tests.lab.test_hops import HEADS, Answers
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.lab import (
    attention_player,
    clock_positions,
    growing_beam,
    kv_cache,
    turning_arrows,
    two_hops,
)
from transformer_lab.numpy_reference import scaled_dot_product_attention

RANDOM = np.random.default_rng(11)
INPUTS = RANDOM.normal(size=(3, 7))
QUERY, KEY = (INPUTS @ weights for weights in RANDOM.normal(size=(2, 7, 5)))
VALUE = INPUTS @ RANDOM.normal(size=(7, 2))
KINDS = {
    **DRAWINGS,
    "player": lambda: attention_player(["a", "b", "c"], QUERY, KEY, VALUE, inputs=INPUTS, row=1),
    "cache": lambda: kv_cache(
        test_kv_cache.WORDS, test_kv_cache.QUERY, test_kv_cache.KEY, test_kv_cache.VALUE
    ),
    "clocks": lambda: clock_positions(34),
    "arrows": lambda: turning_arrows(
        test_turning.QUERY, test_turning.KEY, words=test_turning.WORDS
    ),
    "hops": lambda: two_hops(Answers(), FAMOUS, HEADS),
    "beam": lambda: growing_beam(**test_growing_beam.GIVEN),
}
AT = """(at) => document.getAnimations().forEach((one) => { one.pause(); one.currentTime = at; })"""
FINISH = "document.getAnimations().forEach((one) => one.finish())"
GHOSTS = """() => [...document.querySelectorAll(".ghost")].map(
    (ghost) => [...ghost.children].map((cell) => cell.textContent))"""
TEXTS = "all => all.map((cell) => cell.textContent)"


def to_numbers(texts):
    return [float(text.replace("−", "-") or "0") for text in texts]


@pytest.fixture
def show(browser, tmp_path):
    """A drawing's page at a step, at which everything has just begun to move."""
    contexts = []

    def show(kind, step, **options):
        drawing = KINDS[kind]() if isinstance(kind, str) else kind
        page = open_drawing(browser, drawing, tmp_path, **options)
        contexts.append(page.context)
        if step == 0:
            page.locator("[data-control='step 1']").click()
        for before in range(step + 1):
            page.evaluate(FINISH)
            page.locator(f"[data-control='step {before}']").click()
        page.evaluate(AT, 0)
        return page

    yield show
    for context in contexts:
        context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_when_all_is_still_the_page_is_the_one_that_never_moved(browser, tmp_path, kind):
    pages = [
        open_drawing(browser, KINDS[kind](), tmp_path, reduced_motion=motion)
        for motion in ("reduce", "no-preference")
    ]
    moved = 0
    for step in range(pages[0].locator("button[data-control^='step ']").count()):
        for page in pages:
            page.locator(f"[data-control='step {step}']").click()
        moved += pages[1].evaluate("document.getAnimations().length")
        assert pages[0].evaluate("document.getAnimations().length") == 0
        pages[1].evaluate(FINISH)
        expect(pages[1].locator(".ghost")).to_have_count(0)
        still, after = (page.locator(".tl-lesson").inner_html() for page in pages)
        assert after == still
    assert moved > 0
    for page in pages:
        page.context.close()


def test_a_query_goes_to_each_key_and_the_products_to_the_score(show):
    page = show("player", 2)
    grids = page.locator(".grid")
    query = grids.nth(1).locator("tbody tr").nth(1).locator("td").evaluate_all(TEXTS)
    ghosts = page.evaluate(GHOSTS)
    assert ghosts[0::2] == [query] * 3
    for products, key in zip(ghosts[1::2], KEY, strict=True):
        np.testing.assert_allclose(to_numbers(products), QUERY[1] * key, atol=0.0051)


def test_values_go_into_the_output_each_with_its_share(show):
    page = show("player", 5)
    _, weights = scaled_dot_product_attention(QUERY, KEY, VALUE)
    shares = page.locator(".ghost.share b").evaluate_all(TEXTS)
    np.testing.assert_allclose(to_numbers(shares), weights[1], atol=0.046)
    parts = page.locator(".ghost.value").evaluate_all(
        "all => all.map((ghost) => [...ghost.children].map((cell) => cell.textContent))"
    )
    found = np.array([to_numbers(part) for part in parts])
    np.testing.assert_allclose(found, weights[1][:, None] * VALUE, atol=0.0051)
    output = page.locator(".grid").last.locator("tbody tr").nth(1).locator("td")
    np.testing.assert_allclose(
        found.sum(axis=0), to_numbers(output.evaluate_all(TEXTS)), atol=0.021
    )


LANDED = """() => {
    const middle = (element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return [left + width / 2, top + height / 2];
    };
    const cells = [...document.querySelectorAll("td")];
    return [...document.querySelectorAll(".ghost")].flatMap((ghost) => [...ghost.children].map((copy) => {
        const [x, y] = middle(copy);
        const below = cells.find((cell) => middle(cell).every((at, i) => Math.abs(at - [x, y][i]) < 1));
        return [copy.textContent, below?.textContent];
    }));
}"""
"""For each copy of a cell its text, and that of the cell on which it lies."""


@pytest.mark.parametrize("step", [4, 7])
@pytest.mark.parametrize(
    ("way", "size"), [("reshape, then swap", 1), ("reshape, then swap", 1.3), ("reshape alone", 1)]
)
def test_each_number_of_a_head_arrives_on_itself(show, step, way, size):
    page = show("slabs", step)
    if size != 1:
        # A slide enlarges its drawings.
        page.evaluate("(size) => { document.body.style.zoom = size; }", size)
        for number in (step - 1, step):
            page.evaluate(FINISH)
            page.locator(f"[data-control='step {number}']").click()
    if way == "reshape alone":
        if step == 7:
            page.get_by_role("button", name=way).click()
            page.evaluate(FINISH)
            page.locator("[data-control='step 6']").click()
            page.evaluate(FINISH)
            page.locator("[data-control='step 7']").click()
        else:
            page.evaluate(FINISH)
            page.get_by_role("button", name=way).click()
    # Just before its end each copy lies on its goal; after its end it is gone.
    page.evaluate("""() => document.getAnimations().forEach((one) => {
        one.pause();
        one.currentTime = one.effect.getComputedTiming().endTime - 1;
    })""")
    pairs = page.evaluate(LANDED)
    assert len(pairs) == 5 * 6
    assert all(copy == below for copy, below in pairs)


def test_the_mask_slides_over_what_it_hides(show):
    page = show("stepper", 2)
    hidden = page.locator(".ghost.under b").evaluate_all(TEXTS)
    assert hidden == ["1"] * 10, "five words hide 4 + 3 + 2 + 1"
    places = "all => all.map((one) => one.getBoundingClientRect().left)"
    start = page.locator(".ghost.mask").evaluate_all(places)
    page.evaluate(AT, 5_000)
    unseen = page.locator(".grid tr .unseen:nth-child(n + 2):is(td:not(.unseen) + .unseen)")
    page.evaluate("document.getAnimations().forEach((one) => one.finish())")
    end = unseen.evaluate_all(places)
    assert len(start) == len(end) == 4
    assert all(before > after + 20 for before, after in zip(start, end, strict=True))


def test_what_is_kept_in_the_cache_stays_where_it_is(show):
    page = show("cache", 3)
    moving = """(kind) => document.getAnimations().filter(
        ({ effect: { target } }) => target.matches?.(`td.part.${kind}`)).length"""
    assert page.evaluate(moving, "kept") == 0
    assert page.evaluate(moving, "new") == 2 * (3 + 3 + 2), "the new row of both tables"
    assert page.evaluate(moving, "again") == 3 * (3 + 3 + 2)


def turned(page, selector):
    """By how much hands turn, in degrees to the right: from where they stood to where they are drawn."""
    frames = page.locator(selector).evaluate_all(
        """all => all.map((hand) => hand.getAnimations()[0]?.effect.getKeyframes()[0].transform)"""
    )
    return [frame and math.degrees(float(re.search(r"\((.*)rad", frame)[1])) for frame in frames]


def test_hands_turn_by_the_angle_between_two_places(show):
    page = show("clocks", 0)
    page.evaluate(FINISH)
    page.locator("[data-control=position]").press("ArrowRight")
    speeds = 10_000 ** (-np.array([0, 2, 4, 6]) / 17)
    # A frame turns a hand back to where it stood: to the left, by one word.
    np.testing.assert_allclose(turned(page, "path.query"), -np.degrees(speeds), rtol=1e-4)


def test_moved_together_query_key_and_the_angle_between_them_turn_alike(show):
    page = show("arrows", 0)
    page.evaluate(FINISH)
    page.locator("[data-control=both]").click()
    angles = turned(page, "figure:nth-of-type(2) :is(path.query, path.key, path.sector)")
    np.testing.assert_allclose(angles, [math.degrees(1)] * 3, rtol=1e-4)
    page.evaluate(FINISH)
    page.locator("[data-control=other]").press("ArrowRight")
    assert turned(page, "figure:nth-of-type(2) path.query") == [None], "only the key has moved"


def test_what_a_loop_says_is_added_to_what_flows_by(show):
    page = show("stream", 2)
    for wiring, ghosts in zip(
        page.locator(".wiring").all(), np.array_split(page.evaluate(GHOSTS), 2), strict=True
    ):
        total = to_numbers(
            wiring.locator(".on.plus .vector span").evaluate_all(TEXTS)[: len(ghosts[0])]
        )
        np.testing.assert_allclose(sum(np.array(to_numbers(g)) for g in ghosts), total, atol=0.011)


def test_a_new_beginning_comes_out_of_the_one_that_it_continues(show):
    page = show("beam", 2)
    drawing = KINDS["beam"]().data
    for node in drawing["columns"][2]:
        place = page.locator(f"[data-control='node {node}']").bounding_box()
        parent = page.locator(f"[data-control='node {drawing['parents'][node]}']").bounding_box()
        assert place["x"] == pytest.approx(parent["x"], abs=0.6)
        assert place["y"] == pytest.approx(parent["y"], abs=0.6)


def test_a_hop_carries_the_word_that_gives_most(show):
    data = KINDS["hops"]().data
    for step, deciding in ((1, "decider"), (2, "step")):
        page = show("hops", step)
        kind = "encoder" if step == 1 else "cross"
        for pair, ghost in zip(data["pairs"], page.evaluate(GHOSTS), strict=True):
            maps = [
                m
                for m, head in zip(pair["maps"], data["heads"], strict=True)
                if head["kind"] == kind
            ]
            strongest = max(maps, key=lambda m: max(m[pair[deciding]]))[pair[deciding]]
            assert ghost == [pair["source"][strongest.index(max(strongest))]]


def test_the_words_go_up_the_arrows_of_figure_1(show, drawn):  # noqa: F811
    sides = drawn.data["sides"]
    names = [box["name"] for box in drawn.data["boxes"]]
    for name, sent in (
        ("source_embedding", [sides["encoder"]]),
        ("encoder.add_norm_1", [sides["encoder"]] * 2),
        ("decoder.cross_attention", [sides["decoder"], sides["encoder"]]),
    ):
        page = show(drawn, names.index(name))
        assert page.evaluate(GHOSTS) == sent
        page.evaluate(FINISH)
        expect(page.locator(".ghost")).to_have_count(0)
