"""What somebody plants in a page that we wrote is neither run nor fetched."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

HERE = "127.0.0.1"
PLANTED = """
<img src="{there}/picture.png"><script src="{there}/script.js"></script>
<script>window.planted = true; fetch("{there}/fetched");</script>
<img src="data:," onerror="window.planted = true">
<link rel="stylesheet" href="{there}/style.css"><style>@import "{there}/imported.css";</style>
<iframe src="{there}/frame.html"></iframe><p style="background: url({there}/back.png)">p</p>
</main>"""


@pytest.fixture
def outside():
    """A server that is not ours, and what it was asked for."""
    asked = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer((HERE, 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{HERE}:{server.server_port}", asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("is_guarded", [True, False])
def test_what_is_planted_in_a_page_does_nothing(browser, full_page, outside, tmp_path, is_guarded):
    there, asked = outside
    page_text = full_page.read_text("utf-8").replace("</main>", PLANTED.format(there=there))
    if not is_guarded:  # or the test would pass where nothing was planted
        page_text = page_text.replace("Content-Security-Policy", "x")
    path = tmp_path / "planted.html"
    path.write_text(page_text, "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    expect(page.locator(".tl-explorer").first).to_have_attribute("data-ready", "true")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.planted === true") is not is_guarded
    assert (asked == []) is is_guarded
    page.close()
