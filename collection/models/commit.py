from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from collection.choices import BranchState
from collection.models.repository import Repository
from collection.querysets import CommitQuerySet

BRANCH_LENGTH = 255
SHA_LENGTH = 64
SUBJECT_LENGTH = 500
PERSON_LENGTH = 200


class Branch(models.Model):
    """A branch of a repository, and how far it has been collected."""

    repository = models.ForeignKey(
        Repository,
        on_delete=models.CASCADE,
        related_name="branches",
        db_index=False,  # branch_once begins with it
        verbose_name=_("repository"),
    )
    name = models.CharField(_("name"), max_length=BRANCH_LENGTH)
    state = models.CharField(
        _("state"), max_length=8, choices=BranchState, default=BranchState.FOLLOWED
    )
    # The checkpoint: everything that can be reached from this commit has been stored (or is older
    # than was asked for). It is written in the transaction of the rows it covers.
    head = models.CharField(_("collected up to"), max_length=SHA_LENGTH, blank=True)
    # Whether that was the end of the branch when it was last asked, or a stop on the way.
    complete = models.BooleanField(_("complete"), default=False)
    collected_at = models.DateTimeField(_("collected at"), null=True, blank=True)
    # When its history was last rewritten over there, and the head that was left behind.
    rewritten_at = models.DateTimeField(_("rewritten at"), null=True, blank=True)
    rewritten_from = models.CharField(_("rewritten from"), max_length=SHA_LENGTH, blank=True)
    created_at = models.DateTimeField(_("first seen"), auto_now_add=True)

    class Meta:
        verbose_name = _("branch")
        verbose_name_plural = _("branches")
        ordering = ("repository", "name")
        constraints = [
            models.UniqueConstraint(fields=["repository", "name"], name="branch_once"),
            models.CheckConstraint(
                condition=Q(state__in=BranchState.values), name="branch_state_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Commit(models.Model):
    """A commit as a branch has it. One that several branches have is a row in each."""

    # The branch knows it too; here it serves the statistics of a repository and finding a commit of
    # it by its sha.
    repository = models.ForeignKey(
        Repository,
        on_delete=models.CASCADE,
        related_name="commits",
        db_index=False,  # commit_once begins with it
        verbose_name=_("repository"),
    )
    branch = models.ForeignKey(
        Branch,
        on_delete=models.CASCADE,
        related_name="commits",
        db_index=False,  # commit_of_branch begins with it
        verbose_name=_("branch"),
    )
    sha = models.CharField(_("commit"), max_length=SHA_LENGTH)
    author_name = models.CharField(_("author"), max_length=PERSON_LENGTH)
    author_email = models.CharField(_("e-mail"), max_length=PERSON_LENGTH)
    committed_date = models.DateTimeField(_("committed"))
    additions = models.PositiveBigIntegerField(_("lines added"))
    deletions = models.PositiveBigIntegerField(_("lines deleted"))
    subject = models.CharField(_("subject"), max_length=SUBJECT_LENGTH, blank=True)
    # Their shas, separated by blanks.
    parents = models.TextField(_("parents"), blank=True)
    # Left behind when the history was rewritten: no longer to be reached from the branch.
    unreachable = models.BooleanField(_("no longer in the branch"), default=False)

    objects = CommitQuerySet.as_manager()

    class Meta:
        verbose_name = _("commit")
        verbose_name_plural = _("commits")
        ordering = ("-committed_date", "-pk")
        constraints = [
            # Finding a commit by its sha begins with the repository as well.
            models.UniqueConstraint(fields=["repository", "sha", "branch"], name="commit_once"),
        ]
        indexes = [
            # The checkpoint, MAX(committed_date) of a branch; its commits, newest first.
            models.Index("branch", F("committed_date").desc(), name="commit_of_branch"),
            # Statistics of a span of time.
            models.Index("repository", "committed_date", name="commit_by_date"),
        ]

    def __str__(self) -> str:
        return f"{self.short_sha} {self.subject}"

    @property
    def short_sha(self) -> str:
        return self.sha[:10]
