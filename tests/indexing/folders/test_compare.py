"""Catching up: what changed in a folder while nobody looked."""

import io
import os
import shutil
import subprocess
import zipfile
from datetime import timedelta

import pytest
from django.utils import timezone

from glossary_site.errors import Refusal
from indexing.folders import taking
from indexing.folders.lease import Lease, LeaseLost, new_holder
from indexing.folders.opening import FolderProblem
from indexing.models import FolderFile, FolderSource
from projects.access import OPERATOR
from projects.choices import Source
from projects.models import Document
from projects.services.documents import delete_documents, rename_document
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hurried")]


def packed(**texts: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in texts.items():
            archive.writestr(f"{name}.md", text)
    return data.getvalue()


class TestChanges:
    def test_what_appeared_changed_and_vanished(self, folder):
        folder.write("a.md", "# A\n")
        folder.write("sub/b.md", "# B\n")
        folder.write("章/用語.txt", "灯台\n")
        assert folder.compare() == ["created  a.md", "created  sub/b.md", "created  章/用語.txt"]
        assert {document.source for document in Document.objects.all()} == {Source.FOLDER}

        assert folder.compare() == []
        assert str(folder.notes.tallies[-1]) == (
            "0 created, 0 updated, 0 renamed, 0 deleted, 3 unchanged, 0 refused"
        )

        folder.write("a.md", "# A, changed\n")
        (folder.path / "sub" / "b.md").unlink()
        folder.write("new.md", "# New\n")
        assert folder.compare() == ["created  new.md", "deleted  sub/b.md", "updated  a.md"]
        assert folder.texts == {
            "a.md": "# A, changed\n",
            "new.md": "# New\n",
            "章/用語.txt": "灯台\n",
        }
        source = FolderSource.objects.get()
        assert source.reconciled_at
        assert source.changed_at
        assert source.error == ""

    def test_only_files_that_differ_are_read(self, folder, monkeypatch):
        for name in "abc":
            folder.write(f"{name}.md", f"# {name}\n")
        folder.compare()
        read = []
        real = taking.snapshot

        def noting(top, path, **options):
            read.append(path)
            return real(top, path, **options)

        monkeypatch.setattr(taking, "snapshot", noting)
        folder.write("b.md", "# b again\n")
        folder.compare()
        assert read == ["b.md"]

    def test_a_file_read_right_after_it_was_written_is_read_once_more(self, folder):
        """On a disk with coarse times the second text has the size and the time of the first."""
        path = folder.write("a.md", "# 1\n", age=0.5)
        times = path.stat()
        folder.compare()
        path.write_text("# 2\n")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert folder.compare() == ["updated  a.md"]

    def test_a_touched_file_is_no_new_version(self, folder):
        folder.write("a.md", "# A\n")
        folder.compare()
        folder.write("a.md", "# A\n", age=5)
        assert folder.compare() == []
        row = FolderFile.objects.get()
        assert row.modified_ns == (folder.path / "a.md").stat().st_mtime_ns
        assert row.document_id

    def test_two_hundred_and_more_go_in_batches(self, folder, monkeypatch):
        monkeypatch.setattr(taking, "BATCH_FILES", 7)
        for number in range(30):
            folder.write(f"{number % 3}/{number}.md", f"# {number}\n")
        assert len(folder.compare()) == 30
        os.rename(folder.path / "0", folder.path / "zero")
        assert len(folder.compare()) == 10
        assert not FolderFile.objects.filter(path__startswith="0/").exists()


class TestRenames:
    def test_history_stays(self, folder):
        folder.write("a.md", "# A\n")
        folder.compare()
        folder.write("a.md", "# A2\n")
        folder.compare()
        (folder.path / "sub").mkdir()
        os.rename(folder.path / "a.md", folder.path / "sub" / "b.md")
        assert folder.compare() == ["renamed  a.md → sub/b.md"]
        document = Document.objects.get()
        assert (document.path, document.version) == ("sub/b.md", 2)
        assert folder.compare() == []

    def test_a_folder_that_was_moved(self, folder):
        for name in ("x/1.md", "x/2.md", "x/y/3.md"):
            folder.write(name, f"# {name}\n")
        folder.compare()
        ids = set(Document.objects.values_list("pk", flat=True))
        os.rename(folder.path / "x", folder.path / "z")
        assert folder.compare() == [
            "renamed  x/1.md → z/1.md",
            "renamed  x/2.md → z/2.md",
            "renamed  x/y/3.md → z/y/3.md",
        ]
        assert set(Document.objects.values_list("pk", flat=True)) == ids

    def test_copies_keep_their_names(self, folder):
        for name in ("x/1.md", "x/2.md"):
            folder.write(name, "# The same\n")
        folder.compare()
        before = dict(Document.objects.values_list("path", "pk"))
        os.rename(folder.path / "x", folder.path / "z")
        folder.compare()
        after = dict(Document.objects.values_list("path", "pk"))
        assert after == {"z/1.md": before["x/1.md"], "z/2.md": before["x/2.md"]}

    def test_a_copy_is_not_a_rename(self, folder):
        folder.write("a.md", "# A\n")
        folder.compare()
        folder.write("b.md", "# A\n")
        assert folder.compare() == ["created  b.md"]

    def test_onto_another_file(self, folder):
        folder.write("a.md", "# A\n")
        folder.write("b.md", "# B\n")
        folder.compare()
        os.rename(folder.path / "b.md", folder.path / "a.md")
        assert folder.compare() == ["deleted  b.md", "updated  a.md"]
        assert folder.texts == {"a.md": "# B\n"}

    def test_to_a_path_where_a_person_has_a_document(self, folder):
        folder.write("a.md", "# A\n")
        folder.compare()
        mine = factories.make_document(folder.project, "b.md", "# Mine\n")
        os.rename(folder.path / "a.md", folder.path / "b.md")
        assert folder.compare() == ["deleted  a.md", "updated  b.md"]
        assert folder.texts == {"b.md": "# A\n"}
        assert Document.objects.get().pk == mine.pk

    def test_to_another_format(self, folder):
        folder.write("a.txt", "<p>One <b>two</b></p>\n")
        folder.compare()
        document = Document.objects.get()
        os.rename(folder.path / "a.txt", folder.path / "a.html")
        assert folder.compare() == ["renamed  a.txt → a.html", "updated  a.html"]
        document.refresh_from_db()
        assert (document.path, document.content.strip()) == ("a.html", "One **two**")

    def test_to_a_name_that_is_refused(self, folder):
        folder.write("a.md", "# A\n")
        folder.compare()
        os.rename(folder.path / "a.md", folder.path / "id_rsa.md")
        lines = folder.compare()
        assert lines[0] == "deleted  a.md"
        assert lines[1].startswith("refused  id_rsa.md: ")


class TestOtherPeoplesDocuments:
    def test_an_uploaded_document_gets_the_text_and_is_not_deleted(self, folder):
        mine = factories.make_document(folder.project, "a.md", "# Mine\n")
        folder.write("a.md", "# Theirs\n")
        assert folder.compare() == ["updated  a.md"]
        folder.write("a.md", "# Theirs, changed\n")
        assert folder.compare() == ["updated  a.md"]
        (folder.path / "a.md").unlink()
        assert folder.compare() == []
        mine.refresh_from_db()
        assert mine.content == "# Theirs, changed\n"
        assert not FolderFile.objects.exists()

    def test_what_a_person_deletes_stays_deleted_until_the_file_changes(self, folder):
        folder.write("a.md", "# A\n")
        folder.compare()
        delete_documents(project=folder.project, ids=[Document.objects.get().pk], actor=OPERATOR)
        assert folder.compare() == []
        folder.write("a.md", "# A, changed\n")
        assert folder.compare() == ["created  a.md"]

    def test_a_document_that_a_person_moved_gets_the_text_where_it_is(self, folder):
        folder.write("a.md", "# A\n")
        folder.compare()
        document = Document.objects.get()
        rename_document(document=document, path="moved/a.md", actor=OPERATOR)
        folder.write("a.md", "# A, changed\n")
        assert folder.compare() == ["updated  moved/a.md"]
        (folder.path / "a.md").unlink()
        assert folder.compare() == ["deleted  a.md"]
        assert folder.texts == {}

    def test_what_was_imported_before_belongs_to_the_folder(self, folder):
        stored = factories.make_document(folder.project, "other.md")
        folder.write("a.md", "# A\n")
        folder.compare()
        FolderSource.objects.all().delete()
        # Nothing is known of the files now; the documents are there.
        assert folder.compare() == []
        (folder.path / "a.md").unlink()
        assert folder.compare() == ["deleted  a.md"]
        assert Document.objects.get().pk == stored.pk


class TestLeftOut:
    def test_hidden_ignored_linked_and_other_files(self, folder, tmp_path):
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "secret.md").write_text("# Secret\n")
        (folder.path / "link.md").symlink_to(outside / "secret.md")
        (folder.path / "linked").symlink_to(outside)
        os.mkfifo(folder.path / "pipe.md")
        folder.write("keep.md", "# Keep\n")
        folder.write(".hidden.md", "# H\n")
        folder.write(".git/x.md", "# X\n")
        folder.write("build/out.md", "# Out\n")
        folder.write("picture.png", b"\x89PNG")
        folder.write("sub/draft.md", "# Draft\n")
        folder.write("sub/keep.md", "# Keep\n")
        folder.write("sub/deep/draft.md", "# Wanted\n")
        folder.write(".gitignore", "build/\ndraft.md\n")
        folder.write("sub/deep/.gitignore", "!draft.md\n")
        assert folder.compare() == [
            "created  keep.md",
            "created  sub/deep/draft.md",
            "created  sub/keep.md",
        ]
        assert str(folder.notes.tallies[-1]).endswith("0 refused, 1 of other formats")

    def test_a_file_that_is_ignored_from_now_on_goes(self, folder):
        folder.write("a.md", "# A\n")
        folder.write("b.md", "# B\n")
        folder.compare()
        folder.write(".gitignore", "/b.md\n")
        assert folder.compare() == ["deleted  b.md"]

    def test_patterns(self, folder):
        for name in ("docs/a.md", "docs/old/b.md", "notes.txt", "docs/c.txt"):
            folder.write(name, f"# {name}\n")
        assert folder.compare(include="docs/", exclude="old/\n*.txt") == ["created  docs/a.md"]
        assert folder.compare(include="*.txt") == [
            "created  docs/c.txt",
            "created  notes.txt",
            "deleted  docs/a.md",
        ]

    def test_a_pattern_that_means_nothing(self, folder):
        with pytest.raises(Refusal, match=r"“\[z-a\]” is not a path pattern"):
            folder.source(exclude="*.txt\n[z-a]")
        assert not FolderSource.objects.exists()

    def test_a_link_that_is_put_in_the_way_leads_nowhere(self, folder, tmp_path):
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "a.md").write_text("# Secret\n")
        folder.write("sub/a.md", "# A\n")
        folder.compare()
        shutil.rmtree(folder.path / "sub")
        (folder.path / "sub").symlink_to(outside)
        assert folder.compare() == ["deleted  sub/a.md"]


