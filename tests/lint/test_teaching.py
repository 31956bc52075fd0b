"""What instructors, contributors and CI are told agrees with the course."""

import contextlib
import io
import re
import tomllib

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from tools import stamp
from tools.build_notebooks import ROOT, lessons, read, tag
from tools.findings.finding import read_findings
from tools.findings.page import headings
from tools.slides.deck import deck
from transformer_lab.course.keys import KEY, lesson_key

LESSONS = {lesson_key(path): path for path in lessons()}
GUIDE = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HEADING = re.compile(rf"^### ({KEY}) (.+) · (\d+) minutes in class.*$", re.MULTILINE)
HEADINGS = re.findall(r"^#+ (.+)$", GUIDE, re.MULTILINE)
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def part(number):
    """What the guide says of a notebook."""
    starts = [match.end() for match in HEADING.finditer(GUIDE) if match.group(1) == number]
    heading = f"### {number} Title · M minutes in class"
    assert len(starts) == 1, f"docs/instructors.md has {len(starts)} headings {heading!r}"
    return re.split(r"^##", GUIDE[starts[0] :], flags=re.MULTILINE)[0]


def exercises(cells):
    """How many exercises a notebook has."""
    return sum("exercise" in cell.metadata.get("tags", ()) for cell in cells)


MINUTES = {match.group(1): int(match.group(3)) for match in HEADING.finditer(GUIDE)}


def test_the_guide_has_an_hour_for_each_lesson():
    assert list(MINUTES) == list(LESSONS)
    titles = {match.group(1): match.group(2) for match in HEADING.finditer(GUIDE)}
    for number, path in LESSONS.items():
        texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
        assert texts[0].startswith(f"# {titles[number]}")


@pytest.mark.parametrize("number", LESSONS)
def test_the_minutes_of_an_hour_follow_each_other_and_fill_it(number):
    spans = [(int(a), int(b)) for a, b in re.findall(r"^\| (\d+)–(\d+) \|", part(number), re.M)]
    assert [start for start, _ in spans] == [0] + [end for _, end in spans[:-1]]
    assert spans[-1][1] == MINUTES[number]


@pytest.mark.parametrize("number", LESSONS)
def test_exercises_and_headings_that_the_guide_names_exist(number):
    cells = read(LESSONS[number]).cells
    text = part(number)
    for first, last in re.findall(r"[Ee]xercises? (\d+)(?:(?: and | to )(\d+))?", text):
        assert 1 <= int(first) <= int(last or first) <= exercises(cells)
    assert text.count("\n1. ") == text.count("\n2. ") == text.count("\n3. ") == 1
    for place in re.findall(r'\*"([^"]+)"\*', text):
        assert place in headings(LESSONS[number]), place
    home = text.partition("**At home**")[2].partition("\n\n")[0]
    for place in re.findall(r'"([^"]+)"', home):
        assert place in headings(LESSONS[number]), place


def test_sessions_last_ninety_minutes():
    rows = re.findall(r"^\| \d \| (.+?) \|", GUIDE, re.MULTILINE)
    assert len(rows) == 8
    seen = []
    for row in rows:
        parts = re.findall(rf"({KEY}) \((\d+)\)", row)
        close = re.findall(r"close \((\d+)\)", row)
        assert sum(int(minutes) for _, minutes in parts) + sum(map(int, close)) == 90
        seen += parts
    planned = [n for n in MINUTES if "**Not in the plans" not in part(n)]
    assert [(number, int(minutes)) for number, minutes in seen] == [
        (number, MINUTES[number]) for number in planned
    ]


def test_the_rows_of_the_day_follow_each_other_and_name_what_exists():
    day = GUIDE.partition("## Plan B")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d+):(\d\d) \| (.+?) \|(.*)\|$", day, re.MULTILINE)
    assert len(rows) == day.count("\n| ") - 1
    starts = [60 * int(hour) + int(minute) for hour, minute, _, _ in rows]
    assert starts == sorted(set(starts))
    asked = 0
    for _, _, what, listed in rows:
        for place in re.findall(r'"([^"]+)"', what):
            assert place in headings(LESSONS[what.split()[0].rstrip(":")]), place
        for number, some in re.findall(rf"({KEY}): (.+)", listed):
            assert what.startswith(number)
            assert numbers(some) <= set(range(1, exercises(read(LESSONS[number]).cells) + 1))
            asked += len(numbers(some))
    assert asked == 6
    assert "They do six exercises." in day


