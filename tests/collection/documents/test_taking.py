"""Files of a commit become documents, and follow what happens to them."""

from random import Random

import pytest

from collection.choices import State
from collection.models import Repository, RepositoryFile, VersionOrigin
from collection.origins.data import OriginProblem
from collection.services.documents import Taken, documents_key
from collection.services.documents.wishes import MOST_PATH_BYTES
from glossary_site.errors import Refusal
from indexing.models import IndexRequest
from projects.access import OPERATOR
from projects.choices import Source
from projects.services.documents import (
    delete_documents,
    rename_document,
    store_document,
    update_document,
)
from tests.collection.documents.taken import document_at, files, take, texts, touches
from tests.collection.factories import make_repository
from tests.collection.made import MemoryOrigin, blob_of
from tests.factories import make_project

A, B = "# Anchor\n\nHolds a ship.\n", "# Berth\n\nA place for a ship.\n"


@pytest.fixture
def taken(origin, repository) -> Repository:
    """Two documents have been taken."""
    origin.commit({"docs/a.md": A, "docs/deep/b.md": B, "README.md": "# No", "docs/x.png": b"\x89"})
    take(repository, origin)
    return repository


def test_files_that_are_wanted_become_documents(origin, repository, project):
    head = origin.commit({"docs/a.md": A, "docs/deep/b.md": B, "README.md": "# No"})

    assert take(repository, origin) == Taken(created=2)

    assert texts(project) == {"docs/a.md": A, "docs/deep/b.md": B}
    document = document_at(project, "docs/a.md")
    assert (document.source, document.title, document.version) == (Source.GIT, "Anchor", 1)
    assert files(repository) == {
        "docs/a.md": ("docs/a.md", ""),
        "docs/deep/b.md": ("docs/deep/b.md", ""),
    }
    origins = VersionOrigin.objects.filter(document=document)
    assert list(origins.values_list("version", "repository", "sha", "path")) == [
        (1, repository.pk, head, "docs/a.md")
    ]
    repository.refresh_from_db()
    assert repository.documents_head == head
    assert repository.documents_key
    assert repository.documents_at
    assert repository.documents_error == ""


def test_they_are_indexed(taken, project):
    requests = IndexRequest.objects.filter(project=project)
    assert {each.document.path for each in requests} == {"docs/a.md", "docs/deep/b.md"}


def test_nothing_new_reads_nothing(origin, taken):
    origin.commit({"README.md": "# Other"})
    origin.read.clear()

    assert take(taken, origin) == Taken(unchanged=2)
    assert origin.read == []


def test_a_changed_file_is_a_new_version_with_its_commit(origin, taken, project):
    head = origin.commit({"docs/a.md": "# Anchor\n\nOf iron.\n"})
    origin.read.clear()

    assert take(taken, origin) == Taken(updated=1, unchanged=1)

    assert origin.read == ["docs/a.md"]
    document = document_at(project, "docs/a.md")
    assert (document.version, document.content) == (2, "# Anchor\n\nOf iron.\n")
    assert VersionOrigin.objects.get(document=document, version=2).sha == head


def test_a_deleted_file_takes_its_document_along(origin, taken, project):
    origin.commit({"docs/a.md": None})
    assert take(taken, origin) == Taken(deleted=1, unchanged=1)
    assert set(texts(project)) == {"docs/deep/b.md"}
    assert set(files(taken)) == {"docs/deep/b.md"}


def test_a_moved_file_takes_its_document_along(origin, taken, project):
    before = document_at(project, "docs/a.md")
    origin.commit(moves={"docs/a.md": "docs/parts/anchor.md"})
    origin.read.clear()

    assert take(taken, origin) == Taken(renamed=1, unchanged=1)

    after = document_at(project, "docs/parts/anchor.md")
    assert (after.pk, after.version) == (before.pk, 1)
    assert origin.read == []


