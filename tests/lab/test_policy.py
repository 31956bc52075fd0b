"""The policy of a page names what stands in it, and nothing else."""

import base64
import hashlib

import pytest

import transformer_lab as tl
from tests.records import make_record
from transformer_lab.lab.page.policy import Inlined, hash_source, policy_meta

PAGE = """<html><head><style>b { color: red }</style></head><body style="margin: 0">
<script>let a = "</b>" < 1 && 2;</script><script type="application/json">{"x": 1}</script>
<script src="far.js"></script><script type="module">import "./x.js";</script><b style="">&lt;</b>
"""


def directives(meta):
    content = meta.removeprefix('<meta http-equiv="Content-Security-Policy" content="')[:-2]
    return dict(part.split(" ", 1) for part in content.split("; "))


def test_what_runs_and_what_styles_is_found_as_it_stands():
    found = Inlined(PAGE)
    assert found.scripts == ['let a = "</b>" < 1 && 2;', 'import "./x.js";']
    assert found.styles == ["b { color: red }"]
    assert found.attributes == ["margin: 0"]


def test_a_hash_is_that_of_the_standard():
    digest = base64.b64encode(hashlib.sha256("é".encode()).digest()).decode()
    assert hash_source("é") == f"'sha256-{digest}'"


def test_a_policy_allows_what_stands_in_the_page_alone():
    said = directives(policy_meta(PAGE))
    assert said["default-src"] == "'none'"
    assert said["script-src"].split() == [*map(hash_source, Inlined(PAGE).scripts)]
    assert said["style-src-elem"] == hash_source("b { color: red }")
    assert said["style-src-attr"] == f"'unsafe-hashes' {hash_source('margin: 0')}"
    assert "http:" not in policy_meta(PAGE)
    assert set(directives(policy_meta("<p>")).values()) == {"'none'", "data: blob:"}


def test_a_page_of_many_files_says_what_else_it_loads():
    said = directives(policy_meta("<p>", {"img-src": "'self'", "font-src": "data:"}))
    assert said["img-src"] == "'self'"
    assert said["font-src"] == "data:"
    assert said["script-src"] == "'none'"


def test_only_a_page_that_compiles_webassembly_may_do_so():
    compiling = policy_meta("<script>new WebAssembly.Module(bytes)</script>")
    assert "'wasm-unsafe-eval'" in directives(compiling)["script-src"].split()
    assert "'unsafe-eval'" not in directives(compiling)["script-src"].split()
    assert "wasm" not in policy_meta(PAGE)
    assert "wasm" not in policy_meta("<script>// no WebAssembly here</script>")
    data = '<script type="application/json">"new WebAssembly.Module"</script>'
    assert "wasm" not in policy_meta(data)


def test_only_a_page_that_starts_a_worker_may_do_so():
    starting = directives(policy_meta("<script>new Worker(address)</script>"))
    assert starting["worker-src"] == "blob:"
    assert "'wasm-unsafe-eval'" in starting["script-src"].split(), (
        "the worker has the page's policy"
    )
    assert "worker-src" not in directives(policy_meta(PAGE))
    data = '<script type="application/json">"new Worker(address)"</script>'
    assert "worker" not in policy_meta(data)


@pytest.mark.parametrize("token", ["a", "\ud800", "</script>"])
def test_a_written_page_names_its_own_scripts_whatever_the_tokens(tmp_path, token):
    record = make_record([token, "b", "c"])
    page = tl.lab(record).to_html(tmp_path / "page.html").read_text("utf-8")
    found = Inlined(page)
    assert len(found.scripts) == 1
    meta = page[page.index("<meta http-equiv") :].partition("\n")[0]
    assert directives(meta)["script-src"] == hash_source(found.scripts[0])
    assert page.index("<meta http-equiv") < page.index("<style")
