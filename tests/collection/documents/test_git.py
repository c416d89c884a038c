"""The same with a real repository, compared with what git itself says."""

import pytest

from collection.choices import Kind
from collection.document_history import commits_of
from collection.models import Repository, RepositoryFile
from collection.origins.git.origin import GitOrigin
from collection.services.documents import Taken
from tests.collection.documents.taken import collect, document_at, files, take, texts, touches
from tests.collection.factories import make_branch, make_repository
from tests.collection.git.building import Source, make_source

LONG = b"# Anchor\n" + b"".join(b"Line %d of the text.\n" % number for number in range(20))


@pytest.fixture
def source(tmp_path, settings) -> Source:
    settings.DATA_DIR = tmp_path / "data"
    settings.GIT_ROOTS = [tmp_path / "sources"]
    return make_source(tmp_path / "sources" / "handbook.git")


@pytest.fixture
def handbook(source, project) -> Repository:
    repository = make_repository(
        project,
        "handbook",
        kind=Kind.LOCAL,
        address=str(source.path),
        document_patterns=["docs/**/*.md", "*.txt"],
    )
    make_branch(repository)
    return repository


def brought(handbook: Repository) -> Taken:
    with GitOrigin(handbook) as origin:
        origin.bring(origin.heads().branches)
        collect(origin, handbook.branches.get())
        return take(handbook, origin)


def wanted_at_head(source: Source) -> set[str]:
    names = source.git("ls-tree", "-r", "--name-only", "main").splitlines()
    return {name for name in names if name.endswith((".md", ".txt"))}


def test_documents_follow_a_repository(source, handbook, project):
    one = source.commit("main", {"docs/a.md": LONG, "docs/deep/b.md": b"# B\n", "x.c": b"x"})
    other = {"notes.txt": "錨と港。\n".encode("cp932"), "x.c": b"y"}
    two = source.commit("main", other, parents=[one])
    source.write()
    assert brought(handbook) == Taken(created=3)

    found = texts(project)
    assert found == {
        "docs/a.md": LONG.decode(),
        "docs/deep/b.md": "# B\n",
        "notes.txt": "錨と港。\n",
    }
    assert found.keys() == wanted_at_head(source)
    for path in found:
        expected = source.git("log", "--format=%H", "main", "--", path).split()
        assert {sha for at, sha in touches(handbook) if at == path} == set(expected)

    anchor = document_at(project, "docs/a.md")
    moved = {"docs/a.md": None, "docs/anchor.md": LONG + b"One more.\n", "docs/deep/b.md": None}
    source.commit("main", moved, parents=[two], when=1_700_000_100)
    source.write()
    assert brought(handbook) == Taken(renamed=1, updated=1, deleted=1, unchanged=1)

    anchor.refresh_from_db()
    assert (anchor.path, anchor.version) == ("docs/anchor.md", 2)
    follow = source.git("log", "--follow", "--format=%H", "main", "--", "docs/anchor.md")
    assert [commit.sha for commit in commits_of(anchor)] == follow.split()
    assert files(handbook).keys() == wanted_at_head(source)


def test_a_rewritten_history(source, handbook, project):
    source.commit("main", {"docs/a.md": b"# A\n"})
    source.write()
    brought(handbook)
    before = document_at(project, "docs/a.md")
    source.commit("main", {"docs/a.md": b"# A, otherwise\n", "docs/c.md": b"# C\n"})
    source.write()
    assert brought(handbook) == Taken(updated=1, created=1)

    assert texts(project) == {"docs/a.md": "# A, otherwise\n", "docs/c.md": "# C\n"}
    before.refresh_from_db()
    assert before.version == 2


def test_links_and_odd_names(source, handbook, project):
    source.commit(
        "main",
        {
            "docs/日本語 の 名.md": b"# A\n",
            "docs/dot.": b"",
            "docs/x ./a.md": b"# Odd\n",
            "docs/l.md": b"x",
        },
        modes={"docs/l.md": "120000"},
    )
    source.write()
    assert brought(handbook) == Taken(created=1, refused=1)
    assert set(texts(project)) == {"docs/日本語 の 名.md"}
    [(path, error)] = RepositoryFile.objects.exclude(error="").values_list("path", "error")
    assert path == "docs/x ./a.md"
    assert "x ." in error
