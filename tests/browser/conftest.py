"""A JupyterLab of its own and a real browser, both cut off from every network but this machine."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import matplotlib.font_manager  # imported, it has listed the fonts
import nbformat
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests import records
from tests.browser.screen import HOSTILE, RECORD, SNAPSHOTS, Opened
from tests.records import make_record, probabilities
from tools.browser import launch_chromium
from tools.build_notebooks import NOTEBOOKS, ROOT, read, written
from transformer_lab.attention.head_names import name_heads
from transformer_lab.config.browser import find_browser
from transformer_lab.lab import lab as open_lab
from transformer_lab.lab.page.join import FOLDER
from transformer_lab.translator import Translator

HERE = "127.0.0.1"
START_TIMEOUT = 120  # seconds until a server that does not answer counts as hung
KERNEL_TIMEOUT = 300_000  # milliseconds until a notebook counts as hung
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    # Every cell in the page, also those out of sight.
    "notebook-extension/tracker": {"windowingMode": "none"},
}
expect.set_options(timeout=30_000)  # milliseconds; a busy machine draws slowly


@dataclass
class Lab:
    """A running JupyterLab."""

    url: str
    folder: Path
    """What it shows: a copy of the notebooks."""

    def without_outputs(self, name: str) -> list:
        """Empty a notebook's outputs, so that what the page shows was made in it; its code cells."""
        notebook = read(self.folder / name)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for cell in code:
            cell.update(outputs=[], execution_count=None)
        (self.folder / name).write_text(written(notebook), encoding="utf-8")
        return code

    def write(self, name: str, sources: Sequence[str]) -> str:
        """A notebook of these cells, beside the module `records` that they may import; its name."""
        shutil.copy(records.__file__, self.folder)
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(made, self.folder / name)
        return name


@pytest.fixture(scope="session")
def browser():
    """Chromium; without one this fails under CI and skips elsewhere."""
    if find_browser() is None:
        reason = "no browser: apt-get install chromium, or set CHROMIUM to its path"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with launch_chromium() as chromium:
        yield chromium


@pytest.fixture
def lab(tmp_path):
    """JupyterLab on a copy of the notebooks, with settings and kernels' files in a folder of its own."""
    folder = tmp_path / "notebooks"
    shutil.copytree(NOTEBOOKS, folder, ignore=shutil.ignore_patterns(".*"))
    with serve(folder, tmp_path, SETTINGS) as url:
        yield Lab(url, folder)


@contextmanager
def serve(folder: Path, home: Path, settings: dict):
    """Run JupyterLab until the block ends; it is killed whatever happens in the block."""
    for name, values in settings.items():
        path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    environment = {
        **os.environ,
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        # With an empty home a kernel would list the fonts first, and say so if that takes long.
        "MPLCONFIGDIR": matplotlib.get_cachedir(),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    port = free_port()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *(f"--ServerApp.ip={HERE}", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=", "--LabApp.extension_manager=readonly"),
        f"--ServerApp.root_dir={folder}",
    ]
    log = home / "jupyterlab.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=output, stderr=output
        )
        try:
            url = f"http://{HERE}:{port}"
            wait_until_it_answers(server, url, log)
            yield url
        finally:
            # Politely, so that it ends its kernels; then for certain.
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return probe.getsockname()[1]


def wait_until_it_answers(server: subprocess.Popen, url: str, log: Path) -> None:
    """Return when the server is up; fail with its log when it has ended or hangs."""
    limit = time.monotonic() + START_TIMEOUT
    while time.monotonic() < limit and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/api/status", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


@dataclass
class Visit:
    """A page, and what it asked for outside this machine."""

    page: Page
    outside: list[str] = field(default_factory=list)

    @property
    def cells(self):
        """The code cells of the open notebook."""
        return self.page.locator(".jp-Notebook .jp-CodeCell")

    def open(self, lab: Lab, name: str) -> None:
        self.page.goto(f"{lab.url}/lab/tree/{name}")
        expect(self.cells.first).to_be_visible()

    def wait_until_idle(self) -> None:
        """Until the kernel has nothing to do."""
        idle = self.page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        expect(idle).to_have_count(1, timeout=KERNEL_TIMEOUT)

    def run_all(self, count: int) -> None:
        """Restart the kernel and run the notebook's `count` code cells, by the button.

        No error, no warning, and nothing that a front end could not draw, may come of it.
        """
        page = self.page
        # Until there is a kernel, the button asks which one to start.
        expect(page.locator(".jp-KernelName")).to_contain_text("Python 3", timeout=KERNEL_TIMEOUT)
        self.wait_until_idle()
        page.get_by_role("button", name="Restart the kernel and run all cells").click()
        page.locator(".jp-Dialog").get_by_role("button", name="Confirm Kernel Restart").click()
        expect(self.cells).to_have_count(count)
        # A folded cell shows no number; behind the last one that does, the kernel is waited for.
        prompt = self.cells.locator(".jp-InputPrompt:not(.jp-Placeholder-prompt)").last
        expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=KERNEL_TIMEOUT)
        self.wait_until_idle()
        for kind in ("error", "stderr"):
            bad = page.locator(f".jp-Notebook [data-mime-type='application/vnd.jupyter.{kind}']")
            assert bad.all_inner_texts() == []

    def move_slider(self) -> None:
        """The slider, by keyboard alone: picture and words change, and change back."""
        # The lab has sliders of its own; this one is an ipywidget's.
        handle = self.page.locator(".noUi-handle")
        panel = self.page.locator(".jp-OutputArea-output .widget-vbox").filter(has=handle)
        picture = panel.locator("img")
        before = picture.get_attribute("src"), picture.get_attribute("alt")
        handle.focus()
        self.page.keyboard.press("ArrowRight")
        expect(picture).not_to_have_attribute("src", before[0])
        assert picture.get_attribute("alt") != before[1]
        self.page.keyboard.press("ArrowLeft")
        expect(picture).to_have_attribute("src", before[0])
        assert picture.get_attribute("alt") == before[1]


