"""What a learner does first: open lesson 00 in JupyterLab, run it all, move the slider."""

import re

import pytest
from playwright.sync_api import expect

from tools.build_notebooks import read, written

START = "00_start_here.ipynb"
TRANSLATION = "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
WIDTH = "image => image.complete && image.naturalWidth"


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_record_hosts.py::test_where_scripts_do_not_run_the_picture_and_its_words_remain"
    ]
)
def test_before_anything_is_run_the_saved_pictures_and_their_words_are_there(lab, visit):
    """The notebook is not trusted here: it comes from somebody else, as for everyone who clones it."""
    visit.open(lab, START)
    pictures = visit.page.locator(".jp-Notebook .jp-OutputArea img")
    expect(pictures.first).to_be_visible()
    saved = written(read(lab.folder / START)).count("<img ")
    assert pictures.count() == saved >= 2
    for picture in pictures.all():
        assert picture.get_attribute("alt")
        assert picture.evaluate(WIDTH) > 300
    assert visit.outside == []


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_lab_hosts.py::test_in_nbconverts_html_it_runs",
        "tests/browser/test_record_hosts.py::test_in_nbconverts_html_a_record_works_and_a_live_lab_has_its_picture",
    ]
)
def test_restart_and_run_all_translates_draws_and_answers_the_keyboard(lab, visit):
    code = lab.without_outputs(START)
    visit.open(lab, START)
    visit.run_all(len(code))

    outputs = visit.page.locator(".jp-OutputArea-output")
    expect(outputs.filter(has_text=TRANSLATION).first).to_be_visible()
    heatmap = outputs.locator("img[alt^='Writing “il”']").first
    expect(heatmap).to_have_attribute("alt", re.compile(r"looks at “it” \(0\.\d\d\)"))
    assert heatmap.evaluate(WIDTH) > 300

    visit.move_slider()
    assert visit.outside == []