class TestRefusals:
    def test_a_refused_file_is_told_and_the_others_go_in(self, folder):
        folder.write("a.md", "# A\n")
        folder.write("noise.md", bytes(range(256)) * 20)
        lines = folder.compare()
        assert lines[0] == "created  a.md"
        assert lines[1].startswith("refused  noise.md: ")
        assert FolderFile.objects.get(path="noise.md").error
        assert folder.compare() == []
        folder.write("noise.md", "# Mended\n")
        assert folder.compare() == ["created  noise.md"]
        assert FolderFile.objects.get(path="noise.md").error == ""

    def test_the_last_good_text_stays(self, folder):
        folder.write("a.md", "# A\n")
        folder.compare()
        folder.write("a.md", "")
        assert folder.compare() == ["refused  a.md: The file is empty."]
        assert folder.texts == {"a.md": "# A\n"}
        (folder.path / "a.md").unlink()
        assert folder.compare() == ["deleted  a.md"]

    def test_too_large(self, folder, settings):
        settings.MAX_FILE_BYTES = 100
        folder.write("a.md", "# A\n" * 50)
        (line,) = folder.compare()
        assert line.startswith("refused  a.md: The file is larger than")

    def test_a_file_and_a_folder_that_cannot_be_opened_are_not_gone(self, folder, monkeypatch):
        folder.write("a.md", "# A\n")
        folder.write("sub/b.md", "# B\n")
        folder.compare()
        real = os.open

        def stubborn(path, *arguments, **options):
            if path in ("a.md", "sub"):
                raise PermissionError(13, "Permission denied", path)
            return real(path, *arguments, **options)

        with monkeypatch.context() as locked:
            locked.setattr(os, "open", stubborn)
            folder.write("a.md", "# A, changed\n")
            assert folder.compare() == [
                "refused  a.md: The file could not be opened.",
                "refused  sub: It could not be opened.",
            ]
        assert folder.texts == {"a.md": "# A\n", "sub/b.md": "# B\n"}
        assert folder.compare() == ["updated  a.md"]

    def test_names_that_no_database_keeps(self, folder):
        folder.write("a.md", "# A\n")
        (folder.path / os.fsdecode(b"bad-\xff.md")).write_text("# B\n")
        lines = folder.compare()
        assert lines[0] == "created  a.md"
        assert lines[1].endswith("Its name cannot be stored.")


