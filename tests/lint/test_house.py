"""The house keeps its floors: imports go down only, and starting costs little."""

import importlib.metadata
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import transformer_lab
from tools.house import SHOWN_IN, plan
from tools.quick import imports_of, module_of
from transformer_lab.translator import Translator

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "transformer_lab"

HOUSE = tomllib.loads((ROOT / "docs" / "house.toml").read_text(encoding="utf-8"))
FLOOR = {room: number for number, rooms in enumerate(HOUSE["floors"]) for room in rooms}
MODULES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name_of(path: Path) -> str:
    """A module's name without the package's in front."""
    return module_of(path.relative_to(PACKAGE).as_posix())


def floor_of(module: str) -> int:
    """The floor of a module or of a name in it: its room's, if it does not stand higher by itself."""
    for name, floor in HOUSE["higher"].items():
        if module == name or module.startswith(f"{name}."):
            return floor
    return FLOOR[module.split(".")[0]]


def imported(path: Path) -> set[str]:
    """The modules of this package that a module imports, without the package's name in front."""
    names = imports_of(path.read_text(encoding="utf-8"))
    found = {n.removeprefix("transformer_lab.") for n in names if n.startswith("transformer_lab.")}
    return {name for name in found if name.split(".")[0] in FLOOR}


def imported_rooms(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)}


def test_the_shapes_of_every_module_that_has_some_are_checked_by_its_tests():
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    (listed,) = re.findall(r"--jaxtyping-packages=(\S+),tests.shapes", options["addopts"])
    checked = [f"{name}." for name in listed.split(",")]
    shaped = [p for p in MODULES if "from jaxtyping import" in p.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) + "." for path in shaped]
    assert len(names) > 30
    assert [name for name in names if not name.startswith(tuple(checked))] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down_only(path):
    own, room = floor_of(name_of(path)), room_of(path)
    for other in imported(path):
        same = other.split(".")[0] == room and floor_of(other) <= own
        # `config` gives the whole ground floor its one kind of error.
        ground = own == floor_of(other) == 0
        assert same or ground or floor_of(other) < own, f"{name_of(path)} imports {other}"


def test_nobody_imports_the_top_rooms():
    for path in MODULES:
        for room in imported_rooms(path) & set(HOUSE["unimported"]["rooms"]) - {room_of(path)}:
            allowed = [*HOUSE["unimported"]["by"].get(room, []), "__main__"]
            assert room_of(path) in allowed, f"{name_of(path)} imports {room}"


def test_data_figures_and_the_lab_never_import_the_model():
    for path in MODULES:
        if room_of(path) in ("data", "figures", "lab"):
            assert not imported_rooms(path) & {"model", "translator", "training", "decoding"}


def test_the_paper_s_model_never_imports_what_came_later():
    for path in (PACKAGE / "model").glob("*.py"):
        if path.name != "build.py":
            assert not [name for name in imported(path) if name.startswith("model.later")]


def test_loading_a_model_for_inference_loads_no_training_room():
    script = (
        "import sys; from transformer_lab.translator import Translator; Translator.load(); "
        "print([m for m in sys.modules if m.startswith('transformer_lab.training.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_plan_in_contributing_is_the_house_that_is_kept():
    shown = f"<!-- house: written by a tool -->\n\n{plan()}\n\n<!-- end of house -->"
    assert shown in SHOWN_IN.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", ["transformer_lab", "transformer_lab.translator"])
def test_starting_loads_nothing_heavy_beside_torch(module):
    heavy = ["matplotlib", "ipywidgets", "transformers", "IPython"]
    script = f"import sys, {module}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_what_people_use_is_found_by_name():
    found = {name: getattr(transformer_lab, name) for name in transformer_lab.__all__}
    assert {"Translator", "Transformer", "capture_attention", "lab"} <= found.keys()
    assert {*found, "__version__"} <= set(dir(transformer_lab))
    assert found.keys() == transformer_lab._HOMES.keys()
    assert found["Translator"] is Translator
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert transformer_lab.__version__ == project["version"]
    # It's the name of a package, too, which Python puts there once anybody imports it.
    assert importlib.import_module("transformer_lab.lab") is transformer_lab.lab
    assert inspect.signature(transformer_lab.lab) == inspect.signature(found["lab"])
    with pytest.raises(AttributeError, match="'transformer_lab' has no attribute 'Translater'"):
        _ = transformer_lab.Translater


def test_a_clone_that_is_not_installed_says_so_when_asked_for_its_version(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(transformer_lab, "_version", missing)
    assert not hasattr(transformer_lab, "__version__")
    with pytest.raises(AttributeError, match="is not installed, so it has no __version__"):
        _ = transformer_lab.__version__


def test_importing_the_package_loads_nothing_of_what_it_names():
    heavy = ["torch", "numpy", "matplotlib", "ipywidgets", "transformers", "IPython"]
    script = (
        "import sys, transformer_lab as tl; dir(tl); hasattr(tl, 'translater'); "
        f"before = [m for m in {heavy} if m in sys.modules]; "
        "tl.Translator; print(before, 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[] True"


def test_nothing_is_ever_unpickled():
    pattern = re.compile(r"torch\.load\b|import pickle|(?<!\.)\beval\(")
    found = [p for p in MODULES if pattern.search(p.read_text(encoding="utf-8"))]
    assert found == []


def test_environment_yml_only_hands_over_to_pip():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert [str(d).split("=")[0] for d in environment["dependencies"][:2]] == ["python", "pip"]
    assert environment["dependencies"][2:] == [
        {"pip": ["--constraint constraints.txt", "-e .[lab,test]"]}
    ]


def test_constraints_pin_what_pyproject_asks_for_and_no_local_build():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines)
    assert pins["torch"] == "2.13.0"
    assert not [line for line in lines if "+" in line or "@" in line or "/" in line]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for requirement in [*project["dependencies"], *extras["lab"], *extras["test"]]:
        name = re.match(r"[\w.-]+", requirement).group()
        assert name.lower() in {pin.lower() for pin in pins}, f"{name} has no pin"
    assert not any(r.startswith("jupyterlab") for r in project["dependencies"])


@pytest.mark.parametrize("version", ["3.11.2", "3.12.3"], ids=["Debian 12", "Ubuntu 24.04"])
def test_what_is_pinned_runs_on_the_python_that_a_promised_system_brings(version):
    """A package may ask for a later patch of Python than Debian 12 ever gets."""
    pins = {line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().split()}
    asked = {d.name: d.metadata["Requires-Python"] for d in importlib.metadata.distributions()}
    found = {name: spec for name, spec in asked.items() if name.lower() in pins and spec}
    assert len(found) > 100
    assert {n: s for n, s in found.items() if not SpecifierSet(s).contains(version)} == {}
