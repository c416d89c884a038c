"""`watchdocs` and the worker's own process, for real: signals, kills, and who takes over."""

import signal
import time
from pathlib import Path

import psutil
import pytest

from tests.site.running import Running, Site, gone, migrated_site, wait_for

pytestmark = [pytest.mark.xdist_group("processes"), pytest.mark.races]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    base = tmp_path_factory.mktemp("folders")
    roots = base / "roots"
    roots.mkdir()
    with migrated_site(
        base / "data", GLOSSARY_FOLDER_ROOTS=str(roots), GLOSSARY_EMBEDDER="none"
    ) as site:
        yield site


@pytest.fixture
def site(database):
    yield database
    database.end()


@pytest.fixture
def folder(site, request) -> Path:
    """A folder below the allowed root, with a project of the same name."""
    name = request.node.name
    path = site.directory.parent / "roots" / name
    path.mkdir()
    (path / "a.md").write_text("# A\n")
    site.ask(f"from projects.models import Project\nProject.objects.create(name={name!r})")
    return path


def texts(site: Site, folder: Path) -> dict[str, str]:
    return eval(
        site.ask(
            "from projects.models import Document\n"
            f"rows = Document.objects.filter(project__name={folder.name!r})\n"
            "print(dict(rows.values_list('path', 'content')))"
        )
    )


def watch(site: Site, folder: Path) -> Running:
    return site.start("watchdocs", folder.name, str(folder))


def test_ctrl_c_is_a_good_end(site, folder):
    watching = watch(site, folder)
    watching.wait_for_output("1 created, 0 updated")
    began = time.time()
    (folder / "b.md").write_text("# B\n")
    watching.wait_for_output("created  b.md")
    assert time.time() - began < 10
    watching.signal(signal.SIGINT)
    assert watching.wait() == 0
    assert "Traceback" not in watching.output
    # Nobody has to wait for the lease of one that has ended.
    (folder / "b.md").unlink()
    again = site.command("watchdocs", folder.name, str(folder), "--once")
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[0] == "deleted  b.md"


def test_one_stands_by_and_takes_over_from_one_that_was_killed(site, folder):
    first = watch(site, folder)
    first.wait_for_output("1 created")
    second = watch(site, folder)
    second.wait_for_output("standing by")
    (folder / "b.md").write_text("# B\n")
    first.wait_for_output("created  b.md")
    assert "b.md" not in second.output

    first.signal(signal.SIGKILL)
    first.wait()
    (folder / "c.md").write_text("# C\n")
    second.wait_for_output("created  c.md")
    assert texts(site, folder) == {"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n"}


def test_a_project_that_is_deleted_ends_it(site, folder):
    watching = watch(site, folder)
    watching.wait_for_output("1 created")
    site.ask(
        "from projects.models import Project\n"
        f"Project.objects.filter(name={folder.name!r}).delete()"
    )
    assert watching.wait() == 0
    assert "follows this folder no more" in watching.output


def switch(site: Site, folder: Path, *, enabled: bool) -> None:
    site.ask(
        "from indexing.folders.services import set_folder\n"
        "from projects.access import OPERATOR\n"
        "from projects.models import Project\n"
        f"project = Project.objects.get(name={folder.name!r})\n"
        f"set_folder(project=project, directory={str(folder)!r}, enabled={enabled}, actor=OPERATOR)"
    )


def test_the_worker_follows_what_is_switched_on(site, folder):
    ready = site.directory.parent / "ready"
    ready.unlink(missing_ok=True)
    worker = site.start("worker", "--ready-file", str(ready))
    wait_for("the worker is up", lambda: ready.exists() or worker.process.poll() is not None)
    child = _child(worker)

    began = time.monotonic()
    switch(site, folder, enabled=True)
    wait_for("the first text", lambda: texts(site, folder) == {"a.md": "# A\n"})
    assert time.monotonic() - began < 15

    child.kill()
    worker.wait_for_output("The folders died with exit code -9; starting it again.")
    (folder / "b.md").write_text("# B\n")
    wait_for("it goes on", lambda: set(texts(site, folder)) == {"a.md", "b.md"})

    switch(site, folder, enabled=False)
    wait_for(
        "it is let go",
        lambda: (
            site.ask(
                "from indexing.models import FolderSource\n"
                f"print(FolderSource.objects.get(project__name={folder.name!r}).holder)"
            )
            == ""
        ),
    )
    (folder / "c.md").write_text("# C\n")
    time.sleep(1)
    assert set(texts(site, folder)) == {"a.md", "b.md"}

    # It ends with the worker, however that ends.
    child = _child(worker)
    worker.signal(signal.SIGKILL)
    worker.wait()
    wait_for("nothing outlives the worker", lambda: gone([child]), seconds=3)


def _child(worker: Running) -> psutil.Process:
    def look() -> psutil.Process | None:
        children = psutil.Process(worker.pid).children()
        return next((child for child in children if child.name() == "folders"), None)

    return wait_for("the process that follows folders", look)


def test_without_allowed_folders_there_is_no_such_process(site):
    ready = site.directory.parent / "ready"
    ready.unlink(missing_ok=True)
    worker = site.start("worker", "--ready-file", str(ready), GLOSSARY_FOLDER_ROOTS="")
    wait_for("the worker is up", lambda: ready.exists() or worker.process.poll() is not None)
    assert "folders" not in {child.name() for child in psutil.Process(worker.pid).children()}
    worker.signal(signal.SIGTERM)
    assert worker.wait() == 0