def test_moved_and_changed_at_once(origin, taken, project):
    before = document_at(project, "docs/a.md")
    origin.commit({"docs/anchor.md": A + "More.\n"}, moves={"docs/a.md": "docs/anchor.md"})

    assert take(taken, origin) == Taken(renamed=1, updated=1, unchanged=1)

    after = document_at(project, "docs/anchor.md")
    assert (after.pk, after.version, after.content) == (before.pk, 2, A + "More.\n")
    assert "docs/a.md" not in texts(project)


def test_equal_contents_tell_a_move_when_the_old_commit_is_gone(origin, taken, project):
    before = document_at(project, "docs/a.md")
    old = origin.head
    origin.commit({"docs/anchor.md": A, "docs/deep/b.md": B}, parents=[])
    origin.forget(old)

    assert take(taken, origin) == Taken(renamed=1, unchanged=1)
    assert document_at(project, "docs/anchor.md").pk == before.pk


def test_of_several_copies_the_one_that_kept_its_name_moves(origin, repository, project):
    origin.commit({"docs/a.md": A, "docs/old/b.md": A})
    take(repository, origin)
    before = document_at(project, "docs/old/b.md")
    origin.commit({"docs/a.md": None, "docs/old/b.md": None, "docs/new/b.md": A})

    assert take(repository, origin) == Taken(renamed=1, deleted=1)
    assert document_at(project, "docs/new/b.md").pk == before.pk


def test_a_move_to_another_format_reads_the_text_anew(origin, taken, project):
    taken.document_patterns = ["docs/**"]
    taken.save(update_fields=["document_patterns"])
    take(taken, origin)
    before = document_at(project, "docs/a.md")
    origin.commit(moves={"docs/a.md": "docs/a.rst"})

    assert take(taken, origin).renamed == 1
    assert document_at(project, "docs/a.rst").pk == before.pk
    assert document_at(project, "docs/a.rst").format == "rst"


# ---- What people did ----------------------------------------------------------------------------


def test_a_person_who_renamed_a_document_is_respected(origin, taken, project):
    document = document_at(project, "docs/a.md")
    rename_document(document=document, path="harbour/anchor.md", actor=OPERATOR)
    origin.commit({"docs/a.md": "# Anchor\n\nNew.\n"})
    assert take(taken, origin) == Taken(updated=1, unchanged=1)
    assert texts(project) == {"harbour/anchor.md": "# Anchor\n\nNew.\n", "docs/deep/b.md": B}

    origin.commit(moves={"docs/a.md": "docs/z.md"})
    assert take(taken, origin).renamed == 1
    assert set(texts(project)) == {"harbour/anchor.md", "docs/deep/b.md"}
    assert files(taken)["docs/z.md"] == ("harbour/anchor.md", "")

    origin.commit({"docs/z.md": None})
    assert take(taken, origin).deleted == 1
    assert set(texts(project)) == {"docs/deep/b.md"}


def test_a_document_that_a_person_deleted_stays_away_until_its_file_changes(origin, taken, project):
    document = document_at(project, "docs/a.md")
    delete_documents(project=project, ids=[document.pk], actor=OPERATOR)
    origin.commit({"docs/deep/b.md": "# Berth\n\nOther.\n"})
    assert take(taken, origin) == Taken(updated=1, unchanged=1)
    assert set(texts(project)) == {"docs/deep/b.md"}

    origin.commit(moves={"docs/a.md": "docs/z.md"})
    take(taken, origin)
    assert set(texts(project)) == {"docs/deep/b.md"}

    origin.commit({"docs/z.md": A + "More.\n"})
    assert take(taken, origin).created == 1
    assert texts(project)["docs/z.md"] == A + "More.\n"


def test_a_document_that_began_elsewhere_gets_texts_and_is_never_deleted(
    origin, repository, project
):
    for path in ("docs/a.md", "docs/deep/b.md"):
        store_document(
            project=project, path=path, content="# Mine\n", source=Source.UPLOAD, actor=OPERATOR
        )
    origin.commit({"docs/a.md": A, "docs/deep/b.md": B})
    assert take(repository, origin) == Taken(updated=2)
    assert texts(project) == {"docs/a.md": A, "docs/deep/b.md": B}

    origin.commit({"docs/deep/b.md": None}, moves={"docs/a.md": "docs/z.md"})
    assert take(repository, origin).deleted == 0
    assert texts(project) == {"docs/a.md": A, "docs/deep/b.md": B}


