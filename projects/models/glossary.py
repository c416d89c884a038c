"""The published glossary, and everything that ever happened to it."""

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from glossary_site.people.models import User
from projects.choices import Change, Language
from projects.models.project import Project
from projects.models.terms import TERM_LENGTH
from projects.querysets import EntryQuerySet


class GlossaryEntry(models.Model):
    """A term with its definition, as the team has published it."""

    # What people may change, and what a revision keeps. A field that somebody edited is locked.
    FIELDS = ("term", "definition", "category", "aliases", "related")

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="entries",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("project"),
    )
    term = models.CharField(_("term"), max_length=TERM_LENGTH)
    key = models.CharField(_("key"), max_length=TERM_LENGTH)
    reading = models.CharField(_("reading"), max_length=TERM_LENGTH, blank=True)
    # Under which letter it stands: A–Z, あ か さ …, or # for the rest.
    letter = models.CharField(_("letter"), max_length=1)
    language = models.CharField(_("language"), max_length=2, choices=Language)
    definition = models.TextField(_("definition"))
    confidence = models.FloatField(_("confidence"), default=1.0)
    category = models.CharField(_("category"), max_length=40, blank=True)
    aliases = models.JSONField(_("aliases"), default=list, blank=True)
    related = models.JSONField(_("related terms"), default=list, blank=True)
    # [{"document_id", "path", "file_hash", "line_start", "line_end", "heading_path", "quote"}, …]
    evidence = models.JSONField(_("evidence"), default=list, blank=True)
    # False: what it claims to rest on cannot be found in the documents.
    supported = models.BooleanField(_("supported"), default=True)
    needs_review = models.BooleanField(_("needs review"), default=False)
    score = models.FloatField(_("score"), default=0.0)
    frequency = models.PositiveIntegerField(_("occurrences"), default=0)
    prompt_version = models.CharField(_("prompt version"), max_length=40, blank=True)
    # Names of FIELDS that somebody edited: no run replaces them.
    locked = models.JSONField(_("locked fields"), default=list, blank=True)
    # The run that it came from last; a number, because runs are above this app.
    run_id = models.BigIntegerField(_("run"), null=True, blank=True)
    # The number of its newest revision, and what an edit names to be sure that nobody was faster.
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = EntryQuerySet.as_manager()

    class Meta:
        verbose_name = _("glossary entry")
        verbose_name_plural = _("glossary entries")
        ordering = ("reading", "key")
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="entry_key_once"),
            models.CheckConstraint(condition=~Q(term="") & ~Q(key=""), name="entry_has_a_term"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="entry_confidence_share"
            ),
        ]
        indexes = [
            # What is read so.
            models.Index("project", "reading", "key", name="entry_in_order"),
        ]

    def __str__(self) -> str:
        return self.term

    def get_absolute_url(self) -> str:
        return reverse("glossary-entry", args=[self.project_id, self.pk])


class EntryRevision(models.Model):
    """One change of an entry: by whom, from what, to what. Never changed; outlives its entry."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="entry_revisions",
        db_index=False,  # revision_recent begins with it
        verbose_name=_("project"),
    )
    entry = models.ForeignKey(
        GlossaryEntry,
        on_delete=models.SET_NULL,
        null=True,
        related_name="revisions",
        verbose_name=_("entry"),
    )
    term = models.CharField(_("term"), max_length=TERM_LENGTH)
    # Of the entry; a deleted entry's numbers stay.
    number = models.PositiveIntegerField(_("revision"))
    change = models.CharField(_("change"), max_length=10, choices=Change)
    # None: a run, or an operator at a terminal.
    author = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("author"),
    )
    run_id = models.BigIntegerField(_("run"), null=True, blank=True)
    # The whole row before and after; None where there was, or is, none.
    before = models.JSONField(_("before"), null=True)
    after = models.JSONField(_("after"), null=True)
    # The same for everything that was published, or undone, in one go.
    batch = models.UUIDField(_("batch"), db_index=True)
    # The revision that took this one back.
    undone_by = models.OneToOneField(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="undoes",
        verbose_name=_("undone by"),
    )
    created_at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta:
        verbose_name = _("entry revision")
        verbose_name_plural = _("entry revisions")
        ordering = ("-pk",)
        indexes = [
            # The history of the glossary, newest first.
            models.Index("project", F("id").desc(), name="revision_recent"),
            # What a run has published.
            models.Index("run_id", name="revision_of_run"),
        ]

    def __str__(self) -> str:
        return f"{self.term} v{self.number}"
