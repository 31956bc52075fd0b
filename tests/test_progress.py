"""What a learner has done: when a question comes back, and a small file that loses nothing."""

import errno
import json
import os
import random
import subprocess
import sys
import time
from datetime import date, datetime, timedelta

import pytest

from transformer_lab.course import diary as progress
from transformer_lab.course import diary as progress_file
from transformer_lab.course import lessons
from transformer_lab.course.diary import (
    FILE,
    SWITCH,
    LessonRecord,
    Place,
    QuestionRecord,
    record_answer,
    record_exercise,
    update_question,
)
from transformer_lab.storage import lock

DAY = date(2026, 3, 28)  # clocks change in Europe in the night after


def days(number):
    return DAY + timedelta(number)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a lesson in it, in which a learner works."""
    (tmp_path / "01_lesson.ipynb").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SWITCH)
    monkeypatch.setattr(progress, "SAID", set())
    return tmp_path


# ---------------------------------------------------------------- spacing


def replay(answers):
    """The standing after (day, right) answers, in order."""
    standing = None
    for day, right in answers:
        standing = update_question(standing, right, day)
    return standing


def sought(answers):
    """The same, found the slow way: from the last new beginning on, look for each return."""
    wrong = [n for n, (_, right) in enumerate(answers) if not right]
    begin = wrong[-1] if wrong else 0
    base, later = answers[begin][0], answers[begin + 1 :]
    for steps, gap in enumerate((1, 3, 7)):
        due = base + timedelta(days=gap)
        places = [n for n, (day, _) in enumerate(later) if day >= due]
        if not places:
            return QuestionRecord(*answers[0], steps, due)
        base, later = later[places[0]][0], later[places[0] + 1 :]
    return QuestionRecord(*answers[0], 3, None)


def test_a_question_comes_back_after_1_then_3_then_7_days_and_then_no_more():
    standing = update_question(None, True, DAY)
    for wait in (1, 3, 7):
        assert (standing.due - DAY).days == {1: 1, 3: 4, 7: 11}[wait]
        assert not standing.is_due(standing.due - timedelta(1))
        assert standing.is_due(standing.due)
        standing = update_question(standing, True, standing.due)
    assert standing == QuestionRecord(DAY, True, 3, None)
    assert not standing.is_due(date.max)


def test_a_wrong_answer_begins_again_at_one_day_whenever_it_comes():
    for steps in range(4):
        due = None if steps == 3 else days(20)
        for day in (days(13), days(20), days(33)):
            again = update_question(QuestionRecord(DAY, True, steps, due), False, day)
            assert again == QuestionRecord(DAY, True, 0, day + timedelta(1))


def test_a_right_answer_before_it_is_due_changes_nothing():
    standing = update_question(update_question(None, False, DAY), True, days(1))
    assert standing == QuestionRecord(DAY, False, 1, days(4))
    for early in range(-5, 4):
        assert update_question(standing, True, days(early)) == standing


@pytest.mark.parametrize("seed", range(200))
def test_any_answers_on_any_days_stand_as_the_slow_search_finds(seed):
    rng = random.Random(seed)
    at = sorted(days(rng.randrange(40)) for _ in range(rng.randint(1, 13)))
    answers = [(day, rng.random() < 0.8) for day in at]
    assert replay(answers) == sought(answers)


def test_on_one_day_only_whether_one_was_wrong_counts():
    """After the first answer, that is, and when the question is not due: no order, no number."""
    rng = random.Random(0)
    for _ in range(50):
        more = [rng.random() < 0.5 for _ in range(rng.randint(1, 6))]
        orders = {replay([(DAY, True), *((DAY, r) for r in rng.sample(more, len(more)))])}
        assert orders == {QuestionRecord(DAY, True, 0, days(1))}
        begun = [(DAY, True), (days(1), True)]
        due = {replay([*begun, *((days(2), r) for r in rng.sample(more, len(more)))]).due}
        assert due == {days(4) if all(more) else days(3)}


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has no tzset")
def test_the_day_is_that_of_utc_wherever_the_clock_hangs(monkeypatch):
    instant = datetime.fromisoformat("2026-03-29T00:59:59+00:00").timestamp()

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.fromtimestamp(instant, tz)

    monkeypatch.setattr(progress, "datetime", Clock)
    seen, local = set(), set()
    for zone in ("UTC", "XXX-14", "XXX+12", "CET-1CEST,M3.5.0,M10.5.0/3"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        seen.add(progress.today())
        local.add(date.fromtimestamp(instant))
    monkeypatch.undo()
    time.tzset()
    assert seen == {date(2026, 3, 29)}
    assert len(local) == 2


# ---------------------------------------------------------------- the file


def test_what_is_noted_is_kept_and_the_file_is_announced_once(folder):
    said = record_exercise(Place("03", "split", 5), DAY)
    assert "\n" not in said
    assert said.startswith(
        "(Your progress is stored in .progress.json next to the notebooks and never sent anywhere. "
    )
    assert record_exercise(Place("03", "split", 5), days(2)) == ""
    assert record_answer(Place("03", "½ of “√d”?", 7), False, DAY) == ""
    assert record_answer(Place("03", "½ of “√d”?", 7), True, days(1)) == ""
    assert record_answer(Place("01", "Why?", 6), True, DAY) == ""
    record = progress_file.read_record(folder / FILE)
    questions = {"½ of “√d”?": QuestionRecord(DAY, False, 1, days(4))}
    assert record == {
        "01": LessonRecord(
            questions={"Why?": QuestionRecord(DAY, True, 0, days(1))}, questions_of=6
        ),
        "03": LessonRecord({"split": DAY}, 5, questions, 7),
    }
    assert {path.name for path in folder.iterdir()} == {FILE, "01_lesson.ipynb"}


def test_only_the_first_pass_of_an_exercise_is_written(folder):
    record_exercise(Place("03", "split", 5), DAY)
    before = (folder / FILE).stat()
    record_exercise(Place("03", "split", 5), days(1))
    after = (folder / FILE).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_it_lies_beside_the_lessons_also_when_one_works_above_them(folder, monkeypatch):
    assert progress_file.find_diary() == folder / FILE
    above, other = folder / "above", folder / "other"
    (above / "notebooks").mkdir(parents=True)
    (above / "notebooks" / "01_lesson.ipynb").touch()
    other.mkdir()
    monkeypatch.chdir(above)
    assert progress_file.find_diary() == above / "notebooks" / FILE
    monkeypatch.chdir(other)
    assert progress_file.find_diary() is None
    record_answer(Place("01", "Why?", 6), True, DAY)
    assert progress.format_progress(DAY) == progress.NOWHERE
    assert list(other.iterdir()) == []


@pytest.mark.parametrize("value", ["off", "OFF"])
def test_switched_off_it_is_neither_written_nor_read(folder, monkeypatch, value):
    monkeypatch.setenv(SWITCH, value)
    assert record_exercise(Place("03", "split", 5)) == ""
    assert record_answer(Place("03", "Why?", 6), False) == ""
    assert not (folder / FILE).exists()
    (folder / FILE).write_text("damaged")
    assert record_exercise(Place("03", "split", 5)) == ""
    assert progress.format_progress() == progress.NOTHING
    assert progress.load_record() == {}
    assert (folder / FILE).read_text() == "damaged"


def test_the_tests_run_switched_off():
    assert os.environ[SWITCH] == "off"


def good():
    """A record as JSON."""
    question = {"first": "2026-03-28", "right": True, "steps": 1, "due": "2026-04-01"}
    done = {
        "exercises": {"split": "2026-03-28"},
        "exercises_of": 5,
        "questions": {"Why?": question},
        "questions_of": 6,
    }
    return {"course": "transformer_lab", "version": 1, "lessons": {"03": done}}


def changed(*keys, to):
    """The record with another value at this place."""
    told = good()
    *path, last = keys
    inner = told
    for key in path:
        inner = inner[key]
    inner[last] = to
    return json.dumps(told)


QUESTION = ("lessons", "03", "questions", "Why?")
ODD = {
    "empty": "",
    "cut off": json.dumps(good())[:-9],
    "no object": "[1, 2]",
    "a number": "7",
    "null": "null",
    "another's": '{"lessons": {}}',
    "very deep": "[" * 100_000,
    "another course": changed("course", to="other"),
    "a later version": changed("version", to=2),
    "true for 1": changed("version", to=True),
    "a key more": changed("since", to="2026"),
    "a lesson more is no object": changed("lessons", "04", to=[]),
    "an exercise without a day": changed("lessons", "03", "exercises", "split", to=True),
    "a day that there is not": changed(*QUESTION, "first", to="2026-02-30"),
    "a day in another form": changed(*QUESTION, "first", to="20260328"),
    "right is a number": changed(*QUESTION, "right", to=1),
    "steps is a float": changed(*QUESTION, "steps", to=1.0),
    "steps beyond the last": changed(*QUESTION, "steps", to=4),
    "infinitely many": changed("lessons", "03", "questions_of", to=float("inf")),
    "not a number": changed("lessons", "03", "questions_of", to=float("nan")),
    "no due day": changed(*QUESTION, "due", to=None),
    "half a character": changed("lessons", "03", "exercises", "\ud800", to="2026-03-28"),
    "not UTF-8": b"\xff\xfe{}",
}


def test_a_good_record_is_read():
    """Of which the odd ones are changes."""
    assert json.loads(progress_file.encode_record(record_of(good()))) == good()


def record_of(told):
    return {
        number: progress_file.parse_lesson(lesson) for number, lesson in told["lessons"].items()
    }


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_a_damaged_or_foreign_file_gets_one_line_and_is_left(folder, content):
    content = content if isinstance(content, bytes) else content.encode()
    (folder / FILE).write_bytes(content)
    first = record_exercise(Place("03", "split", 5))
    assert record_answer(Place("03", "Why?", 6), True) == ""
    said = f"{folder / FILE} is damaged, or is not a record of this course, so it was not changed. "
    said += "To start again, move or delete the file"
    assert first == f"(Your progress was not saved: {said})"
    for call in (
        progress.format_progress,
        progress.load_record,
        lambda: progress_file.delete_diary(folder / FILE),
    ):
        with pytest.raises(ValueError, match="is damaged, or is not a record") as error:
            call()
        assert str(error.value) == said
    assert (folder / FILE).read_bytes() == content
    assert {path.name for path in folder.iterdir()} == {FILE, "01_lesson.ipynb"}


def test_a_folder_in_the_place_of_the_file_gets_one_line(folder):
    (folder / FILE).mkdir()
    said = record_exercise(Place("03", "split", 5))
    assert said == f"(Your progress was not saved: {folder / FILE}: Is a directory)"


def test_where_nothing_can_be_written_one_line_says_so(folder, monkeypatch):
    def refuse(path):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(lock, "open_and_lock", refuse)
    said = record_exercise(Place("03", "split", 5))
    assert said == f"(Your progress was not saved: {folder / lock.LOCK}: Read-only file system)"
    assert record_exercise(Place("03", "merge", 5)) == ""
    assert not (folder / FILE).exists()


def test_a_lock_that_is_never_free_gets_one_line(folder, monkeypatch):
    monkeypatch.setattr(progress_file, "PATIENCE", 0.0)
    with lock.lock_folder(folder):
        said = record_exercise(Place("03", "split", 5))
    assert said.startswith(
        f"(Your progress was not saved: another process is using {folder}. Wait "
    )
    assert "\n" not in said
    record_exercise(Place("03", "split", 5))
    assert progress_file.read_record(folder / FILE)


WRITER = """\
import sys
from transformer_lab.course import diary as progress, diary as progress_file
progress_file.PATIENCE = 300
for n in range(17):
    progress.record_answer(progress.Place("05", f"{sys.argv[1]} {n}", 51), True)
    progress.record_exercise(progress.Place("05", f"{sys.argv[1]} {n}", 51))"""


def test_processes_that_write_at_once_lose_nothing(folder):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, name], stdout=subprocess.DEVNULL)
        for name in "abc"
    ]
    assert [writer.wait(300) for writer in writers] == [0, 0, 0]
    done = progress_file.read_record(folder / FILE)["05"]
    expected = {f"{name} {n}" for name in "abc" for n in range(17)}
    assert set(done.questions) == set(done.exercises) == expected
    assert {path.name for path in folder.iterdir()} == {FILE, "01_lesson.ipynb"}


# ---------------------------------------------------------------- told

TABLE = """\
lesson   exercises   quiz
    01   –           1 of 6, 1 right on the first try
    03   2 of 5      2 of 7, 1 right on the first try
    11   1 of 4      –