class TestArchives:
    def test_the_texts_in_it_come_and_go(self, folder):
        folder.write("old/notes.zip", packed(one="# 1\n", two="# 2\n"))
        assert folder.compare() == ["created  old/one.md", "created  old/two.md"]
        assert folder.compare() == []
        folder.write("old/notes.zip", packed(two="# 2, changed\n", three="# 3\n"))
        assert folder.compare() == [
            "created  old/three.md",
            "deleted  old/notes.zip/one.md",
            "updated  old/two.md",
        ]
        folder.write("old/notes.zip", packed(two="# 2\n")[:-30])
        (line,) = folder.compare()
        assert line.startswith("refused  old/notes.zip: ")
        assert set(folder.texts) == {"old/two.md", "old/three.md"}
        (folder.path / "old" / "notes.zip").unlink()
        folder.compare()
        assert folder.texts == {}

    def test_renamed(self, folder):
        folder.write("notes.zip", packed(one="# 1\n"))
        folder.compare()
        document = Document.objects.get()
        os.rename(folder.path / "notes.zip", folder.path / "other.zip")
        folder.compare()
        assert Document.objects.get() == document

    def test_a_document_that_is_two_files_stays_until_both_are_gone(self, folder):
        folder.write("notes.zip", packed(a="# Packed\n"))
        folder.write("a.md", "# Plain\n")
        folder.compare()
        (folder.path / "a.md").unlink()
        folder.compare()
        folder.compare()
        assert folder.texts == {"a.md": "# Packed\n"}
        (folder.path / "notes.zip").unlink()
        folder.compare()
        assert folder.texts == {}


