from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from glossary_site.people.models import User
from projects.choices import Format, Source
from projects.models.project import Project
from projects.querysets import DocumentQuerySet


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
