from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from collection.choices import Kind, State
from collection.querysets import RepositoryQuerySet
from glossary_site.people.models import User
from projects.models import Project

ADDRESS_LENGTH = 1000


class Repository(models.Model):
    """A repository whose commits are collected, and whose documents come into its project."""

    # None: added by an operator for all projects, which see its commits and statistics.
    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="repositories",
        db_index=False,  # repository_once begins with it
        verbose_name=_("project"),
    )
    name = models.CharField(_("name"), max_length=200)
    kind = models.CharField(_("kind"), max_length=6, choices=Kind)
    # A folder of this machine, or an address in its one spelling.
    address = models.CharField(_("address"), max_length=ADDRESS_LENGTH)
    # The name beside a token over https; most hosts take any.
    username = models.CharField(_("user name"), max_length=200, blank=True)
    # A token, a password or a private key, encrypted; it goes in and never comes out.
    secret = models.TextField(_("secret, encrypted"), blank=True)
    # The host's own key, as it was when it was first met (ssh).
    host_keys = models.TextField(_("host keys"), blank=True)
    # Names and patterns ("main", "release/*"); none: the default branch.
    branch_patterns = models.JSONField(_("branches"), default=list, blank=True)
    # Commits before this are not collected.
    since = models.DateTimeField(_("collected since"), null=True, blank=True)
    # Globs of the files that become documents ("docs/**/*.md"); none: commits only.
    document_patterns = models.JSONField(_("document paths"), default=list, blank=True)
    # The folder of the project that they come into; empty: their own paths.
    document_folder = models.CharField(_("folder for documents"), max_length=500, blank=True)
    # The branch they are read from; empty: the default branch.
    document_branch = models.CharField(_("branch of documents"), max_length=255, blank=True)
    enabled = models.BooleanField(_("collected"), default=True)

    # What was found when it was last asked.
    state = models.CharField(_("state"), max_length=11, choices=State, default=State.NEW)
    state_message = models.TextField(_("what was found"), blank=True)
    default_branch = models.CharField(_("default branch"), max_length=255, blank=True)
    checked_at = models.DateTimeField(_("last asked"), null=True, blank=True)
    # The commit whose documents are in the project, and the wish that they answer: see
    # `services/documents`. Empty when there is something to be done.
    documents_head = models.CharField(_("commit of documents"), max_length=64, blank=True)
    documents_key = models.CharField(_("wish of documents"), max_length=64, blank=True)
    documents_at = models.DateTimeField(_("documents taken"), null=True, blank=True)
    documents_error = models.TextField(_("trouble with documents"), blank=True)

    added_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("added by"),
    )
    created_at = models.DateTimeField(_("added at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed at"), auto_now=True)

    objects = RepositoryQuerySet.as_manager()

    class Meta:
        verbose_name = _("repository")
        verbose_name_plural = _("repositories")
        ordering = ("name", "pk")
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="repository_kind_known"),
            models.CheckConstraint(
                condition=Q(state__in=State.values), name="repository_state_known"
            ),
            # Also the index for the list of a project.
            models.UniqueConstraint(fields=["project", "address"], name="repository_once"),
            models.UniqueConstraint(
                fields=["address"],
                condition=Q(project__isnull=True),
                name="repository_once_for_all",
            ),
            # Documents need a project to come into.
            models.CheckConstraint(
                condition=Q(project__isnull=False) | Q(document_patterns=[]),
                name="repository_documents_in_project",
            ),
        ]
        permissions = [("collect_all", _("Can collect all repositories"))]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        if self.project_id is None:
            return reverse("admin:collection_repository_change", args=[self.pk])
        return reverse("repository", args=[self.project_id, self.pk])
