"""Files that are whole or not there, whenever their writer is killed; and one writer at a time."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from transformer_lab.storage.files import (
    locate_file,
    read_consistently,
    recover_folder,
    write_atomically,
    write_files_atomically,
)
from transformer_lab.storage.lock import LOCK, FolderLock, lock_folder

OLD = {"a.json": b"old a", "b.safetensors": b"old b"}
FRESH = {"a.json": b"new a", "b.safetensors": b"new b", "c.json": b"new c"}

KILLED = """
import os, sys
from pathlib import Path
from transformer_lab.storage.files import write_files_atomically
left = int(sys.argv[2])
def die_at_the_nth(event, arguments):
    global left
    if event in {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"}:
        left -= 1
        if left < 0:
            os._exit(9)
sys.addaudithook(die_at_the_nth)
write_files_atomically(Path(sys.argv[1]), FRESH, removed=["d.json"])
"""


def python(script: str, *arguments, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, **options)


def seen(folder: Path) -> dict[str, bytes]:
    names = ("a.json", "b.safetensors", "c.json")
    return {
        n: locate_file(folder, n).read_bytes() for n in names if locate_file(folder, n).exists()
    }


def test_several_files_are_all_old_or_all_new_wherever_the_writer_is_killed(tmp_path):
    killed, found = 0, set()
    for step in range(100):
        folder = tmp_path / str(step)
        folder.mkdir()
        for name, content in {**OLD, "d.json": b"old d"}.items():
            (folder / name).write_bytes(content)
        done = python(KILLED.replace("FRESH", repr(FRESH)), folder, step)
        assert done.returncode in (0, 9), done.stderr
        now = seen(folder)
        assert now in (OLD, FRESH)
        recover_folder(folder)
        assert seen(folder) == now
        kept = {p.name for p in folder.iterdir()}
        assert kept == (FRESH.keys() if now == FRESH else OLD.keys() | {"d.json"})
        found.add(len(now))
        killed += done.returncode == 9
        if done.returncode == 0:
            break
    assert killed > 10
    assert found == {2, 3}, "some were killed before the moment that counts, some after it"


def test_a_write_that_fails_leaves_the_old_file_and_names_it(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_bytes(b"good")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically(path, b"better")
    assert caught.value.filename == str(path)
    with pytest.raises(OSError, match="No space left"):
        write_files_atomically(tmp_path, FRESH)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("page.html", b"good")]


@pytest.mark.skipif(os.name != "posix", reason="rights as POSIX has them")
@pytest.mark.parametrize(("mask", "rights"), [(0o077, 0o600), (0o022, 0o644), (0o027, 0o640)])
def test_rights_are_those_that_the_user_gives(tmp_path, mask, rights):
    script = """
import os, sys
from pathlib import Path
from transformer_lab.storage.files import write_atomically, write_files_atomically
from transformer_lab.storage.lock import lock_folder
os.umask(int(sys.argv[2]))
folder = Path(sys.argv[1])
with lock_folder(folder):
    write_atomically(folder / "one", b"1")
    write_files_atomically(folder, {"two": b"2"})
    print(*(oct(p.stat().st_mode & 0o777) for p in folder.iterdir()))
"""
    done = python(script, tmp_path, mask)
    assert done.stdout.decode().split() == [oct(rights)] * 3


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_a_link_and_a_device_stay_what_they_are(tmp_path):
    (tmp_path / "link").symlink_to("file")
    write_atomically(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"content"
    write_atomically(Path(os.devnull), b"content")
    assert Path(os.devnull).is_char_device()


def test_what_a_killed_writer_leaves_is_cleared_and_nothing_else(tmp_path):
    left = (".config.json.0a1b2c3d.part", ".training_state.safetensors.00112233.part")
    mine = (".env.settings", ".config.json.swp", "notes.txt", ".ipynb_checkpoints")
    mine += (".notes.md.original", ".settings.json.20240101", ".new.download")
    for name in (*left, *mine):
        (tmp_path / name).write_text("x")
    recover_folder(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == set(mine)


def test_a_folder_from_elsewhere_removes_nothing_outside_itself(tmp_path):
    """Its own list of what is to go is just a text that somebody wrote."""
    folder, mine = tmp_path / "run", tmp_path / "thesis.txt"
    ready = folder / ".transformer_lab.ready"
    ready.mkdir(parents=True)
    (tmp_path / "notes").mkdir()
    for path in (mine, tmp_path / "notes" / "a", folder / "old.safetensors"):
        path.write_text("mine")
    asked = [str(mine), "../thesis.txt", "../notes/a", "..", ".", "", ".hidden", "old.safetensors"]
    (ready / ".gone").write_text("\n".join(asked))
    (folder / ".transformer_lab.new").symlink_to(tmp_path / "notes")
    recover_folder(folder)
    assert mine.read_text() == (tmp_path / "notes" / "a").read_text() == "mine"
    assert not list(folder.iterdir())


def test_who_reads_while_another_writes_gets_one_state_or_the_other(tmp_path):
    def read():
        found = seen(tmp_path)
        if found not in (before, FRESH):
            raise ValueError(f"a mixture: {found}")
        return found

    before = {**OLD, "c.json": b"old c"}
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    done, found = threading.Event(), []

    def write():
        for _ in range(40):
            write_files_atomically(tmp_path, FRESH)
            write_files_atomically(tmp_path, before)
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not done.is_set():
        found.append(read_consistently(tmp_path, read))
    thread.join()
    assert len(found) > 1


def test_what_is_damaged_and_still_is_said_at_once(tmp_path):
    asked = []

    def read():
        asked.append(1)
        raise ValueError("damaged")

    with pytest.raises(ValueError, match="damaged"):
        read_consistently(tmp_path, read)
    with pytest.raises(ValueError, match="damaged"):
        read_consistently(tmp_path / "not there", read)
    assert len(asked) == 2


def test_a_folder_has_one_writer_and_no_trace_of_it_afterwards(tmp_path):
    folder = tmp_path / "run"
    with lock_folder(folder):
        with pytest.raises(ValueError, match="another process is using .*run. Wait"):
            FolderLock(folder).acquire()
        said = []

        def other():
            try:
                FolderLock(folder).acquire()
            except ValueError as error:
                said.append(str(error))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert len(said) == 1
    assert not list(folder.iterdir())
    lock = FolderLock(folder)
    lock.acquire()
    assert lock.is_held
    del lock
    FolderLock(folder).acquire()


def test_a_lock_of_a_process_that_was_killed_is_free(tmp_path):
    script = """
import os, sys
from pathlib import Path
from transformer_lab.storage.lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
lock.acquire()
os.kill(os.getpid(), 9)
"""
    assert python(script, tmp_path).returncode == -9
    assert (tmp_path / LOCK).exists()
    with lock_folder(tmp_path):
        pass


def test_many_that_want_it_at_once_have_it_one_at_a_time(tmp_path):
    script = """
import sys, time
from pathlib import Path
from transformer_lab.storage.lock import lock_folder
folder, taken = Path(sys.argv[1]), 0
while taken < 40:
    try:
        with lock_folder(folder):
            with (folder / "only").open("x"):
                time.sleep(0.0005)
            (folder / "only").unlink()
            taken += 1
    except ValueError:
        pass
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(4)]
    assert [(p.communicate()[1], p.returncode) for p in running] == [(b"", 0)] * 4
