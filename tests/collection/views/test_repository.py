"""The page of one repository, and what is done from it."""

import pytest
from django.urls import reverse

from collection.choices import BranchState, ResultStatus, RunStatus, State
from collection.models import Branch, BulkCollectionRun, Commit, Repository, RepositoryFile
from collection.origins.data import OriginProblem
from glossary_site.secrets import encrypt
from projects.access import OPERATOR
from projects.choices import Source
from projects.models import Document
from projects.services.documents import store_document
from tests import factories
from tests.collection.factories import (
    a_sha,
    make_branch,
    make_collection,
    make_commits,
    make_repository,
)
from tests.collection.views.visiting import HTMX, part, send, visit, words_of

pytestmark = pytest.mark.django_db


def page_of(client, project, repository, **options):
    return visit(client, "repository", project.pk, repository.pk, **options)


@pytest.fixture
def document(project, repository) -> Document:
    """That came from the repository."""
    stored = store_document(
        project=project, path="docs/a.md", content="# A\n", source=Source.GIT, actor=OPERATOR
    )
    document = Document.objects.get(pk=stored.document_id)
    RepositoryFile.objects.create(
        repository=repository, path="docs/a.md", blob=a_sha(), document=document
    )
    return document


class TestPage:
    def test_its_branches_and_how_far_each_is(self, reading, project, repository):
        head, left = a_sha(), a_sha()
        main = make_branch(
            repository,
            head=head,
            complete=True,
            collected_at="2026-01-05T12:00Z",
            rewritten_at="2026-01-05T12:00Z",
            rewritten_from=left,
        )
        make_commits(main, 2)
        make_branch(repository, "gone", state=BranchState.GONE)
        page = page_of(reading, project, repository)
        words = words_of(page.text)
        assert [(branch.name, count) for branch, count in page.context["rows"]] == [
            ("gone", 0),
            ("main", 2),
        ]
        assert head[:10] in words
        assert f"it was at {left[:10]} before" in words
        assert "Deleted" in words
        assert f"?repository={repository.pk}&amp;branch=main" in page.text

    def test_a_branch_with_odd_letters_is_linked_whole(self, reading, project, repository):
        make_branch(repository, "feature/50%&more")
        assert "branch=feature%2F50%25%26more" in page_of(reading, project, repository).text

    def test_documents_and_the_files_that_were_refused(self, reading, project, document):
        repository = Repository.objects.get()
        repository.document_patterns = ["docs/**/*.md"]
        repository.documents_error = "Two files want the same path."
        repository.save()
        RepositoryFile.objects.create(
            repository=repository, path="docs/big.pdf", blob=a_sha(), error="It is too large."
        )
        words = words_of(page_of(reading, project, repository).text)
        assert "docs/**/*.md" in words
        assert "Two files want the same path." in words
        assert "1 file was refused" in words
        assert "docs/big.pdf It is too large." in words

    def test_its_part_in_the_last_collections(self, reading, project, repository):
        run = make_collection(
            project,
            [(repository, "main")],
            status=RunStatus.COMPLETED,
            failed_count=1,
            success_count=0,
            completed_count=0,
        )
        run.results.update(status=ResultStatus.FAILED, error_message="The host is asleep.")
        page = page_of(reading, project, repository).text
        assert "The host is asleep." in page
        assert reverse("collection-run", args=[project.pk, run.pk]) in page

    def test_what_is_wrong_is_told_in_words(self, reading, project):
        broken = make_repository(project, state=State.NOT_FOUND, state_message="Nothing is there.")
        words = words_of(page_of(reading, project, broken).text)
        assert "Not found" in words
        assert "Nothing is there." in words

    def test_its_key_is_never_on_it(self, owning, project, repository):
        repository.secret = encrypt("s3cr3t-token")
        repository.save()
        page = page_of(owning, project, repository).text
        assert "a stored key" in page
        assert "s3cr3t-token" not in page
        assert repository.secret not in page

    @pytest.mark.parametrize("name", ["repository-head", "results", "repository-recent"])
    def test_its_parts_are_the_same_alone(self, reading, project, repository, name):
        make_branch(repository)
        whole = page_of(reading, project, repository)
        alone = page_of(reading, project, repository, headers=part(name))
        assert "<html" not in alone.text
        assert f'id="{name}"' in alone.text
        assert words_of(alone.text).strip() in words_of(whole.text)
        assert "HX-Target" in alone.headers["Vary"]

    def test_is_not_of_another_project(self, reading, project):
        other = make_repository(factories.make_project("Elsewhere"))
        answer = reading.get(reverse("repository", args=[project.pk, other.pk]))
        assert answer.status_code == 404

    def test_many_branches_ask_no_more_of_the_database(
        self, owning, project, repository, django_assert_max_num_queries
    ):
        Branch.objects.bulk_create(
            Branch(repository=repository, name=f"topic/{n:02}") for n in range(40)
        )
        make_collection(project, [(repository, f"topic/{n:02}") for n in range(40)])
        with django_assert_max_num_queries(22):
            page_of(owning, project, repository)


