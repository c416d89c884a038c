"""A collection from its start to its end by the API of a host: commits, documents, people."""

import pytest

from collection.choices import RunStatus
from collection.models import Branch, Commit
from glossary_site.secrets import encrypt
from projects.models import Document
from tests.collection.factories import make_repository
from tests.collection.hosts.conftest import TOKEN
from tests.collection.working import collect

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(project, kind, url):
    return make_repository(
        project,
        kind=kind,
        address=str(url),
        secret=encrypt(TOKEN),
        branch_patterns=["*"],
        document_patterns=["docs/**/*.md"],
        default_branch="",
        state="new",
    )


def stored(branch):
    columns = ("sha", "additions", "deletions")
    rows = Commit.objects.filter(branch__name=branch, unreachable=False).order_by("sha")
    return [tuple(row) for row in rows.values_list(*columns)]


def by_git(repository, branch):
    return sorted((sha, *lines) for sha, lines in repository.numstat(branch).items())


def test_commits_and_documents_come_and_are_followed(project, repository, row, server):
    repository.commit({"docs/a.md": "# Anchor\n\nHolds.\n", "src/x.py": "x\n"})
    repository.commit({"docs/b.md": "# Berth\n"})
    repository.switch("topic", "main")
    repository.commit({"docs/a.md": "# Anchor\n\nHolds well.\n"})
    repository.switch("main")
    run = collect(project)
    assert (run.status, run.success_count, run.failed_count) == (RunStatus.COMPLETED, 2, 0)
    for branch in ("main", "topic"):
        assert stored(branch) == by_git(repository, branch)
    assert set(Document.objects.values_list("path", flat=True)) == {"docs/a.md", "docs/b.md"}

    # Merged, renamed, deleted; then continued.
    repository.merge("topic")
    repository.run("mv", "docs/b.md", "docs/quay.md")
    repository.run("commit", "-q", "-m", "Another name")
    head = repository.sha()
    run = collect(project)
    assert run.failed_count == 0
    assert stored("main") == by_git(repository, "main")
    assert Branch.objects.get(name="main").head == head
    assert "Holds well." in Document.objects.get(path="docs/a.md").content
    quay = Document.objects.get(path="docs/quay.md")
    assert quay.version == 1, "a rename is no new text"

    asked = len(server.seen)
    run = collect(project)
    assert run.new_commits == 0
    assert len(server.seen) - asked <= 2, "nothing new, and history was read again"
