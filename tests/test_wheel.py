"""The wheel has all that the commands need: it is installed alone, and each command runs there."""

import json
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest
from packaging.requirements import Requirement

from tests.lent import lend
from tools.build_notebooks import ROOT, project
from tools.checkout import copy_of_checkout

CORE = [Requirement(text).name for text in project()["dependencies"]]
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"

pytestmark = pytest.mark.slow


def build(kind, source, folder):
    """A distribution of a source tree, made with this environment's setuptools."""
    command = [sys.executable, "-c", BUILD, kind, str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A wheel and a source distribution of a copy: setuptools leaves a folder where it builds."""
    folder = tmp_path_factory.mktemp("made")
    tree = copy_of_checkout(folder / "tree")
    return build("build_wheel", tree, folder), build("build_sdist", tree, folder)


def files_of(wheel):
    with zipfile.ZipFile(wheel) as whole:
        return {name: whole.read(name) for name in whole.namelist() if "dist-info" not in name}


@pytest.mark.thorough(caught_by=["test_the_wheel_has_each_file_of_the_package_and_no_other"])
def test_the_source_distribution_gives_the_same_wheel(made, tmp_path):
    wheel, source = made
    # Not by `tarfile`: Python 3.11.2, which is Debian 12's, knows no `filter`, and 3.12 asks for one.
    subprocess.run(["tar", "-xf", source, "-C", tmp_path], check=True)
    (unpacked,) = tmp_path.iterdir()
    again = build("build_wheel", unpacked, tmp_path)
    assert files_of(again) == files_of(wheel)


def test_the_wheel_has_each_file_of_the_package_and_no_other(made):
    kept = subprocess.run(
        ["git", "ls-files", "transformer_lab"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if kept.returncode:
        pytest.skip("this is no clone, so nobody knows which files belong to the package")
    assert set(files_of(made[0])) == set(kept.stdout.splitlines())


@pytest.fixture(scope="module")
def run(made, tmp_path_factory):
    """Runs `transformer-lab` where the wheel alone is installed, beside the core dependencies."""
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder / "env", with_pip=True, symlinks=True)
    binaries = folder / "env" / "bin"
    (site,) = (folder / "env").glob("lib/*/site-packages")
    lend(site, *CORE)
    offline = ["--no-index", "--no-deps", "--quiet", str(made[0])]
    subprocess.run([binaries / "python", "-m", "pip", "install", *offline], check=True)
    (folder / "elsewhere").mkdir()
    clean = {"PATH": str(binaries), "HOME": str(folder), "OMP_NUM_THREADS": "1", "LANG": "C.UTF-8"}

    def command(*arguments, text=None, code=0):
        done = subprocess.run(
            [binaries / "transformer-lab", *arguments],
            cwd=folder / "elsewhere",
            env=clean,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stderr if code else done.stdout

    yield command
    shutil.rmtree(folder)  # of which pytest would keep three


def last(printed):
    return json.loads(printed.splitlines()[-1])


@pytest.mark.thorough(
    caught_by=[
        "test_the_wheel_has_each_file_of_the_package_and_no_other",
        "tests/lint/test_house.py::test_importing_the_package_loads_nothing_of_what_it_names",
    ]
)
def test_each_command_runs_from_the_wheel_alone(run):
    commands = run("--help")
    asked = {
        "doctor": run("doctor"),
        "translate": run("translate", "the cat saw the red house"),
        "evaluate": run("evaluate", "--limit", "7", "--json"),
        "lab": run("lab", "--json"),
        "playground": run("playground", "--json"),
        "corpora": run("corpora"),
        "progress": run("progress"),
        "train": run("train", "--max-steps", "2", "--out", "run", "--json"),
        # It needs what is not asked for by the wheel alone, and says how to get it.
        "export": run("export", "--to", "transformers", "--out", "away", code=1),
    }
    assert set(re.findall(r"^    (\w+)", commands, re.MULTILINE)) == set(asked)
    assert asked["translate"] == "le chat a vu la maison rouge\n"
    assert last(asked["evaluate"])["exact_match"] == 1
    assert last(asked["lab"])["out"].endswith(".html")
    assert last(asked["playground"])["out"].endswith("play.html")
    recorded = run("lab", "the animal didn't cross the street", "--record", "--overwrite", "--json")
    assert last(recorded)["translation"] == "l'animal n'a pas traversé la rue"
    assert last(asked["train"])["steps"] == 2
    assert "Install it with pip install 'transformer-lab[export]'" in asked["export"]
    assert run("translate", "--model", "run", text="the cat sleeps\n").count("\n") == 1
