from django.db import models
from django.utils.translation import gettext_lazy as _

from collection.models.commit import PERSON_LENGTH
from collection.models.repository import Repository
from glossary_site.people.models import User
from projects.models import Project


class Author(models.Model):
    """One person behind several names or addresses in the commits."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="authors",
        db_index=False,  # author_once begins with it
        verbose_name=_("project"),
    )
    name = models.CharField(_("name"), max_length=PERSON_LENGTH)
    email = models.CharField(_("e-mail"), max_length=PERSON_LENGTH)

    class Meta:
        verbose_name = _("author")
        verbose_name_plural = _("authors")
        ordering = ("name", "pk")
        constraints = [
            models.UniqueConstraint(fields=["project", "name", "email"], name="author_once"),
        ]

    def __str__(self) -> str:
        return self.name


class AuthorAlias(models.Model):
    """A name and address as commits have it, and the person it stands for."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,  # author_alias_once begins with it
        verbose_name=_("project"),
    )
    author = models.ForeignKey(
        Author, on_delete=models.CASCADE, related_name="aliases", verbose_name=_("author")
    )
    name = models.CharField(_("name"), max_length=PERSON_LENGTH)
    email = models.CharField(_("e-mail"), max_length=PERSON_LENGTH)
    # The repository whose mail map says so; None where a person does, who wins over mail maps.
    repository = models.ForeignKey(
        Repository,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("mail map of"),
    )

    class Meta:
        verbose_name = _("other name of an author")
        verbose_name_plural = _("other names of authors")
        ordering = ("author", "name", "email")
        constraints = [
            models.UniqueConstraint(fields=["project", "name", "email"], name="author_alias_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


class SavedFilter(models.Model):
    """A view of the statistics under a name, for everybody in the project."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="statistics_filters",
        db_index=False,  # saved_filter_once begins with it
        verbose_name=_("project"),
    )
    name = models.CharField(_("name"), max_length=100)
    # As it stands in the address.
    query = models.JSONField(_("filter"), default=dict)
    made_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("made by"),
    )
    created_at = models.DateTimeField(_("made at"), auto_now_add=True)

    class Meta:
        verbose_name = _("saved filter")
        verbose_name_plural = _("saved filters")
        ordering = ("name", "pk")
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="saved_filter_once"),
        ]

    def __str__(self) -> str:
        return self.name