class TestAFolderThatIsGone:
    def fill(self, folder, count: int = 30) -> None:
        for number in range(count):
            folder.write(f"sub/{number}.md", f"# {number}\n")
        folder.compare()

    def test_nothing_is_deleted_when_it_is_not_there(self, folder):
        self.fill(folder)
        hidden = folder.path.with_name("elsewhere")
        follower = folder.follower()
        os.rename(folder.path, hidden)
        with pytest.raises(FolderProblem, match=r"is not there\. Nothing was deleted"):
            follower.compare()
        assert len(folder.texts) == 30
        os.rename(hidden, folder.path)
        assert folder.compare() == []

    def test_nothing_is_deleted_when_it_is_empty(self, folder):
        self.fill(folder)
        hidden = folder.path.with_name("elsewhere")
        os.rename(folder.path, hidden)
        folder.path.mkdir()
        with pytest.raises(FolderProblem, match=r"--once --allow-empty"):
            folder.compare()
        assert len(folder.texts) == 30
        folder.path.rmdir()
        os.rename(hidden, folder.path)
        assert folder.compare() == []

    def test_nor_when_a_folder_in_it_is_empty(self, folder):
        self.fill(folder)
        folder.write("a.md", "# A\n")
        folder.compare()
        shutil.rmtree(folder.path / "sub")
        (folder.path / "sub").mkdir()
        folder.write("a.md", "# A, changed\n")
        with pytest.raises(FolderProblem, match="sub is empty"):
            folder.compare()
        # The rest is looked after all the same.
        assert folder.texts["a.md"] == "# A, changed\n"
        assert len(folder.texts) == 31
        folder.compare(allow_empty=True)
        assert set(folder.texts) == {"a.md"}

    def test_what_moved_from_there_is_not_out_of_sight(self, folder):
        self.fill(folder)
        (folder.path / "new").mkdir()
        for path in (folder.path / "sub").iterdir():
            os.rename(path, folder.path / "new" / path.name)
        assert {line.split()[0] for line in folder.compare()} == {"renamed"}
        assert len(folder.texts) == 30

    def test_who_empties_it_on_purpose_says_so(self, folder):
        self.fill(folder)
        shutil.rmtree(folder.path / "sub")
        folder.notes.lines.clear()
        assert len(folder.compare(allow_empty=True)) == 30
        assert folder.texts == {}

    def test_a_few_files_need_no_permission(self, folder):
        self.fill(folder, count=3)
        shutil.rmtree(folder.path / "sub")
        assert len(folder.compare()) == 3

    def test_many_of_many_are_believed(self, folder):
        self.fill(folder, count=40)
        for number in range(1, 40):
            (folder.path / "sub" / f"{number}.md").unlink()
        assert len(folder.compare()) == 39

    def test_a_link_in_its_place_is_not_it(self, folder, tmp_path):
        self.fill(folder, count=1)
        follower = folder.follower()
        os.rename(folder.path, tmp_path / "elsewhere")
        folder.path.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(FolderProblem):
            follower.compare()


