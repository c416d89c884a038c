"""A branch's commits are deleted: what that means beforehand, and the deed."""

from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, Sum
from django.utils.translation import gettext as _

from collection import repository_news
from collection.choices import DEFAULT_BRANCH, BranchState, RunStatus
from collection.identities import Identity, People
from collection.models import Branch, BulkCollectionResult, Commit, CommitPath
from collection.services.branches import Wanted, followed_by, lock_repository
from glossary_site.errors import Refusal
from glossary_site.jobs.services import audit
from glossary_site.live.services import publish
from projects.access import Actor, name_of

REMOVED = "commits.removed"


@dataclass(frozen=True)
class Impact:
    """What goes with the commits of a branch."""

    commits: int
    # Of them, those that stay in the statistics because another branch has them.
    also_on_other_branches: int
    # Lines of those that no other branch has.
    additions: int
    deletions: int
    # Persons, and when their first and last commit of the branch was.
    authors: int
    first: datetime | None
    last: datetime | None
    # Documents that keep their text and lose commits from their history.
    documents_affected: int
    # Whether the next collection brings them back.
    is_followed: bool

    @property
    def only_here(self) -> int:
        return self.commits - self.also_on_other_branches


def preview_branch(branch: Branch) -> Impact:
    commits = Commit.objects.filter(branch=branch)
    elsewhere = Exists(
        Commit.objects.filter(repository_id=OuterRef("repository_id"), sha=OuterRef("sha")).exclude(
            branch_id=branch.pk
        )
    )
    only_here = commits.filter(~elsewhere).order_by()
    whole = commits.aggregate(
        commits=Count("pk"), first=Min("committed_date"), last=Max("committed_date")
    )
    going = only_here.aggregate(
        commits=Count("pk"), additions=Sum("additions"), deletions=Sum("deletions")
    )
    touched = CommitPath.objects.filter(
        repository_id=branch.repository_id, sha__in=only_here.values("sha")
    )
    return Impact(
        commits=whole["commits"],
        also_on_other_branches=whole["commits"] - going["commits"],
        additions=going["additions"] or 0,
        deletions=going["deletions"] or 0,
        authors=_persons(branch),
        first=whole["first"],
        last=whole["last"],
        documents_affected=touched.order_by().values("path").distinct().count(),
        is_followed=branch.state == BranchState.FOLLOWED and branch.repository.enabled,
    )


def _persons(branch: Branch) -> int:
    names = Commit.objects.filter(branch=branch).order_by()
    found = {Identity(*row) for row in names.values_list("author_name", "author_email").distinct()}
    project = branch.repository.project
    if project is None:
        return len(found)
    people = People.of(project)
    return len({people.person(identity) for identity in found})


@transaction.atomic
def remove_branch_commits(*, branch: Branch, actor: Actor, stop_following: bool = False) -> Impact:
    """In one transaction with the checkpoint, which goes back to the beginning: a branch that is
    still followed is collected anew, as a whole. Returns what went."""
    repository = lock_repository(branch.repository)
    row = Branch.objects.filter(pk=branch.pk).first()
    if row is None:
        raise Refusal("branch_gone", _("The branch was removed meanwhile."), status=404)
    row.repository = repository
    _is_not_in_hand(row)
    impact = preview_branch(row)
    if stop_following:
        _stop_following(row)
    # Nothing refers to a commit, so this is one statement however many there are.
    Commit.objects.filter(branch=row).delete()
    row.head, row.complete, row.collected_at = "", False, None
    row.rewritten_at, row.rewritten_from = None, ""
    row.save()
    audit.record(
        name_of(actor) or audit.SITE,
        "remove commits",
        row,
        before={"repository": repository.name, "branch": row.name, **asdict(impact)},
        after={"state": row.state, "follows": repository.branch_patterns},
    )
    repository_news.hint(repository)
    if repository.project is not None:
        publish(
            repository.project.stream,
            REMOVED,
            {
                "by": name_of(actor),
                "repository": repository.name,
                "branch": row.name,
                "commits": impact.commits,
            },
        )
    return impact


def _is_not_in_hand(branch: Branch) -> None:
    """A collection that is at it would write on behind the deleted ones. It locks the repository
    before it writes, as we do."""
    names = Q(branch_name=branch.name)
    if branch.name == branch.repository.default_branch:
        names |= Q(branch_name=DEFAULT_BRANCH)
    pending = BulkCollectionResult.objects.pending().filter(names, repository=branch.repository)
    running = pending.filter(run__status=RunStatus.RUNNING).first()
    if running is not None:
        raise Refusal(
            "branch_in_hand",
            _("The branch is being collected. Stop the collection, or wait for its end."),
            run_id=str(running.run_id),
        )


def _stop_following(branch: Branch) -> None:
    """Its name is taken out of those to follow; where a pattern or the documents ask for it, or it
    is the default branch of a repository that names none, it would be followed again."""
    if branch.state != BranchState.FOLLOWED:
        return
    repository = branch.repository
    before = repository.branch_patterns
    repository.branch_patterns = left = [name for name in before if name != branch.name]
    if not left or Wanted(followed_by(repository), repository.default_branch)(branch.name):
        raise Refusal(
            "branch_wanted",
            _(
                "The branches that “%(repository)s” follows include this one: change them first, "
                "or pause the repository."
            )
            % {"repository": repository.name},
        )
    if left != before:
        repository.save(update_fields=["branch_patterns", "updated_at"])
    branch.state = BranchState.LEFT_OUT