def test_what_a_person_wrote_stands_until_the_file_changes(origin, taken, project):
    document = document_at(project, "docs/a.md")
    update_document(document=document, content="# Mine\n", source=Source.API, actor=OPERATOR)
    origin.commit({"docs/deep/b.md": "# Berth\n\nOther.\n"})
    take(taken, origin)
    assert texts(project)["docs/a.md"] == "# Mine\n"

    origin.commit({"docs/a.md": "# Theirs\n"})
    take(taken, origin)
    document.refresh_from_db()
    assert (document.content, document.version) == ("# Theirs\n", 3)
    assert not VersionOrigin.objects.filter(document=document, version=2).exists()


def test_a_place_that_another_document_has_is_not_moved_into(origin, taken, project):
    """The text goes where a first collection would have put it."""
    theirs = store_document(
        project=project, path="docs/z.md", content="# Z\n", source=Source.UPLOAD, actor=OPERATOR
    )
    origin.commit(moves={"docs/a.md": "docs/z.md"})

    take(taken, origin)

    assert texts(project) == {"docs/z.md": A, "docs/deep/b.md": B}
    assert document_at(project, "docs/z.md").pk == theirs.document_id


# ---- What cannot be taken -----------------------------------------------------------------------


def test_what_is_refused_is_named_with_its_reason(origin, repository, project, settings):
    settings.MAX_FILE_BYTES = 1000
    repository.document_patterns = ["docs/**"]
    repository.save(update_fields=["document_patterns"])
    origin.commit(
        {
            "docs/a.md": A,
            "docs/empty.md": "",
            "docs/large.md": "x" * 1001,
            "docs/no.pdf": "This is no PDF.",
            "docs/binary.txt": b"\x00\x01\x02\xff" * 20,
            "docs/con/nul.md": A,
            "docs/lfs.pdf": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            "docs/notes.zip": b"PK\x03\x04",
            "docs/.DS_Store": b"\x00",
        }
    )

    assert take(repository, origin) == Taken(created=1, refused=6)

    errors = {path: error for path, (_at, error) in files(repository).items() if error}
    assert set(errors) == {f"docs/{name}" for name in ("empty.md", "large.md", "no.pdf")} | {
        "docs/binary.txt",
        "docs/con/nul.md",
        "docs/lfs.pdf",
    }
    assert "1000 bytes" in errors["docs/large.md"]
    assert "Git LFS" in errors["docs/lfs.pdf"]
    assert "docs/large.md" not in origin.read
    assert set(texts(project)) == {"docs/a.md"}

    origin.read.clear()
    origin.commit({"docs/empty.md": "# Full\n"})
    assert take(repository, origin) == Taken(created=1, unchanged=1, refused=5)
    assert origin.read == ["docs/empty.md"]


def test_the_last_text_that_could_be_read_stays(origin, taken, project):
    origin.commit({"docs/a.md": b"\x00\x01\x02\xff" * 20})
    assert take(taken, origin) == Taken(refused=1, unchanged=1)
    assert texts(project)["docs/a.md"] == A
    at, error = files(taken)["docs/a.md"]
    assert at == "docs/a.md"
    assert error

    origin.commit({"docs/a.md": "# Better\n"})
    assert take(taken, origin) == Taken(updated=1, unchanged=1)
    assert files(taken)["docs/a.md"] == ("docs/a.md", "")


def test_encodings_and_formats_are_read_as_at_every_door(origin, repository, project):
    repository.document_patterns = ["*"]
    repository.save(update_fields=["document_patterns"])
    origin.commit(
        {
            "港/錨.txt": "錨は船を留める。\n".encode("cp932"),
            "page.html": "<h1>Quay</h1><p>Beside the water.</p>",
            "page.rst": "Pier\n====\n\nIn the water.\n",
        }
    )
    assert take(repository, origin) == Taken(created=3)
    found = texts(project)
    assert found["港/錨.txt"] == "錨は船を留める。\n"
    assert found["page.html"].startswith("# Quay")
    assert found["page.rst"].startswith("# Pier")


