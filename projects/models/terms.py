"""The terms of a project as people and extractions have left them."""

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from glossary_site.people.models import User
from projects.choices import Category, Language, TermStatus
from projects.models.project import Project
from projects.querysets import TermQuerySet

TERM_LENGTH = 200
NOTES_LENGTH = 2000


class TermCategory(models.Model):
    """A kind of terms that only this project has, beside those of `Category`."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="term_categories",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("project"),
    )
    key = models.SlugField(_("key"), max_length=40, db_index=False)
    name = models.CharField(_("name"), max_length=60)
    # Terms of this kind are left out by the extraction.
    auto_exclude = models.BooleanField(_("left out automatically"), default=False)

    class Meta:
        verbose_name = _("term category")
        verbose_name_plural = _("term categories")
        ordering = ("project", "name", "pk")
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="category_key_once"),
            models.CheckConstraint(
                condition=~Q(key="") & ~Q(key__in=Category.values), name="category_key_is_own"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SynonymGroup(models.Model):
    """Terms that mean the same: one entry, under the name of the primary."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="synonym_groups", verbose_name=_("project")
    )
    # None only within the transaction that makes the group; one that loses its primary dissolves.
    primary = models.OneToOneField(
        "projects.Term",
        on_delete=models.CASCADE,
        null=True,
        related_name="leads",
        verbose_name=_("primary term"),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("synonym group")
        verbose_name_plural = _("synonym groups")
        ordering = ("project", "pk")

    def __str__(self) -> str:
        return str(self.primary or self.pk)


class Term(models.Model):
    """A term of a project: found in its documents, or added by hand."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="terms",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("project"),
    )
    text = models.CharField(_("term"), max_length=TERM_LENGTH)
    # The same for all spellings of one term: see `projects/terms/keys.py`.
    key = models.CharField(_("key"), max_length=TERM_LENGTH)
    reading = models.CharField(_("reading"), max_length=TERM_LENGTH, blank=True)
    language = models.CharField(_("language"), max_length=2, choices=Language)
    # A key of `Category`, or of a `TermCategory` of the project; empty where nobody knows.
    category = models.CharField(_("category"), max_length=40, blank=True)
    status = models.CharField(
        _("status"), max_length=13, choices=TermStatus, default=TermStatus.CANDIDATE
    )
    # Why it was left out: a code of the extraction ("common_noun"), or what somebody wrote.
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    notes = models.TextField(_("notes"), max_length=NOTES_LENGTH, blank=True)
    group = models.ForeignKey(
        SynonymGroup,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="terms",
        verbose_name=_("synonym group"),
    )
    # What people chose and no extraction may change: "text", "category", "status".
    chosen = models.JSONField(_("chosen by people"), default=list, blank=True)
    # From the last extraction; zeros where it did not find the term.
    score = models.FloatField(_("score"), default=0.0)
    frequency = models.PositiveIntegerField(_("frequency"), default=0)
    document_count = models.PositiveIntegerField(_("documents"), default=0)
    # Spellings found; [[document id, line, count], …].
    variants = models.JSONField(_("spellings"), default=list, blank=True)
    occurrences = models.JSONField(_("occurrences"), default=list, blank=True)
    # None: found by an extraction.
    added_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("added by"),
    )
    # Stays when no extraction finds it any more.
    by_hand = models.BooleanField(_("added by hand"), default=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = TermQuerySet.as_manager()

    class Meta:
        verbose_name = _("term")
        verbose_name_plural = _("terms")
        ordering = ("-score", "pk")
        constraints = [
            # Duplicates never reach the table. Also the index for finding one by its key.
            models.UniqueConstraint(fields=["project", "key"], name="term_key_once"),
            models.CheckConstraint(condition=~Q(text="") & ~Q(key=""), name="term_has_a_text"),
            models.CheckConstraint(
                condition=Q(status__in=TermStatus.values), name="term_status_known"
            ),
        ]
        indexes = [
            # The tabs of the page, best first.
            models.Index("project", "status", F("score").desc(), name="term_by_score"),
        ]

    def __str__(self) -> str:
        return self.text

    def get_absolute_url(self) -> str:
        return reverse("term", args=[self.project_id, self.pk])

    @property
    def is_decided(self) -> bool:
        """Whether people have said that it is in or out, so that nothing else judges it. Whoever
        adds a term by hand wants it, whatever its category."""
        return "status" in self.chosen or (self.by_hand and self.status == TermStatus.CANDIDATE)
