"""What the pages of documents and terms say of commits."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from collection.models import Commit
from tests.collection.documents.taken import collect, document_at, take
from tests.collection.factories import make_branch
from tests.factories import make_document, make_project, make_term


@pytest.fixture
def main(repository):
    return make_branch(repository)


@pytest.fixture
def document(origin, repository, main, project):
    origin.commit({"docs/a.md": "# Anchor\n\nHolds.\n"}, subject="Begin with <b>the</b> anchor")
    origin.commit({"docs/b.md": "# Berth\n"}, subject="Berths")
    collect(origin, main)
    take(repository, origin)
    return document_at(project, "docs/a.md")


def page(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_of_a_document_shows_its_commits(document, repository, viewer, sign_in):
    shown = page(sign_in(viewer), document.get_absolute_url())
    touched = Commit.objects.get(subject__startswith="Begin")
    head = Commit.objects.get(subject="Berths")
    assert "Begin with &lt;b&gt;the&lt;/b&gt; anchor" in shown
    assert "Ada Lovelace" in shown
    assert reverse("commit", args=[document.project_id, touched.pk]) in shown
    # The text came with the head, which touched another file.
    assert (
        f'commit <a class="mono" href="{reverse("commit", args=[document.project_id, head.pk])}">'
        f'{head.short_sha}</a> on branch main of <a href="{repository.get_absolute_url()}">'
    ) in shown
    assert "All commits" not in shown


def test_many_commits_lead_to_a_list(origin, repository, main, document, viewer, sign_in):
    for number in range(8):
        origin.commit({"docs/a.md": f"# Anchor {number}\n"}, subject=f"Change {number}")
    collect(origin, main)
    take(repository, origin)
    shown = page(sign_in(viewer), document.get_absolute_url())
    assert [f"Change {number}" in shown for number in range(8)] == [False] * 3 + [True] * 5
    address = f"{reverse('commits', args=[document.project_id])}?repository={repository.pk}"
    assert f'href="{address}&amp;path=docs%2Fa.md">All commits</a>' in shown
    listed = page(sign_in(viewer), f"{address}&path=docs%2Fa.md")
    assert all(f"Change {number}" in listed for number in range(8))
    assert "Berths" not in listed


def test_a_document_from_elsewhere_says_nothing(document, project, viewer, sign_in):
    other = make_document(project, "notes/x.md")
    shown = page(sign_in(viewer), other.get_absolute_url())
    assert "Commits" not in shown.split("<main", 1)[1]
    assert "on branch" not in shown


def test_history_and_versions_name_their_commits(origin, repository, document, viewer, sign_in):
    origin.commit({"docs/a.md": "# Anchor\n\nOf iron.\n"})
    take(repository, origin)
    client = sign_in(viewer)
    shown = page(client, reverse("document-history", args=[document.project_id, document.pk]))
    assert "on branch main of" in shown
    # Taken, but its commit is not collected yet.
    assert f'commit <span class="mono">{origin.head[:10]}</span> of' in shown
    shown = page(client, reverse("document-version", args=[document.project_id, document.pk, 1]))
    assert "on branch main of" in shown


def test_a_term_says_by_which_commit_it_last_changed(document, project, viewer, sign_in):
    b = document_at(project, "docs/b.md")
    term = make_term(project, "anchor")
    client = sign_in(viewer)
    assert "Last changed by commit" not in page(client, term.get_absolute_url())

    term.occurrences = [[document.pk, 1, 1], [document.pk, 3, 2], [b.pk, 1, 1], [999_999, 1, 1]]
    term.save()
    shown = page(client, term.get_absolute_url())
    head = Commit.objects.get(subject="Berths")
    assert "Last changed by commit" in shown
    assert reverse("commit", args=[project.pk, head.pk]) in shown
    assert f'href="{b.get_absolute_url()}">docs/b.md</a>' in shown

    # In a part of the page that is asked for alone, it is not looked up.
    part = client.get(f"{term.get_absolute_url()}?page=1", headers={"HX-Request": "true"})
    assert "Last changed" not in part.content.decode()


def test_a_document_of_another_project_is_not_named(document, outsider, sign_in):
    elsewhere = make_project(owner=outsider)
    term = make_term(elsewhere, "anchor")
    term.occurrences = [[document.pk, 1, 1]]
    term.save()
    assert "docs/a.md" not in page(sign_in(outsider), term.get_absolute_url())


def test_the_number_of_questions_does_not_grow(origin, repository, main, document, viewer, sign_in):
    client = sign_in(viewer)
    term = make_term(document.project, "anchor")
    term.occurrences = [[document.pk, 1, 1]]
    term.save()
    addresses = [
        document.get_absolute_url(),
        reverse("document-history", args=[document.project_id, document.pk]),
        term.get_absolute_url(),
    ]

    def asked() -> list[int]:
        counts = []
        for address in addresses:
            page(client, address)
            with CaptureQueriesContext(connection) as queries:
                page(client, address)
            counts.append(len(queries))
        return counts

    before = asked()
    for number in range(4):
        origin.commit({"docs/a.md": f"# Anchor {number}\n", f"docs/new{number}.md": "# New\n"})
        collect(origin, main)
        take(repository, origin)
    term.occurrences = [
        [pk, 1, 1] for pk in document.project.documents.values_list("pk", flat=True)
    ]
    term.save()
    assert asked() == before
