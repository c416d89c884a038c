"""What people decide about folders, and where they may not."""

import os

import pytest

from glossary_site.errors import Refusal
from glossary_site.jobs.models import AuditEntry
from indexing.folders.opening import FolderProblem, opened
from indexing.folders.services import remove_folder, set_folder
from indexing.models import FolderFile, FolderSource
from projects.access import OPERATOR
from tests import factories
from tests.indexing.folders.conftest import Folder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hurried")]


@pytest.fixture
def root(tmp_path, settings):
    path = tmp_path / "shared"
    path.mkdir()
    settings.FOLDER_ROOTS = [path]
    return path


def put(project, directory, **settings) -> FolderSource:
    settings = {"enabled": True, "actor": OPERATOR, **settings}
    return set_folder(project=project, directory=str(directory), **settings)


def test_set_changed_and_audited(project, owner, root):
    (root / "docs").mkdir()
    source = put(project, root / "docs" / ".." / "docs", include="*.md", actor=owner)
    assert source.directory == str(root / "docs")
    assert put(project, root / "docs", include="*.md", actor=owner) == source
    put(project, root / "docs", enabled=False)
    entries = [(e.actor, e.action, e.after["enabled"]) for e in AuditEntry.objects.order_by("pk")]
    assert entries == [("olive", "set folder", True), ("operator", "set folder", False)]
    assert FolderSource.objects.get().include == ""


def test_below_the_allowed_roots_only(project, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "link").symlink_to(outside)
    (tmp_path / "shared-too").mkdir()
    for path in (
        outside,
        root / "link",
        root / ".." / "outside",
        tmp_path / "shared-too",
        tmp_path,
        "relative",
        "",
        # Whether there is such a thing is not told either.
        "/nowhere/at/all",
    ):
        with pytest.raises(Refusal, match="is not below a folder") as refusal:
            put(project, path)
        assert refusal.value.code == "folder_not_allowed"
    with pytest.raises(Refusal, match="is not a folder"):
        put(project, root / "missing")
    assert put(project, root).directory == str(root)


def test_where_nothing_is_allowed(project, root, settings):
    settings.FOLDER_ROOTS = []
    with pytest.raises(Refusal, match="its operator has allowed none"):
        put(project, root)


def test_a_root_that_is_a_link_itself(project, tmp_path, settings):
    (tmp_path / "real" / "docs").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    settings.FOLDER_ROOTS = [tmp_path / "link"]
    assert put(project, tmp_path / "link" / "docs").directory == str(tmp_path / "real" / "docs")


def test_a_bad_pattern(project, root):
    with pytest.raises(Refusal) as refusal:
        put(project, root, exclude="fine\n!\n")
    assert refusal.value.code == "bad_pattern"


def test_looked_at_anew_each_time(project, root, settings, tmp_path):
    (root / "docs").mkdir()
    source = put(project, root / "docs")
    with opened(source.directory, restricted=True):
        pass
    outside = tmp_path / "outside"
    outside.mkdir()
    os.rename(root / "docs", root / "moved")
    (root / "docs").symlink_to(outside)
    with pytest.raises(FolderProblem), opened(source.directory, restricted=True):
        pass
    # A link anywhere on the way is as bad.
    os.rename(root, tmp_path / "shared-moved")
    root.symlink_to(outside)
    (outside / "docs").mkdir()
    with pytest.raises(FolderProblem), opened(source.directory, restricted=True):
        pass
    settings.FOLDER_ROOTS = []
    with pytest.raises(FolderProblem, match="allowed none"), opened(str(outside), restricted=True):
        pass


class TestRemoved:
    @pytest.fixture
    def source(self, folder) -> FolderSource:
        factories.make_document(folder.project, "mine.md", "# Mine\n")
        folder.write("a.md", "# A\n")
        folder.write("mine.md", "# Theirs\n")
        folder.compare()
        return FolderSource.objects.get()

    def test_the_documents_stay(self, folder, source):
        assert remove_folder(source=source, actor=OPERATOR) == 0
        assert set(folder.texts) == {"a.md", "mine.md"}
        assert not FolderFile.objects.exists()
        assert AuditEntry.objects.filter(action="remove folder").exists()

    def test_or_go(self, folder, source):
        assert remove_folder(source=source, actor=OPERATOR, keep_documents=False) == 1
        assert set(folder.texts) == {"mine.md"}

    def test_but_not_those_of_another_folder(self, folder, source, tmp_path):
        (tmp_path / "second").mkdir()
        second = Folder(tmp_path / "second", folder.project)
        second.write("a.md", "# A\n")
        second.compare()
        assert remove_folder(source=source, actor=OPERATOR, keep_documents=False) == 0
        assert set(folder.texts) == {"a.md", "mine.md"}
