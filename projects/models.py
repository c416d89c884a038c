from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from glossary_site.people.models import User
from projects.choices import Format, Language, Role, Source
from projects.querysets import DocumentQuerySet, ProjectQuerySet

NAME_LENGTH = 120
DESCRIPTION_LENGTH = 500


class Project(models.Model):
    """A set of documents and the glossary that a team makes of them."""

    STREAM_PREFIX = "project:"

    name = models.CharField(_("name"), max_length=NAME_LENGTH)
    description = models.CharField(_("description"), max_length=DESCRIPTION_LENGTH, blank=True)
    language = models.CharField(
        _("main language"), max_length=2, choices=Language, default=Language.ENGLISH
    )
    members = models.ManyToManyField(User, through="Membership", related_name="projects")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        verbose_name = _("project")
        verbose_name_plural = _("projects")
        ordering = (Lower("name"), "pk")
        constraints = [
            # The site belongs to one team, and a name means one project to all of it.
            models.UniqueConstraint(Lower("name"), name="project_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="project_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("project", args=[self.pk])

    @property
    def stream(self) -> str:
        """The name of its live feed, and the scope of its background work."""
        return f"{self.STREAM_PREFIX}{self.pk}"


class Membership(models.Model):
    """A person's role in a project."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="memberships",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("project"),
    )
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("user")
    )
    role = models.CharField(_("role"), max_length=10, choices=Role, default=Role.VIEWER)
    created_at = models.DateTimeField(_("joined"), auto_now_add=True)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        ordering = ("project", "user")
        constraints = [
            # Also the index for "this person's role in this project", asked on every request.
            models.UniqueConstraint(fields=["project", "user"], name="member_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="member_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.project} · {self.get_role_display()}"


class Document(models.Model):
    """A document as it is now: its path in the project and its text as Markdown."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="documents",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("project"),
    )
    path = models.CharField(_("path"), max_length=1000)
    title = models.CharField(_("title"), max_length=200)
    content = models.TextField(_("text"))
    file_hash = models.CharField(_("SHA-256"), max_length=64)
    byte_size = models.PositiveBigIntegerField(_("size"))
    format = models.CharField(_("format"), max_length=10, choices=Format)
    source = models.CharField(_("source"), max_length=10, choices=Source)
    # The number of its newest DocumentVersion.
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("added at"), auto_now_add=True)
    # When the text last changed; a rename does not touch it.
    updated_at = models.DateTimeField(_("changed"))

    objects = DocumentQuerySet.as_manager()

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ("path", "pk")
        constraints = [
            # Also the index for the list of a project by path, and for finding one by its path.
            models.UniqueConstraint(fields=["project", "path"], name="document_path_once"),
            models.CheckConstraint(condition=~Q(path=""), name="document_has_a_path"),
        ]
        indexes = [
            # The list of a project by what changed last.
            models.Index("project", F("updated_at").desc(), name="document_recent"),
        ]

    def __str__(self) -> str:
        return self.path

    def get_absolute_url(self) -> str:
        return reverse("document", args=[self.project_id, self.pk])


class DocumentVersion(models.Model):
    """The text of a document at one time, the present one included. Never changed."""

    document = models.ForeignKey(
        Document,
        on_delete=models.CASCADE,
        related_name="versions",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("document"),
    )
    number = models.PositiveIntegerField(_("version"))
    content = models.TextField(_("text"))
    file_hash = models.CharField(_("SHA-256"), max_length=64)
    byte_size = models.PositiveBigIntegerField(_("size"))
    format = models.CharField(_("format"), max_length=10, choices=Format)
    source = models.CharField(_("source"), max_length=10, choices=Source)
    author = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("author"),
    )
    created_at = models.DateTimeField(_("time"))

    class Meta:
        verbose_name = _("document version")
        verbose_name_plural = _("document versions")
        ordering = ("document", "-number")
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="version_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.document} v{self.number}"