def test_two_files_that_come_to_the_same_path(origin, repository, project):
    """A Mac writes é in two pieces. Both would be one document."""
    one, other = "docs/caf\u00e9.md", "docs/cafe\u0301.md"
    first, second = sorted([one, other])
    origin.commit({first: A, second: B})

    assert take(repository, origin) == Taken(created=1, refused=1)
    assert texts(project) == {one: A}
    at, error = files(repository)[second]
    assert at is None
    assert first in error

    # Nothing is written over and over again.
    origin.commit({"README.md": "# x"})
    assert take(repository, origin) == Taken(unchanged=1, refused=1)
    assert document_at(project, one).version == 1

    # As soon as there is room for it, it comes in.
    origin.commit({first: None})
    assert take(repository, origin) == Taken(updated=1)
    assert texts(project) == {one: B}
    assert files(repository) == {second: (one, "")}


def test_names_that_cannot_be_stored(origin, repository, project):
    origin.commit({"docs/a.md": A, "docs/\udcff.md": B, f"docs/{'x' * 1100}.md": B})
    assert take(repository, origin) == Taken(created=1, refused=2)
    assert set(files(repository)) == {"docs/a.md"}
    repository.refresh_from_db()
    assert repository.documents_error.startswith("2 files were left out")


def test_the_longest_names_that_can_be_stored(origin, repository):
    """No index of either database refuses them, however little there is to compress."""
    chance = Random(7)
    name = "".join(chr(chance.randrange(0x4E00, 0x9F00)) for _ in range(797))
    longest = f"docs/{name}.md"
    assert len(longest.encode()) == MOST_PATH_BYTES - 1
    origin.commit({longest: A, f"docs/{name}鼁.md": B})
    assert take(repository, origin) == Taken(refused=2)
    assert set(files(repository)) == {longest}
    assert touches(repository) == {(longest, origin.head)}


# ---- Another wish -------------------------------------------------------------------------------


def test_other_patterns(origin, taken, project):
    taken.document_patterns = ["docs/deep/**", "*.md", "!docs/*.md"]
    taken.save(update_fields=["document_patterns"])
    before = document_at(project, "docs/deep/b.md")

    assert take(taken, origin) == Taken(created=1, deleted=1, unchanged=1)
    assert set(texts(project)) == {"README.md", "docs/deep/b.md"}
    assert document_at(project, "docs/deep/b.md").pk == before.pk


def test_no_patterns_any_more(origin, taken, project):
    taken.document_patterns = []
    taken.save(update_fields=["document_patterns"])
    origin.asked.clear()

    assert take(taken, origin) == Taken(deleted=2)
    assert texts(project) == {}
    assert files(taken) == {}
    assert taken.documents_key == ""
    assert origin.asked == ["heads"]


def test_a_folder_for_them(origin, repository, project):
    repository.document_folder = "handbook"
    repository.save(update_fields=["document_folder"])
    origin.commit({"docs/a.md": A})
    take(repository, origin)
    assert texts(project) == {"handbook/docs/a.md": A}
    origin.commit(moves={"docs/a.md": "docs/z.md"})
    take(repository, origin)
    assert texts(project) == {"handbook/docs/z.md": A}


