"""Following: a real watcher in a real thread, and what becomes of each change."""

import os
import shutil
import subprocess
import sys
import threading
import time

import pytest

from glossary_site.env import ROOT
from indexing.folders import follower as following
from indexing.folders import overseer as overseeing
from indexing.folders import watching
from indexing.folders.overseer import Overseer
from indexing.folders.services import remove_folder, set_folder
from indexing.folders.watching import CannotWatch
from indexing.models import FolderFile, FolderSource
from projects.access import OPERATOR
from projects.models import Document
from tests import factories
from tests.indexing.folders.conftest import Folder
from tests.site.running import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(tmp_path) -> Folder:
    path = tmp_path / "manual"
    path.mkdir()
    return Folder(path, factories.make_project("Harbour"))


@pytest.fixture
def follow():
    """Runs an overseer in a thread, as a process of its own would."""
    stop = threading.Event()
    threads = []

    def begin(folder: Folder, **patterns: str) -> None:
        source = folder.source(**patterns)
        rows = FolderSource.objects.filter(pk=source.pk).select_related("project")
        overseer = Overseer(rows.all, teller_for=lambda source: folder.notes, restricted=False)

        def run() -> None:
            try:
                overseer.run(stop)
            finally:
                overseeing.connection.close()

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        wait_for("the first comparison", lambda: folder.notes.tallies)

    yield begin
    stop.set()
    for thread in threads:
        thread.join()


def told(folder: Folder, *lines: str) -> bool:
    return wait_for(
        f"{lines} in {folder.notes.lines}", lambda: set(lines) <= set(folder.notes.lines)
    )


def test_from_change_to_change(folder, follow):
    folder.write("a.md", "# A\n")
    follow(folder)
    assert folder.notes.lines == ["created  a.md"]

    (folder.path / "b.md").write_text("# B\n")
    told(folder, "created  b.md")
    with (folder.path / "b.md").open("a") as file:
        file.write("more\n")
    told(folder, "updated  b.md")
    assert folder.texts["b.md"] == "# B\nmore\n"

    # As an editor saves: beside its place, and then into it.
    (folder.path / ".b.md.tmp").write_text("# B, saved\n")
    os.replace(folder.path / ".b.md.tmp", folder.path / "b.md")
    wait_for("the saved text", lambda: folder.texts["b.md"] == "# B, saved\n")
    # And one that takes the old file away first.
    document = Document.objects.get(path="b.md")
    (folder.path / "b.md").unlink()
    time.sleep(0.2)
    (folder.path / "b.md").write_text("# B, saved again\n")
    wait_for("the text saved again", lambda: folder.texts.get("b.md") == "# B, saved again\n")
    document.refresh_from_db()
    assert document.version == 4

    os.rename(folder.path / "b.md", folder.path / "c.md")
    told(folder, "renamed  b.md → c.md")
    document.refresh_from_db()
    assert (document.path, document.version) == ("c.md", 4)

    (folder.path / "a.md").unlink()
    told(folder, "deleted  a.md")
    assert folder.texts == {"c.md": "# B, saved again\n"}
    # Nothing was deleted on the way, and nothing refused.
    assert [line for line in folder.notes.lines if line.startswith(("deleted", "refused"))] == [
        "deleted  a.md"
    ]


def test_folders_come_move_and_go(folder, follow):
    follow(folder)
    (folder.path / "new" / "deep").mkdir(parents=True)
    (folder.path / "new" / "deep" / "a.md").write_text("# A\n")
    told(folder, "created  new/deep/a.md")
    # The folder that appeared is watched, too.
    (folder.path / "new" / "deep" / "b.md").write_text("# B\n")
    told(folder, "created  new/deep/b.md")
    os.rename(folder.path / "new", folder.path / "old")
    told(folder, "renamed  new/deep/a.md → old/deep/a.md", "renamed  new/deep/b.md → old/deep/b.md")
    (folder.path / "old" / "deep" / "c.md").write_text("# C\n")
    told(folder, "created  old/deep/c.md")
    shutil.rmtree(folder.path / "old")
    told(folder, "deleted  old/deep/a.md", "deleted  old/deep/b.md", "deleted  old/deep/c.md")
    assert not FolderFile.objects.exists()
    # A folder of the same name, perhaps with the number of the old one.
    (folder.path / "old").mkdir()
    time.sleep(0.3)
    (folder.path / "old" / "d.md").write_text("# D\n")
    told(folder, "created  old/d.md")


def test_rules_that_change_on_the_way(folder, follow):
    folder.write("a.md", "# A\n")
    folder.write("sub/b.md", "# B\n")
    follow(folder)
    (folder.path / "sub" / ".gitignore").write_text("*.md\n")
    told(folder, "deleted  sub/b.md")
    (folder.path / "sub" / ".gitignore").unlink()
    wait_for("it is back", lambda: "sub/b.md" in folder.texts)


def test_links_are_not_followed(folder, follow, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder.path / "linked").symlink_to(outside)
    follow(folder)
    (outside / "a.md").write_text("# Secret\n")
    (folder.path / "link.md").symlink_to(outside / "a.md")
    (folder.path / "b.md").write_text("# B\n")
    told(folder, "created  b.md")
    assert set(folder.texts) == {"b.md"}


