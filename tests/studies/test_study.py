"""A study does each run once, stores it at once, and goes on where it was stopped."""

import json
import math

import pytest

from tests.thorough import thorough_from
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.a_word_far_away import distance
from transformer_lab.studies.common.grid import (
    hash_setting,
    load_runs,
    make_study_config,
    run_missing,
)
from transformer_lab.studies.depth_and_rate import stability
from transformer_lab.studies.finding_the_noun import coreference
from transformer_lab.studies.longer_than_trained import lengths
from transformer_lab.studies.more_data_or_width import scaling
from transformer_lab.studies.more_seeds import more_seeds
from transformer_lab.studies.one_stack_or_two import one_stack
from transformer_lab.studies.recurrence_or_attention import recurrent
from transformer_lab.studies.residual_and_norm import stacks
from transformer_lab.studies.table_3 import ablations
from transformer_lab.studies.what_attention_costs import costs
from transformer_lab.studies.where_to_drop_out import dropout_places

pytestmark = pytest.mark.slow

GRID = [{"number": n, "seed": seed} for n in (2, 3) for seed in (0, 1)]


def square(setting):
    if setting["number"] < 0:
        raise ValueError("number below 0")
    return {"square": setting["number"] ** 2 + setting["seed"]}


def test_the_name_of_a_setting_depends_on_its_values_and_not_on_their_order():
    assert hash_setting({"a": 1, "b": 2}) == hash_setting({"b": 2, "a": 1})
    assert hash_setting({"a": 1, "b": 2}) != hash_setting({"a": 2, "b": 1})


def test_a_study_is_made_stored_and_not_repeated(tmp_path):
    half = run_missing("squares", square, GRID[:2], workers=1, folder=tmp_path)
    assert [r["result"]["square"] for r in half["runs"]] == [4, 5]
    before = {r["hash"]: r["seconds"] for r in load_runs("squares", tmp_path)}

    whole = run_missing("squares", square, GRID[::-1], workers=2, folder=tmp_path)
    assert [r["setting"] for r in whole["runs"]] == GRID[::-1]
    again = {r["hash"]: r["seconds"] for r in whole["runs"]}
    assert before.items() <= again.items()
    on_disk = json.loads((tmp_path / "squares.json").read_text())
    assert on_disk == whole
    assert on_disk["command"] == "python -m transformer_lab.studies.squares"


def test_what_is_done_stays_stored_when_a_later_run_fails(tmp_path):
    grid = [GRID[0], {"number": -1, "seed": 0}]
    with pytest.raises(ValueError, match="number below 0"):
        run_missing("squares", square, grid, workers=1, folder=tmp_path)
    assert [r["setting"] for r in load_runs("squares", tmp_path)] == [GRID[0]]


@pytest.mark.thorough(caught_by=["test_a_study_is_made_stored_and_not_repeated"])
def test_no_run_is_begun_when_time_is_up(tmp_path):
    done = run_missing("squares", square, GRID, workers=1, minutes=0.0, folder=tmp_path)
    assert len(done["runs"]) == 1


# ---------------------------------------------------------------- one small run of each study

STUDIES = [
    stacks,  # the quickest: it is the one that `make test` runs
    coreference,
    lengths,
    ablations,
    scaling,
    stability,
    costs,
    recurrent,
    distance,
    one_stack,
    dropout_places,
    more_seeds,
]


def numbers(value):
    """All numbers of a result, in the order in which they stand; a text, such as a name, is none."""
    if isinstance(value, str):
        return []
    if isinstance(value, dict):
        return [n for key in sorted(value) for n in numbers(value[key])]
    if isinstance(value, list):
        return [n for part in value for n in numbers(part)]
    return [float(value)]


@pytest.mark.parametrize("study", thorough_from(1, STUDIES), ids=lambda s: s.NAME)
def test_a_small_run_gives_what_is_stored_within_the_spread_of_the_seeds(study):
    hashes = [hash_setting(setting) for setting in study.SMALL]
    stored = {r["hash"]: numbers(r["result"]) for r in load_runs(study.NAME)}
    seeds = [stored[name] for name in hashes]
    again = numbers(study.run(study.SMALL[0]))
    assert len(again) == len(seeds[0])
    for place, value in enumerate(again):
        column = [seed[place] for seed in seeds]
        mean = sum(column) / len(column)
        spread = math.sqrt(sum((x - mean) ** 2 for x in column) / len(column))
        assert abs(value - mean) <= 4 * spread + 0.02, (place, value, column)


@pytest.mark.parametrize("study", STUDIES, ids=lambda s: s.NAME)
def test_the_settings_of_a_study_are_all_different(study):
    names = [hash_setting(setting) for setting in [*study.GRID, *study.SMALL]]
    assert len(set(names)) == len(names)


def test_a_quiet_recipe_validates_at_its_end_and_saves_nothing():
    recipe = PRESETS["small"].training
    found = make_study_config(recipe, 7, 3, peak_rate=0.5)
    expected = {"max_steps": 7, "validate_every": 7, "save_every": None, "seed": 3}
    assert found.to_dict() == recipe.to_dict() | expected | {"device": "cpu", "peak_rate": 0.5}