@pytest.mark.parametrize(("before", "after"), [("", "docs"), ("docs", ""), ("docs", "else")])
def test_another_folder_moves_them_without_new_versions(origin, repository, project, before, after):
    """“docs/a.md” has to leave before “a.md” can come to where it was."""
    repository.document_patterns = ["*.md"]
    repository.document_folder = before
    repository.save(update_fields=["document_folder", "document_patterns"])
    origin.commit({"a.md": A, "docs/a.md": B, "docs/docs/a.md": "# C\n", "own.md": "# Own\n"})
    take(repository, origin)
    own = project.documents.get(content="# Own\n")
    rename_document(document=own, path="elsewhere.md", actor=OPERATOR)
    ids = dict(project.documents.values_list("content", "pk"))
    repository.document_folder = after
    repository.save(update_fields=["document_folder"])

    assert take(repository, origin) == Taken(renamed=3, unchanged=1)

    prefix = f"{after}/" if after else ""
    assert texts(project) == {
        f"{prefix}a.md": A,
        f"{prefix}docs/a.md": B,
        f"{prefix}docs/docs/a.md": "# C\n",
        "elsewhere.md": "# Own\n",
    }
    assert dict(project.documents.values_list("content", "pk")) == ids
    assert not project.documents.filter(version__gt=1).exists()


# ---- Several repositories -----------------------------------------------------------------------


def test_two_repositories_with_the_same_path(origin, taken, project):
    other_origin = MemoryOrigin()
    other_origin.commit({"docs/a.md": "# From the other\n"})
    other = make_repository(project, document_patterns=["docs/**"])

    assert take(other, other_origin) == Taken(updated=1)
    assert texts(project)["docs/a.md"] == "# From the other\n"

    # The document stays as long as one of them has it, with a text that is there.
    other_origin.commit({"docs/a.md": None, "docs/c.md": "# C\n"})
    assert take(other, other_origin) == Taken(created=1)
    taken.refresh_from_db()
    assert taken.documents_head == ""
    assert take(taken, origin) == Taken(updated=1, unchanged=1)
    assert texts(project) == {"docs/a.md": A, "docs/deep/b.md": B, "docs/c.md": "# C\n"}


def test_a_document_of_another_project_is_not_touched(origin, taken, project):
    elsewhere = make_repository(make_project(), document_patterns=["docs/**"])
    take(elsewhere, origin)
    origin.commit({"docs/a.md": None})
    take(taken, origin)
    assert set(texts(elsewhere.project)) == {"docs/a.md", "docs/deep/b.md"}


# ---- Trouble ------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["files", "touches", "renames", "contents"])
def test_trouble_over_there_leaves_the_documents_as_they_are(origin, taken, project, asked):
    before, head = texts(project), taken.documents_head
    origin.commit({"docs/a.md": None, "docs/c.md": "# C\n", "docs/deep/b.md": None})
    origin.problems[asked] = OriginProblem(State.UNREACHABLE, "Gone", again=True)
    with pytest.raises(OriginProblem):
        take(taken, origin)
    assert texts(project) == before
    taken.refresh_from_db()
    assert taken.documents_head == head

    del origin.problems[asked]
    take(taken, origin)
    assert texts(project) == {"docs/c.md": "# C\n"}


def test_the_blob_is_that_of_git(taken):
    row = RepositoryFile.objects.get(repository=taken, path="docs/a.md")
    assert row.blob == blob_of(A.encode())


def test_a_pattern_that_is_none(origin, taken, project):
    before = texts(project)
    taken.document_patterns = ["docs/**", "!"]
    taken.save(update_fields=["document_patterns"])
    with pytest.raises(Refusal) as refused:
        take(taken, origin)
    assert refused.value.code == "bad_document_pattern"
    assert texts(project) == before


def test_a_repository_that_is_removed_on_the_way(origin, taken, project):
    before = texts(project)
    origin.commit({"docs/c.md": "# C\n"})

    def remove() -> None:
        Repository.objects.filter(pk=taken.pk).delete()

    with pytest.raises(Refusal) as refused:
        take(taken, origin, check=remove)
    assert refused.value.code == "repository_gone"
    assert texts(project) == before


def test_the_key_is_of_the_wish_alone(repository):
    key = documents_key(repository)
    repository.name, repository.documents_head = "Other", "0" * 40
    assert documents_key(repository) == key
    keys = {key}
    for field, value in (
        ("document_patterns", ["docs/**"]),
        ("document_folder", "handbook"),
        ("document_branch", "docs"),
    ):
        setattr(repository, field, value)
        keys.add(documents_key(repository))
    assert len(keys) == 4
    repository.document_patterns = []
    assert documents_key(repository) == ""
