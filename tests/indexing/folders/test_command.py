"""`watchdocs --once`: what an operator types, and what they get to see."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from indexing.folders import services
from indexing.folders.lease import Lease, new_holder
from indexing.management.commands import watchdocs
from indexing.models import FolderSource
from projects.access import OPERATOR
from projects.models import DocumentVersion

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hurried")]


def run(*arguments: object) -> list[str]:
    out = StringIO()
    call_command("watchdocs", *map(str, arguments), "--once", stdout=out)
    return out.getvalue().splitlines()


def test_a_line_a_change_and_a_summary(project, folder, editor):
    folder.write("a.md", "# A\n")
    folder.write("old/b.md", "# B\n")
    folder.write("noise.md", bytes(range(256)) * 20)
    lines = run(project.name, folder.path, "--exclude", "old/", "--as", editor.username)
    assert lines[0] == "created  a.md"
    assert lines[1].startswith("refused  noise.md: ")
    assert lines[2:] == ["1 created, 0 updated, 0 renamed, 0 deleted, 0 unchanged, 1 refused"]
    assert DocumentVersion.objects.get().author == editor
    # The patterns are those of this time, not of the last.
    assert run(project.pk, folder.path)[0] == "created  old/b.md"
    source = FolderSource.objects.get()
    assert (source.enabled, source.exclude, source.holder, source.error) == (False, "", "", "")


def test_a_folder_without_anything(project, folder):
    assert run(project.pk, folder.path) == [
        "0 created, 0 updated, 0 renamed, 0 deleted, 0 unchanged, 0 refused"
    ]


def test_what_cannot_be_done_is_one_sentence(project, folder, viewer, outsider):
    (folder.path / "file.md").write_text("# File\n")
    for path in (folder.path / "file.md", folder.path / "missing"):
        with pytest.raises(CommandError, match=f"^{path} is not a folder.$"):
            run(project.pk, path)
    with pytest.raises(CommandError, match="There is no project “Nowhere”"):
        run("Nowhere", folder.path)
    with pytest.raises(CommandError, match="There is no project"):
        run(project.name, folder.path, "--as", outsider.username)
    with pytest.raises(CommandError, match="“Editor”"):
        run(project.name, folder.path, "--as", viewer.username)
    with pytest.raises(CommandError, match="no active user “nobody”"):
        run(project.name, folder.path, "--as", "nobody")
    with pytest.raises(CommandError, match="“!” is not a path pattern"):
        run(project.name, folder.path, "--include", "!")
    with pytest.raises(CommandError, match="--allow-empty goes with --once"):
        call_command("watchdocs", project.name, str(folder.path), "--allow-empty")
    assert not FolderSource.objects.exists()


def test_an_empty_place_is_an_error_until_somebody_says_that_it_is_meant(project, folder):
    for number in range(21):
        folder.write(f"{number}.md", f"# {number}\n")
    run(project.pk, folder.path)
    for path in folder.path.iterdir():
        path.unlink()
    with pytest.raises(CommandError, match="Is a disk not mounted") as raised:
        run(project.pk, folder.path)
    assert FolderSource.objects.get().error == str(raised.value)
    assert run(project.pk, folder.path, "--allow-empty")[-1].startswith(
        "0 created, 0 updated, 0 renamed, 21 deleted"
    )
    assert FolderSource.objects.get().error == ""


def test_a_folder_that_somebody_follows(project, folder, monkeypatch):
    monkeypatch.setattr(watchdocs, "PAUSE_SECONDS", 0.1)
    lease = Lease(folder.source().pk, new_holder())
    assert lease.take()
    with pytest.raises(CommandError, match="Another process follows"):
        run(project.pk, folder.path)


def test_one_that_the_workers_follow_keeps_its_patterns(project, folder, settings):
    settings.FOLDER_ROOTS = [folder.path]
    folder.write("a.md", "# A\n")
    services.set_folder(
        project=project, directory=str(folder.path), exclude="a.md", enabled=True, actor=OPERATOR
    )
    with pytest.raises(CommandError, match="The workers follow this folder"):
        run(project.pk, folder.path, "--include", "*.md")
    assert len(run(project.pk, folder.path)) == 1
    assert FolderSource.objects.get().enabled