def numbers(text):
    """What "2, 3 and 5" or "2 to 4" counts."""
    found = [int(n) for n in re.findall(r"\d+", text)]
    return set(range(found[0], found[1] + 1)) if " to " in text else set(found)


SOME = r"[Ee]xercises? (\d+(?:, \d+)*(?: (?:and|to) \d+)?)"
PLAN = GUIDE.partition("## Plan A")[2].partition("## Plan B")[0]


@pytest.mark.parametrize("number", [n for n in LESSONS if re.search(rf"\b{n} {SOME}", PLAN)])
def test_each_exercise_is_done_in_class_or_at_home_and_the_plan_says_so(number):
    before, _, after = part(number).partition("**At home**")
    in_class = set().union(*map(numbers, re.findall(SOME, before)))
    (home,) = re.findall(SOME, after.partition("\n\n")[0])
    asked = exercises(read(LESSONS[number]).cells)
    assert in_class | numbers(home) == set(range(1, asked + 1))
    assert not in_class & numbers(home)
    assert re.findall(rf"\b{number} {SOME}", PLAN) == [home]


def test_the_hours_at_home_are_those_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    minutes = dict(re.findall(rf"^\| ({KEY}) \|.* (\d+) \|$", readme, re.MULTILINE))
    assert list(minutes) == list(LESSONS)
    hours = sum(map(int, minutes.values())) / 60
    assert f"That's {hours:.0f} hours if you do all the exercises" in readme
    assert f"about {hours:.0f} hours for 00 to {max(LESSONS)}" in GUIDE
    whole = dict(re.findall(rf"^### ({KEY}) .* in class, (\d+) at home$", GUIDE, re.MULTILINE))
    assert whole
    assert whole == {number: minutes[number] for number in whole}


def test_the_page_of_stubs_has_no_hour_and_as_many_stubs_as_the_guide_says():
    stubs = exercises(read(ROOT / "notebooks" / "from_memory.ipynb").cells)
    text = re.split(r"^##", GUIDE.partition("\n### From memory\n")[2], flags=re.MULTILINE)[0]
    assert f"a page of {stubs} stubs" in text
    for name in ("README.md", "docs/index.md"):
        assert f"has {stubs} stubs with their checks" in (ROOT / name).read_text(encoding="utf-8")


def test_the_cells_of_the_exam_print_what_the_guide_says():
    exam = GUIDE.partition("\n## Two exam questions\n")[2].partition("\n## ")[0]
    cells = re.findall(r"```python\n(.+?)```\n\n```text\n(.+?)```", exam, re.DOTALL)
    assert len(cells) == 2
    for code, printed in cells:
        written = io.StringIO()
        with contextlib.redirect_stdout(written):
            exec(code, {})
        assert written.getvalue() == printed


def test_the_rows_of_two_sessions_follow_each_other_and_name_what_exists():
    plan = GUIDE.partition("\n## Plan C")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d+)–(\d+) \| (.+?) \| (.+) \|$", plan, re.MULTILINE)
    assert [int(row[0]) for row in rows] == [0] + [int(row[1]) for row in rows[:-1]]
    assert int(rows[-1][1]) == 90
    for _, _, listed, _ in rows:
        for number, some in re.findall(rf"({KEY}): ([\d, to]+)", listed):
            assert max(numbers(some)) <= len(deck(LESSONS[number]).slides)
    shown = [
        n for row in rows for some in re.findall(r"07: (.+)", row[2]) for n in sorted(numbers(some))
    ]
    assert shown == list(range(1, len(deck(LESSONS["07"]).slides) + 1))
    session = re.search(r"^\| 1 \| (.+?) \|", GUIDE, re.MULTILINE).group(1)
    told = re.search(r"\*\*The first session\*\*.+?, minute", plan).group()
    assert re.findall(r"\d+", told)[1:] == re.findall(r"\d+", session)


