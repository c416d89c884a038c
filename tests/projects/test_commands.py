"""`importdocs` and `loadsample`: what operators type, and what they get to see."""

import os
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from glossary_site.people.models import User
from projects.choices import Role, Source
from projects.intake.files import Rejected
from projects.models import Document, DocumentVersion, Project
from projects.sample.load import DOCUMENTS, NAME
from projects.services.imports import files_below
from tests import factories


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with two documents, one of them in Japanese."""
    place = tmp_path / "manual"
    (place / "章").mkdir(parents=True)
    (place / "intro.md").write_text("# Introduction\n\nThe harbour light.\n")
    (place / "章" / "用語.md").write_text("# 用語\n\n灯台とは、光を放つ塔である。\n")
    return place


def run(command: str, *arguments: object, **options) -> str:
    out = StringIO()
    call_command(command, *map(str, arguments), stdout=out, **options)
    return out.getvalue()


def paths_in(project: Project) -> list[str]:
    return sorted(project.documents.values_list("path", flat=True))


class TestImport:
    def test_a_new_project_from_a_folder_and_the_folder_again(self, db, folder):
        assert run("importdocs", "Lights", folder, "--create") == (
            "2 created, 0 updated, 0 unchanged, 0 refused\n"
        )
        project = Project.objects.get(name="Lights")
        assert paths_in(project) == ["intro.md", "章/用語.md"]
        assert {document.source for document in project.documents.all()} == {Source.FOLDER}

        (folder / "intro.md").write_text("# Introduction\n\nThe harbour light and its keeper.\n")
        (folder / "new.md").write_text("# New\n")
        assert run("importdocs", "lights", folder) == (
            "1 created, 1 updated, 1 unchanged, 0 refused\n"
        )
        assert run("importdocs", project.pk, folder) == (
            "0 created, 0 updated, 3 unchanged, 0 refused\n"
        )

    def test_refused_files_are_named_and_the_others_go_in(self, project, folder):
        (folder / ".env").write_text("TOKEN=1\n")
        (folder / "noise.md").write_bytes(bytes(range(256)) * 20)
        lines = run("importdocs", project.pk, folder).splitlines()
        assert [line.partition(":")[0] for line in lines[:-1]] == [
            "refused  .env",
            "refused  noise.md",
        ]
        assert lines[-1] == "2 created, 0 updated, 0 unchanged, 2 refused"

    def test_a_folder_of_which_nothing_can_be_used_is_an_error_of_its_own(self, project, tmp_path):
        (tmp_path / "id_rsa.md").write_text("# Secret\n")
        with pytest.raises(CommandError) as raised:
            run("importdocs", project.pk, tmp_path)
        assert raised.value.returncode == 2

    def test_an_empty_folder_is_no_error(self, project, tmp_path):
        assert run("importdocs", project.pk, tmp_path) == (
            "0 created, 0 updated, 0 unchanged, 0 refused\n"
        )

    def test_a_file_that_cannot_be_opened_is_refused(self, project, folder, monkeypatch):
        real = os.open

        def stubborn(path, *arguments, **options):
            if Path(path).name == "intro.md":
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *arguments, **options)

        monkeypatch.setattr(os, "open", stubborn)
        lines = run("importdocs", project.pk, folder).splitlines()
        assert lines[0].startswith("refused  intro.md: ")
        assert lines[-1] == "1 created, 0 updated, 0 unchanged, 1 refused"

    def test_a_folder_that_cannot_be_opened_is_refused(self, project, folder, monkeypatch):
        real = os.scandir

        def stubborn(path):
            if Path(path).name == "章":
                raise PermissionError(13, "Permission denied", str(path))
            return real(path)

        with monkeypatch.context() as patched:
            patched.setattr(os, "scandir", stubborn)
            lines = run("importdocs", project.pk, folder).splitlines()
        assert lines == [
            "refused  章/: The folder could not be opened.",
            "1 created, 0 updated, 0 unchanged, 1 refused",
        ]

    @pytest.mark.parametrize("wanted", ["Nowhere", "99999"])
    def test_no_such_project(self, db, folder, wanted):
        with pytest.raises(CommandError, match=f"no project “{wanted}”") as raised:
            run("importdocs", wanted, folder)
        assert raised.value.returncode == 2
        assert not Project.objects.exists()

    def test_no_such_folder(self, project, tmp_path):
        file = tmp_path / "file.md"
        file.write_text("# File\n")
        for path in (file, tmp_path / "missing"):
            with pytest.raises(CommandError, match="is not a folder") as raised:
                run("importdocs", project.pk, path)
            assert raised.value.returncode == 2

    @pytest.mark.parametrize("name", ["", " ", "x" * 121])
    def test_a_name_that_no_project_can_have(self, db, folder, name):
        with pytest.raises(CommandError):
            run("importdocs", name, folder, "--create")
        assert not Project.objects.exists()


class TestActingAsAPerson:
    def test_an_editor_is_the_author(self, project, editor, folder):
        run("importdocs", project.name, folder, "--as", editor.username)
        assert {version.author for version in DocumentVersion.objects.all()} == {editor}

    def test_without_a_person_there_is_no_author(self, project, folder):
        run("importdocs", project.name, folder)
        assert {version.author for version in DocumentVersion.objects.all()} == {None}

    def test_a_viewer_is_told_what_is_missing(self, project, viewer, folder):
        with pytest.raises(CommandError, match="“Editor”"):
            run("importdocs", project.name, folder, "--as", viewer.username)
        assert not Document.objects.exists()

    def test_an_outsider_sees_no_project(self, project, outsider, folder):
        with pytest.raises(CommandError, match="no project"):
            run("importdocs", project.name, folder, "--as", outsider.username)
        # The name is taken all the same.
        with pytest.raises(CommandError, match="already a project"):
            run("importdocs", project.name, folder, "--as", outsider.username, "--create")
        assert not Document.objects.exists()

    @pytest.mark.parametrize(
        ("text", "language"),
        [("# 港\n\n停泊地とは、船が泊まる場所である。\n", "ja"), ("# Port\n\nA berth.\n", "en")],
        ids=["ja", "en"],
    )
    def test_a_new_project_has_the_language_of_its_documents(self, db, tmp_path, text, language):
        (tmp_path / "a.md").write_text(text)
        (tmp_path / "LICENSE.txt").write_text("...")
        run("importdocs", "Port", tmp_path, "--create")
        assert Project.objects.get().language == language
        # What people have said since stays.
        Project.objects.update(language="en")
        run("importdocs", "Port", tmp_path, "--create")
        assert Project.objects.get().language == "en"

    def test_whoever_makes_a_project_owns_it(self, db, folder):
        user = factories.make_user("mira")
        run("importdocs", "Mine", folder, "--create", "--as", "mira")
        assert Project.objects.get(name="Mine").memberships.get(user=user).role == Role.OWNER

    def test_nobody_and_people_who_left_cannot_act(self, project, folder):
        factories.make_user("gone", is_active=False, is_superuser=True)
        for name in ("gone", "nobody"):
            with pytest.raises(CommandError, match="no active user"):
                run("importdocs", project.name, folder, "--as", name)


class TestWalk:
    def walked(self, folder: Path) -> tuple[list[str], dict[str, str]]:
        """What there is to read, and what is left alone, with its reason."""
        left: list[Rejected] = []
        found = [incoming.path for incoming in files_below(folder, left.append)]
        return found, {rejected.path: rejected.message for rejected in left}

    def found(self, folder: Path) -> list[str]:
        found, left = self.walked(folder)
        assert not left
        return found

    def make(self, folder: Path, *paths: str) -> None:
        for path in paths:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("# Text\n")

    def test_order_and_hidden_folders(self, tmp_path):
        self.make(tmp_path, "b.md", "a/z.md", "a/b/c.md", ".git/config.md", "a/.cache/x.md")
        assert self.found(tmp_path) == ["a/b/c.md", "a/z.md", "b.md"]

    def test_links_are_not_followed(self, tmp_path):
        outside = tmp_path / "outside"
        inside = tmp_path / "inside"
        self.make(outside, "secret.md")
        self.make(inside, "real.md")
        (inside / "file.md").symlink_to(outside / "secret.md")
        (inside / "folder").symlink_to(outside)
        (inside / "loop").symlink_to(inside)
        why = "Links are not followed."
        assert self.walked(inside) == (["real.md"], {"file.md": why, "folder": why, "loop": why})

    def test_a_file_that_became_a_link_is_not_opened(self, tmp_path):
        self.make(tmp_path, "a.md", "target.md")
        incoming = next(files_below(tmp_path, lambda rejected: pytest.fail(rejected.path)))
        (tmp_path / "a.md").unlink()
        (tmp_path / "a.md").symlink_to(tmp_path / "target.md")
        with pytest.raises(OSError, match="symbolic links"):
            incoming.open()

    def test_pipes_are_left_alone(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.md")
        self.make(tmp_path, "a.md")
        assert self.walked(tmp_path) == (["a.md"], {"pipe.md": "It is not a file."})

    def test_the_rules_of_gitignore(self, tmp_path):
        self.make(tmp_path, "keep.md", "draft.md", "build/out.md", "sub/draft.md", "sub/keep.md")
        (tmp_path / ".gitignore").write_text("build/\ndraft.md\n!sub/draft.md\n")
        assert self.found(tmp_path) == ["keep.md", "sub/draft.md", "sub/keep.md"]


class TestSample:
    def test_every_document_goes_in_once(self, db):
        user = factories.make_user("sam")
        documents = sum(path.is_file() for path in DOCUMENTS.rglob("*"))
        assert run("loadsample", "--as", "sam") == f"Loaded “{NAME}” with {documents} documents.\n"
        project = Project.objects.get()
        assert project.memberships.get().user == user
        assert {document.source for document in project.documents.all()} == {Source.SAMPLE}
        with pytest.raises(CommandError, match="already a project"):
            run("loadsample")
        assert Project.objects.count() == 1
        assert User.objects.count() == 1
