"""`make quick` runs the tests of what was changed: of the file itself, and of what imports it."""

from tools.quick import ROOT, changed_files, chosen_tests, module_of

SOURCES = {
    "tests/model/test_attention.py": "from transformer_lab.model.attention import attend",
    "tests/model/test_masks.py": "from transformer_lab.model import attention",
    "tests/test_later.py": "def test():\n    import transformer_lab.model.attention",
    "tests/records.py": "from transformer_lab.model.attention import attend",
    "tests/lab/test_words.py": "from tests.records import make_record",
    "tests/lab/test_page.py": "from tests.drawings import draw",
    "tests/browser/test_bench.py": "from transformer_lab.model.attention import attend",
    "tests/data/test_text.py": "from transformer_lab.data.text import clean",
}


def test_a_changed_module_has_the_tests_that_import_it_or_a_helper_that_does():
    assert chosen_tests(["transformer_lab/model/attention.py"], SOURCES) == [
        "tests/lab/test_words.py",
        "tests/model/test_attention.py",
        "tests/model/test_masks.py",
        "tests/test_later.py",
    ]


def test_a_changed_test_is_run_and_a_changed_helper_has_the_tests_that_import_it():
    changed = ["tests/data/test_text.py", "tests/records.py", "tests/browser/test_bench.py"]
    assert chosen_tests(changed, SOURCES) == [
        "tests/data/test_text.py",
        "tests/lab/test_words.py",
    ]


def test_a_changed_script_of_the_page_has_the_tests_of_its_room():
    changed = ["transformer_lab/lab/page/elements.js", "README.md"]
    assert chosen_tests(changed, SOURCES) == [
        "tests/lab/test_page.py",
        "tests/lab/test_words.py",
    ]


def test_a_package_is_imported_by_the_name_of_its_folder():
    assert module_of("transformer_lab/model/__init__.py") == "transformer_lab.model"


def test_what_git_names_are_paths_from_the_root():
    assert all(not path.startswith(("/", "..")) for path in changed_files())
    assert (ROOT / "Makefile").exists()
