"""The playground as Python writes it: its choices, its file, and what that may load."""

import pytest

import transformer_lab as tl
from tests.lab.test_policy import directives
from transformer_lab.lab.page.policy import Inlined, hash_source
from transformer_lab.lab.playground_page import TASKS


def test_a_task_that_there_is_not_is_named():
    with pytest.raises(ValueError, match=r"task is 'fly'; expected 'copy', 'reverse', .* or 'own'"):
        tl.playground("fly")


@pytest.mark.parametrize("task", TASKS)
def test_a_page_opens_with_what_was_chosen(task):
    assert tl.playground(task).start == f"task={task}"
    page = tl.playground(task, start="heads=1&but=mask:false")
    assert page.start == f"task={task}&heads=1&but=mask:false"
    shown = page._repr_mimebundle_()
    assert f'"start": "#{page.start}"' in shown["text/html"]
    assert '"isAlone": false' in shown["text/html"]


def test_without_scripts_it_says_what_it_is():
    shown = tl.playground()._repr_mimebundle_()
    assert sorted(shown) == ["text/html", "text/plain"]
    assert shown["text/plain"] in shown["text/html"]


def test_what_is_chosen_cannot_end_the_data():
    shown = tl.playground(start="</script><b>").fragment(is_alone=True)
    assert "</script><b>" not in shown


def test_a_file_is_whole_and_never_written_over_one_unasked(tmp_path):
    path = tmp_path / "play.html"
    assert tl.playground("sort").to_html(path) == path
    assert path.stat().st_size <= 250_000
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"play\.html already exists. Choose another name"):
        tl.playground("copy").to_html(path)
    assert path.read_bytes() == before
    tl.playground("copy").to_html(path, overwrite=True)
    assert b'"start": "#task=copy"' in path.read_bytes()


def test_a_page_may_start_a_worker_of_its_own_and_load_nothing(tmp_path):
    page = tl.playground().to_html(tmp_path / "play.html").read_text("utf-8")
    meta = page[page.index("<meta http-equiv") :].partition("\n")[0]
    said = directives(meta)
    assert said["default-src"] == "'none'"
    assert said["worker-src"] == "blob:"
    (script,) = Inlined(page).scripts
    assert sorted(said["script-src"].split()) == sorted(["'wasm-unsafe-eval'", hash_source(script)])
    assert "connect-src" not in said
    assert "http://" not in meta + script.replace("http://www.w3.org/", "")
    assert "https://" not in meta + script
