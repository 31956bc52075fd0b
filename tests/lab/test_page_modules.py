"""The page's modules, read as text: what they take and give, and that they can stand in one script."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from transformer_lab.lab.lab_page import STYLES
from transformer_lab.lab.page import join
from transformer_lab.lab.page.drawing import list_kinds, mount_function
from transformer_lab.lab.page.join import FOLDER, IMPORT, modules, script

ENTRIES = {
    "lab/record_page.js": {"make", "State", "RecordAnswerer", "paintMap"},
    "lab/engine_page.js": {"make", "State", "EngineAnswerer", "Engine", "attend"},
    "lab/widget.js": {"make", "State", "KernelAnswerer", "Questions"},
    "story/story.js": {"make", "Story", "Engine", "attend"},
    **{f"lesson/{kind}.js": {"make", "mountEach"} for kind in list_kinds()},
    "playground/playground.js": {"make", "Playground", "Run", "DESCRIPTIONS"},
    "playground/worker.js": {"Training", "Learner", "Words", "makeWorld"},
}
"""The script of a page, and some of what it must hold."""
CALLED_BY_THE_PAGE = {
    ("lab/record_page.js", "mountRecordPages"),
    ("lab/engine_page.js", "mountEnginePages"),
    ("story/story.js", "mountStory"),
    ("playground/playground.js", "mountPlaygrounds"),
    *((f"lesson/{kind}.js", mount_function(kind)) for kind in list_kinds()),
}
FILES = sorted(FOLDER.rglob("*.js"))
NAME = re.compile(r"^(export )?(?:async )?(?:function\*?|class|const|let) (\w+)", re.M)


def named(path: Path) -> list[tuple[str, str]]:
    """What a module defines: "export " or nothing, and the name."""
    return NAME.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_module_stands_behind_those_that_it_imports(entry):
    seen = []
    for path in modules(entry):
        for _, name in IMPORT.findall(path.read_text(encoding="utf-8")):
            assert (path.parent / name).resolve() in seen
        seen.append(path)
    assert seen[-1] == FOLDER / entry
    assert len(seen) == len(set(seen)) > 2


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_two_modules_of_a_script_have_a_name_in_common(entry):
    count = Counter(name for path in modules(entry) for _, name in named(path))
    assert {name for name, times in count.items() if times > 1} == set()
    assert ENTRIES[entry] <= set(count)


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_script_defines_what_its_modules_define_and_imports_nothing(entry):
    text = script(entry)
    names = [name for path in modules(entry) for _, name in named(path)]
    assert NAME.findall(text) == [("", name) for name in names]
    assert not re.search(r"^\s*import\b|\bimport\(", text, re.M)
    default = re.findall(r"^export .*", text, re.M)
    assert default == (["export default {"] if entry == "lab/widget.js" else [])


def test_every_module_is_taken_by_a_page_and_every_export_by_a_module_or_a_test():
    assert {path for entry in ENTRIES for path in modules(entry)} == set(FILES)
    given = {(path, name) for path in FILES for export, name in named(path) if export}
    taken = {
        ((path.parent / module).resolve(), name.strip())
        for path in FILES
        for names, module in IMPORT.findall(path.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    assert taken <= given
    called = {(FOLDER / path, name) for path, name in CALLED_BY_THE_PAGE}
    tests = (Path(__file__).parents[1] / "browser").glob("test_page_*.py")
    tested = "".join(path.read_text(encoding="utf-8") for path in tests)
    assert [name for path, name in given - taken - called if name not in tested] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_module_says_what_it_is_for_and_may_stand_in_a_page(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("// ")
    # Of the word import there is but the form that is taken out again.
    assert len(re.findall(r"^import\b", text, re.M)) == len(IMPORT.findall(text))
    assert not re.search(r"</script|<!--", text, re.I), "in a page it would end or hide the script"


def test_modules_that_import_each_other_are_named(tmp_path, monkeypatch, as_users_run_it):
    monkeypatch.setattr(join, "FOLDER", tmp_path)
    for name, other in (("a", "b"), ("b", "c"), ("c", "b")):
        (tmp_path / f"{name}.js").write_text(f'import {{ {other} }} from "./{other}.js";\n')
    with pytest.raises(ValueError, match=r"modules import each other: b.js → c.js → b.js"):
        modules("a.js")


def test_two_users_of_a_module_get_it_once(tmp_path, monkeypatch):
    monkeypatch.setattr(join, "FOLDER", tmp_path)
    (tmp_path / "low.js").write_text("export const low = 1;\n")
    (tmp_path / "one.js").write_text(
        'import { low } from "./low.js";\nexport const one = () => low;\n'
    )
    (tmp_path / "top.js").write_text(
        'import {\n  low,\n} from "./low.js";\nimport { one } from "./one.js";\n'
        "export async function top() {\n  return low + one();\n}\n"
    )
    assert script("top.js") == (
        "const low = 1;\n\nconst one = () => low;\n\nasync function top() {\n  return low + one();\n}\n"
    )


def test_they_come_with_the_package():
    root = Path(__file__).parents[2]
    setuptools = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = setuptools["package-data"]["transformer_lab"]
    packed = {path for pattern in patterns for path in (root / "transformer_lab").glob(pattern)}
    assert {*FILES, *(FOLDER / name for name in STYLES)} <= packed