@pytest.fixture
def visit(browser):
    """A page whose requests to other machines are refused and written down."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    found = Visit(context.new_page())

    def refuse_others(route):
        if urlsplit(route.request.url).hostname == HERE:
            route.continue_()
        else:
            found.outside.append(route.request.url)
            route.abort()

    def note_others(socket):
        if urlsplit(socket.url).hostname != HERE:
            found.outside.append(socket.url)

    context.route("**/*", refuse_others)
    found.page.on("websocket", note_others)
    yield found
    context.close()


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


@pytest.fixture(scope="session")
def shipped() -> Translator:
    """The model that comes with the package; nobody changes it."""
    return Translator.load(device="cpu")


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the site; a warning of Sphinx fails here."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    made = subprocess.run(
        [*command, "-c", ROOT / "docs", ROOT, folder], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="session")
def full_page(tmp_path_factory) -> Path:
    """A record with all that there can be, after two snapshots; a head of cross-attention is open."""
    path = tmp_path_factory.mktemp("record") / "full.html"
    page = open_lab(RECORD, start="head=c1.1", snapshots=SNAPSHOTS, names=name_heads([RECORD]))
    return page.to_html(path)


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("record") / "hostile.html"
    record = make_record(
        HOSTILE,
        HOSTILE[4:9],
        HOSTILE[:5],
        next_tokens=probabilities(HOSTILE[:5], np.random.default_rng(0)),
        label="<b>last</b>",
    )
    snapshots = [replace(record, label="</script>")]
    return open_lab(record, start="head=c1.1", snapshots=snapshots).to_html(path)


@pytest.fixture
def visit_page(browser):
    """Open a page from disk; at the end nothing may have been fetched, and no error may have come."""
    contexts, pages = [], []

    def visit(path: Path, **options) -> Opened:
        context = browser.new_context(**{"viewport": {"width": 1240, "height": 900}} | options)
        contexts.append(context)
        opened = Opened(context.new_page())
        pages.append((opened, path))
        page = opened.page
        page.on("request", lambda request: opened.requests.append(request.url))
        page.on("pageerror", lambda error: opened.errors.append(str(error)))
        page.on("console", lambda m: m.type == "error" and opened.errors.append(m.text))
        page.on("dialog", lambda dialog: (opened.errors.append("alert"), dialog.dismiss()))
        page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            expect(opened.root.first).to_have_attribute("data-ready", "true")
        return opened

    yield visit
    for opened, path in pages:
        assert opened.errors == []
        fetched = [url for url in opened.requests if not url.startswith(("data:", "blob:"))]
        assert set(fetched) == {path.as_uri()}
    for context in contexts:
        context.close()


@pytest.fixture
def opened(visit_page, full_page) -> Opened:
    return visit_page(full_page)


@pytest.fixture
def as_map(opened):
    """The same with the open head as a map."""
    opened.show("as a map")
    return opened


@pytest.fixture(scope="module")
def ask(browser) -> Callable[..., Any]:
    """Ask a module: the value of a function of what it exports and of what is given."""
    context = browser.new_context()
    page = context.new_page()

    def answer(route):
        path = FOLDER / urlsplit(route.request.url).path.removeprefix("/")
        if path == FOLDER:
            route.fulfill(body="<!doctype html>", content_type="text/html")
        else:
            route.fulfill(path=path, content_type="text/javascript")

    page.route("**/*", answer)
    page.goto(f"http://{HERE}/")

    def on(page: Page) -> Callable[..., Any]:
        def ask(module: str, function: str, given: Any = None) -> Any:
            call = f"async (given) => ({function})(await import('/{module}'), given)"
            return page.evaluate(call, given)

        return ask

    ask = on(page)
    ask.page, ask.on, ask.answer = page, on, answer  # for another page of another module
    yield ask
    context.close()