class TestLease:
    def test_one_at_a_time(self, folder):
        source = folder.source()
        first, second = Lease(source.pk, "host 1 1 a"), Lease(source.pk, "host 2 2 b")
        assert first.take()
        assert not second.take()
        assert first.renew()
        first.release()
        assert second.take()
        assert not first.renew()

    def test_one_that_lapsed_is_free_and_so_is_one_from_the_future(self, folder):
        source = folder.source()
        for seconds in (-1, 3600):
            until = timezone.now() + timedelta(seconds=seconds)
            FolderSource.objects.update(holder="elsewhere 1 1 a", lease_until=until)
            assert Lease(source.pk, new_holder()).take()

    def test_nobody_waits_for_a_process_of_this_machine_that_is_dead(self, folder):
        source = folder.source()
        ended = subprocess.Popen(["true"])
        ended.wait()
        mine = new_holder().split(" ")
        later = timezone.now() + timedelta(seconds=10)
        # Its number may also have been given to another since.
        for dead in ([mine[0], str(ended.pid), "5", "x"], [mine[0], mine[1], "5", "x"]):
            FolderSource.objects.update(holder=" ".join(dead), lease_until=later)
            assert Lease(source.pk, new_holder()).take()
        assert not Lease(source.pk, new_holder()).take()

    def test_who_lost_it_writes_nothing(self, folder):
        folder.write("a.md", "# A\n")
        follower = folder.follower()
        FolderSource.objects.update(holder="somebody else")
        with pytest.raises(LeaseLost):
            follower.compare()
        assert folder.texts == {}
        assert not FolderFile.objects.exists()
