"""The list of repositories: what is there, what one is told of each, and for whom it is."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from collection.choices import RunStatus, State
from collection.models import BulkCollectionRun, RepositoryFile
from tests import factories
from tests.collection.factories import (
    a_sha,
    make_branch,
    make_collection,
    make_commit,
    make_commits,
    make_repository,
)
from tests.collection.views.visiting import HTMX, visit, words_of

pytestmark = pytest.mark.django_db


class TestList:
    def test_tells_how_each_stands(self, reading, project, repository):
        branch = make_branch(repository, collected_at="2026-01-05T12:00Z")
        make_commits(branch, 3)
        document = factories.make_document(project, "docs/a.md")
        RepositoryFile.objects.create(
            repository=repository, path="docs/a.md", blob=a_sha(), document=document
        )
        make_repository(
            project,
            "Ledger",
            state=State.DENIED,
            state_message="The token has ended.",
            enabled=False,
        )
        page = visit(reading, "repositories", project.pk)
        handbook, ledger = page.context["rows"]
        assert (handbook.branches, handbook.commits, handbook.documents) == (["main"], 3, 1)
        assert (ledger.branches, ledger.commits, ledger.documents) == ([], 0, 0)
        words = words_of(page.text)
        assert "Access denied" in words
        assert "The token has ended." in words
        assert "Paused" in words
        assert "not yet" in words

    def test_a_commit_of_several_branches_is_one(self, reading, project, repository):
        for name in ("main", "release/1"):
            make_commit(make_branch(repository, name), sha=a_sha("the same"))
        assert visit(reading, "repositories", project.pk).context["rows"][0].commits == 1

    def test_an_empty_one_tells_the_three_ways(self, owning, project):
        words = words_of(visit(owning, "repositories", project.pk).text)
        assert "No repositories yet" in words
        assert "By an address" in words
        assert "By GitLab or GitHub" in words
        assert f"manage.py addrepository {project.pk}" in words

    def test_whoever_cannot_add_one_is_told_who_can(self, editing, project):
        page = visit(editing, "repositories", project.pk).text
        assert "An owner of the project can add them" in page
        assert reverse("repository-add", args=[project.pk]) not in page

    def test_the_buttons_are_for_those_who_may(self, reading, editing, owning, project, repository):
        add, collect = reverse("repository-add", args=[project.pk]), 'id="collect-all"'
        seen = [
            (add in page, collect in page)
            for page in (
                visit(client, "repositories", project.pk).text
                for client in (reading, editing, owning)
            )
        ]
        assert seen == [(False, False), (False, True), (True, True)]

    def test_is_none_of_an_outsiders_business(self, sign_in, outsider, project):
        page = sign_in(outsider).get(reverse("repositories", args=[project.pk]))
        assert page.status_code == 404

    def test_of_other_projects_nothing_is_seen(self, reading, project, repository):
        make_repository(factories.make_project("Elsewhere"), "Secret plans")
        assert "Secret plans" not in visit(reading, "repositories", project.pk).text

    def test_the_filter_looks_at_names_and_addresses(self, reading, project, repository):
        make_repository(project, "Ledger", address="https://git.example.com/money.git")
        page = visit(reading, "repositories", project.pk, q="MONEY", headers=HTMX)
        assert [row.repository.name for row in page.context["rows"]] == ["Ledger"]
        assert "<html" not in page.text
        nothing = visit(reading, "repositories", project.pk, q="nowhere").text
        assert "No repository matches “nowhere”" in nothing

    def test_the_last_collected_come_first_when_asked_for(self, reading, project):
        for name, day in (("Old", "2026-01-05"), ("New", "2026-01-09"), ("Never", "")):
            made = make_repository(project, name)
            if day:
                make_branch(made, collected_at=f"{day}T12:00Z")
        page = visit(reading, "repositories", project.pk, sort="-collected")
        assert [row.repository.name for row in page.context["rows"]] == ["New", "Old", "Never"]

    def test_a_long_list_asks_no_more_of_the_database(
        self, reading, project, repository, django_assert_max_num_queries
    ):
        def fill(number: int) -> None:
            for _ in range(number):
                branch = make_branch(make_repository(project))
                make_commits(branch, 2)

        fill(20)
        make_collection(project, [(repository, "main")])
        with django_assert_max_num_queries(18):
            page = visit(reading, "repositories", project.pk)
        assert len(page.context["rows"]) == 21


class TestThoseForAll:
    def test_are_apart_and_only_to_be_read(self, owning, project, repository, shared):
        page = visit(owning, "repositories", project.pk)
        assert [row.repository for row in page.context["rows"]] == [repository]
        assert [row.repository for row in page.context["shared"]] == [shared]
        assert f'id="collect-{repository.pk}"' in page.text
        assert f'id="collect-{shared.pk}"' not in page.text

    def test_are_collected_by_those_who_may_collect_all(
        self, sign_in, viewer, project, shared, django_user_model
    ):
        viewer.user_permissions.add(Permission.objects.get(codename="collect_all"))
        client = sign_in(viewer)
        assert f'id="collect-{shared.pk}"' in visit(client, "repositories", project.pk).text
        start = reverse("collection-start", args=[project.pk])
        page = client.post(start, {"repository": shared.pk}, follow=True)
        run = BulkCollectionRun.objects.get()
        assert (run.project, run.results.get().repository) == (None, shared)
        assert page.context["run"] == run

    def test_are_collected_by_nobody_else(self, owning, project, shared):
        start = reverse("collection-start", args=[project.pk])
        assert owning.post(start, {"repository": shared.pk}).status_code == 403
        assert not BulkCollectionRun.objects.exists()


class TestTheRunningOne:
    def test_is_on_the_page_with_its_bar(self, reading, project, repository):
        run = make_collection(
            project, [(repository, "main"), (repository, "wip")], success_count=1, completed_count=1
        )
        words = visit(reading, "repositories", project.pk, headers=HTMX).text
        assert reverse("collection-run", args=[project.pk, run.pk]) in words
        assert 'aria-valuenow="1"' in words
        assert 'aria-valuetext="1 of 2, 0 failed"' in words

    def test_of_another_project_is_not(self, reading, project, repository):
        other = factories.make_project("Elsewhere")
        make_collection(other, [(make_repository(other), "main")])
        assert visit(reading, "repositories", project.pk).context["running"] is None

    def test_that_has_ended_is_not(self, reading, project, repository):
        make_collection(project, [(repository, "main")], status=RunStatus.COMPLETED)
        assert visit(reading, "repositories", project.pk).context["running"] is None


class TestOtherPages:
    def test_the_tab_is_on_every_page_of_the_project(self, reading, project):
        page = reading.get(project.get_absolute_url()).text
        assert f'id="tab-repositories" href="{reverse("repositories", args=[project.pk])}"' in page

    def test_whoever_has_no_documents_yet_is_told_of_repositories(self, owning, editing, project):
        address, add = (
            reverse("document-list", args=[project.pk]),
            reverse("repository-add", args=[project.pk]),
        )
        assert add in owning.get(address).text
        assert add not in editing.get(address).text
