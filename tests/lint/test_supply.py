"""What is installed is what was locked: versions, hashes, commits of actions, licences."""

import json
import re
import sys

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as name_of

from tools import lock
from tools.build_notebooks import ROOT, lessons, project, tag
from tools.stress import sbom

PROJECT = project()
PINS = {
    name_of(line.split("==")[0]): line.split("==")[1]
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
}
HERE = default_environment() | {"extra": ""}


def locked():
    """Each package of the lock, by name: what is required of it, and the hashes of its files."""
    found = {}
    for block in lock.blocks(lock.LOCK.read_text(encoding="utf-8")):
        required = Requirement(block.splitlines()[0].rstrip("\\ "))
        hashes = re.findall(r"--hash=sha256:[0-9a-f]{64}\b", block)
        found[name_of(required.name)] = required, hashes
    return found


def test_each_package_of_the_lock_has_one_version_and_its_hashes():
    found = locked()
    assert len(found) > 150
    for name, (required, hashes) in found.items():
        assert [s.operator for s in required.specifier] == ["=="], name
        assert hashes, name


def test_the_lock_has_the_versions_of_the_constraints():
    versions = {n: str(r.specifier).removeprefix("==") for n, (r, _) in locked().items()}
    both = versions.keys() & PINS.keys()
    assert len(both) > 100
    assert {n for n in both if versions[n] != PINS[n]} == set()


def test_the_lock_has_all_that_is_asked_for_but_pytorch():
    extras = PROJECT["optional-dependencies"]
    asked = [*PROJECT["dependencies"], *(r for extra in lock.EXTRAS for r in extras[extra])]
    names = {name_of(Requirement(text).name) for text in asked}
    assert names - locked().keys() == {"torch"}


def test_each_pin_is_a_version_that_pyproject_allows():
    for required in map(Requirement, lock.requirements()):
        assert required.specifier.contains(PINS[name_of(required.name)]), required


def test_constraints_are_what_pip_would_install_without_what_one_index_alone_has():
    versions = {"Torch": "2.1+cpu", "zipp": "4", "Jinja2": "3", "triton": "1", "pip": "26"}
    found = [{"metadata": {"name": name, "version": v}} for name, v in versions.items()]
    report = json.dumps({"install": [*found, {"metadata": {"name": "nvidia-x", "version": "1"}}]})
    assert lock.constraints(report) == "Jinja2==3\nTorch==2.1\nzipp==4\n"


def test_only_the_packages_that_are_named_may_move(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "CONSTRAINTS", tmp_path / "constraints.txt")
    lock.CONSTRAINTS.write_text("Jinja2==3\nmdit-py-plugins==0.7\nzipp==4\n")
    assert lock.pins_without([]) == lock.CONSTRAINTS.read_text()
    assert lock.pins_without(["jinja2", "mdit_py_plugins"]) == "zipp==4\n"
    with pytest.raises(SystemExit, match="has no nothing"):
        lock.pins_without(["nothing", "zipp"])


def test_what_has_no_hash_is_pytorch_and_what_it_brings():
    kept = "zipp==4 \\\n    --hash=sha256:11\n"
    text = f"torch==1.0 \\\n    --hash=sha256:00\nnvidia-x==1\ntriton==2\n{kept}"
    assert lock.lock_text(text) == lock.HEAD + kept


def test_actions_are_named_by_commit():
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        used = re.findall(r"uses: *(\S+)(.*)", text)
        assert used, path.name
        for action, comment in used:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), f"{action}: which release is it?"
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
    runs = [step.get("run", "") for step in jobs["audit"]["steps"]]
    for file in ("requirements.lock", "constraints.txt"):  # PyTorch stands in the second alone
        assert any("pip_audit" in run and file in run for run in runs), file


def test_colab_installs_the_tag_of_this_version():
    assert tag() == f"v{PROJECT['version']}"
    setup = (ROOT / "docs" / "setup.md").read_text(encoding="utf-8")
    assert setup.count(f"/blob/{tag()}/notebooks/") == len(lessons())
    assert "/blob/main/notebooks/" not in setup


@pytest.mark.skipif(
    not (sys.platform == "linux" and sys.version_info[:2] == (3, 11)),
    reason="the list is that of Linux with Python 3.11",
)
def test_the_list_of_licences_holds_the_lock():
    here = {n for n, (r, _) in locked().items() if r.marker is None or r.marker.evaluate(HERE)}
    table = sbom.LICENCES.read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in re.findall(r"^\| (\w.*) \|$", table, re.M)][1:]
    versions = {name_of(row[0]): row[1] for row in rows}
    assert versions.keys() >= here | {"torch"}
    assert all(versions[n] == PINS[n] for n in versions.keys() & PINS.keys())
    assert all(row[2].strip() for row in rows)


def test_the_bill_of_materials_has_no_path_of_our_own_package():
    other = {"name": "zipp", "purl": "pkg:pypi/zipp@4"}
    ours = {"name": "transformer-lab", "version": "0.1.0"}
    here = {
        "purl": "pkg:pypi/x?vcs_url=file:///home",
        "externalReferences": [{"url": "file:///home"}],
    }
    assert sbom.bill(json.dumps({"components": [other, ours | here]})) == {
        "components": [other, ours]
    }


def test_no_list_names_this_machine():
    for path in (sbom.LICENCES, lock.CONSTRAINTS, lock.LOCK):
        text = path.read_text(encoding="utf-8")
        assert "file:" not in text
        assert "+cpu" not in text
        assert str(ROOT) not in text
