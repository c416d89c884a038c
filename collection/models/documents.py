from django.db import models
from django.utils.translation import gettext_lazy as _

from collection.models.commit import SHA_LENGTH
from collection.models.repository import Repository
from projects.models import Document

PATH_LENGTH = 1000


class RepositoryFile(models.Model):
    """A file as it was when it was last read: what makes a change, a deletion or a rename visible
    to the next collection."""

    repository = models.ForeignKey(
        Repository,
        on_delete=models.CASCADE,
        related_name="files",
        db_index=False,  # repository_file_once begins with it
        verbose_name=_("repository"),
    )
    path = models.CharField(_("path"), max_length=PATH_LENGTH)
    # What git calls the content.
    blob = models.CharField(_("blob"), max_length=SHA_LENGTH)
    # None for a file that was refused, or whose document a person has deleted.
    document = models.ForeignKey(
        Document,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("document"),
    )
    error = models.TextField(_("error"), blank=True)

    class Meta:
        verbose_name = _("file of a repository")
        verbose_name_plural = _("files of repositories")
        ordering = ("repository", "path")
        constraints = [
            models.UniqueConstraint(fields=["repository", "path"], name="repository_file_once"),
        ]

    def __str__(self) -> str:
        return self.path


class VersionOrigin(models.Model):
    """The commit that a version of a document came from."""

    document = models.ForeignKey(
        Document,
        on_delete=models.CASCADE,
        related_name="origins",
        db_index=False,  # version_origin_once begins with it
        verbose_name=_("document"),
    )
    version = models.PositiveIntegerField(_("version"))
    repository = models.ForeignKey(
        Repository, on_delete=models.CASCADE, related_name="+", verbose_name=_("repository")
    )
    # The head it was read at; the commits that touched the path are in `CommitPath`.
    sha = models.CharField(_("commit"), max_length=SHA_LENGTH)
    path = models.CharField(_("path"), max_length=PATH_LENGTH)

    class Meta:
        verbose_name = _("origin of a version")
        verbose_name_plural = _("origins of versions")
        ordering = ("document", "-version")
        constraints = [
            models.UniqueConstraint(fields=["document", "version"], name="version_origin_once"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} · {self.version} · {self.sha[:10]}"


class CommitPath(models.Model):
    """That a commit touched a file that is, or was, a document."""

    repository = models.ForeignKey(
        Repository,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,  # commit_path_once begins with it
        verbose_name=_("repository"),
    )
    path = models.CharField(_("path"), max_length=PATH_LENGTH)
    sha = models.CharField(_("commit"), max_length=SHA_LENGTH)

    class Meta:
        verbose_name = _("path of a commit")
        verbose_name_plural = _("paths of commits")
        ordering = ("repository", "path", "pk")
        constraints = [
            # Also the index for the commits that touched a path.
            models.UniqueConstraint(fields=["repository", "path", "sha"], name="commit_path_once"),
        ]
        indexes = [
            # The documents that a commit touched.
            models.Index("repository", "sha", name="commit_path_by_sha"),
        ]

    def __str__(self) -> str:
        return f"{self.sha[:10]} {self.path}"