def test_a_file_that_is_being_written_is_not_taken_for_whole(folder, follow):
    follow(folder)
    with (folder.path / "a.md").open("w") as file:
        for number in range(30):
            file.write(f"Line {number}.\n")
            file.flush()
            time.sleep(0.02)
    wait_for("the whole text", lambda: "Line 29." in folder.texts.get("a.md", ""))
    assert Document.objects.get().version == 1


def test_a_burst(folder, follow):
    follow(folder)
    for number in range(1000):
        path = folder.path / f"{number // 100}" / f"{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {number}\n")
    wait_for("all of them", lambda: Document.objects.count() == 1000)
    for number in range(0, 1000, 2):
        (folder.path / f"{number // 100}" / f"{number}.md").write_text(f"# {number}, changed\n")
    for number in range(1, 1000, 2):
        (folder.path / f"{number // 100}" / f"{number}.md").unlink()
    wait_for("the even ones", lambda: Document.objects.count() == 500)
    wait_for(
        "all changes",
        lambda: Document.objects.filter(content__endswith=", changed\n").count() == 500,
    )


def test_the_folder_is_taken_away_and_put_back(folder, follow, monkeypatch):
    monkeypatch.setattr(overseeing, "PAUSE_SECONDS", 0.2)
    monkeypatch.setattr(following, "CHECK_SECONDS", 0.1)
    for number in range(25):
        folder.write(f"{number}.md", f"# {number}\n")
    follow(folder)
    hidden = folder.path.with_name("elsewhere")
    os.rename(folder.path, hidden)
    wait_for("the problem is told", lambda: folder.notes.notices)
    # It is told first, then written down.
    wait_for("and kept", lambda: "is not there" in FolderSource.objects.get().error)
    # As when the place of a disk is there without the disk.
    folder.path.mkdir()
    wait_for("the other problem", lambda: "--allow-empty" in FolderSource.objects.get().error)
    assert Document.objects.count() == 25
    folder.path.rmdir()
    os.rename(hidden, folder.path)
    wait_for("all is well again", lambda: FolderSource.objects.get().error == "")
    (folder.path / "new.md").write_text("# New\n")
    told(folder, "created  new.md")
    assert not [line for line in folder.notes.lines if line.startswith("deleted")]


def test_where_the_system_does_not_watch_the_folder_is_looked_through(folder, follow, monkeypatch):
    def no_more(*arguments):
        raise CannotWatch("OS file watch limit reached")
        yield

    monkeypatch.setattr(following, "changes", no_more)
    monkeypatch.setattr(watching, "POLL_SECONDS", 0.1)
    follow(folder)
    assert "limit reached" in folder.notes.notices[0]
    (folder.path / "sub").mkdir()
    (folder.path / "sub" / "a.md").write_text("# A\n")
    told(folder, "created  sub/a.md")
    os.rename(folder.path / "sub", folder.path / "other")
    told(folder, "renamed  sub/a.md → other/a.md")
    (folder.path / "other" / "a.md").unlink()
    told(folder, "deleted  other/a.md")


def test_settings_are_noticed_while_it_runs(tmp_path, settings, monkeypatch):
    """What the worker's process does: sources are switched on and off under its eyes."""
    monkeypatch.setattr(overseeing, "TICK_SECONDS", 0.1)
    settings.FOLDER_ROOTS = [tmp_path]
    folders = [Folder(tmp_path / name, factories.make_project(name)) for name in ("One", "Two")]
    for folder in folders:
        folder.write("a.md", "# A\n")
    stop = threading.Event()
    beats = []

    def run() -> None:
        try:
            overseeing.main(stop=stop, beat=lambda: beats.append(1))
        finally:
            overseeing.connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        wait_for("it is there", lambda: len(beats) > 1)
        sources = [
            set_folder(
                project=folder.project, directory=str(folder.path), enabled=True, actor=OPERATOR
            )
            for folder in folders
        ]
        for folder in folders:
            wait_for("a document", lambda folder=folder: folder.texts == {"a.md": "# A\n"})
        one = folders[0]
        set_folder(
            project=one.project,
            directory=str(one.path),
            exclude="a.md",
            enabled=True,
            actor=OPERATOR,
        )
        wait_for("the new pattern counts", lambda: one.texts == {})
        set_folder(project=one.project, directory=str(one.path), enabled=False, actor=OPERATOR)
        assert remove_folder(source=sources[1], actor=OPERATOR, keep_documents=False) == 1
        wait_for("both are let go", lambda: not FolderSource.objects.exclude(holder="").exists())
        for folder in folders:
            folder.write("b.md", "# B\n")
        time.sleep(0.5)
        assert [folder.texts for folder in folders] == [{}, {}]
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs Linux")
def test_a_system_that_watches_no_more_says_so(tmp_path):
    """Asked for real, in a namespace where three folders are too many."""
    for name in "abc":
        (tmp_path / name).mkdir()
    program = (
        "import sys, threading\n"
        "from indexing.folders.watching import CannotWatch, changes\n"
        "try:\n"
        "    open('/proc/sys/user/max_inotify_watches', 'w').write('2')\n"
        "except OSError:\n"
        "    sys.exit('not allowed')\n"
        "try:\n"
        "    next(changes(sys.argv[1], ['', 'a', 'b', 'c'], threading.Event()))\n"
        "except CannotWatch as error:\n"
        "    print(error)\n"
    )
    asked = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", program, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if asked.returncode:
        pytest.skip(f"no namespaces here: {asked.stderr}")
    assert asked.stdout == "OS file watch limit reached\n"
