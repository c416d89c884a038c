from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models import Document, Project

PATH_LENGTH = 1000


class FolderSource(models.Model):
    """A folder on the machine whose documents a project follows."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="folder_sources",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("project"),
    )
    directory = models.CharField(_("folder"), max_length=PATH_LENGTH)
    # Lines as in .gitignore. Nothing to include: every file that can be read.
    include = models.TextField(_("include"), blank=True)
    exclude = models.TextField(_("exclude"), blank=True)
    # Followed by the workers; one that is not is followed by `watchdocs` only.
    enabled = models.BooleanField(_("followed"), default=False)
    # Who follows it now: one process at a time.
    holder = models.CharField(_("holder"), max_length=200, blank=True)
    lease_until = models.DateTimeField(_("lease until"), null=True, blank=True)
    reconciled_at = models.DateTimeField(_("compared at"), null=True, blank=True)
    changed_at = models.DateTimeField(_("last change"), null=True, blank=True)
    # Why it cannot be followed, in words; empty while it can.
    error = models.TextField(_("error"), blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("folder source")
        verbose_name_plural = _("folder sources")
        ordering = ("project", "directory")
        constraints = [
            models.UniqueConstraint(fields=["project", "directory"], name="folder_once"),
        ]

    def __str__(self) -> str:
        return self.directory


class FolderFile(models.Model):
    """A file as it was when it was last read: what makes a change, a deletion or a rename visible
    that happened while nobody looked."""

    source = models.ForeignKey(
        FolderSource,
        on_delete=models.CASCADE,
        related_name="files",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("folder source"),
    )
    # Relative to the folder.
    path = models.CharField(_("path"), max_length=PATH_LENGTH)
    # None for a file that was refused from the beginning.
    document = models.ForeignKey(
        Document,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("document"),
    )
    size = models.PositiveBigIntegerField(_("size"))
    modified_ns = models.BigIntegerField(_("modified"))
    content_hash = models.CharField(_("SHA-256"), max_length=64)
    error = models.TextField(_("error"), blank=True)

    class Meta:
        verbose_name = _("followed file")
        verbose_name_plural = _("followed files")
        ordering = ("source", "path")
        constraints = [
            models.UniqueConstraint(fields=["source", "path"], name="followed_file_once"),
        ]

    def __str__(self) -> str:
        return self.path