def test_links_of_the_guide_lead_somewhere():
    anchors = {re.sub(r"[^\w-]", "", h.lower().replace(" ", "-")) for h in HEADINGS}
    for link in re.findall(r"\]\(([^)\s]+)\)", GUIDE):
        file, _, anchor = link.partition("#")
        assert link.startswith("https://") or (ROOT / "docs" / file).exists(), link
        assert file or anchor in anchors, link


def test_links_of_the_documents_at_the_root_lead_somewhere():
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        for link in re.findall(r"\]\(([^)\s]+)\)", (ROOT / name).read_text(encoding="utf-8")):
            assert link.startswith("https://") or (ROOT / link).exists(), link


def test_one_version_and_one_address():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    version, address = PROJECT["version"], PROJECT["urls"]["Repository"]
    assert (citation["version"], citation["repository-code"]) == (version, address)
    course = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
    assert f"version = {{{version}}}" in course
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert citation["title"].replace("_", r"\_") in course
    for text in (readme, course, GUIDE):
        found = set(re.findall(r"https://github\.com/[\w-]+/[\w-]+", text))
        assert found <= {address}


def test_the_address_and_the_links_to_colab_are_stamped_from_one_place():
    for name in stamp.FILES:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert stamp.stamped(text, PROJECT["urls"]["Repository"]) == text
        other = stamp.stamped(text, "https://github.com/somebody/transformer_lab")
        assert PROJECT["urls"]["Repository"] not in other
        assert stamp.stamped(other, PROJECT["urls"]["Repository"]) == text
    setup = (ROOT / "docs" / "setup.md").read_text(encoding="utf-8")
    colab = PROJECT["urls"]["Repository"].replace("github.com", "colab.research.google.com/github")
    for path in LESSONS.values():
        assert f"({colab}/blob/{tag()}/notebooks/{path.name})" in setup


def test_the_readme_is_short_and_counts_the_findings():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.encode()) <= 6_000
    findings = read_findings()
    said = [finding for finding in findings if not finding.is_our_own]
    own = len(findings) - len(said)
    false = sum(finding.verdict == "does not hold" for finding in said)
    assert f"[{len(said)} claims, and {own} questions of our own](docs/findings.md)" in readme
    assert f"In our models, {false} of the claims don't hold" in readme


def test_the_readmes_ways_through_take_as_long_as_it_says():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    minutes = dict(re.findall(rf"^\| ({KEY}) \|.* (\d+) \|$", readme, re.MULTILINE))
    ways = {"2": "00 01", "3": "00 01 07", "8": "00 01 03 05 06 07"}
    said = {hours: f"- **{hours} hours**: " for hours in ways}
    ways["26"], said["26"] = " ".join(LESSONS), "That's 26 hours"
    for hours, numbers_of_way in ways.items():
        whole = sum(int(minutes[number]) for number in numbers_of_way.split()) / 60
        assert round(whole) == int(hours)
        assert said[hours] in readme


# ---------------------------------------------------------------- workflows


def jobs(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_only_and_every_job_ends(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 120 for job in workflow["jobs"].values())
    assert path.read_text(encoding="utf-8").startswith("# ")


def test_ci_runs_the_oldest_python_and_torch_that_are_promised():
    ci = jobs(ROOT / ".github" / "workflows" / "ci.yml")
    ends = ci["versions"]["strategy"]["matrix"]["include"]
    (torch,) = (d for d in PROJECT["dependencies"] if d.startswith("torch"))
    assert PROJECT["requires-python"] == f">={ends[0]['python']}"
    assert torch == f"torch>={ends[0]['torch'].removesuffix('.0')}"
    pythons = {end["python"] for end in ends} | set(ci["readme"]["strategy"]["matrix"]["python"])
    assert all(SpecifierSet(PROJECT["requires-python"]).contains(python) for python in pythons)
    assert {"systems", "conda", "colab", "readme"} <= set(ci)


def test_files_that_ci_names_exist():
    text = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    for name in re.findall(r"(?<=[ =])(?:tests|tools|notebooks|\.ci)/[\w/.]+", text):
        assert (ROOT / name).exists(), name
