"""Whatever comes in that should not: one ValueError in one line, whichever door it comes to."""

import pytest

from tests.doors import KINDS, rows, total
from tools.written import DOCUMENTS

CASES = [
    pytest.param(kind, door, thing, id=f"{kind}: {door}: {thing}"[:120])
    for kind, (_, doors, hostile, fine) in KINDS.items()
    for door in doors
    for thing in hostile
    if (door, thing) not in fine
]


@pytest.mark.parametrize(("kind", "door", "thing"), CASES)
def test_what_is_hostile_is_refused_in_one_line(kind, door, thing, tmp_path, as_users_run_it):
    with pytest.raises(ValueError, match=r"\S") as error:
        KINDS[kind].doors[door](KINDS[kind].hostile[thing], tmp_path)
    said = str(error.value)
    assert "\n" not in said
    assert len(said) < 600
    assert type(error.value).__module__.startswith(("builtins", "transformer_lab"))


def test_the_document_has_every_door():
    document = (DOCUMENTS / "trust.md").read_text("utf-8")
    assert total() in document
    for row in rows():
        assert f"| {' | '.join(row)} |" in document
