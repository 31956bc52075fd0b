"""The table of versions: rows that were not run again stand as they were."""

from tools.stress import versions
from tools.stress.versions import HEADS, ROWS, with_rows


def lines(text):
    return [line.strip("| ").split(" | ") for line in text.splitlines() if " | " in line]


def test_a_row_replaces_its_own_line_alone_also_where_a_column_is_new(monkeypatch):
    first, second, third = (row.name for row in ROWS[:3])
    both = [{head: f"{name} {head}" for head in HEADS[1:]} for name in (first, second)]
    told = [{"versions": first} | both[0], {"versions": second} | both[1]]
    document = f"before\n\n{with_rows(told, '')}\nafter"
    monkeypatch.setattr(versions, "HEADS", [*HEADS, "new"])
    now = lines(with_rows([{"versions": second, "new": "7"}, {"versions": third}], document))
    assert now[0] == [*HEADS, "new"]
    assert now[2] == [first, *both[0].values(), "–"]
    assert now[3] == [second, *["–"] * (len(HEADS) - 1), "7"]
    assert now[4][0] == third


def test_a_row_that_there_is_no_more_goes():
    document = (
        f"| {' | '.join(HEADS)} |\n| --- |\n| of old | {' | '.join('x' for _ in HEADS[1:])} |"
    )
    assert "of old" not in with_rows([], document)
