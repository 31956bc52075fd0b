"""The website, as `make site` builds it: whole, offline, and alive in a browser."""

import importlib.util
import json
import re
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from tests.browser.conftest import HERE
from tests.browser.planted import plant
from tests.browser.screen import contrast, out_of_reach, serious, try_sliders_and_quizzes
from tests.thorough import thorough_from
from tools.build_notebooks import NOTEBOOKS, ROOT, every_notebook, evidence, lessons, page_name
from transformer_lab.attention.record import Head
from transformer_lab.course.keys import lesson_key
from transformer_lab.course.quiz.review import glossary
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.translator import Translator


def load(name):
    """A module that lies beside the documents."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


search_sections, first_page = load("search_sections"), load("first_page")
PAGES = [page_name(path) for path in every_notebook()]


@pytest.fixture(scope="session")
def address(site):
    """Where the site is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer((HERE, 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{HERE}:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def read(visit, address):
    """Open a page of the site; in the end no error may have come, and nothing asked for elsewhere."""
    errors = []
    page = visit.page
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: m.type == "error" and errors.append(m.text))
    page.on("response", lambda r: r.status >= 400 and errors.append(f"{r.status} {r.url}"))

    def opened(name: str):
        page.goto(f"{address}/{name}", wait_until="load")
        return page

    yield opened
    assert errors == []
    assert visit.outside == []


class Links(HTMLParser):
    """The anchors of a page, what it links to, and its pictures without words."""

    def __init__(self):
        super().__init__()
        self.ids, self.links, self.wordless = set(), [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.ids.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("script", "img", "link") and not found.get("src", "").startswith("data:"):
            self.links += [found[name] for name in ("src", "href") if found.get(name)]
        if tag == "img" and not found.get("alt"):
            self.wordless.append(found)


def wait_for_formulas(page):
    """They are set a few at a time after the page has come, and some make room wider."""
    expect(page.locator("mjx-container")).to_have_count(page.locator(".math").count())


@pytest.fixture(scope="session")
def pages(site):
    """Path of each page → what is in it."""
    found = {}
    for path in site.rglob("*.html"):
        found[path] = Links()
        found[path].feed(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_policy.py::test_what_is_planted_in_a_page_does_nothing",
        "test_every_page_says_once_what_it_may_load",
    ]
)
@pytest.mark.parametrize("is_guarded", [True, False])
def test_what_is_planted_in_a_page_of_the_site_does_nothing(
    browser, site, address, outside, is_guarded
):
    there, asked = outside
    path = plant(site / "notebooks" / "02_why_sqrt_dk.html", there, is_guarded)
    page = browser.new_page()
    page.goto(f"{address}/notebooks/{path.name}")
    page.wait_for_load_state("networkidle")
    path.unlink()  # the next tests look at each page of the site
    assert page.evaluate("window.planted === true") is not is_guarded
    assert (asked == []) is is_guarded
    page.close()


def test_every_notebook_has_its_page(site):
    folder = site / "notebooks"
    found = [path.relative_to(folder).with_suffix("") for path in folder.rglob("*.html")]
    assert sorted(path.as_posix() for path in found) == sorted(PAGES)


def test_every_link_of_the_site_leads_somewhere(pages):
    lost = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.exists()
            if there and parts.fragment and target in pages:
                there = unquote(parts.fragment) in pages[target].ids
            if not there:
                lost.append((path.name, link))
    assert lost == []


def test_every_picture_has_words(pages):
    assert {path.name: page.wordless for path, page in pages.items() if page.wordless} == {}


def test_a_lesson_is_at_most_a_megabyte_and_has_no_weights(site):
    sizes = {path: path.stat().st_size for path in (site / "notebooks").rglob("*.html")}
    assert len(sizes) == len(PAGES)
    assert max(sizes.values()) < 1_000_000, sizes


@pytest.mark.parametrize("name", thorough_from(1, ["11_explore_the_heads", "00_start_here"]))
def test_a_lesson_opens_the_lab_that_all_pages_share(read, name):
    page = read(f"notebooks/{name}.html")
    page.evaluate(
        "document.querySelectorAll('details.hide').forEach((fold) => { fold.open = true; })"
    )
    page.locator("details.lab summary").click()
    inside = page.frame_locator("details.lab iframe").locator(".tl-lab")
    expect(inside).to_have_attribute("data-ready", "true")


@pytest.mark.parametrize("name", thorough_from(1, PAGES))
def test_a_lesson_opens_without_an_error_and_without_the_world(read, name):
    page = read(f"notebooks/{name}.html")
    expect(page.locator("h1")).to_have_count(1)
    wait_for_formulas(page)
    solutions = page.locator("details.hide")
    assert all(not fold.evaluate("fold => fold.open") for fold in solutions.all())
    assert not page.locator(".output").get_by_text("Not written yet").count()
    sliders, quizzes = try_sliders_and_quizzes(page)
    source = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
    assert sliders == len(re.findall(r"\bshow_live\(", source))
    assert quizzes == len(re.findall(r"\b(?:quiz|mixed)\.show\(", source))


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", thorough_from(1, [row[2] for row in first_page.lessons()[::5]]))
def test_a_lesson_shows_its_picture_on_its_first_screen_and_keeps_its_room(read, width, name):
    page = read(f"notebooks/{name}.html")
    page.set_viewport_size({"width": width, "height": 800})
    picture = page.locator("img.opening")
    expect(picture).to_have_js_property("naturalWidth", 480)
    expect(picture).to_be_in_viewport(ratio=1)
    # Its room has its shape before it comes: by its attributes, or else it would move the text.
    box = picture.bounding_box()
    shape = [int(picture.get_attribute(side)) for side in ("width", "height")]
    assert box["width"] / box["height"] == pytest.approx(shape[0] / shape[1], rel=0.01)
    assert len(picture.get_attribute("alt")) > 20


def test_no_page_asks_for_the_next_one_ahead_which_its_policy_refuses(site):
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert [
        page for page in pages if re.search(r"rel=.(next|prefetch|preload|prerender)\b", page)
    ] == []


LOOKED_AT = [
    "docs/index.html",
    "index.html",
    "notebooks/07_the_whole_transformer.html",
    "docs/lab.html",
    "docs/playground.html",
]


@pytest.mark.parametrize("scheme", thorough_from(1, ["light", "dark"]))
@pytest.mark.parametrize("width", thorough_from(1, [390, 1280]))
@pytest.mark.parametrize("name", thorough_from(1, LOOKED_AT))
def test_a_page_can_be_read_by_everyone(browser, address, name, width, scheme):
    viewport = {"width": width, "height": 900}
    context = browser.new_context(viewport=viewport, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(f"{address}/{name}", wait_until="load")
    page.locator("[data-ready=true], .card").first.wait_for()
    wait_for_formulas(page)
    expect(page.locator("h1")).to_have_count(1)
    assert serious(page) == []
    context.close()


DOCUMENTS = [f"docs/{path.stem}" for path in sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize(
    "name", thorough_from(1, [*(f"notebooks/{page}" for page in PAGES), *DOCUMENTS])
)
def test_what_scrolls_can_be_reached_by_keyboard(read, visit, site, name):
    page = visit.page
    page.set_viewport_size({"width": 320, "height": 900})
    # Letters differ from machine to machine. These are wider than most, so more has to scroll.
    styles = (site / "_static/site.css").read_text(encoding="utf-8")
    styles += "body, pre { letter-spacing: 0.1em; }"
    page.route("**/site.css*", lambda route: route.fulfill(body=styles, content_type="text/css"))
    read(f"{name}.html")
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    wait_for_formulas(page)
    page.wait_for_function("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert out_of_reach(page) == []


def test_with_letters_of_twice_the_size_nothing_leaves_the_phone(read):
    page = read("notebooks/07_the_whole_transformer.html")
    page.set_viewport_size({"width": 390, "height": 900})
    page.add_style_tag(content="html { font-size: 200% !important; }")
    assert page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") >= 32
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_page_says_once_what_it_may_load(site):
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert page.count('http-equiv="Content-Security-Policy"') == 1, path.name
        assert page.index("Content-Security-Policy") < page.index("<title>"), path.name
        assert not re.search(r"<[a-z]+ [^<>]*\son[a-z]+=", page), path.name


def test_what_is_to_be_predicted_is_folded(read):
    page = read("notebooks/01_attention_in_numpy.html")
    asked = page.get_by_text("Predict before you run").count()
    folded = page.locator("details.hide").filter(has_text="Show what comes out")
    assert folded.count() >= asked > 0, "one or more cells for each question"
    output = folded.first.locator(".output")
    expect(output).to_be_hidden()
    folded.first.locator("summary").click()
    expect(output).to_be_visible()


STEPPED = "turning|stream|stepper|flow|beam|cache|hops|slabs|family|player|zoom"


@pytest.mark.parametrize("name", thorough_from(1, PAGES))
def test_a_drawing_to_step_through_is_in_sight(read, name):
    drawings = len(re.findall(rf"data-(?:{STEPPED})=", (NOTEBOOKS / f"{name}.ipynb").read_text()))
    if drawings == 0:
        return
    page = read(f"notebooks/{name}.html")
    shown = page.locator(".tl-lesson .steps:visible")
    assert shown.count() == drawings


def test_on_a_phone_the_steps_of_a_drawing_stay_on_the_screen(read):
    page = read("notebooks/07_the_whole_transformer.html")
    page.set_viewport_size({"width": 390, "height": 700})
    drawing = page.locator(".tl-flow")
    assert drawing.bounding_box()["height"] > 700
    drawing.evaluate("drawing => drawing.scrollIntoView({ block: 'start', behavior: 'instant' })")
    expect(drawing.get_by_role("button", name="One step forward")).to_be_in_viewport(ratio=1)
    # And nothing is cut off at the side, which would have scrolled before.
    assert page.locator("div.content").evaluate("all => all.scrollWidth <= all.clientWidth")


@pytest.mark.parametrize("name", thorough_from(1, ["01_attention_in_numpy", "17_review"]))
def test_in_nbconverts_html_sliders_move_and_quizzes_answer(visit, name):
    visit.page.set_content(HTMLExporter().from_filename(str(NOTEBOOKS / f"{name}.ipynb"))[0])
    sliders, quizzes = try_sliders_and_quizzes(visit.page)
    assert sliders
    assert quizzes


def test_a_card_is_turned_by_keyboard_and_leads_to_the_lesson(read):
    page = read("notebooks/17_review.html")
    card = page.locator(".tag_deck details").first
    expect(card.get_by_role("link")).to_be_hidden()
    card.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(card.get_by_role("link")).to_be_visible()
    card.get_by_role("link").click()
    expect(page.get_by_role("heading", name="From weights to an output")).to_be_in_viewport()


def test_what_only_draws_is_folded_and_its_picture_stays_in_sight(read):
    page = read("notebooks/01_attention_in_numpy.html")
    cell = page.locator("div.cell", has_text="Show the code that draws").first
    fold = cell.locator("details.hide")
    expect(fold).to_have_count(1)
    assert not fold.evaluate("fold => fold.open")
    expect(cell.locator("pre").first).to_be_hidden()
    expect(cell.locator("img").first).to_be_visible()
    cell.get_by_text("Show the code that draws").click()
    expect(cell.locator("pre").first).to_be_visible()
    expect(cell.get_by_text("Hide it")).to_be_visible()


def test_the_packages_own_definitions_stand_out(read):
    page = read("notebooks/01_attention_in_numpy.html")
    own = page.locator(".cell.tag_definition .cell_input")
    claimed = page.locator(".cell_input", has_text="#| package: ")
    assert own.count() == claimed.count() > 0
    for block in own.all():
        assert block.evaluate("e => parseFloat(getComputedStyle(e).borderLeftWidth)") == 4


def test_a_record_answers_to_a_click(read):
    page = read("notebooks/11_explore_the_heads.html")
    record = page.locator("[data-record] [data-ready=true]").first
    expect(record).to_be_visible()
    before = record.inner_text()
    record.get_by_role("button", name="Where it looks").click()
    assert record.inner_text() != before


def test_a_lesson_trains_a_transformer_in_its_page(read):
    page = read("notebooks/06_masks_and_the_decoder.html")
    play = page.locator(".tl-playground")
    expect(play).to_have_attribute("data-ready", "true")
    expect(play.locator(".experiment")).to_contain_text("What if it can see the answer")
    play.locator(".settings summary").click()
    play.locator("[data-control=steps]").select_option("300")
    play.locator("[data-control=width]").select_option("16")
    play.locator("[data-control=train]").click()
    statuses = play.locator(".status")
    expect(statuses).to_have_count(2)
    for status in statuses.all():
        expect(status).to_contain_text("unseen examples are right after 300 steps", timeout=120_000)


def test_the_lab_opens_in_the_first_page_and_in_one_of_its_own(read):
    page = read("docs/index.html")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    poster = page.locator("details.lab summary")
    expect(poster.locator("img:visible")).to_have_count(1)
    assert not any(url.endswith("lab.html") for url in asked)
    poster.click()
    expect(poster.locator("img:visible")).to_have_count(0)
    inside = page.frame_locator("details.lab iframe")
    expect(inside.locator(".tl-lab")).to_have_attribute("data-ready", "true")
    inside.get_by_role("button", name="wide", exact=True).click()
    expect(inside.locator(".written")).to_contain_text("large")
    page.get_by_role("link", name="own page").click()
    expect(page.locator(".tl-lab")).to_have_attribute("data-ready", "true")
    expect(page.locator(".guide")).to_be_visible()
    expect(page.locator(".written")).to_contain_text("fatigué")


def test_the_playground_has_a_page_of_its_own_which_trains(read):
    page = read("docs/playground.html#task=reverse&width=16&heads=2&steps=300")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator(".status")).to_contain_text("Done: ", timeout=60_000)
    page.get_by_role("link", name="transformer_lab").click()
    expect(page.locator("h1")).to_have_text("How does a machine know what it is?")


def test_every_header_leads_out_of_a_frame_and_marks_its_own_page(read):
    for address, own in (
        ("docs/findings.html", "Findings"),
        ("docs/lab.html", "Lab"),
        ("docs/playground.html", "Playground"),
        ("notebooks/evidence/09_training.html", None),
    ):
        header = read(address).locator("header.site")
        links = header.get_by_role("link")
        assert links.all_inner_texts() == [
            *("transformer_lab", "Lessons", "Lab", "Playground", "Findings")
        ]
        assert set(links.evaluate_all("all => all.map((a) => a.target)")) == {"_top"}
        marked = header.locator("[aria-current=page]").all_inner_texts()
        assert marked == ([own] if own else [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_header_is_legible_in_the_other_theme_too(read, scheme):
    page = read("docs/findings.html")
    page.emulate_media(color_scheme=scheme)
    page.evaluate(f"document.body.dataset.theme = '{'dark' if scheme == 'light' else 'light'}'")
    for link in page.locator("header.site a").all():
        ink, ground = (
            [int(part) for part in re.findall(r"\d+", found)[:3]]
            for found in link.evaluate(
                "a => [getComputedStyle(a).color, getComputedStyle(document.body).backgroundColor]"
            )
        )
        assert contrast(ink, ground) >= 4.5


def test_the_glossary_has_letters_and_leads_to_the_lessons(read):
    page = read("docs/glossary.html")
    letters = page.locator("#glossary > p a").all_inner_texts()
    assert letters == sorted(letters)
    assert letters[:3] == ["A", "B", "C"]
    assert page.locator("#glossary h2").count() == len(letters)
    rows = page.locator("#glossary tbody tr")
    assert rows.count() == len(glossary().splitlines()) - 2
    assert rows.locator("td:last-child a[href*='notebooks/']").count() == rows.count()


WHO = FAMOUS[0].coreference


def test_the_lab_lays_another_training_beside_this_one(read):
    page = read(f"docs/lab.html#head=e2.3&row={WHO.decider}&step={WHO.target_pronoun}")
    page.locator(".more > summary").click()
    models = page.get_by_label("Model next to this one")
    assert models.locator("option").all_inner_texts() == [
        "no other model",
        "an untrained model",
        *(f"this model after {step:,} steps" for step in Translator.snapshots()),
        "this model trained again, from another seed",
    ]
    models.select_option("this model trained again, from another seed")
    again = Translator.load(ROOT / "docs" / "models" / "seed_8", device="cpu")
    record = again.attend(FAMOUS[0].source)
    weights = record.weights(Head("encoder", 1, 2))[WHO.decider]
    said = f"looks most at “{record.source_tokens[weights.argmax()]}” ({weights.max():.2f})"
    expect(page.locator(".other p")).to_contain_text(said)


def test_one_reads_on_and_back(read):
    page = read(f"notebooks/{PAGES[0]}.html")
    page.locator(".related-pages .next-page").click()
    expect(page).to_have_url(f"{page.url.rpartition('/')[0]}/{PAGES[1]}.html")
    page.locator(".related-pages .prev-page").click()
    expect(page).to_have_url(f"{page.url.rpartition('/')[0]}/{PAGES[0]}.html")


@pytest.mark.parametrize("name", thorough_from(1, [page_name(path) for path in evidence()]))
def test_a_lesson_leads_to_its_evidence_and_back(read, name):
    lesson = name.removeprefix("evidence/")
    page = read(f"notebooks/{lesson}.html")
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    page.locator(f"article a[href^='{name}.html']").first.click()
    expect(page).to_have_url(re.compile(rf"/notebooks/{name}\.html"))
    page.locator(f"article a[href^='../{lesson}.html']").first.click()
    expect(page).to_have_url(re.compile(rf"/notebooks/{lesson}\.html"))


def test_the_front_door_leads_to_the_course(read):
    page = read("index.html")
    expect(page.locator("html")).to_have_attribute("data-ready", "true")
    asked = page.locator(".questions b").all_text_contents()
    assert asked == [row[3].replace("`", "") for row in first_page.lessons()]
    named = page.locator(".questions span").all_text_contents()
    assert [name.split(" · ")[0] for name in named] == [row[0] for row in first_page.lessons()]
    page.get_by_role("link", name="own pages").click()
    expect(page.locator("h1")).to_contain_text("transformer_lab")
    page.get_by_role("link", name="Start here").first.click()
    expect(page.locator("h1")).to_contain_text("Start here")


def test_the_front_door_opens_the_lab_with_what_was_cut(read):
    page = read("index.html#screen=6&cut=1")
    page.get_by_role("link", name="Open the lab").click()
    expect(page.locator(".tl-lab")).to_have_attribute("data-ready", "true")
    expect(page.locator(".written")).to_contain_text("elle")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_page_has_a_card_with_a_picture_for_each_lesson(read, site, width):
    page = read("docs/index.html")
    page.set_viewport_size({"width": width, "height": 800})
    cards = page.locator(".card")
    assert [text.split()[0] for text in cards.all_inner_texts()] == [
        lesson_key(path) for path in lessons()
    ]
    for card in cards.all():
        card.scroll_into_view_if_needed()
        expect(card.locator("img")).to_have_js_property("naturalWidth", 480)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.scrollHeight") < 210 * len(lessons())
    assert page.locator("meta[property='og:title']").get_attribute("content") == "transformer_lab"
    picture = page.locator("meta[property='og:image']").get_attribute("content")
    assert (site / urlsplit(picture).path.removeprefix("/transformer_lab/")).exists()
    cards.filter(has_text="Multi-head attention").click()
    expect(page.locator("h1")).to_contain_text("Multi-head attention")


EXPLAINED = {
    "mask": "06_masks_and_the_decoder.html#masks-and-the-decoder",
    "label smoothing": "08_text_to_batches.html#label-smoothing",
    "residual": "05_the_encoder.html#how-the-parts-are-wired",
    "residual connections": "05_the_encoder.html#how-the-parts-are-wired",
    "softmax": "01_attention_in_numpy.html#from-scores-to-weights",
    "teacher forcing": "06_masks_and_the_decoder.html#teacher-forcing",
    "beam search": "10_decoding.html#several-beginnings-at-once",
    "logit lens": "11_explore_the_heads.html#read-the-stream-early",
}
"""What is looked for, and the section that explains it."""


@pytest.mark.parametrize(("query", "place"), thorough_from(1, EXPLAINED.items()))
def test_the_search_finds_the_section_that_explains_a_word_first(read, site, query, place):
    page = read(f"search.html?q={query.replace(' ', '+')}")
    results = page.locator("#search-results li")
    expect(results.first.locator("a")).to_have_attribute("href", f"notebooks/{place}")
    file, anchor = place.split("#")
    assert f'id="{anchor}"' in (site / "notebooks" / file).read_text(encoding="utf-8")
    # Prose: no LaTeX, no line of a program.
    shown = results.locator("p").all_inner_texts()
    assert len(shown) > 3
    assert [
        text
        for text in shown
        if re.search(r"\\|\$|\bfrom \w+ import\b|\bdef \w+\(|\braise [A-Z]", text)
    ] == []


def test_every_result_leads_to_a_section_that_is_there_and_a_search_for_nothing_finds_none(
    read, site
):
    parts = (site / "_static" / "sections.js").read_text(encoding="utf-8")
    found = json.loads(parts.removeprefix("globalThis.SECTIONS = ").rstrip(";\n"))
    assert len(found) > 250
    for page in {part["at"].split("#")[0] for part in found}:
        text = (site / page).read_text(encoding="utf-8")
        places = [part["at"].split("#")[1] for part in found if part["at"].startswith(page)]
        assert [place for place in places if f'id="{place}"' not in text] == []
    texts = {part["at"]: part["text"].replace(r".venv\Scripts\python", "") for part in found}
    assert [at for at, text in texts.items() if "\\" in text] == []  # LaTeX
    page = read("search.html?q=zyzzyva")
    expect(page.locator("#search-results")).to_have_text("No section has all of these words.")
    page = read("search.html?q=%3Cb%3Emask%3C%2Fb%3E")  # "<b>mask</b>" is two words, and no markup
    expect(page.locator("main input[name=q], .search-again input")).to_have_value("<b>mask</b>")


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"d_k", "d_k"),
        (r"\sqrt{d_\text{model}}", "√d_model"),
        (r"QK^\top", "QK^T"),
        (r"\frac{a}{b}", "…"),
        (r"W^O \in \mathbb{R}", "…"),
    ],
)
def test_a_formula_in_a_snippet_is_signs_or_nothing(formula, text):
    assert search_sections.readable(formula) == text


def test_the_dark_theme_is_dark(read):
    page = read("docs/index.html")

    def ground():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    page.emulate_media(color_scheme="dark")
    dark = ground()
    page.emulate_media(color_scheme="light")
    assert ground() == "rgb(255, 255, 255)"
    assert max(map(int, dark.removeprefix("rgb(").removesuffix(")").split(", "))) < 60


def test_on_paper_there_is_the_page_alone(read):
    page = read(f"notebooks/{PAGES[1]}.html")
    page.emulate_media(media="print")
    for aside in (".sidebar-drawer", ".toc-drawer", ".related-pages"):
        expect(page.locator(aside).first).to_be_hidden()
