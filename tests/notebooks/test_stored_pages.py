"""The pages that notebooks hold are drawn by the script of today."""

import json
import re
from dataclasses import asdict

import nbformat
import pytest

from tests.records import make_record
from tools.build_notebooks import NOTEBOOKS, every_notebook, page_name, read, written
from tools.embed import embed, with_todays_script
from tools.stored_pages import STORED
from tools.stored_scores import shows_old_scores
from transformer_lab.course.keys import lesson_key
from transformer_lab.lab import lab, lab_page, playground, playground_page
from transformer_lab.lab.guide import famous_guide

PATHS = every_notebook()


def stored_pages(path) -> list[str]:
    """The HTML outputs of a notebook with a page in them."""
    outputs = [o for cell in read(path).cells for o in cell.get("outputs", ())]
    pages = [output.get("data", {}).get("text/html", "") for output in outputs]
    return [html for html in pages if "<script" in html]


@pytest.mark.parametrize("path", PATHS, ids=page_name)
def test_stored_pages_have_the_script_and_the_style_of_today(path):
    for html in stored_pages(path):
        assert STORED.fullmatch(html), "all of the page is looked at"
        assert with_todays_script(html) == html, (
            "the page's script or style has changed since: `make notebooks` mends it, "
            "or `python -m tools.embed`, which leaves the data as they are"
        )


@pytest.mark.parametrize("path", PATHS, ids=page_name)
def test_a_stored_slider_is_light_enough_for_a_page(path):
    found = [page for html in stored_pages(path) for page in STORED.finditer(html)]
    assert [len(page[3]) for page in found if page[1] == "frames" and len(page[3]) > 300_000] == []


@pytest.mark.parametrize("path", PATHS, ids=page_name)
def test_stored_pages_have_the_scores_of_today(path):
    old = [cell.id for cell in read(path).cells if shows_old_scores(cell)]
    assert old == [], "`make notebooks` builds them anew, and leaves all other outputs as they are"


def test_there_are_stored_records_drawings_playgrounds_and_one_lab():
    everywhere = ("frames", "quiz")
    found = {
        lesson_key(path) or page_name(path): [
            kind
            for html in stored_pages(path)
            for kind, *_ in STORED.findall(html)
            if kind not in everywhere
        ]
        for path in PATHS
    }
    # In their order. The lab holds the weights: two megabytes are enough.
    expected = {
        "00": ["lab", "flow", "record", "hops"],
        "01": ["player"] * 2,
        "02": ["playground"],
        "03": ["slabs", "playground"],
        "04": ["turning", "turning", "playground"],
        "05": ["stream", "playground"],
        "06": ["stepper", "playground"],
        "07": ["flow", "zoom"],
        "08": ["playground"],
        "09": ["playground"],
        "10": ["beam"] * 2,
        "10b": ["cache"],
        "11": ["record"] * 2,
        "12": ["hops"],
        "14": ["playground"],
        "16": ["family"],
        "18": ["record"],
        "evidence/11_explore_the_heads": ["record"],
    }
    assert {name: kinds for name, kinds in found.items() if kinds} == expected


def test_the_stored_lab_asks_what_it_asks_today():
    (data,) = (
        json.loads(found[3])
        for html in stored_pages(PATHS[0])
        for found in STORED.finditer(html)
        if found[1] == "lab"
    )
    guide = famous_guide()
    assert data["prompts"] == [asdict(prompt) for prompt in guide["prompts"]], (
        "the package's guide has changed: python -m tools.build_notebooks --rerun 00"
    )
    assert (data["sentences"], data["start"]) == (guide["sentences"], guide["start"])


def test_lesson_11_has_the_picture_of_its_lab_and_not_the_weights():
    (path,) = (path for path in PATHS if lesson_key(path) == "11")
    (cell,) = (c for c in read(path).cells if "picture-only" in c.metadata.get("tags", ()))
    html = cell.outputs[0].data["text/html"]
    assert html.startswith('<div data-lab="')
    assert "<img alt=" in html
    assert len(html) < 300_000


def test_another_days_page_gets_the_script_of_today_and_nothing_else_changes(monkeypatch):
    record = make_record(source=("a", "</div>\n<style>", "</script>"))
    html = lab(record)._repr_mimebundle_()["text/html"]
    with monkeypatch.context() as patch:
        patch.setattr(lab_page, "script", lambda entry: "// of old\nconst a = '\\1';\n")
        patch.setattr(lab_page, "style", lambda *names: "p {}")
        old = lab(record)._repr_mimebundle_()["text/html"]
    assert "// of old" in old
    assert len(old) < len(html) - 10_000
    assert with_todays_script(old) == html
    assert with_todays_script(f"<p>{old}</p>\n{old}") == f"<p>{html}</p>\n{html}"


def test_a_playground_gets_the_script_of_today_and_keeps_its_picture(monkeypatch):
    made = playground("sort", start="heads=1")
    with monkeypatch.context() as patch:
        patch.setattr(playground_page, "script", lambda entry: f"// {entry} of old\n")
        old = made._repr_mimebundle_()["text/html"]
    assert "playground/worker.js of old" in old
    words = re.search(r"<p data-step.*?</p>", old)[0]
    seen = '<img data-step="-1" alt="what it has learned" src="data:,">'
    output = nbformat.v4.new_output("execute_result", {"text/html": old.replace(words, seen)})
    cell = nbformat.v4.new_code_cell("playground()", outputs=[output])
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert embed(notebook) == 1
    html = output.data["text/html"]
    assert html == made._repr_mimebundle_()["text/html"].replace(words, seen)
    assert embed(notebook) == 0


@pytest.mark.parametrize("path", PATHS, ids=page_name)
def test_a_stored_playground_shows_a_whole_run_in_which_no_clock_has_a_say(path):
    for html in stored_pages(path):
        for kind, seen, data in STORED.findall(html):
            if kind == "playground":
                alt = re.match(r'<img data-step="-1" alt="(.*?)"', seen)[1]
                runs = re.findall(r"\d% of 512 unseen examples are right after [\d,]+ steps", alt)
                assert len(runs) == 1 + ("but=" in json.loads(data)["start"])
                assert "second" not in alt


def test_a_notebook_of_today_stays_as_it_is():
    path = NOTEBOOKS / "11_explore_the_heads.ipynb"
    notebook = read(path)
    assert embed(notebook) == 0
    assert written(notebook) == path.read_text(encoding="utf-8")
    notebook.cells[6].outputs[0].data["text/html"] = "<p>no page</p>"
    assert embed(notebook) == 0