To review today: 2 questions.
    03  old?
    01  Why?
Next: 1 on 2026-04-02."""


def test_the_table_says_what_is_done_and_what_to_repeat(folder):
    assert progress.format_progress(DAY) == progress.NOTHING
    record_exercise(Place("03", "split", 5), DAY)
    record_exercise(Place("03", "merge", 5), DAY)
    record_exercise(Place("11", "entropy", 4), DAY)
    record_answer(Place("03", "old?", 7), False, days(-3))
    record_answer(Place("03", "new?", 7), True, days(4))
    record_answer(Place("01", "Why?", 6), True, DAY)
    assert progress.format_progress(days(4)) == TABLE
    later = progress.format_progress(days(9)).splitlines()
    assert later[5] == "To review today: 3 questions."
    assert later[6:] == ["    03  old?", "    01  Why?", "    03  new?"]
    early = progress.format_progress(days(-3)).splitlines()
    assert early[5:] == ["To review today: no questions.", "Next: 1 on 2026-03-26."]


def test_of_many_questions_the_first_ten_are_named(folder):
    for n in range(13):
        record_answer(Place("02", f"Question {n:02}", 13), True, DAY)
    lines = progress.format_progress(days(1)).splitlines()
    assert lines[3] == "To review today: 13 questions."
    assert lines[4] == "    02  Question 00"
    assert lines[14:] == ["    and 3 more"]
    progress.drop_questions([("02", f"Question {n:02}") for n in range(12)] + [("07", "none")])
    assert "To review today: 1 question." in progress.format_progress(days(1)).splitlines()


def test_an_exercise_that_was_moved_is_found_under_its_lesson_of_today(folder):
    for name in ("softmax", "attention", "softmax_backward"):
        record_exercise(Place("01", name, 4), DAY)
    done = progress_file.read_record(folder / FILE)
    assert done["01"] == LessonRecord(dict.fromkeys(("softmax", "attention"), DAY), 2)
    assert done["01b"] == LessonRecord({"softmax_backward": DAY}, 2)
    record_exercise(Place("01b", "attention_backward", 2), DAY)
    assert progress_file.read_record(folder / FILE)["01b"].exercises_of == 2
    for lesson, many in progress_file.EXERCISES_AFTER_MOVE.items():
        assert len(vars(lessons.lesson(lesson).check)) == many
