"""The findings' rule, and that each file says what its lessons print."""

import re
from dataclasses import replace

import pytest

from tests.lint.test_documents import LINK, NUMBER, REVIEW, check_links, not_printed
from tools.build_notebooks import ROOT, lessons
from tools.findings.chart import FOLDER as CHARTS
from tools.findings.finding import FOLDER, Finding, Measurement, read_finding, read_findings
from tools.findings.page import (
    PAGE,
    SURPRISES,
    build_page,
    count_verdicts,
    describe_finding,
    describe_place,
    describe_test,
)
from transformer_lab.course.keys import lesson_key

FINDINGS = read_findings()
NEAR = Measurement("a share", value=0.5, low=0.4, high=0.6, runs=11, at_least=0.3)


def make_finding(*tests, **changes):
    fields = {"number": 1, "claim": "c", "source": "s", "how": "h", "result": "r", "where": ()}
    return Finding(**{**fields, "measurements": tests, **changes})


@pytest.mark.parametrize(
    ("at_least", "at_most", "outcome"),
    [
        (0.3, 1.0, "for"),
        (0.4, 0.6, "for"),
        (0.7, 1.0, "against"),
        (0.5, 1.0, "open"),
        (0.0, 0.5, "open"),
    ],
)
def test_an_interval_speaks_for_a_claim_if_all_of_it_is_predicted(at_least, at_most, outcome):
    assert replace(NEAR, at_least=at_least, at_most=at_most).outcome == outcome


def test_ten_runs_have_an_interval_and_fewer_have_to_agree():
    few = Measurement("runs", values=(0.5, 0.9, 0.9), at_least=0.6)
    assert (few.has_few_runs, few.interval, few.outcome) == (True, (0.5, 0.9), "open")
    many = Measurement("runs", values=(0.5,) + (0.9,) * 12, at_least=0.6)
    assert not many.has_few_runs
    assert many.outcome == "for"
    five = Measurement("coins", hits=5, runs=5, at_least=0.6)
    assert (five.has_few_runs, five.outcome) == (True, "for")
    assert replace(five, hits=4).outcome == "open"
    assert Measurement("coins", hits=20, runs=30, at_least=0.5).outcome == "open"


def test_a_share_of_the_runs_has_an_interval_of_its_own():
    share = Measurement("sentences", value=84.0, out_of=100, runs=43, at_least=50, models=1)
    low, high = share.interval
    assert 68 < low < 72 < 91 < high < 95
    assert share.outcome == "for"
    assert describe_test(share).startswith("- Sentences: **84 (95% interval from 7")
    assert "n = 43, one model." in describe_test(share)
    assert replace(share, value=55.0).outcome == "open"


def test_a_line_says_where_its_range_comes_from():
    pooled = replace(NEAR, runs=3, at_least=0.5, pooled=True)
    assert "(95% interval, pooled, from 0.4 to 0.6)**, n = 3." in describe_test(pooled)
    assert "The interval reaches about 0.1 to either side." in describe_test(pooled)
    runs = Measurement("runs", values=(0.5, 0.9), at_least=0.6)
    assert "(the runs go from 0.5 to 0.9)**, n = 2." in describe_test(runs)
    assert "either side" not in describe_test(runs)
    one = Measurement("a time", value=1.03, runs=1, at_least=1)
    assert "**1.03 (no interval)**, one run." in describe_test(one)


def test_a_finding_says_how_many_models_its_sentences_are_of_and_if_we_asked_it_ourselves():
    few = Measurement("heads", hits=4, runs=4, at_least=0.5, models=2)
    finding = make_finding(replace(NEAR, models=1), few, source="asked here")
    assert "**holds here** · **few runs: n = 4, 2 models** · our own question" in describe_finding(
        finding
    )
    table = count_verdicts([finding, make_finding(), make_finding(source="explanations")])
    assert table.endswith("| **together** | 1 | 1 | 1 |")


