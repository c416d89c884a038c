"""A branch's commits are deleted, after a look at what that means."""

import pytest
from django.urls import reverse

from collection.choices import BranchState, RunStatus
from collection.models import Commit
from collection.services.removing import preview_branch, remove_branch_commits
from glossary_site.errors import Refusal
from glossary_site.jobs.models import AuditEntry
from glossary_site.live.models import Event
from projects.access import OPERATOR
from tests.collection.factories import (
    DAY_ONE,
    a_sha,
    make_branch,
    make_collection,
    make_commit,
    make_commits,
    make_repository,
    make_touches,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def dev(repository, main):
    """Three commits that main has, too, and two of its own; one of these touched documents."""
    dev = make_branch(
        repository,
        "dev",
        head=a_sha("head"),
        complete=True,
        collected_at=DAY_ONE,
        rewritten_at=DAY_ONE,
        rewritten_from=a_sha("before"),
    )
    for number in range(3):
        for branch in (main, dev):
            make_commit(branch, sha=a_sha(f"both {number}"), committed_date=DAY_ONE)
    own = make_commits(dev, 2, author_name="Bob", additions=10, deletions=4)
    make_touches(own[0], ["docs/a.md", "docs/b.md"])
    make_touches(Commit.objects.filter(sha=a_sha("both 1")).first(), ["docs/c.md"])
    return dev


def test_the_impact_is_told_beforehand(dev):
    impact = preview_branch(dev)
    assert (impact.commits, impact.also_on_other_branches, impact.only_here) == (5, 3, 2)
    assert (impact.additions, impact.deletions) == (20, 8)
    assert (impact.authors, impact.documents_affected) == (2, 2)
    assert (impact.first, impact.last > DAY_ONE, impact.is_followed) == (DAY_ONE, True, True)


def test_they_go_and_the_checkpoint_with_them(project, main, dev, owner):
    assert remove_branch_commits(branch=dev, actor=owner).commits == 5
    dev.refresh_from_db()
    assert (dev.head, dev.complete, dev.collected_at, dev.rewritten_from) == ("", False, None, "")
    assert dev.state == BranchState.FOLLOWED
    assert Commit.objects.filter(branch=dev).count() == 0
    assert Commit.objects.filter(branch=main).count() == 3
    entry = AuditEntry.objects.get(action="remove commits")
    assert (entry.actor, entry.before["commits"]) == ("olive", 5)
    event = Event.objects.get(type="commits.removed")
    assert event.payload["branch"] == "dev"


def test_not_while_it_is_collected(project, repository, main, dev):
    run = make_collection(project, [(repository, "dev"), (repository, "HEAD")])
    for branch in (dev, main):
        with pytest.raises(Refusal) as refused:
            remove_branch_commits(branch=branch, actor=OPERATOR)
        assert (refused.value.code, refused.value.status) == ("branch_in_hand", 409)
        assert refused.value.details["run_id"] == str(run.pk)
    other = make_branch(repository, "other")
    remove_branch_commits(branch=other, actor=OPERATOR)
    run.results.all().delete()
    make_collection(project, [(repository, "dev")], status=RunStatus.CANCELLED)
    assert remove_branch_commits(branch=dev, actor=OPERATOR).commits == 5


def test_stop_following(repository, dev):
    def stop():
        return remove_branch_commits(branch=dev, actor=OPERATOR, stop_following=True)

    # The default branch alone is asked for, or a pattern that it matches.
    for patterns in (["dev"], ["main", "d*"]):
        type(repository).objects.filter(pk=repository.pk).update(branch_patterns=patterns)
        with pytest.raises(Refusal) as refused:
            stop()
        assert refused.value.code == "branch_wanted"
    assert Commit.objects.filter(branch=dev).count() == 5
    type(repository).objects.filter(pk=repository.pk).update(branch_patterns=["main", "dev"])
    stop()
    repository.refresh_from_db()
    dev.refresh_from_db()
    assert (repository.branch_patterns, dev.state) == (["main"], BranchState.LEFT_OUT)


class TestPage:
    @pytest.fixture
    def address(self, project, repository, dev):
        return reverse("branch-remove", args=[project.pk, repository.pk, dev.pk])

    def test_preview_then_deed(self, sign_in, owner, project, repository, dev, address):
        client = sign_in(owner)
        page = client.get(address)
        assert "Delete 5 commits" in page.text
        assert page.context["impact"].only_here == 2
        assert Commit.objects.filter(branch=dev).count() == 5
        done = client.post(address)
        assert done.url == reverse("repository", args=[project.pk, repository.pk])
        assert Commit.objects.filter(branch=dev).count() == 0

    def test_a_refusal_is_said_there(self, sign_in, owner, project, repository, dev, address):
        make_collection(project, [(repository, "dev")])
        page = sign_in(owner).post(address)
        assert page.status_code == 409
        assert "being collected" in page.text

    def test_for_owners_only(self, sign_in, editing, outsider, address):
        assert editing.get(address).status_code == 403
        assert editing.post(address).status_code == 403
        assert sign_in(outsider).get(address).status_code == 404

    def test_a_repository_of_all_is_the_operators(self, sign_in, owner, superuser, project):
        shared = make_repository(None, "shared")
        branch = make_branch(shared)
        make_commit(branch)
        address = reverse("branch-remove", args=[project.pk, shared.pk, branch.pk])
        assert sign_in(owner).post(address).status_code == 403
        assert sign_in(superuser).post(address).status_code == 302
        assert not branch.commits.exists()

    def test_only_branches_of_the_repository(self, sign_in, owner, project, repository):
        elsewhere = make_branch(make_repository(project, "other"))
        address = reverse("branch-remove", args=[project.pk, repository.pk, elsewhere.pk])
        assert sign_in(owner).get(address).status_code == 404
