"""Documents and commits, joined; and that renames are followed."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collection.document_history import Origin, commits_of, last_commit_of, origins_of
from collection.models import Branch, Commit, CommitPath, Repository
from projects.access import OPERATOR
from projects.choices import Source
from projects.models import Document, DocumentVersion
from projects.services.documents import rename_document, update_document
from tests.collection.documents.taken import collect, document_at, take, touches
from tests.collection.factories import make_branch, make_repository
from tests.collection.made import MemoryOrigin

PATTERNS = ["docs/**/*.md"]


@pytest.fixture
def main(repository) -> Branch:
    return make_branch(repository)


@pytest.fixture
def collected(origin, repository, main) -> Repository:
    origin.commit({"docs/a.md": "# A\n", "src/x.py": "x"}, subject="Begin")
    origin.commit({"docs/b.md": "# B\n"}, subject="Add b")
    origin.commit({"src/x.py": "y"}, subject="Code only")
    origin.commit({"docs/a.md": "# A again\n"}, subject="Change a")
    collect(origin, main)
    take(repository, origin)
    return repository


def subjects(commits: list[Commit]) -> list[str]:
    return [commit.subject for commit in commits]


def origin_of(document: Document, version: int) -> Origin | None:
    return origins_of([DocumentVersion(document=document, number=version)]).get(version)


def test_the_commits_that_touched_a_document(collected, project):
    a, b = document_at(project, "docs/a.md"), document_at(project, "docs/b.md")
    assert subjects(commits_of(a)) == ["Change a", "Begin"]
    assert subjects(commits_of(a, limit=1)) == ["Change a"]
    assert subjects(commits_of(b)) == ["Add b"]
    last = last_commit_of([a.pk, b.pk])
    assert {pk: commit.subject for pk, commit in last.items()} == {a.pk: "Change a", b.pk: "Add b"}


def test_only_what_is_wanted_is_noted(origin, collected):
    assert {path for path, _sha in touches(collected)} == {"docs/a.md", "docs/b.md"}


def test_what_is_new_is_noted_once(origin, collected, main):
    before = CommitPath.objects.count()
    origin.commit({"docs/a.md": "# A, third\n"}, subject="Third")
    collect(origin, main)
    take(collected, origin)
    assert CommitPath.objects.count() == before + 1


def test_other_patterns_are_noted_from_the_beginning(origin, collected, project):
    origin.commit({"notes/n.md": "# N\n"})
    collected.document_patterns = [*PATTERNS, "src/**", "notes/**"]
    collected.save(update_fields=["document_patterns"])
    take(collected, origin)
    assert {path for path, _sha in touches(collected)} == {"docs/a.md", "docs/b.md", "notes/n.md"}
    assert len(touches(collected)) == 4


def test_history_follows_a_rename(origin, collected, main, project):
    a = document_at(project, "docs/a.md")
    origin.commit(moves={"docs/a.md": "docs/anchor.md"}, subject="Rename a")
    origin.commit({"docs/anchor.md": "# Anchor\n"}, subject="Change it")
    collect(origin, main)
    take(collected, origin)
    a.refresh_from_db()
    assert a.path == "docs/anchor.md"
    everything = ["Change it", "Rename a", "Change a", "Begin"]
    assert subjects(commits_of(a)) == everything

    # Another file at the old path is nothing to it.
    origin.commit({"docs/a.md": "# Another\n"}, subject="Another a")
    collect(origin, main)
    take(collected, origin)
    assert subjects(commits_of(document_at(project, "docs/a.md")))[0] == "Another a"
    assert subjects(commits_of(a, limit=20)) == everything


def test_a_commit_of_several_branches_is_one(origin, collected, project):
    origin.branches["release"] = origin.head
    release = make_branch(collected, "release")
    collect(origin, release)
    a = document_at(project, "docs/a.md")
    assert Commit.objects.count() == 8
    assert subjects(commits_of(a)) == ["Change a", "Begin"]


def test_commits_that_were_left_behind_are_not_shown(collected, project):
    a = document_at(project, "docs/a.md")
    Commit.objects.filter(subject="Change a").update(unreachable=True)
    assert subjects(commits_of(a)) == ["Begin"]
    assert last_commit_of([a.pk])[a.pk].subject == "Begin"


def test_the_same_path_of_another_repository_is_another(origin, collected, project):
    other_origin = MemoryOrigin()
    other_origin.commit({"docs/b.md": "# Other b\n"}, subject="Other")
    other = make_repository(None)
    collect(other_origin, make_branch(other))
    CommitPath.objects.create(repository=other, path="docs/b.md", sha=other_origin.head)
    assert subjects(commits_of(document_at(project, "docs/b.md"))) == ["Add b"]


def test_two_repositories_that_bring_one_document(origin, collected, project):
    other_origin = MemoryOrigin("trunk")
    other_origin.commit({"docs/b.md": "# Other b\n"}, subject="Other")
    other = make_repository(project, document_patterns=PATTERNS, default_branch="trunk")
    collect(other_origin, make_branch(other, "trunk"))
    take(other, other_origin, other_origin.head)
    b = document_at(project, "docs/b.md")
    assert set(subjects(commits_of(b))) == {"Add b", "Other"}
    origin_now = origin_of(b, 2)
    assert origin_now is not None
    assert (origin_now.repository, origin_now.branch) == (other, "trunk")


def test_the_commit_that_a_version_came_from(origin, collected, main, project):
    a = document_at(project, "docs/a.md")
    first = origin_of(a, 1)
    assert first is not None
    assert (first.sha, first.path, first.branch) == (origin.head, "docs/a.md", "main")
    assert first.commit is not None
    assert first.commit.subject == "Change a"

    update_document(document=a, content="# Mine\n", source=Source.API, actor=OPERATOR)
    head = origin.commit({"docs/a.md": "# A, third\n"})
    take(collected, origin)
    assert origin_of(a, 2) is None
    third = origin_of(a, 3)
    assert third is not None
    # Its commits are not collected yet.
    assert (third.sha, third.commit, third.branch) == (head, None, "")


def test_the_branch_of_documents_is_named(origin, repository, project):
    origin.commit({"docs/a.md": "# A\n"})
    for name in ("aaa", "zzz"):
        origin.branches[name] = origin.head
        collect(origin, make_branch(repository, name))
    collect(origin, make_branch(repository))
    take(repository, origin)
    found = origin_of(document_at(project, "docs/a.md"), 1)
    assert found is not None
    assert found.branch == "main"


def test_a_renamed_document_keeps_its_commits(collected, project):
    a = document_at(project, "docs/a.md")
    rename_document(document=a, path="else/where.md", actor=OPERATOR)
    assert subjects(commits_of(a)) == ["Change a", "Begin"]


def test_the_number_of_questions_is_fixed(origin, repository, main, project):
    many = {f"docs/{number}.md": f"# {number}\n" for number in range(30)}
    origin.commit(many)
    origin.commit({path: text + "More.\n" for path, text in many.items()})
    collect(origin, main)
    take(repository, origin)
    documents = list(project.documents.all())
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert len(commits_of(documents[0])) == 2
        assert len(asked) == 1
        assert len(last_commit_of([each.pk for each in documents])) == 30
        assert len(asked) == 3
        assert len(origins_of(list(documents[0].versions.all()))) == 1
        assert len(asked) == 6
        assert last_commit_of([]) == {}
        assert len(asked) == 6
