from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from glossary_site.people.models import User
from projects.choices import Language, Role
from projects.querysets import ProjectQuerySet

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