class TestDeeds:
    @pytest.mark.parametrize("deed", ["edit", "remove"])
    def test_pages_are_for_owners(self, reading, editing, owning, project, repository, deed):
        address = reverse(f"repository-{deed}", args=[project.pk, repository.pk])
        assert [client.get(address).status_code for client in (reading, editing, owning)] == [
            403,
            403,
            200,
        ]

    @pytest.mark.parametrize("deed", ["edit", "remove", "test", "enable"])
    def test_and_so_are_deeds(self, sign_in, editing, outsider, project, repository, deed):
        address = reverse(f"repository-{deed}", args=[project.pk, repository.pk])
        assert editing.post(address).status_code == 403
        assert sign_in(outsider).post(address).status_code == 404
        assert Repository.objects.filter(pk=repository.pk, enabled=True).exists()

    @pytest.mark.parametrize("deed", ["edit", "remove", "test", "enable"])
    def test_of_those_for_all_for_operators(self, owning, project, shared, deed):
        address = reverse(f"repository-{deed}", args=[project.pk, shared.pk])
        assert owning.post(address).status_code == 403

    def test_an_operator_does_them_from_any_project(self, operating, project, shared):
        send(operating, "repository-enable", project.pk, shared.pk, enabled="no")
        assert not Repository.objects.get().enabled

    def test_pausing_and_going_on(self, owning, project, repository):
        paused = send(owning, "repository-enable", project.pk, repository.pk, enabled="no")
        assert "It is paused." in paused.text
        assert not Repository.objects.get().enabled
        going = send(owning, "repository-enable", project.pk, repository.pk, enabled="yes")
        assert "It is collected again" in going.text
        assert Repository.objects.get().enabled

    def test_collecting_it_alone(self, editing, project, repository):
        make_repository(project, "Ledger")
        page = send(editing, "collection-start", project.pk, repository=repository.pk)
        run = BulkCollectionRun.objects.get()
        assert page.context["run"] == run
        assert (run.project, run.triggered_by, run.actor.username) == (project, "web", "edda")
        assert [result.repository for result in run.results.all()] == [repository]

    def test_testing_lists_what_would_be_followed(self, owning, project, repository, origin):
        repository.branch_patterns = ["main", "release/*"]
        repository.save()
        answer = send(owning, "repository-test", project.pk, repository.pk, headers=HTMX)
        words = words_of(answer.text)
        assert "<html" not in answer.text
        assert "It answers" in words
        assert "It has 3 branches." in words
        assert "main followed" in words
        assert "release/1 followed" in words
        assert "wip not followed" in words
        assert repository.branches.count() == 2
        # What the page shows of it is fetched anew.
        assert "live:repositories" in answer.headers["HX-Trigger-After-Settle"]

    def test_testing_without_script(self, owning, project, repository, origin):
        answer = send(owning, "repository-test", project.pk, repository.pk)
        assert "Ready. 1 branch is followed." in words_of(answer.text)

    def test_testing_says_what_is_wrong(self, owning, project, repository, origin):
        origin.problems["heads"] = OriginProblem(State.DENIED, "The token has ended.")
        answer = send(owning, "repository-test", project.pk, repository.pk, headers=HTMX)
        words = words_of(answer.text)
        assert "It does not work" in words
        assert "Access denied" in words
        assert "The token has ended." in words


class TestRemoving:
    def test_says_first_what_goes(self, owning, project, repository, document):
        make_commits(make_branch(repository), 3)
        words = words_of(visit(owning, "repository-remove", project.pk, repository.pk).text)
        assert "3 commits, and what the statistics say of them" in words
        assert "1 branch" in words
        assert "1 document came from it. It stays in the project" in words
        assert Repository.objects.exists()

    def test_leaves_the_documents(self, owning, project, repository, document):
        make_commits(make_branch(repository), 3)
        page = send(owning, "repository-remove", project.pk, repository.pk)
        assert "“Handbook” is removed, with its commits." in page.text
        assert not Repository.objects.exists()
        assert not Commit.objects.exists()
        assert Document.objects.get() == document

    def test_takes_them_when_it_is_ticked(self, owning, project, repository, document):
        page = send(owning, "repository-remove", project.pk, repository.pk, delete_documents="yes")
        assert "1 document was deleted with it." in words_of(page.text)
        assert not Document.objects.exists()

    def test_but_not_what_was_here_before(self, owning, project, repository, document):
        before = factories.make_document(project, "docs/before.md")
        RepositoryFile.objects.create(
            repository=repository, path="docs/before.md", blob=a_sha(), document=before
        )
        send(owning, "repository-remove", project.pk, repository.pk, delete_documents="yes")
        assert Document.objects.get() == before
