"""The cache on the screen: what it computes is causal attention, and its rows are counted right."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.drawn import open_drawing, walk
from tests.lab.test_kv_cache import KEY, QUERY, VALUE, WORDS
from transformer_lab.lab import kv_cache
from transformer_lab.numpy_reference import scaled_dot_product_attention

N = len(WORDS)


@pytest.mark.thorough(
    caught_by=["tests/browser/test_page_beam.py::test_every_step_can_be_read_everywhere"]
)
def test_every_step_can_be_read_everywhere(browser, tmp_path):
    assert walk(browser, kv_cache(WORDS, QUERY, KEY, VALUE), tmp_path) == N


def test_the_last_row_over_what_is_kept_is_causal_attention(ask):
    causal = np.tril(np.ones((N, N), dtype=bool))
    output, weights = scaled_dot_product_attention(QUERY, KEY, VALUE, causal)
    for t in range(N):
        given = [QUERY[t].tolist(), KEY[: t + 1].tolist(), VALUE[: t + 1].tolist()]
        found = ask("lesson/cache.js", "({ attendLast }, given) => attendLast(...given)", given)
        assert found["weights"] == pytest.approx(weights[t, : t + 1].tolist())
        assert found["output"] == pytest.approx(output[t].tolist())


def test_the_counts_are_the_rows_that_are_seen(browser, ask, tmp_path):
    count = "({ countComputedRows }, [step, cached]) => countComputedRows(step, cached)"
    page = open_drawing(browser, kv_cache(WORDS, QUERY, KEY, VALUE), tmp_path)
    so_far = {True: 0, False: 0}
    for step in range(N):
        for cached in (True, False):
            panel = page.locator("figure").nth(0 if cached else 1)
            width = {"query": 3, "key": 3, "value": 2}
            rows = sum(
                panel.locator(f"td.{kind}:is(.new, .again)").count() / of
                for kind, of in width.items()
            )
            so_far[cached] += rows
            assert ask("lesson/cache.js", count, [step, cached]) == {
                "now": rows,
                "all": so_far[cached],
            }
            expect(panel.locator(".count .all")).to_have_text(f"{so_far[cached]:.0f}")
        page.locator(f"[data-control='step {min(step + 1, N - 1)}']").click()
    assert so_far == {True: 3 * N, False: 3 * N * (N + 1) // 2}
    page.context.close()


def test_scores_are_counted_by_the_queries_that_ask(browser, ask, tmp_path):
    count = "({ countComputedScores }, [step, cached]) => countComputedScores(step, cached)"
    page = open_drawing(browser, kv_cache(WORDS, QUERY, KEY, VALUE), tmp_path)
    for step in range(N):
        page.locator(f"[data-control='step {step}']").click()
        for place, cached in enumerate((True, False)):
            shapes = [(1 if cached else t, t) for t in range(1, step + 2)]
            products = [rows * columns for rows, columns in shapes]
            found = ask("lesson/cache.js", count, [step, cached])
            assert found == {"now": products[-1], "all": sum(products)}
            told = page.locator(".count").nth(place).locator(".scores")
            expect(told).to_have_text(str(sum(products)))
    page.context.close()


def test_a_chosen_word_lights_up_in_both_tables_with_its_weight(browser, tmp_path):
    page = open_drawing(browser, kv_cache(WORDS, QUERY, KEY, VALUE), tmp_path)
    page.locator("[data-control='step 3']").click()
    page.locator("[data-control='false 1']").press("Enter")
    expect(page.locator("tr.lit")).to_have_count(2)
    scores = KEY[:4] @ QUERY[3] / np.sqrt(3)
    weight = np.exp(scores[1]) / np.exp(scores).sum()
    expect(page.locator(".sum")).to_contain_text(f"a weight of {weight:.3f}".rstrip("0"))
    expect(page.locator("[data-control='true 4']")).to_be_disabled()
    page.context.close()