@pytest.mark.parametrize(
    ("outcomes", "exact", "verdict"),
    [
        ([], False, "nothing to test"),
        (["for", "for"], True, "holds"),
        (["for", "for"], False, "holds here"),
        (["for", "against"], False, "depends on"),
        (["for", "open"], False, "depends on"),
        (["open", "open"], False, "not seen"),
        (["against", "open"], False, "does not hold"),
    ],
)
def test_the_verdict_follows_from_the_outcomes(outcomes, exact, verdict):
    bounds = {"for": 0.3, "against": 0.7, "open": 0.5}
    tests = [replace(NEAR, at_least=bounds[outcome], exact=exact) for outcome in outcomes]
    assert make_finding(*tests).verdict == verdict


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("claim = 'x'", "missing"),
        ("nonsense = 1\nwhere = []", "nonsense"),
        (
            "[[measurements]]\nwhat = 'a'\nvalue = 1.0\nvalues = [1.0]\nat_least = 0.0",
            "one of value",
        ),
        ("[[measurements]]\nwhat = 'a'\nvalue = 1.0\nexact = true", "whichever the claim predicts"),
        ("[[measurements]]\nwhat = 'a'\nvalue = 1.0\nat_least = 0.0", "number of runs"),
        (
            "[[measurements]]\nwhat = 'a'\nvalue = 1.0\nlow = 0.0\nruns = 3\nat_least = 0.0",
            "low and high",
        ),
        (
            "[[measurements]]\nwhat = 'a'\nvalues = [1.0]\npooled = true\nat_least = 0.0",
            "their error is pooled",
        ),
        (
            "[[measurements]]\nwhat = 'a'\nvalues = [1.0]\nout_of = 1\nat_least = 0.0",
            "because out_of is given",
        ),
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path, text, message):
    path = tmp_path / "001_wrong.toml"
    path.write_text(text if "where" in text else f"{text}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"001_wrong.toml") as error:
        read_finding(path)
    assert message in str(error.value) or "missing" in message


def test_depends_on_stands_exactly_where_it_is_the_verdict(tmp_path):
    path = tmp_path / "002_depends.toml"
    lines = ["claim = 'c'", "source = 's'", "how = 'h'", "result = 'r'", "where = []"]
    path.write_text("\n".join([*lines, "depends_on = 'rain'"]), encoding="utf-8")
    with pytest.raises(ValueError, match="the verdict is 'nothing to test'"):
        read_finding(path)


def test_the_page_is_the_one_that_the_files_give():
    assert PAGE.read_text(encoding="utf-8") == build_page(FINDINGS), "run: python -m tools.findings"


def test_numbers_are_given_once_and_without_gaps():
    assert [finding.number for finding in FINDINGS] == list(range(1, len(FINDINGS) + 1))
    assert len([*FOLDER.glob("*.toml")]) == len(FINDINGS)
    assert len({finding.claim for finding in FINDINGS}) == len(FINDINGS)


def test_ten_of_them_surprise_and_say_why():
    assert len(set(SURPRISES)) == 10
    assert {finding.number for finding in FINDINGS if finding.surprise} == set(SURPRISES)
    assert all((CHARTS / f"{number:03}.svg").exists() for number in SURPRISES)


def test_every_lesson_has_findings():
    told = {lesson_key(path) for path in lessons()} - {"00"}
    assert {lesson for finding in FINDINGS for lesson in finding.lessons} >= told


def printed_numbers(finding):
    """The numbers that the lessons must print: those of the result and of every test."""
    numbers = NUMBER.findall(finding.result)
    for test in finding.measurements:
        given = [test.value, test.low, test.high, *test.values]
        numbers += [f"{abs(number):.10g}" for number in given if number]
        numbers += [str(test.hits)] if test.hits else []
    return numbers


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: f"{finding.number:03}")
def test_a_finding_says_what_its_lessons_print(finding):
    links = [LINK.fullmatch(describe_place(*place)) for place in finding.where]
    check_links(links)
    missing = not_printed(" ".join(printed_numbers(finding)), links)
    assert not missing, f"no cell under its links prints {missing}"
    if not re.fullmatch(
        r"explanations|asked here|the paper(, (§[\d.]+|Table \d))*", finding.source
    ):
        author, year = finding.source.split(" ")[0], finding.source[-4:]
        pages = [ROOT / "notebooks" / link.group(3) for link in links]
        cited = "\n".join(page.read_text(encoding="utf-8") for page in (*pages, REVIEW))
        assert re.search(rf"{author}\b[^\n]*{year}", cited), f"{finding.source} is cited nowhere"
