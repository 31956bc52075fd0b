"""The glossary has its terms in order, each with a lesson that uses it."""

import re

import pytest

from tools.build_notebooks import NOTEBOOKS, read
from transformer_lab.course.quiz.review import glossary

ROWS = [re.split(r" \| ", line.strip("| ")) for line in glossary().splitlines()[2:]]


def test_the_glossary_is_a_table_in_order_without_gaps():
    terms = [row[0].casefold() for row in ROWS]
    assert terms == sorted(set(terms))
    assert all(len(row) == 5 and all(row) for row in ROWS)
    wanted = {"query", "key", "value", "softmax", "masked attention", "residual connection"}
    assert wanted <= set(terms)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_term_stands_in_its_lesson(row):
    (path,) = NOTEBOOKS.glob(f"{row[4]}_*.ipynb")
    cells = read(path).cells
    text = "\n".join(c.source for c in cells if c.cell_type == "markdown").casefold()
    assert [word for word in re.findall(r"[\w&-]+", row[0].casefold()) if word not in text] == []
